/** Zones of octoDNS (YamlProvider, split zones, too) → the domains that declare them. */

import { canonicalIp } from "../dns/ip.ts";
import { relativeName } from "../dns/name.ts";
import { readInheritingTtl } from "../dns/octodns-note.ts";
import {
  CAA_TAGS,
  isRecordType,
  MAX_VALUES,
  type RecordType,
  rulesOf,
  type SkippedRecord,
  type SourceRecord,
} from "../dns/record.ts";
import { toAscii } from "../dns/unicode.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import { Collected, type Import, type Remark } from "./collect.ts";
import {
  type Entry,
  MAX_NUMBER_CHARACTERS,
  OctodnsFiles,
  type OctodnsZone,
  plainNumber,
  readYaml,
  type Value,
} from "./octodns-files.ts";
import { type ForeignRequest, unreadable, zoneName } from "./zone-files.ts";

export async function importOctodns(request: ForeignRequest): Promise<Import> {
  const collected = new Collected(request);
  const yaml = await import("yaml");
  const files = new OctodnsFiles(collected, yaml);
  for (const path of request.paths) await files.find(path);
  const asked = request.domain === null ? null : zoneName(request.domain);
  const zones = files.zones().filter(({ zone }) => request.domain === null || zone === asked);
  if (zones.length === 0 && !collected.hasDiagnostics) collected.report(noZones(request.paths));
  const reader = { files, collected, parse: (text: string, file: string) => readYaml(text, file, yaml) };
  let withoutTtl = 0;
  for (const zone of zones) withoutTtl += collected.isFull ? 0 : await takeZone(zone, reader);
  if (withoutTtl > 0) collected.report(defaultTtl(withoutTtl));
  return collected.result();
}

interface ZoneReader {
  readonly files: OctodnsFiles;
  readonly collected: Collected;
  parse(text: string, file: string): ReturnType<typeof readYaml>;
}

/** @returns how many records have a TTL neither of their own nor by configuration */
async function takeZone({ zone, files }: OctodnsZone, reader: ZoneReader): Promise<number> {
  const { collected } = reader;
  const records: SourceRecord[] = [];
  const skipped: SkippedRecord[] = [];
  const inheriting = new Set<SourceRecord>();
  const ttls = new Set<number | null>();
  let withoutTtl = 0;
  for (const { path, defaultTtl } of files) {
    const source = await reader.files.text(path);
    const parsed = source.ok
      ? reader.parse(source.text, path)
      : { ok: false as const, diagnostics: [unreadable(path, source)] };
    if (!parsed.ok) {
      for (const diagnostic of parsed.diagnostics) collected.report(diagnostic);
      continue;
    }
    const read = readOctodns(parsed.value, zone, defaultTtl ?? DEFAULT_TTL_SECONDS);
    const zoneTtl = source.ok ? readInheritingTtl(source.text) : null;
    ttls.add(zoneTtl);
    for (const record of read.records) {
      records.push(record);
      if (record.ttl_sec === zoneTtl) inheriting.add(record);
    }
    for (const one of read.skipped) skipped.push(one);
    for (const diagnostic of read.diagnostics) collected.report(diagnostic);
    for (const remark of read.remarks) collected.remark(remark);
    if (defaultTtl === null) withoutTtl += read.withoutTtl;
  }
  // The files of a split zone that disagree leave the TTL to their records.
  const [ttl = null, ...others] = ttls;
  const known = others.length === 0 ? { ttl, inheriting } : {};
  collected.take({ zone, file: files[0]?.path ?? zone, named: null, records, skipped, ...known });
  return withoutTtl;
}

function defaultTtl(count: number): Diagnostic {
  return {
    code: "default-ttl",
    severity: "warning",
    summary: `${count === 1 ? "a record without a ttl gets" : `${count} records without a ttl get`} ${DEFAULT_TTL_SECONDS}, octoDNS's default`,
    detail: "No configuration with a `default_ttl` lies beside the zones.",
    fix: "If octoDNS's configuration sets one, name that file instead of the folder.",
  };
}

function noZones(paths: readonly string[]): Diagnostic {
  return {
    code: "no-zones",
    severity: "error",
    summary: `no zone is in ${paths.join(", ")}`,
    detail: "",
    fix: "Name the folder that holds ZONE.yaml files.",
  };
}

// One file of octoDNS → plain records. All that is not imported is reported with its span.

/** octoDNS's TTL if neither the record nor the configuration states one. */
const DEFAULT_TTL_SECONDS = 3600;

interface OctodnsReading {
  readonly records: readonly SourceRecord[];
  readonly skipped: readonly SkippedRecord[];
  readonly diagnostics: readonly Diagnostic[];
  readonly remarks: readonly Remark[];
  /** How many records state no TTL. */
  readonly withoutTtl: number;
}

/**
 * @param zone lower-case ASCII without a final dot
 * @param defaultTtl seconds, for records that state no TTL
 */
function readOctodns(value: Value, zone: string, defaultTtl: number = DEFAULT_TTL_SECONDS): OctodnsReading {
  const reader = new Reader(zone, defaultTtl);
  if (value.kind === "map") for (const [name, entry] of value.entries) reader.node(name, entry.value);
  else if (value.kind === "list" || value.text !== "") reader.refuse("the file is no mapping of names", value.span);
  return reader;
}

type Fields = Extract<Value, { kind: "map" }>["entries"];

/** Keys under which a value that is a mapping may hold its target, if not under `target`. */
const TARGET_KEYS: Readonly<Partial<Record<RecordType, readonly string[]>>> = {
  MX: ["exchange", "value"],
  CAA: ["value"],
};

/** An option of a record, or of its `octodns` mapping → what the import does about it. */
const OPTIONS: Readonly<Record<string, string>> = {
  included: "octoDNS keeps such a record with certain providers only; it is taken",
  excluded: "octoDNS keeps such a record from certain providers; it is taken",
  lenient: "octoDNS does not check such a record; here it is checked like any other",
  healthcheck: "the service checks no health; the record is taken without it",
};
const OWN_OPTION = "an option for octoDNS or one of its providers; the record is taken without it";

class Reader implements OctodnsReading {
  readonly records: SourceRecord[] = [];
  readonly skipped: SkippedRecord[] = [];
  readonly diagnostics: Diagnostic[] = [];
  readonly remarks: Remark[] = [];
  readonly #zone: string;
  readonly #defaultTtl: number;
  withoutTtl = 0;

  constructor(zone: string, defaultTtl: number) {
    this.#zone = zone;
    this.#defaultTtl = defaultTtl;
  }

  /** @returns null, which stands for the record that was refused */
  refuse(summary: string, span: Span): null {
    const detail = "octoDNS would not take it either.";
    this.diagnostics.push({ code: "bad-octodns", severity: "error", summary, detail, fix: "Correct the file.", span });
    return null;
  }

  /** Reads the value at one name: one record, or a list of records. */
  node(written: string, value: Value): void {
    const name = ownName(written, this.#zone);
    for (const record of value.kind === "list" ? value.items : [value]) {
      if (record.kind === "map")
        this.#record(name, record.entries, record.span)?.forEach((one) => this.records.push(one));
      else this.refuse(`\`${written}\` is no record`, record.span);
    }
  }

  #record(name: string, fields: Fields, span: Span): readonly SourceRecord[] | null {
    const type = textOf(fields, "type");
    if (type === null) return this.refuse(`a record at \`${name}\` has no type`, span);
    const place = { type, name, span: fields.get("type")?.value.span ?? span };
    if (this.#isIgnored(fields)) return null;
    if (!isRecordType(type)) return this.#skip("unsupported-type", `The service has no ${type} records.`, place);
    for (const key of ["geo", "dynamic"]) {
      const found = fields.get(key);
      const detail = `\`${key}\` answers by place or health, which the service does not do. The values beside it are taken.`;
      if (found !== undefined) this.#skip("unsupported-type", detail, { ...place, span: found.span });
    }
    if (type === "NS" && name === "") {
      const detail = "The apex NS belong to the service that served the zone until now.";
      return this.#skip("apex-ns", detail, place);
    }
    const values = valuesOf(fields);
    if (values.length === 0) return this.refuse(`the ${type} record at \`${name}\` has no value`, place.span);
    const ttl = textOf(fields, "ttl");
    const ttl_sec = ttl === null ? this.#defaultTtl : (numberOf(fields, "ttl") ?? Number.NaN);
    if (!Number.isSafeInteger(ttl_sec) || ttl_sec < 0) return this.refuse("the ttl is no number", place.span);
    if (ttl === null) this.withoutTtl += 1;
    this.#remarkOptions(fields);
    return values.flatMap((value) => this.#value(type, value, { ...place, ttl_sec }) ?? []);
  }

  /** `octodns: { ignored: true }`, or what else is true to Python: octoDNS itself leaves such a record alone. */
  #isIgnored(fields: Fields): boolean {
    const own = fields.get("octodns")?.value;
    const ignored = own?.kind === "map" ? own.entries.get("ignored") : undefined;
    if (ignored === undefined || !isTruthy(ignored.value)) return false;
    this.#remark("ignored", "octoDNS leaves such a record alone, and it is left out", ignored.span);
    return true;
  }

  /** Reports the options of a record that the import does not act on. */
  #remarkOptions(fields: Fields): void {
    const own = fields.get("octodns")?.value;
    for (const { entries, prefix } of [
      { entries: fields, prefix: "" },
      { entries: own?.kind === "map" ? own.entries : new Map<string, Entry>(), prefix: "octodns." },
    ]) {
      for (const [key, { span }] of entries) {
        const meaning = prefix === "" ? OPTIONS[key] : (OPTIONS[key] ?? OWN_OPTION);
        if (meaning !== undefined && key !== "ignored") this.#remark(`${prefix}${key}`, meaning, span);
      }
    }
  }

  #remark(what: string, detail: string, span: Span): void {
    this.remarks.push({ file: span.file, what: `\`${what}\``, detail, span });
  }

  #value(type: RecordType, value: Value, { name, ttl_sec, span: _ }: Place & { ttl_sec: number }): SourceRecord | null {
    const place = { type, name, span: value.span };
    const base = { type, name, ttl_sec, span: value.span };
    if (value.kind === "list") return this.refuse(`a value of ${shown(place)} is a list`, value.span);
    const fields: Fields = value.kind === "map" ? value.entries : new Map();
    const isMapping = rulesOf(type).values.length > 0;
    const keys = TARGET_KEYS[type] ?? ["target"];
    const named = isMapping ? keys.map((key) => textOf(fields, key)).find((text) => text !== null) : undefined;
    const text = value.kind === "text" ? value.text : named;
    if (text == null)
      return this.refuse(`a value of ${shown(place)} lacks its ${isMapping ? keys[0] : "text"}`, value.span);
    if (isMapping && value.kind === "text") {
      return this.refuse(`a value of ${shown(place)} is no mapping`, value.span);
    }
    const numbers = numbersOf(type, fields);
    if (numbers === null) return this.refuse(`a value of ${shown(place)} lacks a number`, value.span);
    const beyond = beyondLimits(numbers);
    if (beyond !== null) return this.#skip("not-holdable", beyond, place);
    const flags = rulesOf(type).hasFlags && textOf(fields, "flags") !== null ? numberOf(fields, "flags") : 0;
    if (flags !== 0) return this.#skip("not-holdable", `The service has no flags of ${type} records.`, place);
    const tag = rulesOf(type).values.includes("tag") ? { tag: textOf(fields, "tag") ?? "" } : {};
    if (tag.tag === "") return this.refuse(`a value of ${shown(place)} lacks its tag`, value.span);
    if (tag.tag !== undefined && !CAA_TAGS.includes(tag.tag)) {
      const detail = `The tag is \`${tag.tag}\`, and the service keeps ${CAA_TAGS.join(", ")} alone.`;
      return this.#skip("not-holdable", detail, place);
    }
    return { ...base, target: targetOf(type, text), ...numbers, ...tag };
  }

  #skip(reason: SkippedRecord["reason"], detail: string, { type, name, span }: Place): null {
    this.skipped.push({ reason, type, name, detail, span });
    return null;
  }
}

interface Place {
  readonly type: string;
  readonly name: string;
  readonly span: Span;
}

function shown({ type, name }: Place): string {
  return `the ${type} record at ${name === "" ? "the apex" : `\`${name}\``}`;
}

/** Relative, in lower-case ASCII. Names are relative in octoDNS; a name with a final dot is read as absolute. */
export function ownName(written: string, zone: string): string {
  const ascii = toAscii(written) ?? written;
  if (ascii === "@") return "";
  return ascii.endsWith(".") ? (relativeName(ascii.slice(0, -1), zone) ?? ascii) : ascii;
}

/** As Python has it, of what YAML 1.1 reads: a text in quotes is true whatever it says. */
function isTruthy(value: Value): boolean {
  switch (value.kind) {
    case "list":
      return value.items.length > 0;
    case "map":
      return value.entries.size > 0;
    case "text":
      if (!value.plain) return value.text !== "";
      return !FALSE_WORDS.test(value.text) && Number(plainNumber(value.text) ?? 1) !== 0;
  }
}

const FALSE_WORDS = /^(?:|~|null|Null|NULL|false|False|FALSE|no|No|NO|off|Off|OFF)$/;

function textOf(fields: Fields, key: string): string | null {
  const value = fields.get(key)?.value;
  return value?.kind === "text" && value.text !== "" ? value.text : null;
}

/** Python's `int()` of the value that YAML 1.1 reads; null: the key is absent, or its value is no number. */
function numberOf(fields: Fields, key: string): number | null {
  const value = fields.get(key)?.value;
  if (value?.kind !== "text" || value.text.length > MAX_NUMBER_CHARACTERS) return null;
  const text = (value.plain ? plainNumber(value.text) : null) ?? value.text.trim();
  return /^[-+]?\d+(?:_\d+)*(?:\.\d*)?$/.test(text) ? Math.trunc(Number(text.replaceAll("_", ""))) : null;
}

function valuesOf(fields: Fields): readonly Value[] {
  const { value } = fields.get("values") ?? fields.get("value") ?? {};
  if (value === undefined) return [];
  return value.kind === "list" ? value.items : [value];
}

/** Former keys of octoDNS for a number, which come first if both are there. */
const FORMER_KEYS: Readonly<Partial<Record<RecordType, Readonly<Record<string, string>>>>> = {
  MX: { priority: "preference" },
};

/** @returns null if a number is absent, or its value is none */
function numbersOf(type: RecordType, fields: Fields): Readonly<Record<string, number>> | null {
  const numbers: Record<string, number> = {};
  for (const field of rulesOf(type).values) {
    if (field === "tag") continue;
    const former = FORMER_KEYS[type]?.[field] ?? field;
    const number = numberOf(fields, textOf(fields, former) === null ? field : former);
    if (number === null || number < 0) return null;
    numbers[field] = number;
  }
  return numbers;
}

/** Why the service cannot keep a number, or null. */
export function beyondLimits(numbers: Readonly<Record<string, number>>): string | null {
  for (const [field, most] of Object.entries(MAX_VALUES)) {
    const value = numbers[field] ?? 0;
    if (value > most) return `The ${field} is ${value}, and the service keeps at most ${most}.`;
  }
  return null;
}

function targetOf(type: RecordType, text: string): string {
  switch (rulesOf(type).target) {
    case "ipv4":
    case "ipv6":
      return canonicalIp(text) ?? text;
    case "strings":
      return unchunked(text).replaceAll("\\;", ";");
    case "octets":
      return text;
    case "name":
      return (toAscii(text) ?? text).replace(/\.$/, "");
  }
}

/** octoDNS removes the first and the last character of a text that begins with a quote, and joins the strings of any text. */
function unchunked(text: string): string {
  return (text.startsWith('"') ? text.slice(1, -1) : text).replaceAll('" "', "");
}
