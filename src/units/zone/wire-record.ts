/** A record as the service writes it, and as requests write it to the service, in one form with what the manifest says (OBSERVED: Records). */

import type { WireRecord } from "../../api/wire.ts";
import { canonicalIpv6 } from "../../dns/ip.ts";
import { absoluteName, relativeName } from "../../dns/name.ts";
import { type DnsRecord, isNamed, isRecordType, type RecordType, rulesOf } from "../../dns/record.ts";
import { toAscii } from "../../dns/unicode.ts";
import { mapKey } from "../../model/map-key.ts";
import type { JsonObject, Values } from "../../model/resource.ts";

export type RecordValues = DnsRecord & Values;

export function desiredRecord(spec: DnsRecord): RecordValues {
  const { type, name, target, ttl_sec } = spec;
  return withValues({ type, name, target, ttl_sec }, spec);
}

/** A record of the service, of a type that is known. */
type KnownRecord = WireRecord<RecordType>;

export function isKnownRecord(record: WireRecord): record is KnownRecord {
  return isRecordType(record.type);
}

/** Values that the service echoes although the type does not use them are left out: they must not cause a diff. */
export function liveRecord(record: KnownRecord, zone: string): RecordValues {
  const name = canonicalName(liveName(record));
  const base = {
    type: record.type,
    name: name === "@" ? "" : (relativeName(name, zone) ?? name),
    target: liveTarget(record),
    ttl_sec: record.ttl_sec,
  };
  return withValues(base, record);
}

/** A record of the service in one form, whatever its type: of one that is not known it is as the service says it. */
export function anyLiveRecord(record: WireRecord, zone: string): RecordValues {
  if (isKnownRecord(record)) return liveRecord(record, zone);
  const { type, name, target, ttl_sec } = record;
  return { type: type as RecordType, name, target, ttl_sec };
}

function withValues(base: DnsRecord, source: DnsRecord | WireRecord): RecordValues {
  const values = rulesOf(base.type).values.map(
    (field) => [field, source[field] ?? (field === "tag" ? "" : 0)] as const,
  );
  return values.length === 0 ? base : { ...base, ...Object.fromEntries(values) };
}

function liveName(record: WireRecord): string {
  if (record.type !== "SRV" || record.name.startsWith("_") || !record.service) return record.name;
  const service = `_${bare(record.service)}`;
  return record.protocol ? `${service}._${bare(record.protocol)}` : service;
}

function liveTarget(record: KnownRecord): string {
  if (isNamed(record.type)) return canonicalName(record.target);
  return (record.type === "AAAA" ? canonicalIpv6(record.target) : null) ?? record.target;
}

function canonicalName(name: string): string {
  const undotted = name.endsWith(".") ? name.slice(0, -1) : name;
  return toAscii(undotted) ?? undotted;
}

function bare(label: string): string {
  return label.startsWith("_") ? label.slice(1) : label;
}

/** The request body for these fields of a record: all of them to create it, the changed ones to update it. */
export function recordBody(values: RecordValues, fields: readonly string[]): JsonObject {
  const body: Record<string, JsonObject[string]> = {};
  for (const field of fields) {
    if (field === "name") Object.assign(body, nameFields(values));
    else if (field === "target") body["target"] = wireTarget(values);
    else body[field] = values[field] ?? null;
  }
  return body;
}

/** An SRV's name is made of service and protocol, which carries the parent and is null if there is none (OBSERVED: Records). */
function nameFields(values: RecordValues): JsonObject {
  if (values.type !== "SRV") return { name: values.name };
  const [service = "", ...rest] = values.name.split(".");
  return { service: bare(service), protocol: rest.length === 0 ? null : bare(rest.join(".")) };
}

/** The service takes a name with a final dot as it is; it would append the zone to an SRV target without a dot. */
function wireTarget(values: RecordValues): string {
  return isNamed(values.type) ? `${values.target}.` : values.target;
}

/** All that a record says, as one key: equal keys, equal records. */
export function contentKey(values: RecordValues, leaveOut: readonly ("name" | "ttl_sec")[] = []): string {
  const { type, name, target, ttl_sec } = values;
  const others = rulesOf(type).values.map((field) => values[field] ?? null);
  const all = [
    type,
    leaveOut.includes("name") ? null : name,
    leaveOut.includes("ttl_sec") ? null : ttl_sec,
    ...others,
    target,
  ];
  return mapKey(JSON.stringify(all));
}

/** The name that resolvers are sent on to by this record, absolute; null if it points nowhere. */
export function pointerTarget({ type, target }: RecordValues): string | null {
  // What is left alone in a zone may be of a type that is not known.
  return isRecordType(type) && rulesOf(type).isFollowed && target !== "" ? target : null;
}

/** Whether the record answers for its name when an address is asked for. */
export function answersAddress(values: RecordValues): boolean {
  return values.type === "A" || values.type === "AAAA" || values.type === "CNAME";
}

export function recordFqdn(values: RecordValues, zone: string): string {
  return absoluteName(values.name, zone);
}
