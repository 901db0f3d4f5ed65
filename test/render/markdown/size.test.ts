import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Change } from "../../../src/model/change.ts";
import { SHORTER_CHARACTERS } from "../../../src/model/fleet.ts";
import { type Plan, summarise } from "../../../src/model/plan.ts";
import { renderPlanMarkdown, renderUnreviewedMarkdown } from "../../../src/render/index.ts";
import { codeBlockWithin, isInertMarkdown } from "../../../src/render/markdown/parts.ts";
import { growth } from "../../support/operations.ts";
import { change, plan, record } from "../plans.ts";
import { anatomyOf, fits, MAX_BODY_CHARACTERS, statedIn } from "./anatomy.ts";

type Doing = "create" | "update" | "delete" | "blocked";

function recordChange(zone: string, index: number, doing: Doing, target: string, former = "192.0.2.1"): Change {
  const name = `host-${index}`;
  const [before, after] = [record(name, "A", former), record(name, "A", target)];
  return change(`domain/${zone}/${name}/A`, "domain_record", {
    ...(doing === "create" || doing === "blocked" ? {} : { before }),
    ...(doing === "delete" ? {} : { after }),
    blocked: doing === "blocked" ? { type: "depends", on: [`domain/${zone}`] } : null,
  });
}

/** No two of the later zones have equal records, or they would be one entry. */
function zones(count: number, records: number, doing: (index: number) => Doing = () => "create"): Change[] {
  return Array.from({ length: count }, (_, zone) =>
    Array.from({ length: records }, (_, index) =>
      recordChange(`zone-${zone}.example`, index, doing(index), zone < 3 ? "192.0.2.2" : `192.0.2.2.${zone}`),
    ),
  ).flat();
}

/** The comment fits, and what it says of the changes is all of them. */
function expectWhole(of: Plan, most: number = MAX_BODY_CHARACTERS): string {
  const text = renderPlanMarkdown(of, most);
  const stated = statedIn(text);
  const summary = summarise(of.changes);
  expect(text.length).toBeLessThanOrEqual(most);
  expect(stated).toMatchObject({ changes: of.changes.length, ...summary });
  expect(stated.lines + stated.counted).toBe(of.changes.length);
  if (stated.counted > 0) expect(text).toContain("All of it: `tenon show PLAN`, or `--format json`.");
  return text;
}

describe("a comment on a large plan", () => {
  it("counts what it has no room for, of 12,000 records in one zone", () => {
    const changes = zones(1, 12_000, (index) => (index === 7_000 ? "delete" : "create"));
    const text = expectWhole(plan(changes));
    // What goes is what a reviewer must see.
    expect(text).toMatch(/\n- host-7000 +A 192\.0\.2\.1\n {2}and \d+ to add, not shown here\n/);
    expect(statedIn(text).lines).toBeGreaterThan(1_500);
  });

  it("counts what it has no room for, of a thousand zones", () => {
    const text = expectWhole(plan(zones(1000, 12)));
    expect(statedIn(text).lines).toBeGreaterThan(0);
    expect(text).toMatch(/^- `domain zone-999\.example`: 12 to add$/m);
  });

  it("counts by kind where there is not even room for a line for each zone", () => {
    const text = expectWhole(plan(zones(5000, 3)));
    expect(text).toMatch(/^\d+ further networks, zones and images:\n\n- \d+ records: \d+ to add$/m);
  });

  it("shows the values of all changes before the fields of any", () => {
    const fields = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`field_${index}`, "x".repeat(40)]));
    const changes = Array.from({ length: 300 }, (_, index) => {
      const label = `image-${String(index).padStart(3, "0")}`;
      return change(`image/${label}`, "image", { after: { label, ...fields, field_0: label } });
    });
    const text = expectWhole(plan(changes));
    expect(statedIn(text)).toMatchObject({ lines: 300, counted: 0 });
    expect(text).toContain("\n+ image image-299 (20 fields not shown)\n");
  });

  it("names as many of 3,000 domains that go as there is room for, and counts the rest", () => {
    const gone = Array.from({ length: 3000 }, (_, index) => {
      const domain = `${"x".repeat(index % 60)}-${index}.example`;
      return change(`domain/${domain}`, "domain", { before: { domain }, holds: { records: 3, ignored: null } });
    });
    const text = expectWhole(plan(gone));
    expect(text.match(/<details>/g)).toHaveLength(1);
    expect(text).toContain("<code>3000 domains and their 9000 records</code>: 3000 to destroy</summary>");
    expect(statedIn(text).lines).toBeGreaterThanOrEqual(100);
    expect(statedIn(expectWhole(plan(gone.slice(0, 300))))).toMatchObject({ lines: 300, counted: 0 });
    const crowd = expectWhole(plan([...gone, ...zones(1000, 12)]));
    expect(crowd).toContain("3000 domains and their 9000 records");
  });

  it("prefers that a zone is given away to lines of new records", () => {
    const values = (type: string, masters: string[]) => ({ domain: "a.example", type, master_ips: masters });
    const [before, after] = [values("master", []), values("slave", ["203.0.113.66"])];
    const given = change("domain/a.example", "domain", { before, after });
    // Whose value is cut as soon as there is not room for everything.
    const long = change("domain/b.example/x/TXT", "domain_record", { after: record("x", "TXT", "x".repeat(5_000)) });
    const textOf = (records: number): string => renderPlanMarkdown(plan([given, long, ...zones(1, records)]));
    // As many records as have lines, so that no room is left.
    let [least, most] = [100, 5_000];
    while (least + 1 < most) {
      const middle = Math.floor((least + most) / 2);
      if (statedIn(textOf(middle)).counted === 0) least = middle;
      else most = middle;
    }
    for (const records of [least - 1, least, most]) expect(textOf(records)).toMatch(/type +"master" → "slave"/);
  });

  it("prefers what is proposed to what was pending before", () => {
    const changes = zones(2, 1500).map((each, index) => ({
      ...each,
      origin: index < 1500 ? ("already-pending" as const) : ("this-change" as const),
    }));
    const text = expectWhole(plan(changes, { base: { name: "main", withdrawn: [] } }));
    const [pending = "", own = ""] = [...text.split("### ")].reverse();
    expect(pending).toMatch(/^Already pending: 1500 to add\n[\s\S]* {2}and \d+ to add, not shown here\n/);
    expect(own).toMatch(/^This change: 1500 to add\n/);
    expect(own).toContain("host-1499 A 192.0.2.2");
    expect(own).not.toContain("not shown here");
  });

  it("shows what goes before what is new, wherever it is, and what is new of each zone", () => {
    const first = zones(1, 2000);
    const second = zones(2, 1500, (index) => (index === 1_499 ? "delete" : "create")).slice(1500);
    const text = expectWhole(plan([...first, ...second]));
    expect(text).toMatch(/^- host-1499 A 192\.0\.2\.1$/m);
    const [one, other] = text.split("zone-1.example").map((part) => part.match(/^\+ host/gm)?.length ?? 0);
    expect(one).toBeGreaterThan(1_000);
    expect(other).toBeGreaterThan(1_000);
  });

  it("takes eight times the work for eight times the zones", async () => {
    // Twice a hundred zones are too many for one comment already: all that is left out has been tried.
    expect(await growth(200, 8, (count) => renderPlanMarkdown(plan(zones(count, 20))))).toBeLessThan(9);
  });

  it("keeps to its size with lists that are longer than a comment, and says what they leave out", () => {
    const long = Array.from({ length: 3000 }, (_, index) => `domain/${"x".repeat(index % 90)}-${index}.example`);
    const text = expectWhole(
      plan(
        zones(20, 20, (index) => (index % 2 === 0 ? "blocked" : "update")),
        {
          guards: long.map((address) => ({
            rule: "max-changes",
            address,
            consent: "impossible",
            count: null,
            of: null,
            origin: null,
          })),
          gaps: long.map((what) => ({ what, wanted: what, before: what, root: what })),
          refusals: long.map((summary) => ({ code: "x", severity: "error", summary, detail: summary })),
          warnings: long.map((summary) => ({ code: "x", severity: "warning", summary, detail: summary, fix: summary })),
          base: { name: "x".repeat(70_000), withdrawn: long.map((key) => ({ key, action: "delete" })) },
        },
      ),
    );
    const left = [...text.matchAll(/^And (\d+) more, for which there is no room here\.$/gm)];
    expect(left).toHaveLength(6);
    expect(renderUnreviewedMarkdown(zones(1, 5000))).toSatisfy(fits);
  });

  it("gives a list the room that nothing else needs", () => {
    const warnings = Array.from({ length: 500 }, (_, index) => ({
      code: "x",
      severity: "warning" as const,
      summary: `warning ${index} ${"x".repeat(80)}`,
      detail: "",
    }));
    expect(renderPlanMarkdown(plan(zones(1, 3), { warnings }))).toContain("warning 499 ");
    const text = renderPlanMarkdown(plan(zones(1, 3), { warnings: [...warnings, ...warnings] }));
    expect(text.length).toBeLessThanOrEqual(MAX_BODY_CHARACTERS);
    expect(text.length).toBeGreaterThan(MAX_BODY_CHARACTERS - 500);
  });
});

/** An update of the TTL only, or of the target as well. */
function altered(zone: string, index: number, target = "192.0.2.1"): Change {
  const name = `host-${String(index).padStart(4, "0")}`;
  const [before, after] = [record(name, "A", "192.0.2.1"), { ...record(name, "A", target), ttl_sec: 3_600 }];
  return change(`domain/${zone}/${name}/A`, "domain_record", { before, after });
}

const TARGET = "203.0.113.66";

describe("one grave change among very many", () => {
  it.each([1_600, 5_000])("has its line among %d changes of a TTL in one zone", (records) => {
    const at = records - 3;
    const changes = Array.from({ length: records }, (_, index) =>
      altered("a.example", index, index === at ? TARGET : undefined),
    );
    const text = expectWhole(plan(changes));
    expect(text).toMatch(new RegExp(`^! host-${at} A 192\\.0\\.2\\.1 → 203\\.0\\.113\\.66 ttl default → 3600$`, "m"));
    expect(text).toMatch(/\n {2}and \d+ to change, not shown here\n/);
    // As many as fit.
    expect(text.length).toBeGreaterThan(MAX_BODY_CHARACTERS - 2_500);
  });

  it("comes in the order of gravity: what goes, other values, blocked, TTL, new", () => {
    const many = (doing: Doing, from: number, target = TARGET): Change[] =>
      Array.from({ length: 400 }, (_, index) => recordChange("a.example", from + index, doing, target));
    const ttl = Array.from({ length: 400 }, (_, index) => altered("a.example", index));
    const graver: Change[][] = [
      many("create", 10_000),
      ttl,
      many("blocked", 20_000),
      many("update", 30_000),
      many("delete", 40_000),
    ];
    const signs = [/^\+ host/gm, /^! host.* ttl default/gm, /^# \+ host/gm, /^! host.*66$/gm, /^- host/gm];
    const text = expectWhole(plan(graver.flat()));
    const shown = signs.map((sign) => text.match(sign)?.length ?? 0);
    expect(shown.slice(2)).toEqual([400, 400, 400]);
    // Where a longer line does not fit, a shorter one may.
    expect(shown[0]).toBeLessThan(3);
    expect(shown[1]).toBeGreaterThan(100);
  });

  it("has its line beside a zone of ten thousand as grave changes", () => {
    const flood = Array.from({ length: 10_000 }, (_, index) => altered("a.example", index, "192.0.2.7"));
    const few = Array.from({ length: 5 }, (_, index) => altered("b.example", index, `203.0.113.${index}`));
    const text = expectWhole(plan([...flood, ...few]));
    for (const index of few.keys()) expect(text).toContain(`→ 203.0.113.${index} `);
    expect(statedIn(text).lines).toBeGreaterThan(700);
  });

  it("has its line beside 2,000 other zones, where nothing but their numbers would fill the comment", () => {
    const flood = zones(2_000, 3);
    const text = expectWhole(plan([...flood, altered("zzz.example", 1, TARGET)]));
    expect(text).toContain(`→ ${TARGET} `);
  });

  it("has its line beside 1,200 zones alike, whose names would fill half of the comment", () => {
    const alike = Array.from({ length: 1_200 }, (_, index) =>
      Array.from({ length: 4 }, (_, name) => recordChange(`parked-${index}.example`, name, "create", "192.0.2.2")),
    ).flat();
    const grave = Array.from({ length: 800 }, (_, index) => altered("zzz.example", index, `203.0.113.${index}`));
    const text = renderPlanMarkdown(plan([...alike, ...grave]));
    expect(text).toSatisfy(fits);
    for (const index of grave.keys()) expect(text).toContain(`→ 203.0.113.${index} `);
    expect(text).toContain("parked-0.example, parked-1.example");
  });

  it.each([
    ["60,000 characters without a column", `a${"\u0301".repeat(60_000)}`],
    ["110 backticks", `${"`".repeat(110)}`],
    ["20,000 backticks", `${"`".repeat(20_000)}`],
  ])("has its line beside a value of %s", (_, value) => {
    const [before, after] = [record("a", "TXT", "x"), record("a", "TXT", value)];
    const hostile = change("domain/a.example/a/TXT", "domain_record", { before, after });
    const others = Array.from({ length: 1_600 }, (_, index) =>
      altered("a.example", index, index === 1_599 ? TARGET : undefined),
    );
    const text = expectWhole(plan([hostile, ...others]));
    expect(text).toContain(`→ ${TARGET} `);
    expect(statedIn(text).lines).toBeGreaterThan(800);
  });

  it("is shown of what goes together: 1,250 subnets of five networks have names", () => {
    const subnet = (vpc: string, index: number): Change =>
      change(`vpc/${vpc}/subnet-of-the-branch-office-${index}`, "vpc_subnet", {
        before: { label: `subnet-of-the-branch-office-${index}`, ipv4: `10.0.${index % 250}.0/24` },
        labels: [],
      });
    const changes = ["a", "b", "c", "d", "e"].flatMap((vpc) => [
      change(`vpc/${vpc}`, "vpc", { before: { label: vpc } }),
      ...Array.from({ length: 250 }, (_, index) => subnet(vpc, index)),
    ]);
    const text = expectWhole(plan(changes));
    expect(text.match(/^- vpc [a-e]$/gm)).toHaveLength(5);
    expect(statedIn(text).lines).toBeGreaterThan(900);
    expect(text).toMatch(/\n {2}and \d+ to destroy, not shown here\n/);
  });

  it.each([16_000, 5_000])("has its line in %d characters, too, beside all that a plan says", (most) => {
    const changes = Array.from({ length: 1_201 }, (_, index) =>
      index === 700 ? altered("a.example", index, TARGET) : recordChange("a.example", index, "create", "192.0.2.2"),
    );
    const warnings = changes.map(({ key }) => ({ code: "x", severity: "warning" as const, summary: key, detail: "" }));
    const text = renderPlanMarkdown(plan(changes, { warnings, refusals: warnings.slice(0, 100) }), most);
    expect(text.length).toBeLessThanOrEqual(most);
    expect(text.length).toBeGreaterThan(most * 0.6);
    expect(text).toContain(`→ ${TARGET} `);
    expect(text).toContain("for which there is no room here.");
  });

  it("takes eight times the work for eight times the changes of one zone, and of many of which each is large", async () => {
    const inOne = (count: number): Change[] =>
      Array.from({ length: count }, (_, index) => altered("a.example", index, index % 2 === 0 ? TARGET : undefined));
    expect(await growth(1_000, 8, (count) => renderPlanMarkdown(plan(inOne(count))))).toBeLessThan(9);
    const inMany = (count: number): Change[] =>
      Array.from({ length: count }, (_, zone) =>
        Array.from({ length: 100 }, (_, index) => altered(`zone-${zone}.example`, index, `192.0.2.${zone}`)),
      ).flat();
    expect(await growth(20, 8, (count) => renderPlanMarkdown(plan(inMany(count))))).toBeLessThan(9);
  });
});

describe("a comment of about the size that fits", () => {
  it("is whole up to the last character that fits, and leaves out by name from the next one on", () => {
    // A longer note is cut, so that the room is filled with several.
    const sized = (pad: number): Plan => {
      const [first, ...others] = zones(1, 1000);
      const noted = others.map((one, index) => (index < 45 ? { ...one, note: "x".repeat(900) } : one));
      const own = change("domain/zone-0.example", "domain", {
        after: { domain: "zone-0.example" },
        note: "x".repeat(pad),
      });
      return plan([own, ...(first === undefined ? [] : [first]), ...noted]);
    };
    const padOfLimit = 1 + MAX_BODY_CHARACTERS - renderPlanMarkdown(sized(1)).length;
    for (const beyond of [-2, -1, 0, 1, 2, 3]) {
      const text = expectWhole(sized(padOfLimit + beyond));
      if (beyond <= 0) expect(text).toHaveLength(MAX_BODY_CHARACTERS + beyond);
      expect(text.includes("+ domain zone-0.example (a note not shown)\n")).toBe(beyond > 0);
      expect(statedIn(text)).toMatchObject({ lines: 1001, counted: 0 });
    }
  });

  it("fits and is complete whatever the plan", () => {
    const doing = fc.constantFrom<Doing>("create", "update", "delete", "blocked");
    const unit = fc.record({ records: fc.oneof(fc.nat(5), fc.nat(900)), doing, width: fc.nat(300) });
    const sizes = fc.constantFrom(MAX_BODY_CHARACTERS, ...SHORTER_CHARACTERS);
    const going = fc.array(fc.record({ width: fc.nat(200), records: fc.nat(20) }), { maxLength: 1500 });
    const units = fc.oneof(
      fc.array(unit, { minLength: 1, maxLength: 12 }),
      fc.array(fc.record({ records: fc.constant(2), doing, width: fc.nat(60) }), { minLength: 200, maxLength: 900 }),
    );
    fc.assert(
      fc.property(units, going, fc.boolean(), sizes, (drawn, gone, hasBase, most) => {
        const within = drawn.flatMap(({ records, doing: what, width }, zone) =>
          Array.from({ length: records }, (_, index) => ({
            ...recordChange(`z${zone}.${"y".repeat(width)}`, index, what, `${"1".repeat(width)}.${zone}`, `1.${zone}`),
            origin: hasBase ? (index % 3 === 0 ? ("already-pending" as const) : ("this-change" as const)) : null,
          })),
        );
        const wholes = gone.map(({ width, records }, index) => ({
          ...change(`domain/${"w".repeat(width)}-${index}.test`, "domain", { before: { domain: "x" } }),
          holds: { records, ignored: index % 2 === 0 ? null : Math.min(records, index % 4) },
          origin: hasBase ? (index % 3 === 0 ? ("already-pending" as const) : ("this-change" as const)) : null,
        }));
        const changes = [...wholes, ...within];
        expectWhole(plan(changes, hasBase ? { base: { name: "main", withdrawn: [] } } : {}), most);
      }),
      { numRuns: 15 },
    );
  });

  it("fits, also with characters that take two units, and names that are longer than a comment", () => {
    const astral = "\u{1f600}".repeat(20_000);
    const changes = [astral, "`".repeat(40_000), "x".repeat(70_000)].map((label) =>
      change(`image/${label}`, "image", { after: { label } }),
    );
    const text = renderPlanMarkdown(plan(changes));
    expect(text.length).toBeLessThanOrEqual(MAX_BODY_CHARACTERS);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3 * MAX_BODY_CHARACTERS);
    expect(anatomyOf(text).prose).toMatch(/^2 further networks, zones and images:\n\n- 2 images: 2 to add$/m);
  });
});

describe("a block of code within a number of characters", () => {
  it("has a long line alone as far as there is room, and less of one whose backticks make its fences longer", () => {
    const most = 1_000;
    for (const text of ["x".repeat(5_000), `${"x".repeat(5_000)}\nnext`]) {
      const { length } = codeBlockWithin(text, most);
      expect([length <= most, length > most - 5]).toEqual([true, true]);
    }
    for (const line of ["`".repeat(5_000), `${"`".repeat(400)}${"x".repeat(5_000)}`]) {
      const block = codeBlockWithin(line, most);
      expect(block.length).toBeLessThanOrEqual(most);
      expect(isInertMarkdown(block)).toBe(true);
    }
  });
});
