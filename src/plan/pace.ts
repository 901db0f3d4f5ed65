/** Which of the limits that the service told is the one that an apply will meet. */

import type { ToldLimit } from "../model/exchange.ts";
import type { Pace } from "../model/plan.ts";
import type { Step } from "../model/step.ts";

/**
 * The tightest limit told of what the steps are about, as far as reading met it: limits may be counted per endpoint, and of
 * those that only change something nothing is known before.
 * @returns null if the service told none, or not how long it lasts
 */
export function paceOf(limits: readonly ToldLimit[], steps: readonly Step[]): Pace | null {
  const touched = new Set(steps.flatMap((step) => (step.type === "upload" ? [] : [String(step.path[0])])));
  const known = limits.filter(({ windowSeconds }) => windowSeconds !== null);
  let pace: Pace | null = null;
  for (const { endpoint, limit, windowSeconds } of limits) {
    if (limit === null || limit === 0 || !touched.has(collectionOf(endpoint))) continue;
    // A common window is opened by one endpoint only, and that one learns its length.
    const seconds = windowSeconds ?? windowOf(limit, collectionOf(endpoint), known);
    if (seconds === null) continue;
    if (pace === null || limit / seconds < pace.requests / pace.seconds) pace = { requests: limit, seconds };
  }
  return pace;
}

/** Of an equal limit of the same collection, else the shortest of any. */
function windowOf(limit: number, collection: string, known: readonly ToldLimit[]): number | null {
  const equal = known.filter((other) => other.limit === limit);
  const near = equal.filter(({ endpoint }) => collectionOf(endpoint) === collection);
  const seconds = (near.length > 0 ? near : equal).map(({ windowSeconds }) => windowSeconds ?? 0);
  return seconds.length === 0 ? null : seconds.reduce((least, one) => Math.min(least, one));
}

/** `GET /domains/*` → `domains` */
function collectionOf(endpoint: string): string {
  return endpoint.split("/", 2)[1] ?? "";
}
