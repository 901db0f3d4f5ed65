/** Seconds as the service keeps them: other values are rounded when a manifest is loaded, so that they compare exactly. */

import type { Span } from "../../model/diagnostic.ts";
import type { ZoneContext } from "./spec.ts";

/** What the service keeps for `entry[key]`, with a warning if that is another number; 0 if nothing is written. */
export function loadSeconds<Key extends string>(
  entry: { readonly [K in Key]?: number | null },
  key: Key,
  context: ZoneContext,
): number {
  return roundedSeconds(entry[key] ?? 0, key, () => context.span(entry, key), context);
}

/** What the service keeps for so many seconds, with a warning at `span` if that is another number. */
export function roundedSeconds(written: number, key: string, span: () => Span, context: ZoneContext): number {
  const rounded = roundSeconds(written, context.allowedSeconds);
  if (rounded !== written) {
    context.report({
      code: "rounded-seconds",
      severity: "warning",
      summary: `\`${key}\` is rounded to ${rounded}`,
      detail: `The service does not keep ${written} seconds; the nearest value it keeps is ${rounded}.`,
      fix: `Write ${rounded}.`,
      corrections: [{ from: String(written), to: String(rounded) }],
      span: span(),
    });
  }
  return rounded;
}

/**
 * The nearest allowed value, a tie upwards; 0 stays 0, and nothing else becomes 0 (API.md, Domain record, ttl_sec).
 * @param allowed ascending, without 0
 */
function roundSeconds(value: number, allowed: readonly number[]): number {
  if (value === 0) return 0;
  let best = allowed[0] ?? value;
  for (const candidate of allowed) {
    if (Math.abs(candidate - value) <= Math.abs(best - value)) best = candidate;
  }
  return best;
}
