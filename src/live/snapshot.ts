/** Takes a snapshot: every list that a plan of any manifest could ask for, read once. */

import type { Desired } from "../model/desired.ts";
import type { Api } from "../model/exchange.ts";
import { type Failure, isDenied } from "../model/failure.ts";
import { compareText } from "../model/group.ts";
import type { JsonObject } from "../model/resource.ts";
import type { Snapshot, UnreadList } from "../model/snapshot.ts";
import type { ReadResult, ReadWatch, Scope, Unit } from "../model/unit.ts";
import { isUnitNeeded, Tally } from "./read.ts";
import { type RecordedList, Recording } from "./recording.ts";

export interface SnapshotOptions {
  /** Says what must be readable. A unit that it does not need may be refused to the token. */
  readonly desired: Desired;
  readonly units: readonly Unit[];
  readonly api: Api;
  /** Milliseconds since the epoch. */
  readonly nowMilliseconds: number;
  readonly host: string;
  readonly dialect: string;
  readonly account: string | null;
  readonly watch?: ReadWatch;
}

export type SnapshotResult =
  | { readonly ok: true; readonly snapshot: Snapshot }
  /** `what` could not be read. */
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

/** All of the account, whatever is declared: a change of the manifest may declare what nobody declared before. */
const WHOLE: Scope = { declared: [], removed: [], owner: null, destroy: false, whole: true };

/** ⌈V/P⌉ + ⌈D/P⌉ + Σ⌈R/P⌉ + ⌈I/P⌉ requests at a page size of P, and one for each VPC with interfaces in it. */
export async function takeSnapshot(options: SnapshotOptions): Promise<SnapshotResult> {
  const recording = new Recording(options.api);
  const failed = await readWhole(options, recording);
  if (failed !== null) return failed;
  const { nowMilliseconds, host, dialect, account } = options;
  const recorded = await recording.recorded();
  const readAt = new Date(nowMilliseconds).toISOString();
  return { ok: true, snapshot: { readAt, host, dialect, account, ...sorted(recorded) } };
}

type Failed = Extract<SnapshotResult, { ok: false }>;

/** @returns what stands in the way: the failure of what is needed, or of everything */
async function readWhole(options: SnapshotOptions, api: Api): Promise<Failed | null> {
  const stop = new AbortController();
  const given = options.watch?.signal;
  const signal = given === undefined ? stop.signal : AbortSignal.any([given, stop.signal]);
  const tally = new Tally(options.watch);
  const results = await Promise.all(
    options.units.map(async (unit) => {
      const result = await unit.read(WHOLE, api, { signal, progress: tally.of(unit.name) });
      if (mustEnd(result, unit, options.desired)) stop.abort();
      return { unit, result };
    }),
  );
  const failures = results.flatMap(({ unit, result }) => (result.ok ? [] : [{ unit, result }]));
  const bad = failures.filter(({ unit, result }) => mustEnd(result, unit, options.desired));
  if (bad.length === 0) return failures.length === results.length ? (failures[0]?.result ?? null) : null;
  // What was cut short only echoes the failure that stopped it.
  return (bad.find(({ result }) => result.failure.type !== "aborted") ?? bad[0])?.result ?? null;
}

/** A token need not have rights for what the project does not use; any other failure would leave a hole nobody expects. */
function mustEnd(result: ReadResult<unknown>, unit: Unit, desired: Desired): boolean {
  if (result.ok) return false;
  return !isDenied(result.failure) || isUnitNeeded(unit.name, desired);
}

function sorted(recorded: readonly RecordedList[]): Pick<Snapshot, "lists" | "unread" | "servedAt"> {
  const lists = new Map<string, readonly JsonObject[]>();
  const unread: UnreadList[] = [];
  const served: number[] = [];
  for (const { path, answer } of [...recorded].sort((a, b) => compareText(a.path, b.path))) {
    if (answer.ok) {
      lists.set(path, answer.items);
      if (answer.servedMilliseconds !== undefined) served.push(answer.servedMilliseconds);
      continue;
    }
    // What was cut short was not refused: its list is merely not held.
    if (answer.failure.type !== "aborted") unread.push({ path, failure: told(answer.failure) });
  }
  const first = served.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
  return { lists, unread, servedAt: served.length === 0 ? null : new Date(first).toISOString() };
}

function told({ type, status, errors, message }: Failure): UnreadList["failure"] {
  return { type, status, errors, message };
}
