/** Seconds as the service keeps them: other values are rounded at load, so that they compare exactly. */

/**
 * The nearest allowed value, a tie upwards; 0 stays 0, and nothing else becomes 0 (API.md, Domain record, ttl_sec).
 * @param allowed ascending, without 0
 */
export function roundSeconds(value: number, allowed: readonly number[]): number {
  if (value === 0) return 0;
  let best = allowed[0] ?? value;
  for (const candidate of allowed) {
    if (Math.abs(candidate - value) <= Math.abs(best - value)) best = candidate;
  }
  return best;
}
