/** The order of steps: hard edges always, soft ones unless a cycle forbids it, and a gap exactly then. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_FACTS, type PlannedStep } from "../../src/model/unit.ts";
import { claimEdges, edgesOf } from "../../src/plan/edges.ts";
import { components, MAX_CAREFUL_ROUNDS, type Ordered, orderSteps } from "../../src/plan/order.ts";
import { Account } from "../support/account.ts";
import { planned, type SomeFacts } from "./changes.ts";

function ids(ordered: Ordered): string[] {
  return ordered.steps.map((step) => step.id);
}

test("steps that nothing orders keep their order", () => {
  const { steps, barriers, gaps } = orderSteps([planned("c"), planned("a"), planned("b")]);
  expect(steps.map(({ id, after }) => [id, after])).toEqual([
    ["c", []],
    ["a", []],
    ["b", []],
  ]);
  expect([barriers, gaps]).toEqual([[], []]);
});

test("warnings and refusals come in the order of their addresses, whatever the order of the manifest", async () => {
  const live = ["b", "a", "c"].map((label) => ({ label, region: "us-east", description: "words" }));
  const zones = ["z", "y"].map((name) => ({ domain: `${name}.example`, type: "master", soa_email: "a@a.example" }));
  const ofOthers = zones.map((zone) => ({ ...zone, tags: ["tenon:others"] }));
  const account = await Account.open({ seed: { vpcs: live, domains: ofOthers } as never });
  try {
    const found = [];
    for (const order of [(list: object[]) => list, (list: object[]) => list.toReversed()]) {
      const vpcs = order(live.map(({ label }) => ({ label, region: "us-west" })));
      const domains = order(zones);
      const { desired } = await account.load(JSON.stringify({ tenon: 1, owner: "edge", vpcs, domains }));
      if (desired === null) throw new Error("The manifest is invalid.");
      const { warnings, refusals } = await account.plan(desired);
      const of = (all: typeof warnings) => all.map(({ code, address }) => `${code} ${address}`);
      found.push([of(warnings), of(refusals)]);
    }
    expect(found[0]?.[0]).toEqual(["a", "b", "c"].map((label) => `unstated-description vpc/${label}`));
    expect(found[0]?.[1]).toHaveLength(2);
    expect(found[1]).toEqual(found[0]);
  } finally {
    await account.close();
  }
});

test("what is required comes in the order of the plan, however it is listed", () => {
  const steps = [planned("late", { requires: ["c", "a", "b"] }), planned("a"), planned("b"), planned("c")];
  expect(ids(orderSteps(steps))).toEqual(["a", "b", "c", "late"]);
});

test("what several steps wait for together is named by what happens when it is reached", () => {
  const twice = (name: string, facts: SomeFacts) => [planned(`${name}-1`, facts), planned(`${name}-2`, facts)];
  const { barriers } = orderSteps([
    ...twice("grow", { rrsets: { grow: [{ set: "set", persists: false }] } }),
    ...twice("shrink", { rrsets: { shrink: [{ set: "set", persists: false }] } }),
    ...twice("come", { resolution: { adds: ["host"] } }),
    ...twice("point", { resolution: { needs: ["host"] } }),
    ...twice("release", { resolution: { unneeds: ["name"] } }),
    ...twice("withdraw", { resolution: { removes: ["name"] } }),
    ...twice("reach", { reaches: ["point"] }),
    ...twice("await", { awaits: ["point"] }),
  ]);
  expect(barriers.map(({ id, after }) => [id, after])).toEqual([
    ["growth of set", ["grow-1", "grow-2"]],
    ["arrival of host", ["come-1", "come-2"]],
    ["release of name", ["release-1", "release-2"]],
    ["all of point", ["reach-1", "reach-2"]],
  ]);
});

test("what is required, referred to, or freed comes first", () => {
  const child: PlannedStep = planned("child");
  const made = planned("parent");
  const steps: PlannedStep[] = [
    planned("late", { requires: ["child", "not in this plan"] }),
    { ...child, step: { ...child.step, path: ["domains", { ref: "made", field: "id" }] } as PlannedStep["step"] },
    planned("taker", { claims: { acquire: [{ slot: "s", exclusive: true }] } }),
    { ...made, step: { ...made.step, produces: { ref: "made", fields: { id: "id" } } } as PlannedStep["step"] },
    planned("freer", { claims: { release: [{ slot: "s", exclusive: false }] } }),
  ];
  expect(ids(orderSteps(steps))).toEqual(["parent", "child", "late", "freer", "taker"]);
});

test("two shared claims of one slot do not order each other", () => {
  const steps = [
    planned("taker", { claims: { acquire: [{ slot: "s", exclusive: false }] } }),
    planned("freer", { claims: { release: [{ slot: "s", exclusive: false }] } }),
  ];
  expect(ids(orderSteps(steps))).toEqual(["taker", "freer"]);
});

test("of thousands of claims to one slot only those are looked at that let nobody else in", () => {
  let looks = 0;
  const shared = {
    slot: "s",
    get exclusive() {
      looks += 1;
      return false;
    },
  };
  const steps = Array.from({ length: 1_000 }, (_, index) =>
    planned(`${index}`, index % 2 === 0 ? { claims: { acquire: [shared] } } : { claims: { release: [shared] } }),
  );
  expect(claimEdges(steps).flat()).toEqual([]);
  expect(
    claimEdges([...steps, planned("alone", { claims: { acquire: [{ slot: "s", exclusive: true }] } })]).at(-1),
  ).toHaveLength(500);
  expect(looks).toBeLessThanOrEqual(2_000);
});

test("a soft edge that a hard one contradicts is a gap, and says what is missing and who goes ahead", () => {
  const members = [{ set: "www A", persists: false }];
  const steps = [
    planned("create", { rrsets: { grow: members }, claims: { acquire: [{ slot: "name www", exclusive: true }] } }),
    planned("delete", { rrsets: { shrink: members }, claims: { release: [{ slot: "name www", exclusive: true }] } }),
  ];
  const ordered = orderSteps(steps);
  expect(ids(ordered)).toEqual(["delete", "create"]);
  expect(ordered.gaps).toEqual([{ what: "www A", wanted: "create", before: "delete", root: "domain/a.example" }]);
});

test("where another member stays, the broken edge is no gap", () => {
  const slot = { slot: "x", exclusive: true };
  const steps = [
    planned("create", { rrsets: { grow: [{ set: "www A", persists: true }] }, claims: { acquire: [slot] } }),
    planned("delete", { rrsets: { shrink: [{ set: "www A", persists: true }] }, claims: { release: [slot] } }),
  ];
  expect(orderSteps(steps)).toMatchObject({ gaps: [], steps: [{ id: "delete" }, { id: "create" }] });
});

test("of two ways out of a cycle the one with fewer gaps is taken", () => {
  const steps = [
    planned("two gaps", { resolution: { needs: ["name b", "name c"], adds: ["name a"] } }),
    planned("one gap", { resolution: { needs: ["name a"], adds: ["name b", "name c"] } }),
  ];
  const ordered = orderSteps(steps);
  expect(ids(ordered)).toEqual(["one gap", "two gaps"]);
  expect(ordered.gaps.map((gap) => gap.what)).toEqual(["name a"]);
});

test("hard edges in a circle are a bug, and said to be one", () => {
  expect(() => orderSteps([planned("a", { requires: ["b"] }), planned("b", { requires: ["a"] })])).toThrow(
    /hard edges: a, b/,
  );
});

test("6,000 that grow a set and 6,000 that shrink it are ordered with a linear number of edges", () => {
  const set = { set: "www A", persists: false };
  const steps = [
    ...Array.from({ length: 6_000 }, (_, index) => planned(`delete ${index}`, { rrsets: { shrink: [set] } })),
    ...Array.from({ length: 6_000 }, (_, index) => planned(`create ${index}`, { rrsets: { grow: [set] } })),
  ];
  const { steps: ordered, barriers, gaps } = orderSteps(steps);
  expect(gaps).toEqual([]);
  expect(barriers).toHaveLength(1);
  expect(ordered.slice(0, 6_000).every((step) => step.id.startsWith("create"))).toBe(true);
  const edges = [...ordered, ...barriers].reduce((sum, { after }) => sum + after.length, 0);
  expect(edges).toBe(12_000);
});

const KEYS = ["p", "q", "r"];
const some = fc.subarray(KEYS, { maxLength: 2 });
const sets = fc.array(fc.record({ set: fc.constantFrom("s", "t"), persists: fc.boolean() }), { maxLength: 1 });
const drafts = fc.array(
  fc.record({
    resolution: fc.record({ adds: some, needs: some, removes: some, unneeds: some }),
    rrsets: fc.record({ grow: sets, shrink: sets }),
    requires: fc.array(fc.nat(6), { maxLength: 2 }),
    atPoint: fc.boolean(),
  }),
  { maxLength: 7 },
);

/** Steps whose hard edges all lead one way along a permutation, so that they alone make no cycle. */
const worlds = fc.tuple(drafts, fc.nat(7)).map(([list, turn]) => {
  const rank = (index: number) => (index + turn) % Math.max(1, list.length);
  return list.map(({ atPoint, ...draft }, index) =>
    planned(`step ${index}`, {
      ...draft,
      reaches: atPoint && rank(index) < 3 ? ["point"] : [],
      awaits: atPoint && rank(index) >= 3 ? ["point"] : [],
      requires: draft.requires
        .filter((other) => other < list.length && rank(other) < rank(index))
        .map((other) => `step ${other}`),
    }),
  );
});

test("hard edges always hold; soft ones hold if they can; a gap is said exactly where one was broken", () => {
  let withGap = 0;
  fc.assert(
    fc.property(worlds, (steps) => {
      const { hard, milestones } = edgesOf(steps);
      const ordered = orderSteps(steps);
      const place = new Map(ids(ordered).map((id, index) => [id, index]));
      const at = (index: number) => place.get(`step ${index}`) as number;
      expect(place.size).toBe(steps.length);
      for (const [index, list] of hard.entries()) for (const first of list) expect(at(first)).toBeLessThan(at(index));
      const broken = milestones.filter(({ before, after }) => {
        return before.some((first) => after.some((step) => first !== step && at(first) > at(step)));
      });
      expect(broken.filter((milestone) => milestone.hard)).toEqual([]);
      // A milestone is a node of its own, so a step on both of its sides is a cycle, which costs nothing when it is broken.
      const nodes = [...hard.map((list) => [...list]), ...milestones.map(({ before }) => [...before])];
      for (const [offset, { after }] of milestones.entries())
        for (const step of after) nodes[step]?.push(hard.length + offset);
      const cyclic = components(nodes).some((component) => component.length > 1);
      if (!cyclic) expect([broken, ordered.gaps]).toEqual([[], []]);
      const harmed = new Set(broken.filter((milestone) => !milestone.harmless).map(({ subject }) => subject));
      for (const subject of harmed) expect(ordered.gaps.map((gap) => gap.what)).toContain(subject);
      if (ordered.gaps.length > 0) withGap += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(withGap).toBeGreaterThan(50);
});

test("`after` names only what stands before it, so that a plan can be carried out from top to bottom", () => {
  fc.assert(
    fc.property(worlds, (steps) => {
      const ordered = orderSteps(steps);
      const barriers = new Map(ordered.barriers.map((barrier) => [barrier.id, barrier.after]));
      const place = new Map(ids(ordered).map((id, index) => [id, index]));
      const latest = (id: string): number => {
        const after = barriers.get(id);
        return after === undefined ? (place.get(id) ?? Number.NaN) : Math.max(-1, ...after.map(latest));
      };
      for (const [index, { after }] of ordered.steps.entries())
        for (const id of after) expect(latest(id)).toBeLessThan(index);
    }),
    { numRuns: 500 },
  );
});

test("a long chain of cycles is broken all at once after some rounds: every hard edge holds, and only forced gaps are said", () => {
  // Each step moves a record one name on: it must wait until the next name is free, and leaves its own without an answer.
  const count = 12_000;
  expect(count).toBeGreaterThan(MAX_CAREFUL_ROUNDS);
  const steps = Array.from({ length: count }, (_, index) =>
    planned(`move ${index}`, {
      claims: {
        release: [{ slot: `name ${index}`, exclusive: true }],
        acquire: [{ slot: `name ${index + 1}`, exclusive: true }],
      },
      rrsets: {
        shrink: [{ set: `set ${index}`, persists: false }],
        grow: [{ set: `set ${index + 1}`, persists: false }],
      },
    }),
  );
  // Beside the chain, a soft edge that nothing contradicts.
  const calm = [
    planned("shrink", { rrsets: { shrink: [{ set: "calm", persists: false }] } }),
    planned("grow", { rrsets: { grow: [{ set: "calm", persists: false }] } }),
  ];
  const ordered = orderSteps([...steps, ...calm]);
  const place = new Map(ids(ordered).map((id, index) => [id, index]));
  for (let index = 0; index + 1 < count; index += 1) {
    expect(place.get(`move ${index + 1}`)).toBeLessThan(place.get(`move ${index}`) as number);
  }
  expect(place.get("grow")).toBeLessThan(place.get("shrink") as number);
  expect(ordered.gaps).toHaveLength(count - 1);
  expect(new Set(ordered.gaps.map(({ what }) => what)).has("calm")).toBe(false);
});

test("what awaits a point comes after all that reach it, whatever soft edges ask for, at one edge each", () => {
  const count = 200;
  const makes = Array.from({ length: count }, (_, index) =>
    planned(`make ${index}`, { reaches: ["made"], rrsets: { shrink: [{ set: "s", persists: false }] } }),
  );
  const deletes = Array.from({ length: count }, (_, index) =>
    planned(`delete ${index}`, { awaits: ["made"], rrsets: { grow: [{ set: "s", persists: false }] } }),
  );
  const ordered = orderSteps([...deletes, ...makes]);
  const order = ids(ordered);
  expect(order.slice(0, count).every((id) => id.startsWith("make"))).toBe(true);
  expect(ordered.gaps.map(({ what }) => what)).toEqual(["s"]);
  const edges = [...ordered.steps, ...ordered.barriers].reduce((sum, { after }) => sum + after.length, 0);
  expect(edges).toBeLessThanOrEqual(3 * count);
  // A point that nothing reaches holds nothing up.
  expect(ids(orderSteps([planned("delete", { awaits: ["made"] })]))).toEqual(["delete"]);
});

test("looks before a delete wait for all that the delete waits for, and the delete for them alone", () => {
  const look = (id: string, requires: string[] = []): PlannedStep => {
    const { step, facts } = planned(id, { requires });
    return { step: { ...step, method: "GET", expect: {} } as PlannedStep["step"], facts };
  };
  const remove = planned("delete", {
    requires: ["count", "pointer"],
    resolution: { ...NO_FACTS.resolution, removes: ["a"] },
  });
  const steps = [
    look("check"),
    look("count", ["check"]),
    { ...remove, step: { ...remove.step, method: "DELETE" } as PlannedStep["step"] },
    planned("pointer"),
    planned("last pointer", { resolution: { ...NO_FACTS.resolution, unneeds: ["a"] } }),
  ];
  const ordered = orderSteps(steps);
  expect(ordered.steps.map(({ id, after }) => [id, after])).toEqual([
    ["pointer", []],
    ["last pointer", []],
    ["check", ["last pointer", "pointer"]],
    ["count", ["check"]],
    ["delete", ["count"]],
  ]);
});
