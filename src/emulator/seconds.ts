/** The rounding of `*_sec` values (API.md, Domain record, ttl_sec; the same list holds for domains). */

const ALLOWED_SECONDS = [
  300, 3_600, 7_200, 14_400, 28_800, 57_600, 86_400, 172_800, 345_600, 604_800, 1_209_600, 2_419_200,
];

/** The running service keeps these too. */
const ALSO_ALLOWED_ELSEWHERE = [30, 120];

/**
 * Makes the function that rounds seconds to what is allowed: 0, "the service's default", stays 0 and nothing else becomes it.
 * Of two equally near values the greater one is taken. Above the greatest, the greatest; below the least, negative ones too, the least.
 */
export function secondsRounding(word: string, mode: "nearest" | "up"): (seconds: number) => number {
  const allowed = word === "node" ? ALLOWED_SECONDS : [...ALSO_ALLOWED_ELSEWHERE, ...ALLOWED_SECONDS];
  return (seconds) => {
    if (seconds === 0) return 0;
    const above = allowed.find((value) => value >= seconds);
    if (above === undefined) return allowed.at(-1) ?? 0;
    const below = allowed.findLast((value) => value <= seconds);
    if (mode === "up" || below === undefined) return above;
    return seconds - below < above - seconds ? below : above;
  };
}
