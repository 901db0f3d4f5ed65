/** A record's values in one form, whoever wrote them: the manifest or the service (OBSERVED: Records). */

import type { RecordType, WireRecord } from "../../api/wire.ts";
import { canonicalIpv6 } from "../../dns/ip.ts";
import { absoluteName, relativeName, toAscii } from "../../dns/name.ts";
import type { JsonObject, Values } from "../../model/resource.ts";
import type { RecordSpec } from "./types.ts";

/**
 * `name` is relative, lower-case ASCII, `""` at the apex, with service and protocol in front for SRV. `target` is, where it is a
 * name, absolute, lower-case ASCII, without its final dot, `""` for the root. Only the fields that the type uses are there.
 */
export interface RecordValues extends Values {
  readonly type: RecordType;
  readonly name: string;
  readonly target: string;
  readonly ttl_sec: number;
}

type ExtraField = "priority" | "weight" | "port" | "tag";

/** What a type holds beyond name, target and TTL, and whether its target is a name. */
const TYPES: Readonly<Record<RecordType, { readonly extra: readonly ExtraField[]; readonly named: boolean }>> = {
  A: { extra: [], named: false },
  AAAA: { extra: [], named: false },
  CAA: { extra: ["tag"], named: false },
  CNAME: { extra: [], named: true },
  MX: { extra: ["priority"], named: true },
  NS: { extra: [], named: true },
  PTR: { extra: [], named: true },
  SRV: { extra: ["priority", "weight", "port"], named: true },
  TXT: { extra: [], named: false },
};

export function isKnownType(type: string): type is RecordType {
  return Object.hasOwn(TYPES, type);
}

/** Whether the type's target is a name. */
export function isNamed(type: RecordType): boolean {
  return TYPES[type].named;
}

export function desiredRecord(spec: RecordSpec): RecordValues {
  return withExtra({ type: spec.type, name: spec.name, target: spec.target, ttl_sec: spec.ttl_sec }, spec);
}

/** Values that the service echoes although the type does not use them are left out: they must not cause a diff. */
export function liveRecord(record: WireRecord, zone: string): RecordValues {
  const name = canonicalName(liveName(record));
  const base = {
    type: record.type,
    name: name === "@" ? "" : (relativeName(name, zone) ?? name),
    target: liveTarget(record),
    ttl_sec: record.ttl_sec,
  };
  return withExtra(base, record);
}

function withExtra(base: RecordValues, source: RecordSpec | WireRecord): RecordValues {
  const extra = Object.fromEntries(TYPES[base.type].extra.map((field) => [field, source[field] ?? 0]));
  return { ...base, ...extra };
}

function liveName(record: WireRecord): string {
  if (record.type !== "SRV" || record.name.startsWith("_") || !record.service) return record.name;
  const service = `_${bare(record.service)}`;
  return record.protocol ? `${service}._${bare(record.protocol)}` : service;
}

function liveTarget(record: WireRecord): string {
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

/** All that a record says, as one text: equal keys, equal records. */
export function contentKey(values: RecordValues, leaveOut: readonly ("name" | "ttl_sec")[] = []): string {
  const { type, name, target, ttl_sec } = values;
  const extra = TYPES[type].extra.map((field) => values[field] ?? null);
  return JSON.stringify([
    type,
    leaveOut.includes("name") ? null : name,
    leaveOut.includes("ttl_sec") ? null : ttl_sec,
    ...extra,
    target,
  ]);
}

/** The name that resolvers are sent on to by this record, absolute; null if it points nowhere. */
export function pointerTarget(values: RecordValues): string | null {
  switch (values.type) {
    case "CNAME":
    case "MX":
    case "NS":
    case "SRV":
      return values.target === "" ? null : values.target;
    case "A":
    case "AAAA":
    case "CAA":
    case "PTR":
    case "TXT":
      return null;
  }
}

/** Whether the record answers for its name when an address is asked for. */
export function answersAddress(values: RecordValues): boolean {
  return values.type === "A" || values.type === "AAAA" || values.type === "CNAME";
}

export function recordFqdn(values: RecordValues, zone: string): string {
  return absoluteName(values.name, zone);
}
