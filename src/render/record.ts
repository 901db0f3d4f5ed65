/** One record or subnet on one line, as a zone file or a network plan would write it. */

import type { Json, Values } from "../model/resource.ts";
import { escapeText } from "./escape.ts";
import { ARROW, fitPair, fitted, inline, quoted, type Shown } from "./value.ts";
import type { ChangeView } from "./view.ts";
import { columnsOf } from "./width.ts";

/** A line, and further lines that belong below it when the values are too long for one. */
export interface Line {
  readonly text: string;
  readonly below: readonly string[];
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

/** `www A 192.0.2.10 → 192.0.2.11 ttl 300` */
export function recordLine(view: ChangeView, columns: number): Line {
  const { before, after } = view.change;
  const name = side(before, after, recordName);
  const type = escapeText(String((after ?? before)?.["type"] ?? ""));
  const ttl = ttlText(before, after);
  return compose(`${name} ${type}`, sides(before, after, recordData), ttl, columns);
}

/** `subnet web 10.0.1.0/24` */
export function subnetLine(view: ChangeView, columns: number): Line {
  const { before, after } = view.change;
  const label = side(before, after, (values) => escapeText(String(values["label"] ?? "")));
  return compose(`subnet ${label}`, sides(before, after, subnetData), "", columns);
}

/** Whether the line of its kind leaves the field out, so that it must be shown below. */
export function isBeyondLine(view: ChangeView, field: string): boolean {
  return !(view.change.kind === "domain_record" ? RECORD_FIELDS : SUBNET_FIELDS).has(field);
}

/** Several values of a live record, as a short line of its own: `www A 192.0.2.10`. */
export function recordText(values: Values): string {
  return `${recordName(values)} ${escapeText(String(values["type"] ?? ""))} ${recordData(values).text}`;
}

function compose(head: string, [before, after]: Sides<Shown>, tail: string, columns: number): Line {
  const end = tail === "" ? "" : ` ${tail}`;
  const room = columns - columnsOf(head) - columnsOf(end) - 1;
  const text = inline(before, after, room);
  if (text !== null) return { text: `${head} ${text}${end}`, below: [] };
  if (before === undefined || after === undefined) {
    return { text: `${head} ${fitted(after ?? before ?? NOTHING, room)}${end}`, below: [] };
  }
  const [from, to] = fitPair(before, after, columns - 2);
  return { text: `${head}${end}`, below: [`- ${from}`, `+ ${to}`] };
}

const NOTHING: Shown = { text: "", bytes: 0 };

type Sides<T> = readonly [before: T | undefined, after: T | undefined];

/** Both sides, or only the one that holds if they are the same. */
function sides(before: Values | null, after: Values | null, show: (values: Values) => Shown): Sides<Shown> {
  const left = before === null ? undefined : show(before);
  const right = after === null ? undefined : show(after);
  return left !== undefined && left.text === right?.text ? [undefined, right] : [left, right];
}

function side(before: Values | null, after: Values | null, text: (values: Values) => string): string {
  const [left, right] = sides(before, after, (values) => ({ text: text(values), bytes: 0 }));
  return [left, right].flatMap((shown) => (shown === undefined ? [] : [shown.text])).join(` ${ARROW} `);
}

function recordName(values: Values): string {
  const name = String(values["name"] ?? "");
  return name === "" ? "@" : escapeText(name);
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
