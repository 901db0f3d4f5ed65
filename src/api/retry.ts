/** When a failed attempt is repeated, and after how long. Pure. */

import type { FailedAttempt } from "./outcome.ts";

/** The budget while no answer of any kind has come: the address is probably wrong. */
const SILENT_BUDGET_MILLISECONDS = 30_000;
/** The same where nothing listens on this machine: whoever forgot to start it waits for nothing, and one that just starts is met. */
const REFUSED_HERE_BUDGET_MILLISECONDS = 2_000;
/** The budget once the service is known to be there. */
const BUDGET_MILLISECONDS = 300_000;
const FIRST_BACKOFF_MILLISECONDS = 500;
const MAX_BACKOFF_MILLISECONDS = 30_000;
/** How often a request is sent in all while its answers are not JSON. */
const MAX_MALFORMED_ATTEMPTS = 3;

/** A wait for the rate limit that is longer than this is not believed: a wrong header must not stop a run for days. */
export const MAX_WINDOW_MILLISECONDS = 3_600_000;
/** A Retry-After below this is ignored: with `0`, requests would repeat without a pause. Retry-After has whole seconds. */
const MIN_ORDER_MILLISECONDS = 1_000;
/** The longest total time that one request waits because 429s order it. Other clients may use up several windows before it. */
const MAX_THROTTLED_MILLISECONDS: number = 2 * MAX_WINDOW_MILLISECONDS;

/** Waiting for the rate limit is no failure: it is not part of what the budget is for. */
interface RetryState {
  /** How often the request was sent. */
  readonly attempts: number;
  /** Milliseconds lost to failures since the first: by waits between attempts, and by further attempts that failed. */
  readonly lost: number;
  /** Milliseconds that it waited because 429s ordered it. */
  readonly throttledMilliseconds: number;
  /** Milliseconds, see `retryBudget`. */
  readonly budget: number;
  /** Uniform in [0, 1). */
  readonly random: number;
}

/** @param seconds what the user set, or null */
export function retryBudget(
  seconds: number | null,
  everAnswered: boolean,
  { nobodyListens }: Pick<FailedAttempt, "nobodyListens">,
): number {
  if (seconds !== null) return seconds * 1000;
  if (everAnswered) return BUDGET_MILLISECONDS;
  return nobodyListens === true ? REFUSED_HERE_BUDGET_MILLISECONDS : SILENT_BUDGET_MILLISECONDS;
}

/** Milliseconds to wait before the next attempt; null: give up. */
export function waitBeforeRetry(attempt: FailedAttempt, state: RetryState): number | null {
  if (attempt.repeat === "no") return null;
  if (attempt.repeat === "few" && state.attempts >= MAX_MALFORMED_ATTEMPTS) return null;
  const ordered = orderedWait(attempt);
  if (ordered !== null && attempt.throttled) {
    const isWithin =
      ordered <= MAX_WINDOW_MILLISECONDS && state.throttledMilliseconds + ordered <= MAX_THROTTLED_MILLISECONDS;
    return isWithin ? ordered : null;
  }
  const left = state.budget - state.lost;
  if (left <= 0) return null;
  // An order that outlasts the budget is known now not to help; a wait of our own choice is cut, for one last attempt.
  if (ordered !== null) return ordered <= left ? ordered : null;
  const wait = backoff(state.attempts, state.random);
  // A throttled request cannot go earlier than its endpoint opens.
  if (attempt.throttled && wait > left) return null;
  return Math.min(wait, left);
}

/** Milliseconds that a 429 orders to wait; null if it names no time. Earlier headers may have announced the same wait. */
export function throttleWait(attempt: FailedAttempt): number | null {
  return attempt.throttled ? orderedWait(attempt) : null;
}

function orderedWait({ retryAfter }: FailedAttempt): number | null {
  return retryAfter !== null && retryAfter >= MIN_ORDER_MILLISECONDS ? retryAfter : null;
}

/** Doubles per attempt; the jitter keeps parallel requests from coming back together. */
export function backoff(attempts: number, random: number): number {
  const ceiling = Math.min(FIRST_BACKOFF_MILLISECONDS * 2 ** Math.min(attempts - 1, 20), MAX_BACKOFF_MILLISECONDS);
  return Math.round(ceiling * (0.5 + random / 2));
}
