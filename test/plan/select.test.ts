/** Targets and excludes: what a narrowed run is about, and what then stays as it is. */

import { expect, test } from "vitest";
import type { Change } from "../../src/model/change.ts";
import { Kinds } from "../../src/model/kind.ts";
import { isNarrowed } from "../../src/model/plan.ts";
import type { PlannedStep } from "../../src/model/unit.ts";
import { blockHeld, mayConcern, selectChanges, selectionOf, withoutBlockedSteps } from "../../src/plan/select.ts";
import { units } from "../../src/units/index.ts";
import { itemsWalked, operationsOf } from "../support/operations.ts";
import { a, change, planned, record } from "./changes.ts";

const KINDS = new Kinds(units);

function selected(changes: Change[], targets: string[], excludes: string[] = []): string[] {
  return selectChanges(changes, selectionOf({ targets, excludes, changedSince: null }), KINDS)
    .filter(({ action }) => action !== "no-op")
    .map(({ action, address }) => `${action} ${address}`);
}

const update = change({
  address: "domain/a.example",
  action: "update",
  before: { description: "x" },
  after: { description: "y" },
});
const www = record("www", "create", { after: a("www", "192.0.2.1") });
const old = record("old", "delete", { before: a("old", "192.0.2.1") });
const zone = [update, old, www];

test("without targets and excludes everything is selected, and a run is not narrow", () => {
  expect(isNarrowed({ targets: [], excludes: [], changedSince: null })).toBe(false);
  expect(selectChanges(zone, selectionOf({ targets: [], excludes: [], changedSince: null }), KINDS)).toEqual(zone);
});

test.each([
  [
    ["domain/a.example"],
    [],
    ["update domain/a.example", "delete domain/a.example/old/A", "create domain/a.example/www/A"],
  ],
  [["domain/a.example/www/A"], [], ["create domain/a.example/www/A"]],
  [["domain/a.example/www"], [], ["create domain/a.example/www/A"]],
  [["*/A"], [], ["delete domain/a.example/old/A", "create domain/a.example/www/A"]],
  [["domain/a.exampl"], [], []],
  [["domain/a.example"], ["*/old/*"], ["update domain/a.example", "create domain/a.example/www/A"]],
  [[], ["domain/a.example"], []],
  [[], ["domain/a.example/old"], ["update domain/a.example", "create domain/a.example/www/A"]],
  [[], ["vpc/*"], ["update domain/a.example", "delete domain/a.example/old/A", "create domain/a.example/www/A"]],
] as const)("targets %j without %j", (targets, excludes, expected) => {
  expect(selected(zone, [...targets], [...excludes])).toEqual(expected);
});

test("what is not selected is there as it is live, and what is not there is left out", () => {
  const found = selectChanges(
    [...zone],
    selectionOf({ targets: ["domain/b.example"], excludes: [], changedSince: null }),
    KINDS,
  );
  expect(found.map(({ address, action, after }) => [address, action, after])).toEqual([
    ["domain/a.example", "no-op", { description: "x" }],
    ["domain/a.example/old/A", "no-op", a("old", "192.0.2.1")],
  ]);
});

test("an unselected rename keeps its old address, and loses what was said of the change", () => {
  const renamed: Change = {
    ...change({
      address: "vpc/new",
      action: "update",
      labels: ["rename"],
      before: { label: "old" },
      after: { label: "new" },
    }),
    previousAddress: "vpc/old",
    blocked: { type: "depends", on: ["x"] },
  };
  expect(
    selectChanges([renamed], selectionOf({ targets: ["image/*"], excludes: [], changedSince: null }), KINDS),
  ).toEqual([
    {
      ...renamed,
      address: "vpc/old",
      previousAddress: null,
      action: "no-op",
      after: { label: "old" },
      labels: [],
      blocked: null,
    },
  ]);
  expect(selected([renamed], [], ["vpc/old"])).toEqual([]);
  expect(selected([renamed], [], ["vpc/new"])).toEqual([]);
  expect(selected([renamed], [], ["vpc/other"])).toEqual(["update vpc/new"]);
});

test("a target means a renamed object by its old address as by its new one, and what is in it", () => {
  const vpc: Change = {
    ...change({ address: "vpc/new", action: "update", before: { label: "old" }, after: { label: "new" } }),
    previousAddress: "vpc/old",
  };
  const added = change({ address: "vpc/new/subnet/a", action: "create", after: { label: "a" } });
  const both = ["update vpc/new", "create vpc/new/subnet/a"];
  expect(selected([vpc, added], ["vpc/old"])).toEqual(both);
  expect(selected([vpc, added], ["vpc/new"])).toEqual(both);
  expect(selected([vpc, added], ["vpc/old/subnet/a"])).toEqual(both);
  expect(selected([vpc, added], ["vpc/old/subnet/b"])).toEqual([]);
  expect(selected([vpc, added], ["vpc/old"], ["vpc/new/subnet/a"])).toEqual(["update vpc/new"]);
  expect(selected([vpc, added], ["vpc/ol"])).toEqual([]);
  const successor = change({ address: "vpc/old", action: "create", after: { label: "old" } });
  expect(selected([vpc, added, successor], ["vpc/old"])).toEqual(["create vpc/old"]);
  expect(selected([vpc, added, successor], [], ["vpc/old"])).toEqual([]);
});

test("a parent that is made anew goes with all of its children or not at all, and they only with it", () => {
  const values = { label: "x" };
  const vpc = change({ address: "vpc/v", action: "replace", before: values, after: values });
  const subnets = ["a", "b"].map((label) =>
    change({ address: `vpc/v/subnet/${label}`, action: "replace", before: values, after: values }),
  );
  const all = [vpc, ...subnets];
  expect(selected(all, ["vpc/v"])).toHaveLength(3);
  expect(selected(all, ["vpc/v/subnet/a"])).toEqual([]);
  expect(selected(all, ["vpc/v/subnet/*"])).toEqual([]);
  expect(selected(all, [], ["vpc/v/subnet/a"])).toEqual([]);
  expect(selected(all, [], ["vpc/w"])).toHaveLength(3);
});

test("a domain that goes is kept by an exclude that one of its unread records may fit, not by any other", () => {
  const gone = change({ address: "domain/a.example", action: "delete", before: { domain: "a.example" } });
  for (const glob of ["domain/a.example/www/A", "*/TXT", "domain/a*/x*", "domain/a.example/*"]) {
    expect(selected([gone], [], [glob]), glob).toEqual([]);
  }
  for (const glob of ["domain/b.example/www/A", "*.test", "vpc/*", "domain/a.example.net/*"]) {
    expect(selected([gone], [], [glob]), glob).toEqual(["delete domain/a.example"]);
  }
});

test("what surely cannot be selected need not be read, and nothing else is left unread", () => {
  const may = (targets: string[], excludes: string[]) =>
    mayConcern("domain/a.example", selectionOf({ targets, excludes, changedSince: null }));
  expect(may(["domain/a.example/www/A"], [])).toBe(true);
  expect(may(["*/TXT"], [])).toBe(true);
  expect(may(["domain/b.example", "vpc/*"], [])).toBe(false);
  expect(may([], ["domain/a.example"])).toBe(false);
  expect(may([], ["domain/a.example/www/A"])).toBe(true);
  expect(may(["domain/*"], ["domain/a*"])).toBe(false);
  const mayRenamed = (targets: string[], excludes: string[]) =>
    mayConcern("vpc/new", selectionOf({ targets, excludes, changedSince: null }), "vpc/old");
  expect(mayRenamed(["vpc/old"], [])).toBe(true);
  expect(mayRenamed(["vpc/new"], ["vpc/old"])).toBe(false);
  expect(mayRenamed(["vpc/other"], [])).toBe(false);
});

/** Many blocked changes, each with a step that the one step waits for which makes a VPC with many subnets. */
function held(count: number) {
  const blockers = numbered(count, (index) =>
    change({ address: `vpc/old-${index}`, action: "update", blocked: SHARED }),
  );
  const parts = numbered(count, (index) => change({ address: `vpc/new/subnet/s${index}`, action: "create" }));
  const changes = [...blockers, change({ address: "vpc/new", action: "create" }), ...parts];
  const steps = blockers.map(({ key }) => stepOf(planned(key), [key]));
  const claims = planned("make", { requires: blockers.map(({ key }) => key) });
  return { changes, steps: [...steps, stepOf(claims, ["vpc/new", ...parts.map(({ key }) => key)])] };
}

const SHARED = { type: "shared", owners: ["other"] } as const;

function numbered<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function stepOf({ step, facts }: PlannedStep, changes: readonly string[]): PlannedStep {
  return { step: { ...step, changes }, facts };
}

test("a change that waits for many blocked ones names twenty and counts the rest", () => {
  const { changes, steps } = held(30);
  const found = withoutBlockedSteps(steps, changes);
  expect(found.planned).toEqual([]);
  const blocks = found.changes.slice(30).map(({ blocked }) => blocked);
  // Of what is made in one request, all waits for the first that is blocked, too.
  const [itself, ...parts] = blocks;
  const first = numbered(30, (index) => `vpc/old-${index}`)
    .sort()
    .slice(0, 20);
  expect(itself).toEqual({ type: "depends", on: first, more: 10 });
  for (const block of parts)
    expect(block).toEqual({ type: "depends", on: ["vpc/new", ...first.slice(0, 19)], more: 11 });
});

test("a change does not wait for itself, and names what else its step waits for", () => {
  const one = change({ address: "vpc/a", action: "update", blocked: SHARED });
  const other = change({ address: "vpc/b", action: "update" });
  const last = change({ address: "vpc/c", action: "update" });
  const steps = [stepOf(planned("both"), ["vpc/a", "vpc/b"]), stepOf(planned("c", { requires: ["both"] }), ["vpc/c"])];
  const found = withoutBlockedSteps(steps, [one, other, last]).changes.map(({ blocked }) => blocked);
  expect(found).toEqual([SHARED, { type: "depends", on: ["vpc/a"] }, { type: "depends", on: ["vpc/a"] }]);
});

test("many blocked changes and many that wait for them are looked at once each", async () => {
  const walked = async (count: number) => {
    const { changes, steps } = held(count);
    return itemsWalked(() => withoutBlockedSteps(steps, changes));
  };
  expect((await walked(2_000)) / (await walked(500))).toBeLessThan(5);
  const calls = (count: number) => {
    const { changes, steps } = held(count);
    return () => withoutBlockedSteps(steps, changes);
  };
  expect((await operationsOf(calls(2_000))) / (await operationsOf(calls(500)))).toBeLessThan(6);
});

test("what is left out is named up to twenty, too, by each of the many that wait for it", async () => {
  const walked = async (count: number) => {
    const { changes, steps } = held(count);
    // A delete cannot do without what it requires, other requests can.
    const whole = steps.map(({ step, facts }) => ({ step: { ...step, method: "DELETE" as const }, facts }));
    const selected = changes.slice(count);
    let found: Change[] = [];
    const items = await itemsWalked(() => {
      found = blockHeld(whole, selected);
    });
    return { found, items };
  };
  const { found } = await walked(30);
  for (const { blocked } of found) expect(blocked).toMatchObject({ type: "depends", leftOut: true, more: 10 });
  expect((await walked(2_000)).items / (await walked(500)).items).toBeLessThan(5);
});
