/** Pace of an apply: the tightest observed rate limit among the collections that its steps change. */

import type { ObservedLimit } from "../model/api.ts";
import type { Pace, Step } from "../model/plan.ts";

/**
 * The tightest limit that was observed while reading, among the collections that the steps change. Limits may be counted per endpoint,
 * and nothing is known of an endpoint that only changes something.
 * @returns null if no answer named a limit, or how long its window lasts
 */
export function rateOf(limits: readonly ObservedLimit[], steps: readonly Step[]): Pace | null {
  const touched = new Set(steps.flatMap((step) => (step.type === "upload" ? [] : [String(step.path[0])])));
  const known = limits.filter(({ windowSeconds }) => windowSeconds !== null);
  let pace: Pace | null = null;
  for (const { endpoint, limit, windowSeconds } of limits) {
    if (limit === null || limit === 0 || !touched.has(collectionOf(endpoint))) continue;
    // If several endpoints share a window, only the endpoint that opened it shows the window's full length.
    const seconds = windowSeconds ?? windowOf(limit, collectionOf(endpoint), known);
    if (seconds === null) continue;
    if (pace === null || limit / seconds < pace.requests / pace.seconds) pace = { requests: limit, seconds };
  }
  return pace;
}

/** The shortest window of an equal limit of the same collection, else of an equal limit of any collection. */
function windowOf(limit: number, collection: string, known: readonly ObservedLimit[]): number | null {
  const equal = known.filter((other) => other.limit === limit);
  const near = equal.filter(({ endpoint }) => collectionOf(endpoint) === collection);
  const seconds = (near.length > 0 ? near : equal).map(({ windowSeconds }) => windowSeconds ?? 0);
  return seconds.length === 0 ? null : seconds.reduce((least, one) => Math.min(least, one));
}

/** `GET /domains/*` → `domains` */
function collectionOf(endpoint: string): string {
  return endpoint.split("/", 2)[1] ?? "";
}
