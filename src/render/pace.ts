/** How long an apply takes at the limit that the service told. */

import type { Pace, Plan } from "../model/plan.ts";
import { count } from "./wording.ts";

const SECONDS_PER_MINUTE = 60;
const SECONDS_PER_HOUR = 3600;

/** `Applying this takes 1000 requests: about 1 min 40 s, if …`, as one sentence or two. */
export function requestsText({ requestCount, pace }: Pick<Plan, "requestCount" | "pace">): string {
  const requests = `Applying this takes ${count(requestCount, "request", "requests")}`;
  if (pace === null || requestCount === 0) return `${requests}.`;
  const limit = `${count(pace.requests, "request", "requests")} per ${durationText(pace.seconds)}`;
  // What it has left of the present window is not known by the time somebody reads this.
  if (requestCount <= pace.requests)
    return `${requests}, within the limit that the service told while reading: ${limit}.`;
  return `${requests}: about ${durationText(leastSeconds(requestCount, pace))}, if the limit is the one that the service told while reading: ${limit}.`;
}

/** As many windows as the requests fill. */
export function leastSeconds(requests: number, pace: Pace): number {
  return (requests / pace.requests) * pace.seconds;
}

/** `8 s`, `1 min 40 s`, `2 h 5 min`: the smaller unit rounded up. */
export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < SECONDS_PER_MINUTE) return `${whole} s`;
  if (whole < SECONDS_PER_HOUR)
    return joined(Math.floor(whole / SECONDS_PER_MINUTE), "min", whole % SECONDS_PER_MINUTE, "s");
  const minutes = Math.ceil(whole / SECONDS_PER_MINUTE);
  return joined(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

function joined(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}
