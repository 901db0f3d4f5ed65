/** Values as text: quoted where a reader must see where they end, on two lines where one is too short. */

import type { Json } from "../model/resource.ts";
import { escapeText } from "./escape.ts";
import { columnsOf, shorten } from "./width.ts";

export const ARROW = "→";

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

/** Two long values, each within `columns`, cut so that the place where they differ is seen. */
export function fitPair(before: Shown, after: Shown, columns: number): readonly [string, string] {
  if (Math.max(columnsOf(before.text), columnsOf(after.text)) <= columns) return [before.text, after.text];
  let shared = 0;
  while (shared < before.text.length && before.text[shared] === after.text[shared]) shared += 1;
  if (shared <= SHARED_CONTEXT_CHARACTERS * 2) return [fitted(before, columns), fitted(after, columns)];
  let from = shared - SHARED_CONTEXT_CHARACTERS;
  // Not between the halves of a surrogate pair.
  if (/[\udc00-\udfff]/.test(before.text[from] ?? "")) from += 1;
  return [fitFrom(before, from, columns), fitFrom(after, from, columns)];
}

/** Its beginning is missing, so its size is said even if the rest fits. */
function fitFrom(shown: Shown, from: number, columns: number): string {
  const rest = shown.text.slice(from);
  const size = ` (${shown.bytes} bytes)`;
  if (columnsOf(rest) + size.length < columns) return `…${rest}${size}`;
  // One column less than it takes, so that `shorten` has to say how long it is.
  return `…${shorten(rest, Math.min(columns, columnsOf(rest)) - 1, shown.bytes)}`;
}
