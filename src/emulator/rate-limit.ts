/** The account's request limit: a fixed window, and the headers that every answer carries. */

import type { RateLimit } from "./options.ts";

/** What the headers say when nothing is limited: the general limit of the running service. */
const SHOWN_WITHOUT_LIMIT: RateLimit = { requests: 800, seconds: 120 };

const MILLISECONDS_PER_SECOND = 1000;

export interface RateDecision {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * @param limit null: all are allowed
 * @param now milliseconds since the epoch, of real time: clients compare the reset with their own clock
 */
export function createRateLimiter(limit: RateLimit | null, now: () => number): () => RateDecision {
  const { requests, seconds } = limit ?? SHOWN_WITHOUT_LIMIT;
  const windowMilliseconds = seconds * MILLISECONDS_PER_SECOND;
  let windowEnd = Number.NEGATIVE_INFINITY;
  let used = 0;
  return () => {
    const at = now();
    if (at >= windowEnd) {
      windowEnd = at + windowMilliseconds;
      used = 0;
    }
    const allowed = limit === null || used < requests;
    if (limit !== null && allowed) used += 1;
    return {
      allowed,
      headers: {
        "x-ratelimit-limit": String(requests),
        "x-ratelimit-remaining": String(requests - used),
        "x-ratelimit-reset": String(Math.ceil(windowEnd / MILLISECONDS_PER_SECOND)),
        "retry-after": String(Math.max(1, Math.ceil((windowEnd - at) / MILLISECONDS_PER_SECOND))),
      },
    };
  };
}
