/**
 * Guards: each stops the whole apply. A consent lifts it, except for `protect` and `max-changes`, which nothing lifts. A block stops one
 * change; see the `diff` of each unit.
 */

import { asciiAddress, compileAddressGlob, isAscii } from "../dns/unicode.ts";
import { type Change, isApexNameserver } from "../model/change.ts";
import type { Consent, ConsentRule } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Kinds } from "../model/kind.ts";
import type { Goal, Guard } from "../model/plan.ts";
import { type Address, rootOf } from "../model/resource.ts";
import { groupBy, literalOf } from "../model/text.ts";
import type { Loss, Unit } from "../model/unit.ts";

export interface PolicyOptions {
  readonly goal: Goal;
  readonly owner: string | null;
  /** YYYY-MM-DD, UTC. */
  readonly today: string;
  /** Consents of `allow:` and `--allow`. */
  readonly consents: readonly Consent[];
  readonly maxChanges: number | null;
}

/** What `protect` covers. */
export interface Protection {
  readonly addresses: ReadonlySet<Address>;
  /**
   * Key: the address in the account of an object that bears a protected entry's name, but that another entry claims with `id:`. Value: the
   * protected address that belongs to the first entry.
   */
  readonly takenFromProtected: ReadonlyMap<Address, Address>;
}

/** What guards ask of a unit. */
export type GuardedUnit = Pick<Unit, "name" | "kinds" | "losses">;

/**
 * Blocked changes are not carried out, so they need no consent.
 * @param whole what the plan would be if nothing narrowed it
 */
export function guardsOf(
  changes: readonly Change[],
  whole: WholePlan,
  kept: Protection,
  units: readonly GuardedUnit[],
  options: PolicyOptions,
): { readonly guards: readonly Guard[]; readonly warnings: readonly Diagnostic[] } {
  const active = changes.filter((change) => change.blocked === null && change.action !== "no-op");
  const guards = protectGuards(active, kept);
  const consents = new Consents(validConsents(options.consents, options.today));
  // `destroy` is its own consent.
  if (options.goal !== "destroy") {
    const given: Given = (rule, address) => consents.given(rule, address);
    for (const guard of replaceAndPruneGuards(active, given)) guards.push(guard);
    for (const guard of contentGuards(changes, whole, units, options.owner, given)) guards.push(guard);
  }
  // `!(count <= limit)`, not `count > limit`: if the limit is NaN, every plan exceeds it.
  if (options.maxChanges !== null && !(active.length <= options.maxChanges)) {
    guards.push({
      rule: "max-changes",
      address: "*",
      consent: "impossible",
      count: active.length,
      of: options.maxChanges,
      origin: null,
    });
  }
  return { guards, warnings: consents.uncompared === 0 ? [] : [tooManyToCompare(consents.uncompared)] };
}

/** @param today YYYY-MM-DD, UTC; a consent is still valid on the day of its `until` */
export function validConsents(consents: readonly Consent[], today: string): Consent[] {
  return consents.filter((consent) => consent.until === null || consent.until >= today);
}

/** A warning for each consent that has ended, so that nobody wonders why it no longer counts. */
export function expiredConsents(consents: readonly Consent[], today: string): Diagnostic[] {
  return consents
    .filter((consent) => consent.until !== null && consent.until < today)
    .map((consent) => ({
      code: "expired-consent",
      severity: "warning",
      summary: `the consent \`${consent.rule}: ${consent.address}\` ended on ${consent.until}`,
      detail: "It no longer counts.",
      fix: "Remove the entry from `allow:`, or move its `until:` if it is still needed.",
      ...(consent.span === null ? {} : { span: consent.span }),
    }));
}

/**
 * An upload that was never completed holds nothing worth protecting, and to protect it would prevent a new upload. A subnet
 * that is deleted with its VPC is reported only if the VPC is not protected itself.
 */
function protectGuards(changes: readonly Change[], kept: Protection): Guard[] {
  const stopped = new Map(
    changes.flatMap((change) => {
      const stops = change.labels.includes("unfinished") ? null : protectedBy(change, kept);
      return stops === null ? [] : [[change, stops] as const];
    }),
  );
  const roots = new Set([...stopped.keys()].map(({ address }) => address));
  return [...stopped]
    .filter(([{ address, root }]) => address === root || !roots.has(root))
    .map(([, address]) => ({ rule: "protect", address, consent: "impossible", count: null, of: null, origin: null }));
}

/**
 * The protected address that the change would lose; null if there is none. A protected object is also lost if another entry claims it by
 * its `id:` and renames it.
 */
function protectedBy({ address, previousAddress, root, action }: Change, kept: Protection): Address | null {
  const goes = action === "delete" || action === "replace";
  if (goes && kept.addresses.has(address)) return address;
  const isRenamed = address === root && action === "update";
  return (goes || isRenamed) && previousAddress !== null
    ? (kept.takenFromProtected.get(previousAddress) ?? null)
    : null;
}

/**
 * Guards for roots and parts that are pruned or replaced, or that an undo deletes, and for records whose entries have expired. Another deletion
 * needs no consent here: the object is named under `removed`, it is retired, or it is part of another object. An upload that was never
 * completed holds nothing that needs a consent.
 * What is superseded goes with the consent to the replace that has left it.
 */
function replaceAndPruneGuards(changes: readonly Change[], given: Given): Guard[] {
  const remade = new Set(changes.filter(({ action }) => action === "replace").map(({ address }) => address));
  const guards = changes
    .filter(({ labels }) => !labels.includes("unfinished") && !labels.includes("retire"))
    .flatMap((change): Guard[] => {
      const { address, root, action, labels, replacedBy } = change;
      if (replacedBy !== undefined) return [guard("replace", { ...change, address: replacedBy }, given)];
      if (action === "replace") return address !== root && remade.has(root) ? [] : [guard("replace", change, given)];
      return action === "delete" && (labels.includes("prune") || labels.includes("undo"))
        ? [guard("delete", change, given)]
        : [];
    });
  // Records may share an address: one guard asks for all of them.
  const expired = new Map(changes.flatMap((change) => (isExpired(change) ? [[liveAddressOf(change), change]] : [])));
  return [...guards, ...[...expired.values()].map((change) => guard("delete", change, given))];
}

function isExpired({ action, labels }: Change): boolean {
  return action === "delete" && labels.includes("expired");
}

/** The plan that is not narrowed. */
interface WholePlan {
  readonly changes: readonly Change[];
  /** With what `--never-destroy` leaves out. */
  readonly withRemovals: readonly Change[];
}

/** Networks, zones and images by their roots, and what is in them. */
interface ByRoot {
  readonly roots: ReadonlyMap<Address, Change>;
  readonly within: ReadonlyMap<Address, readonly Change[]>;
}

/**
 * Guards for roots that stay but lose many of their records or subnets. The units decide how many are many. A narrowed run that removes any of
 * them is judged by the whole plan, and one that leaves deletions out by the plan with them: many runs that remove one each would otherwise
 * remove all. So is a run that would take the consent away from what it leaves out.
 */
function contentGuards(
  changes: readonly Change[],
  whole: WholePlan,
  units: readonly GuardedUnit[],
  owner: string | null,
  given: Given,
): Guard[] {
  const byRootKind = new Map(units.map((unit) => [unit.kinds[0].kind, unit]));
  // `address === root` would miss a renamed object that a narrowed run leaves alone: its address is the old name, its root the new one.
  const isRoot = ({ kind }: Change) => byRootKind.has(kind);
  const byRoot = (all: readonly Change[]): ByRoot => ({
    roots: new Map(all.flatMap((change) => (isRoot(change) ? [[change.root, change]] : []))),
    within: groupBy(
      all.filter((change) => !isRoot(change)),
      ({ root }) => root,
    ),
  });
  const { within } = byRoot(changes);
  const withoutRemovals = byRoot(whole.changes);
  const withRemovals = whole.withRemovals === whole.changes ? withoutRemovals : byRoot(whole.withRemovals);
  return changes
    .filter((change) => isRoot(change) && (change.action === "update" || change.action === "no-op"))
    .flatMap((change): Guard[] => {
      const { root, kind } = change;
      const lossesOf = byRootKind.get(kind)?.losses;
      if (lossesOf === undefined) return [];
      // Not by the label `adopt`: a run that is narrowed to parts of the object leaves the object itself as it is, without labels.
      const adopts = owner !== null && change.part !== true && change.before?.["owner"] === null;
      const own = within.get(root) ?? [];
      const losses = lossesOf(change, own, adopts);
      // An adoption asks for the least loss; one that leaves what is in the object to a later run asks as well.
      const removes = lossesOf(change, own, true).some(({ count }) => count !== null);
      const judged = removes ? withRemovals : adopts && change.action === "update" ? withoutRemovals : null;
      const isBulk = ({ rule }: Loss) => rule === "bulk";
      const bulk =
        judged === null
          ? []
          : lossesOf(judged.roots.get(root) ?? change, judged.within.get(root) ?? [], adopts).filter(isBulk);
      const asked = bulk.length === 0 ? losses : [...bulk, ...losses.filter((loss) => !isBulk(loss))];
      const rules = new Set(asked.map(({ rule }) => rule));
      const spared = sparedLosses(change, own, withRemovals, lossesOf).filter(({ rule }) => !rules.has(rule));
      return [...asked, ...spared].map(({ rule, count, of }) => ({ ...guard(rule, change, given), count, of }));
    });
}

/**
 * What a whole run would need consent for now, and no longer once this run is done: it adds or renames so much that the rest is few of many, or
 * disables the domain. An object that is adopted is like any other then.
 * @param own the changes of this run within the root
 */
function sparedLosses(
  change: Change,
  own: readonly Change[],
  whole: ByRoot,
  lossesOf: NonNullable<GuardedUnit["losses"]>,
): readonly Loss[] {
  const [root, within] = [whole.roots.get(change.root) ?? change, whole.within.get(change.root) ?? []];
  const isDone = ({ action, blocked }: Change) => action !== "no-op" && blocked === null;
  const rootLater = change.action === "update" && isDone(change) ? { ...root, before: change.after } : root;
  const done = own.filter(isDone);
  const objectOf = ({ kind, id }: Change) => `${kind} ${String(id)}`;
  const touched = new Set(done.flatMap((one) => (one.id === null ? [] : [objectOf(one)])));
  const left = within.filter((one) => one.id === null || !touched.has(objectOf(one)));
  const there = done.flatMap((one): Change[] =>
    one.after === null ? [] : [{ ...one, action: "no-op", labels: [], before: one.after }],
  );
  const later = new Set(lossesOf(rootLater, [...left, ...there], false).map(({ rule }) => rule));
  return lossesOf(root, within, false).filter(({ rule }) => !later.has(rule));
}

/** Whether there is consent for the rule and the address. */
type Given = (rule: ConsentRule, address: Address) => boolean;

/** Characters of addresses, times the patterns that they are compared with, of one plan. */
const MAX_CONSENT_COMPARISONS = 500_000_000;

/** There may be thousands of consents for hundreds of thousands of objects: those without a star are looked up. */
class Consents {
  /** How many objects were not compared with patterns, for want of time: they have no consent by one. */
  uncompared = 0;
  readonly #exact: Set<string> = new Set();
  readonly #patterns: ReadonlyMap<ConsentRule, readonly ((address: Address) => boolean)[]>;
  #comparisons = 0;

  constructor(consents: readonly Consent[]) {
    const patterns: { rule: ConsentRule; covers: (address: Address) => boolean }[] = [];
    for (const { rule, address } of consents) {
      const spelt = asciiAddress(address);
      const exact = isAscii(spelt) ? literalOf(spelt) : null;
      if (exact === null) patterns.push({ rule, covers: compileAddressGlob(address) });
      else this.#exact.add(`${rule} ${exact}`);
    }
    const byRule = [...groupBy(patterns, ({ rule }) => rule)];
    this.#patterns = new Map(byRule.map(([rule, all]) => [rule, all.map(({ covers }) => covers)]));
  }

  given(rule: ConsentRule, address: Address): boolean {
    if (this.#exact.has(`${rule} ${address}`)) return true;
    const patterns = this.#patterns.get(rule) ?? [];
    this.#comparisons += patterns.length * address.length;
    if (this.#comparisons <= MAX_CONSENT_COMPARISONS) return patterns.some((covers) => covers(address));
    this.uncompared += 1;
    return false;
  }
}

function tooManyToCompare(count: number): Diagnostic {
  return {
    code: "consents-not-compared",
    severity: "warning",
    summary: `${count.toLocaleString("en")} of the objects that need a consent were not compared with the patterns under \`allow\``,
    detail:
      "The patterns are too many for so many objects. Those objects count as having no consent, unless one names them without a star.",
    fix: "Write fewer patterns, such as one for a whole domain: domain/example.com/*.",
  };
}

/**
 * A consent names the object by the address that it has in the account, not by its new name: whoever proposes the change chooses the new
 * name.
 */
function guard(rule: ConsentRule, change: Change, given: Given): Guard {
  const address = liveAddressOf(change);
  return { rule, address, consent: given(rule, address) ? "given" : "missing", count: null, of: null, origin: null };
}

/** The address that the object has in the account. */
export function liveAddressOf({ address, previousAddress }: Change): Address {
  return previousAddress ?? address;
}

// Which changes belong to which guard, found by keys instead of comparing each change with each guard.

/** The key that a guard shares with the changes that belong to it. */
export function guardKey({ rule, address }: Pick<Guard, "rule" | "address">): string {
  return rule === "max-changes" ? rule : `${rule} ${address}`;
}

/** The keys of the guards that a change may belong to. */
export function guardKeysOf(change: Change, kinds: Kinds): string[] {
  const { kind, action, address, root, previousAddress, labels } = change;
  if (change.blocked !== null || action === "no-op") return [];
  const liveAddress = liveAddressOf(change);
  const keys = [guardKey({ rule: "max-changes", address })];
  if (action === "delete" || action === "replace") {
    for (const rule of ["delete", "replace", "protect"] as const) keys.push(guardKey({ rule, address: liveAddress }));
    keys.push(guardKey({ rule: "protect", address }));
    if (change.replacedBy !== undefined) keys.push(guardKey({ rule: "replace", address: change.replacedBy }));
  }
  if (action === "update" && labels.includes("rename")) keys.push(guardKey({ rule: "protect", address: liveAddress }));
  // The change of a root takes part as well: the root's adoption alone can be the reason for a `bulk` guard.
  if (kinds.isRoot(kind) || action === "delete" || labels.includes("rename")) {
    keys.push(guardKey({ rule: "bulk", address: previousAddress === null ? root : rootOf(liveAddress) }));
  }
  if (isApexNameserver(change)) keys.push(guardKey({ rule: "ns", address: root }));
  return keys;
}
