/** Values as text: quoted where a reader must see where they end, on two lines where one is too short. */

import type { Json } from "../model/resource.ts";
import { escapeText } from "./escape.ts";
import { columnsOf, cut, shorten } from "./width.ts";

export const ARROW = "→";

/** Before each line of a value but its first. */
const CONTINUED = "│ ";

/** Characters of what two long values share that are kept for orientation. */
const SHARED_CONTEXT_CHARACTERS = 12;

/** JSON with blanks and escapes; undefined is nothing at all. */
export function valueText(value: Json | undefined): string {
  if (value === undefined || value === null) return "none";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => valueText(item)).join(", ")}]`;
  if (typeof value === "object") {
    const entries = Object.entries(value).map(([key, item]) => `${escapeText(key)}: ${valueText(item as Json)}`);
    return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
  }
  return String(value);
}

export function quoted(text: string): string {
  return `"${escapeText(text.replace(/["\\]/g, (character) => `\\${character}`))}"`;
}

/** A value as it is shown, and how long it really is. */
export interface Shown {
  readonly text: string;
  /** Of the value itself in UTF-8, without quotes and escapes. */
  readonly bytes: number;
}

export function shownValue(value: Json | undefined): Shown {
  const text = valueText(value);
  return { text, bytes: Buffer.byteLength(typeof value === "string" ? value : text) };
}

/** One value within `columns`, shortened if it must be. */
export function fitted(shown: Shown, columns: number): string {
  return shorten(shown.text, columns, shown.bytes);
}

/**
 * `before → after` if that fits into `columns`; else null: they need a line each.
 * A side that is undefined is not there at all.
 */
export function inline(before: Shown | undefined, after: Shown | undefined, columns: number): string | null {
  const sides = [before, after].flatMap((side) => (side === undefined ? [] : [side.text]));
  const text = sides.join(` ${ARROW} `);
  return columnsOf(text) <= columns ? text : null;
}

/**
 * A value on as many lines as it takes, so that nothing of it is hidden. Each but the first begins with a mark that no line of a plan has.
 * A line ends before a blank if there is one near its end.
 */
export function folded(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (let rest = text, mark = ""; rest !== ""; mark = CONTINUED) {
    const room = columns - mark.length;
    const most = cut(rest.slice(0, columns), room);
    const blank = most.lastIndexOf(" ");
    const isBefore = most.length < rest.length && blank > most.length - room / 3;
    // At least something, or it would never end.
    const part = (isBefore ? most.slice(0, blank) : most) || rest.slice(0, 2);
    lines.push(mark + part);
    rest = rest.slice(part.length);
  }
  return lines;
}

/** The sign before the first line, and blanks before those that continue it. */
export function signed(sign: string, [first = "", ...rest]: readonly string[]): string[] {
  return [sign + first, ...rest.map((line) => " ".repeat(sign.length) + line)];
}

/**
 * Two long values: what both share at their beginnings and ends is left out, with its size said; what differs is there as a whole.
 * One that is left out has nothing of the other's difference in it.
 */
export function differing(before: Shown, after: Shown): readonly [string, string] {
  const [a, b] = [before.text, after.text];
  const least = Math.min(a.length, b.length);
  let start = 0;
  while (start < least && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < least - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const from = start <= SHARED_CONTEXT_CHARACTERS * 2 ? 0 : start - SHARED_CONTEXT_CHARACTERS;
  const left = end <= SHARED_CONTEXT_CHARACTERS * 2 ? 0 : end - SHARED_CONTEXT_CHARACTERS;
  return [between(before, from, left), between(after, from, left)];
}

function between({ text, bytes }: Shown, from: number, left: number): string {
  if (from === 0 && left === 0) return text;
  const part = text.slice(from, text.length - left).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  return `${from === 0 ? "" : "…"}${part}${left === 0 ? "" : "…"} (${bytes} bytes)`;
}
