/** An apply without a crash, and then the same with one at each point, followed by what a pipeline does: the same again, or a plan anew. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Ended } from "../cli/run.ts";
import { expectNoDuplicates, expectSame, isForeignId, type Seen } from "./crash-account.ts";
import { describe, expectEvidence, stepOf, untilNoted } from "./crash-journal.ts";
import type { Mutation, Point } from "./crash-proxy.ts";
import { CrashRun, type Gone } from "./crash-run.ts";
import type { Scenario } from "./crash-scenario.ts";

const POINTS: readonly Point[] = ["before", "committed", "after"];

/** Of a request that is sent once more although it had its effect. */
const REPEATED_REQUESTS = 1;
/** An upload that was begun cannot be finished: it is deleted and begun again. */
const RESTARTED_UPLOAD_REQUESTS = 2;

/** Of a kill that the process was quicker than. */
const MAX_ATTEMPTS = 5;

/** Longer than a busy machine lets pass between two requests that are sent at once. */
const HOLD_MILLISECONDS = 50;

const PLAN_FILE = "reviewed.plan";

/** The uninterrupted run. */
export interface Baseline {
  readonly scenario: Scenario;
  readonly concurrency: number;
  /** The steps of the requests that changed something, as the proxy logged them. */
  readonly mutations: readonly string[];
  /** Most of them that were without an answer at the same time. */
  readonly mostAtOnce: number;
  readonly seen: Seen;
  /** What `plan --out` wrote before. */
  readonly planFile: string;
}

export interface CrashPoint {
  readonly step: string;
  readonly point: Point;
}

export function pointsOf({ mutations }: Baseline): CrashPoint[] {
  return mutations.flatMap((step) => POINTS.map((point) => ({ step, point })));
}

export async function uninterrupted(scenario: Scenario, concurrency: number): Promise<Baseline> {
  const run = await CrashRun.open(scenario);
  try {
    const before = await run.seen();
    expectCode(await run.run(["plan", "--out", PLAN_FILE, ...scenario.flags]), 0);
    const planFile = await readFile(join(run.folder, PLAN_FILE), "utf8");
    run.proxy.holdMilliseconds = HOLD_MILLISECONDS;
    expectCode(await run.run(applyArgs(scenario, concurrency)), 0);
    const mutations = run.proxy.reached.map((mutation) => stepOf(run.folder, mutation));
    expect(new Set(mutations).size).toBe(mutations.length);
    const seen = await run.seen();
    expectSame(seen.foreign, before.foreign);
    expect(seen.own).not.toEqual(before.own);
    expectNoDuplicates(seen);
    return { scenario, concurrency, mutations, mostAtOnce: run.proxy.mostAtOnce, seen, planFile };
  } finally {
    await run.close();
  }
}

/**
 * Kills an apply, applies again, plans.
 * @returns the requests that the crash made necessary, beyond those of the uninterrupted run
 * @throws what vitest throws, if anything is not as it must be
 */
export async function crashAt(baseline: Baseline, at: CrashPoint): Promise<number> {
  const { scenario, concurrency } = baseline;
  const { run, before } = await crashed(baseline, at);
  try {
    expectEvidence(run.folder, run.proxy.arrived, at.step, at.point);
    if (concurrency === 1) expect(run.proxy.reached.length).toBe(reachedAt(baseline, at));
    const allowed = hasOpenUpload(run.proxy.reached) ? RESTARTED_UPLOAD_REQUESTS : REPEATED_REQUESTS;
    run.proxy.set(null);
    if (needsNewReview(baseline, run)) {
      const sent = run.proxy.reached.length;
      expectCode(await run.run(applyArgs(scenario, concurrency)), 5);
      expect(run.proxy.reached.length).toBe(sent);
      expectCode(await run.run(["plan", "--out", PLAN_FILE, ...scenario.flags]), 0);
    }
    expectCode(await run.run(applyArgs(scenario, concurrency)), 0);
    expectCode(await run.run(["plan", "--detailed-exitcode", ...scenario.flags]), 0);
    const seen = await run.seen();
    expectSame(seen.foreign, before.foreign);
    expectNoDuplicates(seen);
    expectSame(seen.own, baseline.seen.own);
    const { reached } = run.proxy;
    expect(reached.filter(namesForeign)).toEqual([]);
    const extra = reached.length - baseline.mutations.length;
    expect(extra, reached.map(describe).join("\n")).toBeLessThanOrEqual(allowed);
    return extra;
  } finally {
    await run.close();
  }
}

/** Whether a new image is there and an old one as well: no plan file that shows the new one to be made lets the old one go now. */
function needsNewReview({ scenario, mutations }: Baseline, { folder, proxy }: CrashRun): boolean {
  const done = new Set(proxy.reached.map((mutation) => stepOf(folder, mutation)));
  const isMade = [...done].some((step) => step.startsWith("upload image/"));
  return scenario.reviewed && isMade && mutations.some((step) => step.startsWith("delete image/") && !done.has(step));
}

/** How many requests the service has got by then, if they are sent one after the other. */
function reachedAt({ mutations }: Baseline, { step, point }: CrashPoint): number {
  return mutations.indexOf(step) + (point === "before" ? 0 : 1);
}

/**
 * An account in which an apply was killed, and how it was before. After the last answer nothing holds the process: if it was quicker
 * than the kill, it is tried again with another account, and then killed as soon as the answer is out.
 */
async function crashed(baseline: Baseline, at: CrashPoint): Promise<{ readonly run: CrashRun; readonly before: Seen }> {
  const { scenario, concurrency, planFile } = baseline;
  for (let attempt = 1; ; attempt += 1) {
    const run = await CrashRun.open(scenario);
    try {
      const before = await run.seen();
      if (scenario.reviewed) await writeFile(join(run.folder, PLAN_FILE), planFile);
      const waits = attempt === 1;
      const { code, signal, stdout, stderr } = await killAt(run, applyArgs(scenario, concurrency), at, waits);
      if (signal === "SIGKILL") return { run, before };
      const mayTryAgain = at.point === "after" && code === 0 && attempt < MAX_ATTEMPTS;
      expect(mayTryAgain, `ended with ${code}\n${stdout}${stderr}`).toBe(true);
      await run.close();
    } catch (error) {
      await run.close();
      throw error;
    }
  }
}

/** Until the process is gone, and the service has answered all that it got. @param waits until the answer is in the journal */
async function killAt(
  run: CrashRun,
  args: readonly string[],
  { step, point }: CrashPoint,
  waits: boolean,
): Promise<Gone> {
  let isStruck = false;
  run.proxy.set({
    point,
    isTarget: (mutation) => stepOf(run.folder, mutation) === step,
    strike: async () => {
      if (point === "after" && waits) await untilNoted(run.folder, step);
      isStruck = true;
      child.kill("SIGKILL");
    },
  });
  const { child, ended } = run.start(args);
  const gone = await ended;
  await run.proxy.settled();
  expect(run.proxy.problems).toEqual([]);
  expect(isStruck, `ended with ${gone.code}\n${gone.stdout}${gone.stderr}`).toBe(true);
  return gone;
}

function applyArgs({ reviewed, flags }: Scenario, concurrency: number): string[] {
  const bound = reviewed ? ["--plan", PLAN_FILE] : [];
  return ["apply", "--yes", "--concurrency", String(concurrency), ...bound, ...flags];
}

/** An upload that the service has begun, and whose data it has not got. */
function hasOpenUpload(reached: readonly Mutation[]): boolean {
  const begun = reached.filter(({ method, path }) => method === "POST" && path?.join("/") === "images/upload");
  return begun.length > reached.filter(({ path }) => path === null).length;
}

/** A domain that is cloned stays as it is. */
function namesForeign({ path }: Mutation): boolean {
  return path !== null && path.at(-1) !== "clone" && path.some(isForeignId);
}

function expectCode({ code, stdout, stderr }: Ended, wanted: number): void {
  expect(code, `${stdout}\n${stderr}`).toBe(wanted);
}
