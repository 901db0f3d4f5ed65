import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { valueText } from "../../src/render/change-lines.ts";
import { renderPlanText } from "../../src/render/index.ts";
import { growth } from "../support/operations.ts";
import { change, DKIM, everything, going, plan, record } from "./plans.ts";

const GOLDEN = "../golden";
const PLAIN = { colour: false, width: 80 };

describe("a plan as text", () => {
  it("shows every action, label, block and guard", async () => {
    await expect(renderPlanText(everything(), PLAIN)).toMatchFileSnapshot(`${GOLDEN}/plan-everything.txt`);
  });

  it("is the same with colours, but for the colours", async () => {
    const coloured = renderPlanText(everything(), { colour: true, width: 80 });
    const stripped = stripVTControlCharacters(coloured);
    expect(coloured).not.toBe(stripped);
    expect(stripped).toBe(renderPlanText(everything(), PLAIN));
  });

  it("stays within 80 columns wherever text can be wrapped or shortened", () => {
    const wide = renderPlanText(everything(), PLAIN)
      .split("\n")
      .filter((line) => [...line].length > 80);
    expect(wide).toEqual([]);
  });

  it("says that there is nothing to do, at the start of its last line", () => {
    const nothing = plan([change("vpc/a", "vpc", { before: { label: "a" }, after: { label: "a" }, action: "no-op" })]);
    expect(renderPlanText(nothing, PLAIN)).toBe("No changes. Your infrastructure matches the configuration.\n");
  });

  it("ends with counts of resources in which a replace is one of each", () => {
    const replaced = change("vpc/a", "vpc", { before: { label: "a" }, after: { label: "a" }, action: "replace" });
    const text = renderPlanText(plan([replaced]), PLAIN);
    expect(text.trimEnd().split("\n").at(-1)).toBe("Plan: 1 to add, 0 to change, 1 to destroy.");
  });

  it("counts blocked changes after the period, and nowhere else", () => {
    const blocked = change("vpc/a", "vpc", { before: { label: "a" }, blocked: { type: "depends", on: ["vpc/b"] } });
    const text = renderPlanText(plan([blocked]), PLAIN);
    expect(text.trimEnd().split("\n").at(-1)).toBe("Plan: 0 to add, 0 to change, 0 to destroy. 1 blocked.");
  });

  it("shows of long values the place where they differ, and says how long they are", () => {
    const text = renderPlanText(
      plan([
        change("domain/a.example/@/TXT", "domain_record", {
          before: record("", "TXT", `${DKIM}x`),
          after: record("", "TXT", `${DKIM}y`),
        }),
      ]),
      PLAIN,
    );
    expect(text).toContain(`x" (${DKIM.length + 1} bytes)`);
    expect(text).toContain(`y" (${DKIM.length + 1} bytes)`);
  });

  it("shows a long value in full where there is room for it", () => {
    const changes = [change("domain/a.example/@/TXT", "domain_record", { after: record("", "TXT", DKIM) })];
    expect(renderPlanText(plan(changes), { colour: false, width: 1000 })).toContain(`"${DKIM}"`);
  });

  it("leaves out of two long values only what they share at the beginning and the end", () => {
    const part = fc
      .array(fc.constantFrom("a", "b", " ", "é", "漢", "😀", '"'), { maxLength: 60 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(part, part, part, part, fc.integer({ min: 40, max: 120 }), (start, one, other, end, width) => {
        const [before, after] = [start.repeat(3) + one + end.repeat(3), start.repeat(3) + other + end.repeat(3)];
        if (before === after) return;
        const sides = { before: record("", "TXT", before), after: record("", "TXT", after) };
        const text = renderPlanText(plan([change("domain/a.example/@/TXT", "domain_record", sides)]), {
          colour: false,
          width,
        });
        const shown = / {6}- (.*)\n {6}\+ (.*)\n/.exec(text.replaceAll(/\n {8}│ /g, ""));
        if (shown === null) {
          expect(text).toContain(`${valueText(before)} → ${valueText(after)}`);
          return;
        }
        const [from = "", to = ""] = shown
          .slice(1)
          .map((side) => side.replace(/^…/, "").replace(/…? \(\d+ bytes\)$/, ""));
        const [whole, next] = [valueText(before), valueText(after)];
        const places = Array.from({ length: whole.length + 1 }, (_, place) => place);
        expect(
          places.some(
            (place) =>
              whole.startsWith(from, place) && whole.slice(0, place) + to + whole.slice(place + from.length) === next,
          ),
        ).toBe(true);
      }),
    );
  });

  const linesOf = (...changes: Parameters<typeof plan>[0]): string[] =>
    renderPlanText(plan(changes), PLAIN).split("\n");
  const domain = (name: string, more: object = {}) => ({ domain: name, type: "master", status: "active", ...more });

  it("deletes a domain in one line, with its note and why", () => {
    const before = domain("old.example", { soa_email: "a@b.example", owner: "edge", tags: ["x"] });
    expect(linesOf(change("domain/old.example", "domain", { before, labels: ["prune"], note: "ask Ada" }))).toEqual(
      expect.arrayContaining([
        "- domain old.example and all its records (prune: no longer declared)",
        "    note: ask Ada",
      ]),
    );
    expect(linesOf(change("domain/old.example", "domain", { before })).slice(0, 2)).toEqual([
      "- domain old.example and all its records",
      "",
    ]);
  });

  it("puts why on a line of its own where the heading is long", () => {
    const name = `${"a".repeat(50)}.example`;
    const [heading, why] = linesOf(change(`domain/${name}`, "domain", { before: domain(name), labels: ["prune"] }));
    expect([heading, why]).toEqual([`- domain ${name} and all its records`, "    (prune: no longer declared)"]);
  });

  it("says how many records go with a domain, and how many of them were to be ignored", () => {
    const before = domain("old.example");
    const headOf = (holds: { records: number; ignored: number | null }, more: object = {}): string[] =>
      linesOf(change("domain/old.example", "domain", { before, holds, ...more })).slice(0, 2);
    expect(headOf({ records: 37, ignored: 4 })[0]).toBe("- domain old.example and its 37 records, 4 of them ignored");
    expect(headOf({ records: 1, ignored: 1 })[0]).toBe("- domain old.example and its 1 record, which is ignored");
    expect(headOf({ records: 2, ignored: 2 })[0]).toBe("- domain old.example and its 2 records, 2 of them ignored");
    for (const ignored of [0, null]) {
      expect(headOf({ records: 12, ignored })[0]).toBe("- domain old.example and its 12 records");
      expect(headOf({ records: 0, ignored })[0]).toBe("- domain old.example, which has no records");
    }
    expect(headOf({ records: 37, ignored: 4 }, { labels: ["prune"] })).toEqual([
      "- domain old.example and its 37 records, 4 of them ignored",
      "    (prune: no longer declared)",
    ]);
  });

  it("shows many objects that only go as one entry, with the name of each, and none that there is more to say of", async () => {
    await expect(renderPlanText(going(), PLAIN)).toMatchFileSnapshot("../golden/plan-going.txt");
  });

  it("folds no more than what goes for the same reason, and never fewer than four", () => {
    const one = (label: string, rest: object = {}) => change(`image/${label}`, "image", { before: { label }, ...rest });
    const prune = { labels: ["prune"] };
    const three = [one("a"), one("b"), one("c")];
    expect(linesOf(...three).filter((line) => line.startsWith("- "))).toEqual(["- image a", "- image b", "- image c"]);
    expect(linesOf(...three, one("d", prune))).toContain("- image d (prune: no longer declared)");
    expect(linesOf(...three, one("d"), one("e", prune))).toEqual([
      ...["- 4 images", "       a, b, c, d", "", "- image e (prune: no longer declared)", ""],
      ...["Applying this takes 5 requests.", "", "Plan: 0 to add, 0 to change, 5 to destroy.", ""],
    ]);
    const apart = [{ note: "ask Ada" }, { labels: ["prune", "unfinished"] }, { after: { label: "d" } }];
    for (const rest of apart) expect(linesOf(...three, one("d", rest)).join("\n")).not.toContain("4 images");
  });

  it("folds a network with what is in it, and not if something in it is blocked", () => {
    const vpc = (label: string, subnet: object = {}) => [
      change(`vpc/${label}`, "vpc", { before: { label, region: "x" } }),
      change(`vpc/${label}/subnet/s`, "vpc_subnet", { before: { label: "s", ipv4: "10.0.0.0/24" }, ...subnet }),
    ];
    const four = ["a", "b", "c", "d"].flatMap((label) => vpc(label));
    expect(linesOf(...four).slice(0, 3)).toEqual([
      "- 4 VPCs and their 4 subnets",
      "       a (1 subnet), b (1 subnet), c (1 subnet), d (1 subnet)",
      "",
    ]);
    const held = vpc("e", { blocked: { type: "depends", on: ["vpc/e"] } });
    const text = linesOf(...four, ...held).join("\n");
    expect(text).toContain("4 VPCs and their 4 subnets");
    expect(text).toContain("! - subnet s 10.0.0.0/24 (blocked)");
  });

  it("shows in a fold no name that could be taken for two", () => {
    const labels = [" f", "a", "b, c", "d (9 subnets)", 'e"'];
    const text = linesOf(...labels.map((label) => change(`image/${label}`, "image", { before: { label } })));
    expect(text.slice(0, 2)).toEqual(["- 5 images", '       " f", a, "b, c", "d (9 subnets)", "e\\""']);
  });

  it("shows of a new domain what is not the default, and the owner only where it changes", () => {
    const after = domain("new.example", { owner: "edge", soa_email: "a@b.example" });
    const created = linesOf(change("domain/new.example", "domain", { after })).join("\n");
    expect(created).toMatch(/^\+ domain new\.example\n {4}soa_email {2}"a@b\.example"\n\n/);
    const disabled = { ...after, type: "slave", status: "disabled" };
    const special = linesOf(change("domain/new.example", "domain", { after: disabled })).join("\n");
    expect(special).toMatch(/status +"disabled"\n +type +"slave"/);
    const adopted = change("domain/new.example", "domain", {
      before: { ...after, owner: null },
      after,
      labels: ["adopt"],
    });
    expect(linesOf(adopted)).toContain('    owner  none → "edge"');
  });

  it("shows the Unicode form of a name in punycode once, unless it could be taken for another", () => {
    const idn = (name: string) => [
      change(`domain/${name}`, "domain", { after: domain(name) }),
      change(`domain/${name}/www/A`, "domain_record", { after: record("www", "A", "192.0.2.1") }),
    ];
    const text = linesOf(...idn("xn--bro-hoa.example")).join("\n");
    expect(text.match(/büro/g)).toHaveLength(1);
    expect(text).toContain("+ domain xn--bro-hoa.example (büro.example)\n");
    // A Cyrillic а among Latin letters.
    expect(linesOf(...idn("xn--pypal-4ve.example"))).toContain("+ domain xn--pypal-4ve.example");
  });

  it("shows the Unicode form of a record's name beside it, also of both sides of a rename", () => {
    const at = (name: string) => record(name, "A", "192.0.2.1");
    const made = change("domain/a.example/xn--strae-oqa/A", "domain_record", { after: at("xn--strae-oqa") });
    const disguised = change("domain/a.example/xn--pypal-4ve/A", "domain_record", { after: at("xn--pypal-4ve") });
    const renamed = change("domain/a.example/_x.xn--bro-hoa/A", "domain_record", {
      before: at("xn--strae-oqa.old"),
      after: at("_x.xn--bro-hoa"),
      labels: ["rename"],
    });
    expect(linesOf(made, disguised, renamed).slice(1, 5)).toEqual([
      "  ~ xn--strae-oqa.old (straße.old) → _x.xn--bro-hoa (_x.büro) A (rename)",
      "      192.0.2.1",
      "  + xn--pypal-4ve          A 192.0.2.1",
      "  + xn--strae-oqa (straße) A 192.0.2.1",
    ]);
  });

  it("says of a duplicate that an equal record stays", () => {
    const before = record("e1", "A", "198.51.100.1");
    expect(linesOf(change("domain/a.example/e1/A[1]", "domain_record", { before, labels: ["duplicate"] }))[1]).toBe(
      "  - e1 A 198.51.100.1 (duplicate: an equal record stays)",
    );
  });

  it("tells warnings that say the same as one: what differs line by line, the rest once", () => {
    const kept = (name: string, fix = "Lower the TTL first.") => ({
      code: "cached-target",
      severity: "warning" as const,
      summary: `caches keep the old domain/shop.example/${name}/A until 2026-11-22 12:00 UTC (changed; TTL 86400 seconds)`,
      detail: "Resolvers go on giving the old answer.",
      fix,
    });
    const text = renderPlanText(plan([], { warnings: [kept("www"), kept("x", "Other."), kept("api")] }), PLAIN);
    expect(text).toMatch(`Warning: caches keep the old domain/shop.example/www/A until 2026-11-22 12:00
   UTC (changed; TTL 86400 seconds)
Warning: caches keep the old domain/shop.example/api/A until 2026-11-22 12:00
   UTC (changed; TTL 86400 seconds)
  Resolvers go on giving the old answer.
  Lower the TTL first.

Warning: caches keep the old domain/shop.example/x/A until 2026-11-22 12:00 UTC
   (changed; TTL 86400 seconds)
  Resolvers go on giving the old answer.
  Other.
`);
  });

  it("aligns names, types and values below a heading, also behind marks of other widths", () => {
    const at = (name: string, type: string, target: string, more = {}) =>
      change(`domain/a.example/${name}/${type}`, "domain_record", { after: record(name, type, target), ...more });
    const blocked = { blocked: { type: "depends" as const, on: [] } };
    const lines = linesOf(
      at("a", "A", "192.0.2.1"),
      at("longer", "CNAME", "x.example", blocked),
      at("z", "A", "192.0.2.2"),
    );
    expect(lines.filter((line) => /^ {2}(\+|! \+) /.test(line))).toEqual([
      "  + a        A     192.0.2.1",
      "  ! + longer CNAME x.example (blocked)",
      "  + z        A     192.0.2.2",
    ]);
  });

  it("keeps a long name from pushing the others to the right, and breaks a long rename in two", () => {
    const [from, to] = ["f".repeat(60), "t".repeat(60)];
    const rename = change(`domain/a.example/${to}/A`, "domain_record", {
      before: record(from, "A", "192.0.2.1"),
      after: record(to, "A", "192.0.2.1"),
      previousAddress: `domain/a.example/${from}/A`,
      labels: ["rename"],
    });
    const lines = linesOf(
      rename,
      change("domain/a.example/w/A", "domain_record", { after: record("w", "A", "192.0.2.2") }),
    );
    expect(lines.slice(1, 5)).toEqual([
      `  ~ ${from} → (rename)`,
      `      ${to} A`,
      "      192.0.2.1",
      "  + w A 192.0.2.2",
    ]);
  });

  it.each([300, 3_000])("stays within 80 columns with names and values of %i characters in one change", (length) => {
    const long = "v=x ".repeat(length / 4);
    const lines = linesOf(
      change("domain/a.example/n/TXT", "domain_record", {
        before: record("name-of-a-record", "TXT", `a${long}`, 300),
        after: record("name-of-a-record", "TXT", `b${long}`, 3600),
        labels: ["rename"],
        blocked: { type: "depends", on: [] },
      }),
      change("domain/a.example/m/TXT", "domain_record", { after: record("m".repeat(60), "TXT", long, 300) }),
    );
    expect(lines.filter((line) => [...line].length > 80)).toEqual([]);
  });

  it("shows the records of a copy once, with the domain that it is cloned from", () => {
    const made = (name: string, rest: object) => [
      change(`domain/${name}`, "domain", { after: { domain: name, type: "master", status: "active", ...rest } }),
      change(`domain/${name}/@/A`, "domain_record", { root: `domain/${name}`, after: record("", "A", "192.0.2.1") }),
      change(`domain/${name}/@/TXT`, "domain_record", { root: `domain/${name}`, after: record("", "TXT", "none") }),
    ];
    const changes = [...made("a.example", {}), ...made("b.example", { description: "its own" })];
    const copies = ["domain/b.example"];
    const strategies = [
      { type: "clone" as const, source: "domain/a.example", copies, requests: 6, requestsWithout: 8 },
    ];
    const text = renderPlanText(plan(changes, { strategies }), PLAIN);
    expect(text.split("\n").slice(0, 9)).toEqual([
      "+ domain a.example",
      "  + @ A   192.0.2.1",
      '  + @ TXT "none"',
      "",
      "+ domain b.example",
      '    description  "its own"',
      "    2 records as in domain a.example",
      "",
      "domain/b.example will be cloned from domain/a.example once that is filled, while",
    ]);
    expect(text).toContain("Plan: 6 to add, 0 to change, 0 to destroy.");
    // The source's records stand nowhere else if it is there already.
    for (const source of [[], [change("domain/a.example", "domain", { action: "update" })]]) {
      const beside = renderPlanText(plan([...source, ...made("b.example", {})], { strategies }), PLAIN);
      expect(beside).toContain("+ domain b.example\n  + @ A   192.0.2.1\n");
      expect(beside).not.toContain("records as in");
    }
  });

  it("says in a line each what consent was given to", () => {
    const given = { consent: "given", count: null, of: null, origin: null } as const;
    const guards = [
      { ...given, rule: "delete", address: "domain/a.example" },
      { ...given, rule: "replace", address: "vpc/prod" },
      { ...given, rule: "bulk", address: "domain/b.example", count: 40, of: 100 },
      { ...given, rule: "ns", address: "domain/c.example" },
    ] as const;
    expect(renderPlanText(plan([], { guards }), PLAIN)).toContain(`Consent is given to:
  delete domain/a.example, which is no longer declared
  delete vpc/prod and make it anew, with all that is in it
  remove 40 of the 100 records of domain/b.example
  change the NS records at the apex of domain/c.example
`);
  });

  it("renders each of 12,000 records, and four times the records with four times the work", async () => {
    const render = (count: number): void => {
      const changes = Array.from({ length: count }, (_, index) =>
        change(`domain/big.example/host-${index}/A`, "domain_record", {
          after: record(`host-${index}`, "A", "192.0.2.1"),
        }),
      );
      const lines = renderPlanText(plan(changes), PLAIN).split("\n");
      expect(lines.filter((line) => line.startsWith("  + host-"))).toHaveLength(count);
    };
    render(12_000);
    expect(await growth(500, 4, render)).toBeLessThan(5);
  });
});
