/** One record or subnet on one line, as a zone file or a network plan would write it. */

import { unicodeName } from "../dns/unicode.ts";
import type { Json, Values } from "../model/resource.ts";
import { escapeText } from "./escape.ts";
import { BLOCKED_MARK, signOf } from "./paint.ts";
import { ARROW, differing, fitted, folded, inline, quoted, type Shown, signed } from "./value.ts";
import type { ChangeView } from "./view.ts";
import { columnsOf, shorten } from "./width.ts";

/** A line, and further lines that belong below it when the values are too long for one. */
export interface Line {
  readonly text: string;
  readonly below: readonly string[];
  /** Something of a value is neither in the line nor below it. */
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
const SUBNET_FIELDS: ReadonlySet<string> = new Set(["label", "ipv4"]);

/** Widths of the first two cells of the lines that stand below one heading. */
export interface Table {
  readonly name: number;
  readonly type: number;
}

/** A longer name sticks out of its column, so that it does not push all others to the right. */
const MAX_NAME_COLUMNS = 24;
/** With less room than this a value stands on a line of its own. */
const MIN_DATA_COLUMNS = 24;

/** Columns that the line and those below it may take. */
export interface Room {
  readonly line: number;
  readonly below: number;
  /** Values are cut to one line each, where there is little room for many of them. */
  readonly oneLine: boolean;
}

/** Whether a change takes one line below its network's or zone's heading. */
export function isRow({ change }: ChangeView): boolean {
  return change.kind === "domain_record" || change.kind === "vpc_subnet";
}

/** `! ` and `-/+` push what follows them to the right of the other lines. */
function pushed({ mark, change }: ChangeView): number {
  return signOf(mark).length - 1 + (change.blocked === null ? 0 : BLOCKED_MARK.length);
}

/** The widths that align these changes. Linear in their number. */
export function tableOf(views: readonly ChangeView[]): Table {
  let [name, type] = [0, 0];
  for (const view of views) {
    if (!isRow(view)) continue;
    const head = headOf(view);
    const columns = columnsOf(head.name) + pushed(view);
    if (columns <= MAX_NAME_COLUMNS) name = Math.max(name, columns);
    type = Math.max(type, head.type.length);
  }
  return { name, type };
}

/**
 * `www A 192.0.2.10 → 192.0.2.11 ttl 300`, `subnet web 10.0.1.0/24`: aligned by the table as long as that costs nothing.
 */
export function childLine(view: ChangeView, table: Table, room: Room): Line {
  const { before, after, kind } = view.change;
  const head = headOf(view);
  const compact = joinCells(head.name, head.type);
  const name = padded(head.name, table.name - pushed(view));
  const aligned = joinCells(name, table.type === 0 ? "" : head.type.padEnd(table.type));
  const ttl = kind === "domain_record" ? ttlText(before, after) : "";
  const data = sides(before, after, kind === "domain_record" ? recordData : subnetData);
  return compose({ aligned, compact, from: head.from, tail: ttl === "" ? "" : ` ${ttl}` }, data, room);
}

interface Head {
  readonly name: string;
  readonly type: string;
  /** Of a rename, what the name begins with: a place to break the line. */
  readonly from: string;
}

function headOf(view: ChangeView): Head {
  const { before, after, kind } = view.change;
  const isRecord = kind === "domain_record";
  const [from, to] = sides(before, after, (values) => ({
    text: isRecord ? recordName(values) : labelOf(values),
    bytes: 0,
  }));
  const type = isRecord ? escapeText(String((after ?? before)?.["type"] ?? "")) : "";
  const lead = isRecord ? "" : "subnet ";
  const start = from === undefined || to === undefined ? "" : `${lead}${from.text} ${ARROW} `;
  return { name: `${start === "" ? lead : start}${(to ?? from)?.text ?? ""}`, type, from: start };
}

function padded(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - columnsOf(text)));
}

function joinCells(name: string, type: string): string {
  return type === "" ? name : `${name} ${type}`;
}

/** Whether the line of its kind leaves the field out, so that it must be shown below. */
export function isBeyondLine(view: ChangeView, field: string): boolean {
  return !(view.change.kind === "domain_record" ? RECORD_FIELDS : SUBNET_FIELDS).has(field);
}

/** Several values of a live record, as a line of its own, shortened like all others: `www A 192.0.2.10`. */
export function recordText(values: Values, columns: number): string {
  const head = `${recordName(values)} ${escapeText(String(values["type"] ?? ""))} `;
  return head + fitted(recordData(values), Math.max(columns - columnsOf(head), MIN_DATA_COLUMNS));
}

interface Frame {
  readonly aligned: string;
  readonly compact: string;
  readonly from: string;
  readonly tail: string;
}

function compose(frame: Frame, [before, after]: Sides<Shown>, room: Room): Line {
  const { aligned, compact, tail } = frame;
  const roomAfter = (head: string): number => room.line - columnsOf(head) - columnsOf(tail) - 1;
  for (const head of [aligned, compact]) {
    const text = inline(before, after, roomAfter(head));
    if (text !== null) return { text: `${head} ${text}${tail}`, below: [], cut: false };
  }
  const [first, ...rest] = brokenHead(frame, room.line);
  const values =
    before === undefined || after === undefined ? [(after ?? before ?? NOTHING).text] : differing(before, after);
  const signs = values.length === 2 ? ["- ", "+ "] : [""];
  const columns = room.below - (signs[0]?.length ?? 0);
  const bytes = [before, after].flatMap((side) => (side === undefined ? [] : [side.bytes]));
  const lines = values.map((text, index) =>
    room.oneLine ? [shorten(text, columns, bytes[index] ?? 0)] : folded(text, columns),
  );
  const below = lines.flatMap((parts, index) => signed(signs[index] ?? "", parts));
  const cut = room.oneLine && values.some((text) => columnsOf(text) > columns);
  return { text: first, below: [...rest, ...below], cut };
}

/** A line without its value; a rename that is too long for one takes two. */
function brokenHead({ compact, from, tail }: Frame, columns: number): [string, ...string[]] {
  const text = `${compact}${tail}`;
  if (from === "" || columnsOf(text) <= columns) return [text];
  return [from.trimEnd(), text.slice(from.length)];
}

const NOTHING: Shown = { text: "", bytes: 0 };

type Sides<T> = readonly [before: T | undefined, after: T | undefined];

/** Both sides, or only the one that holds if they are the same. */
function sides(before: Values | null, after: Values | null, show: (values: Values) => Shown): Sides<Shown> {
  const left = before === null ? undefined : show(before);
  const right = after === null ? undefined : show(after);
  return left !== undefined && left.text === right?.text ? [undefined, right] : [left, right];
}

/** With its Unicode form, as a domain's heading has it. */
function recordName(values: Values): string {
  const name = String(values["name"] ?? "");
  const unicode = unicodeName(name);
  return name === "" ? "@" : escapeText(name) + (unicode === null ? "" : ` (${escapeText(unicode)})`);
}

function labelOf(values: Values): string {
  return escapeText(String(values["label"] ?? ""));
}

function recordData(values: Values): Shown {
  const target = String(values["target"] ?? "");
  return { text: rdata(values, target), bytes: Buffer.byteLength(target) };
}

function subnetData(values: Values): Shown {
  const text = escapeText(String(values["ipv4"] ?? ""));
  return { text, bytes: text.length };
}

function rdata(values: Values, target: string): string {
  const shown = target === "" ? "." : escapeText(target);
  switch (values["type"]) {
    case "MX":
      return `${number(values["priority"])} ${shown}`;
    case "SRV":
      return `${number(values["priority"])} ${number(values["weight"])} ${number(values["port"])} ${shown}`;
    case "CAA":
      return `${escapeText(String(values["tag"] ?? ""))} ${quoted(target)}`;
    case "TXT":
      return quoted(target);
    default:
      return shown;
  }
}

function number(value: Json | undefined): string {
  return typeof value === "number" ? String(value) : "0";
}

function ttlText(before: Values | null, after: Values | null): string {
  const from = before === null ? null : number(before["ttl_sec"]);
  const to = after === null ? null : number(after["ttl_sec"]);
  if (from !== null && to !== null && from !== to) return `ttl ${seconds(from)} ${ARROW} ${seconds(to)}`;
  const one = to ?? from ?? "0";
  return one === "0" ? "" : `ttl ${one}`;
}

/** 0 is stored as such and means the zone's or the service's default. */
function seconds(text: string): string {
  return text === "0" ? "default" : text;
}
