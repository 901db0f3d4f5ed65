/** Rate limit of one endpoint: what its answers showed, and whether it admits a request now. A pure state machine. */

import type { Method, ObservedLimit } from "../model/api.ts";
import { retryAfterMilliseconds } from "./outcome.ts";
import { backoff, MAX_WINDOW_MILLISECONDS } from "./retry.ts";

/** Least wait after a 429: a reset in whole seconds may be up to one second early. */
const MIN_PAUSE_MILLISECONDS = 1_000;

/**
 * Usual lengths of windows. If another client opened the window, only what is left of it is seen, which is rarely one of these lengths.
 * So no other length is learned: too short a window would make the limit look larger than it is.
 */
const USUAL_WINDOW_SECONDS: readonly number[] = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];

export interface Bucket {
  readonly inFlight: number;
  readonly limit: number | null;
  /** Lowest number of requests left that an answer named for the current window; null: nothing is known. */
  readonly remaining: number | null;
  /** X-RateLimit-Reset as it was sent: identifies the window. */
  readonly window: number | null;
  /** Milliseconds on our own clock. */
  readonly resetAt: number;
  /** The longest time to the reset seen in the first answer of a window, that is, the window's length. null: unknown. */
  readonly windowMilliseconds: number | null;
  /** Some answer showed that requests are counted; without one there may be no limit. */
  readonly isCounted: boolean;
  /** Another client has handed on what is known of the window (`pace.ts`): any answer is newer. */
  readonly isHanded: boolean;
  /** After a 429. */
  readonly pausedUntil: number;
  /** 429s in a row, counted once per pause. */
  readonly refusals: number;
  readonly refusedAt: number;
}

export const FRESH_BUCKET: Bucket = {
  inFlight: 0,
  limit: null,
  remaining: null,
  window: null,
  resetAt: 0,
  windowMilliseconds: null,
  isCounted: false,
  isHanded: false,
  pausedUntil: 0,
  refusals: 0,
  refusedAt: Number.NEGATIVE_INFINITY,
};

/** The answer's part that matters here. `null` where no answer came. */
export interface ObservedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** `answer`: wait for the answer to a request in flight. */
export type Admission =
  | { readonly type: "now" }
  | { readonly type: "answer" }
  | { readonly type: "until"; readonly time: number; readonly because: "used-up" | "refused" };

/**
 * Whether one more request may be sent. What is in flight counts as not yet reported. After a reset, and after a 429,
 * a single request goes first and finds out how many may follow: if the reset was misjudged, that costs one 429, not
 * as many as there are connections.
 */
export function admits(bucket: Bucket, now: number): Admission {
  if (now < bucket.pausedUntil) return { type: "until", time: bucket.pausedUntil, because: "refused" };
  if (bucket.refusals > 0 && bucket.inFlight > 0) return { type: "answer" };
  if (bucket.remaining === null || bucket.remaining > bucket.inFlight) return { type: "now" };
  if (bucket.inFlight > 0) return { type: "answer" };
  return now < bucket.resetAt ? { type: "until", time: bucket.resetAt, because: "used-up" } : { type: "now" };
}

export function started(bucket: Bucket): Bucket {
  return { ...bucket, inFlight: bucket.inFlight + 1 };
}

interface Arrival {
  readonly seen: ObservedAnswer | null;
  readonly sentAt: number;
  readonly now: number;
  readonly random: number;
}

export function ended(bucket: Bucket, arrival: Arrival): Bucket {
  const freed = { ...bucket, inFlight: bucket.inFlight - 1 };
  if (arrival.seen === null) return freed;
  const observation = withWindow(freed, arrival.seen, arrival.now);
  return arrival.seen.status === 429
    ? withRefusal(observation, arrival.seen, arrival)
    : { ...observation, refusals: 0 };
}

function withWindow(bucket: Bucket, answer: ObservedAnswer, now: number): Bucket {
  const remaining = number(answer.headers["x-ratelimit-remaining"]);
  const window = number(answer.headers["x-ratelimit-reset"]);
  const until = timeToReset(answer, now);
  if (remaining === null || until === null) return bucket;
  const limit = number(answer.headers["x-ratelimit-limit"]);
  const resetAt = now + until;
  const isKnown = bucket.remaining !== null && now < bucket.resetAt && !bucket.isHanded;
  const observation = { ...bucket, ...withWindowLength(bucket, { limit, remaining, until }), limit, isHanded: false };
  if (isKnown && isSameWindow(bucket, window, resetAt)) {
    // Answers overtake each other: the lowest count is the latest. The reset is reported in whole seconds, rounded up as
    // far as anyone saw, so that the earliest estimate is the closest.
    const least = Math.min(bucket.remaining ?? remaining, remaining);
    return { ...observation, remaining: least, resetAt: Math.min(bucket.resetAt, resetAt) };
  }
  if (isKnown && window !== null && bucket.window !== null && window < bucket.window) return bucket;
  return { ...observation, remaining, window, resetAt };
}

interface ObservedNow {
  readonly limit: number | null;
  readonly remaining: number;
  /** Milliseconds to the reset. */
  readonly until: number;
}

/** Only the answer to the first request of a window shows the window's whole length; all others show what is left of it. */
function withWindowLength(
  bucket: Bucket,
  { limit, remaining, until }: ObservedNow,
): Pick<Bucket, "windowMilliseconds" | "isCounted"> {
  if (limit === null) return bucket;
  const isOther = bucket.limit !== null && bucket.limit !== limit;
  const earlier = isOther ? null : bucket.windowMilliseconds;
  const windowMilliseconds = remaining >= limit - 1 ? Math.max(earlier ?? 0, until) : earlier;
  return { windowMilliseconds, isCounted: remaining < limit || (bucket.isCounted && !isOther) };
}

function isSameWindow(bucket: Bucket, window: number | null, resetAt: number): boolean {
  if (window !== null && bucket.window !== null) return window === bucket.window;
  return Math.abs(resetAt - bucket.resetAt) <= 1_500;
}

/** Milliseconds. Retry-After first: it is relative and needs no agreement of clocks; else the answer's own Date helps. */
function timeToReset(answer: ObservedAnswer, now: number): number | null {
  const relative = retryAfterMilliseconds(answer.headers["retry-after"], now);
  const reset = number(answer.headers["x-ratelimit-reset"]);
  const theirNow = Date.parse(answer.headers["date"] ?? "");
  const absolute = reset === null ? null : reset * 1000 - (Number.isNaN(theirNow) ? now : theirNow);
  const wait = relative ?? absolute;
  return wait === null ? null : Math.min(Math.max(wait, 0), MAX_WINDOW_MILLISECONDS);
}

function withRefusal(bucket: Bucket, answer: ObservedAnswer, arrival: Arrival): Bucket {
  const { now, sentAt } = arrival;
  // Those sent before the last refusal was known are part of it.
  const refusals = sentAt >= bucket.refusedAt ? bucket.refusals + 1 : bucket.refusals;
  const ordered = retryAfterMilliseconds(answer.headers["retry-after"], now);
  const isBelieved = ordered !== null && ordered <= MAX_WINDOW_MILLISECONDS;
  const pause = Math.max(isBelieved ? ordered : backoff(refusals, arrival.random), MIN_PAUSE_MILLISECONDS);
  const refusedAt = refusals === bucket.refusals ? bucket.refusedAt : now;
  return { ...bucket, refusals, refusedAt, pausedUntil: Math.max(bucket.pausedUntil, now + pause) };
}

function number(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d{1,12}\s*$/.test(text) ? Number(text) : null;
}

/**
 * Limits are counted per endpoint: the method and the path with its ids replaced, for example `PUT /domains/*`.
 * @param path segments, not encoded, of the path that is sent
 */
export function endpointOf(method: Method, path: readonly string[]): string {
  const shape = path.map((segment, index) => {
    const isImageId = path[0] === "images" && index === 1 && segment !== "upload";
    return isImageId || /^\d+$/.test(segment) ? "*" : segment;
  });
  return `${method} /${shape.join("/")}`;
}

/** What an endpoint was last seen to say. */
export interface RateLimitState extends ObservedLimit {
  /** Requests that are left in this window. */
  readonly remaining: number;
  /** Seconds from now; 0 if it has passed. */
  readonly resetSeconds: number;
}

export function observedLimit(endpoint: string, bucket: Bucket, now: number): RateLimitState | null {
  if (bucket.remaining === null || bucket.isHanded) return null;
  const resetSeconds = Math.max(0, Math.ceil((bucket.resetAt - now) / 1000));
  const { limit, remaining } = bucket;
  return { endpoint, limit, remaining, resetSeconds, windowSeconds: windowSeconds(bucket) };
}

/** A reset sent as a time of day may seem one second further away than it is, as both are whole seconds. */
function windowSeconds({ windowMilliseconds, isCounted }: Bucket): number | null {
  if (windowMilliseconds === null || !isCounted) return null;
  const seconds = Math.round(windowMilliseconds / 1000);
  return USUAL_WINDOW_SECONDS.find((usual) => seconds === usual || seconds === usual + 1) ?? null;
}

// Whether endpoints draw on one common limit, and what is left of it. A pure state machine.
// Most services count per endpoint, some per account, and the headers look the same: it is found out from the counts.

/** What one answer said of its window. */
export interface WindowObservation {
  readonly endpoint: string;
  readonly limit: number;
  /** X-RateLimit-Reset as it was sent: identifies the window. null: no answer said it. */
  readonly window: number | null;
  /** As in `Bucket`. */
  readonly isHanded: boolean;
  readonly remaining: number;
  /** Milliseconds on our own clock. */
  readonly resetAt: number;
}

export interface SharedLimit {
  /** The lowest count that any endpoint reported for the newest window. */
  readonly newest: WindowObservation | null;
  /** `separate` is final: a count that rose within a window cannot be a common one. */
  readonly relation: "unknown" | "shared" | "separate";
}

export const UNKNOWN_LIMIT: SharedLimit = { newest: null, relation: "unknown" };

export function observationOf(endpoint: string, bucket: Bucket): WindowObservation | null {
  const { limit, window, remaining, resetAt, isHanded } = bucket;
  if (limit === null || window === null || isHanded || remaining === null) return null;
  return { endpoint, limit, window, remaining, resetAt, isHanded };
}

interface Observed {
  readonly observation: WindowObservation;
  /** What was known when the request was sent: a common count must be lower by the time of its answer. */
  readonly knownWhenSent: WindowObservation | null;
  /** Upper bound on this endpoint's own requests in the count. Null if the endpoint has already been answered in this window. */
  readonly maxOwnRequests: number | null;
}

export function observe(shared: SharedLimit, observed: Observed): SharedLimit {
  const { observation, knownWhenSent, maxOwnRequests } = observed;
  let { relation } = shared;
  if (knownWhenSent !== null && isSameObservedWindow(knownWhenSent, observation)) {
    if (observation.remaining > knownWhenSent.remaining) relation = "separate";
    // More requests were counted than this endpoint can have sent.
    else if (
      relation === "unknown" &&
      maxOwnRequests !== null &&
      observation.limit - observation.remaining > maxOwnRequests
    )
      relation = "shared";
  }
  const newest = shared.newest;
  if (newest === null || isNewerWindow(observation, newest)) return { newest: observation, relation };
  if (!isSameObservedWindow(newest, observation) || observation.remaining >= newest.remaining)
    return { ...shared, relation };
  return { newest: { ...observation, resetAt: Math.min(newest.resetAt, observation.resetAt) }, relation };
}

function isNewerWindow({ window }: WindowObservation, earlier: WindowObservation): boolean {
  return earlier.isHanded || (window ?? 0) > (earlier.window ?? 0);
}

type WindowName = Pick<Bucket, "window" | "isHanded">;

/** What was handed on names no window: it is taken to be one. */
export function isNamedAlike(one: WindowName, other: WindowName): boolean {
  return one.isHanded === other.isHanded && one.window === other.window;
}

function isSameObservedWindow(one: WindowObservation, other: WindowObservation): boolean {
  return one.limit === other.limit && isNamedAlike(one, other);
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
  if (!isNamedAlike(bucket, newest)) {
    const hasSpoken = bucket.remaining !== null && !bucket.isHanded;
    if (hasSpoken && now < bucket.resetAt) return { type: "now" };
    if (relation === "unknown" && bucket.inFlight === 0) return { type: "now" };
  }
  if (newest.remaining > 0 || relation === "unknown") return { type: inFlight > 0 ? "answer" : "now" };
  return { type: "until", time: newest.resetAt, because: "used-up" };
}
