/** Two real `tenon apply` processes that begin at the same moment, and the one that comes after them. */

import { describe, expect, test } from "vitest";
import { type Ended, emulator, envOf, folder, run } from "../cli/run.ts";
import { report } from "./counts.ts";
import type { Manifest } from "./interleave-manifest.ts";
import { PAIRS } from "./interleave-scenarios.ts";

const ROUNDS = 10;
const MEETINGS: readonly string[] = ["one commit, twice", "a first apply, twice"];
/** Long enough for two processes that do not start in the same millisecond to meet. */
const LATENCY_MILLISECONDS = 8;
const APPLY = ["apply", "--yes", "--allow", "delete=*", "--allow", "replace=*", "--allow", "bulk=*"];
/** One more question for each label that may repeat. */
const MAX_CHOICES = 3;

describe("two processes on one account", () => {
  test("leave what one more apply completes, or equal objects that it names", async () => {
    let survived = 0;
    let duplicates = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      duplicates += await meet(round);
      survived += 1;
    }
    report({ suite: "two processes", tried: ROUNDS, survived, more: { duplicates } });
    expect(survived).toBe(ROUNDS);
  });
});

/** @returns how many labels a person had to choose for */
async function meet(round: number): Promise<number> {
  const pair = PAIRS.find(({ name }) => name === MEETINGS[round % MEETINGS.length]);
  if (pair === undefined) throw new Error("there is no such pair");
  let { manifest } = pair.sides[0];
  const service = await emulator({ seed: pair.seed, latencyMilliseconds: LATENCY_MILLISECONDS });
  const env = envOf(service);
  const apply = async (): Promise<Ended> =>
    run(APPLY, { cwd: await folder({ "tenon.yaml": JSON.stringify(manifest) }), env });
  const both = await Promise.all([apply(), apply()]);
  for (const { code, stderr } of both) expect([0, 1, 4, 6], stderr).toContain(code);

  for (let choice = 0; choice <= MAX_CHOICES; choice += 1) {
    const next = await apply();
    if (next.code === 0) {
      const last = await run(["plan", "--detailed-exitcode"], {
        cwd: await folder({ "tenon.yaml": JSON.stringify(manifest) }),
        env,
      });
      expect(last.code, last.stdout).toBe(0);
      return choice;
    }
    expect(next.code, next.stdout + next.stderr).toBe(4);
    manifest = chosen(manifest, next.stderr);
  }
  throw new Error("there is no end to the choices");
}

/** What a person does who reads the refusal: writes the first id that it lists. */
function chosen(manifest: Manifest, stderr: string): Manifest {
  const text = stderr.replaceAll(/\s+/g, " ");
  const label = /carry the label "([^"]+)"/.exec(text)?.[1];
  const ids = [...(text.split(/carry the label/)[1]?.matchAll(/\bid (\S+) \(/g) ?? [])].map((match) => match[1] ?? "");
  expect(ids.length, stderr).toBeGreaterThanOrEqual(2);
  const vpcs = manifest.vpcs?.map((vpc) => (vpc.label === label ? { ...vpc, id: Number(ids[0]) } : vpc)) ?? [];
  const images =
    manifest.images?.map((image) => (image.label === label ? { ...image, id: String(ids[0]) } : image)) ?? [];
  return { ...manifest, vpcs, images };
}
