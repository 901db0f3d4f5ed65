/** Zones, desired beside live: a domain and its records as pairs that plain comparison can diff. */

import type { Block, ChangeLabel, ComparedResource } from "../../model/change.ts";
import type { IgnorePattern } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { mapKey } from "../../model/map-key.ts";
import type { LeftAlone } from "../../model/plan.ts";
import { type Address, domainAddress, recordAddress, type Values } from "../../model/resource.ts";
import { shellWord, shortened } from "../../model/text.ts";
import { type Claim, type Match, NO_RULES, type Pair, type PairContext, type Paired } from "../../model/unit.ts";
import { annotationsOf } from "../common.ts";
import { rootLabels, sharedWithOf } from "../owner-tag.ts";
import { ClaimTable, claimsBeyond, claimsOf } from "./claims.ts";
import { desiredDomain, liveDomain } from "./domain.ts";
import { endsSharing } from "./guards.ts";
import {
  type Claimants,
  countComparisons,
  type Ignoring,
  ignoring,
  LIVE_RECORD_CHARACTERS,
  MAX_LISTED,
  MAX_LIVE_COMPARISONS,
} from "./ignore.ts";
import { type LiveZone, zoneName } from "./live.ts";
import {
  byId,
  type DesiredEntry,
  duplicates,
  type LiveEntry,
  matchAdditive,
  matchRecords,
  type RecordMatch,
} from "./match-records.ts";
import { likelyRenames } from "./renames.ts";
import { delegatedAcross, isOthersName } from "./sharing.ts";
import type { CreateFrom, RecordSpec, ZoneSpec } from "./spec.ts";
import {
  anyLiveRecord,
  contentKey,
  desiredRecord,
  isKnownRecord,
  liveRecord,
  pointerTarget,
  type RecordValues,
} from "./wire-record.ts";

type ZoneMatch = Match<ZoneSpec, LiveZone>;

/** A match with its records in comparable form. */
interface ComparableZone {
  readonly match: ZoneMatch;
  readonly zone: string;
  /** null if the records are not managed. */
  readonly desired: readonly DesiredEntry<RecordSpec>[] | null;
  /** All live records of types that Tenon knows. */
  readonly entries: readonly LiveEntry[];
  /** Those of them that may be changed. */
  readonly live: readonly LiveEntry[];
  /** Ignored, or of a type that Tenon does not know: never touched. */
  readonly kept: readonly LiveEntry[];
  /** Of names that are not the entry's to manage: never touched either. */
  readonly others: readonly LiveEntry[];
  readonly ignoring: Ignoring<LiveEntry>;
  /** With the patterns under `ignore`; otherwise all live records count as ignored. */
  readonly isCompared: boolean;
}

export function pairZones(matches: readonly ZoneMatch[], context: PairContext): Paired {
  const refusals: Diagnostic[] = [];
  const { compared } = context;
  const zones = matches.map((match) => {
    const own = comparisonsOf(match);
    compared.characters += own;
    const isCompared = own === 0 || compared.characters <= MAX_LIVE_COMPARISONS;
    if (!isCompared) refusals.push(notCompared(match));
    return comparableZone(match, isCompared);
  });
  const pointedAt = pointedNames(zones);
  const missing = missingSources(matches, context);
  const pairs: Pair[] = [];
  const warnings: Diagnostic[] = [];
  const holdsUndeclared: Address[] = [];
  const additive: Address[] = [];
  let [keptCount, othersCount] = [0, 0];
  for (const zone of zones) {
    const missingSource = missing.get(zone.zone);
    const records = zone.desired === null ? [] : recordPairs(zone, zone.desired, pointedAt);
    const own = domainPair(zone, records, missingSource, context);
    pairs.push(own);
    if (isMixed(zone)) holdsUndeclared.push(own.resource.root);
    if (zone.match.declared?.spec.policy === "additive") additive.push(own.resource.root);
    if (missingSource === undefined) warnings.push(...servedWhileMade(zone.match, context));
    if (zone.desired === null) continue;
    if (zone.others.length > 0) warnings.push(...delegatedAcross(zone.zone, zone.desired, zone.others));
    keptCount += zone.kept.length;
    othersCount += zone.others.length;
    for (const pair of records) pairs.push(pair);
  }
  const leftAlone: LeftAlone[] = [
    ...(keptCount === 0 ? [] : [{ kind: "domain_record", count: keptCount, reason: "ignored" } as const]),
    ...(othersCount === 0 ? [] : [{ kind: "domain_record", count: othersCount, reason: "shared" } as const]),
  ];
  warnings.push(...likelyRenames(matches));
  return { pairs, leftAlone, refusals, warnings, holdsUndeclared, additive };
}

/** Whether it holds, or may hold, records that are not declared. */
function isMixed({ match, live, kept, others }: ComparableZone): boolean {
  return (
    kept.length > 0 ||
    others.length > 0 ||
    match.declared?.part === true ||
    (match.declared?.spec.policy === "additive" && live.length > 0)
  );
}

const IGNORE_ALL: readonly IgnorePattern[] = [{ name: "*" }];

function comparisonsOf(match: ZoneMatch): number {
  const { live } = match;
  if (live === null || live.records === null) return 0;
  return countComparisons(statedPatterns(match), live.domain.domain, live.records);
}

/** What may be ignored is left as it is. */
function notCompared(match: ZoneMatch): Diagnostic {
  const zone = zoneName((match.live as LiveZone).domain);
  const span = match.declared?.span ?? match.removed?.span;
  return {
    code: "live-not-compared",
    severity: "error",
    summary: `the records of ${domainAddress(zone)} are too many to compare with the patterns under \`ignore\``,
    detail: `In this plan the characters of the account's records, each counting ${LIVE_RECORD_CHARACTERS} more, times the patterns that they are compared with, are more than ${MAX_LIVE_COMPARISONS.toLocaleString("en")}. So it is not known which of them are ignored.`,
    fix: "Write fewer patterns for the domain, or select other domains with --target.",
    address: domainAddress(zone),
    ...(span === undefined ? {} : { span }),
  };
}

function comparableZone(match: ZoneMatch, isCompared: boolean): ComparableZone {
  const zone = match.declared?.spec.domain ?? zoneName((match.live as LiveZone).domain);
  const entries: LiveEntry[] = [];
  const live: LiveEntry[] = [];
  const kept: LiveEntry[] = [];
  const others: LiveEntry[] = [];
  const isOthers = (values: RecordValues) => match.declared !== null && isOthersName(values.name, match.declared.spec);
  for (const record of match.live?.records ?? []) {
    if (!isKnownRecord(record)) {
      const entry = { id: record.id, values: anyLiveRecord(record, zone) };
      (isOthers(entry.values) ? others : kept).push(entry);
      continue;
    }
    entries.push({ id: record.id, values: liveRecord(record, zone) });
  }
  const patterns = isCompared ? ignorePatterns(match) : IGNORE_ALL;
  const ignoredOf = ignoring(patterns, zone, byId(entries), ({ values }) => values);
  for (const entry of entries) {
    const { values } = entry;
    (isOthers(values) ? others : ignoredOf.ignores(values) ? kept : live).push(entry);
  }
  const managed = match.intent === "create" || match.intent === "manage" ? match.declared.spec.records : null;
  const declared = match.intent === "manage" && match.empties === true ? [] : managed;
  const desired = declared?.map((spec) => ({ origin: spec, values: desiredRecord(spec) })) ?? null;
  return { match, zone, desired, entries, live, kept, others, ignoring: ignoredOf, isCompared };
}

function ignorePatterns(match: ZoneMatch): readonly IgnorePattern[] {
  return match.declared?.spec.ignore ?? match.removed?.ignore ?? [];
}

function pointedNames(zones: readonly ComparableZone[]): Set<string> {
  const names = new Set<string>();
  for (const { desired, live, kept, others } of zones) {
    for (const entries of [desired ?? [], live, kept, others]) {
      for (const { values } of entries) {
        const target = pointerTarget(values);
        if (target !== null) names.add(target);
      }
    }
  }
  return names;
}

/**
 * @param records those that are managed
 * @param missing what it is to be cloned from, if that is not there
 */
function domainPair(
  comparable: ComparableZone,
  records: readonly Pair[],
  missing: string | undefined,
  context: PairContext,
): Pair {
  const { match, zone, kept } = comparable;
  const live = match.live === null ? null : liveDomain(match.live);
  const address = domainAddress(zone);
  const liveAddress = match.live === null ? address : domainAddress(zoneName(match.live.domain));
  const after = desiredValues(match, live, context);
  return {
    resource: {
      unit: "zone",
      kind: "domain",
      root: address,
      address,
      previousAddress: liveAddress === address ? null : liveAddress,
      id: match.live?.domain.id ?? null,
      before: live,
      after,
      labels: rootLabels(match, live, null, context),
      note: match.declared?.note ?? null,
      ...annotationsOf(match.declared),
      span: match.declared?.span ?? match.removed?.span ?? null,
      ...holdings(comparable),
      ...(match.declared?.part === true ? { part: true } : {}),
      ...(after !== null && endsSharing({ before: live, after }) ? undeclaredIn(comparable, records) : {}),
    },
    rules: { ...NO_RULES, block: domainBlock(match, kept, missing), protect: match.declared?.protect ?? false },
  };
}

/**
 * Where the project does not manage the records, nothing in the zone is declared, and most often nothing of it was read; an undo declares whatever
 * is there. The tags do not say which names an owner had: what is in those of another one now may have been the first one's. A record that gets
 * another value is not declared as it is, either; a TTL is no part of the value.
 */
function undeclaredIn(
  { match, desired, live, kept, others }: ComparableZone,
  records: readonly Pair[],
): { undeclared: number | null } {
  if (desired === null || match.declared?.spec.restated === true) return { undeclared: null };
  const keyOf = (values: Values): string => contentKey(values as RecordValues, ["ttl_sec"]);
  const declared = records.filter(
    ({ resource: { before, after } }) => before !== null && after !== null && keyOf(before) === keyOf(after),
  );
  return { undeclared: live.length + kept.length + others.length - declared.length };
}

/** A domain that is to be made may lack its clone source; one that is deleted may be shared, or hold records that must stay. */
function domainBlock(match: ZoneMatch, kept: readonly LiveEntry[], missing: string | undefined): Block | null {
  if (missing !== undefined) return { type: "clone-source-missing", domain: missing };
  const owners = match.intent === "delete" ? sharedWithOf(match.live.domain.tags) : [];
  if (owners.length > 0) return { type: "shared", owners };
  return match.intent === "delete" && mustKeepRecords(match, kept) ? keptRecords(kept, MAX_LISTED_OF_DOMAIN) : null;
}

/** What a deleted zone holds. `ignored` also counts records that only the base's manifest ignores. */
function holdings({ match, entries, isCompared }: ComparableZone): Pick<ComparedResource, "holds"> {
  const records = match.live?.records ?? null;
  if (match.intent !== "delete" || records === null) return {};
  const patterns = statedPatterns(match);
  const isKnown = isCompared && (match.declared !== null || match.former !== null || patterns.length > 0);
  if (!isKnown) return { holds: { records: records.length, ignored: null } };
  const ignoredOf = ignoring(patterns, zoneName(match.live.domain), entries, ({ values }) => values);
  return {
    holds: { records: records.length, ignored: entries.filter(({ values }) => ignoredOf.ignores(values)).length },
  };
}

/** Of a domain that is deleted, also those of the base's manifest. */
function statedPatterns(match: ZoneMatch): readonly IgnorePattern[] {
  const former = match.intent === "delete" ? match.former?.spec.ignore : undefined;
  return [match.declared?.spec.ignore, match.removed?.ignore, former].flatMap((ignore) => ignore ?? []);
}

/** Whether the manifest asks to leave some of its records alone. */
function mustKeepRecords(match: ZoneMatch, kept: readonly LiveEntry[]): boolean {
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
      if (match.declared.part === true) return live;
      return desiredDomain(match.declared, live, context);
  }
}

function recordPairs(
  comparable: ComparableZone,
  desired: readonly DesiredEntry<RecordSpec>[],
  pointedAt: ReadonlySet<string>,
): Pair[] {
  const { match, zone, live, kept, others } = comparable;
  const additive = match.declared?.spec.policy === "additive";
  const hidesNames = [...desired, ...live, ...kept, ...others].some(({ values }) => hidesOthers(values));
  const matches = additive
    ? matchAdditive(desired, live)
    : matchRecords(desired, live, { zone, pointedAt, hidesNames });
  const staying = new ClaimTable<LiveEntry>();
  const matched = new Set(matches.map((found) => found.live));
  for (const entry of [...kept, ...(additive ? live.filter((entry) => !matched.has(entry)) : [])]) {
    staying.add(claimsOf(entry.values, zone), entry);
  }
  const doubled = duplicates(matches);
  const expired = expiredEntries(match, live);
  return matches.map((found) => {
    const label = labelOf(found, doubled);
    const entry = found.desired === null && label === null ? expired(found.live) : undefined;
    const labels: ChangeLabel[] = entry !== undefined ? ["expired"] : label === null ? [] : [label];
    return recordPair(found, entry ?? found.desired?.origin ?? null, labels, zone, staying, comparable.ignoring);
  });
}

/**
 * Finds the expired entry of a live record. The values of one may have drifted: then a record of its name and type may be what it has become.
 * @param live all records that may be one
 */
function expiredEntries(
  match: ZoneMatch,
  live: readonly LiveEntry[],
): (live: LiveEntry | null) => RecordSpec | undefined {
  const expired = match.intent === "manage" && match.empties !== true ? (match.declared.spec.expired ?? []) : [];
  if (expired.length === 0) return () => undefined;
  const setOf = ({ name, type }: RecordValues): string => JSON.stringify([name, type]);
  const keyOf = ({ name, type, target }: RecordValues): string => mapKey(JSON.stringify([name, type, target]));
  const there = new Set(live.map(({ values }) => keyOf(values)));
  const entries = new Map(
    expired.map((spec) => {
      const values = desiredRecord(spec);
      const key = keyOf(values);
      return [there.has(key) ? key : setOf(values), spec] as const;
    }),
  );
  return (one) => (one === null ? undefined : (entries.get(keyOf(one.values)) ?? entries.get(setOf(one.values))));
}

function labelOf(
  match: RecordMatch<RecordSpec>,
  doubled: ReadonlySet<RecordMatch<RecordSpec>>,
): "rename" | "duplicate" | null {
  const { desired, live } = match;
  if (desired !== null && live !== null && desired.values.name !== live.values.name) return "rename";
  return doubled.has(match) ? "duplicate" : null;
}

function recordPair(
  { desired, live }: RecordMatch<RecordSpec>,
  entry: RecordSpec | null,
  labels: readonly ChangeLabel[],
  zone: string,
  staying: ClaimTable<LiveEntry>,
  ignoredOf: Ignoring<LiveEntry>,
): Pair {
  const root = domainAddress(zone);
  const values = (desired ?? live)?.values as RecordValues;
  const address = recordAddress(root, values.name, values.type);
  const liveAddress = live === null ? null : recordAddress(root, live.values.name, live.values.type);
  const claimants = desired === null ? null : ignoredOf.claimants(desired.values);
  const clashes = desired === null ? [] : staying.conflicts(newClaims(desired.values, live?.values ?? null, zone));
  const clash = clashes.length > 0 ? keptRecords(clashes, MAX_LISTED) : null;
  const block = claimants !== null && claimants.count > 0 ? claimedBy(claimants) : clash;
  return {
    resource: {
      unit: "zone",
      kind: "domain_record",
      root,
      address,
      previousAddress: liveAddress === address ? null : liveAddress,
      id: live?.id ?? null,
      before: live?.values ?? null,
      after: desired?.values ?? null,
      labels,
      note: entry?.note ?? null,
      ...annotationsOf(entry),
      span: entry?.span ?? null,
    },
    rules: { ...NO_RULES, parent: root, block },
  };
}

/** What the declared record claims that the live one, which becomes it, does not claim already. */
function newClaims(desired: RecordValues, live: RecordValues | null, zone: string): Claim[] {
  if (live === null) return claimsOf(desired, zone);
  // An MX may become one with an empty target: all other types claim the same whatever else changes.
  const isSamePlace = live.name === desired.name && live.type === desired.type && desired.type !== "MX";
  return isSamePlace ? [] : claimsBeyond(claimsOf(desired, zone), claimsOf(live, zone));
}

/** Wildcards and delegations: other names' answers depend on when they come and go. */
function hidesOthers({ name, type }: RecordValues): boolean {
  return name.startsWith("*") || (type === "NS" && name !== "");
}

/** Of those that keep a domain from being deleted. */
const MAX_LISTED_OF_DOMAIN = 20;

function keptRecords(entries: readonly LiveEntry[], most: number): Block {
  return keptBlock(byId(entries).slice(0, most), entries.length);
}

/** Thousands of records of one name have the same claimants. */
const claims: WeakMap<Claimants<LiveEntry>, Block> = new WeakMap();

/** The declared record belongs to another tool, such as external-dns, as these registry records of it say. */
function claimedBy(claimants: Claimants<LiveEntry>): Block {
  const block = claims.get(claimants) ?? { ...keptBlock(claimants.first, claimants.count), claimed: true };
  claims.set(claimants, block);
  return block;
}

/** Of a target, which may have 65,536 and stand in the blocks of thousands of records. That of a registry says at its beginning whose it is. */
const MAX_KEPT_CHARACTERS = 80;

function keptBlock(first: readonly LiveEntry[], count: number): Extract<Block, { type: "kept-records" }> {
  const records = first.map(({ id, values }) => ({
    id,
    ...values,
    target: shortened(values.target, MAX_KEPT_CHARACTERS),
  }));
  return { type: "kept-records", records, ...(count > first.length ? { more: count - first.length } : {}) };
}

// What can be said of `create_from` before it is done: whether there is something to clone, and what is exposed meanwhile.

/**
 * Zone to be made → the domain it cannot be cloned from. A source is missing if it is neither live nor made by this plan, or if its own
 * chain of clones ends at a missing domain or in a circle.
 */
function missingSources(matches: readonly ZoneMatch[], context: PairContext): ReadonlyMap<string, string> {
  const made = new Map(matches.flatMap((match) => (match.intent === "create" ? [[match.declared.key, match]] : [])));
  const verdicts = new Map<string, boolean>();
  const missing = new Map<string, string>();
  for (const [zone, { declared }] of made) {
    const source = sourceOf(declared.spec.createFrom);
    if (source !== null && !isThere(source, made, verdicts, context)) missing.set(zone, source);
  }
  return missing;
}

function sourceOf(from: CreateFrom | null): string | null {
  return from?.type === "clone" ? from.domain : null;
}

/** Follows the chain of clones to a domain whose answer is known; a name met twice closes a circle. */
function isThere(
  name: string,
  made: ReadonlyMap<string, Extract<ZoneMatch, { intent: "create" }>>,
  verdicts: Map<string, boolean>,
  context: PairContext,
): boolean {
  const chain: string[] = [];
  let answer: boolean | undefined;
  for (let next: string | null = name; answer === undefined && next !== null; ) {
    chain.push(next);
    const known: boolean | undefined = verdicts.get(next) ?? (context.idsOf(next).length > 0 ? true : undefined);
    const match = made.get(next);
    verdicts.set(next, false);
    answer = known ?? (match === undefined ? false : undefined);
    next = match === undefined ? null : sourceOf(match.declared.spec.createFrom);
  }
  for (const link of chain) verdicts.set(link, answer ?? true);
  return answer ?? true;
}

/** A plain create is not served before it is filled; a clone or a transfer may be served as it comes. */
function servedWhileMade(match: ZoneMatch, context: PairContext): Diagnostic[] {
  if (match.intent !== "create" || match.declared.spec.createFrom === null) return [];
  const { span, spec } = match.declared;
  const from = match.declared.spec.createFrom;
  const origin = from.type === "clone" ? `the records of ${from.domain}` : `what ${from.server} has of it`;
  const then = spec.fields["status"] === "disabled" ? "it is disabled" : "its status and tags are set";
  const other = from.type === "clone" ? context.ownerOf(from.domain) : null;
  const tagged =
    other === null || other === context.owner
      ? ""
      : ` Until then it also carries the tag of ${other}. If this run is cut off there, the project of ${other} takes the domain for its own, and you need --take-ownership-from=${shellWord(other)} to get it back.`;
  return [
    {
      code: "served-while-made",
      severity: "warning",
      summary: `${spec.domain} may be served before the plan is done`,
      detail: `The service may answer with ${origin} from the moment the domain is made until ${then} by the next request.${tagged}`,
      fix: "Declare its records instead, if nothing may be served before all of it is right.",
      span,
      address: domainAddress(spec.domain),
    },
  ];
}
