/** Which live record is which declared one, within one zone. */

import { compareText, groupBy } from "../../../model/group.ts";
import type { ObjectId } from "../../../model/resource.ts";
import type { Claim } from "../../../model/unit.ts";
import { contentKey, type RecordValues, recordFqdn } from "../values.ts";
import { ClaimTable, claimsBeyond, claimsOf } from "./claims.ts";

export interface LiveEntry {
  readonly id: ObjectId;
  readonly values: RecordValues;
}

export interface DesiredEntry<Origin> {
  readonly origin: Origin;
  readonly values: RecordValues;
}

/** One of the two is not null. */
export interface RecordMatch<Origin> {
  readonly desired: DesiredEntry<Origin> | null;
  readonly live: LiveEntry | null;
}

export interface MatchOptions {
  readonly zone: string;
  /** Names, absolute, that something in the plan points at: they must not vanish by a rename. */
  readonly pointedAt: ReadonlySet<string>;
  /** There are wildcards or delegations: names must come to stand beneath them, or leave, at moments of their own, and not by renames. */
  readonly wild: boolean;
}

/**
 * Exact matches first, so that a live duplicate of one declared record is left over; then what shares name and type is paired
 * into updates; then equal content under a new name is a rename. The rest is to be created and deleted.
 */
export function matchRecords<Origin>(
  desired: readonly DesiredEntry<Origin>[],
  live: readonly LiveEntry[],
  options: MatchOptions,
): RecordMatch<Origin>[] {
  const rest = { desired: [...desired].sort(byContent), live: [...live].sort(byContent) };
  const same = pairOff(rest, (values) => contentKey(values));
  const sameTarget = pairOff(rest, (values) => JSON.stringify([values.name, values.type, values.target]));
  const sameName = pairOff(rest, (values) => JSON.stringify([values.name, values.type]));
  const isFree = (entry: { values: RecordValues }) => !options.pointedAt.has(recordFqdn(entry.values, options.zone));
  const movable = options.wild
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

/** In an additive zone a declared record is there if any TTL of it is, and is created if not: nothing is ever changed. */
export function matchAdditive<Origin>(
  desired: readonly DesiredEntry<Origin>[],
  live: readonly LiveEntry[],
): RecordMatch<Origin>[] {
  const rest = { desired: [...desired].sort(byContent), live: [...live].sort(byContent) };
  const there = pairOff(rest, (values) => contentKey(values, ["ttl_sec"]));
  return [
    ...there.map((match) => ({ live: match.live, desired: { ...match.desired, values: match.live.values } })),
    ...rest.desired.map((entry) => ({ desired: entry, live: null })),
  ];
}

/** Of the records that go, those of which an equal one stays: their answers stay as they are. A TTL is the whole set's. */
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

/** Pairs, in order, what has the same key, and takes it out of the rest. */
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
 * Renames whose new names do not wait, in a circle, for each other's old ones. A rename frees and takes in one request, so
 * such a circle could not be ordered; as deletes and creates it can.
 */
function withoutCycles<Origin>(renames: readonly Both<Origin>[], zone: string): Both<Origin>[] {
  const freed = new ClaimTable<Both<Origin>>();
  for (const rename of renames) freed.add(claimChange(rename, zone).frees, rename);
  const waitsFor = new Map<Both<Origin>, number>();
  const unblocks = new Map<Both<Origin>, Both<Origin>[]>(renames.map((rename) => [rename, []]));
  for (const rename of renames) {
    const before = freed.conflicts(claimChange(rename, zone).takes).filter((other) => other !== rename);
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

function claimChange(match: Both<unknown>, zone: string): { frees: Claim[]; takes: Claim[] } {
  const before = claimsOf(match.live.values, zone);
  const after = claimsOf(match.desired.values, zone);
  return { frees: claimsBeyond(before, after), takes: claimsBeyond(after, before) };
}

/** Live duplicates differ by their ids alone. */
function byContent(a: DesiredEntry<unknown> | LiveEntry, b: DesiredEntry<unknown> | LiveEntry): number {
  const order = compareText(sortKey(a.values), sortKey(b.values));
  return order !== 0 || !("id" in a && "id" in b) ? order : Number(a.id) - Number(b.id);
}

function sortKey(values: RecordValues): string {
  return JSON.stringify([values.name, values.type, values.target, contentKey(values)]);
}
