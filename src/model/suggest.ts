/** "Did you mean": the nearest of the known words to one that is not known. */

import { closest, distance } from "fastest-levenshtein";

/** Words longer than this are no typing errors, and comparing them costs time. */
const MAX_WORD_LENGTH = 64;
/** The beginning of a word that is shorter than this says too little. */
const MIN_PREFIX_LENGTH = 2;

/** Beyond this the comparison of many unknown words with many known ones would take too long. */
const MAX_COMPARED_WORDS = 500;
/** More names than this help nobody. */
const MAX_LISTED_NAMES = 12;

/**
 * @param most how many are compared at most
 * @returns the nearest candidate if it is near enough to be meant, else null
 */
export function nearest(word: string, known: readonly string[], most: number = MAX_COMPARED_WORDS): string | null {
  const candidates = known.slice(0, most);
  if (candidates.length === 0 || word.length === 0 || word.length > MAX_WORD_LENGTH) return null;
  const lower = word.toLowerCase();
  const same = candidates.find((candidate) => candidate.toLowerCase() === lower);
  if (same !== undefined) return same;
  const best = closest(lower, candidates);
  // Two letters changed places are a distance of two.
  const allowed = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3));
  return distance(lower, best.toLowerCase()) <= allowed ? best : onlyLonger(lower, candidates);
}

/** `ttl` for `ttl_sec`, `desc` for `description`: if there is but one word that goes on like this. */
function onlyLonger(lower: string, candidates: readonly string[]): string | null {
  if (lower.length < MIN_PREFIX_LENGTH) return null;
  const longer = candidates.filter((candidate) => candidate.toLowerCase().startsWith(lower));
  return longer.length === 1 ? (longer[0] ?? null) : null;
}

/** `` `a`, `b` and 3,990 more ``. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED_NAMES).map((name) => `\`${name}\``);
  const rest = names.length - shown.length;
  return rest === 0 ? shown.join(", ") : `${shown.join(", ")} and ${rest.toLocaleString("en")} more`;
}

/** A full sentence: the nearest word, or the known ones. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const best = nearest(word, candidates);
  if (best !== null) return `Did you mean \`${best}\`?`;
  if (candidates.length === 0) return "";
  return `Known are: ${listNames(candidates)}.`;
}
