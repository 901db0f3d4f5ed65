/** "Did you mean": the nearest of the known words to one that is not known. */

import { closest, distance } from "fastest-levenshtein";

/** Words longer than this are no typing errors, and comparing them costs time. */
const MAX_WORD_LENGTH = 64;
/** The beginning of a word that is shorter than this says too little. */
const MIN_PREFIX_LENGTH = 2;

/** @returns the nearest candidate if it is near enough to be meant, else null */
export function nearest(word: string, candidates: readonly string[]): string | null {
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

/** A full sentence: the nearest word, or all of them. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const best = nearest(word, candidates);
  if (best !== null) return `Did you mean \`${best}\`?`;
  if (candidates.length === 0) return "";
  return `Known are: ${candidates.map((candidate) => `\`${candidate}\``).join(", ")}.`;
}
