/**
 * Whether endpoints draw on one common limit, and what is left of it. A pure state machine.
 * Most services count per endpoint, some per account, and the headers look the same: it is found out from the counts.
 */

import type { Admission, Bucket } from "./rate-limit.ts";

/** What one answer said of its window. */
export interface Told {
  readonly endpoint: string;
  readonly limit: number;
  /** X-RateLimit-Reset as it was told: names the window. */
  readonly window: number;
  readonly remaining: number;
  /** Milliseconds on our own clock. */
  readonly resetAt: number;
}

export interface SharedLimit {
  /** Of the newest window, the lowest count told by any endpoint. */
  readonly newest: Told | null;
  /** `separate` is final: a count that rose within a window cannot be a common one. */
  readonly relation: "unknown" | "shared" | "separate";
}

export const UNKNOWN_LIMIT: SharedLimit = { newest: null, relation: "unknown" };

export function toldBy(endpoint: string, bucket: Bucket): Told | null {
  const { limit, window, remaining, resetAt } = bucket;
  if (limit === null || window === null || remaining === null) return null;
  return { endpoint, limit, window, remaining, resetAt };
}

export interface Lesson {
  readonly told: Told;
  /** What was known when the request was sent: a common count must be lower by the time of its answer. */
  readonly before: Told | null;
  /** The endpoint had not spoken of this window, and so many of its requests could have been counted at most. */
  readonly firstOf: number | null;
}

export function learn(shared: SharedLimit, lesson: Lesson): SharedLimit {
  const { told, before, firstOf } = lesson;
  let { relation } = shared;
  if (before !== null && isSameWindow(before, told)) {
    if (told.remaining > before.remaining) relation = "separate";
    // More is gone than this endpoint can have used.
    else if (relation === "unknown" && firstOf !== null && told.limit - told.remaining > firstOf) relation = "shared";
  }
  const newest = shared.newest;
  if (newest === null || told.window > newest.window) return { newest: told, relation };
  if (!isSameWindow(newest, told) || told.remaining >= newest.remaining) return { ...shared, relation };
  return { newest: { ...told, resetAt: Math.min(newest.resetAt, told.resetAt) }, relation };
}

function isSameWindow(one: Told, other: Told): boolean {
  return one.limit === other.limit && one.window === other.window;
}

/**
 * Whether the common limit, if there is one, admits one more request of this endpoint. As long as it is not known to
 * be common, an endpoint that has not spoken of the window may send one request to find out.
 * @param inFlight of all endpoints
 */
export function sharedAdmits(shared: SharedLimit, bucket: Bucket, inFlight: number, now: number): Admission {
  const { newest, relation } = shared;
  if (newest === null || relation === "separate" || now >= newest.resetAt) return { type: "now" };
  if (newest.remaining > inFlight || (bucket.limit !== null && bucket.limit !== newest.limit)) return { type: "now" };
  if (bucket.window !== newest.window) {
    if (bucket.remaining !== null && now < bucket.resetAt) return { type: "now" };
    if (relation === "unknown" && bucket.inFlight === 0) return { type: "now" };
  }
  if (newest.remaining > 0 || relation === "unknown") return { type: inFlight > 0 ? "answer" : "now" };
  return { type: "until", time: newest.resetAt, because: "used-up" };
}
