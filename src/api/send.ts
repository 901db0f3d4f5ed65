/** Carries one request to its end: waits for its turn, sends it, has outcome.ts judge the answer, and sends it again while that is safe. */

import type { Answer, Confirmation, Failure, Method } from "../model/api.ts";
import type { Clock } from "../model/clock.ts";
import { ADMITTED, type Admission, type ApiEvent, isLoopback } from "./connection.ts";
import type { Limiter, Permit } from "./limiter.ts";
import { type AttemptResult, type ClassifyContext, type FailedAttempt, neededScope } from "./outcome.ts";
import { MAX_WINDOW_MILLISECONDS, retryBudget, throttleWait, waitBeforeRetry } from "./retry.ts";
import { ABORTED, type HttpCall, type HttpOutcome, type Transport } from "./transport.ts";

export interface PreparedRequest {
  readonly call: HttpCall;
  /** Path as events show it. */
  readonly shownPath: string;
  /** The endpoint whose rate limit counts the request; null for a request that does not go to the API. */
  readonly endpoint: string | null;
  readonly classify: (outcome: HttpOutcome, context: ClassifyContext) => AttemptResult;
  /** Both as in `ApiRequest`. */
  readonly confirm?: (signal: AbortSignal | undefined) => Promise<Confirmation>;
  readonly seenMillisecondsAgo?: number;
}

/** What was seen longer ago is looked at again. */
const MAX_SEEN_MILLISECONDS = 5_000;
/** After so many looks that were too old when the request's turn came, it is given up. */
const MAX_CONFIRMATIONS = 5;

export interface RequestSender {
  readonly requestCount: number;
  /** @param waits ends waits only; undefined: as `signal` */
  send(prepared: PreparedRequest, signal: AbortSignal | undefined, waits?: AbortSignal): Promise<Answer>;
}

interface RequestSenderOptions {
  readonly transport: Transport;
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly random: () => number;
  readonly retryForSeconds: number | null;
  readonly hide: (text: string) => string;
  readonly holdsToken: (text: string) => boolean;
  observe(event: ApiEvent): void;
  /** As in `Connection`. */
  admit(signal: AbortSignal | undefined): Promise<Admission | null>;
}

/** What became of one request so far. */
interface AttemptState {
  attempts: number;
  /** Milliseconds that failures other than throttling have cost so far: attempts after the first, and the waits before them. */
  lost: number;
  /** Milliseconds that the service has ordered this request to wait so far. */
  throttledMilliseconds: number;
  /** `unknown` as soon as one attempt may have had an effect. */
  effect: "none" | "unknown";
  /** Its place in the limiter's queue, kept for a repeat. */
  place: number | null;
  /** The Date of the last answer, in milliseconds since the epoch. */
  servedAt: number | null;
  /** When the client saw what the request is about, by the clock; where nothing was looked at, when it was handed over. */
  seenAt: number;
  /** Since the last attempt. */
  confirmations: number;
}

export function createRequestSender(options: RequestSenderOptions): RequestSender {
  const { transport, limiter, clock, observe } = options;
  const longAnswers = new LongAnswerQueue();
  let requestCount = 0;
  let everAnswered = false;

  async function send(
    prepared: PreparedRequest,
    signal: AbortSignal | undefined,
    waits: AbortSignal | undefined = signal,
  ): Promise<Answer> {
    const state: AttemptState = {
      attempts: 0,
      lost: 0,
      throttledMilliseconds: 0,
      effect: "none",
      place: null,
      servedAt: null,
      seenAt: clock.now() - (prepared.seenMillisecondsAgo ?? 0),
      confirmations: 0,
    };
    for (;;) {
      // Once an attempt may have had an effect, a repeat is what tells whether it had.
      const patience = state.effect === "unknown" ? signal : waits;
      const permit =
        prepared.endpoint === null ? null : await limiter.acquire(prepared.endpoint, state.place, patience);
      if (signal?.aborted || patience?.aborted) {
        permit?.release(null);
        return interrupted(state);
      }
      if (prepared.confirm !== undefined && isOld(clock.now() - state.seenAt)) {
        // What is asked needs a turn itself.
        state.place = permit?.place ?? null;
        permit?.release(null);
        if (state.confirmations >= MAX_CONFIRMATIONS) return { ok: false, failure: notConfirmed(state) };
        state.confirmations += 1;
        const confirmed = await prepared.confirm(patience);
        if (!confirmed.ok) return { ok: false, failure: { ...confirmed.failure, effect: state.effect } };
        state.seenAt = clock.now() - confirmed.seenMillisecondsAgo;
        continue;
      }
      state.confirmations = 0;
      const admission = prepared.call.method === "GET" ? ADMITTED : await admissionOf(permit, signal);
      if (admission === null) {
        permit?.release(null);
        return interrupted(state);
      }
      state.place = permit?.place ?? null;
      const result = await attempt(prepared, state, { permit, admission }, signal);
      if (result.type === "done") {
        // After an attempt without an answer, that attempt may have deleted the object: it is not sure that it was gone already.
        const alreadyGone = result.absent === true && state.effect === "none";
        // The host of an upload is another one, with a clock of its own.
        const servedAt = prepared.endpoint === null ? null : state.servedAt;
        return {
          ok: true,
          body: result.body,
          ...(alreadyGone ? { alreadyGone } : {}),
          ...(servedAt === null ? {} : { servedMilliseconds: servedAt }),
          ...(result.characters === undefined ? {} : { characters: result.characters }),
        };
      }
      const wait = afterFailedAttempt(prepared, state, result, permit);
      if (wait === null) return { ok: false, failure: failureOf(result, prepared, state) };
      // A throttled request waits in `limiter.acquire`, which keeps all others of its endpoint back as well.
      if (!(result.throttled && permit)) await clock.sleep(wait, state.effect === "unknown" ? signal : waits);
    }
  }

  /** Who cannot be asked keeps no other request back. */
  async function admissionOf(permit: Permit | null, signal: AbortSignal | undefined): Promise<Admission | null> {
    try {
      return await options.admit(signal);
    } catch (error) {
      permit?.release(null);
      throw error;
    }
  }

  async function attempt(
    prepared: PreparedRequest,
    state: AttemptState,
    { permit, admission }: { readonly permit: Permit | null; readonly admission: Admission },
    signal: AbortSignal | undefined,
  ): Promise<AttemptResult> {
    const { call, shownPath } = prepared;
    state.attempts += 1;
    requestCount += 1;
    observe({ type: "sent", method: call.method, path: shownPath, attempt: state.attempts });
    const sentAt = clock.now();
    const outcome = await transport.exchange(call, signal, () => admission.lasts());
    const now = clock.now();
    // Only repeats count as lost: every request takes the time of a first attempt.
    if (state.attempts > 1) state.lost += now - sentAt;
    permit?.release(outcome.type === "answer" ? outcome : null);
    if (outcome.status !== null) everAnswered = true;
    state.servedAt = outcome.type === "answer" ? dateOf(outcome.headers["date"]) : null;
    observe({
      type: "answered",
      method: call.method,
      path: shownPath,
      status: outcome.status,
      milliseconds: now - sentAt,
    });
    const { host, hostname } = new URL(call.origin);
    const judged = await longAnswers.take(outcome, call.method, signal);
    return prepared.classify(judged, {
      method: call.method,
      host,
      isLoopback: isLoopback(hostname),
      now,
      hide: options.hide,
      holdsToken: options.holdsToken,
    });
  }

  /** Milliseconds to wait before the next attempt; null: there is none. */
  function afterFailedAttempt(
    prepared: PreparedRequest,
    state: AttemptState,
    failed: FailedAttempt,
    permit: Permit | null,
  ): number | null {
    if (failed.effect === "unknown") state.effect = "unknown";
    const wait = waitBeforeRetry(failed, {
      attempts: state.attempts,
      lost: state.lost,
      throttledMilliseconds: state.throttledMilliseconds,
      budget: retryBudget(options.retryForSeconds, everAnswered, failed),
      random: options.random(),
    });
    if (wait === null) return null;
    if (throttleWait(failed) === null) state.lost += wait;
    else state.throttledMilliseconds += wait;
    // It waits in `limiter.acquire`.
    const waitsInLimiter = failed.throttled && permit !== null;
    observe({
      type: "retrying",
      method: prepared.call.method,
      path: prepared.shownPath,
      attempt: state.attempts,
      waitSeconds: (waitsInLimiter ? Math.max(wait, permit.millisecondsUntilOpen()) : wait) / 1000,
      reason: failed.message,
      maintenance: failed.maintenance,
      waitsInLimiter,
    });
    return wait;
  }

  return {
    get requestCount() {
      return requestCount;
    },
    send,
  };
}

/** An answer of this length is parsed within some milliseconds. */
const MAX_PROMPT_CHARACTERS = 262_144;

/**
 * Long answers are parsed one by one, and between two of them the process hears signals: many may have come at once, and a parse takes up to
 * a second.
 */
class LongAnswerQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** @returns the outcome, once it is its turn; that of a request which was given up, if what was only to be read is not wanted any more */
  async take(outcome: HttpOutcome, method: Method, signal: AbortSignal | undefined): Promise<HttpOutcome> {
    if (outcome.type !== "answer" || outcome.text.length <= MAX_PROMPT_CHARACTERS) return outcome;
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    await this.#last;
    if (method !== "GET" || signal?.aborted !== true) return outcome;
    return { type: "lost", sent: true, status: outcome.status, code: ABORTED, detail: "aborted" };
  }
}

/** An HTTP date (RFC 9110, 5.6.7); null if the header is absent, or is no HTTP date. */
function dateOf(header: string | undefined): number | null {
  const milliseconds = Date.parse(header ?? "");
  return milliseconds >= 0 && milliseconds < MAX_DATE_MILLISECONDS ? milliseconds : null;
}

/** The year 10000: an HTTP date has four digits for it (RFC 9110, 5.6.7). */
const MAX_DATE_MILLISECONDS = 253_402_300_800_000;

function failureOf(failed: FailedAttempt, { call, shownPath }: PreparedRequest, state: AttemptState): Failure {
  const scope = failed.status === 403 ? neededScope(call.method, shownPath) : null;
  const orderedMilliseconds = throttleWait(failed);
  const more = [
    ...(scope === null ? [] : [`this needs the scope ${scope}`]),
    ...(orderedMilliseconds !== null && orderedMilliseconds > MAX_WINDOW_MILLISECONDS
      ? [tooLong(orderedMilliseconds)]
      : []),
  ];
  return {
    type: failed.failure,
    effect: state.effect,
    status: failed.status,
    errors: failed.errors,
    message: [failed.message, ...more].join("; "),
    maintenance: failed.maintenance,
    attempts: state.attempts,
    ...(failed.exceeds === undefined ? {} : { exceeds: failed.exceeds }),
    ...(failed.nobodyListens === undefined ? {} : { nobodyListens: failed.nobodyListens }),
  };
}

function tooLong(milliseconds: number): string {
  return `the service orders a wait of ${Math.ceil(milliseconds / 1000)} s; Tenon waits at most ${MAX_WINDOW_MILLISECONDS / 1000} s`;
}

/** A clock that was set back says nothing. */
function isOld(milliseconds: number): boolean {
  return milliseconds > MAX_SEEN_MILLISECONDS || milliseconds < 0;
}

function notConfirmed({ attempts, effect }: AttemptState): Failure {
  return {
    type: "unavailable",
    effect,
    status: null,
    errors: [],
    message: `the service took more than ${MAX_SEEN_MILLISECONDS / 1000} s to let the request through after a look at the object, ${MAX_CONFIRMATIONS} times`,
    maintenance: false,
    attempts,
  };
}

function interrupted(state: AttemptState): Answer {
  return {
    ok: false,
    failure: {
      type: "aborted",
      effect: state.effect,
      status: null,
      errors: [],
      message: "interrupted",
      maintenance: false,
      attempts: state.attempts,
    },
  };
}
