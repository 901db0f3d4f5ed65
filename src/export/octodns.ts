/** Writes the YAML of octoDNS's YamlProvider: one file for each zone, whose keys are in the order that octoDNS enforces. */

import { inheritingTtlNote } from "../dns/octodns-note.ts";
import { type DnsRecord, isText, RECORD_TYPES, type RecordType, rulesOf } from "../dns/record.ts";
import { zoneFileName } from "../files/folder.ts";
import { mapKey } from "../model/map-key.ts";
import { compareText, groupBy, LOG_COMMAND } from "../model/text.ts";
import {
  commentOf,
  type Exported,
  type ExportedDomain,
  type ExportedFile,
  type LeftOut,
  type Written,
} from "./exported.ts";
import { isWhole, zoneExtras, zoneLosses } from "./zones.ts";

/** Seconds that 0 stands for (OBSERVED: Zone file). */
const DEFAULT_TTL_SECONDS = 86_400;

export function writeOctodns(exported: Exported): Written {
  const leftOut: LeftOut[] = [
    ...zoneLosses(exported),
    ...exported.domains.filter(isWhole).flatMap(soaLosses),
    ...exported.extras.flatMap((extra) => zoneExtras(extra, "octoDNS deletes")),
  ];
  const files: ExportedFile[] = [];
  for (const domain of exported.domains) {
    if (!isWhole(domain)) continue;
    const file = zoneFileName(domain.zone, "yaml");
    if (file !== `${domain.zone}.yaml`) {
      const detail = `octoDNS looks for ${domain.zone}.yaml, which not every system can have: it is ${file}`;
      leftOut.push({ address: domain.address, what: "file name", detail });
    }
    files.push({ file, text: zoneText(domain, leftOut) });
  }
  return { files, leftOut };
}

const SOA_FIELDS = ["soa_email", "refresh_sec", "retry_sec", "expire_sec", "ttl_sec"] as const;

/** octoDNS has no SOA records. 0 is the service's default. */
function soaLosses({ address, fields }: ExportedDomain): LeftOut[] {
  const detail = "octoDNS has no SOA, and the service that it fills keeps its own";
  return SOA_FIELDS.filter((field) => ![undefined, null, "", 0].includes(fields[field] as string | number)).map(
    (what) => ({
      address,
      what,
      detail: what === "ttl_sec" ? `${detail}; records that follow it get it as theirs` : detail,
    }),
  );
}

/**
 * The note by which an import tells records without a TTL of their own: each of octoDNS's has one. "" if there is no such record, or if others
 * have that TTL as their own, which is reported.
 */
function inheritingNote(address: string, records: readonly DnsRecord[], zoneTtl: number, leftOut: LeftOut[]): string {
  if (!records.some(({ ttl_sec }) => ttl_sec === 0)) return "";
  if (!records.some(({ ttl_sec }) => ttl_sec === zoneTtl)) return `${inheritingTtlNote(zoneTtl)}\n`;
  const detail = `records that follow the domain's TTL and those that have ${zoneTtl} as their own are alike in octoDNS`;
  leftOut.push({ address, what: "own TTLs", detail });
  return "";
}

function zoneText({ address, fields, records, others }: ExportedDomain, leftOut: LeftOut[]): string {
  const notes = new Map<string, string[]>();
  for (const one of records ?? []) {
    const { record } = one;
    const note = commentOf(one);
    if (note === null) continue;
    const list = notes.get(`${record.type} ${record.name}`) ?? [];
    if (!list.includes(note)) list.push(note);
    notes.set(`${record.type} ${record.name}`, list);
  }
  const all = [...(records ?? []).map(({ record }) => record), ...others].filter((record) => {
    // Neither is text in octoDNS: it takes an empty value for one that is missing.
    if (record.target !== "" || !isText(record.type)) return true;
    leftOut.push({ address, what: `${shownName(record)} ${record.type}`, detail: "octoDNS has no empty texts" });
    return false;
  });
  const zoneTtl = Number(fields["ttl_sec"] || DEFAULT_TTL_SECONDS);
  const names = groupBy(all, ({ name }) => name);
  const blocks = [...names.keys()].sort(compareNaturally).map((name) => {
    const sets = groupBy(names.get(name) ?? [], ({ type }) => type);
    const types = [...sets.keys()].sort((a, b) => RECORD_TYPES.indexOf(a) - RECORD_TYPES.indexOf(b));
    const items = types.map((type) => {
      const set = sets.get(type) ?? [];
      const ttls = new Set(set.map(({ ttl_sec }) => ttl_sec || zoneTtl));
      const ttl = [...ttls].reduce((least, seconds) => Math.min(least, seconds));
      if (ttls.size > 1) {
        const detail = `its records differ in their TTL, and a record set of octoDNS has one: the lowest, ${ttl}`;
        leftOut.push({ address, what: `${shownName({ name })} ${type}`, detail });
      }
      return { comments: notes.get(`${type} ${name}`) ?? [], lines: recordLines(type, set, ttl) };
    });
    const isOne = items.length === 1;
    const list = items.flatMap(({ comments, lines }) => [
      ...comments.flatMap(commentLines).map((line) => `  ${line}`),
      ...lines.map((line, index) => `${isOne ? "  " : index === 0 ? "  - " : "    "}${line}`),
    ]);
    return `${scalar(name)}:\n${list.join("\n")}\n`;
  });
  return `---\n${inheritingNote(address, all, zoneTtl, leftOut)}${blocks.length === 0 ? "{}\n" : blocks.join("")}`;
}

function shownName({ name }: Pick<DnsRecord, "name">): string {
  return name === "" ? "@" : name;
}

function commentLines(note: string): string[] {
  return note
    .split(/[\n\r\u0085\u2028\u2029]+/)
    .map((line) => `# ${line.replace(/[\p{Cc}\p{Cf}\ufffe\uffff]/gu, " ").replace(LOG_COMMAND, " #")}`.trimEnd());
}

/** A record set, its keys in alphabetical order. */
function recordLines(type: RecordType, set: readonly DnsRecord[], ttl: number): string[] {
  const values = groupBy(set, (record) => mapKey(JSON.stringify(shownValue(record))));
  const distinct = [...values.values()].flatMap(([first]) => (first === undefined ? [] : [first]));
  const lenient = distinct.some(isRefused) ? ["octodns:", "  lenient: true"] : [];
  const head = [...lenient, `ttl: ${ttl}`, `type: ${type}`];
  const [first] = distinct;
  if (first === undefined) return head;
  if (distinct.length > 1) return [...head, "values:", ...distinct.flatMap((record) => valueLines(record, "- "))];
  const value = shownValue(first);
  return typeof value === "string"
    ? [...head, `value: ${scalar(value)}`]
    : [...head, "value:", ...valueLines(first, "  ")];
}

function valueLines(record: DnsRecord, before: string): string[] {
  const value = shownValue(record);
  if (typeof value === "string") return [`${before}${scalar(value)}`];
  return Object.entries(value).map(([key, field], index) => {
    const text = typeof field === "number" ? String(field) : scalar(field);
    return `${index === 0 ? before : "  "}${key}: ${text}`;
  });
}

/** Keys in alphabetical order, as octoDNS enforces it within a value, too. */
function shownValue(record: DnsRecord): string | Readonly<Record<string, string | number>> {
  const { type, target, priority = 0, weight = 0, port = 0, tag = "issue" } = record;
  switch (type) {
    case "MX":
      return { exchange: `${target}.`, preference: priority };
    case "SRV":
      return { port, priority, target: `${target}.`, weight };
    case "CAA":
      return { flags: 0, tag, value: target };
    case "TXT":
      return chunked(target);
    default:
      return rulesOf(type).target === "name" ? `${target}.` : target;
  }
}

/**
 * A text as octoDNS reads it back: a semicolon has a backslash before it, the first and the last character go if the first one is a quote, and
 * `" "` goes wherever it is.
 */
function chunked(text: string): string {
  const whole = text.replaceAll(";", "\\;").replace(/"(?= ")/g, '"" "');
  return whole.startsWith('"') ? `"${whole}"` : whole;
}

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i;
const MAX_TARGET_CHARACTERS = 253;

/** Whether octoDNS takes the record only with `lenient`, although a nameserver would serve it. */
function isRefused({ type, name, target }: DnsRecord): boolean {
  if (type === "TXT") return /[^\0-\x7f]/.test(target) || /\\;/.test(target);
  if (type === "CNAME" && name === "") return true;
  if (type === "SRV" && !/^(\*|_[^.]+)\.[^.]+/.test(name)) return true;
  if (rulesOf(type).target !== "name") return false;
  if (target === "" && rulesOf(type).allowsRoot) return false;
  const labels = target.split(".");
  return labels.length < 2 || target.length > MAX_TARGET_CHARACTERS || !labels.every((label) => LABEL.test(label));
}

// YAML 1.1, as PyYAML reads it.

/** Words that YAML 1.1 takes for something else than text. */
const WORDS = /^(y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
const PLAIN = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

function scalar(text: string): string {
  if ((PLAIN.test(text) && !WORDS.test(text)) || IPV4.test(text)) return text;
  if (/^[\x20-\x7e]*$/.test(text) && text.search(LOG_COMMAND) === -1) return `'${text.replaceAll("'", "''")}'`;
  const escaped = text
    .replace(/["\\]/g, (sign) => `\\${sign}`)
    .replace(UNPRINTABLE, byCode)
    .replace(LOG_COMMAND, byCode);
  return `"${escaped}"`;
}

/** What PyYAML refuses as it is, or would read as the end of a line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\ufffe\uffff]/gu;

function byCode(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  return code > 0xffff ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
}

/** The order of Python's natsort: runs of digits by their number, what is between them by its characters. */
export function compareNaturally(a: string, b: string): number {
  const [left, right] = [a.split(/(\d+)/), b.split(/(\d+)/)];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const [one = "", other = ""] = [left[index], right[index]];
    const order = index % 2 === 0 ? compareText(one, other) : compareNumbers(one, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Of any length. */
function compareNumbers(a: string, b: string): number {
  const [one, other] = [a.replace(/^0+/, ""), b.replace(/^0+/, "")];
  return one.length - other.length || compareText(one, other);
}
