/** Changes and their values as lines: a record or a subnet on one line, fields below a heading, and long values on several lines. */

import colors from "picocolors";
import { isRecordType, isText, rulesOf } from "../dns/record.ts";
import { unicodeName } from "../dns/unicode.ts";
import type { KindFacts } from "../model/kind.ts";
import { mapKey } from "../model/map-key.ts";
import type { Json, Values } from "../model/resource.ts";
import { ZONE_NAME } from "./folding.ts";
import { byteText, columnsOf, cut, escapeText, fits, padded, shorten } from "./terminal.ts";
import type { ChangeView, FieldDiff, Mark } from "./view.ts";

/** A line, and the lines below it if the values are too long for one. */
interface Line {
  readonly text: string;
  readonly below: readonly string[];
  /** Whether part of a value is neither in the line nor below it. */
  readonly cut: boolean;
}

/** Fields that the line already shows. */
const RECORD_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "target",
  "ttl_sec",
  "priority",
  "weight",
  "port",
  "tag",
]);

/** Widths of the first two cells of the lines that stand below one heading. */
export interface Table {
  readonly name: number;
  readonly type: number;
}

/** A longer name exceeds its column, so that it does not push all others to the right. */
const MAX_RECORD_NAME_COLUMNS = 24;
/** The least columns that `recordText` gives to a record's value, even if its line then exceeds the width. */
const MIN_DATA_COLUMNS = 24;

/** The most columns that the line, and each line below it, may take. */
interface Room {
  readonly lineColumns: number;
  readonly belowColumns: number;
  /** Whether values are cut to one line each, because there is little room for many of them. */
  readonly oneLine: boolean;
}

/** Whether a change takes one line below its network's or zone's heading. */
export function isRow({ kind }: ChangeView): boolean {
  return kind.line !== undefined;
}

/** The columns that `! ` and `-/+` take beyond a sign of one character. The name's cell is narrower by them. */
function extraSignColumns({ mark, change }: ChangeView): number {
  return signOf(mark).length - 1 + (change.blocked === null ? 0 : BLOCKED_MARK.length);
}

/** The widths that align these changes. Linear in their number. */
export function tableOf(views: readonly ChangeView[]): Table {
  let [name, type] = [0, 0];
  for (const view of views) {
    if (!isRow(view)) continue;
    const head = headOf(view);
    const columns = columnsOf(head.title) + extraSignColumns(view);
    if (columns <= MAX_RECORD_NAME_COLUMNS) name = Math.max(name, columns);
    type = Math.max(type, head.type.length);
  }
  return { name, type };
}

/** `www A 192.0.2.10 → 192.0.2.11 ttl 300`, `subnet web 10.0.1.0/24`: aligned by the table if the line still fits then. */
export function childLine(view: ChangeView, table: Table, room: Room): Line {
  const { before, after } = view.change;
  const { line } = view.kind;
  const head = headOf(view);
  const compact = joinCells(head.title, head.type);
  const name = padded(head.title, table.name - extraSignColumns(view));
  const aligned = joinCells(name, table.type === 0 ? "" : head.type.padEnd(table.type));
  const ttl = line === "record" ? ttlText(before, after) : "";
  const data = beforeAfter(before, after, line === "record" ? recordData : (values) => plainData(values, line));
  return compose({ aligned, compact, from: head.from, tail: ttl === "" ? "" : ` ${ttl}` }, data, room);
}

/** The first cells of a line, which say what the change is about. */
interface Head {
  /** The name, with the word for its kind unless it is a record. A renamed object has both names: `subnet web → app`. */
  readonly title: string;
  readonly type: string;
  /** The beginning of a renamed object's title, up to the arrow: the line can be broken behind it. Empty without a rename. */
  readonly from: string;
}

function headOf(view: ChangeView): Head {
  const { kind } = view;
  const [from, to] = namesOf(view);
  const type = typeOf(view);
  const lead = kind.line === "record" ? "" : `${kind.words[0]} `;
  const start = from === undefined || to === undefined ? "" : `${lead}${from.text} ${ARROW} `;
  return { title: `${start === "" ? lead : start}${(to ?? from)?.text ?? ""}`, type, from: start };
}

function namesOf({ kind, change: { before, after } }: ChangeView): BeforeAfter<Shown> {
  return beforeAfter(before, after, (values) => ({
    text: kind.line === "record" ? recordName(values) : escapeText(plainText(values[kind.nameField])),
    bytes: 0,
  }));
}

function typeOf({ kind, change: { before, after } }: ChangeView): string {
  return kind.line === "record" ? escapeText(plainText((after ?? before)?.["type"])) : "";
}

/** What the line of a change consists of, escaped, for a format that lays it out by itself. */
export interface LineParts {
  /** The word of its kind before a name; empty for a record. */
  readonly lead: string;
  readonly name: BeforeAfter<string>;
  /** Of a record; otherwise empty. */
  readonly type: string;
  readonly data: BeforeAfter<string>;
  /** `ttl 300 → 600`, or empty. */
  readonly ttl: string;
}

/** @param view one that `isRow` is true of */
export function lineParts(view: ChangeView): LineParts {
  const { before, after } = view.change;
  const { line } = view.kind;
  const data = beforeAfter(before, after, line === "record" ? recordData : (values) => plainData(values, line));
  return {
    lead: line === "record" ? "" : view.kind.words[0],
    name: textsOf(namesOf(view)),
    type: typeOf(view),
    data: textsOf(data),
    ttl: line === "record" ? ttlText(before, after) : "",
  };
}

function textsOf([before, after]: BeforeAfter<Shown>): BeforeAfter<string> {
  return [before?.text, after?.text];
}

function joinCells(name: string, type: string): string {
  return type === "" ? name : `${name} ${type}`;
}

/** Whether the line of its kind leaves the field out, so that it must be shown below. */
export function isBeyondLine({ kind: { line, nameField } }: ChangeView, field: string): boolean {
  return line === "record" ? !RECORD_FIELDS.has(field) : field !== nameField && field !== line?.value;
}

/** A record on one line, its value shortened to fit: `www A 192.0.2.10`. */
export function recordText(values: Values, columns: number): string {
  const head = `${recordName(values)} ${escapeText(plainText(values["type"]))} `;
  return head + fitted(recordData(values), Math.max(columns - columnsOf(head), MIN_DATA_COLUMNS));
}

interface Frame {
  readonly aligned: string;
  readonly compact: string;
  readonly from: string;
  readonly tail: string;
}

function compose(frame: Frame, [before, after]: BeforeAfter<Shown>, room: Room): Line {
  const { aligned, compact, tail } = frame;
  const roomAfter = (head: string): number => room.lineColumns - columnsOf(head) - columnsOf(tail) - 1;
  for (const head of [aligned, compact]) {
    const text = inline(before, after, roomAfter(head));
    if (text !== null) return { text: `${head} ${text}${tail}`, below: [], cut: false };
  }
  const [first, ...rest] = brokenHead(frame, room.lineColumns);
  const values =
    before === undefined || after === undefined ? [(after ?? before ?? NOTHING).text] : differing(before, after);
  const signs = values.length === 2 ? ["- ", "+ "] : [""];
  const columns = room.belowColumns - (signs[0]?.length ?? 0);
  const bytes = [before, after].flatMap((side) => (side === undefined ? [] : [side.bytes]));
  const lines = values.map((text, index) =>
    room.oneLine ? [shorten(text, columns, bytes[index] ?? null)] : folded(text, columns),
  );
  const below = lines.flatMap((parts, index) => signed(signs[index] ?? "", parts));
  const cut = room.oneLine && !values.every((text) => fits(text, columns));
  return { text: first, below: [...rest, ...below], cut };
}

/** The line without its value; a rename that is too long for one line takes two. */
function brokenHead({ compact, from, tail }: Frame, columns: number): [string, ...string[]] {
  const text = `${compact}${tail}`;
  if (from === "" || fits(text, columns)) return [text];
  return [from.trimEnd(), text.slice(from.length)];
}

const NOTHING: Shown = { text: "", bytes: 0 };

export type BeforeAfter<T> = readonly [before: T | undefined, after: T | undefined];

/** Both sides, or only the later one if they are the same. */
function beforeAfter(before: Values | null, after: Values | null, show: (values: Values) => Shown): BeforeAfter<Shown> {
  const left = before === null ? undefined : show(before);
  const right = after === null ? undefined : show(after);
  return left !== undefined && left.text === right?.text ? [undefined, right] : [left, right];
}

/** The name with its Unicode form, as in a domain's heading. */
function recordName(values: Values): string {
  const name = plainText(values["name"]);
  const unicode = unicodeName(name);
  return name === "" ? "@" : escapeText(name) + (unicode === null ? "" : ` (${escapeText(unicode)})`);
}

function recordData(values: Values): Shown {
  const target = plainText(values["target"]);
  return { text: rdata(values, target), bytes: sizeOf(target) };
}

function plainData(values: Values, line: Exclude<KindFacts["line"], "record">): Shown {
  const value = line === undefined ? "" : plainText(values[line.value]);
  return { text: escapeText(value), bytes: sizeOf(value) };
}

function rdata(values: Values, target: string): string {
  const shown = target === "" ? "." : escapeText(target);
  const type = plainText(values["type"]);
  if (!isRecordType(type)) return shown;
  const others = rulesOf(type).values.map((field) =>
    field === "tag" ? escapeText(plainText(values[field])) : number(values[field]),
  );
  return [...others, isText(type) ? quoted(target) : shown].join(" ");
}

function number(value: Json | undefined): string {
  return typeof value === "number" ? String(value) : "0";
}

function ttlText(before: Values | null, after: Values | null): string {
  const from = before === null ? null : number(before["ttl_sec"]);
  const to = after === null ? null : number(after["ttl_sec"]);
  if (from !== null && to !== null && from !== to) return `ttl ${ttlWord(from)} ${ARROW} ${ttlWord(to)}`;
  const one = to ?? from ?? "0";
  return one === "0" ? "" : `ttl ${one}`;
}

/** The service stores a TTL of 0, which means the zone's or the service's default. */
function ttlWord(text: string): string {
  return text === "0" ? "default" : text;
}

// The fields of an object below its heading: one a line, before → after, with aligned names.

/** Beyond this, names are no longer aligned. */
const MAX_FIELD_NAME_COLUMNS = 14;
const FORCES = "  # forces replacement";

/** Lines without indentation, each within `columns`: a long value takes several. */
export function fieldLines(view: ChangeView, fields: readonly FieldDiff[], columns: number): string[] {
  const longest = Math.max(0, ...fields.map(({ name }) => name.length));
  const nameColumns = Math.min(longest, MAX_FIELD_NAME_COLUMNS);
  return fields.flatMap((field) => fieldLine(field, view, nameColumns, columns));
}

function fieldLine(field: FieldDiff, view: ChangeView, nameColumns: number, columns: number): string[] {
  const { before, after } = beforeAfterOf(field, view);
  const name = escapeText(field.name).padEnd(nameColumns);
  const forces = field.forcesReplacement ? FORCES : "";
  const room = columns - name.length - 2 - forces.length;
  const [left, right] = [before, after].map((side) => (side === undefined ? undefined : shownValue(side)));
  const text = inline(left, right, room);
  if (text !== null) return [`${name}  ${text}${forces}`];
  const heading = `${name.trimEnd()}${forces}`;
  if (left === undefined || right === undefined) {
    return [heading, ...folded((right ?? left)?.text ?? "", columns - 2).map((line) => `  ${line}`)];
  }
  if (Array.isArray(before) && Array.isArray(after)) return [heading, ...listLines(before, after, columns)];
  const [from, to] = differing(left, right);
  return [heading, ...signedLines("-", from, columns), ...signedLines("+", to, columns)];
}

/** A created or deleted resource has one side to show. */
export function beforeAfterOf(
  field: FieldDiff,
  view: ChangeView,
): { before: Json | undefined; after: Json | undefined } {
  if (view.change.before === null) return { before: undefined, after: field.after };
  if (view.change.after === null) return { before: field.before, after: undefined };
  return { before: field.before ?? null, after: field.after ?? null };
}

function listLines(before: readonly Json[], after: readonly Json[], columns: number): string[] {
  const keyOf = (item: Json): string => mapKey(valueText(item));
  const had = new Set(before.map(keyOf));
  const has = new Set(after.map(keyOf));
  const gone = before.filter((item) => !has.has(keyOf(item)));
  const come = after.filter((item) => !had.has(keyOf(item)));
  // The same items in another order, or another number of times: both lists are shown in full.
  const [left, right] = gone.length + come.length === 0 ? [[before as Json], [after as Json]] : [gone, come];
  return [
    ...left.flatMap((item) => signedLines("-", valueText(item), columns)),
    ...right.flatMap((item) => signedLines("+", valueText(item), columns)),
  ];
}

function signedLines(sign: "-" | "+", text: string, columns: number): string[] {
  return signed(`  ${sign} `, folded(text, columns - 4));
}

// Values as text: quoted if a reader must see where they end, on two lines if one is too short.

const ARROW = "→";

/** Before each line of a value but its first. */
const CONTINUED = "│ ";

/** If two long values share their beginnings or ends, this many characters of the shared text are still shown, for orientation. */
const SHARED_CONTEXT_CHARACTERS = 12;

/** Like JSON, with blanks and escapes; undefined and null are `none`. */
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

/** Without quotes; empty if there is no value. A plan file may hold an object where a text belongs, and `String` of one can throw. */
export function plainText(value: Json | undefined): string {
  return typeof value === "object" && value !== null ? valueText(value) : String(value ?? "");
}

export function quoted(text: string): string {
  return `"${escapeText(text.replace(/["\\]/g, (character) => `\\${character}`))}"`;
}

/** A value as it is shown, and its real length. */
interface Shown {
  readonly text: string;
  /** Octets of the value itself in UTF-8, without quotes and escapes. */
  readonly bytes: number | null;
}

export function shownValue(value: Json | undefined): Shown {
  const text = valueText(value);
  return { text, bytes: sizeOf(typeof value === "string" ? value : text) };
}

/** A value in which `ZONE_NAME` stands for the names of many zones has another size in each. */
function sizeOf(text: string): number | null {
  return text.includes(ZONE_NAME) ? null : Buffer.byteLength(text);
}

/** One value within `columns`, shortened if it must be. */
function fitted(shown: Shown, columns: number): string {
  return shorten(shown.text, columns, shown.bytes);
}

/** `before → after` if that fits into `columns`; otherwise null, as each side needs a line. An undefined side is left out. */
function inline(before: Shown | undefined, after: Shown | undefined, columns: number): string | null {
  const sides = [before, after].flatMap((side) => (side === undefined ? [] : [side.text]));
  const text = sides.join(` ${ARROW} `);
  return fits(text, columns) ? text : null;
}

/**
 * A value on as many lines as it takes, so that no part of it is hidden. Each line but the first begins with a mark that no other line of a
 * plan has. A line ends before a blank if there is one near its end.
 */
export function folded(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (let rest = text, mark = ""; rest !== ""; mark = CONTINUED) {
    const room = columns - mark.length;
    const most = cut(rest.slice(0, columns), room);
    const blank = most.lastIndexOf(" ");
    const breaksAtBlank = most.length < rest.length && blank > most.length - room / 3;
    // At least one character, or the loop would never end.
    const part = (breaksAtBlank ? most.slice(0, blank) : most) || rest.slice(0, 2);
    lines.push(mark + part);
    rest = rest.slice(part.length);
  }
  return lines;
}

/** Puts the sign before the first line, and blanks before the lines that continue it. */
export function signed(sign: string, [first = "", ...rest]: readonly string[]): string[] {
  return [sign + first, ...rest.map((line) => " ".repeat(sign.length) + line)];
}

/**
 * Two long values: the beginning and the end that they share are left out, and the full size is given; the part that differs is shown
 * whole.
 */
export function differing(before: Shown, after: Shown): readonly [string, string] {
  const [a, b] = [before.text, after.text];
  const least = Math.min(a.length, b.length);
  let start = 0;
  while (start < least && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < least - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const omittedBefore = start <= SHARED_CONTEXT_CHARACTERS * 2 ? 0 : start - SHARED_CONTEXT_CHARACTERS;
  const omittedAfter = end <= SHARED_CONTEXT_CHARACTERS * 2 ? 0 : end - SHARED_CONTEXT_CHARACTERS;
  return [between(before, omittedBefore, omittedAfter), between(after, omittedBefore, omittedAfter)];
}

/** Leaves out so many characters of the beginning and of the end. */
function between({ text, bytes }: Shown, omittedBefore: number, omittedAfter: number): string {
  if (omittedBefore === 0 && omittedAfter === 0) return text;
  const part = text.slice(omittedBefore, text.length - omittedAfter).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  return `${omittedBefore === 0 ? "" : "…"}${part}${omittedAfter === 0 ? "" : "…"}${byteText(bytes)}`;
}

// Colours and signs, and what they mean.

export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly bad: (text: string) => string;
}

/** @param colour whether the reader is a terminal that shows colours: decided by the caller alone */
export function createPaint(colour: boolean): Paint {
  const { bold, dim, green, yellow, red } = colors.createColors(colour);
  return { bold, dim, good: green, warn: yellow, bad: red };
}

const SIGNS: Readonly<Record<Mark, string>> = { create: "+", update: "~", delete: "-", replace: "-/+", none: " " };

/** Precedes the mark of a blocked change, so that all other marks are changes that will be made. */
export const BLOCKED_MARK = "! ";

/** The mark as a sign, in its colour. */
export function paintMark(paint: Paint, mark: Mark): string {
  const sign = SIGNS[mark];
  switch (mark) {
    case "create":
      return paint.good(sign);
    case "update":
      return paint.warn(sign);
    case "delete":
    case "replace":
      return paint.bad(sign);
    case "none":
      return sign;
  }
}

export function signOf(mark: Mark): string {
  return SIGNS[mark];
}
