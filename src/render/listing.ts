/** Lists of what is in the account, as a table for people, and as JSON and CSV for programs. */

import type { JsonObject } from "../model/resource.ts";
import { jsonText } from "../model/text.ts";
import { columnsOf, escapeText, padded, shorten } from "./terminal.ts";

/** A value of the service. null: there is none. */
export type Cell = string | number | boolean | null;

export interface Column<Row> {
  /** As JSON and CSV name it. */
  readonly field: string;
  /** As the table names it; null: it is not in the table. */
  readonly heading: string | null;
  value(row: Row): Cell;
  /** For the table, where it shows another value than programs get. */
  shown?(row: Row): Cell;
  /** For a page, which has room for all of what `shown` cuts. */
  whole?(row: Row): Cell;
}

const BETWEEN = "  ";
const NOTHING = "-";
/** A longer cell stands out of its column: otherwise one value of the service would fill all other rows with blanks. */
const MAX_ALIGNED_COLUMNS = 100;

/** No column becomes narrower than that to fit a terminal. */
const MIN_CUT_COLUMNS = 9;

/**
 * A heading and a line for each row, newline-terminated. Whatever the service said is escaped.
 * @param width columns of a terminal: cells of the widest columns are cut in their middle until the lines fit, if they can. null: nothing is cut
 */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width: number | null = null,
): string {
  const shown = columns.filter(({ heading }) => heading !== null);
  const lines = [
    shown.map(({ heading }) => heading ?? ""),
    ...rows.map((row) => shown.map((column) => plain((column.shown ?? column.value)(row)))),
  ];
  const sizeOf = width === null ? widthOf : columnsOf;
  const whole = shown.map((_, index) => lines.reduce((most, line) => Math.max(most, sizeOf(line[index] ?? "")), 0));
  const widths = width === null ? whole : fitting(whole, width);
  const cut = (cell: string, columns: number): string => (width === null ? cell : shorten(cell, columns, null));
  return lines
    .map((cells) => cells.map((cell, index) => padded(cut(cell, widths[index] ?? 0), widths[index] ?? 0)).join(BETWEEN))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

/** Widths of columns that fit: the widest are narrowed first, to one width. */
function fitting(whole: readonly number[], width: number): number[] {
  const room = Math.max(0, width - BETWEEN.length * (whole.length - 1));
  const total = (most: number): number => whole.reduce((sum, columns) => sum + Math.min(columns, most), 0);
  let most = whole.reduce((widest, columns) => Math.max(widest, columns), MIN_CUT_COLUMNS);
  while (most > MIN_CUT_COLUMNS && total(most) > room) most -= 1;
  // What one column less takes from several of them is more than was wanted: the first ones get it back.
  let spare = Math.max(0, room - total(most));
  return whole.map((columns) => {
    if (columns <= most || spare === 0) return Math.min(columns, most);
    spare -= 1;
    return most + 1;
  });
}

function widthOf(cell: string): number {
  const columns = columnsOf(cell);
  return columns > MAX_ALIGNED_COLUMNS ? 0 : columns;
}

function plain(cell: Cell): string {
  if (cell === null || cell === "") return NOTHING;
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  return escapeText(String(cell));
}

/** The version of `schemas/list.schema.json`. */
const LIST_FORMAT_VERSION = 1;

/** `{ "format_version": 1, KIND: […] }`, newline-terminated, one row a line. */
export function renderListJson<Row>(kind: string, rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = rows.map((row): string => {
    const object: JsonObject = Object.fromEntries(columns.map((column) => [column.field, column.value(row)]));
    return `    ${jsonText(object)}`;
  });
  const list = lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n  ]`;
  return `{\n  "format_version": ${LIST_FORMAT_VERSION},\n  ${jsonText(kind)}: ${list}\n}\n`;
}

/** RFC 4180 with a header, and a line feed at the end of each line. A value that is not there is an empty cell. */
export function renderCsv<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [
    columns.map(({ field }) => field),
    ...rows.map((row) => columns.map((column) => csvCell(column.value(row)))),
  ];
  return lines.map((cells) => `${cells.join(",")}\n`).join("");
}

/**
 * A spreadsheet takes a text for a formula if it begins with one of these, the wide forms included: it gets an apostrophe before it, which
 * makes it text there. Blanks before the sign do not keep it from being one.
 */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
/** Separators of any spreadsheet, and what would be lost at the ends of a cell. */
const TO_QUOTE = /[",;\t']|^\s|\s$/;

function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell !== "string") return String(cell);
  const escaped = escapeText(cell);
  const text = FORMULA.test(escaped) ? `'${escaped}` : escaped;
  return TO_QUOTE.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
