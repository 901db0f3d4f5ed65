/** The zones of an account before and after a plan, as far as they were read. */

import type { Address } from "../../../model/address.ts";
import type { Change } from "../../../model/change.ts";
import { type LiveZone, zoneName } from "../live.ts";
import { isKnownType, liveRecord, type RecordValues, recordFqdn } from "../values.ts";

export interface SideRecord {
  /** Absolute. */
  readonly name: string;
  readonly values: RecordValues;
  /** What becomes of it, or makes it; null if the plan has nothing to say of it. */
  readonly change: Change | null;
}

export interface SideZone {
  readonly name: string;
  readonly active: boolean;
  /** null: unknown. */
  readonly records: readonly SideRecord[] | null;
}

export interface Sides {
  readonly before: readonly SideZone[];
  readonly after: readonly SideZone[];
}

/** @param live what was read, planned or not */
export function sidesOf(
  domains: readonly Change[],
  records: ReadonlyMap<Address, readonly Change[]>,
  live: readonly LiveZone[],
): Sides {
  const planned = new Map(domains.map((domain) => [planName(domain), domain]));
  const before: SideZone[] = [];
  const after: SideZone[] = [];
  const found = new Map(live.map((zone) => [zoneName(zone.domain), zone]));
  for (const name of [...new Set([...found.keys(), ...planned.keys()])].sort()) {
    const domain = planned.get(name) ?? null;
    const zone = found.get(name) ?? null;
    const changes = domain === null ? [] : (records.get(domain.root) ?? []);
    const kept = keptRecords(zone, changes, name);
    if (zone !== null || domain?.before) before.push(beforeOf(name, domain, zone, changes, kept));
    const next = afterOf(name, domain, zone, changes, kept);
    if (next !== null) after.push(next);
  }
  return { before, after };
}

function beforeOf(
  name: string,
  domain: Change | null,
  zone: LiveZone | null,
  changes: readonly Change[],
  kept: readonly SideRecord[],
): SideZone {
  const status = zone?.domain.status ?? domain?.before?.["status"] ?? "active";
  const isUnknown = zone !== null && (zone.records === null || zone.domain.type === "slave");
  const records = changes.flatMap((change) => sideRecord(change.before, name, change));
  return { name, active: status === "active", records: isUnknown ? null : [...records, ...kept] };
}

/** @returns null if the zone is not there any more */
function afterOf(
  name: string,
  domain: Change | null,
  zone: LiveZone | null,
  changes: readonly Change[],
  kept: readonly SideRecord[],
): SideZone | null {
  const values = afterValues(domain) ?? (domain === null ? zone?.domain : null) ?? null;
  if (values === null) return null;
  const status = "status" in values ? values.status : "active";
  const wasUnknown = zone !== null && zone.records === null;
  // A slave's records are its master's, and what a copy brings is not known before.
  const isUnknown = wasUnknown || values.type === "slave" || (zone === null && "create_from" in values);
  const records = changes.flatMap((change) => sideRecord(afterValues(change), name, change));
  return { name, active: status === "active", records: isUnknown ? null : [...records, ...kept] };
}

/** What an unselected change would lead to does not come about. */
export function afterValues(change: Change | null): Change["after"] {
  if (change === null) return null;
  return change.action === "no-op" ? change.before : change.after;
}

/** Records that are nobody's to change: ignored, or of unknown types. They answer, and they hide wildcards. */
function keptRecords(zone: LiveZone | null, changes: readonly Change[], name: string): SideRecord[] {
  const ids = new Set(changes.map(({ id }) => String(id)));
  return (zone?.records ?? [])
    .filter(({ id }) => !ids.has(String(id)))
    .map((record) => {
      const { type, name: owner, target, ttl_sec } = record;
      const values = isKnownType(type)
        ? liveRecord(record, name)
        : ({ type, name: owner, target, ttl_sec } as RecordValues);
      return { name: recordFqdn(values, name), values, change: null };
    });
}

function sideRecord(values: Change["before"], zone: string, change: Change): SideRecord[] {
  if (values === null) return [];
  return [{ name: recordFqdn(values as RecordValues, zone), values: values as RecordValues, change }];
}

export function planName(domain: Change): string {
  return String((domain.after ?? domain.before)?.["domain"]);
}
