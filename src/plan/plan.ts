/** Desired and live → the plan: match, diff, narrow, judge, order. Pure: no clock, no I/O. */

import { dateOf } from "../model/annotations.ts";
import type { Block, Change, ChangedSince, InterfaceDetail } from "../model/change.ts";
import type { Consent, Declared, Desired } from "../model/desired.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import { Kinds } from "../model/kind.ts";
import type { Live, LiveUnit } from "../model/live.ts";
import {
  countLastLooks,
  DEFAULT_IMAGE_TIMEOUT_SECONDS,
  DEFAULT_UPLOAD_TIMEOUT_SECONDS,
  type FreeSpace,
  type Goal,
  isNarrowed,
  type JournalInput,
  type LeftAlone,
  type Plan,
  type PlanInputs,
  type Strategy,
} from "../model/plan.ts";
import type { Address, ObjectId } from "../model/resource.ts";
import { compareText, escapeGlob, groupBy } from "../model/text.ts";
import type { Match, Pair, PairContext, Paired, PlannedStep, StepContext, Unit } from "../model/unit.ts";
import { diffPairs, removes } from "./diff.ts";
import { expiredConsents, guardsOf, type Protection, validConsents } from "./guards.ts";
import { type ClaimedByOther, type Matched, matchUnit } from "./match.ts";
import { idBecomesStale, wrongAccount } from "./match-problems.ts";
import { orderSteps } from "./order.ts";
import {
  blockHeld,
  mayConcern,
  type Selection,
  selectChanges,
  selectionOf,
  unmatchedGlobs,
  withholdRemovals,
  withoutBlockedSteps,
} from "./select.ts";
import type { UndoConflict } from "./undo.ts";

export interface PlanOptions {
  readonly goal: Goal;
  /** Milliseconds since the epoch. */
  readonly nowMilliseconds: number;
  readonly targets: readonly string[];
  readonly excludes: readonly string[];
  /**
   * false for a run that carries out a saved plan: targets that match nothing are no error then. They matched when the plan was saved, and
   * what they matched may be done by now.
   */
  readonly checkSelection?: boolean;
  /** Addresses of live objects that carry our tag and are not declared, for the error about a target that matches nothing. */
  readonly owned?: readonly Address[];
  /** What the project was loaded with. The plan keeps it. */
  readonly environment?: string | null;
  readonly variables?: PlanInputs["variables"];
  readonly skipUnsupported?: boolean;
  /** Consents of `--allow`; those of the manifest are in `desired`. */
  readonly consents: readonly Consent[];
  readonly maxChanges: number | null;
  readonly takeOwnershipFrom: readonly string[];
  /** TENON_ACCOUNT; null if it is not set. */
  readonly account: string | null;
  /** Whether new objects may be made as copies of others where that takes fewer requests. */
  readonly clone: boolean;
  /** Seconds after which no upload is still running: it has succeeded or was given up. Default: DEFAULT_UPLOAD_TIMEOUT_SECONDS. */
  readonly uploadTimeoutSeconds?: number;
  /** Where `uploadTimeoutSeconds` is another's word: an upload of another run is left alone for no shorter than this. Default: 0. */
  readonly leastLeaseSeconds?: number;
  /** Seconds for which an image that is not available yet is waited for. Default: DEFAULT_IMAGE_TIMEOUT_SECONDS. */
  readonly imageTimeoutSeconds?: number;
  /** See PairContext. Default: nothing is known of any file. */
  readonly contentOf?: PairContext["contentOf"];
  /** The declared entries of the base: the earlier version of the manifests that this plan is compared with. */
  readonly former?: readonly Declared[];
  /** Default: null. */
  readonly changedSince?: ChangedSince | null;
  /** Whether whatever would delete or replace an object is left out. Default: false. */
  readonly neverDestroy?: boolean;
  /** The run that is undone, with what somebody has changed of it since. Absent: the goal is another one. */
  readonly undo?: { readonly journal: JournalInput; readonly conflicts: readonly UndoConflict[] };
}

/** @param live a unit that is absent was not read, and is not planned */
export function makePlan(desired: Desired, live: Live, units: readonly Unit[], options: PlanOptions): Plan {
  const kinds = new Kinds(units);
  const { changedSince = null } = options;
  const narrowed = isNarrowed({ ...options, changedSince });
  const selection = selectionOf({ ...options, changedSince });
  const worked = units.flatMap((unit) => {
    const found = live.units[unit.name];
    return found === undefined ? [] : [planUnit(unit, desired, found, { ...options, narrowed, selection })];
  });
  const pairs = worked.flatMap(({ paired }) => paired.pairs);
  const whole = diffPairs(pairs);
  const stepsOf = (changes: readonly Change[]) => worked.flatMap((work) => unitSteps(work, changes));
  const selected = narrowed ? selectChanges(whole, selection, kinds) : whole;
  const { neverDestroy = false } = options;
  const withhold = (all: Change[]) => (neverDestroy ? withholdRemovals(all, kinds) : { changes: all, withheld: [] });
  const kept = withhold(selected);
  const changes =
    narrowed || kept.withheld.length > 0 ? blockHeld(plainSteps(worked, whole), kept.changes) : kept.changes;
  const unblocked = withoutBlockedSteps(stepsOf(changes), changes);
  const ordered = orderSteps(unblocked.planned);
  const today = todayOf(options);
  const consents = [...desired.allow, ...options.consents];
  const wholeChanges = narrowed ? withhold(whole).changes : unblocked.changes;
  const wholePlan = { changes: wholeChanges, withRemovals: neverDestroy ? whole : wholeChanges };
  const guarded = guardsOf(unblocked.changes, wholePlan, protectionOf(pairs, worked), units, {
    ...options,
    owner: desired.owner,
    today,
    consents,
  });
  return {
    goal: options.goal,
    owner: desired.owner,
    inputs: {
      environment: options.environment ?? null,
      variables: options.variables ?? {},
      targets: options.targets,
      excludes: options.excludes,
      skipUnsupported: options.skipUnsupported ?? false,
      takeOwnershipFrom: options.takeOwnershipFrom,
      clone: options.clone,
      changedSince,
      ...(options.undo === undefined ? {} : { journal: options.undo.journal }),
      neverDestroy,
    },
    changes: unblocked.changes,
    ...ordered,
    strategies: worked.flatMap((work) => unitStrategies(work, unblocked.changes)),
    guards: guarded.guards,
    refusals: byAddress([
      ...accountRefusal(desired, options),
      ...unmatchedSelection(whole, desired, kinds, { ...options, selection }),
      ...worked.flatMap(({ matched }) => matched.refusals),
    ]),
    warnings: byAddress([
      ...expiredConsents(consents, today),
      ...guarded.warnings,
      ...worked.flatMap(({ matched, paired }) => [...matched.warnings, ...paired.warnings]),
      ...(options.undo === undefined ? idsBecomingStale(desired, unblocked.changes) : []),
    ]),
    freeSpace: worked.flatMap((work) => unitFreeSpace(work, unblocked.changes)),
    leftAlone: mergeLeftAlone(worked, narrowed || options.undo !== undefined),
    families: worked.flatMap(({ matched }) => matched.families),
    requestCount: ordered.steps.length + countLastLooks(ordered.steps, kinds),
    pace: null,
    base: null,
    withheld: kept.withheld,
  };
}

/**
 * The same whatever the order of the manifest: first diagnostics about no object, then those of each object in the order they were found.
 */
function byAddress(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.toSorted((a, b) => compareText(a.address ?? "", b.address ?? ""));
}

/** YYYY-MM-DD, UTC. */
function todayOf({ nowMilliseconds }: PlanOptions): string {
  return dateOf(nowMilliseconds);
}

interface Worked {
  readonly unit: Unit;
  readonly matched: Matched;
  readonly paired: Paired;
  /** See Protection. */
  readonly takenFromProtected: ReadonlyMap<Address, Address>;
  readonly context: StepContext;
}

/** What each entry means, and how it stands beside that: as a plan sees it, before anything is judged or ordered. */
export function compareUnit(
  unit: Unit,
  desired: Desired,
  live: LiveUnit,
  options: PlanOptions,
): Pick<Worked, "matched" | "paired"> {
  const selection = selectionOf({ ...options, changedSince: null });
  return planUnit(unit, desired, live, { ...options, narrowed: false, selection });
}

interface UnitOptions extends PlanOptions {
  readonly narrowed: boolean;
  readonly selection: Selection;
}

/** Matches all objects, so that a narrowed run does not mistake one for another. Diagnostics about what it does not select are dropped. */
function planUnit(unit: Unit, desired: Desired, live: LiveUnit, options: UnitOptions): Worked {
  const identities = live.items.map((item) => unit.identify(item));
  const idsByKey = new Map(
    [...groupBy(identities, ({ key }) => key)].map(([key, same]) => [key, same.map(({ id }) => id)]),
  );
  const owners = new Map(identities.map(({ key, owner }) => [key, owner]));
  const uploadTimeoutSeconds = options.uploadTimeoutSeconds ?? DEFAULT_UPLOAD_TIMEOUT_SECONDS;
  const deletable = new Set(
    validConsents([...desired.allow, ...options.consents], todayOf(options))
      .filter(({ rule }) => rule === "delete")
      .map(({ address }) => address),
  );
  const context: PairContext = {
    owner: desired.owner,
    servedMilliseconds: live.servedMilliseconds ?? null,
    uploadTimeoutSeconds: Math.max(uploadTimeoutSeconds, options.leastLeaseSeconds ?? 0),
    live: live.items,
    compared: { characters: 0 },
    mayDelete: (address) => deletable.has(escapeGlob(address)),
    idsOf: (key) => idsByKey.get(key) ?? [],
    ownerOf: (key) => owners.get(key) ?? null,
    contentOf: options.contentOf ?? (() => null),
  };
  const isAsDeclared = (declared: Declared, item: unknown): boolean => {
    // Of the account nothing else decides whether an object equals its declaration, and thousands may be asked about.
    const alone = { ...context, live: [item] };
    const { pairs } = unit.normalise([{ intent: "manage", declared, removed: null, live: item }], alone);
    return diffPairs(pairs).every(({ action }) => action === "no-op");
  };
  const { targets, excludes, roots } = options.selection;
  const mayPrune = (address: Address): boolean =>
    targets.length === 0 && excludes.length === 0 && (roots === null || roots.has(address));
  const matched = matchUnit(unit, desired, live, { ...options, context, mayPrune, isAsDeclared });
  const paired = blockChangedSince(
    blockGuesses(blockUnclear(unit.normalise(matched.matches, context), matched), matched),
    options.undo?.conflicts ?? [],
  );
  const renamed = renamedInto(matched.matches, unit);
  const addresses = new Set(paired.pairs.map(({ resource }) => resource.address));
  const formerAddresses = new Map(
    paired.pairs.flatMap(({ resource: { address, previousAddress } }) =>
      previousAddress === null || addresses.has(previousAddress) ? [] : [[address, previousAddress] as const],
    ),
  );
  const isConcern = (address: Address | undefined) =>
    address === undefined || mayConcern(address, options.selection, formerAddresses.get(address) ?? null);
  const [undeclared, additive] = [new Set(paired.holdsUndeclared ?? []), new Set(paired.additive ?? [])];
  return {
    unit,
    matched: {
      ...matched,
      refusals: [...matched.refusals, ...(paired.refusals ?? [])].filter(({ address }) => isConcern(address)),
      warnings: matched.warnings.filter(({ address }) => isConcern(address)),
    },
    takenFromProtected: new Map(matched.claimedByOthers.flatMap((claimed) => protectedOf(claimed, unit, context))),
    paired: { ...paired, warnings: paired.warnings.filter(({ address }) => isConcern(address)) },
    context: {
      owner: desired.owner,
      idsOf: (key) => [...(idsByKey.get(key) ?? []), ...(renamed.get(key) ?? [])],
      live: live.items,
      clone: options.clone,
      uploadTimeoutSeconds,
      imageTimeoutSeconds: options.imageTimeoutSeconds ?? DEFAULT_IMAGE_TIMEOUT_SECONDS,
      holdsUndeclared: (root) => undeclared.has(root),
      isAdditive: (root) => additive.has(root),
    },
  };
}

/** Keys → the ids of the objects that this plan gives the key. */
function renamedInto(matches: readonly Match[], unit: Unit): ReadonlyMap<string, readonly ObjectId[]> {
  const renames = matches.flatMap(({ declared, live }) => {
    const identity = live === null ? null : unit.identify(live);
    return declared === null || identity === null || identity.key === declared.key
      ? []
      : [{ key: declared.key, id: identity.id }];
  });
  return new Map([...groupBy(renames, ({ key }) => key)].map(([key, all]) => [key, all.map(({ id }) => id)]));
}

/**
 * Live addresses → the protected addresses of the entry. If only a subnet is protected, its VPC's live address leads to that subnet, so
 * that the VPC is guarded because of it.
 */
function protectedOf({ entry, liveAddress }: ClaimedByOther, unit: Unit, context: PairContext): [Address, Address][] {
  const made: Match = { intent: "create", declared: entry, removed: null, live: null };
  const kept = protectedAddresses(unit.normalise([made], context).pairs);
  const [first] = kept.toSorted((a, b) => a.length - b.length);
  if (first === undefined) return [];
  const inside = kept.map((address): [Address, Address] => [
    liveAddress + address.slice(entry.address.length),
    address,
  ]);
  return [[liveAddress, first], ...inside];
}

/** Thousands of candidates may each be blocked, and each block lists the candidates: only so many of them are listed. */
const MAX_LISTED_CANDIDATES = 20;

/** Blocks the root of each unclear entry; `withoutBlockedSteps` then blocks the changes that depend on it. */
function blockUnclear(paired: Paired, { unclear }: Matched): Paired {
  if (unclear.length === 0) return paired;
  const blocks = unclear.map(({ entry, candidates }) => {
    const listed = candidates.slice(0, MAX_LISTED_CANDIDATES).map(({ id, shown }) => ({ id, shown }));
    const more = candidates.length - listed.length;
    const block: Block = { type: "ambiguous", candidates: listed, ...(more > 0 ? { more } : {}) };
    return { entry, candidates, block };
  });
  const byAddress = new Map(blocks.map((one) => [one.entry.address, one]));
  const byId = new Map(blocks.flatMap((one) => one.candidates.map(({ id }) => [id, one] as const)));
  const pairs = paired.pairs.map((pair): Pair => {
    if (pair.rules.parent !== null) return pair;
    const { id: known, address } = pair.resource;
    const found = known === null ? byAddress.get(address) : byId.get(known);
    if (found === undefined) return pair;
    return blockedPair(pair, found.block, found.entry.span);
  });
  return { ...paired, pairs };
}

/**
 * An object that was found by its label because its id is gone may be updated. If it would be replaced, or lose anything in it, all of its
 * changes are blocked.
 */
function blockGuesses(paired: Paired, { guessed }: Matched): Paired {
  if (guessed.length === 0) return paired;
  const byRoot = new Map(guessed.map((guess) => [guess.entry.address, guess]));
  const changes = diffPairs(paired.pairs.filter(({ resource }) => byRoot.has(resource.root)));
  const hurt = new Set(changes.filter(({ action }) => removes(action)).map(({ root }) => root));
  const changed = new Set(changes.flatMap(({ address, action }) => (action === "no-op" ? [] : [address])));
  const pairs = paired.pairs.map((pair): Pair => {
    const { address, root } = pair.resource;
    const guess = hurt.has(root) ? byRoot.get(root) : undefined;
    if (guess === undefined) return pair;
    const { id, shown } = guess.identity;
    const rootSaysWhy = address !== root && changed.has(root);
    const block: Block = rootSaysWhy ? { type: "depends", on: [root] } : { type: "stale-id", candidate: { id, shown } };
    return blockedPair(pair, block, guess.entry.span);
  });
  return { ...paired, pairs };
}

/** What an undo would take back, and somebody has changed since, stays as it is; the plan shows what it would become. */
function blockChangedSince(paired: Paired, conflicts: readonly UndoConflict[]): Paired {
  if (conflicts.length === 0) return paired;
  const byId = new Map(conflicts.map((one) => [`${one.kind} ${one.id}`, one]));
  const pairs = paired.pairs.map((pair): Pair => {
    const conflict = byId.get(`${pair.resource.kind} ${pair.resource.id}`);
    if (conflict === undefined) return pair;
    const { resource, rules } = pair;
    const block: Block = { type: "changed-since", run: conflict.run };
    return { resource: { ...resource, after: conflict.after }, rules: { ...rules, block } };
  });
  return { ...paired, pairs };
}

/** @param span the entry's, for a pair that has none */
function blockedPair({ resource, rules }: Pair, block: Block, span: Span): Pair {
  return { resource: { ...resource, span: resource.span ?? span }, rules: { ...rules, block } };
}

/** The steps of all changes without clones: which objects are cloned depends on what is selected. */
function plainSteps(worked: readonly Worked[], changes: readonly Change[]): PlannedStep[] {
  return worked.flatMap((work) => unitSteps({ ...work, context: { ...work.context, clone: false } }, changes));
}

function unitSteps({ unit, context }: Worked, changes: readonly Change[]): readonly PlannedStep[] {
  const own = changes.filter((change) => change.unit === unit.name);
  return unit.steps(own, context);
}

/** The clones among changes that are carried out: a blocked zone is not cloned. */
function unitStrategies({ unit, context }: Worked, changes: readonly Change[]): readonly Strategy[] {
  const own = changes.filter((change) => change.unit === unit.name && change.blocked === null);
  return unit.strategies?.(own, context) ?? [];
}

/** Blocked changes are among them: where one stays, its range stays. */
function unitFreeSpace({ unit, context }: Worked, changes: readonly Change[]): readonly FreeSpace[] {
  const own = changes.filter((change) => change.unit === unit.name);
  return unit.freeSpace?.(own, context) ?? [];
}

function protectionOf(pairs: readonly Pair[], worked: readonly Worked[]): Protection {
  return {
    addresses: new Set(protectedAddresses(pairs)),
    takenFromProtected: new Map(worked.flatMap(({ takenFromProtected }) => [...takenFromProtected])),
  };
}

function protectedAddresses(pairs: readonly Pair[]): Address[] {
  return pairs.flatMap(({ resource, rules }) => (rules.protect ? [resource.address] : []));
}

/** A warning for each object that the manifest names by `id:` and that is made anew, in the order of the changes. */
function idsBecomingStale({ declared }: Desired, changes: readonly Change[]): Diagnostic[] {
  const named = new Map(declared.flatMap((entry) => (entry.id === null ? [] : [[entry.address, entry] as const])));
  return changes.flatMap(({ address, id, action, blocked }) => {
    const entry = named.get(address);
    return entry !== undefined && entry.id === id && action === "replace" && blocked === null
      ? [idBecomesStale(entry)]
      : [];
  });
}

/**
 * A narrowed run does not count undeclared objects: it may not have read all of them. It still counts what is left alone within the objects
 * that it plans.
 */
function mergeLeftAlone(worked: readonly Worked[], narrowed: boolean): LeftAlone[] {
  return worked.flatMap(({ matched, paired }) => [...(narrowed ? [] : matched.leftAlone), ...paired.leftAlone]);
}

function unmatchedSelection(
  changes: readonly Change[],
  desired: Desired,
  kinds: Kinds,
  options: Pick<UnitOptions, "checkSelection" | "selection" | "owned">,
): Diagnostic[] {
  if (options.checkSelection === false) return [];
  return unmatchedGlobs(options.selection, { changes, desired, kinds, undeclared: options.owned ?? [] });
}

function accountRefusal(desired: Desired, options: PlanOptions) {
  if (desired.account === null || desired.account === options.account) return [];
  return [wrongAccount(desired.account, options.account)];
}

// Interfaces that keep a subnet from being deleted, with what a closer look tells.

/** The plan with the profile and the address of each interface that blocks a change, as far as they are known. */
export function completeInterfaces(plan: Plan, details: readonly InterfaceDetail[]): Plan {
  const known = new Map(details.map((detail) => [interfaceKey(detail), detail]));
  const changes = plan.changes.map((change): Change => {
    if (change.blocked?.type !== "interfaces") return change;
    const interfaces = change.blocked.interfaces.map((one) => ({ ...one, ...known.get(interfaceKey(one)) }));
    return { ...change, blocked: { ...change.blocked, interfaces } };
  });
  return { ...plan, changes };
}

function interfaceKey({ subnet_id, interface_id }: Pick<InterfaceDetail, "subnet_id" | "interface_id">): string {
  return `${subnet_id} ${interface_id}`;
}
