/** The part of a source line around a span that fits the terminal, escaped, with the columns to mark. */

import { escapeText } from "./escape.ts";
import { columnsOf } from "./width.ts";

export interface Excerpt {
  readonly text: string;
  /** Columns before the mark, and columns marked; at least one is. */
  readonly before: number;
  readonly marked: number;
}

/** A tab is shown as this many spaces: where the next stop is depends on the terminal. */
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
  // Only characters near the span can be shown: a line of megabytes is not looked through.
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

/** Not between the halves of a surrogate pair. */
function snap(line: string, index: number): number {
  const unit = line.charCodeAt(index);
  return index > 0 && unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}

function cellsOf(line: string, from: number, to: number, start: number, end: number): Cell[] {
  const cells: Cell[] = [];
  let offset = from;
  for (const character of line.slice(from, to)) {
    const marked = offset >= start && offset < Math.max(end, start + 1);
    offset += character.length;
    const text = character === "\t" ? " ".repeat(TAB_COLUMNS) : escapeText(character);
    cells.push({ text, width: columnsOf(text), marked });
  }
  return cells;
}

/** Keeps the anchor in sight: with up to a third of the width before it, and as much behind it as fits. */
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
