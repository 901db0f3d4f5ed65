/** Snapshots (`tenon/live`): an account read whole, written, read back, and answering in its place. */

import type { ReadClient } from "../api/index.ts";
import { checkingShapes } from "../api/shape.ts";
import type { Snapshot } from "../model/live.ts";
import { units } from "../units/index.ts";
import { type SnapshotRequest, type SnapshotResult, snapshotApi, takeSnapshot as take } from "./snapshot.ts";

export type { Snapshot, UnreadList } from "../model/live.ts";
export type { LiveFileResult } from "../saved/live-file.ts";
export { parseLiveFile, renderLiveFile } from "../saved/live-file.ts";
export type { SnapshotRequest, SnapshotResult } from "./snapshot.ts";

/** Reads with list calls only. */
export function takeSnapshot(options: SnapshotRequest): Promise<SnapshotResult> {
  return take({ ...options, units });
}

/** A client that reads the snapshot instead of the service: the same plans come of it, without a request. */
export function openSnapshot(snapshot: Snapshot): ReadClient {
  return checkingShapes({ ...snapshotApi(snapshot), limits: () => [], close: async () => {} });
}
