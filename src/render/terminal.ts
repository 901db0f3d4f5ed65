/** Escaping: text from the service or a manifest must not control a terminal, hide anything, or pass for our own words. */

import { eastAsianWidth } from "get-east-asian-width";
import { isPlain, UNSAFE } from "../model/text.ts";

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text on one line, with everything that is not plainly visible as `\n`, `\t` or `\u{1b}`. */
export function escapeText(text: string): string {
  return escapeWith(text, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return SHORT[character] ?? `\\u{${codePoint(character, 1)}}`;
}

/** The same for YAML in double quotes, whose escapes have no braces; line breaks are left to the caller. */
export function escapeYaml(text: string): string {
  return escapeWith(text, (character) => {
    if (character === "\n") return character;
    return character.length > 1 ? `\\U${codePoint(character, 8)}` : `\\u${codePoint(character, 4)}`;
  });
}

/** Whether nothing in the text would be escaped, apart from line breaks. */
export function isPlainlyVisible(text: string): boolean {
  return escapeYaml(text) === text;
}

function escapeWith(text: string, written: (character: string) => string): string {
  return isPlain(text) ? text : text.replace(UNSAFE, written);
}

function codePoint(character: string, digits: number): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(digits, "0");
}

// The part of a source line around a span that fits the terminal, escaped, with the columns to mark.

export interface Excerpt {
  readonly text: string;
  /** Columns before the mark; `marked`: columns that are marked, at least one. */
  readonly before: number;
  readonly marked: number;
}

/** A tab is shown as this many spaces, as tab stops depend on the terminal. */
const TAB_COLUMNS = 2;
const ELLIPSIS = "…";

interface Cell {
  readonly text: string;
  readonly width: number;
  readonly marked: boolean;
}

/**
 * @param start UTF-16 offset in the line
 * @param end may lie beyond the line; then the rest of the line is marked
 */
export function excerpt(line: string, start: number, end: number, width: number): Excerpt {
  // Only characters near the span can be shown, so a line of megabytes is not scanned.
  const from = snap(line, Math.max(0, start - width));
  const to = snap(line, Math.min(line.length, Math.max(start, Math.min(end, start + width)) + width));
  const cells = cellsOf(line, from, to, start, end);
  const first = Math.max(
    0,
    cells.findIndex((cell) => cell.marked),
  );
  const anyMarked = cells.some((cell) => cell.marked);
  const anchor = anyMarked ? first : cells.length;
  return window(cells, anchor, width, from > 0, to < line.length);
}

/** Moves an index out of the middle of a surrogate pair. */
function snap(line: string, index: number): number {
  const unit = line.charCodeAt(index);
  return index > 0 && unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}

function cellsOf(line: string, from: number, to: number, start: number, end: number): Cell[] {
  const part = line.slice(from, to);
  // What stands before a mark or a selector decides whether it is shown.
  const unsafe = new Set([...part.matchAll(UNSAFE)].map(({ index }) => from + index));
  const cells: Cell[] = [];
  let offset = from;
  for (const character of part) {
    const marked = offset >= start && offset < Math.max(end, start + 1);
    const shown = unsafe.has(offset) ? escapeCharacter(character) : character;
    const text = character === "\t" ? " ".repeat(TAB_COLUMNS) : shown;
    cells.push({ text, width: columnsOf(text), marked });
    offset += character.length;
  }
  return cells;
}

/** The part of the line around the anchor: up to a third of the width before it, and as much after it as fits. */
function window(cells: readonly Cell[], anchor: number, width: number, cutBefore: boolean, cutAfter: boolean): Excerpt {
  const total = cells.reduce((sum, cell) => sum + cell.width, 0);
  let left = 0;
  let right = cells.length;
  if (cutBefore || cutAfter || total > width) {
    const beforeAnchor = cells.slice(0, anchor).reduce((sum, cell) => sum + cell.width, 0);
    left = cutBefore || beforeAnchor > width / 2 ? leftOf(cells, anchor, Math.floor(width / 3)) : 0;
    right = rightOf(cells, left, width - 2 * ELLIPSIS.length);
  }
  const head = left > 0 || cutBefore ? ELLIPSIS : "";
  const tail = right < cells.length || cutAfter ? ELLIPSIS : "";
  const shown = cells.slice(left, right);
  const before = cells.slice(left, Math.min(anchor, right)).reduce((sum, cell) => sum + cell.width, head.length);
  const marked = shown.filter((cell) => cell.marked).reduce((sum, cell) => sum + cell.width, 0);
  return { text: head + shown.map((cell) => cell.text).join("") + tail, before, marked: Math.max(1, marked) };
}

function leftOf(cells: readonly Cell[], anchor: number, room: number): number {
  let left = anchor;
  for (let used = 0; left > 0; left -= 1) {
    used += cells[left - 1]?.width ?? 0;
    if (used > room) break;
  }
  return left;
}

function rightOf(cells: readonly Cell[], left: number, room: number): number {
  let right = left;
  for (let used = 0; right < cells.length; right += 1) {
    used += cells[right]?.width ?? 0;
    if (used > room) break;
  }
  return right;
}

// Widths and wrapping: how many columns a text takes, and how it is laid out within a width.

/** The width without a terminal: mail, code reviews and old terminals all show it. */
export const DEFAULT_WIDTH_COLUMNS = 80;
/** Text is not wrapped narrower than this, as it would not be readable: the terminal wraps the lines. */
const MIN_WIDTH_COLUMNS = 40;

/** Ideographs, numbers in circles and emoji, assigned or not: to take a narrow one for wide only breaks a line early. */
const WIDE_BLOCKS =
  /[\u2e80-\u303e\u3248-\u324f\u3400-\u9fff\u{16fe0}-\u{18dff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Marks that take no column in any terminal. Those that Unicode has added since take one where its version is not known. */
const WITHOUT_WIDTH = /(?=\p{Mn}|\p{Me})[\u0300-\u06ff\u0900-\u097f\u0e00-\u0eb9\u0ec8-\u0ecd\u3099\u309a]/u;
const PLAIN = /^[\x20-\x7e]*$/;

/** Columns of a terminal, for text that is already escaped. */
export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += columnsOfCharacter(character);
  return columns;
}

/** Filled with blanks up to so many columns. */
export function padded(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - columnsOf(text)));
}

function columnsOfCharacter(character: string): 0 | 1 | 2 {
  if (WITHOUT_WIDTH.test(character)) return 0;
  // Beside East Asian Wide and Fullwidth (UAX #11): some terminals give an unassigned character of these blocks two columns, too.
  return WIDE_BLOCKS.test(character) || eastAsianWidth(character.codePointAt(0) ?? 0) === 2 ? 2 : 1;
}

export function usableWidth(width: number): number {
  return Math.max(width, MIN_WIDTH_COLUMNS);
}

// Every line of our own begins at an even column. What goes on with a line, and lists of names, stand at an odd one: wherever a text of
// others is broken at a blank, no part of it stands where a line of ours begins. A word stays whole, to be copied: what is longer than a line is
// broken by the terminal.

/** How far a text that begins at an even column is moved to the right where it goes on: an odd number. */
export const HANGING_COLUMNS = 3;

/** Words on lines of at most `width` columns, the first after `indent` blanks; the others hang. A longer word stays whole. */
export function wrap(text: string, width: number, indent: number): string[] {
  return fill(text.split(" "), width, indent);
}

/** A text that is not yet escaped, from the first column on; newline-terminated. */
export function paragraph(text: string, width: number): string {
  return `${wrap(escapeText(text), usableWidth(width), 0).join("\n")}\n`;
}

/** Items with commas between them, on lines as of `wrap`. A longer item stays whole. */
export function wrapItems(items: readonly string[], width: number, indent: number): string[] {
  return fill(
    items.map((item, index) => (index < items.length - 1 ? `${item},` : item)),
    width,
    indent,
  );
}

/** Words as of `wrap`, of which the first stand behind `lead`. */
export function hang(lead: string, text: string, width: number): [string, ...string[]] {
  const indent = columnsOf(lead);
  const [first = "", ...rest] = wrap(text, width, indent);
  return [lead + first.slice(indent), ...rest];
}

function fill(words: readonly string[], width: number, indent: number): string[] {
  const hanging = indent % 2 === 0 ? indent + HANGING_COLUMNS : indent;
  const lines: string[] = [];
  let [start, line, columns] = [indent, "", 0];
  for (const word of words) {
    const more = columnsOf(word);
    if (line !== "" && start + columns + 1 + more > width) {
      lines.push(" ".repeat(start) + line);
      [start, line, columns] = [hanging, "", 0];
    }
    columns += line === "" ? more : 1 + more;
    line = line === "" ? word : `${line} ${word}`;
  }
  if (line !== "") lines.push(" ".repeat(start) + line);
  return lines;
}

/**
 * A text that is too long becomes `head…tail (1234 bytes)`, so that the cut is always visible.
 * @param text as it is shown, escaped
 * @param bytes of the value itself, in UTF-8
 */
export function shorten(text: string, columns: number, bytes: number | null): string {
  if (fits(text, columns)) return text;
  const size = byteText(bytes);
  const room = Math.max(columns - size.length - 1, 8);
  const tailColumns = Math.floor(room / 3);
  return `${cut(text, room - tailColumns)}…${cutToEnd(text, tailColumns)}${size}`;
}

/** Behind a text of which a part is left out; null: nothing can be said of its size. */
export function byteText(bytes: number | null): string {
  return bytes === null ? "" : ` (${bytes} bytes)`;
}

/** Whether the text takes no more than so many columns, and is not much longer than they say (`MAX_UNITS_PER_COLUMN`). */
export function fits(text: string, columns: number): boolean {
  return headEnd(text, columns) === text.length;
}

/** As much of the end as fits into `columns`. */
export function cutToEnd(text: string, columns: number): string {
  return text.slice(tailStart(text, columns));
}

/** As much of the beginning as fits into `columns`. */
export function cut(text: string, columns: number): string {
  return text.slice(0, headEnd(text, columns));
}

// Only what is shown of a text is looked at: the text may have megabytes.

/** UTF-16 code units: thousands of combining characters take no column. Scripts that are written with them have about two. */
const MAX_UNITS_PER_COLUMN = 4;

/** Where the part at the beginning ends that fits into `columns`. */
function headEnd(text: string, columns: number): number {
  let end = 0;
  let used = 0;
  for (const character of text) {
    used += columnsOfCharacter(character);
    if (used > columns || end + character.length > columns * MAX_UNITS_PER_COLUMN) break;
    end += character.length;
  }
  return end;
}

/** Where the part at the end begins that fits into `columns`. */
function tailStart(text: string, columns: number): number {
  let start = text.length;
  for (let used = 0; start > 0; ) {
    const before = start - (isPair(text, start - 2) ? 2 : 1);
    used += columnsOfCharacter(text.slice(before, start));
    if (used > columns || text.length - before > columns * MAX_UNITS_PER_COLUMN) break;
    start = before;
  }
  return start;
}

/** Whether the two code units from there on are one character. */
function isPair(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}
