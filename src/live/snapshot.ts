/** Takes a snapshot: every list that a plan of any manifest could ask for, read once. */

import {
  type Answer,
  type Failure,
  type GetRequest,
  isDenied,
  type ListAnswer,
  type ListRequest,
  type ReadApi,
} from "../model/api.ts";
import type { Desired } from "../model/desired.ts";
import { endingWith } from "../model/ending.ts";
import type { Snapshot, UnreadList } from "../model/live.ts";
import type { JsonObject } from "../model/resource.ts";
import { compareText } from "../model/text.ts";
import type { ReadResult, ReadWatch, Scope, Unit } from "../model/unit.ts";
import { isUnitNeeded, Tally } from "./read.ts";

export interface SnapshotOptions extends SnapshotRequest {
  readonly units: readonly Unit[];
}

export interface SnapshotRequest {
  /** Says what must be readable. The token need not have the right to read units that this does not use. */
  readonly desired: Desired;
  readonly api: ReadApi;
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

/**
 * Requests, at a page size of P: ⌈V/P⌉ for V VPCs, ⌈D/P⌉ for D domains, ⌈R/P⌉ for the R records of each domain, ⌈I/P⌉ for I images, and one
 * for each VPC with interfaces.
 */
export async function takeSnapshot(options: SnapshotOptions): Promise<SnapshotResult> {
  const recording = new Recording(options.api);
  const failed = await readWhole(options, recording);
  if (failed !== null) return failed;
  const { nowMilliseconds, host, dialect, account } = options;
  const recorded = await recording.recorded();
  const readAt = new Date(nowMilliseconds).toISOString();
  return { ok: true, snapshot: { readAt, host, dialect, account, ...contentsOf(recorded) } };
}

type Failed = Extract<SnapshotResult, { ok: false }>;

/**
 * @returns null if the snapshot can be used, else why not: a failure that must not be passed over, or the first one if nothing at all could
 * be read
 */
async function readWhole(options: SnapshotOptions, api: ReadApi): Promise<Failed | null> {
  const stop = endingWith(options.watch?.signal);
  const { signal } = stop;
  const tally = new Tally(options.watch);
  const results = await Promise.all(
    options.units.map(async (unit) => {
      const result = await unit.read(WHOLE, api, { signal, progress: tally.of(unit.name) });
      if (mustEnd(result, unit, options.desired)) stop.abort();
      return { unit, result };
    }),
  ).finally(stop.release);
  const failures = results.flatMap(({ unit, result }) => (result.ok ? [] : [{ unit, result }]));
  const bad = failures.filter(({ unit, result }) => mustEnd(result, unit, options.desired));
  if (bad.length === 0) return failures.length === results.length ? (failures[0]?.result ?? null) : null;
  // A read that was cut short only echoes the failure that stopped it.
  return (bad.find(({ result }) => result.failure.type !== "aborted") ?? bad[0])?.result ?? null;
}

/** A token need not have rights for what the project does not use. Any other failure would leave a list out that somebody expects. */
function mustEnd(result: ReadResult<unknown>, unit: Unit, desired: Desired): boolean {
  if (result.ok) return false;
  return !isDenied(result.failure) || isUnitNeeded(unit.name, desired);
}

/** The lists that were read and those that were refused, sorted by path: each path is asked for once, with one filter. */
function contentsOf(recorded: readonly RecordedList[]): Pick<Snapshot, "lists" | "unread" | "servedAt"> {
  const lists = new Map<string, readonly JsonObject[]>();
  const unread: UnreadList[] = [];
  const served: number[] = [];
  for (const { path, answer } of [...recorded].sort((a, b) => compareText(a.path, b.path))) {
    if (answer.ok) {
      lists.set(path, answer.items);
      if (answer.servedMilliseconds !== undefined) served.push(answer.servedMilliseconds);
      continue;
    }
    // The service did not refuse a list whose read was aborted: it is not reported as unread, and the snapshot just lacks it.
    if (answer.failure.type !== "aborted") unread.push({ path, failure: reportedFailure(answer.failure) });
  }
  const first = served.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
  return { lists, unread, servedAt: served.length === 0 ? null : new Date(first).toISOString() };
}

function reportedFailure({ type, status, errors, message }: Failure): UnreadList["failure"] {
  return { type, status, errors, message };
}

// The service as a snapshot remembers it: answers lists, and holds no single object.

/** Sends nothing. Answers with the whole list, unless the service would be asked for a subset at once. */
export function snapshotApi({ lists, unread, servedAt }: Snapshot): ReadApi {
  const served = servedAt === null ? {} : { servedMilliseconds: Date.parse(servedAt) };
  const failures = new Map(unread.map(({ path, failure }) => [path, failure]));
  return {
    requestCount: 0,
    list: async (request): Promise<ListAnswer> => {
      const path = pathOf(request);
      const all = lists.get(path);
      const known = failures.get(path);
      if (all === undefined) return { ok: false, failure: failureOf(known ?? absent(path)) };
      const items = subsetOf(filtered(all, request), request.subset);
      return { ok: true, items, total: items.length, ...served };
    },
    get: async () => refused(),
  };
}

/** The stored list may itself be filtered; a request's filter is applied again to what is stored. */
function filtered(items: readonly JsonObject[], { filter = {} }: ListRequest): readonly JsonObject[] {
  const conditions = Object.entries(filter);
  if (conditions.length === 0) return items;
  return items.filter((item) => conditions.every(([field, value]) => item[field] === value));
}

/** A service that lacks one of the values is asked for the whole list. */
function subsetOf(items: readonly JsonObject[], subset: ListRequest["subset"]): readonly JsonObject[] {
  if (subset?.atLeast === undefined) return items;
  const values = new Set(subset.values.map((value) => value.toLowerCase()));
  const found = items.filter((item) => values.has(String(item[subset.field] ?? "").toLowerCase()));
  return found.length === values.size ? found : items;
}

function absent(path: string): Pick<Failure, "type" | "status" | "errors" | "message"> {
  return { type: "malformed", status: null, errors: [], message: `the snapshot does not hold the list /${path}` };
}

function refused(): Answer {
  const message = "a snapshot answers lists only";
  return { ok: false, failure: failureOf({ type: "refused", status: null, errors: [], message }) };
}

function failureOf(reported: Pick<Failure, "type" | "status" | "errors" | "message">): Failure {
  return { ...reported, effect: "none", maintenance: false, attempts: 0 };
}

// Lists that are asked for once and remembered: two plans then see the same state, and a snapshot can keep it.

interface RecordedList {
  /** Segments joined by slashes. */
  readonly path: string;
  readonly answer: ListAnswer;
}

interface Asked {
  readonly path: string;
  readonly answer: Promise<ListAnswer>;
}

/**
 * The first request for a list decides its `subset`, so the union of what all readers want must be asked for first.
 * Single objects pass through.
 */
export class Recording implements ReadApi {
  readonly #api: ReadApi;
  readonly #asked: Map<string, Asked> = new Map();

  constructor(api: ReadApi) {
    this.#api = api;
  }

  get requestCount(): number {
    return this.#api.requestCount;
  }

  list(request: ListRequest, signal?: AbortSignal): Promise<ListAnswer> {
    const key = keyOf(request);
    const known = this.#asked.get(key);
    if (known !== undefined) return known.answer;
    const answer = this.#api.list(request, signal);
    this.#asked.set(key, { path: pathOf(request), answer });
    return answer;
  }

  get(request: GetRequest, signal?: AbortSignal): Promise<Answer> {
    return this.#api.get(request, signal);
  }

  /** All that was asked for so far, once it is there. */
  async recorded(): Promise<RecordedList[]> {
    return Promise.all([...this.#asked.values()].map(async ({ path, answer }) => ({ path, answer: await answer })));
  }
}

function pathOf({ path }: Pick<ListRequest, "path">): string {
  return path.join("/");
}

function keyOf(request: ListRequest): string {
  return JSON.stringify([request.path, entriesOf(request.filter ?? {})]);
}

function entriesOf(filter: JsonObject): unknown[] {
  return Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1));
}
