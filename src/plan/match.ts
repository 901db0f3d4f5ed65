/** Matches declared and removed entries to live objects, and says what is to become of each object. */

import isEqual from "fast-deep-equal";
import type { Declared, Desired, Removed } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { LiveUnit } from "../model/live.ts";
import type { Family, Goal, LeftAlone } from "../model/plan.ts";
import type { Address, ObjectId } from "../model/resource.ts";
import { compareIds, groupBy } from "../model/text.ts";
import type { LiveIdentity, Match, PairContext, Unit } from "../model/unit.ts";
import {
  claimedTwice,
  foreignOwner,
  formerIsAnother,
  formerIsLeft,
  formerWithoutTag,
  nothingToRemove,
  otherName,
  otherObject,
  staleId,
} from "./match-problems.ts";
import { matchPart } from "./part.ts";
import { deletion, matchUndeclared, NOTHING_LEAVES } from "./undeclared.ts";

interface MatchOptions {
  readonly goal: Goal;
  /** The run is narrowed to a part of the project. */
  readonly narrowed: boolean;
  /** Whether an object that carries our tag and that nothing declares is pruned. */
  readonly mayPrune: (address: Address) => boolean;
  readonly takeOwnershipFrom: readonly string[];
  /** The declared entries of the base: the earlier version of the manifests that this plan is compared with. */
  readonly former?: readonly Declared[];
  /** See PairContext of `unit.prefer` and `unit.retain`. */
  readonly context: PairContext;
  /** Whether nothing of the live object differs from what is declared. */
  isAsDeclared(entry: Declared, live: unknown): boolean;
}

export interface Matched {
  readonly matches: readonly Match[];
  readonly refusals: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  readonly leftAlone: readonly LeftAlone[];
  readonly families: readonly Family[];
  /**
   * Entries whose `id:` no live object has, matched by label to an object without our tag. That may be another object than the one meant,
   * so it is neither replaced nor emptied.
   */
  readonly guessed: readonly Guess[];
  /** Entries with the name of a live object that another entry claims by `id:`. */
  readonly claimedByOthers: readonly ClaimedByOther[];
  /** Entries that could mean any of several live objects. The changes of their matches are blocked. */
  readonly unclear: readonly Unclear[];
}

/** An entry, and the live object that bears its name but belongs to another entry. */
export interface ClaimedByOther {
  readonly entry: Declared;
  /** The object's address in the account. */
  readonly liveAddress: Address;
}

interface Unclear {
  readonly entry: Declared | Removed;
  /** Sorted by id. */
  readonly candidates: readonly LiveIdentity[];
}

interface Guess {
  readonly entry: Declared;
  readonly identity: LiveIdentity;
}

/** What was found wrong while matching. */
interface MatchFindings {
  readonly refusals: Diagnostic[];
  /** The live objects that the refusals are about. */
  readonly refused: Set<ObjectId>;
  readonly warnings: Diagnostic[];
  readonly guessed: Guess[];
  readonly unclear: Unclear[];
}

interface Candidate {
  readonly live: unknown;
  readonly identity: LiveIdentity;
}

function byId({ identity: a }: Candidate, { identity: b }: Candidate): number {
  return compareIds(a.id, b.id);
}

/** Live objects of one unit, each to be claimed once. */
class Candidates {
  readonly #byId: ReadonlyMap<ObjectId, Candidate>;
  readonly #byKey: ReadonlyMap<string, Candidate[]>;
  readonly #owner: string | null;
  readonly claimed: Set<Candidate> = new Set();

  constructor(unit: Unit, items: readonly unknown[], owner: string | null) {
    this.#owner = owner;
    const all = items.map((live) => ({ live, identity: unit.identify(live) }));
    this.#byId = new Map(all.map((candidate) => [candidate.identity.id, candidate]));
    this.#byKey = groupBy(all, (candidate) => candidate.identity.key);
  }

  withId(id: ObjectId): Candidate | undefined {
    return this.#byId.get(id);
  }

  /**
   * The unclaimed objects of a key. Unfinished objects of our own interrupted runs are left out if there is a finished one; if there is
   * none, only the oldest of them is returned.
   */
  withKey(key: string): Candidate[] {
    const open = (this.#byKey.get(key) ?? []).filter((candidate) => !this.claimed.has(candidate));
    const finished = open.filter(({ identity }) => !this.#isOurRemnant(identity));
    return finished.length > 0 ? finished : open.toSorted(byId).slice(0, 1);
  }

  #isOurRemnant({ unfinished, owner }: LiveIdentity): boolean {
    return unfinished === true && owner !== null && owner === this.#owner;
  }

  unclaimed(): Candidate[] {
    return [...this.#byId.values()].filter((candidate) => !this.claimed.has(candidate));
  }
}

export function matchUnit(unit: Unit, desired: Desired, live: LiveUnit, options: MatchOptions): Matched {
  const candidates = new Candidates(unit, live.items, desired.owner);
  const findings: MatchFindings = { refusals: [], refused: new Set(), warnings: [], guessed: [], unclear: [] };
  const matches: Match[] = [];
  // Entries whose id exists claim first, then those whose id is gone, then those without an id. So if two objects have one label, the entry
  // without an id gets the object that the other entry left.
  const rank = ({ id }: Declared) => (id === null ? 2 : candidates.withId(id) === undefined ? 1 : 0);
  const declared = desired.declared.filter((entry) => entry.unit === unit.name);
  const context: MatchContext = { unit, desired, candidates, options, alsoDelete: [] };
  const absent = new Set<Declared>();
  for (const entry of [...declared].sort((a, b) => rank(a) - rank(b))) {
    const found = find(entry, context, findings);
    if (found === "refused") continue;
    if (Array.isArray(found)) {
      for (const match of unclearDeclared(entry, found, desired, options)) matches.push(match);
      continue;
    }
    if (found === null) absent.add(entry);
    else noteGuess(entry, found.identity, desired, findings);
    const match =
      entry.part === true
        ? managePart(entry, found, desired, options, findings)
        : found === null
          ? create(entry, options)
          : manage(entry, found, desired, options, findings);
    if (match !== null) matches.push(match);
  }
  const removed = options.goal === "destroy" ? [] : desired.removed.filter((entry) => entry.unit === unit.name);
  for (const entry of removed) {
    const found = find(entry, context, findings);
    // No object ever gets the id of another one.
    if (found === null && entry.destroy && entry.id === null) findings.warnings.push(nothingToRemove(entry));
    if (found === null || found === "refused") continue;
    if (Array.isArray(found)) {
      for (const match of unclearRemoved(entry, found)) matches.push(match);
      continue;
    }
    const match = remove(entry, found, desired, options, findings);
    if (match !== null) matches.push(match);
  }
  for (const candidate of context.alsoDelete) matches.push(deletion(candidate.live, null, null, null));
  const unnamed = candidates.unclaimed().filter(({ identity }) => identity.owner === desired.owner);
  const keepsAll = desired.owner === null || options.goal !== "apply";
  const undeclared = keepsAll ? NOTHING_LEAVES : matchUndeclared(unit, matches, unnamed, options);
  for (const match of undeclared.matches) matches.push(match);
  // One object may be matched and refused: two entries may mean it.
  const mentioned = new Set(findings.refused);
  for (const match of matches) if (match.live !== null) mentioned.add(unit.identify(match.live).id);
  for (const live of undeclared.kept) mentioned.add(unit.identify(live).id);
  for (const entry of findings.unclear) for (const { id } of entry.candidates) mentioned.add(id);
  const count = live.total - mentioned.size;
  const leftAlone: LeftAlone[] = count > 0 ? [{ kind: unit.kinds[0].kind, count, reason: "undeclared" }] : [];
  const { refusals, warnings, guessed, unclear } = findings;
  const claimedByOthers = findClaimedByOthers(declared, absent, matches, context);
  const withEntries = withFormer(matches, unit, options.former ?? []);
  const { families } = undeclared;
  return { matches: withEntries, refusals, warnings, guessed, unclear, claimedByOthers, leftAlone, families };
}

/**
 * Finds each entry whose name is still carried by a live object that another entry claims by `id:`. It does not matter whether a second
 * live object carries the name, too. If an entry has no object yet, its `moved_from` counts as a name of it, too.
 */
function findClaimedByOthers(
  declared: readonly Declared[],
  absent: ReadonlySet<Declared>,
  matches: readonly Match[],
  { unit, candidates }: MatchContext,
): readonly ClaimedByOther[] {
  const addresses = new Map(
    matches.flatMap(({ declared: entry, live }) => {
      const found = entry === null || live === null ? null : unit.identify(live);
      return found === null || found.key === entry?.key || found.key === entry?.movedFrom
        ? []
        : [[found.key, found.address] as const];
    }),
  );
  if (addresses.size === 0) return [];
  return declared
    .filter(({ id }) => id === null || candidates.withId(id) === undefined)
    .flatMap((entry) => {
      const names = absent.has(entry) && entry.movedFrom !== null ? [entry.key, entry.movedFrom] : [entry.key];
      return names.flatMap((name) => {
        const liveAddress = addresses.get(name);
        return liveAddress === undefined ? [] : [{ entry, liveAddress }];
      });
    });
}

/** What `find` needs to find the live object of an entry. */
interface MatchContext {
  readonly unit: Unit;
  readonly desired: Desired;
  readonly candidates: Candidates;
  readonly options: MatchOptions;
  /** For `destroy`: objects that equal an object that is deleted. They are deleted as well. */
  readonly alsoDelete: Candidate[];
}

/**
 * If more objects than this carry one label, they are not compared with the declaration to find the one that equals it: each comparison
 * covers a whole object, with all that is in it.
 */
const MAX_COMPARED = 20;

/**
 * Chooses one of several objects with the same label, or returns all of them if none can be chosen.
 * 1. If the entry has an `id` that no longer exists: the only object that matches the declaration.
 * 2. If all carry our tag, are equal and have nothing attached: the oldest. An apply then prunes the others, as undeclared, and a destroy
 *    deletes them (`alsoDelete`).
 */
function chooseAmongSameLabel(
  entry: Declared | Removed,
  found: Candidate[],
  context: MatchContext,
): Candidate | Candidate[] {
  const { unit, desired, options, alsoDelete } = context;
  const sorted = preferred(entry, found, context).sort(byId);
  const [only, second] = sorted;
  if (only !== undefined && second === undefined) return only;
  if (entry.id !== null && "spec" in entry && sorted.length <= MAX_COMPARED) {
    const [exact, another] = sorted.filter(({ live }) => options.isAsDeclared(entry, live));
    if (exact !== undefined && another === undefined) return exact;
  }
  if (desired.owner === null || sorted.some((candidate) => candidate.identity.owner !== desired.owner)) return sorted;
  const [oldest, ...others] = sorted;
  if (oldest === undefined || !areEqual(unit, sorted)) return sorted;
  // A narrowed run names its objects: an equal object that nobody named does not go with them.
  if (options.goal === "destroy" && !options.narrowed) {
    for (const other of others) {
      context.candidates.claimed.add(other);
      alsoDelete.push(other);
    }
  }
  return oldest;
}

/** Those that the entry can mean. What a killed replace of ours has left beside them is destroyed with them, as equal objects are. */
function preferred(entry: Declared | Removed, found: readonly Candidate[], context: MatchContext): Candidate[] {
  const { unit, options, desired, candidates, alsoDelete } = context;
  if (unit.prefer === undefined || !("spec" in entry)) return [...found];
  const live = found.map((candidate) => candidate.live);
  const meant = new Set(unit.prefer(entry, live, options.context));
  const others = found.filter((candidate) => !meant.has(candidate.live));
  if (options.goal === "destroy" && !options.narrowed) {
    for (const other of others.filter(({ identity }) => identity.owner === desired.owner)) {
      candidates.claimed.add(other);
      alsoDelete.push(other);
    }
  }
  return found.filter((candidate) => meant.has(candidate.live));
}

function areEqual(unit: Unit, candidates: readonly Candidate[]): boolean {
  const [first, ...others] = candidates.map(({ live }) => unit.content?.(live) ?? null);
  return first !== null && others.every((content) => isEqual(content, first));
}

/** Nobody knows which object is meant, so none is touched: the matches show the entry in the plan, and `blockUnclear` blocks them. */
function unclearDeclared(
  entry: Declared,
  found: readonly Candidate[],
  desired: Desired,
  options: MatchOptions,
): readonly Match[] {
  if (options.goal !== "destroy") return [{ intent: "create", declared: entry, removed: null, live: null }];
  return found
    .filter(({ identity }) => desired.owner === null || identity.owner === desired.owner)
    .map(({ live }) => deletion(live, null, null, null));
}

function unclearRemoved(entry: Removed, found: readonly Candidate[]): readonly Match[] {
  if (entry.destroy) return found.map(({ live }) => deletion(live, null, entry, null));
  return found
    .filter(({ identity }) => identity.owner !== null)
    .map(({ live }) => ({ intent: "release", declared: null, removed: entry, live }));
}

/** @returns a list if the entry could mean any of several objects: they are claimed, so that none of them counts as undeclared */
function find(
  entry: Declared | Removed,
  context: MatchContext,
  { refusals, refused, warnings, unclear }: MatchFindings,
): Candidate | Candidate[] | null | "refused" {
  if ("anew" in entry && entry.anew === true) return null;
  const { candidates, unit } = context;
  const withId = entry.id === null ? undefined : candidates.withId(entry.id);
  // The object is not claimed: it is left to the entry of its own name.
  if ("spec" in entry && withId !== undefined && !unit.canBeRenamed && withId.identity.key !== entry.key) {
    refusals.push(otherObject(entry, withId.identity));
    refused.add(withId.identity.id);
    return "refused";
  }
  // Under `removed`, an id that no object has means that the work is done. A declared object may have been made anew: its label is tried.
  if (entry.id !== null && withId === undefined && !("spec" in entry)) return null;
  const possible = withId ?? byLabel(entry, context);
  if (isOnlyFormer(entry, possible) && context.desired.owner !== null && possible.identity.owner === null) {
    refusals.push(formerWithoutTag(entry, possible.identity, context.desired.owner));
    refused.add(possible.identity.id);
    candidates.claimed.add(possible);
    return "refused";
  }
  for (const warning of warningsOfFormer(entry, possible, context)) warnings.push(warning);
  const found = Array.isArray(possible) ? chooseAmongSameLabel(entry, possible, context) : possible;
  if (Array.isArray(found)) {
    if (entry.id !== null) warnings.push(staleId(entry, "several"));
    for (const candidate of found) candidates.claimed.add(candidate);
    unclear.push({ entry, candidates: found.map((candidate) => candidate.identity) });
    return found;
  }
  if (entry.id !== null && withId === undefined) warnings.push(staleId(entry, found?.identity ?? null));
  if (found === undefined) return null;
  if (candidates.claimed.has(found)) {
    refusals.push(claimedTwice(entry, found.identity));
    refused.add(found.identity.id);
    return "refused";
  }
  candidates.claimed.add(found);
  return found;
}

function noteGuess(entry: Declared, identity: LiveIdentity, desired: Desired, { guessed }: MatchFindings): void {
  const isOurs = identity.owner !== null && identity.owner === desired.owner;
  if (entry.id !== null && entry.id !== identity.id && !isOurs) guessed.push({ entry, identity });
}

/**
 * Several objects are returned as a list. `moved_from` counts only while nothing carries the new label, and never for a destroy: once the
 * renamed object is destroyed, what has the former label is another one.
 */
function byLabel(
  entry: Declared | Removed,
  { candidates, options }: MatchContext,
): Candidate | Candidate[] | undefined {
  const named = candidates.withKey(entry.key);
  const found = named.length === 0 && options.goal !== "destroy" ? withFormerLabel(entry, candidates) : named;
  return found.length > 1 ? found : found[0];
}

function withFormerLabel(entry: Declared | Removed, candidates: Candidates): Candidate[] {
  return "movedFrom" in entry && entry.movedFrom !== null ? candidates.withKey(entry.movedFrom) : [];
}

/** Whether the object is known by its former label alone. */
function isOnlyFormer(entry: Declared | Removed, found: Candidate | Candidate[] | undefined): found is Candidate {
  if (found === undefined || Array.isArray(found) || !("movedFrom" in entry) || found.identity.id === entry.id)
    return false;
  return found.identity.key === entry.movedFrom && found.identity.key !== entry.key;
}

/**
 * Warns if a live object has the former label but was not matched to the entry: a later run, or a reader, may mistake it for the entry's
 * object.
 */
function warningsOfFormer(
  entry: Declared | Removed,
  found: Candidate | Candidate[] | undefined,
  { candidates, desired, options }: MatchContext,
): Diagnostic[] {
  const [former] = withFormerLabel(entry, candidates);
  if (former === undefined || [found].flat().includes(former)) return [];
  const isOurs = desired.owner !== null && former.identity.owner === desired.owner;
  if (found === undefined) return [formerIsLeft(entry, former.identity)];
  // An object with our tag is pruned, and the `delete` guard already reports that.
  return isOurs && options.goal === "apply" ? [] : [formerIsAnother(entry, former.identity)];
}

function create(entry: Declared, options: MatchOptions): Match | null {
  return options.goal === "destroy" ? null : { intent: "create", declared: entry, removed: null, live: null };
}

function manage(
  entry: Declared,
  { live, identity }: Candidate,
  desired: Desired,
  options: MatchOptions,
  findings: MatchFindings,
): Match | null {
  if (refuseForeign(entry, identity, desired, options, findings)) return null;
  if (entry.goes === true) return deletion(live, entry, null, "undo");
  if (options.goal !== "destroy") return { intent: "manage", declared: entry, removed: null, live };
  // This project made or adopted only what carries its owner's tag.
  if (desired.owner !== null && identity.owner !== desired.owner) return null;
  return deletion(live, entry, null, null);
}

function managePart(
  entry: Declared,
  found: Candidate | null,
  { owner }: Desired,
  { goal }: MatchOptions,
  { refusals, refused }: MatchFindings,
): Match | null {
  const { match, objection } = matchPart(entry, found, owner, goal);
  if (objection !== null) refusals.push(objection);
  if (objection !== null && found !== null) refused.add(found.identity.id);
  return match;
}

function remove(
  entry: Removed,
  { live, identity }: Candidate,
  desired: Desired,
  options: MatchOptions,
  findings: MatchFindings,
): Match | null {
  // A name in `removed` is a consent; an id that leads to an object of another name is none.
  if (identity.key !== entry.key) {
    findings.refusals.push(otherName(entry, identity));
    findings.refused.add(identity.id);
    return null;
  }
  if (refuseForeign(entry, identity, desired, options, findings)) return null;
  if (entry.destroy) return deletion(live, null, entry, null);
  return identity.owner === null ? null : { intent: "release", declared: null, removed: entry, live };
}

/** An earlier manifest may have ignored records of an object that is deleted now: `former` is the object's entry in that manifest. */
function withFormer(matches: readonly Match[], unit: Unit, former: readonly Declared[]): readonly Match[] {
  const byKey = new Map(former.flatMap((entry) => (entry.unit === unit.name ? [[entry.key, entry] as const] : [])));
  if (byKey.size === 0) return matches;
  return matches.map((match) =>
    match.intent === "delete" ? { ...match, former: byKey.get(unit.identify(match.live).key) ?? null } : match,
  );
}

function refuseForeign(
  entry: Declared | Removed,
  identity: LiveIdentity,
  desired: Desired,
  options: MatchOptions,
  { refusals, refused }: MatchFindings,
): boolean {
  if (identity.owner === null || identity.owner === desired.owner) return false;
  if (options.takeOwnershipFrom.includes(identity.owner)) return false;
  refusals.push(foreignOwner(entry, identity.owner, desired.owner));
  refused.add(identity.id);
  return true;
}
