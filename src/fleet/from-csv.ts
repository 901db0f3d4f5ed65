/** A list of accounts as CSV, one account a line → the text of a fleet file, or every error there is in the list, where it stands. */

import { basename, resolve } from "node:path";
import { whereNamedLinkLeads } from "../files/paths.ts";
import { arrange } from "../manifest/assemble.ts";
import { readSource } from "../manifest/files.ts";
import { newMapping, Places } from "../manifest/positions.ts";
import { type Diagnostic, hasErrors, Sources, type Span } from "../model/diagnostic.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { nearest } from "../model/text.ts";
import { escapeYaml, isPlainlyVisible } from "../render/terminal.ts";
import { checkAccounts, linked, MAX_ACCOUNTS } from "./fleet-file.ts";

export interface FleetFromCsv {
  /** The fleet file, newline-terminated; null if there are errors. */
  readonly text: string | null;
  /** How many accounts it has. */
  readonly accounts: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: Sources;
}

export interface CsvOptions {
  /** What accounts have that name no project, relative to the fleet file. null: each has to name one. */
  readonly project: string | null;
  /** The fleet file's folder, absolute. */
  readonly folder: string;
}

/** The most bytes of one line: a quote that is not closed must not make one cell of the whole file. */
const MAX_LINE_BYTES = 1024 * 1024;
/** As many as an account can use, and some that are empty. */
const MAX_COLUMNS = 1024;

/** Columns that are keys of an account. */
const KEYS: readonly string[] = ["name", "project", "environment", "service", "base_url", "dialect", "account"];
/** How columns begin, or what they are called, that are keys of a mapping in an account. */
const NESTED: readonly (readonly [column: string, key: "token" | "variables" | "labels"])[] = [
  ["token_", "token"],
  ["var.", "variables"],
  ["label.", "labels"],
];
const COLUMNS: readonly string[] = [...KEYS, "token_env", "token_file", "var.NAME", "label.KEY"];

/**
 * The first line names the columns (`COLUMNS`), in any order. Cells are divided by what that line has most of: commas, semicolons or tabs;
 * for the rest see RFC 4180. An empty cell says nothing. What all accounts say alike becomes the file's `defaults`.
 */
export async function fleetFromCsv(path: string, options: CsvOptions): Promise<FleetFromCsv> {
  const sources = new Sources();
  const found: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => void found.push(diagnostic);
  const file = basename(path);
  const led = await whereNamedLinkLeads(path);
  if (led !== null) report(linked(path, led));
  const source = led === null ? await readSource(resolve(path), file, sources, { report }) : null;
  const table = source === null ? null : await readTable(file, source, report);
  const places = new Places();
  const tree = table === null ? null : treeOf(table, options.project, places, report);
  // The check takes out of the tree what is wrong in it.
  const checked =
    tree === null
      ? null
      : await checkAccounts(tree, { folder: options.folder, places, sources, report: sayColumns(table, report) });
  const text = tree === null || checked === null || hasErrors(found) ? null : await fleetText(tree);
  const diagnostics = arrange(found, sources.files());
  return { text, accounts: text === null ? 0 : (checked?.length ?? 0), diagnostics, sources };
}

// Text → cells.

interface Cell {
  readonly text: string;
  readonly span: Span;
}

/** Cells by column; null: an empty one. */
type Line = readonly (Cell | null)[];

interface Table {
  readonly columns: Line;
  /** Without those that are empty. */
  readonly lines: readonly Line[];
}

async function readTable(
  file: string,
  source: string,
  report: (diagnostic: Diagnostic) => void,
): Promise<Table | null> {
  const { parse, CsvError } = await import("csv-parse/sync");
  const bytes = Buffer.from(source);
  const [starts, ends]: [number[], number[]] = [[], []];
  /** Of the last cell: where it ends in bytes, and in characters. */
  let last = { byte: 0, end: 0 };
  try {
    const lines = parse(bytes, {
      delimiter: delimiterOf(source),
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
      max_record_size: MAX_LINE_BYTES,
      // The columns, and one account too many, which is then reported.
      to: MAX_ACCOUNTS + 2,
      // Called for each cell in turn: `bytes` is where the cell ends.
      cast: (text, { bytes: byte, index }) => {
        if (Number(index) >= MAX_COLUMNS) throw new TooWide();
        const end = last.end + bytes.toString("utf8", last.byte, byte).length;
        starts.push(Math.max(last.end, end - text.length - (source[end - 1] === '"' ? 1 : 0)));
        ends.push(end);
        last = { byte, end };
        return text;
      },
    });
    let count = 0;
    const cells = lines.map((line) =>
      line.map((text): Cell | null => {
        const span = { file, start: starts[count] as number, end: ends[count] as number };
        count += 1;
        return text === "" ? null : { text, span };
      }),
    );
    const [columns, ...accounts] = cells.filter((line) => line.some((cell) => cell !== null));
    if (columns !== undefined && accounts.length > 0) return { columns, lines: accounts };
    report(noAccounts(file));
  } catch (error) {
    if (!(error instanceof CsvError || error instanceof TooWide)) throw error;
    const between = /^[,;\t]?\s*/.exec(source.slice(last.end, last.end + MAX_LINE_BYTES))?.[0] ?? "";
    const start = last.end + between.length;
    const span = { file, start, end: start + 1 };
    report(error instanceof TooWide ? tooManyColumns(span) : notCsv(error.message, span));
  }
  return null;
}

/** A line has more cells than MAX_COLUMNS: the rest of it is not read. */
class TooWide extends Error {}

function tooManyColumns(span: Span): Diagnostic {
  const detail = `A line may have ${MAX_COLUMNS} cells.`;
  const fix = "Take out columns that are not for the fleet.";
  return { code: "too-many-columns", severity: "error", summary: "too many columns", detail, fix, span };
}

/** Spreadsheets write semicolons where a comma divides a number's decimals. */
function delimiterOf(source: string): string {
  const [first = ""] = source.trimStart().split(/\r|\n/, 1);
  const counted = [",", ";", "\t"].map((one) => ({ one, count: first.split(one).length }));
  return counted.reduce((most, next) => (next.count > most.count ? next : most)).one;
}

function noAccounts(file: string): Diagnostic {
  return {
    code: "csv-empty",
    severity: "error",
    summary: `${file} lists no accounts`,
    detail: "The first line names the columns, and each line after it is an account.",
    fix: `Columns are ${COLUMNS.join(", ")}.`,
    span: { file, start: 0, end: 0 },
  };
}

function notCsv(message: string, span: Span): Diagnostic {
  return {
    code: "csv-invalid",
    severity: "error",
    summary: "this is no CSV",
    detail: `${message}.`,
    fix: 'Put cells that hold quotes, commas or line breaks into quotes, and write " as "".',
    span,
  };
}

// Cells → the tree of a fleet file, each of whose values stands where its cell does.

function treeOf(
  { columns, lines }: Table,
  project: string | null,
  places: Places,
  report: (diagnostic: Diagnostic) => void,
): JsonObject {
  const whole = spanOf(columns);
  const keys = columnKeys(columns, report);
  const accounts = lines.map((cells) => accountOf(cells, keys, places, report));
  places.make(accounts, whole, Object.fromEntries(lines.map((cells, index) => [index, spanOf(cells)])));
  const defaults = newMapping(project === null ? {} : { project });
  places.make(defaults, whole, { project: whole });
  const tree = newMapping({ fleet: 1, defaults, accounts });
  places.make(tree, whole, { fleet: whole, defaults: whole, accounts: whole });
  return tree;
}

/** Of the first cell that is not empty. */
function spanOf(line: Line): Span {
  const first = line.find((cell) => cell !== null);
  if (first == null) throw new Error("A line without cells is none");
  return first.span;
}

/** Where a column's values go: `["labels", "tier"]`. null: nowhere, which is reported, or the column has no name. */
type ColumnKey = readonly [key: string, inner: string | null] | null;

function columnKeys(columns: Line, report: (diagnostic: Diagnostic) => void): ColumnKey[] {
  const seen = new Map<string, Cell>();
  return columns.map((column) => {
    if (column === null) return null;
    const { text, span } = column;
    const first = seen.get(text);
    if (first === undefined) {
      seen.set(text, column);
      const key = keyOf(text);
      if (key === null) report(unknownColumn(text, span));
      return key;
    }
    const related = [{ message: "the first one", span: first.span }];
    const summary = `two columns are called ${text}`;
    report({ code: "duplicate-column", severity: "error", summary, detail: "", fix: "Remove one.", span, related });
    return null;
  });
}

/** A fleet file takes no key that hides something: it would have to be written with escapes. */
function keyOf(column: string): ColumnKey {
  if (!isPlainlyVisible(column)) return null;
  if (KEYS.includes(column)) return [column, null];
  const nested = NESTED.find(([begin]) => column.startsWith(begin));
  const inner = column.slice(nested?.[0].length ?? 0);
  const isKnown = nested !== undefined && inner !== "" && (nested[1] !== "token" || COLUMNS.includes(column));
  return isKnown ? [nested[1], inner] : null;
}

/** Other systems export more than a fleet needs: only a column that one of ours may be meant by is an error. */
function unknownColumn(column: string, span: Span): Diagnostic {
  const [, inner] = /^[^.]*\.(.+)$/.exec(column) ?? [];
  // Whoever writes the tokens themselves into the list is not led to keep them as labels.
  const isToken = column.toLowerCase() === "token";
  const near = isToken
    ? "token_env"
    : nearest(column, [...COLUMNS, ...(inner === undefined ? [] : [`var.${inner}`, `label.${inner}`])]);
  return {
    code: "unknown-column",
    severity: near === null ? "warning" : "error",
    summary: near === null ? `the column ${column} is not used` : `unknown column ${column}`,
    detail: `Columns are ${COLUMNS.join(", ")}.`,
    fix: near === null ? `To select accounts by it, call it label.${column}.` : `Did you mean \`${near}\`?`,
    span,
  };
}

function accountOf(
  cells: Line,
  keys: readonly ColumnKey[],
  places: Places,
  report: (diagnostic: Diagnostic) => void,
): JsonObject {
  const account = newMapping();
  const spans: [key: string, span: Span][] = [];
  const nested = new Map<string, [key: string, cell: Cell][]>();
  for (const [index, cell] of cells.entries()) {
    const key = keys[index];
    if (cell === null || key === null) continue;
    if (key === undefined) {
      report(extraCell(cell.span));
      break;
    }
    const [outer, inner] = key;
    if (inner === null) {
      account[outer] = cell.text;
      spans.push([outer, cell.span]);
      continue;
    }
    const values = nested.get(outer) ?? [];
    nested.set(outer, values);
    values.push([inner, cell]);
  }
  for (const [outer, values] of nested) {
    const mapping = newMapping(Object.fromEntries(values.map(([key, { text }]) => [key, text])));
    const [[, { span }]] = values as [[string, Cell]];
    places.make(mapping, span, Object.fromEntries(values.map(([key, cell]) => [key, cell.span])));
    account[outer] = mapping;
    spans.push([outer, span]);
  }
  places.make(account, spanOf(cells), Object.fromEntries(spans));
  return account;
}

function extraCell(span: Span): Diagnostic {
  const detail = "The line has more cells than there are columns.";
  const fix = "Put a cell that holds a comma into quotes.";
  return { code: "extra-cell", severity: "error", summary: "a cell without a column", detail, fix, span };
}

/** Key of an account → the columns that fill it, for what the check of a fleet file misses. */
const COLUMNS_OF: ReadonlyMap<string, string> = new Map([
  ["name", "`name`"],
  ["token", "`token_env` or `token_file`"],
  ["project", "`project`, or give --project DIR for all"],
]);

/** A key that every account lacks is missing in the first line: it is reported there, and once. */
function sayColumns(table: Table | null, report: (diagnostic: Diagnostic) => void): typeof report {
  const absent = new Set<string>();
  const present = new Set(table?.columns.flatMap((cell) => (cell === null ? [] : (keyOf(cell.text)?.[0] ?? []))));
  return (diagnostic) => {
    const key = diagnostic.code === "missing-key" ? (/^`(\w+)` is missing$/.exec(diagnostic.summary)?.[1] ?? "") : "";
    const columns = COLUMNS_OF.get(key);
    if (columns === undefined || table === null) report(diagnostic);
    else if (present.has(key)) report({ ...diagnostic, fix: `Fill the column ${columns}.` });
    else if (!absent.has(key)) {
      absent.add(key);
      report({ ...diagnostic, fix: `Add the column ${columns}.`, span: spanOf(table.columns) });
    }
  };
}

// The tree → the text of a fleet file, an account a line.

async function fleetText(tree: JsonObject): Promise<string> {
  const { Document, isMap, isScalar, Scalar, visit } = await import("yaml");
  const accounts = tree["accounts"] as readonly JsonObject[];
  const defaults = { ...(tree["defaults"] as JsonObject), ...inCommon(accounts) };
  const document = new Document({
    fleet: 1,
    ...(Object.keys(defaults).length === 0 ? {} : { defaults }),
    accounts: accounts.map((account) => without(account, defaults)),
  });
  visit(document, {
    Seq: (_, list) => {
      for (const item of list.items) if (isMap(item)) item.flow = true;
    },
    Pair: (_, { value }) => {
      if (isMap(value)) value.flow = true;
    },
    Scalar: (_, scalar) => {
      if (!isScalar(scalar) || typeof scalar.value !== "string") return;
      // What hides its neighbours in an editor is escaped, and only a quoted text can hold that. One of several lines may read as something else.
      const { value } = scalar;
      if (!isPlainlyVisible(value) || value.includes("\n")) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  const onOneLine = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };
  return escapeYaml(document.toString(onOneLine));
}

/** What more than one account, and each of them, says alike: the values of mappings one by one. */
function inCommon(accounts: readonly JsonObject[]): JsonObject {
  const [first, ...others] = accounts;
  if (first === undefined || others.length === 0) return {};
  const common = Object.entries(first).flatMap(([key, value]): [string, Json][] => {
    if (key === "name" || key === "token") return [];
    if (!isJsonObject(value)) return others.every((other) => other[key] === value) ? [[key, value]] : [];
    const objects = accounts.map((account) => account[key] ?? null);
    const inner = objects.every(isJsonObject) ? inCommon(objects) : {};
    return Object.keys(inner).length === 0 ? [] : [[key, inner]];
  });
  return Object.fromEntries(common);
}

function without(account: JsonObject, defaults: JsonObject): JsonObject {
  const own = Object.entries(account).flatMap(([key, value]): [string, Json][] => {
    const common = defaults[key];
    if (!isJsonObject(value)) return Object.hasOwn(defaults, key) && common === value ? [] : [[key, value]];
    const inner = without(value, isJsonObject(common ?? null) ? (common as JsonObject) : {});
    return Object.keys(inner).length === 0 ? [] : [[key, inner]];
  });
  return Object.fromEntries(own);
}
