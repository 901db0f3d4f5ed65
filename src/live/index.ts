/** Snapshots (`tenon/live`): an account read whole, written, read back, and answering in its place. */

import type { ReadClient } from "../api/index.ts";
import { checkingShapes } from "../api/shape.ts";
import type { ReadApi } from "../model/api.ts";
import type { Snapshot } from "../model/live.ts";
import { compileGlob } from "../model/text.ts";
import { units } from "../units/index.ts";
import { type AddressResult, readAddresses } from "../units/network/addresses.ts";
import { type SnapshotRequest, type SnapshotResult, snapshotApi, takeSnapshot as take } from "./snapshot.ts";

export type { Snapshot, UnreadList } from "../model/live.ts";
export type { LiveFileResult } from "../saved/live-file.ts";
export { parseLiveFile, renderLiveFile } from "../saved/live-file.ts";
export type { AddressResult, AddressRow } from "../units/network/addresses.ts";
export type { SnapshotRequest, SnapshotResult } from "./snapshot.ts";

export interface AddressOptions {
  readonly api: ReadApi;
  /** Glob over labels of VPCs; default: all. */
  readonly vpc?: string;
  readonly signal?: AbortSignal;
}

/** Lists what addresses the interfaces of VPCs have, with the labels of VPC and subnet: two lists, in as many requests as they have pages. */
export function listAddresses({ api, vpc = "*", signal }: AddressOptions): Promise<AddressResult> {
  return readAddresses(api, compileGlob(vpc), signal);
}

/** Reads with list calls only. */
export function takeSnapshot(options: SnapshotRequest): Promise<SnapshotResult> {
  return take({ ...options, units });
}

/** A client that reads the snapshot instead of the service: the same plans come of it, without a request. */
export function openSnapshot(snapshot: Snapshot): ReadClient {
  return checkingShapes({ ...snapshotApi(snapshot), limits: () => [], close: async () => {} });
}
