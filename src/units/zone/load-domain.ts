/** A domain entry of a manifest → its declared zone, with everything the service would refuse reported. */

import { nameProblem, toAscii } from "../../dns/name.ts";
import { parseNameserver } from "../../dns/nameserver.ts";
import type { Declared, IgnorePattern } from "../../model/desired.ts";
import type { Diagnostic, Related, Span } from "../../model/diagnostic.ts";
import { domainAddress, type JsonObject } from "../../model/resource.ts";
import type { LoadContext, NameProblem } from "../../model/unit.ts";
import { loadFields } from "./fields.ts";
import { isIgnored } from "./ignore.ts";
import { loadFileRecord, loadRecord } from "./load-record.ts";
import type { DomainEntry } from "./schema.ts";
import type { CreateFrom, RecordSpec, ZoneContext, ZoneSpec } from "./types.ts";

/** @returns null if the entry has no usable name */
export function loadZone(entry: DomainEntry, context: LoadContext): Declared<ZoneSpec> | null {
  const { domain: written, ignore = [] } = entry;
  if (typeof written !== "string") return null;
  const zone = zoneName(written, entry, context);
  if (zone === null) return null;
  const address = domainAddress(zone);
  const zoneContext: ZoneContext = {
    ...context,
    zone,
    report: (diagnostic) => context.report({ address, ...diagnostic }),
    error: (problem) => context.report({ severity: "error", address, ...problem }),
  };
  const fields = loadFields(entry, zoneContext);
  const createFrom = loadCreateFrom(entry, zoneContext);
  const records = loadRecords(entry, entry.type === "slave", ignore, zoneContext);
  return {
    unit: "zone",
    address,
    key: zone,
    id: entry.id ?? null,
    movedFrom: null,
    protect: entry.protect ?? false,
    note: entry.note ?? null,
    span: context.span(entry, "domain"),
    spec: {
      domain: zone,
      fields,
      records,
      ignore,
      policy: entry.records_policy ?? "authoritative",
      createFrom,
      lintOff: entry.lint?.off ?? [],
    },
  };
}

function zoneName(written: string, entry: DomainEntry, context: LoadContext): string | null {
  const { name, problem } = readDomainName(written);
  if (problem === null) return name;
  context.report({ ...problem, severity: "error", span: context.span(entry, "domain") });
  return null;
}

function loadRecords(
  entry: DomainEntry,
  isSlave: boolean,
  ignore: readonly IgnorePattern[],
  context: ZoneContext,
): RecordSpec[] | null {
  const { records: entries, zone_file: file = null } = entry;
  if (entries === undefined) return null;
  if (isSlave) {
    const first = entries[0] === undefined ? null : context.span(entries[0]);
    const span = first ?? (file === null ? null : context.span(entry, "zone_file"));
    if (span !== null) context.error(recordsOnSlave(span, context));
    return null;
  }
  const firstWithTtl = new Map<number, Span>();
  const records = entries.flatMap((record) =>
    "span" in record ? [loadFileRecord(record, firstWithTtl, context)] : loadRecord(record, context),
  );
  checkRecords(records, ignore, context.span(entry, "domain"), context);
  return records;
}

function recordsOnSlave(span: Span, context: ZoneContext): Omit<Diagnostic, "severity" | "address"> {
  return {
    code: "records-on-slave",
    summary: "a slave domain has no records of its own",
    detail: `${context.zone} is of type slave: its records are copied from its masters and cannot be written.`,
    fix: "Remove `records`, `use` and `zone_file`, or make the domain a master.",
    span,
  };
}

// The records of a zone together: what they forbid each other.

/** API.md, Limits: active records per domain. */
const MAX_RECORDS_PER_DOMAIN = 12_000;

/** One pass over the records; takes linear time. */
function checkRecords(
  records: readonly RecordSpec[],
  ignore: readonly IgnorePattern[],
  domain: Span,
  context: ZoneContext,
): void {
  if (records.length > MAX_RECORDS_PER_DOMAIN) {
    const detail = `${context.zone} has ${records.length} records; the service takes ${MAX_RECORDS_PER_DOMAIN}.`;
    context.error({
      code: "too-many-records",
      summary: "too many records",
      detail,
      fix: "Divide the zone.",
      span: domain,
    });
  }
  const values = new Map<string, RecordSpec>();
  const names = new Map<string, RecordSpec[]>();
  for (const record of records) {
    const first = values.get(dataOf(record));
    if (first !== undefined) {
      duplicate(record, first, context);
      continue;
    }
    values.set(dataOf(record), record);
    const same = names.get(record.name);
    if (same === undefined) names.set(record.name, [record]);
    else same.push(record);
    if (ignore.length > 0 && isIgnored(record, ignore)) declaredAndIgnored(record, context);
  }
  for (const same of names.values()) {
    checkAlias(same, context);
    checkNullMx(same, context);
  }
}

/** Everything but the TTL. */
function dataOf(record: RecordSpec): string {
  const { type, name, target, priority = "", weight = "", port = "", tag = "" } = record;
  return JSON.stringify([type, name, target, priority, weight, port, tag]);
}

function shownName(name: string): string {
  return name === "" ? "the apex" : name;
}

function at(message: string, record: RecordSpec): Related[] {
  return [{ message, span: record.span }];
}

function duplicate(record: RecordSpec, first: RecordSpec, context: ZoneContext): void {
  context.error({
    code: "duplicate-record",
    summary: `the ${record.type} record is there twice`,
    detail: `${shownName(record.name)} has this ${record.type} record already; a TTL does not tell them apart.`,
    fix: "Remove one of the two.",
    span: record.span,
    related: at("first here", first),
  });
}

function declaredAndIgnored(record: RecordSpec, context: ZoneContext): void {
  context.error({
    code: "declared-and-ignored",
    summary: "the record is both declared and ignored",
    detail: "A pattern under `ignore` matches it, so it would never be looked at.",
    fix: "Remove the record, or narrow the pattern.",
    span: record.span,
  });
}

/** RFC 1034, 3.6.2. Several errors at one name would say the same: the first of each kind is enough. */
function checkAlias(same: readonly RecordSpec[], context: ZoneContext): void {
  if (same.length < 2) return;
  const aliases = same.filter((record) => record.type === "CNAME");
  const [alias, second] = aliases;
  if (alias === undefined) return;
  const other = same.find((record) => record.type !== "CNAME");
  if (second !== undefined) {
    context.error({
      code: "second-cname",
      summary: "a second CNAME at one name",
      detail: `${shownName(alias.name)} can be an alias of one name only.`,
      fix: "Keep one of the two.",
      span: second.span,
      related: at("the first one", alias),
    });
  }
  if (other !== undefined && alias.name !== "") {
    context.error({
      code: "cname-conflict",
      summary: "a CNAME beside other data",
      detail: `${shownName(alias.name)} has ${other.type} records, too, and where a CNAME is nothing else can be (RFC 1034, 3.6.2).`,
      fix: "Keep the CNAME or the other records.",
      span: alias.span,
      related: at("the other data", other),
    });
  }
}

/** RFC 7505, 3. */
function checkNullMx(same: readonly RecordSpec[], context: ZoneContext): void {
  const exchangers = same.filter((record) => record.type === "MX");
  const none = exchangers.find((record) => record.target === "");
  const other = exchangers.find((record) => record !== none);
  if (none === undefined || other === undefined) return;
  context.error({
    code: "null-mx-conflict",
    summary: "a null MX beside another MX",
    detail: `An MX record with the target \`.\` says that ${shownName(none.name)} takes no mail, so it must be the only one (RFC 7505, 3).`,
    fix: "Keep the null MX or the others.",
    span: none.span,
    related: at("the other one", other),
  });
}

// `create_from:` of a domain entry: what a domain begins with that is not there yet.

/** Keys that say which records there are: with `create_from` that is unknown until the domain is there. */
const RECORD_KEYS = ["records", "use", "zone_file"] as const;

/** @returns null if there is none, or none that can be used; what is wrong is reported */
function loadCreateFrom(entry: DomainEntry, context: ZoneContext): CreateFrom | null {
  const { create_from: from, type } = entry;
  if (from === undefined) return null;
  const beside = RECORD_KEYS.find((key) => (entry[key] ?? null) !== null);
  if (beside !== undefined) context.error({ ...besideRecords(), span: context.span(entry, "create_from") });
  if (type === "slave") context.error({ ...onSlave(context.zone), span: context.span(entry, "create_from") });
  const { clone, axfr } = from;
  // Both, or neither, is what the schema refuses.
  if (clone !== undefined && axfr === undefined) return loadSource(clone, from, context);
  return axfr !== undefined && clone === undefined ? loadServer(axfr, from, context) : null;
}

/** The way back: the value of `create_from:`. */
export function writeCreateFrom(from: CreateFrom): JsonObject {
  return from.type === "clone" ? { clone: from.domain } : { axfr: from.server };
}

function loadSource(text: string, from: object, context: ZoneContext): CreateFrom | null {
  const { name, problem } = readDomainName(text);
  const span = context.span(from, "clone");
  if (problem !== null) context.error({ ...problem, span });
  else if (name === context.zone) {
    const detail = `${context.zone} cannot be made from itself.`;
    context.error({ code: "bad-create-from", summary: "a clone of itself", detail, fix: "Name another domain.", span });
  } else return { type: "clone", domain: name };
  return null;
}

function loadServer(text: string, from: object, context: ZoneContext): CreateFrom | null {
  if (parseNameserver(text) !== null) return { type: "axfr", server: text };
  context.error({
    code: "bad-create-from",
    summary: "not a name server",
    detail: `\`${text}\` is neither a host name nor an address.`,
    fix: "Write a server that lets the service transfer the zone, for example ns1.example.net.",
    span: context.span(from, "axfr"),
  });
  return null;
}

function besideRecords() {
  return {
    code: "conflicting-keys",
    summary: "`create_from` beside records",
    detail: "What the domain begins with is unknown until it is there, so its records cannot be declared as well.",
    fix: "Remove one of them; once the domain is there, tenon import writes its records down.",
  };
}

function onSlave(zone: string) {
  return {
    code: "create-from-slave",
    summary: "a slave domain is not made from another one",
    detail: `${zone} is of type slave: its records come from its masters, so there is nothing to begin with.`,
    fix: "Remove `create_from`, or make the domain a master.",
  };
}

// The name of a domain: as written in a manifest → lower-case ASCII.

/** A domain's name as written → lower-case ASCII without a final dot; with a problem it is good for messages only. */
export function readDomainName(written: string): { readonly name: string; readonly problem: NameProblem | null } {
  const ascii = toAscii(written)?.replace(/\.$/, "") ?? null;
  const problem = ascii === null || ascii === "" ? "not-ascii" : nameProblem(ascii, true);
  const name = ascii ?? written.toLowerCase();
  if (problem === null) return { name, problem };
  const detail =
    problem === "long-name" || problem === "long-label"
      ? "A domain has at most 253 characters, and at most 63 between two dots (RFC 1035)."
      : `\`${written}\` is not a domain name: labels of letters, digits and hyphens, joined by dots (RFC 1035).`;
  const fix = "Write the name alone, without a scheme, path or wildcard; for example: example.com.";
  return { name, problem: { code: "bad-domain", summary: "bad domain name", detail, fix } };
}
