/**
 * No order of an apply's requests breaks resolution, but where the plan says so, and the plan says so only where it is forced.
 *
 * A question is a name and a type; `address` is either kind of address. It has an answer if there is at least one record, through
 * wildcards and aliases; other servers' answers are taken for granted where a delegation leads to them, and for addresses where an
 * alias does. So does a zone whose records nobody reads (removed as a whole, or not managed). NODATA and NXDOMAIN are no answer.
 * 1. What has an answer before and after has one at every moment.
 * 2. A pointer whose target, where it stood before and where it stands after, resolves, has a target that resolves while it stands.
 * 3. A CNAME never stands beside other data.
 * 4. A zone that begins or ceases to be served is never served half-filled.
 * 5. What breaks 1 or 2 is a gap of the plan; each gap happens; and none could be avoided by another order, the others allowed. Here
 *    nothing is built on an answer that stands in by chance, and comes neither from where it came before nor from where it will come.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Plan, Step } from "../../src/model/plan.ts";
import { makePlan, type PlanOptions } from "../../src/plan/plan.ts";
import { units } from "../../src/units/index.ts";
import { excuses, Judge, type Violation } from "./judge.ts";
import { ModelAccount, type SeedZone, someOrder } from "./replay.ts";
import { desiredOf, liveOf, type NameWorld, nameWorlds, seedOf, shownWorld } from "./world-names.ts";

const RUNS = Number(process.env["TENON_PROPERTY_RUNS"] ?? 500);
const ORDINARY_RUNS = 500;
/** The same worlds in every ordinary run, so that a mutant is judged by worlds that hold without it; a longer run looks at new ones. */
const SEED = Number(process.env["TENON_PROPERTY_SEED"] ?? 20_261_121);
const IS_NEW = RUNS > ORDINARY_RUNS && process.env["TENON_PROPERTY_SEED"] === undefined;
/** How many worlds of the seed are left out: a long run can be done in parts. */
const SKIPPED = process.env["TENON_PROPERTY_SKIP"];
/** Every subset of so many steps is looked at. */
const MAX_SEARCHED_STEPS = 9;
const OPTIONS: PlanOptions = {
  goal: "apply",
  nowMilliseconds: 0,
  targets: [],
  excludes: [],
  consents: [],
  maxChanges: null,
  takeOwnershipFrom: [],
  clone: true,
  account: null,
};
const chances = fc.infiniteStream(fc.nat({ max: 1_000_000 }));

test("resolution holds at every moment of an apply, but for the gaps that are forced and said", {
  timeout: Math.max(280_000, RUNS * 60),
}, () => {
  const reached = { plans: 0, gaps: 0, searched: 0, clones: 0 };
  fc.assert(
    fc.property(nameWorlds, chances, (world, chance) => {
      const plan = checkedPlan(world, (count) => chance.next().value % Math.max(1, count));
      if (plan.steps.length > 1) reached.plans += 1;
      if (plan.gaps.length > 0) reached.gaps += 1;
      if (plan.strategies.length > 0) reached.clones += 1;
      if (plan.steps.length <= MAX_SEARCHED_STEPS && plan.gaps.length > 0) reached.searched += 1;
    }),
    { numRuns: RUNS, ...(IS_NEW ? {} : { seed: SEED }), ...(SKIPPED === undefined ? {} : { path: SKIPPED }) },
  );
  if (RUNS >= 500) {
    expect(reached.plans).toBeGreaterThan(RUNS / 2);
    expect(reached.gaps).toBeGreaterThan(RUNS / 20);
    expect(reached.clones).toBeGreaterThan(RUNS / 100);
    expect(reached.searched).toBeGreaterThan(RUNS / 50);
  }
});

type Draft = NameWorld["drafts"][number];

function draftOf(
  name: string,
  live: Draft["live"],
  records: readonly (readonly [string, string, string, string])[],
): Draft {
  return {
    ...{ name, live, declared: "active", managed: true, ignore: "nothing" },
    records: records.map(([type, owner, target, side]) => {
      return { type, name: owner, target, ttl_sec: 0, side } as Draft["records"][number];
    }),
  };
}

test("a zone takes its names from an alias before the alias's target goes through a gap, in every order", () => {
  const drafts = [
    draftOf("one.test", "active", [["CNAME", "*.sub", "a.two.test", "both"]]),
    draftOf("sub.one.test", "disabled", [["A", "b", "192.0.2.1", "both"]]),
    draftOf("two.test", "active", [
      ["NS", "a", "x.a.two.test", "declared"],
      ["A", "x.a", "192.0.2.3", "declared"],
      ["CNAME", "*", "h.other.test", "both"],
    ]),
  ];
  for (let order = 0; order < 12; order += 1) {
    let rest = order;
    const draw = (count: number): number => {
      const drawn = rest % count;
      rest = Math.floor(rest / count);
      return drawn;
    };
    expect(checkedPlan({ drafts }, draw).gaps).toHaveLength(1);
  }
});

/** Plans the world, and fails if one of two orders breaks what the head of this file says: the plan's own, and one that `draw` chooses. */
function checkedPlan(world: NameWorld, draw: (count: number) => number): Plan {
  const plan = makePlan(desiredOf(world), liveOf(world), units, OPTIONS);
  const seed = seedOf(world);
  const judge = new Judge(new ModelAccount(seed).zones(), stateAfter(seed, plan.steps));
  const happened = replay(seed, plan.steps, judge);
  const other = someOrder(plan, draw);
  for (const [steps, violations] of [
    [plan.steps, happened],
    [other, replay(seed, other, judge)],
  ] as const) {
    const unsaid = violations.filter((violation) => !plan.gaps.some(({ what }) => excuses(what, violation)));
    if (unsaid.length > 0) fail("not said in the plan", unsaid, world, plan, steps);
  }
  const counted = replay(seed, plan.steps, judge, true);
  for (const { what } of plan.gaps) {
    if (!counted.some((violation) => excuses(what, violation))) fail(`${what} does not happen`, [], world, plan);
    if (plan.steps.length <= MAX_SEARCHED_STEPS && isAvoidable(what, seed, plan, judge, counted)) {
      fail(`${what} is not forced`, counted, world, plan);
    }
  }
  return plan;
}

function stateAfter(seed: readonly SeedZone[], steps: readonly Step[]) {
  const account = new ModelAccount(seed);
  for (const step of steps) account.send(step);
  return account.zones();
}

function replay(seed: readonly SeedZone[], steps: readonly Step[], judge: Judge, strict = false): Violation[] {
  const account = new ModelAccount(seed);
  return steps.flatMap((step) => {
    if (!account.send(step)) return [{ text: `refused: ${step.id}`, asked: null }];
    return judge
      .violations(account.zones(), strict)
      .map((found) => ({ ...found, text: `after ${step.id}: ${found.text}` }));
  });
}

/**
 * Whether some order that the service takes does without this gap, the plan's other gaps allowed. The account depends on which steps
 * are done, not on their order, so subsets are all there is to search.
 */
function isAvoidable(
  what: string,
  seed: readonly SeedZone[],
  { steps, gaps }: Plan,
  judge: Judge,
  happened: readonly Violation[],
): boolean {
  const others = gaps.filter((gap) => gap.what !== what);
  const plain = (text: string) => text.replace(/^after .*?: /, "");
  const allowed = new Set(
    happened
      .filter((violation) => !excuses(what, violation) && others.some((gap) => excuses(gap.what, violation)))
      .map(({ text }) => plain(text)),
  );
  const isGood = (done: number): boolean => {
    const account = new ModelAccount(seed);
    for (const [index, step] of steps.entries()) if ((done >> index) % 2 === 1 && !account.send(step)) return false;
    return judge.violations(account.zones(), true).every(({ text }) => allowed.has(text));
  };
  const seen = new Set([0]);
  const whole = 2 ** steps.length - 1;
  for (const done of seen) {
    if (done === whole) return true;
    for (const index of steps.keys()) {
      const next = done | (1 << index);
      if (!seen.has(next) && isGood(next)) seen.add(next);
    }
  }
  return false;
}

function fail(
  title: string,
  violations: readonly Violation[],
  world: NameWorld,
  plan: Plan,
  steps = plan.steps,
): never {
  const lines = [
    title,
    ...violations.map(({ text }) => `  ${text}`),
    shownWorld(world),
    ...steps.map((step) => `step ${step.id}   after ${step.after.join(", ")}`),
    ...plan.barriers.map((barrier) => `barrier ${barrier.id} after ${barrier.after.join(", ")}`),
    ...plan.gaps.map((gap) => `gap ${gap.what}: ${gap.before} before ${gap.wanted}`),
  ];
  throw new Error(lines.join("\n"));
}
