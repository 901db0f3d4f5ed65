/** When a failed attempt is repeated, and after how long. Pure. */

import type { Setback } from "./verdict.ts";

/** The budget while no answer of any kind has come: the address is probably wrong. */
export const SILENT_BUDGET_MILLISECONDS = 30_000;
/** The budget once the service is known to be there. */
export const BUDGET_MILLISECONDS = 300_000;
export const FIRST_BACKOFF_MILLISECONDS = 500;
export const MAX_BACKOFF_MILLISECONDS = 30_000;
/** How often an answer that is not JSON is asked for in all. */
export const MAX_MALFORMED_ATTEMPTS = 3;

export interface RetryState {
  /** How often the request was sent. */
  readonly attempts: number;
  /** Milliseconds since its first setback. */
  readonly elapsed: number;
  /** Milliseconds, see `retryBudget`. */
  readonly budget: number;
  /** Uniform in [0, 1). */
  readonly random: number;
}

/** @param seconds what the user set, or null */
export function retryBudget(seconds: number | null, everAnswered: boolean): number {
  if (seconds !== null) return seconds * 1000;
  return everAnswered ? BUDGET_MILLISECONDS : SILENT_BUDGET_MILLISECONDS;
}

/** Milliseconds to wait before the next attempt; null: give up. */
export function waitBeforeRetry(setback: Setback, state: RetryState): number | null {
  if (setback.repeat === "no") return null;
  if (setback.repeat === "few" && state.attempts >= MAX_MALFORMED_ATTEMPTS) return null;
  const left = state.budget - state.elapsed;
  if (left <= 0) return null;
  // An order that outlasts the budget is known now not to help; a wait of our own choice is cut, for one last attempt.
  if (setback.retryAfter !== null) return setback.retryAfter <= left ? setback.retryAfter : null;
  return Math.min(backoff(state.attempts, state.random), left);
}

/** Doubles per attempt; the jitter keeps parallel requests from coming back together. */
export function backoff(attempts: number, random: number): number {
  const ceiling = Math.min(FIRST_BACKOFF_MILLISECONDS * 2 ** Math.min(attempts - 1, 20), MAX_BACKOFF_MILLISECONDS);
  return Math.round(ceiling * (0.5 + random / 2));
}
