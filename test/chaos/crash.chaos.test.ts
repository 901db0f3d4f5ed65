/** Every crash point: each request of each scenario, killed before, between and after, at both concurrencies. */

import { afterAll, describe, expect, test } from "vitest";
import { report } from "./counts.ts";
import { coverageOf, NEEDED } from "./crash-coverage.ts";
import { type Baseline, pointsOf, uninterrupted } from "./crash-point.ts";
import { SCENARIOS } from "./crash-scenarios.ts";
import { survey } from "./crash-suite.ts";

const POINTS_OF_A_REQUEST = 3;
const CONCURRENCIES: readonly number[] = [1, 8];

const counts = { mutations: 0, tried: 0, survived: 0, repeated: 0 };
const baselines: Baseline[] = [];

afterAll(() => {
  const { tried, survived, mutations, repeated } = counts;
  report({ suite: "crash", tried, survived, more: { mutations, repeated } });
});

describe.each(CONCURRENCIES)("an apply at concurrency %i", (concurrency) => {
  test.each(SCENARIOS)("survives a kill at each point of each request ($name)", async (scenario) => {
    const baseline = await uninterrupted(scenario, concurrency);
    baselines.push(baseline);
    const { tried, survived, repeated, problems } = await survey(baseline, pointsOf(baseline));
    counts.mutations += baseline.mutations.length;
    counts.tried += tried.length;
    counts.survived += survived;
    counts.repeated += repeated;
    expect(problems).toEqual([]);
    expect(new Set(tried.map(({ step, point }) => `${point} ${step}`)).size).toBe(tried.length);
    expect(tried.length).toBe(POINTS_OF_A_REQUEST * baseline.mutations.length);
  });
});

test("all in all there are three points for each request that changed something", () => {
  expect(baselines.length).toBe(SCENARIOS.length * CONCURRENCIES.length);
  expect(counts.tried).toBe(POINTS_OF_A_REQUEST * counts.mutations);
  expect(counts.survived).toBe(counts.tried);
});

test("as many requests are sent at once as the concurrency allows, and no more", () => {
  const most = baselines.map(({ concurrency, mostAtOnce }) => ({ concurrency, mostAtOnce }));
  for (const concurrency of CONCURRENCIES) {
    const reached = most.filter((one) => one.concurrency === concurrency).map(({ mostAtOnce }) => mostAtOnce);
    expect(Math.max(...reached)).toBe(concurrency);
  }
});

test("the scenarios together have every kind, and every way to change one", () => {
  const covered = new Set(baselines.flatMap(({ planFile }) => coverageOf(planFile)));
  expect(NEEDED.filter((phrase) => !covered.has(phrase))).toEqual([]);
});
