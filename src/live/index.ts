/** Snapshots (`tenon/live`): an account read whole, written, read back, and answering in its place. */

import type { ReadClient } from "../api/index.ts";
import { checkingShapes } from "../api/shape.ts";
import type { Snapshot } from "../model/live.ts";
import { units } from "../units/index.ts";
import { type SnapshotOptions, type SnapshotResult, snapshotApi, takeSnapshot as take } from "./snapshot.ts";

export { parseLiveFile, renderLiveFile } from "../render/live-file.ts";

/** Reads with list calls only. */
export function takeSnapshot(options: Omit<SnapshotOptions, "units">): Promise<SnapshotResult> {
  return take({ ...options, units });
}

/** What stands in the service's place: the same plans come of it, without a request. */
export function openSnapshot(snapshot: Snapshot): ReadClient {
  return checkingShapes({ ...snapshotApi(snapshot), limits: () => [], close: async () => {} });
}
