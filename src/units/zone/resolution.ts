/** How the zones of an account answer, before or after a plan: which records a name's answers come from (RFC 1034, RFC 4592). */

import { parentOf } from "../../dns/name.ts";
import { RECORD_TYPES, type RecordType } from "../../dns/record.ts";
import { type Node, ZoneTree } from "../../dns/zone-tree.ts";
import type { Change } from "../../model/change.ts";
import type { Address } from "../../model/resource.ts";
import { compareText } from "../../model/text.ts";
import { type LiveZone, zoneName } from "./live.ts";
import { anyLiveRecord, pointerTarget, type RecordValues, recordFqdn } from "./wire-record.ts";

/**
 * Where the answers for a name come from. `owner` is an owner name of DNS (RFC 1034, 3.6), here and in all of this folder's rules for
 * resolution: the name whose records answer, in no relation to the project's `owner`.
 * - `outside`: no zone of the account.
 * - `dark`: a zone of the account that is not served.
 * - `opaque`: a zone of unknown content.
 * - `cut`: a delegation at `owner`.
 * - `lame`: a delegation at `owner` that has no server with an address.
 * - `node`: the name itself, or a wildcard.
 * - `nothing`: neither the name nor a wildcard is there.
 */
export type Source =
  | { readonly type: "outside" | "dark"; readonly zone: null; readonly owner: "" }
  | { readonly type: "opaque" | "nothing"; readonly zone: string; readonly owner: "" }
  | { readonly type: "cut" | "lame"; readonly zone: string; readonly owner: string }
  | { readonly type: "node"; readonly zone: string; readonly owner: string; readonly node: Node<SideRecord> };

/**
 * Whether a question gets an answer. `assumed` and `unknown` are for names whose answers are not known here, because the names are outside
 * the account, beneath a delegation or in a zone of unknown content. `assumed`: the question is for such a name itself, and the answer is
 * expected to be there. `unknown`: an alias leads to such a name, which may answer or not.
 */
type Verdict = "yes" | "assumed" | "unknown" | "no";

/** A name on the way to an answer, and where its answers come from. */
interface Hop {
  readonly name: string;
  readonly source: Source;
  /** What is asked of it. `glue`: the name lies at or beneath a delegation, and its address stands in the zone that delegates. */
  readonly asked: QType | "glue";
}

/**
 * The longest chain of delegations in the search for one server's address, where each is needed to find a server of the one before.
 * Resolvers limit it, too: BIND gives up at 7.
 */
const MAX_DELEGATION_DEPTH = 8;
/** How many delegations that search may meet in all. */
const MAX_MET_DELEGATIONS = 64;
/** How many servers it may try in all. */
const MAX_TRIED_SERVERS = 64;

/** What has been tried to find the address of one server. */
class Tried {
  /** Delegations that the search has met. It enters none twice, so a server that only its own delegation leads to is not found. */
  readonly met: Set<string> = new Set();
  serverCount = 0;

  isEnough(): boolean {
    return this.met.size > MAX_MET_DELEGATIONS || this.serverCount > MAX_TRIED_SERVERS;
  }

  hasMetAnyOf({ met }: Tried): boolean {
    for (const cut of met) if (this.met.has(cut)) return true;
    return false;
  }

  add({ met, serverCount }: Tried): void {
    for (const cut of met) this.met.add(cut);
    this.serverCount += serverCount;
  }

  /** Whether the search was still allowed to try the last of its servers. */
  allowedLast(): boolean {
    return this.met.size <= MAX_MET_DELEGATIONS && this.serverCount - 1 <= MAX_TRIED_SERVERS;
  }
}

/** How a server of one delegation is found by a search that has met no other, and what it tries. */
interface Search {
  readonly way: readonly Hop[] | null;
  readonly tried: Tried;
}

const NO_TYPES: ReadonlySet<RecordType> = new Set();

/** A zone with its names, all of them absolute. */
interface Zone {
  /** Its records are not known. */
  readonly opaque: boolean;
  readonly tree: ZoneTree<SideRecord>;
  /** What its delegations name as their servers. */
  readonly servers: ReadonlySet<string>;
}

function zoneOf({ name, records }: SideZone): Zone {
  const tree = new ZoneTree(name, records ?? [], ({ values }) => values.type);
  const delegating = [...tree.cuts()].flatMap((cut) => tree.at(cut).filter(({ values }) => values.type === "NS"));
  return { opaque: records === null, tree, servers: new Set(delegating.map(({ values }) => values.target)) };
}

/** How all zones of the account answer on one side of a plan: before it, or after it. */
export class AccountResolver {
  readonly #zones = new Map<string, Zone>();
  readonly #active = new Set<string>();
  /** Cache, by name: each name is asked many questions, and stands at the end of many aliases. */
  readonly #places = new Map<string, Source>();
  readonly #reachable = new Map<string, boolean>();
  readonly #answeringRecords = new Map<string, readonly SideRecord[]>();
  /** Cache of NS records, keyed by the list of all records at a delegation: every name beneath asks for them. */
  readonly #servers = new WeakMap<readonly SideRecord[], readonly SideRecord[]>();
  readonly #wildcardVerdicts = new Map<string, Map<SideRecord, Verdict>>();
  readonly #searches = new Map<string, Search>();
  readonly #hosted: ReadonlySet<string>;
  /** In characters. */
  #longestZone = 0;

  /**
   * @param hosted names of all zones that the account has before or after the plan, served or not: nobody else answers for a name within
   * one, unless it is delegated
   */
  constructor(zones: readonly SideZone[], hosted: ReadonlySet<string>) {
    this.#hosted = hosted;
    for (const zone of zones) {
      this.#zones.set(zone.name, zoneOf(zone));
      if (zone.active) this.#active.add(zone.name);
      this.#longestZone = Math.max(this.#longestZone, zone.name.length);
    }
  }

  isServed(zone: string): boolean {
    return this.#active.has(zone);
  }

  /** The deepest served zone at or above the name. */
  zoneAbove(name: string): string | null {
    return this.#place(name).zone;
  }

  isOpaque(zone: string): boolean {
    return this.#zones.get(zone)?.opaque ?? false;
  }

  /** Names with records in the zone, and those between them and its apex. */
  names(zone: string): Iterable<string> {
    return this.#zones.get(zone)?.tree.names() ?? [];
  }

  exists(zone: string, name: string): boolean {
    return this.#zones.get(zone)?.tree.exists(name) ?? false;
  }

  *records(zone: string): Generator<SideRecord> {
    for (const [, records] of this.#zones.get(zone)?.tree.sets() ?? []) yield* records;
  }

  recordsAt(zone: string, owner: string): readonly SideRecord[] {
    return this.#zones.get(zone)?.tree.at(owner) ?? [];
  }

  typesAt(zone: string, owner: string): ReadonlySet<RecordType> {
    return this.#zones.get(zone)?.tree.typesAt(owner) ?? NO_TYPES;
  }

  /** Its CNAME, the first if a side has several. */
  aliasAt(zone: string, owner: string): SideRecord | null {
    return aliasIn(this.#zones.get(zone)?.tree.node(owner) ?? null);
  }

  /** The topmost delegation at or above the name, within the zone. */
  cutAbove(zone: string, name: string): string | null {
    return this.#zones.get(zone)?.tree.cutAbove(name) ?? null;
  }

  source(name: string): Source {
    const source = this.#place(name);
    return source.type === "cut" && !this.isReachable(source.zone, source.owner) ? { ...source, type: "lame" } : source;
  }

  /** Where a name is to be looked for, whether or not a delegation leads anywhere. */
  #place(name: string): Source {
    const known = this.#places.get(name) ?? this.#findPlace(name);
    this.#places.set(name, known);
    return known;
  }

  #findPlace(name: string): Source {
    const zone = this.#zoneOf(name);
    if (zone === null) return { type: this.#isHosted(name) ? "dark" : "outside", zone: null, owner: "" };
    const { tree } = zone;
    if (zone.opaque) return { type: "opaque", zone: tree.apex, owner: "" };
    const cut = tree.cutAbove(name);
    if (cut !== null) return { type: "cut", zone: tree.apex, owner: cut };
    const owner = tree.answeringName(name);
    if (owner === null) return { type: "nothing", zone: tree.apex, owner: "" };
    return { type: "node", zone: tree.apex, owner, node: tree.node(owner) };
  }

  /** Whether a server of the delegation can be asked: a referral without an address leads nowhere (RFC 1034, 4.2.1). */
  isReachable(zone: string, cut: string): boolean {
    const key = `${zone} ${cut}`;
    const known = this.#reachable.get(key);
    if (known !== undefined) return known;
    const reachable = this.serversAt(zone, cut).some(({ values }) => this.wayToServer(values.target, cut) !== null);
    this.#reachable.set(key, reachable);
    return reachable;
  }

  /** The NS records of a delegation, by their targets: what is chosen among them does not depend on the order of the service's list. */
  serversAt(zone: string, cut: string): readonly SideRecord[] {
    const records = this.recordsAt(zone, cut);
    const known = this.#servers.get(records) ?? records.filter(({ values }) => values.type === "NS").sort(byTarget);
    this.#servers.set(records, known);
    return known;
  }

  /** Whether a delegation of the zone names the host as its server. */
  isServer(zone: string, host: string): boolean {
    return this.#zones.get(zone)?.servers.has(host) ?? false;
  }

  /** How the address of a delegation's server is found, null if it is not: by its glue, or because it resolves without the delegation. */
  wayToServer(server: string, cut: string): readonly Hop[] | null {
    const tried = new Tried();
    tried.met.add(cut);
    return this.#wayTo(server, tried, 0);
  }

  /** @param depth of delegations that lead here */
  #wayTo(server: string, tried: Tried, depth: number): readonly Hop[] | null {
    if (depth > MAX_DELEGATION_DEPTH) return null;
    tried.serverCount += 1;
    const hops: Hop[] = [];
    let name = server;
    for (let hop = 0; hop < MAX_CHAIN_LENGTH; hop += 1) {
      const source = this.#place(name);
      if (source.zone === null) return source.type === "dark" ? null : [...hops, { name, source, asked: "address" }];
      if (source.type === "nothing") return null;
      if (source.type === "opaque") return [...hops, { name, source, asked: "address" }];
      const owner = source.type === "node" ? source.owner : name;
      if (hasMatch(this.typesAt(source.zone, owner), "address"))
        return [...hops, { name, source, asked: source.type === "node" ? "address" : "glue" }];
      hops.push({ name, source, asked: "address" });
      if (source.type !== "node") {
        const way = this.#wayInto(source.zone, source.owner, tried, depth);
        return way === null ? null : [...hops, ...way];
      }
      const alias = this.aliasAt(source.zone, owner);
      if (alias === null) return null;
      name = alias.values.target;
    }
    return null;
  }

  /**
   * How a server of a delegation that the search meets is found. Thousands of searches may meet one delegation, so that one search from it is
   * kept for each depth: another goes the same way unless it has met one of the same delegations before.
   */
  #wayInto(zone: string, cut: string, tried: Tried, depth: number): readonly Hop[] | null {
    if (tried.met.has(cut)) return null;
    const known = this.#searchFrom(zone, cut, depth);
    if (tried.hasMetAnyOf(known.tried)) return this.#searchServers(zone, cut, tried, depth);
    tried.add(known.tried);
    return tried.allowedLast() ? known.way : null;
  }

  #searchFrom(zone: string, cut: string, depth: number): Search {
    const key = `${zone} ${cut} ${depth}`;
    const known = this.#searches.get(key);
    if (known !== undefined) return known;
    const tried = new Tried();
    const search = { way: this.#searchServers(zone, cut, tried, depth), tried };
    this.#searches.set(key, search);
    return search;
  }

  #searchServers(zone: string, cut: string, tried: Tried, depth: number): readonly Hop[] | null {
    tried.met.add(cut);
    for (const { values } of this.serversAt(zone, cut)) {
      if (tried.isEnough()) return null;
      const way = this.#wayTo(values.target, tried, depth + 1);
      if (way !== null) return way;
    }
    return null;
  }

  /** Whether something answers, or may. */
  answers(name: string, question: QType, hops = 0): boolean {
    return this.verdict(name, question, hops) !== "no";
  }

  /**
   * Whether the question gets an answer. At a name whose answers are not known here (see `Verdict`):
   * - The question for an address: `yes`.
   * - Any other question, if an alias led to the name: `unknown`.
   * - Any other question, if no alias did: `no` for a CNAME, `assumed` for all other types.
   * @param hops how many aliases led to the name
   */
  verdict(name: string, question: QType, hops = 0): Verdict {
    let asked = name;
    for (let hop = hops; hop < MAX_CHAIN_LENGTH; hop += 1) {
      const source = this.source(asked);
      if (source.type === "dark" || source.type === "nothing") return "no";
      if (isCut(source) && question === "NS" && asked === source.owner) return "yes";
      if (source.type === "lame") return "no";
      if (source.type !== "node") {
        if (isAddress(question)) return "yes";
        if (hop > 0) return "unknown";
        return question === "CNAME" ? "no" : "assumed";
      }
      if (hasMatch(source.node.types, question)) return "yes";
      const alias = aliasIn(source.node);
      if (alias === null) return "no";
      if (asked !== source.owner) return this.#verdictBeyond(alias, question, hop + 1);
      asked = pointerTarget(alias.values) ?? "";
    }
    return "no";
  }

  /** The verdict at the target of a wildcard's alias, which is kept: thousands of names may lead there. */
  #verdictBeyond(alias: SideRecord, question: QType, hops: number): Verdict {
    const asked = `${hops} ${question}`;
    const verdicts = this.#wildcardVerdicts.get(asked) ?? new Map<SideRecord, Verdict>();
    this.#wildcardVerdicts.set(asked, verdicts);
    const verdict = verdicts.get(alias) ?? this.verdict(pointerTarget(alias.values) ?? "", question, hops);
    verdicts.set(alias, verdict);
    return verdict;
  }

  /** Whether the aliases that begin at the name lead to, or past, the other. */
  leadsThrough(name: string, other: string): boolean {
    let asked = name;
    for (let hop = 0; hop < MAX_CHAIN_LENGTH; hop += 1) {
      if (asked === other) return true;
      const source = this.source(asked);
      if (source.type !== "node") return false;
      const alias = aliasIn(source.node);
      if (alias === null) return false;
      asked = alias.values.target;
    }
    return false;
  }

  /** Whether both kinds of address are there, at the end of whatever aliases lead to them. */
  hasBothKinds(name: string): boolean {
    let asked = name;
    for (let hop = 0; hop < MAX_CHAIN_LENGTH; hop += 1) {
      const source = this.source(asked);
      if (source.type !== "node") return false;
      const { types } = source.node;
      const alias = aliasIn(source.node);
      if (alias === null) return types.has("A") && types.has("AAAA");
      asked = alias.values.target;
    }
    return false;
  }

  /** The records of an owner that give an answer to the question, its alias if that leads to one. */
  answeringRecords(zone: string, owner: string, question: QType): readonly SideRecord[] {
    const key = `${zone} ${owner} ${question}`;
    const known = this.#answeringRecords.get(key);
    if (known !== undefined) return known;
    const records = this.recordsAt(zone, owner);
    const direct = records.filter(({ values }) => matches(values.type, question));
    const isLeading = ({ values }: SideRecord) => {
      return values.type === "CNAME" && this.answers(values.target, question, 1);
    };
    const found = direct.length > 0 ? direct : records.filter(isLeading);
    this.#answeringRecords.set(key, found);
    return found;
  }

  #zoneOf(name: string): Zone | null {
    for (let zone = name; zone !== ""; zone = parentOf(zone)) {
      // A look-up in a Set hashes the whole name, so a name that is too long to be a zone is not looked up.
      if (zone.length <= this.#longestZone && this.#active.has(zone)) return this.#zones.get(zone) ?? null;
    }
    return null;
  }

  /** Whether a zone of the account, served or not, holds the name. */
  #isHosted(name: string): boolean {
    for (let zone = name; zone !== ""; zone = parentOf(zone)) if (this.#hosted.has(zone)) return true;
    return false;
  }
}

function byTarget({ values: a }: SideRecord, { values: b }: SideRecord): number {
  return compareText(a.target, b.target);
}

function aliasIn(node: Node<SideRecord> | null): SideRecord | null {
  if (!node?.types.has("CNAME")) return null;
  return node.items.find(({ values }) => values.type === "CNAME") ?? null;
}

function matches(type: string, question: QType): boolean {
  return type === question || (question === "address" && (type === "A" || type === "AAAA"));
}

function hasMatch(types: ReadonlySet<RecordType>, question: QType): boolean {
  for (const type of types) if (matches(type, question)) return true;
  return false;
}

/** The name one label longer than `encloser`, on the way down to `name`. */
export function childTowards(encloser: string, name: string): string {
  const labels = name.slice(0, name.length - encloser.length - 1);
  return name.slice(labels.lastIndexOf(".") + 1);
}

export function isCut({ type }: Source): boolean {
  return type === "cut" || type === "lame";
}

// What resolvers ask for, and what an answer to it depends on.

/** `address`: either kind. */
export type QType = RecordType | "address";

/** What an alias may lead to. */
export const ASKED_OF_ALIASES: readonly QType[] = ["address", ...RECORD_TYPES];

/** How far aliases are followed, as resolvers do. */
export const MAX_CHAIN_LENGTH = 16;

export function isAddress(question: string): boolean {
  return question === "A" || question === "AAAA" || question === "address";
}

/**
 * Something that comes or goes, and on which answers depend.
 * - `answer`: what an owner answers the question with. - `zone`: a zone that is served. - `cut`: a delegation.
 * - `open`: `zone` itself answers beneath `owner`, as there is no delegation at `owner`. If `zone` and `owner` are the same name: no zone
 *   of that name is served, so that the zone around it answers.
 * - `wildcard`: no name exists at or beneath the owner, so that a wildcard above answers for it.
 */
export type ResolutionEvent =
  | { readonly type: "answer"; readonly zone: string; readonly owner: string; readonly question: QType }
  | { readonly type: "zone" | "cut" | "open" | "wildcard"; readonly zone: string; readonly owner: string };

/** The event as text: a key of the facts, and what a plan's list of gaps calls it (plan/gaps.ts). */
export function wordsOf(event: ResolutionEvent): string {
  switch (event.type) {
    case "answer":
      return event.question === "address" ? `${event.owner} address` : `${event.owner} ${event.question}`;
    case "zone":
      return `zone ${event.owner}`;
    case "cut":
      return `delegation ${event.owner}`;
    case "open":
      return event.zone === event.owner ? `outside ${event.owner}` : `beneath ${event.owner}`;
    case "wildcard":
      return `wildcard ${event.owner}`;
  }
}

// The zones of an account before and after a plan, as far as they were read.

export interface SideRecord {
  /** Absolute. */
  readonly name: string;
  readonly values: RecordValues;
  /** The plan's change of this record, whichever side the record is on; null if the plan has none. */
  readonly change: Change | null;
}

interface SideZone {
  readonly name: string;
  readonly active: boolean;
  /** null: unknown. */
  readonly records: readonly SideRecord[] | null;
}

interface ZoneSnapshots {
  readonly before: readonly SideZone[];
  readonly after: readonly SideZone[];
}

/** @param live what was read, planned or not */
export function zoneSnapshotsOf(
  domains: readonly Change[],
  records: ReadonlyMap<Address, readonly Change[]>,
  live: readonly LiveZone[],
): ZoneSnapshots {
  const planned = new Map(domains.map((domain) => [domainNameOf(domain), domain]));
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
  const records = changes.flatMap((change) => sideRecords(change.before, name, change));
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
  const records = changes.flatMap((change) => sideRecords(afterValues(change), name, change));
  return { name, active: status === "active", records: isUnknown ? null : [...records, ...kept] };
}

/** The values after the run. A change that is not carried out (`no-op`) leaves them as they were. */
export function afterValues(change: Change | null): Change["after"] {
  if (change === null) return null;
  return change.action === "no-op" ? change.before : change.after;
}

/**
 * Live records that the plan has no change for: ignored, of an unknown type, or of a zone whose records the plan leaves alone. They answer,
 * and they hide wildcards.
 */
function keptRecords(zone: LiveZone | null, changes: readonly Change[], name: string): SideRecord[] {
  const ids = new Set(changes.map(({ id }) => String(id)));
  return (zone?.records ?? [])
    .filter(({ id }) => !ids.has(String(id)))
    .map((record) => {
      const values = anyLiveRecord(record, name);
      return { name: recordFqdn(values, name), values, change: null };
    });
}

function sideRecords(values: Change["before"], zone: string, change: Change): SideRecord[] {
  if (values === null) return [];
  return [{ name: recordFqdn(values as RecordValues, zone), values: values as RecordValues, change }];
}

export function domainNameOf(domain: Change): string {
  return String((domain.after ?? domain.before)?.["domain"]);
}
