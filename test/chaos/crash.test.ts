/** A few of the crash points of crash.chaos.test.ts, others with each seed. */

import { expect, test } from "vitest";
import { report } from "./counts.ts";
import { pointsOf, uninterrupted } from "./crash-point.ts";
import { SCENARIOS } from "./crash-scenarios.ts";
import { survey } from "./crash-suite.ts";

const SEED = Number(process.env["TENON_CHAOS_SEED"] ?? 20_261_121);
const POINTS = 3;
const LIMIT_MILLISECONDS = 240_000;

/** Whole numbers below `limit`, the same for the same seed (Park and Miller). */
function seeded(seed: number): (limit: number) => number {
  let state = (seed % 2_147_483_646) + 1;
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
}

test(`an apply survives a kill at some points of some requests (TENON_CHAOS_SEED=${SEED})`, {
  timeout: LIMIT_MILLISECONDS,
}, async () => {
  const random = seeded(SEED);
  const concurrency = random(2) === 0 ? 1 : 8;
  const scenario = SCENARIOS[random(SCENARIOS.length)] ?? SCENARIOS[0];
  const baseline = await uninterrupted(scenario, concurrency);
  const left = pointsOf(baseline);
  const chosen = Array.from({ length: POINTS }, () => left.splice(random(left.length), 1)).flat();
  const { tried, survived, repeated, problems } = await survey(baseline, chosen);
  report({
    suite: "crash (sample)",
    tried: tried.length,
    survived,
    more: { mutations: baseline.mutations.length, repeated, seed: SEED },
  });
  expect(problems).toEqual([]);
  expect(tried.length).toBe(POINTS);
  expect(baseline.mostAtOnce > 1).toBe(concurrency > 1);
});
