import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type EndedOutcome,
  MAX_CAUSES_PER_SKIP,
  Schedule,
  type Scheduled,
  type Skip,
} from "../../src/apply/schedule.ts";
import type { Barrier } from "../../src/model/plan.ts";
import { growth, itemsWalkedEach } from "../support/operations.ts";

const step = (id: string, ...after: string[]): Scheduled => ({ id, after });

/** Takes everything that is ready. */
function startAll(schedule: Schedule): string[] {
  const started: string[] = [];
  for (let id = schedule.start(); id !== null; id = schedule.start()) started.push(id);
  return started;
}

describe("the schedule", () => {
  test("starts what is ready in the order of the plan, not in the order of becoming ready", () => {
    const schedule = new Schedule([step("a"), step("b"), step("c", "b"), step("d", "a"), step("e")], []);
    expect([schedule.start(), schedule.start()]).toEqual(["a", "b"]);
    schedule.end("a", "done");
    schedule.end("b", "done");
    expect(startAll(schedule)).toEqual(["c", "d", "e"]);
  });

  test("starts what waited for a look, a delete or a change before all else, and skips it when it is stopped", () => {
    for (const method of ["GET", "DELETE", "PUT"] as const) {
      const first: Scheduled = { ...step("first"), method };
      const others = [step("a"), step("b", "a"), step("c", "a")];
      const schedule = new Schedule(
        [...others, first, step("then", "first"), step("last", "end")],
        [{ id: "end", after: ["then"] }],
      );
      expect(startAll(schedule)).toEqual(["a", "first"]);
      schedule.end("a", "done");
      schedule.end("first", "done");
      expect(schedule.start()).toBe("then");
      schedule.end("then", "done");
      expect(startAll(schedule)).toEqual(["last", "b", "c"]);
      const stopped = new Schedule([step("a"), first, step("then", "first")], []);
      startAll(stopped);
      stopped.end("first", "done");
      expect(stopped.stop([])).toEqual([{ id: "then", because: [] }]);
    }
  });

  test("starts an upload before all else", () => {
    const upload: Scheduled = { ...step("upload", "image"), type: "upload" };
    const schedule = new Schedule([step("a"), step("b", "a"), step("image"), upload], []);
    startAll(schedule);
    schedule.end("a", "done");
    schedule.end("image", "done");
    expect(startAll(schedule)).toEqual(["upload", "b"]);
  });

  test("of what is urgent starts the smallest batch first, the later one of two, and each in the order of the plan", () => {
    const batch = (name: string, size: number) => Array.from({ length: size }, (_, index) => `${name}${index}`);
    const steps = ["large", "small", "other"].flatMap((id): Scheduled[] => [
      { ...step(id), method: "DELETE" },
      ...batch(id, id === "large" ? 4 : 3).map((one) => step(one, id)),
    ]);
    const schedule = new Schedule(steps, []);
    startAll(schedule);
    schedule.end("small", "done");
    expect(schedule.start()).toBe("small0");
    schedule.end("large", "done");
    schedule.end("other", "done");
    expect(startAll(schedule)).toEqual(["small1", "small2", ...batch("other", 3), ...batch("large", 4)]);
  });

  test("starts what closes a gap, and all that it waits for, as soon as the gap is open, the first gap first", () => {
    const others = ["a", "b", "c", "d"].map((id) => step(id));
    const steps = [step("open"), step("open-too"), ...others, step("before"), step("close", "end"), step("close-too")];
    const gaps = [
      { before: "open", wanted: "close" },
      { before: "open-too", wanted: "close-too" },
    ];
    const schedule = new Schedule(
      [...steps, { ...step("look"), method: "GET" }, step("gone", "look")],
      [{ id: "end", after: ["before"] }],
      gaps,
    );
    expect([schedule.start(), schedule.start()]).toEqual(["open", "open-too"]);
    schedule.end("open", "done");
    expect(schedule.start()).toBe("before");
    schedule.end("open-too", "done");
    schedule.end("before", "done");
    expect(startAll(schedule)).toEqual(["close-too", "close", "a", "b", "c", "d", "look"]);
    schedule.end("look", "done");
    expect(startAll(schedule)).toEqual(["gone"]);
  });

  test("raises each step once, and starts it once, though thousands of gaps wait for it", async () => {
    const run = (size: number): void => {
      const ids = Array.from({ length: size }, (_, index) => `s${index}`);
      const steps = [...ids.map((id) => step(`open-${id}`)), ...ids.map((id) => step(id)), step("end", "all")];
      const gaps = ids.flatMap((id) => [`open-${id}`, `open-${ids[0]}`].map((before) => ({ before, wanted: "end" })));
      const schedule = new Schedule(steps, [{ id: "all", after: ids }], gaps);
      const started: string[] = [];
      for (let id = schedule.start(); id !== null; id = schedule.start()) {
        started.push(id);
        schedule.end(id, "done");
      }
      expect(started).toEqual(["open-s0", ...ids, "end", ...ids.slice(1).map((id) => `open-${id}`)]);
    };
    expect(await growth(200, 4, run, itemsWalkedEach)).toBeLessThan(6);
  });

  test("waits for every step before a barrier", () => {
    const barrier: Barrier = { id: "filled", after: ["a", "b"] };
    const schedule = new Schedule([step("a"), step("b"), step("activate", "filled")], [barrier]);
    startAll(schedule);
    schedule.end("a", "done");
    expect(schedule.start()).toBeNull();
    schedule.end("b", "done");
    expect(schedule.start()).toBe("activate");
  });

  test("reaches a barrier that has nothing before it", () => {
    const schedule = new Schedule([step("a", "empty")], [{ id: "empty", after: [] }]);
    expect(schedule.start()).toBe("a");
  });

  test("skips what depends on a failure through barriers, and names it as the reason", () => {
    const barriers: Barrier[] = [{ id: "filled", after: ["a", "b"] }];
    const schedule = new Schedule(
      [step("a"), step("b"), step("c", "filled"), step("d", "c"), step("e", "a")],
      barriers,
    );
    startAll(schedule);
    expect(schedule.end("b", "failed")).toEqual([]);
    expect(schedule.end("a", "done")).toEqual([
      { id: "c", because: ["b"] },
      { id: "d", because: ["b"] },
    ]);
    expect(schedule.start()).toBe("e");
  });

  test("names the same reasons in whatever order the failures come", () => {
    const reasons = (order: readonly string[]): readonly Skip[] => {
      const schedule = new Schedule([step("a"), step("b"), step("c"), step("end", "a", "b", "c")], []);
      startAll(schedule);
      return order.flatMap((id) => schedule.end(id, id === "b" ? "done" : "unknown"));
    };
    expect(reasons(["a", "b", "c"])).toEqual([{ id: "end", because: ["a", "c"] }]);
    expect(reasons(["c", "b", "a"])).toEqual([{ id: "end", because: ["a", "c"] }]);
  });

  test("names no more than a few of a thousand reasons, the first of the plan", () => {
    const ids = Array.from({ length: 1000 }, (_, index) => `r${index}`);
    const schedule = new Schedule([...ids.map((id) => step(id)), step("end", "all")], [{ id: "all", after: ids }]);
    startAll(schedule);
    const skips = [...ids].reverse().flatMap((id) => schedule.end(id, "failed"));
    expect(skips).toEqual([{ id: "end", because: ids.slice(0, MAX_CAUSES_PER_SKIP) }]);
  });

  test("starts nothing after a stop, and gives a failure as the reason where there is one", () => {
    const schedule = new Schedule([step("a"), step("b"), step("after-a", "a"), step("after-b", "b"), step("free")], []);
    schedule.start();
    schedule.start();
    expect(schedule.stop([])).toEqual([{ id: "free", because: [] }]);
    expect(schedule.finished).toBe(false);
    expect(schedule.end("a", "done")).toEqual([{ id: "after-a", because: [] }]);
    expect(schedule.end("b", "failed")).toEqual([{ id: "after-b", because: ["b"] }]);
    expect(schedule.finished).toBe(true);
  });

  test("names the step that has stopped the run, and not a wait that had to end because of it", () => {
    const schedule = new Schedule(
      [step("denied"), step("wait"), step("after-both", "denied", "wait"), step("after", "wait")],
      [],
    );
    schedule.start();
    schedule.start();
    schedule.stop(["denied"]);
    expect(schedule.end("denied", "failed")).toEqual([]);
    expect(schedule.end("wait", "failed", true)).toEqual([
      { id: "after-both", because: ["denied"] },
      { id: "after", because: ["denied"] },
    ]);
  });

  test("refuses a plan with a cycle, a dead end or a repeated id", () => {
    expect(() => new Schedule([step("a", "b"), step("b", "a")], [])).toThrow(/cycle/);
    expect(() => new Schedule([step("a", "filled")], [{ id: "filled", after: ["a"] }])).toThrow(/cycle/);
    expect(() => new Schedule([step("a", "gone")], [])).toThrow(/gone/);
    expect(() => new Schedule([step("a"), step("a")], [])).toThrow(/twice/);
  });

  test("takes back what was started and not begun when it is stopped, and skips what waited for it", () => {
    const schedule = new Schedule([step("a"), step("b", "a")], []);
    expect(schedule.start()).toBe("a");
    expect(() => schedule.skipStarted("a")).toThrow(/cannot be skipped/);
    expect(schedule.stop([])).toEqual([]);
    expect(schedule.skipStarted("a")).toEqual([
      { id: "a", because: [] },
      { id: "b", because: [] },
    ]);
    expect([schedule.running, schedule.finished, schedule.state("a")]).toEqual([0, true, "skipped"]);
  });

  test("refuses to end what is not running", () => {
    const schedule = new Schedule([step("a"), step("b", "a")], []);
    expect(() => schedule.end("b", "done")).toThrow(/waiting/);
  });
});

interface Graph {
  readonly steps: readonly Scheduled[];
  readonly barriers: readonly Barrier[];
  readonly outcomes: ReadonlyMap<string, EndedOutcome>;
}

/** Nodes in topological order; every third is a barrier. */
const graphs: fc.Arbitrary<Graph> = fc
  .array(fc.record({ before: fc.array(fc.nat(1000), { maxLength: 4 }), outcome: fc.nat(9) }), {
    minLength: 1,
    maxLength: 40,
  })
  .map((nodes) => {
    const name = (index: number): string => (index % 3 === 2 ? `barrier ${index}` : `step ${index}`);
    const all = nodes.map(({ before }, index) => ({
      id: name(index),
      after: index === 0 ? [] : before.map((number) => name(number % index)),
    }));
    const outcome = (number: number): EndedOutcome => (number === 0 ? "failed" : number === 1 ? "unknown" : "done");
    return {
      steps: all.filter(({ id }) => id.startsWith("step")),
      barriers: all.filter(({ id }) => id.startsWith("barrier")),
      outcomes: new Map(nodes.map((node, index) => [name(index), outcome(node.outcome)])),
    };
  });

/** What ought to be skipped, found the plain way: everything with a path to a failure. */
function closure({ steps, barriers, outcomes }: Graph): Set<string> {
  const spoiled = new Set<string>();
  const skipped = new Set<string>();
  const nodes = [...steps, ...barriers].sort((a, b) => Number(a.id.split(" ")[1]) - Number(b.id.split(" ")[1]));
  for (const node of nodes) {
    const isSkipped = node.after.some((id) => spoiled.has(id));
    const isStep = node.id.startsWith("step");
    if (isSkipped && isStep) skipped.add(node.id);
    if (isSkipped || (isStep && outcomes.get(node.id) !== "done")) spoiled.add(node.id);
  }
  return skipped;
}

describe("any schedule", () => {
  test("runs nothing before what it comes after, ends every step, and skips exactly what depends on a failure", () => {
    fc.assert(
      fc.property(graphs, fc.integer({ min: 1, max: 5 }), fc.infiniteStream(fc.nat(1000)), (graph, limit, random) => {
        const schedule = new Schedule(graph.steps, graph.barriers);
        const afterOf = new Map([...graph.steps, ...graph.barriers].map(({ id, after }) => [id, after]));
        const isDone = (id: string): boolean => schedule.state(id) === "done";
        const running: string[] = [];
        const skipped: string[] = [];
        while (!schedule.finished) {
          for (let id = schedule.start(); id !== null; id = running.length < limit ? schedule.start() : null) {
            expect(afterOf.get(id)?.every(isDone)).toBe(true);
            running.push(id);
          }
          const [id] = running.splice((random.next().value as number) % running.length, 1);
          if (id === undefined) throw new Error("Nothing runs, and yet there is something left.");
          skipped.push(...schedule.end(id, graph.outcomes.get(id) ?? "done").map((skip) => skip.id));
        }
        expect(new Set(skipped)).toEqual(closure(graph));
        expect(skipped.length).toBe(new Set(skipped).size);
        for (const { id } of graph.steps) {
          expect(schedule.state(id)).toBe(closure(graph).has(id) ? "skipped" : graph.outcomes.get(id));
        }
      }),
      { numRuns: 500 },
    );
  });

  test("ends 384,000 steps, and four times the steps with four times the work", async () => {
    const run = (size: number): void => {
      const ids = Array.from({ length: size }, (_, index) => `r${index}`);
      const steps = [...ids.map((id) => step(id)), ...ids.map((id) => step(`after ${id}`, "all"))];
      const schedule = new Schedule(steps, [{ id: "all", after: ids }]);
      while (!schedule.finished) {
        const started = startAll(schedule);
        for (const id of started) schedule.end(id, id === "r7" ? "failed" : "done");
      }
    };
    run(192_000);
    expect(await growth(1_000, 4, run)).toBeLessThan(5);
  });
});
