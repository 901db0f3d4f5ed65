/** Zones, desired beside live: a domain and its records as pairs that plain comparison can diff. */

import { type Address, domainAddress, recordAddress } from "../../../model/address.ts";
import type { Block, ChangeLabel } from "../../../model/change.ts";
import type { IgnorePattern } from "../../../model/desired.ts";
import type { Diagnostic } from "../../../model/diagnostic.ts";
import type { LeftAlone } from "../../../model/plan.ts";
import type { Values } from "../../../model/resource.ts";
import type { Match, Pair, PairContext, Paired } from "../../../model/unit.ts";
import { rootLabels } from "../../labels.ts";
import { desiredDomain, liveDomain } from "../domain.ts";
import { type LiveZone, zoneName } from "../live.ts";
import type { RecordSpec, ZoneSpec } from "../shape.ts";
import { desiredRecord, isKnownType, liveRecord, pointerTarget, type RecordValues } from "../values.ts";
import { missingSources, servedWhileMade } from "./beginnings.ts";
import { ClaimTable, claimsBeyond, claimsOf } from "./claims.ts";
import { type Ignoring, ignoring } from "./ignore.ts";
import {
  type DesiredEntry,
  duplicates,
  type LiveEntry,
  matchAdditive,
  matchRecords,
  type RecordMatch,
} from "./match.ts";

type ZoneMatch = Match<ZoneSpec, LiveZone>;

/** A match with its records in comparable form. */
interface Reading {
  readonly match: ZoneMatch;
  readonly zone: string;
  /** null if the records are not managed. */
  readonly desired: readonly DesiredEntry<RecordSpec>[] | null;
  /** All records of a type that the API had. */
  readonly entries: readonly LiveEntry[];
  /** Of them those that may be changed. */
  readonly live: readonly LiveEntry[];
  /** Ignored, or of a type that the API did not have: never touched. */
  readonly kept: readonly LiveEntry[];
  readonly ignored: Ignoring<LiveEntry>;
}

export function pairZones(matches: readonly ZoneMatch[], context: PairContext): Paired {
  const readings = matches.map(readMatch);
  const pointedAt = pointedNames(readings);
  const missing = missingSources(matches, context);
  const pairs: Pair[] = [];
  const warnings: Diagnostic[] = [];
  const mixed: Address[] = [];
  const additive: Address[] = [];
  let ignored = 0;
  for (const reading of readings) {
    const own = domainPair(reading, context);
    const source = missing.get(reading.zone);
    pairs.push(source === undefined ? own : { ...own, block: { type: "clone-source-missing", domain: source } });
    if (isMixed(reading)) mixed.push(own.root);
    if (reading.match.declared?.spec.policy === "additive") additive.push(own.root);
    if (source === undefined) warnings.push(...servedWhileMade(reading.match, context));
    if (reading.desired === null) continue;
    ignored += reading.kept.length;
    for (const pair of recordPairs(reading, reading.desired, pointedAt)) pairs.push(pair);
  }
  const leftAlone: LeftAlone[] = ignored === 0 ? [] : [{ kind: "domain_record", count: ignored, reason: "ignored" }];
  return { pairs, leftAlone, warnings, mixed, additive };
}

/** Whether it holds, or may hold, records that are not declared. */
function isMixed({ match, live, kept }: Reading): boolean {
  return kept.length > 0 || (match.declared?.spec.policy === "additive" && live.length > 0);
}

function readMatch(match: ZoneMatch): Reading {
  const zone = match.declared?.spec.domain ?? zoneName((match.live as LiveZone).domain);
  const entries: LiveEntry[] = [];
  const live: LiveEntry[] = [];
  const kept: LiveEntry[] = [];
  for (const record of match.live?.records ?? []) {
    if (!isKnownType(record.type)) {
      kept.push({ id: record.id, values: { type: record.type, name: record.name, target: record.target, ttl_sec: 0 } });
      continue;
    }
    entries.push({ id: record.id, values: liveRecord(record, zone) });
  }
  const ignored = ignoring(ignorePatterns(match), entries, ({ values }) => values);
  for (const entry of entries) (ignored.has(entry.values) ? kept : live).push(entry);
  const managed = match.intent === "create" || match.intent === "manage" ? match.declared.spec.records : null;
  const desired = managed?.map((spec) => ({ origin: spec, values: desiredRecord(spec) })) ?? null;
  return { match, zone, desired, entries, live, kept, ignored };
}

function ignorePatterns(match: ZoneMatch): readonly IgnorePattern[] {
  return match.declared?.spec.ignore ?? match.removed?.ignore ?? [];
}

function pointedNames(readings: readonly Reading[]): Set<string> {
  const names = new Set<string>();
  for (const { desired, live, kept } of readings) {
    for (const entries of [desired ?? [], live, kept]) {
      for (const { values } of entries) {
        const target = pointerTarget(values);
        if (target !== null) names.add(target);
      }
    }
  }
  return names;
}

function domainPair({ match, zone, entries, kept }: Reading, context: PairContext): Pair {
  const live = match.live === null ? null : liveDomain(match.live);
  const address = domainAddress(zone);
  const liveAddress = match.live === null ? address : domainAddress(zoneName(match.live.domain));
  return {
    unit: "zone",
    kind: "domain",
    root: address,
    address,
    previousAddress: liveAddress === address ? null : liveAddress,
    parent: null,
    id: match.live?.domain.id ?? null,
    desired: desiredValues(match, live, context),
    live,
    immutable: [],
    renew: false,
    labels: rootLabels(match, live, null, context),
    heldBy: [],
    block: match.intent === "delete" && isBound(match, kept) ? keptRecords(kept) : null,
    protect: match.declared?.protect ?? false,
    note: match.declared?.note ?? null,
    span: match.declared?.span ?? match.removed?.span ?? null,
    ...holdings(match, entries),
  };
}

/** Of a zone that goes. What it was told to ignore counts although only an earlier manifest says so. */
function holdings(match: ZoneMatch, entries: readonly LiveEntry[]): Pick<Pair, "holds"> {
  const records = match.live?.records ?? null;
  if (match.intent !== "delete" || records === null) return {};
  const told = [match.declared?.spec.ignore, match.removed?.ignore, match.former?.spec.ignore];
  const patterns = told.flatMap((ignore) => ignore ?? []);
  const isKnown = match.declared !== null || match.former !== null || patterns.length > 0;
  const ignored = ignoring(patterns, entries, ({ values }) => values);
  const count = entries.filter(({ values }) => ignored.has(values)).length;
  return { holds: { records: records.length, ignored: isKnown ? count : null } };
}

/** Whether something in it was asked to be let be. */
function isBound(match: ZoneMatch, kept: readonly LiveEntry[]): boolean {
  return kept.length > 0 && ignorePatterns(match).length > 0;
}

function desiredValues(match: ZoneMatch, live: Values | null, context: PairContext): Values | null {
  switch (match.intent) {
    case "delete":
      return null;
    case "release":
      return { ...live, owner: null };
    case "create":
    case "manage":
      return desiredDomain(match.declared.spec, live, context);
  }
}

function recordPairs(
  reading: Reading,
  desired: readonly DesiredEntry<RecordSpec>[],
  pointedAt: ReadonlySet<string>,
): Pair[] {
  const { match, zone, live, kept, ignored } = reading;
  const additive = match.declared?.spec.policy === "additive";
  const wild = [...desired, ...live, ...kept].some(({ values }) => hidesOthers(values));
  const matches = additive ? matchAdditive(desired, live) : matchRecords(desired, live, { zone, pointedAt, wild });
  const staying = new ClaimTable<LiveEntry>();
  const matched = new Set(matches.map((found) => found.live));
  for (const entry of [...kept, ...(additive ? live.filter((entry) => !matched.has(entry)) : [])]) {
    staying.add(claimsOf(entry.values, zone), entry);
  }
  const doubled = duplicates(matches);
  return matches.map((found) => {
    const claimants = found.desired === null ? [] : ignored.claimants(found.desired.values);
    return recordPair(found, labelsOf(found, doubled), zone, staying, claimants);
  });
}

function labelsOf(match: RecordMatch<RecordSpec>, doubled: ReadonlySet<RecordMatch<RecordSpec>>): ChangeLabel[] {
  const { desired, live } = match;
  if (desired !== null && live !== null && desired.values.name !== live.values.name) return ["rename"];
  return doubled.has(match) ? ["duplicate"] : [];
}

/** @param claimants live records that make the declared one somebody else's */
function recordPair(
  { desired, live }: RecordMatch<RecordSpec>,
  labels: readonly ChangeLabel[],
  zone: string,
  staying: ClaimTable<LiveEntry>,
  claimants: readonly LiveEntry[],
): Pair {
  const root = domainAddress(zone);
  const values = (desired ?? live)?.values as RecordValues;
  const address = recordAddress(root, values.name, values.type);
  const before = live === null ? null : recordAddress(root, live.values.name, live.values.type);
  const takes = desired === null ? [] : claimsOf(desired.values, zone);
  const beyond = claimsBeyond(takes, live === null ? [] : claimsOf(live.values, zone));
  const clashes = [...new Set([...staying.conflicts(beyond), ...claimants])];
  return {
    unit: "zone",
    kind: "domain_record",
    root,
    address,
    previousAddress: before === address ? null : before,
    parent: root,
    id: live?.id ?? null,
    desired: desired?.values ?? null,
    live: live?.values ?? null,
    immutable: [],
    renew: false,
    labels,
    heldBy: [],
    block: clashes.length === 0 ? null : keptRecords(clashes, claimants.length > 0),
    protect: false,
    note: desired?.origin.note ?? null,
    span: desired?.origin.span ?? null,
  };
}

/** Wildcards and delegations: other names' answers depend on when they come and go. */
function hidesOthers({ name, type }: RecordValues): boolean {
  return name.startsWith("*") || (type === "NS" && name !== "");
}

/** In the order of their ids, whatever the order in which the service lists them. */
function keptRecords(entries: readonly LiveEntry[], claimed = false): Block {
  const ordered = [...entries].sort((a, b) => Number(a.id) - Number(b.id));
  const records = ordered.map(({ id, values }) => ({ id, ...values }));
  return { type: "kept-records", records, ...(claimed ? { claimed } : {}) };
}
