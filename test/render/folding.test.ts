import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Change } from "../../src/model/change.ts";
import { Kinds } from "../../src/model/kind.ts";
import type { Guard } from "../../src/model/plan.ts";
import { entriesOf, foldContext, ZONE_NAME } from "../../src/render/folding.ts";
import { renderPlanMarkdown, renderPlanText } from "../../src/render/index.ts";
import { groupsOf } from "../../src/render/view.ts";
import { units } from "../../src/units/index.ts";
import { growth } from "../support/operations.ts";
import { change, plan, record } from "./plans.ts";

const GOLDEN = "../golden";
const PLAIN = { colour: false, width: 80 };
const FULL = { ...PLAIN, full: true };
const KINDS = new Kinds(units);

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** What one edit of a record set is in one zone: another mail server, another policy, a record more and one less. */
function edit(zone: string): Change[] {
  const at = (name: string, type: string) => `domain/${zone}/${name}/${type}`;
  const policy = (kind: string) => record("_dmarc", "TXT", `v=DMARC1; p=${kind}; rua=mailto:dmarc@${zone}`, 300);
  return [
    change(at("@", "CAA"), "domain_record", { after: record("", "CAA", "letsencrypt.org", 0, { tag: "issue" }) }),
    change(at("@", "MX"), "domain_record", {
      before: record("", "MX", "mx1.example.net", 3600, { priority: 10 }),
      after: record("", "MX", "mx2.example.net", 3600, { priority: 10 }),
    }),
    change(at("_dmarc", "TXT"), "domain_record", { before: policy("none"), after: policy("reject") }),
    change(at("old", "A"), "domain_record", { before: record("old", "A", "192.0.2.9", 300) }),
  ];
}

const byKey = (changes: readonly Change[]): Change[] => changes.toSorted((a, b) => (a.key < b.key ? -1 : 1));
const brands = (count: number): Change[] => numbers(count).flatMap((number) => edit(`brand${number}.example`));

/** One edit of 39 zones, and four zones of which there is more to say. */
function folded() {
  const guard: Guard = {
    rule: "bulk",
    address: "domain/guarded.example",
    consent: "missing",
    count: 1,
    of: 2,
    origin: null,
  };
  const held = edit("held.example").map((one, index): Change => {
    return index > 0 ? one : { ...one, blocked: { type: "depends", on: ["domain/held.example/x/A"] } };
  });
  const noted = edit("noted.example").map((one, index) => (index > 0 ? one : { ...one, note: "ask Ada" }));
  const changes = [...brands(39), ...edit("gap.example"), ...edit("guarded.example"), ...held, ...noted];
  return plan(byKey(changes), {
    guards: [guard],
    gaps: [{ what: "old A", wanted: "create x", before: "delete y", root: "domain/gap.example" }],
    warnings: numbers(39).map((number) => ({
      code: "some-warning",
      severity: "warning",
      summary: `brand${number}.example has it`,
      detail: "Something is odd.",
      fix: "Mend it.",
    })),
  });
}

describe("one edit of a record set in 39 zones", () => {
  it("is one entry with a count, beside the zones that have more to say", async () => {
    await expect(renderPlanText(folded(), PLAIN)).toMatchFileSnapshot(`${GOLDEN}/plan-alike.txt`);
  });

  it("is one fold of a comment, with the names of all", async () => {
    await expect(renderPlanMarkdown(folded())).toMatchFileSnapshot(`${GOLDEN}/plan-alike.md`);
  });

  it("fits a screen of 24 lines", () => {
    const text = renderPlanText(plan(byKey(brands(39))), PLAIN);
    expect(text.split("\n").length).toBeLessThanOrEqual(24);
    expect(text).toContain("  39 domains alike: brand1.example … brand39.example\n");
    expect(text).toMatch(/\nPlan: 39 to add, 78 to change, 39 to destroy\.\n$/);
  });

  it("is 39 entries with --full, in the order in which people count", () => {
    const text = renderPlanText(folded(), FULL);
    const heads = text.split("\n").filter((line) => /^ {2}domain /.test(line));
    expect(heads).toHaveLength(43);
    expect(heads.slice(0, 3)).toEqual(["brand1", "brand2", "brand3"].map((name) => `  domain ${name}.example`));
    expect(text).not.toContain("alike");
    expect(text.match(/^Warning: /gm)).toHaveLength(39);
    expect(text).not.toContain(ZONE_NAME);
  });

  it("is not folded for three zones", () => {
    expect(renderPlanText(plan(byKey(brands(3))), PLAIN)).not.toContain("alike");
    expect(renderPlanText(plan(byKey(brands(4))), PLAIN)).toContain("4 domains alike");
  });
});

describe("the names of what is alike", () => {
  it("are all there, so that one between the first and the last is seen to be among them or not", () => {
    const text = renderPlanText(plan(byKey(brands(6).filter(({ root }) => root !== "domain/brand3.example"))), PLAIN);
    const names = "brand1.example, brand2.example, brand4.example,";
    expect(text.split("\n").slice(0, 3)).toEqual([
      "  5 domains alike:",
      `       ${names} brand5.example,`,
      "       brand6.example",
    ]);
    expect(renderPlanText(plan(byKey(brands(12))), PLAIN)).toContain("brand11.example, brand12.example\n");
  });

  it("are the first and the last of more than twelve", () => {
    const text = renderPlanText(plan(byKey(brands(13))), PLAIN);
    expect(text).toContain("  13 domains alike: brand1.example … brand13.example\n");
  });
});

describe("what is never folded", () => {
  const four = numbers(4).map((number) => `zone${number}.example`);
  const within = (rest: (zone: string) => Partial<Change>): Change[] =>
    byKey(
      four.map((zone) =>
        change(`domain/${zone}/www/A`, "domain_record", { after: record("www", "A", "192.0.2.1"), ...rest(zone) }),
      ),
    );
  const isFolded = (changes: readonly Change[], more: Parameters<typeof plan>[1] = {}): boolean =>
    renderPlanText(plan(changes, more), PLAIN).includes("4 domains alike");

  it("is what is blocked, replaced or renamed, and what has another value, note, label or guard", () => {
    expect(isFolded(within(() => ({})))).toBe(true);
    expect(isFolded(within(() => ({ note: "same" })))).toBe(true);
    expect(isFolded(within(() => ({ blocked: { type: "depends", on: ["x"] } })))).toBe(false);
    expect(isFolded(within(() => ({ before: record("www", "A", "192.0.2.2"), action: "replace" })))).toBe(false);
    expect(isFolded(within((zone) => ({ after: record("www", "A", `192.0.2.${zone.at(4)}`) })))).toBe(false);
    expect(isFolded(within((zone) => ({ after: record("www", "A", "192.0.2.1", Number(zone.at(4))) })))).toBe(false);
    expect(isFolded(within((zone) => ({ note: zone.replace("zone", "note ") })))).toBe(false);
    expect(isFolded(within((zone) => ({ labels: zone === four[0] ? ["duplicate"] : [] })))).toBe(false);
    const guard = (zone: string, of: number): Guard => {
      return { rule: "bulk", address: `domain/${zone}`, consent: "missing", count: 1, of, origin: null };
    };
    expect(
      isFolded(
        within(() => ({})),
        { guards: four.map((zone) => guard(zone, 2)) },
      ),
    ).toBe(true);
    expect(
      isFolded(
        within(() => ({})),
        { guards: four.map((zone, index) => guard(zone, 2 + index)) },
      ),
    ).toBe(false);
    expect(
      isFolded(
        within(() => ({})),
        { guards: [guard("zone2.example", 2)] },
      ),
    ).toBe(false);
    const gap = { what: "www A", wanted: "a", before: "b", root: "domain/zone3.example" };
    expect(
      isFolded(
        within(() => ({})),
        { gaps: [gap] },
      ),
    ).toBe(false);
  });

  it("is a domain that is renamed, or whose note holds the sign for a name itself", () => {
    const own = (rest: (zone: string) => Partial<Change>): Change[] =>
      four.map((zone) =>
        change(`domain/${zone}`, "domain", {
          before: { domain: zone },
          after: { domain: zone, description: "x" },
          ...rest(zone),
        }),
      );
    expect(isFolded(own(() => ({})))).toBe(true);
    expect(isFolded(own((zone) => ({ previousAddress: `domain/old-${zone}` })))).toBe(false);
    // As a template they would be equal.
    expect(isFolded(own((zone) => ({ note: zone === four[0] ? `of ${ZONE_NAME}` : `of ${zone}` })))).toBe(false);
    expect(isFolded(own((zone) => ({ note: `of ${zone}` })))).toBe(true);
  });

  it("is a number that equals the name of its zone", () => {
    const changes = ["10", "20", "30", "40"].map((zone) =>
      change(`domain/${zone}/www/A`, "domain_record", { after: record("www", "A", "192.0.2.1", Number(zone)) }),
    );
    expect(renderPlanText(plan(changes), PLAIN)).not.toContain("alike");
  });
});

/** Lines below the heading, with alignment left out: it depends on the length of names. */
function below(text: string): string[] {
  const [changes = ""] = text.split("\n\n");
  return changes
    .split("\n")
    .slice(1)
    .filter((line) => line.trim() !== `${ZONE_NAME} is the name of each`)
    .map((line) => line.trim().replace(/ +/g, " "));
}

it("says of each folded zone just what is shown of it by itself", () => {
  const name = fc.constantFrom(
    "a",
    "10",
    "update",
    "www",
    "zone",
    "target",
    "brand1.example",
    "brand11.example",
    'x"y',
  );
  const value = fc.constantFrom("10", "x", "at ${zone}", "NAME", "mail.NAME", "NAMENAME", "300", 'q"NAME"');
  const kind = fc.record({
    value,
    was: fc.option(value),
    goes: fc.boolean(),
    ttl: fc.constantFrom(0, 10, 300),
    note: fc.option(value, { nil: null, freq: 4 }),
    own: fc.constantFrom("none", "create", "update"),
  });
  let seen = 0;
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { minLength: 5 }),
      fc.array(kind, { minLength: 1, maxLength: 2 }),
      (names, drawn) => {
        const changes = names.flatMap((zone, index) => {
          const { value: after, was, goes, ttl, note, own } = drawn[index % drawn.length] as (typeof drawn)[number];
          const in_ = (text: string) => text.replaceAll("NAME", zone);
          const root = `domain/${zone}`;
          const values = { domain: zone, type: "master", description: in_(after) };
          return [
            ...(own === "none"
              ? []
              : [
                  change(root, "domain", {
                    after: values,
                    before: own === "create" ? null : { ...values, description: "" },
                  }),
                ]),
            change(`${root}/w/TXT`, "domain_record", {
              root,
              before:
                was === null ? (goes ? record("w", "TXT", in_(after), ttl) : null) : record("w", "TXT", in_(was), ttl),
              after: goes ? null : record("w", "TXT", in_(after), ttl),
              note: note === null ? null : in_(note),
            }),
          ].filter(({ before, after: to }) => before !== null || to !== null);
        });
        const context = foldContext(KINDS, new Map());
        const wide = { colour: false, width: 10_000 };
        for (const entry of entriesOf(groupsOf(changes, KINDS), context)) {
          if (entry.type !== "alike") continue;
          seen += 1;
          const text = renderPlanText(
            plan(changes.filter(({ root }) => entry.groups.some((one) => one.root === root))),
            wide,
          );
          expect(text).toContain(`${entry.groups.length} domains alike: `);
          for (const { root } of entry.groups) {
            const alone = renderPlanText(plan(changes.filter((one) => one.root === root)), wide);
            const zone = root.slice("domain/".length);
            const said = below(text).map((line) => (entry.shown.isTemplate ? line.replaceAll(ZONE_NAME, zone) : line));
            // A name with a quotation mark is escaped where it stands in a value.
            const plain = (lines: readonly string[]) => lines.map((line) => line.replaceAll("\\", ""));
            expect(plain(said)).toEqual(plain(below(alone)));
          }
        }
      },
    ),
    { numRuns: 300 },
  );
  expect(seen).toBeGreaterThan(100);
});

it("takes eight times the work for eight times the zones", async () => {
  const work = (count: number) => renderPlanText(plan(brands(count)), PLAIN);
  expect(await growth(150, 8, work)).toBeLessThan(9);
});
