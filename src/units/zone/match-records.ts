/** Matches the declared records of one zone with its live ones: the same, changed, renamed, created or deleted. */

import { mapKey } from "../../model/map-key.ts";
import type { ObjectId } from "../../model/resource.ts";
import { compareText, groupBy } from "../../model/text.ts";
import type { Claim } from "../../model/unit.ts";
import { ClaimTable, claimsBeyond, claimsOf } from "./claims.ts";
import { contentKey, type RecordValues, recordFqdn } from "./wire-record.ts";

export interface LiveEntry {
  readonly id: ObjectId;
  readonly values: RecordValues;
}

export interface DesiredEntry<Origin> {
  readonly origin: Origin;
  readonly values: RecordValues;
}

/** At least one of the two is not null. */
export interface RecordMatch<Origin> {
  readonly desired: DesiredEntry<Origin> | null;
  readonly live: LiveEntry | null;
}

interface MatchOptions {
  readonly zone: string;
  /** Names, absolute, that something in the plan points at: they must not vanish by a rename. */
  readonly pointedAt: ReadonlySet<string>;
  /** The zone has wildcards or delegations. Nothing is renamed then: the old name must go and the new one come in steps of their own. */
  readonly hidesNames: boolean;
}

/**
 * Exact matches come first, so that a live duplicate of a declared record is left over; then records of the same name and type are
 * paired into updates; then equal content under a new name is a rename. The rest is created and deleted.
 */
export function matchRecords<Origin>(
  desired: readonly DesiredEntry<Origin>[],
  live: readonly LiveEntry[],
  options: MatchOptions,
): RecordMatch<Origin>[] {
  const rest: Rest<Origin> = { desired: [...desired], live: byId(live) };
  const same = pairOff(rest, (values) => contentKey(values));
  // Sorted only now: most records are as they are declared.
  rest.desired = sortedByContent(rest.desired);
  rest.live = sortedByContent(rest.live);
  const sameTarget = pairOff(rest, (values) => mapKey(JSON.stringify([values.name, values.type, values.target])));
  const sameName = pairOff(rest, (values) => JSON.stringify([values.name, values.type]));
  const isFree = (entry: { values: RecordValues }) => !options.pointedAt.has(recordFqdn(entry.values, options.zone));
  const movable = options.hidesNames
    ? { desired: [], live: [] }
    : { desired: rest.desired.filter(isFree), live: rest.live.filter(isFree) };
  const renames = withoutCycles(
    pairOff(movable, (values) => contentKey(values, ["name"])),
    options.zone,
  );
  const renamed = new Set(renames.flatMap((match) => [match.desired, match.live]));
  return [
    ...same,
    ...sameTarget,
    ...sameName,
    ...renames,
    ...rest.desired.filter((entry) => !renamed.has(entry)).map((entry) => ({ desired: entry, live: null })),
    ...rest.live.filter((entry) => !renamed.has(entry)).map((entry) => ({ desired: null, live: entry })),
  ];
}

/** In an additive zone a declared record counts as present with any TTL, and is created if it is absent: no record is ever changed. */
export function matchAdditive<Origin>(
  desired: readonly DesiredEntry<Origin>[],
  live: readonly LiveEntry[],
): RecordMatch<Origin>[] {
  const rest: Rest<Origin> = { desired: sortedByContent(desired), live: sortedByContent(byId(live)) };
  const there = pairOff(rest, (values) => contentKey(values, ["ttl_sec"]));
  return [
    ...there.map((match) => ({ live: match.live, desired: { ...match.desired, values: match.live.values } })),
    ...rest.desired.map((entry) => ({ desired: entry, live: null })),
  ];
}

/** Deleted records that have an equal one which stays: no answer changes. The TTL is not compared, as it belongs to the whole set. */
export function duplicates<Match extends RecordMatch<unknown>>(matches: readonly Match[]): Set<Match> {
  const gone = matches.filter(({ desired }) => desired === null);
  if (gone.length === 0) return new Set();
  const keyOf = ({ values }: { values: RecordValues }) => contentKey(values, ["ttl_sec"]);
  const staying = new Set<string>();
  for (const { desired, live } of matches) {
    if (desired !== null && live !== null && keyOf(desired) === keyOf(live)) staying.add(keyOf(live));
  }
  return new Set(gone.filter(({ live }) => live !== null && staying.has(keyOf(live))));
}

interface Both<Origin> {
  readonly desired: DesiredEntry<Origin>;
  readonly live: LiveEntry;
}

interface Rest<Origin> {
  desired: DesiredEntry<Origin>[];
  live: LiveEntry[];
}

/** Pairs records of the same key, in order, and takes them out of the rest. */
function pairOff<Origin>(rest: Rest<Origin>, keyOf: (values: RecordValues) => string): Both<Origin>[] {
  const waiting = groupBy(rest.live, (entry) => keyOf(entry.values));
  for (const group of waiting.values()) group.reverse();
  const taken = new Set<LiveEntry>();
  const found: Both<Origin>[] = [];
  rest.desired = rest.desired.filter((entry) => {
    const partner = waiting.get(keyOf(entry.values))?.pop();
    if (partner === undefined) return true;
    taken.add(partner);
    found.push({ desired: entry, live: partner });
    return false;
  });
  rest.live = rest.live.filter((entry) => !taken.has(entry));
  return found;
}

/**
 * The renames that can be ordered: those that are not in, or behind, a circle in which each needs a name that the next one gives up. What
 * is left out becomes deletes and creates, which can be ordered.
 */
function withoutCycles<Origin>(renames: readonly Both<Origin>[], zone: string): Both<Origin>[] {
  const released = new ClaimTable<Both<Origin>>();
  for (const rename of renames) released.add(claimChange(rename, zone).release, rename);
  const waitsFor = new Map<Both<Origin>, number>();
  const unblocks = new Map<Both<Origin>, Both<Origin>[]>(renames.map((rename) => [rename, []]));
  for (const rename of renames) {
    const before = released.conflicts(claimChange(rename, zone).acquire).filter((other) => other !== rename);
    waitsFor.set(rename, before.length);
    for (const other of before) unblocks.get(other)?.push(rename);
  }
  const free = renames.filter((rename) => waitsFor.get(rename) === 0);
  for (const rename of free) {
    for (const waiting of unblocks.get(rename) ?? []) {
      const left = (waitsFor.get(waiting) ?? 0) - 1;
      waitsFor.set(waiting, left);
      if (left === 0) free.push(waiting);
    }
  }
  return free;
}

function claimChange(match: Both<unknown>, zone: string): { release: Claim[]; acquire: Claim[] } {
  const before = claimsOf(match.live.values, zone);
  const after = claimsOf(match.desired.values, zone);
  return { release: claimsBeyond(before, after), acquire: claimsBeyond(after, before) };
}

/** Those of equal content stay in the order that they have. */
function sortedByContent<Entry extends DesiredEntry<unknown> | LiveEntry>(entries: readonly Entry[]): Entry[] {
  const keyed = entries.map((entry) => {
    const { name, type, target } = entry.values;
    return { entry, key: JSON.stringify([name, type, target, contentKey(entry.values)]) };
  });
  return keyed.sort((a, b) => compareText(a.key, b.key)).map(({ entry }) => entry);
}

/** Whatever the order in which the service lists them. */
export function byId(entries: readonly LiveEntry[]): LiveEntry[] {
  return entries.toSorted((a, b) => Number(a.id) - Number(b.id));
}
