/** A list within a sentence: its first names, and how many more there are. */

/** So many are named. */
const MAX_NAMED = 3;

/** `a, b, c and 9 more` */
export function someOf(names: readonly string[], most: number = MAX_NAMED): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
