/** A zone's spec as the manifest entry that declares it. */

import type { WireRecord } from "../../api/wire.ts";
import { isNamed, type RecordType } from "../../dns/record.ts";
import { ANNOTATION_KEYS } from "../../model/annotations.ts";
import type { Declared } from "../../model/desired.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import { COMMON_KEYS, type EntryLayout, OTHER_KEYS, type WrittenEntry } from "../../model/unit.ts";
import { forPeople, NOWHERE, stated, UNSTATED } from "../common.ts";
import { liveDomain } from "./domain.ts";
import { identifyZone, type LiveZone } from "./live.ts";
import { writeCreateFrom } from "./load-domain.ts";
import type { RecordSpec, ZoneSpec } from "./spec.ts";
import { isKnownRecord, liveRecord } from "./wire-record.ts";

/** The order of keys: what a record is first, its names next, then its data. */
const RECORD_KEYS: readonly string[] = [
  ...["spf", "dmarc", "dkim", "caa", "ptr", "type", "name", "service", "protocol", "tag", "target", "targets"],
  ...["priority", "weight", "port", "ttl_sec", "override", "note", ...ANNOTATION_KEYS, "lint", OTHER_KEYS],
];

export const ZONE_LAYOUT: EntryLayout = {
  keys: [
    ...["domain", "reverse", ...COMMON_KEYS, "type", "status", "description", "group", "soa_email"],
    ...["master_ips", "axfr_ips", "refresh_sec", "retry_sec", "expire_sec", "ttl_sec", "tags", "lint"],
    ...["create_from", "shared_with", "part", "records_policy", OTHER_KEYS, "ignore", "use", "zone_file", "records"],
  ],
  lists: {
    ignore: ["preset", "txt_prefix", "txt_suffix", "name", "type", "target", OTHER_KEYS],
    shared_with: ["owner", "names", OTHER_KEYS],
    records: RECORD_KEYS,
  },
  oneLine: ["tags", "master_ips", "axfr_ips", "use", "lint", "create_from", "part"],
};

export function writeZone(spec: ZoneSpec): WrittenEntry {
  const { domain, fields, records, ignore, policy, createFrom, lintOff, part, sharedWith } = spec;
  const body: JsonObject = {
    ...fields,
    ...(createFrom === null ? {} : { create_from: writeCreateFrom(createFrom) }),
    ...(sharedWith === undefined ? {} : { shared_with: sharedWith.map(({ owner, names }) => ({ owner, names })) }),
    ...(part === undefined ? {} : { part: { names: part } }),
    ...(policy === "additive" ? { records_policy: policy } : {}),
    ...(ignore.length === 0 ? {} : { ignore: ignore.map((pattern) => ({ ...pattern })) }),
    ...lintOf(lintOff),
    ...(records === null ? {} : { records: records.map(writeRecord) }),
  };
  return { head: { domain }, body };
}

/** A target that is a name is absolute, so it is written with its final dot. */
function writeRecord({
  type,
  name,
  target,
  ttl_sec,
  priority,
  weight,
  port,
  tag,
  note,
  annotations,
  lintOff,
}: RecordSpec): JsonObject {
  return {
    type,
    ...(name === "" ? {} : { name }),
    ...stated({ tag }),
    target: isNamed(type) ? `${target}.` : target,
    ...stated({ priority, weight, port }),
    ...(ttl_sec === 0 ? {} : { ttl_sec }),
    ...forPeople({ note, ...(annotations === undefined ? {} : { annotations }) }),
    ...lintOf(lintOff),
  };
}

function lintOf(off: readonly string[]): JsonObject {
  return off.length === 0 ? {} : { lint: { off: [...off] } };
}

// A live zone as the declaration that it fits: the way back from the account to a manifest.

/** What identifies a domain, or is said by tags that Tenon sets. */
const NOT_FIELDS: ReadonlySet<string> = new Set(["domain", "owner", "shared_with"]);

/** Records of types that the service did not have are left alone by every plan, so they are left out here. */
export function declareZone(live: LiveZone): Declared<ZoneSpec> {
  const { key, address } = identifyZone(live);
  const records = live.domain.type === "slave" ? null : (live.records?.filter(isKnownRecord) ?? null);
  return {
    unit: "zone",
    address,
    key,
    ...UNSTATED,
    spec: {
      domain: key,
      fields: statedFields(live),
      records: records?.map((record) => declareRecord(record, key)) ?? null,
      ignore: [],
      policy: "authoritative",
      createFrom: null,
      lintOff: [],
    },
  };
}

function statedFields(live: LiveZone): Record<string, Json> {
  const values = Object.entries(liveDomain(live)).filter(([field]) => !NOT_FIELDS.has(field));
  return Object.fromEntries(values.filter(([field, value]) => field === "type" || !isDefault(field, value)));
}

function isDefault(field: string, value: Json): boolean {
  if (field === "status") return value === "active";
  return value === "" || value === 0 || (Array.isArray(value) && value.length === 0);
}

function declareRecord(record: WireRecord<RecordType>, zone: string): RecordSpec {
  return { ...liveRecord(record, zone), note: null, lintOff: [], span: NOWHERE };
}
