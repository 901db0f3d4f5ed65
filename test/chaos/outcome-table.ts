/** What must become of each kind of request under each outcome: the contract of apply, as data. */

import type { Fault, FaultEffect } from "../../src/emulator/index.ts";
import type { RequestStep, Step, UploadStep } from "../../src/model/plan.ts";

/**
 * - `create`: a POST whose effect can be recognised.
 * - `begin`: the POST of an upload: what it made is of no use without the URL in its answer.
 * - `update`: PUT.
 * - `delete`: DELETE.
 * - `send`: the PUT of the file to the signed URL, which is another host's.
 */
export type RequestClass = "create" | "begin" | "update" | "delete" | "send";

export function classOf(step: Step): RequestClass | null {
  if (step.type === "upload") return "send";
  if (step.type === "wait" || step.method === "GET") return null;
  if (step.method === "PUT") return "update";
  if (step.method === "DELETE") return "delete";
  return step.path.join("/") === "images/upload" ? "begin" : "create";
}

export function methodOf(step: RequestStep | UploadStep): string {
  return step.type === "upload" ? "PUT" : step.method;
}

export interface Outcome {
  readonly name: string;
  readonly effect: FaultEffect;
  /** How often it happens; the requests after that are answered. */
  readonly times: number;
  /** When work that was put off is done. */
  readonly late?: "in time" | "after the step" | "after the run";
  /** Where the request is a DELETE there is no fault: another client was quicker. */
  readonly gone?: true;
  /** The client does not wait long for an answer. */
  readonly impatient?: true;
  /** What the report says of it, where the step fails or its outcome stays unknown. */
  readonly words: RegExp;
  readonly expected: Readonly<Record<RequestClass, Expected>>;
}

export interface Expected {
  readonly step: "done" | "failed" | "unknown";
  /** It was looked up and found done. */
  readonly recovered?: true;
  /** How often the request itself reached the service; `many`: until the budget was used up. */
  readonly reached: number | "many";
  /** How often the list was read to see whether it had happened; absent: never. */
  readonly looks?: number;
  /** Nothing else is begun. */
  readonly halts?: true;
}

const ONCE = 1;
/** More often than any budget allows. */
const ALWAYS = 1_000;
/** After the first look, which comes at once, and before the second, which comes before any repeat. */
const SOON_MILLISECONDS = 100;
/** Longer than a run waits for anything but images; released by hand. */
const NOT_BY_ITSELF_MILLISECONDS = 300_000;

const DONE_AT_ONCE: Expected = { step: "done", reached: 1 };
const REPEATED: Expected = { step: "done", reached: 2 };
/** Not before it was looked for twice. */
const LOOKED_FOR: Expected = { step: "done", reached: 2, looks: 2 };
const FOUND: Expected = { step: "done", recovered: true, reached: 1, looks: 1 };
const FAILED: Expected = { step: "failed", reached: 1 };
const HALTED: Expected = { step: "failed", reached: 1, halts: true };
/** What was begun is there, and its URL is not: it is left until it has been idle for long enough to be nobody's. */
const LEFT: Expected = { step: "unknown", reached: 1, looks: 1 };
const GIVEN_UP: Expected = { step: "failed", reached: "many" };
const UNCLEAR: Expected = { step: "unknown", reached: "many" };
/** A POST of unknown outcome is sent a second time after two looks, and no third time after another. */
const UNCLEAR_TWICE: Expected = { step: "unknown", reached: 2, looks: 3 };

const all = (expected: Expected): Record<RequestClass, Expected> => ({
  create: expected,
  begin: expected,
  update: expected,
  delete: expected,
  send: expected,
});

/** The service may have done it. */
const UNHEARD = { ...all(REPEATED), create: LOOKED_FOR, begin: LOOKED_FOR };
/** The service did it, and nobody heard. */
const COMMITTED = { ...all(REPEATED), create: FOUND, begin: LEFT };

const status = (code: number, retryAfterSeconds?: number | null): FaultEffect => ({
  type: "status",
  status: code,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

export const RETRY_AFTER_SECONDS = 17;

/** Each happens to a request once. */
export const OUTCOMES: readonly Outcome[] = [
  {
    name: "400",
    effect: status(400),
    times: ONCE,
    words: /\(400\): Bad Request|answered with 400/,
    expected: all(FAILED),
  },
  {
    name: "400 busy",
    effect: { type: "busy" },
    times: ONCE,
    words: /400/,
    // The storage behind a signed URL knows no objects that could be busy.
    expected: { ...all(REPEATED), send: FAILED },
  },
  {
    name: "401",
    effect: status(401),
    times: ONCE,
    words: /401/,
    // The storage's word says nothing about the token.
    expected: { ...all(HALTED), send: FAILED },
  },
  { name: "403", effect: status(403), times: ONCE, words: /403/, expected: all(FAILED) },
  {
    name: "404",
    effect: status(404),
    times: ONCE,
    gone: true,
    words: /404/,
    expected: { ...all(FAILED), delete: DONE_AT_ONCE },
  },
  { name: "408", effect: status(408), times: ONCE, words: /408/, expected: UNHEARD },
  {
    name: "429 with Retry-After",
    effect: status(429, RETRY_AFTER_SECONDS),
    times: ONCE,
    words: /429/,
    expected: all(REPEATED),
  },
  { name: "429 without", effect: status(429, null), times: ONCE, words: /429/, expected: all(REPEATED) },
  { name: "500", effect: status(500), times: ONCE, words: /500/, expected: UNHEARD },
  { name: "502 HTML", effect: { type: "html", status: 502 }, times: ONCE, words: /502/, expected: UNHEARD },
  { name: "503 maintenance", effect: { type: "maintenance" }, times: ONCE, words: /503/, expected: UNHEARD },
  { name: "reset before", effect: { type: "drop-before" }, times: ONCE, words: /lost/, expected: UNHEARD },
  { name: "reset after", effect: { type: "drop-after" }, times: ONCE, words: /lost/, expected: COMMITTED },
  {
    name: "time-out after",
    effect: { type: "slow-headers", delayMilliseconds: 60_000 },
    times: ONCE,
    impatient: true,
    words: /did not answer in time/,
    expected: COMMITTED,
  },
  {
    name: "late",
    effect: { type: "late", delayMilliseconds: SOON_MILLISECONDS },
    times: ONCE,
    late: "in time",
    words: /504/,
    expected: { ...COMMITTED, create: { ...FOUND, looks: 2 }, begin: { ...LEFT, looks: 2 } },
  },
  {
    name: "late, after the looks",
    effect: { type: "late", delayMilliseconds: NOT_BY_ITSELF_MILLISECONDS, status: "drop" },
    times: ONCE,
    late: "after the step",
    words: /504/,
    expected: UNHEARD,
  },
  {
    name: "late, after the run",
    effect: { type: "late", delayMilliseconds: NOT_BY_ITSELF_MILLISECONDS },
    times: ONCE,
    late: "after the run",
    words: /504/,
    expected: UNHEARD,
  },
  {
    name: "malformed JSON",
    effect: { type: "bad-json" },
    times: ONCE,
    words: /not the JSON expected/,
    // The body of what the storage answers is not looked at.
    expected: { ...COMMITTED, send: DONE_AT_ONCE },
  },
];

const CLEARLY_REFUSED = all(GIVEN_UP);
const NEVER_CLEAR = { ...all(UNCLEAR), create: UNCLEAR_TWICE, begin: UNCLEAR_TWICE };

/** Those that pass by themselves, and this time do not: each happens to every attempt until the step ends. */
export const LASTING_OUTCOMES: readonly Outcome[] = [
  {
    name: "400 busy, lasting",
    effect: { type: "busy" },
    times: ALWAYS,
    words: /busy|answered with 400/,
    expected: { ...CLEARLY_REFUSED, send: FAILED },
  },
  { name: "429, lasting", effect: status(429, null), times: ALWAYS, words: /429/, expected: CLEARLY_REFUSED },
  {
    name: "429 with Retry-After, lasting",
    effect: status(429, RETRY_AFTER_SECONDS),
    times: ALWAYS,
    words: /429/,
    expected: CLEARLY_REFUSED,
  },
  { name: "500, lasting", effect: status(500), times: ALWAYS, words: /500/, expected: NEVER_CLEAR },
  {
    name: "503 maintenance, lasting",
    effect: { type: "maintenance" },
    times: ALWAYS,
    words: /maintenance|answered with 503/,
    expected: NEVER_CLEAR,
  },
  {
    name: "reset before, lasting",
    effect: { type: "drop-before" },
    times: ALWAYS,
    words: /lost/,
    expected: NEVER_CLEAR,
  },
  {
    name: "reset after, lasting",
    effect: { type: "drop-after" },
    times: ALWAYS,
    words: /lost/,
    expected: { ...NEVER_CLEAR, create: FOUND, begin: LEFT },
  },
];

/** Selected by method alone: it is armed while the one step runs, and no other step does. */
export function faultOf({ effect, times }: Outcome, method: string): Fault {
  return { effect, method, times };
}
