/** A fleet's commands by workers: the same reports as without, whatever the engine is. */

import { expect, test } from "vitest";
import { type Ended, run } from "../cli/run.ts";
import { domainsOf, fleetOf } from "../support/fleet.ts";
import { startedWorker, stopped } from "../support/fleet-worker.ts";
import { eachEngine } from "../support/stores.ts";

let prefixes = 0;

/** Times are the only thing that differs between two runs. */
function withoutTimes({ code, stdout }: Ended): { readonly code: number | null; readonly stdout: string } {
  const times = stdout.replace(/\d{4}-\d{2}-\d{2}T[\d:.-]+Z/g, "TIME").replace(/\b\d+(\.\d+)? ?(ms|s)\b/g, "TIME");
  return { code, stdout: times.replace(/"(duration_seconds|seconds|elapsed_seconds)": [\d.]+/g, '"$1": TIME') };
}

/** The two fleets have folders and services of their own, and names of journals are times. */
function withoutPlaces(text: string): string {
  return text
    .replace(/127\.0\.0\.1:\d+/g, "HOST")
    .replace(/\/[\w/-]*\/tenon-cli-\w+/g, "FOLDER")
    .replace(/TIME(-\d+)?\.jsonl/g, "JOURNAL");
}

eachEngine((serverOf) => {
  test("validate, plan, apply and drift print what they print without workers, and end with the same code", async () => {
    expect(await run(["fleet", "prepare", "--queue", serverOf().url])).toMatchObject({ code: 0, stderr: "" });
    const own = await fleetOf(5);
    const queued = await fleetOf(5);
    const prefix = `w${++prefixes}`;
    const queueArgs = ["--queue", serverOf().url, "--prefix", prefix];
    const workerArgs = [...queueArgs, "--plans", "plans"];
    const workers = [await startedWorker(queued, workerArgs), await startedWorker(queued, workerArgs)];
    for (const args of [
      ["validate"],
      ["plan", "--out", "plans"],
      ["plan", "--out", "plans", "--format", "json"],
      ["plan", "--out", "plans", "--format", "markdown", "--detailed-exitcode"],
      ["plan", "--detailed-exitcode"],
      ["plan", "--format", "json"],
      ["drift"],
      ["apply", "--yes"],
      ["apply", "--yes"],
      ["plan", "--format", "markdown", "--full"],
      ["drift", "--format", "json"],
      ["plan", "--select", "label.tier=gold", "--target", "domain/none"],
    ]) {
      const expected = await run(["fleet", ...args], own);
      const found = await run(["fleet", ...args, ...queueArgs], queued);
      expect([args, found.stderr]).toEqual([args, expected.stderr]);
      const mask = (one: Ended) => JSON.parse(withoutPlaces(JSON.stringify(withoutTimes(one))));
      expect([args, mask(found)]).toEqual([args, mask(expected)]);
    }
    for (const account of queued.accounts) expect(await domainsOf(account)).toEqual([`${account.name}.example`]);
    for (const worker of workers) expect((await stopped(worker)).code).toBe(143);
  });

  test("a reviewed plan bounds an apply by workers, and one that no worker has ends with 5", async () => {
    const fleet = await fleetOf(2);
    const queueArgs = ["--queue", serverOf().url, "--prefix", `w${++prefixes}`];
    const worker = await startedWorker(fleet, [...queueArgs, "--plans", "plans"]);
    const planned = await run(["fleet", "plan", "--out", "plans", ...queueArgs], fleet);
    expect([planned.code, planned.stderr]).toEqual([0, ""]);
    const applied = await run(["fleet", "apply", "--yes", "--plan", "plans", ...queueArgs], fleet);
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining("2 done")]);
    // Another folder than the worker's: what was approved there is not what it has.
    const other = await run(["fleet", "plan", "--out", "other"], fleet);
    expect(other.code).toBe(0);
    const refused = await run(["fleet", "apply", "--yes", "--plan", "other", ...queueArgs], fleet);
    expect([refused.code, refused.stdout]).toEqual([
      5,
      expect.stringContaining("is not among those that the worker has"),
    ]);
    await stopped(worker);
  });

  test("drift that is scheduled is looked for without anybody asking", async () => {
    const fleet = await fleetOf(2);
    const queueArgs = ["--queue", serverOf().url, "--prefix", `w${++prefixes}`];
    const worker = await startedWorker(fleet, queueArgs);
    const scheduled = await run(["fleet", "schedule", "drift", "--every", "1s", ...queueArgs], fleet);
    expect([scheduled.code, scheduled.stdout]).toEqual([0, "2 accounts are compared every 1 s.\n"]);
    await worker.untilSaid(/a1: drift: [\s\S]*a1: drift: /);
    await worker.untilSaid("a2: drift: ");
    const off = await run(["fleet", "schedule", "drift", "--off", ...queueArgs], fleet);
    expect([off.code, off.stdout]).toEqual([0, "2 accounts are no longer compared.\n"]);
    await stopped(worker);
  });

  test("the first signal lets a worker finish what it applies, the second ends that", async () => {
    const fleet = await fleetOf(1, { latencyMilliseconds: 1_500 });
    const queueArgs = ["--queue", serverOf().url, "--prefix", `w${++prefixes}`];
    const worker = await startedWorker(fleet, queueArgs);
    const applying = run(["fleet", "apply", "--yes", ...queueArgs], fleet);
    const service = fleet.accounts[0]?.service;
    const made = () => service?.requests.filter(({ method }) => method === "POST").length;
    await expect.poll(made, { timeout: 60_000 }).toBe(1);
    worker.child.kill("SIGTERM");
    // It goes on with the records.
    await expect.poll(made, { timeout: 60_000 }).toBeGreaterThan(1);
    const { code } = await stopped(worker);
    expect(code).toBe(143);
    const applied = await applying;
    expect([applied.code, applied.stdout]).toEqual([143, expect.stringContaining("Apply interrupted: ")]);
    expect(applied.stdout).toContain("Fleet: 1 account: 1 interrupted.\n");
    // Nothing was changed after that, and the next worker goes on.
    const after = await startedWorker(fleet, queueArgs);
    expect((await run(["fleet", "apply", "--yes", ...queueArgs], fleet)).code).toBe(0);
    await stopped(after);
    for (const account of fleet.accounts) expect(await domainsOf(account)).toEqual([`${account.name}.example`]);
  });
});
