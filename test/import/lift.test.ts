/** Record sets and defaults that an import makes: readable, and never a change of what is declared. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { ImportedDomain, ImportedDomains } from "../../src/import/collect.ts";
import { projectFiles } from "../../src/import/project.ts";
import { extractRecordSets } from "../../src/import/record-sets.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { units } from "../../src/units/index.ts";
import { withoutOrder } from "../format/desired.ts";
import { loadFiles } from "../manifest/support.ts";
import { growth, itemsWalkedEach } from "../support/operations.ts";

const RUNS = Math.ceil(Number(process.env["TENON_PROPERTY_RUNS"] ?? 500) / 5);

function domain(name: string, records: readonly JsonObject[], more: JsonObject = {}): ImportedDomain {
  return { name, entry: { domain: name, type: "master", soa_email: "a@example.com", ...more }, records };
}

function taken(...domains: ImportedDomain[]): ImportedDomains {
  return { owner: null, domains, others: {} };
}

async function manifestOf(project: ImportedDomains, split = false): Promise<JsonObject> {
  const [root] = await projectFiles(project, units, { split, lifts: true });
  return parse(root?.text ?? "") as JsonObject;
}

const mail = (zone: string): JsonObject[] => [
  { type: "MX", target: "mx.example.net.", priority: 10 },
  { type: "TXT", target: "v=spf1 mx -all" },
  { type: "TXT", name: "_dmarc", target: `v=DMARC1; p=reject; rua=mailto:dmarc@${zone}` },
];

describe("record sets", () => {
  it("hold what three domains have in common, their own names aside, under a name that says what for", async () => {
    const zones = ["a.example", "b.example", "c.example"];
    const web = (target: string): JsonObject[] => [{ type: "A", target }];
    const manifest = await manifestOf(
      taken(...zones.map((zone, index) => domain(zone, [...web(`192.0.2.${index}`), ...mail(zone)]))),
    );
    expect(manifest).toEqual({
      tenon: 1,
      defaults: { domain: { type: "master", soa_email: "a@example.com" } },
      record_sets: {
        mail: [
          { type: "MX", target: "mx.example.net.", priority: 10 },
          { type: "TXT", target: "v=spf1 mx -all" },
          { type: "TXT", name: "_dmarc", target: "v=DMARC1; p=reject; rua=mailto:dmarc@${zone}" },
        ],
      },
      domains: zones.map((zone, index) => ({
        domain: zone,
        use: ["mail"],
        records: [{ type: "A", target: `192.0.2.${index}` }],
      })),
    });
  });

  it("are not made for two domains, nor for a single record", () => {
    const two = ["a.example", "b.example"].map((zone) => domain(zone, mail(zone)));
    expect(extractRecordSets(two).sets).toEqual({});
    const single = ["a.example", "b.example", "c.example"].map((zone) =>
      domain(zone, [{ type: "A", target: "192.0.2.1" }]),
    );
    expect(extractRecordSets(single).sets).toEqual({});
  });

  it("never take a part of what one name and type holds", () => {
    const zones = ["a.example", "b.example", "c.example"].map((zone, index) =>
      domain(zone, [...mail(zone), { type: "TXT", target: `own ${index}` }]),
    );
    const { sets, domains } = extractRecordSets(zones);
    expect(sets["mail"]?.map(({ type, name }) => `${type} ${name ?? "@"}`)).toEqual(["MX @", "TXT _dmarc"]);
    expect(domains[0]?.records?.map(({ target }) => target)).toEqual(["v=spf1 mx -all", "own 0"]);
  });
});

/** `OWN` becomes the name of each zone. */
const text = fc.constantFrom(
  ...["v=spf1 -all", "${zone}", "$${zone}", "$OWN", "OWN mail@OWN", "xOWN.org", "${var.x}", "b.example a.example"],
);
const record: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({
    type: fc.constant("A"),
    name: fc.constantFrom("www", "a"),
    target: fc.constantFrom("192.0.2.1", "192.0.2.2"),
    ttl_sec: fc.constantFrom(300, 3600),
  }),
  fc.record({ type: fc.constant("TXT"), target: text }),
  fc.record({ type: fc.constant("TXT"), name: fc.constant("t"), target: text, ttl_sec: fc.constant(300) }),
  fc.record({
    type: fc.constant("MX"),
    target: fc.constantFrom("mx", "@", "mx.example.net."),
    priority: fc.constantFrom(1, 2),
  }),
);
const zones = fc
  .tuple(
    fc.array(fc.uniqueArray(record, { maxLength: 6, selector: ({ ttl_sec: _, ...data }) => JSON.stringify(data) }), {
      minLength: 1,
      maxLength: 3,
    }),
    fc.array(fc.nat(2), { minLength: 1, maxLength: 6 }),
    fc.array(fc.constantFrom({}, { tags: ["xyz"] }, { ttl_sec: 300 }, { group: "g" }), { minLength: 6, maxLength: 6 }),
  )
  .map(([groups, picks, fields]) =>
    picks.map((pick, index) => {
      const name = `${"abcdef"[index]}.example`;
      const records = (groups[pick % groups.length] ?? []).map((one) => ({
        ...one,
        target: String(one["target"]).replaceAll("OWN", name),
      }));
      return domain(name, records, fields[index]);
    }),
  );

describe("what is lifted", () => {
  it("comes down to what was there without it, in one file and in many", { timeout: 60_000 }, async () => {
    let sets = 0;
    await fc.assert(
      fc.asyncProperty(zones, fc.boolean(), async (domains, split) => {
        const load = async (lifts: boolean): Promise<unknown> => {
          const files = await projectFiles(taken(...domains), units, { split, lifts });
          if (files[0]?.text.includes("record_sets") === true) sets += 1;
          const loaded = await loadFiles(Object.fromEntries(files.map(({ file, text: content }) => [file, content])));
          return withoutOrder(loaded.project?.desired);
        };
        expect(await load(true)).toEqual(await load(false));
      }),
      { numRuns: RUNS },
    );
    if (RUNS >= 100) expect(sets).toBeGreaterThan(10);
  });

  it("of 1,000 zones with 12 records each is found, and four times the zones take four times the work", async () => {
    const many = (count: number): ImportedDomain[] =>
      Array.from({ length: count }, (_, index) => {
        const own = Array.from(
          { length: 9 },
          (_, host): JsonObject => ({ type: "A", name: `h${host}`, target: `10.${index >> 8}.${index & 255}.${host}` }),
        );
        return domain(`z${index}.example`, [...own, ...mail(`z${index}.example`)]);
      });
    const files = await projectFiles(taken(...many(1_000)), units, { split: true, lifts: true });
    expect(files).toHaveLength(1_001);
    expect(files[0]?.text).toContain("\n  mail:\n");
    expect(await growth(200, 4, (count) => extractRecordSets(many(count)))).toBeLessThan(5);
    const write = (count: number) => projectFiles(taken(...many(count)), units, { split: true, lifts: true });
    expect(await growth(50, 4, write)).toBeLessThan(5);
  });

  it("of which each has three of a thousand zones are found in a time that is linear in the zones", async () => {
    const many = (count: number): ImportedDomain[] =>
      Array.from({ length: count }, (_, index) => {
        const own = Math.floor(index / 3);
        const records = [0, 1, 2, 3].map((host) => ({ type: "TXT", name: `h${host}`, target: `text ${own} ${host}` }));
        return domain(`z${index}.example`, records);
      });
    expect(Object.keys(extractRecordSets(many(30)).sets)).toHaveLength(10);
    expect(await growth(300, 4, (count) => extractRecordSets(many(count)), itemsWalkedEach)).toBeLessThan(5);
  });
});
