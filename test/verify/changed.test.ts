/** What an apply has changed of each zone: planned, applied and reported for real, then turned into questions. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Change, Desired, Plan } from "../../src/index.ts";
import { declaredZones } from "../../src/units/zone/export.ts";
import { type ChangedZones, changedZones, expectations } from "../../src/verify/expectation.ts";
import { Account, ALL_CONSENTS } from "../support/account.ts";

let account: Account;

beforeAll(async () => {
  account = await Account.open();
});

afterAll(() => account.close());

function project(domain: string, rest: string): string {
  return `tenon: 1\ndomains:\n  - { domain: ${domain}, type: master, soa_email: a@example.com, ${rest} }\n`;
}

const A = (name: string, target: string, ttl = 300): string =>
  `{ type: A, name: ${name}, target: ${target}, ttl_sec: ${ttl} }`;

/** Brings the account to `before`, and plans `after`. */
async function planned(domain: string, before: string, after: string): Promise<{ plan: Plan; desired: Desired }> {
  await account.converge(project(domain, before));
  const { desired } = await account.load(project(domain, after));
  if (desired === null) throw new Error("the project does not load");
  return { plan: await account.plan(desired, { consents: ALL_CONSENTS }), desired };
}

/** @param isDone which of the changes were carried out */
function changed(
  { plan, desired }: { plan: Plan; desired: Desired },
  isDone = (_: Change): boolean => true,
): ChangedZones {
  const done = new Set(plan.changes.filter((change) => isDone(change)).map(({ key }) => key));
  const [zone] = declaredZones(desired);
  return changedZones(plan.changes, done, (_, record) => zone?.tolerates(record) ?? false);
}

/** What is asked for, and what the answer must be. */
function asked({ zones }: ChangedZones): string[] {
  return zones.flatMap((zone) =>
    expectations(zone).sets.map(({ name, type, values }) => `${name} ${type} = ${values.join(" ")}`),
  );
}

describe("a part of a zone", () => {
  it("is said to be one, and what others may have at their names is no matter", async () => {
    await account.converge(
      `tenon: 1\nowner: edge\n${project("part.example", `shared_with: [{ owner: shop, names: ["*.shop"] }], records: [${A("www", "192.0.2.1")}]`).slice("tenon: 1\n".length)}`,
    );
    const part = `tenon: 1\nowner: shop\ndomains: [{ domain: part.example, part: { names: ["*.shop"] }, records: [${A("a.shop", "192.0.2.2")}] }]\n`;
    const { desired } = await account.load(part);
    if (desired === null) throw new Error("the project does not load");
    const found = changed({ plan: await account.plan(desired), desired });
    expect([found.zones.map(({ isPart }) => isPart), asked(found)]).toEqual([
      [true],
      ["a.shop.part.example A = 192.0.2.2"],
    ]);
    const [zone] = declaredZones(desired);
    const record = { type: "A", target: "192.0.2.9", ttl_sec: 0 } as const;
    expect(["www", "b.shop"].map((name) => zone?.tolerates({ ...record, name }))).toEqual([true, false]);
  });
});

describe("changed records", () => {
  it("are asked for with what stays beside them; what did not change is not", async () => {
    const before = `records: [${A("www", "192.0.2.1")}, ${A("www", "192.0.2.2")}, ${A("same", "192.0.2.9")}, ${A("old", "192.0.2.3")}, ${A("slow", "192.0.2.4")}]`;
    const after = `records: [${A("www", "192.0.2.1")}, ${A("www", "192.0.2.5")}, ${A("same", "192.0.2.9")}, ${A("new", "192.0.2.3")}, ${A("slow", "192.0.2.4", 3_600)}]`;
    const plan = await planned("changed.example", before, after);
    expect(asked(changed(plan))).toEqual([
      "new.changed.example A = 192.0.2.3",
      "old.changed.example A = ",
      "slow.changed.example A = 192.0.2.4",
      "www.changed.example A = 192.0.2.1 192.0.2.5",
    ]);
  });

  it("that failed leave what was there before", async () => {
    const before = `records: [${A("www", "192.0.2.1")}, ${A("www", "192.0.2.2")}]`;
    const after = `records: [${A("www", "192.0.2.1")}, ${A("www", "192.0.2.5")}, ${A("www", "192.0.2.7")}]`;
    const plan = await planned("failed.example", before, after);
    const isCreate = ({ action }: Change): boolean => action === "create";
    expect(asked(changed(plan, isCreate))).toEqual(["www.failed.example A = 192.0.2.1 192.0.2.2 192.0.2.7"]);
    expect(asked(changed(plan, () => false))).toEqual([]);
  });

  it("may stand beside what is ignored, but not beside what they replaced", async () => {
    const before = `records: [${A("www", "192.0.2.1")}]`;
    const after = `ignore: [{ name: www, target: "198.51.100.*" }], records: [${A("www", "192.0.2.5")}]`;
    const [set] = changed(await planned("ignored.example", before, after)).zones.flatMap(
      (zone) => expectations(zone).sets,
    );
    const allows = (target: string): boolean | undefined =>
      set?.allows(target, { type: "A", name: "www", target, ttl_sec: 0 });
    expect(["198.51.100.7", "192.0.2.1", "192.0.2.8"].map(allows)).toEqual([true, false, false]);
  });
});

describe("a zone", () => {
  it("that is made is asked for as a whole", async () => {
    const { desired } = await account.load(project("made.example", `records: [${A("www", "192.0.2.1")}]`));
    if (desired === null) throw new Error("the project does not load");
    expect(asked(changed({ plan: await account.plan(desired), desired }))).toEqual(["www.made.example A = 192.0.2.1"]);
  });

  it("whose own fields changed is asked for its SOA, and a note names what is not compared", async () => {
    const records = `records: [${A("www", "192.0.2.1")}]`;
    const fields = await planned("fields.example", records, `ttl_sec: 300, refresh_sec: 7200, ${records}`);
    const found = changed(fields);
    expect([found.zones.length, found.hasUncompared]).toEqual([1, true]);
    expect(found.notes).toEqual([
      expect.stringMatching(/^fields\.example has another refresh_sec, ttl_sec: .* not compared/),
    ]);
    expect(changed(fields, () => false)).toMatchObject({ notes: [], hasUncompared: false });
    const other = changed(await planned("tags.example", records, `tags: [some], ${records}`));
    expect([other.zones.length, other.notes, other.hasUncompared]).toEqual([1, [], false]);
  });

  it("that could not be made is not asked for", async () => {
    const { desired } = await account.load(project("unmade.example", `records: [${A("www", "192.0.2.1")}]`));
    if (desired === null) throw new Error("the project does not load");
    const given = changed({ plan: await account.plan(desired), desired }, ({ kind }) => kind !== "domain");
    expect(given.zones).toEqual([]);
  });

  it("that is served only now is asked for as a whole, one that is disabled not at all", async () => {
    const records = `records: [${A("www", "192.0.2.1")}, ${A("mail", "192.0.2.2")}]`;
    const on = await planned("switch.example", `status: disabled, ${records}`, records);
    expect(asked(changed(on))).toHaveLength(2);
    const off = await planned("switch.example", records, `status: disabled, records: [${A("www", "192.0.2.9")}]`);
    expect(changed(off)).toMatchObject({ zones: [], notes: [expect.stringMatching(/^switch\.example is disabled/)] });
  });

  it("that is deleted is told", async () => {
    await account.converge(project("gone.example", "records: []"));
    const { desired } = await account.load("tenon: 1\nremoved: [{ domain: gone.example }]\n");
    if (desired === null) throw new Error("the project does not load");
    const given = changed({ plan: await account.plan(desired, { consents: ALL_CONSENTS }), desired });
    expect(given).toMatchObject({ zones: [], notes: [expect.stringMatching(/^gone\.example is deleted/)] });
  });
});
