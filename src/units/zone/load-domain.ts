/** A domain entry of a manifest → its declared zone, with everything the service would refuse reported. */

import { nameProblem } from "../../dns/name.ts";
import { parseNameserver } from "../../dns/nameserver.ts";
import { toAscii } from "../../dns/unicode.ts";
import type { Declared, IgnorePattern } from "../../model/desired.ts";
import type { Diagnostic, Span } from "../../model/diagnostic.ts";
import { domainAddress, type JsonObject } from "../../model/resource.ts";
import type { LoadContext, NameProblem } from "../../model/unit.ts";
import { loadAnnotations } from "../common.ts";
import { checkLater, checkRecords } from "./conflicts.ts";
import { loadFields } from "./domain-fields.ts";
import { checkIgnore } from "./ignore.ts";
import { loadFileRecord, loadRecord } from "./load-record.ts";
import type { DomainEntry, ExpandedDomain } from "./schema.ts";
import { checkDivision, loadPart, loadShares } from "./sharing.ts";
import type { CreateFrom, RecordSpec, ZoneContext, ZoneSpec } from "./spec.ts";

/** @returns null if the entry has no usable name */
export function loadZone(entry: ExpandedDomain, context: LoadContext): Declared<ZoneSpec> | null {
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
  const part = loadPart(entry, zoneContext);
  const sharedWith = loadShares(entry, zoneContext);
  // What a domain has beside its records is not the part's.
  const fields = part === undefined ? loadFields(entry, zoneContext) : {};
  const createFrom = part === undefined ? loadCreateFrom(entry, zoneContext) : null;
  checkIgnore(ignore, zoneContext);
  const records = loadRecords(entry, entry.type === "slave" && part === undefined, ignore, zoneContext);
  const expired = records === null ? [] : loadEntries(entry.expired ?? [], zoneContext);
  const later = (records === null ? [] : (entry.later ?? [])).flatMap(({ record, after }) =>
    loadEntries([record], zoneContext).map((spec) => ({ ...spec, after })),
  );
  checkLater(records ?? [], later, ignore, context.span(entry, "domain"), zoneContext);
  const division = { ...(part === undefined ? {} : { part }), ...(sharedWith === undefined ? {} : { sharedWith }) };
  checkDivision(records ?? [], division, zoneContext);
  return {
    unit: "zone",
    address,
    key: zone,
    id: entry.id ?? null,
    movedFrom: null,
    protect: entry.protect ?? false,
    note: entry.note ?? null,
    ...loadAnnotations(entry, zoneContext),
    span: context.span(entry, "domain"),
    ...(part === undefined ? {} : { part: true }),
    spec: {
      domain: zone,
      fields,
      records,
      ...(expired.length === 0 ? {} : { expired }),
      ...(later.length === 0 ? {} : { later }),
      ignore,
      policy: entry.records_policy ?? "authoritative",
      createFrom,
      lintOff: entry.lint?.off ?? [],
      ...division,
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
  const records = loadEntries(entries, context);
  checkRecords(records, ignore, context.span(entry, "domain"), context);
  return records;
}

function loadEntries(entries: NonNullable<ExpandedDomain["records"]>, context: ZoneContext): RecordSpec[] {
  const firstWithTtl = new Map<number, Span>();
  return entries.flatMap((record) =>
    "span" in record ? [loadFileRecord(record, firstWithTtl, context)] : loadRecord(record, context),
  );
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
