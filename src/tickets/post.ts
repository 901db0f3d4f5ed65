/** Sends a POST about a ticket, and finds out what became of it if its answer is lost: it is looked up, and never repeated blindly. */

import { pause, Stop } from "../apply/interrupt.ts";
import {
  type Answer,
  type Api,
  type ApiRequest,
  type Failure,
  isUnclear,
  LOOK_AGAIN_AFTER_SECONDS,
} from "../model/api.ts";
import type { Clock } from "../model/clock.ts";
import type { Json } from "../model/resource.ts";
import { malformedAt, type Result } from "./ticket.ts";

/** How a command that writes reaches the service. */
export interface TicketRequest {
  readonly api: Api;
  readonly clock: Clock;
  /** The first interrupt: nothing new is sent, and what is under way may end. */
  readonly stop?: AbortSignal;
  /** The second interrupt: what is under way is given up. */
  readonly abort?: AbortSignal;
  /** Told what is done about a lost answer: one clause, safe to show. */
  readonly note?: (text: string) => void;
}

/** What the calls of one command share. */
export interface Run {
  readonly api: Api;
  readonly clock: Clock;
  /** Ends also what is read before anything is sent. */
  readonly stopping: AbortSignal;
  readonly aborting: AbortSignal;
  note(text: string): void;
}

/** Makes a run of a request, and ends its timers with it. */
export async function inRun<Value>(request: TicketRequest, work: (run: Run) => Promise<Value>): Promise<Value> {
  const { api, clock, note = () => {} } = request;
  const stop = new Stop(clock, () => {});
  const over = stop.watch(request.stop, request.abort);
  try {
    return await work({ api, clock, stopping: stop.stopping, aborting: stop.aborting, note });
  } finally {
    over();
  }
}

export interface Post<Value> {
  readonly request: ApiRequest;
  /** What was made, by the answer; null if the answer is not what it should be. */
  read(body: Json): Value | null;
  /** What the POST may have made, and nothing that was there before. The oldest first. */
  look(): Promise<Result<readonly Value[]>>;
}

/**
 * `recovered`: the answer was lost, and what it made was found. `others`: equal ones that are there as well, because a lost POST was carried
 * out after all, or somebody else sent the same.
 */
export type Posted<Value> =
  | { readonly outcome: "done"; readonly value: Value; readonly recovered: boolean; readonly others: readonly Value[] }
  | { readonly outcome: "failed" | "unknown"; readonly failure: Failure };

export async function post<Value>(run: Run, posted: Post<Value>): Promise<Posted<Value>> {
  const first = await sendOnce(run, posted);
  if (first.outcome !== "unknown" || first.failure.type === "aborted") return first;
  run.note(`${first.failure.message}; looking whether it happened`);
  const seen = await lookTwice(run, posted);
  if (seen === null || !seen.ok) return first;
  if (seen.value.length > 0) return found(seen.value) ?? first;
  if (run.stopping.aborted) return first;
  run.note("it had not happened and is sent once more");
  return afterRepeat(run, posted, await sendOnce(run, posted));
}

async function sendOnce<Value>({ api, aborting }: Run, { request, read }: Post<Value>): Promise<Posted<Value>> {
  const answer = await api.send(request, aborting);
  if (!answer.ok) return failed(request, answer);
  const value = read(answer.body);
  if (value !== null) return { outcome: "done", value, recovered: false, others: [] };
  return { outcome: "unknown", failure: malformedAt(request.path, "unknown") };
}

function failed({ method }: ApiRequest, { failure }: Extract<Answer, { ok: false }>): Posted<never> {
  // Tenon itself did not send it, or held its last bytes back: without them the service does nothing.
  const isHeldBack = failure.type === "refused" && failure.status === null;
  return { outcome: isUnclear(method, failure) && !isHeldBack ? "unknown" : "failed", failure };
}

/** Immediately, and if nothing is there once more after a while. null if the run was aborted meanwhile. */
async function lookTwice<Value>(run: Run, { look }: Post<Value>): Promise<Result<readonly Value[]> | null> {
  if (run.aborting.aborted) return null;
  const seen = await look();
  if (seen.ok && seen.value.length > 0) return seen;
  if (!(await pause(run.clock, LOOK_AGAIN_AFTER_SECONDS, run.aborting))) return null;
  return look();
}

/**
 * The repeat may be refused because the first one was carried out after all, its answer may be lost, too, and if both were carried out two
 * are there.
 */
async function afterRepeat<Value>(run: Run, { look }: Post<Value>, repeated: Posted<Value>): Promise<Posted<Value>> {
  const seconds = repeated.outcome === "unknown" ? LOOK_AGAIN_AFTER_SECONDS : 0;
  if (!(await pause(run.clock, seconds, run.aborting))) return repeated;
  const seen = await look();
  return (seen.ok ? found(seen.value) : null) ?? repeated;
}

function found<Value>([value, ...others]: readonly Value[]): Posted<Value> | null {
  return value === undefined ? null : { outcome: "done", value, recovered: true, others };
}
