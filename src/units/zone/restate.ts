/** A zone by the values that changes have of it: live ones, and what declares an object with given ones. */

import type { Declared } from "../../model/desired.ts";
import type { Span } from "../../model/diagnostic.ts";
import { domainAddress, type Json, type Values } from "../../model/resource.ts";
import type { Compared, LiveValues, RestateContext, RestatedValues } from "../../model/unit.ts";
import { UNSTATED } from "../common.ts";
import { ClaimTable, claimsOf } from "./claims.ts";
import { liveDomain } from "./domain.ts";
import { countComparisons, ignoring, MAX_LIVE_COMPARISONS } from "./ignore.ts";
import { type LiveZone, zoneName } from "./live.ts";
import { isOthersName } from "./sharing.ts";
import type { RecordSpec, ZoneSpec } from "./spec.ts";
import { isKnownRecord, liveRecord, type RecordValues } from "./wire-record.ts";

export function valuesOfZone(live: LiveZone): LiveValues {
  const zone = zoneName(live.domain);
  return {
    values: liveDomain(live),
    within: (live.records ?? []).filter(isKnownRecord).map((record) => ({
      kind: "domain_record",
      id: record.id,
      values: liveRecord(record, zone),
    })),
  };
}

/** What is no field: it identifies a domain, is said by tags that Tenon sets, or tells how it was made. */
const NOT_FIELDS: ReadonlySet<string> = new Set(["domain", "owner", "shared_with", "create_from"]);

/** Who shares the zone is kept, and all of its names are managed: none of what the others keep in it is declared otherwise than it is. */
export function restateZone(
  { values, within }: RestatedValues,
  { own, part, span }: RestateContext<ZoneSpec>,
): Declared<ZoneSpec> {
  const domain = String(values["domain"]);
  const fields = Object.fromEntries(Object.entries(values).filter(([field]) => !NOT_FIELDS.has(field)));
  const sharedWith = namesIn(values["shared_with"]).map((owner) => ({ owner, names: [] }));
  const names = own?.spec.part ?? [];
  const managed = part ? within?.filter((record) => !isOthersName(String(record["name"]), { part: names })) : within;
  return {
    unit: "zone",
    address: domainAddress(domain),
    key: domain,
    ...UNSTATED,
    protect: own?.protect ?? false,
    span,
    ...(part ? { part: true } : {}),
    spec: {
      domain,
      fields: part ? {} : fields,
      restated: true,
      records: managed?.map((record) => recordOf(record as RecordValues, span)) ?? null,
      // What is ignored must not go with the domain. Where records are managed, they are all said as they are.
      ignore: within === null ? (own?.spec.ignore ?? []) : [],
      policy: "authoritative",
      createFrom: null,
      lintOff: own?.spec.lintOff ?? [],
      ...(part ? { part: names } : sharedWith.length === 0 ? {} : { sharedWith }),
    },
  };
}

/**
 * What the entry ignores, shares, or has outside of its part; all of it, if the patterns are too many to be compared with it. What it ignores
 * comes back if the run deleted it and nothing stands in its place: whoever keeps it may find it by its registry record, which is gone as well.
 */
export function leftToOthers(
  own: Declared<ZoneSpec> | null,
  within: readonly Values[],
  deleted: readonly Values[],
  compared: Compared,
): (values: Values) => boolean {
  if (own === null) return () => false;
  const { spec } = own;
  const records = [...within, ...deleted].map((values) => values as RecordValues);
  const comparisons = countComparisons(spec.ignore, spec.domain, records);
  compared.characters += comparisons;
  if (comparisons > 0 && compared.characters > MAX_LIVE_COMPARISONS) return () => true;
  const patterns = ignoring(spec.ignore, spec.domain, records, (values) => values);
  const [gone, there] = [new Set(deleted), new Set(within.map(setOf))];
  const comesBack = (values: Values): boolean => gone.has(values) && !there.has(setOf(values));
  return (values) =>
    isOthersName(String(values["name"]), spec) || (patterns.ignores(values as RecordValues) && !comesBack(values));
}

function setOf({ type, name }: Values): string {
  return `${String(type)} ${String(name)}`;
}

function namesIn(list: Json | undefined): readonly string[] {
  return Array.isArray(list) ? (list as readonly Json[]).map(String) : [];
}

function recordOf(values: RecordValues, span: Span): RecordSpec {
  return { ...values, note: null, lintOff: [], span };
}

/** A record beside a CNAME, a CNAME beside others, or another MX beside a null MX. */
export function clashingRecords(wanted: readonly Values[], staying: readonly Values[]): ReadonlySet<Values> {
  const claims = new ClaimTable<Values>();
  for (const record of staying) claims.add(claimsOf(record as RecordValues, ""), record);
  return new Set(wanted.filter((record) => claims.hasConflict(claimsOf(record as RecordValues, ""))));
}
