/** A cancelled job: the signal reaches tenon through the script, which ends what is in flight, reports, and goes on later. */

import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { emulator, ended, envOf, folder, run } from "../cli/run.ts";
import { writeTools } from "../examples/ci/runner.ts";
import { SCRIPTS } from "../examples/ci/workflow.ts";
import { tested } from "../support/emulator.ts";

/** A busy machine is no failure. */
const TIMEOUT_MILLISECONDS = 240_000;
const VPC_COUNT = 40;
const LATENCY_MILLISECONDS = 150;

it("hands a signal on, says what it means, and run again goes on with the same plan", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const labels = Array.from({ length: VPC_COUNT }, (_, index) => `  - { label: vpc-${index}, region: us-east }\n`);
  const project = await folder({ "tenon.yaml": `tenon: 1\nvpcs:\n${labels.join("")}` });
  const service = await emulator({ latencyMilliseconds: LATENCY_MILLISECONDS });
  const env = envOf(service);
  expect(await run(["plan", "--out", "plan.json"], { cwd: project, env })).toMatchObject({ code: 0 });
  const bin = join(project, "bin");
  await writeTools(bin);
  const start = () => {
    const path = [bin, process.env["PATH"]].join(delimiter);
    return spawn("bash", [join(SCRIPTS, "apply.sh"), "plan.json"], { cwd: project, env: { ...env, PATH: path } });
  };

  const first = start();
  const { send } = tested(service);
  const count = async (): Promise<number> => (await send("GET", "/vpcs")).body.results;
  while ((await count()) === 0) await new Promise((resolve) => setTimeout(resolve, LATENCY_MILLISECONDS));
  first.kill("SIGTERM");
  const cancelled = await ended(first);
  expect(cancelled.code).toBe(143);
  expect(cancelled.stderr).toContain("Tenon apply, exit code 143: Interrupted. Run this job again");
  expect(await readFile(join(project, "tenon-out/journal.jsonl"), "utf8")).toContain("vpc-0");
  const made = await count();
  expect(made).toBeGreaterThan(0);
  expect(made).toBeLessThan(VPC_COUNT);

  const second = await ended(start());
  expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining(`${VPC_COUNT - made} added`) });
  expect(await count()).toBe(VPC_COUNT);
});
