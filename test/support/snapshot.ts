/** Plans made from a snapshot: taken of an account, written to a text, read back. */

import { type Desired, type PlanRequest, planProject, type ReadApi } from "../../src/index.ts";
import type { Snapshot } from "../../src/model/live.ts";

export const NOBODY: Desired = { owner: null, account: null, declared: [], removed: [], allow: [], lintOff: [] };

export type PlanOptions = Partial<PlanRequest>;

/** @throws if what is needed cannot be read */
export async function snapshotText(api: ReadApi, desired: Desired = NOBODY, nowMilliseconds = 0): Promise<string> {
  const { takeSnapshot, renderLiveFile } = await import("../../src/live/index.ts");
  const about = { host: "service.example", dialect: "node", account: null };
  const taken = await takeSnapshot({ desired, api, nowMilliseconds, ...about });
  if (!taken.ok) throw new Error(`${taken.what}: ${taken.failure.message}`);
  return renderLiveFile(taken.snapshot);
}

/** @throws with the code of what is wrong with it */
export async function readSnapshot(text: string): Promise<Snapshot> {
  const { parseLiveFile } = await import("../../src/live/index.ts");
  const parsed = await parseLiveFile(text);
  if (!parsed.ok) throw new Error(`${parsed.diagnostic.code}: ${parsed.diagnostic.detail}`);
  return parsed.snapshot;
}

/** As a plan file, or what could not be read. Without the limit of the service: a snapshot has met none. */
export async function planText(api: ReadApi, desired: Desired, options: PlanOptions): Promise<string> {
  const { renderPlanJson } = await import("../../src/render/index.ts");
  const planned = await planProject({ goal: "apply", nowMilliseconds: 0, ...options, desired, api });
  return planned.ok ? renderPlanJson({ ...planned.plan, pace: null }) : `${planned.what}: ${planned.failure.message}`;
}

export async function planTextFrom(text: string, desired: Desired, options: PlanOptions): Promise<string> {
  const { openSnapshot } = await import("../../src/live/index.ts");
  return planText(openSnapshot(await readSnapshot(text)), desired, options);
}
