/**
 * What a client hands on of the limits that it has seen, so that the next one of the same token need not run into a window that is used up. Pure.
 * Whoever hands it on is not trusted: it delays requests for a bounded time, and the first answer takes its place.
 */

import type { Bucket, SharedLimit, WindowObservation } from "./rate-limit.ts";
import { FRESH_BUCKET, isNamedAlike, UNKNOWN_LIMIT } from "./rate-limit.ts";

/** A window that is said to end later is not believed: the service is asked. */
export const MAX_HANDED_MILLISECONDS = 300_000;
/** The API has fewer. */
export const MAX_PACE_ENDPOINTS = 200;

export interface PaceWindow {
  readonly limit: number | null;
  /** Requests that were left. */
  readonly remaining: number;
  /** Milliseconds since the epoch. */
  readonly resetAt: number;
}

/** Where a connection finds what was seen before it, and leaves, when it is closed, what it has seen itself. */
export interface PaceCell {
  seen: SeenLimits | null;
}

/** Plain data: it is kept as JSON. */
export interface SeenLimits {
  /** The lowest count that any endpoint reported last. `isShared`: endpoints are known to draw on it together. */
  readonly common: (PaceWindow & { readonly isShared: boolean }) | null;
  /** Those with a window of their own. */
  readonly endpoints: readonly (PaceWindow & { readonly endpoint: string })[];
}

/** @param now milliseconds since the epoch */
export function paceOf(
  buckets: ReadonlyMap<string, Bucket>,
  { newest, relation }: SharedLimit,
  now: number,
): SeenLimits {
  const isCommon = newest !== null && relation !== "separate" && newest.resetAt > now;
  const endpoints = [...buckets].flatMap(([endpoint, bucket]) => {
    const { limit, remaining, resetAt, pausedUntil } = bucket;
    if (pausedUntil > now) return [{ endpoint, limit, remaining: 0, resetAt: pausedUntil }];
    // An endpoint's own last count says less than the common one, which others have lowered since.
    const isWithin = isCommon && relation === "shared" && isNamedAlike(bucket, newest) && limit === newest.limit;
    if (remaining === null || resetAt <= now || isWithin) return [];
    return [{ endpoint, limit, remaining, resetAt }];
  });
  const common = isCommon
    ? {
        ...{ limit: newest.limit, remaining: newest.remaining, resetAt: newest.resetAt },
        isShared: relation === "shared",
      }
    : null;
  return { common, endpoints: endpoints.slice(0, MAX_PACE_ENDPOINTS) };
}

/** By endpoint. What is over, or would last too long, is left out. */
export function handedBuckets({ endpoints }: SeenLimits, now: number): Map<string, Bucket> {
  const usable = endpoints.slice(0, MAX_PACE_ENDPOINTS).filter((window) => isUsable(window, now));
  return new Map(
    usable.map(({ endpoint, limit, remaining, resetAt }) => [
      endpoint,
      { ...FRESH_BUCKET, limit, remaining, resetAt, isHanded: true },
    ]),
  );
}

/** As long as nothing is known of the window itself, what may be common is taken to be. */
export function handedLimit({ common }: SeenLimits, now: number): SharedLimit {
  if (common === null || common.limit === null || !isUsable(common, now)) return UNKNOWN_LIMIT;
  const { limit, remaining, resetAt } = common;
  return { newest: { endpoint: "", limit, window: null, remaining, resetAt, isHanded: true }, relation: "shared" };
}

/** Two estimates of one reset differ by no more: it is sent in whole seconds. */
const SAME_RESET_MILLISECONDS = 1_500;

/** What the first answer leaves of it: whether there is a common limit, and nothing of the count. */
export function keptLimit({ common }: SeenLimits, answer: WindowObservation): SharedLimit {
  if (common === null) return UNKNOWN_LIMIT;
  const isSameWindow =
    answer.limit === common.limit && Math.abs(answer.resetAt - common.resetAt) <= SAME_RESET_MILLISECONDS;
  // A common count cannot have risen within its window.
  const isShared = isSameWindow ? answer.remaining <= common.remaining : common.isShared;
  return isShared ? { newest: null, relation: "shared" } : UNKNOWN_LIMIT;
}

function isUsable({ resetAt }: PaceWindow, now: number): boolean {
  return resetAt > now && resetAt <= now + MAX_HANDED_MILLISECONDS;
}
