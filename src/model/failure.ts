/** Failures of the service or of the way to it, as values. */

/** One entry of the service's `{errors: […]}` (API.md, Errors). */
export interface ApiError {
  readonly reason: string;
  readonly field?: string;
}

/**
 * - `refused`: the service answered 4xx; it had no effect.
 * - `unavailable`: 408, 429, 5xx, or `… busy.`, still so after the retry budget.
 * - `unreachable`: no connection, TLS failure, connection lost, time-out.
 * - `malformed`: an answer that is not the JSON expected (HTML, half a body, wrong shape).
 * - `aborted`: the caller's signal ended it.
 */
export type FailureType = "refused" | "unavailable" | "unreachable" | "malformed" | "aborted";

export interface Failure {
  readonly type: FailureType;
  /** `none` if the request surely changed nothing; `unknown` if it may have. */
  readonly effect: "none" | "unknown";
  /** HTTP status, if there was an answer. */
  readonly status: number | null;
  /** The service's own words; empty if it gave none. */
  readonly errors: readonly ApiError[];
  /** One sentence without a full stop, safe to show: no token, no signed URL. */
  readonly message: string;
  /** The service said it is in maintenance (503 with X-Maintenance-Mode). */
  readonly maintenance: boolean;
  /** How often the request was sent. */
  readonly attempts: number;
}

/** The token was refused, as a whole or for what was asked: it will be for the next request of the same kind. */
export function isDenied({ status }: Pick<Failure, "status">): boolean {
  return status === 401 || status === 403;
}
