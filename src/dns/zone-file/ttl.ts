/** Times in a zone file: seconds, or numbers with units, `1w2d3h4m5s` (BIND). */

const UNIT_SECONDS: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1 };

/** A word that can only be meant as a time. No type and no class begins with a digit. */
export function looksLikeTime(text: string): boolean {
  return /^\d/.test(text);
}

/** In seconds, not yet held against any bound; or null. */
export function readSeconds(text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^(?:\d+[wdhms])+$/i.test(text)) return null;
  let seconds = 0;
  for (const [, count = "", unit = ""] of text.matchAll(/(\d+)([wdhms])/gi)) {
    seconds += Number(count) * (UNIT_SECONDS[unit.toLowerCase()] ?? 0);
  }
  return seconds;
}
