/** Targets and excludes: the changes that a narrowed run is about. */

import { asciiAddress, compileAddressGlob, compileWithinAddress } from "../dns/unicode.ts";
import { type Change, type ChangeLabel, narrowedTo } from "../model/change.ts";
import type { Desired } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Kinds } from "../model/kind.ts";
import type { Narrowing, WithheldChange } from "../model/plan.ts";
import type { Address } from "../model/resource.ts";
import { compareText, groupBy, nearest, outlineOf } from "../model/text.ts";
import type { PlannedStep } from "../model/unit.ts";
import { removes } from "./diff.ts";
import { claimEdges, dependenciesOf, type Edges, edgesOf, producersOf, referencesOf } from "./edges.ts";

/** A target or an exclude, compiled once: it is compared with every address. */
class AddressGlob {
  /** As it was written. */
  readonly text: string;
  /** What every address that it covers begins with: of a hundred thousand addresses most are told apart by it. */
  readonly #beginning: string;
  readonly #fits: (address: Address) => boolean;
  readonly #fitsWithin: (address: Address) => boolean;

  constructor(text: string) {
    this.text = text;
    this.#beginning = beginningOf(text);
    this.#fits = compileAddressGlob(text);
    this.#fitsWithin = compileWithinAddress(text);
  }

  /** Whether it matches the address itself or an address above it. */
  covers(address: Address): boolean {
    if (!address.startsWith(this.#beginning)) return false;
    for (let end = address.length; end > 0; end = address.lastIndexOf("/", end - 1)) {
      if (this.#fits(address.slice(0, end))) return true;
    }
    return false;
  }

  /** May be wrong only by saying yes. */
  mayMatchWithin(address: Address): boolean {
    return this.#fitsWithin(address);
  }
}

/** Of a glob that is compared by letters outside ASCII, too, nothing. */
function beginningOf(glob: string): string {
  const ascii = asciiAddress(glob);
  return /[^ -~]/.test(ascii) ? "" : outlineOf(ascii).first;
}

export interface Selection {
  readonly targets: readonly AddressGlob[];
  readonly excludes: readonly AddressGlob[];
  /** Addresses of what `--changed-since` narrows the run to; null: it does not. */
  readonly roots: ReadonlySet<Address> | null;
}

export function selectionOf({ targets, excludes, changedSince }: Narrowing): Selection {
  return {
    targets: targets.map((target) => new AddressGlob(target)),
    excludes: excludes.map((exclude) => new AddressGlob(exclude)),
    roots: changedSince === null ? null : narrowedTo(changedSince),
  };
}

/**
 * Whether anything at or beneath `root` could be selected. If not, nothing beneath `root` needs to be read.
 * @param former the old address of an object that is renamed
 */
export function mayConcern(
  root: Address,
  { targets, excludes, roots }: Selection,
  former: Address | null = null,
): boolean {
  const addresses = former === null ? [root] : [root, former];
  if (roots !== null && !addresses.some((address) => roots.has(address))) return false;
  if (excludes.some((glob) => addresses.some((address) => glob.covers(address)))) return false;
  return targets.length === 0 || targets.some((glob) => addresses.some((address) => glob.mayMatchWithin(address)));
}

/**
 * Objects that are not selected stay as they are live. An exclude means an object by its new or its old address; so does a target, unless
 * another object has the old address now. A selected child of a parent that is created or renamed brings the parent's change along. The
 * delete or replace of a parent is all or nothing: unless the parent and all of its live children are selected, all of them stay as they
 * are.
 */
export function selectChanges(changes: readonly Change[], selection: Selection, kinds: Kinds): Change[] {
  const roots = new Map(
    changes.filter((change) => change.address === change.root).map((change) => [change.root, change]),
  );
  const rootAction = (change: Change) => roots.get(change.root)?.action ?? "no-op";
  const isExcludedBy = coveredByEither(changes);
  const isTargetedBy = coveredByTarget(changes);
  const isNamed = (change: Change) =>
    isOfRoots(change, selection, roots) &&
    (selection.targets.length === 0 || selection.targets.some((glob) => isTargetedBy(glob, change))) &&
    !selection.excludes.some((glob) => isExcludedBy(glob, change));
  const named = new Set(changes.filter(isNamed));
  // A child of a renamed object needs the rename, so that plan, guards and consents use one and the same name of the object.
  const isNeeded = (change: Change) =>
    rootAction(change) === "create" || (roots.get(change.root)?.previousAddress ?? null) !== null;
  const needed = new Set([...named].filter(isNeeded).map((change) => change.root));
  /** Roots with a live part that is not selected. */
  const partlyUnselected = new Set(
    changes.filter((change) => !named.has(change) && change.before !== null).map((change) => change.root),
  );
  return changes.flatMap((change) => {
    const isRoot = roots.get(change.root) === change;
    const action = rootAction(change);
    if (kinds.of(change.kind).takesContents && action === "delete" && mayExcludeWithin(selection, change.root))
      return asItIs(change);
    if (removes(action) && (partlyUnselected.has(change.root) || !named.has(roots.get(change.root) ?? change)))
      return asItIs(change);
    return named.has(change) || (isRoot && needed.has(change.root)) ? [change] : asItIs(change);
  });
}

/**
 * What nothing declares was selected before: by the names that the base declares, or by the entries because of which it leaves. Several
 * objects may have one name, and their addresses then have an id.
 */
function isOfRoots({ root }: Change, selection: Selection, changes: ReadonlyMap<Address, Change>): boolean {
  const own = changes.get(root);
  if (selection.roots === null || own?.labels.some((label) => UNDECLARED.has(label)) === true) return true;
  const former = own?.previousAddress ?? null;
  return selection.roots.has(root) || (former !== null && selection.roots.has(former));
}

const UNDECLARED: ReadonlySet<ChangeLabel> = new Set(["prune", "retire", "superseded"]);

/** What targets and excludes can match. */
interface Selectable {
  /** Changes of the whole plan, before anything is selected. */
  readonly changes: readonly Change[];
  readonly desired: Desired;
  readonly kinds: Kinds;
  /** Addresses of live objects that carry our tag and are no longer declared: a narrowed run does not prune them. */
  readonly undeclared: readonly Address[];
}

const UNMATCHED_TARGET = "unmatched-target";
const UNMATCHED_EXCLUDE = "unmatched-exclude";

/** Whether the diagnostic is about the run's targets and excludes, not about the account. */
export function isUnmatched({ code }: Diagnostic): boolean {
  return code === UNMATCHED_TARGET || code === UNMATCHED_EXCLUDE;
}

/**
 * An error for each target and exclude that matches nothing: it is a slip, and the object that was meant would not be changed, or not be
 * spared. Declared and removed entries match even if their objects are not there, were not read, or could not be told apart.
 */
export function unmatchedGlobs({ targets, excludes }: Selection, selectable: Selectable): Diagnostic[] {
  const { changes, desired, kinds } = selectable;
  const planned = new Set(changes.map(({ root }) => root));
  const entries = [...desired.declared, ...desired.removed];
  const isMatched = (glob: AddressGlob, isCovered: Cover): boolean =>
    changes.some((change) => isCovered(glob, change)) ||
    entries.some(({ address }) => (planned.has(address) ? glob.covers(address) : glob.mayMatchWithin(address)));
  // An exclude may mean a record of a domain that is deleted as a whole: such records have no changes of their own.
  const mayMeanRecordOfDeleted = (glob: AddressGlob): boolean =>
    changes.some(
      ({ address, kind, action }) =>
        kinds.of(kind).takesContents && action === "delete" && glob.mayMatchWithin(address),
    );
  const [isTargetedBy, isExcludedBy] = [coveredByTarget(changes), coveredByEither(changes)];
  return [
    ...targets
      .filter((glob) => !isMatched(glob, isTargetedBy))
      .map((glob) => unmatched(UNMATCHED_TARGET, "target", glob, selectable)),
    ...excludes
      .filter((glob) => !isMatched(glob, isExcludedBy) && !mayMeanRecordOfDeleted(glob))
      .map((glob) => unmatched(UNMATCHED_EXCLUDE, "exclude", glob, selectable)),
  ];
}

function unmatched(code: string, noun: string, glob: AddressGlob, selectable: Selectable): Diagnostic {
  const { desired } = selectable;
  const undeclared = selectable.undeclared.find((address) => glob.covers(address));
  if (undeclared !== undefined) {
    return {
      code,
      severity: "error",
      summary: `the ${noun} ${glob.text} matches only what is no longer declared`,
      detail: `${undeclared} carries the tag of the owner "${desired.owner}" and is not declared. A run that is narrowed by --target or --exclude never prunes.`,
      fix: `To delete it, run without --target and --exclude, or name it under \`removed:\`. To leave it alone, leave the ${noun} out.`,
    };
  }
  const near = nearestAddress(glob.text, selectable);
  return {
    code,
    severity: "error",
    summary: `the ${noun} ${glob.text} matches nothing`,
    detail: "Nothing that is declared or removed has an address that it matches.",
    fix: near === null ? "`tenon plan --format json` lists the addresses." : `Did you mean \`${near}\`?`,
  };
}

/** Comparing one address with many is slow, but it happens only for an error that ends the run. */
const MAX_COMPARED_ADDRESSES = 20_000;

/** A glob with a star is not compared: its star stands for anything. */
function nearestAddress(written: string, { changes, desired }: Selectable): Address | null {
  if (written.includes("*")) return null;
  const glob = asciiAddress(written);
  const former = changes.flatMap(({ address, root, previousAddress }) =>
    address === root && previousAddress !== null ? [previousAddress] : [],
  );
  const roots = [...[...desired.declared, ...desired.removed].map(({ address }) => address), ...former];
  const addresses = [...new Set([...roots, ...changes.map(({ address }) => address)])];
  // The kind was left out: `example.com` for `domain/example.com`.
  const whole = addresses.find((address) => {
    const [kind = ""] = address.split("/", 1);
    return address.endsWith(`/${glob}`) || address === asciiAddress(`${kind}/${written}`);
  });
  if (whole !== undefined) return whole;
  const within = roots.find((root) => glob.startsWith(`${root}/`));
  if (within === undefined) return nearest(glob, [...new Set(roots)], MAX_COMPARED_ADDRESSES);
  const beneath = addresses.filter((address) => address.startsWith(`${within}/`));
  const rest = nearest(
    glob.slice(within.length + 1),
    beneath.map((address) => address.slice(within.length + 1)),
    MAX_COMPARED_ADDRESSES,
  );
  return rest === null ? null : `${within}/${rest}`;
}

/** As `coveredByEither`, but a target means an object by its old address only if no other object has that address now. */
function coveredByTarget(changes: readonly Change[]): Cover {
  return coveredByEither(changes, new Set(changes.map(({ address }) => address)));
}

type Cover = (glob: AddressGlob, change: Change) => boolean;

/**
 * A glob also covers a change by its old address, or by the old address of the object that it is in.
 * @param taken old addresses that do not count, nor what is beneath them: another object has them now
 */
function coveredByEither(changes: readonly Change[], taken: ReadonlySet<Address> = new Set()): Cover {
  const formerRoots = new Map(
    changes.flatMap(({ address, root, previousAddress }) =>
      address === root && previousAddress !== null ? [[root, previousAddress] as const] : [],
    ),
  );
  return (glob, { address, previousAddress, root }) => {
    if (glob.covers(address)) return true;
    const former = formerRoots.get(root);
    if (former !== undefined && taken.has(former)) return false;
    if (previousAddress !== null && !taken.has(previousAddress) && glob.covers(previousAddress)) return true;
    return former !== undefined && glob.covers(former + address.slice(root.length));
  };
}

/**
 * The records of a domain that is deleted have no changes of their own, so an excluded record may be among them. The address of a record
 * ends in its type, so a glob that matches one ends in a capital letter or a star.
 */
function mayExcludeWithin({ excludes }: Selection, root: Address): boolean {
  return excludes.some((glob) => /[*A-Z]$/.test(glob.text) && glob.mayMatchWithin(root));
}

function asItIs(change: Change): Change[] {
  if (change.before === null) return [];
  return [
    {
      ...change,
      address: change.previousAddress ?? change.address,
      action: "no-op",
      after: change.before,
      labels: [],
      replaceFields: [],
      blocked: null,
      previousAddress: null,
    },
  ];
}

// What `--never-destroy` leaves out.

interface Kept {
  readonly changes: readonly Change[];
  readonly withheld: readonly WithheldChange[];
}

/**
 * Whatever would delete or replace an object stays as it is, and with an object that is to be made anew all that is in it. A record that
 * gets another value is changed in place, and is no delete.
 */
export function withholdRemovals(changes: readonly Change[], kinds: Kinds): Kept {
  const own = groupBy(
    changes.filter(({ kind }) => kinds.isRoot(kind)),
    ({ root }) => root,
  );
  // Several objects may have one address: then what is within them says by itself whether it goes.
  const going = new Set(
    [...own].flatMap(([root, objects]) => (objects.every(({ action }) => removes(action)) ? [root] : [])),
  );
  const isWithheld = ({ action, root }: Change): boolean => action !== "no-op" && (removes(action) || going.has(root));
  const withheld = changes.filter(isWithheld).map(({ key, action }) => ({ key, action }));
  return {
    changes: changes.flatMap((change) => (isWithheld(change) ? asItIs(change) : [change])),
    withheld: withheld.sort((a, b) => compareText(a.key, b.key)),
  };
}

// Steps that a blocked change takes with it: its own, and those that cannot be done without them.

interface Unblocked {
  /** Without blocked steps. */
  readonly planned: readonly PlannedStep[];
  /** Changes that depend on blocked ones are blocked, too, and name them. */
  readonly changes: readonly Change[];
}

export function withoutBlockedSteps(planned: readonly PlannedStep[], changes: readonly Change[]): Unblocked {
  const blocked = new Set(changes.flatMap(({ key, blocked: block }) => (block === null ? [] : [key])));
  if (blocked.size === 0) return { planned, changes };
  const dependents = dependentsOf(edgesOf(planned));
  const stepsOf = groupBy(
    planned.flatMap(({ step }, index) => step.changes.map((key) => ({ key, index }))),
    ({ key }) => key,
  );
  const out = new Set<number>();
  const awaited = new Map<number, Set<string>>();
  const queue = [...blocked];
  for (const key of queue) {
    for (const { index } of stepsOf.get(key) ?? []) {
      if (out.has(index)) continue;
      out.add(index);
      for (const other of [index, ...dependents(index)]) {
        const known = awaited.get(other);
        awaited.set(other, (known ?? new Set()).add(key));
        if (known !== undefined) continue;
        for (const dependent of planned[other]?.step.changes ?? []) {
          if (blocked.has(dependent)) continue;
          blocked.add(dependent);
          queue.push(dependent);
        }
      }
    }
  }
  return {
    planned: planned.filter((_, index) => !out.has(index)),
    changes: blockWaiting(changes, planned, awaited, {}),
  };
}

/**
 * Blocks each selected change that depends on an unselected one: a new subnet, for example, depends on the delete of the old subnet whose
 * range it takes.
 * @param whole the steps of all changes, selected or not
 */
export function blockHeld(whole: readonly PlannedStep[], selected: readonly Change[]): Change[] {
  const active = new Set(selected.filter((change) => change.action !== "no-op").map((change) => change.key));
  const heldBy = whole.map(({ step }) => new Set(step.changes.filter((key) => !active.has(key))));
  const awaited = new Map<number, ReadonlySet<string>>();
  for (const [index, firsts] of indispensable(whole).entries()) {
    const holders = [...new Set(firsts)].flatMap((first) => heldBy[first] ?? []).filter(({ size }) => size > 0);
    if (holders.length > 0) awaited.set(index, union(holders));
  }
  return blockWaiting(selected, whole, awaited, { leftOut: true });
}

/**
 * For each step, the steps that it cannot do without, selected or not: those that free a slot it takes, the one that makes the object in
 * its path, and for a DELETE all that it `requires`, since those steps let go of the object.
 */
function indispensable(planned: readonly PlannedStep[]): number[][] {
  const byId = new Map(planned.map(({ step }, index) => [step.id, index]));
  const made = producersOf(planned);
  return claimEdges(planned).map((claimed, index) => {
    const { step, facts } = planned[index] as PlannedStep;
    const isDelete = step.type === "request" && step.method === "DELETE";
    return [
      ...claimed,
      ...referencesOf(step).flatMap((ref) => made.get(ref) ?? []),
      ...(isDelete ? facts.requires.flatMap((id) => byId.get(id) ?? []) : []),
    ];
  });
}

/** The most changes that a block names; the rest is counted. */
const MAX_NAMED_CHANGES = 20;

interface Awaited {
  readonly all: ReadonlySet<string>;
  readonly first: readonly string[];
}

/**
 * Blocks each change that has a step which waits for other changes. Changes of the same steps share what they wait for: a step may have
 * thousands of changes, and wait for thousands.
 * @param awaited step → keys of the changes that it waits for
 */
function blockWaiting(
  changes: readonly Change[],
  planned: readonly PlannedStep[],
  awaited: ReadonlyMap<number, ReadonlySet<string>>,
  leftOut: { readonly leftOut?: true },
): Change[] {
  const stepsOf = new Map<string, number[]>();
  for (const index of awaited.keys()) {
    for (const key of planned[index]?.step.changes ?? []) {
      const known = stepsOf.get(key);
      if (known === undefined) stepsOf.set(key, [index]);
      else known.push(index);
    }
  }
  const shared = new Map<ReadonlySet<string> | string, Awaited>();
  const awaitedBy = (steps: readonly number[]): Awaited => {
    const sets = steps.flatMap((index) => awaited.get(index) ?? []);
    const id = sets.length === 1 ? (sets[0] as ReadonlySet<string>) : steps.join();
    const known = shared.get(id);
    if (known !== undefined) return known;
    const all = union(sets);
    // One more than is named, as a change does not wait for itself.
    const found = { all, first: [...all].sort().slice(0, MAX_NAMED_CHANGES + 1) };
    shared.set(id, found);
    return found;
  };
  return changes.map((change) => {
    const steps = stepsOf.get(change.key);
    if (change.blocked !== null || change.action === "no-op" || steps === undefined) return change;
    const { all, first } = awaitedBy(steps);
    const on = first.filter((key) => key !== change.key).slice(0, MAX_NAMED_CHANGES);
    const more = all.size - (all.has(change.key) ? 1 : 0) - on.length;
    return { ...change, blocked: { type: "depends", on, ...(more > 0 ? { more } : {}), ...leftOut } };
  });
}

/** One set is returned as it is. */
function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return sets.length === 1 ? (sets[0] as ReadonlySet<string>) : new Set(sets.flatMap((set) => [...set]));
}

/**
 * Returns a function that gives, for a step, the steps that cannot be done without it: those that the service would refuse, and those that
 * would leave a name without an answer, or a record pointing at such a name. A `harmless` milestone (nothing loses its answer if it is
 * missed) does not count. The function remembers which milestones it has passed, so a second call for a step may return less.
 */
function dependentsOf(edges: Edges): (step: number) => number[] {
  const { hard } = edges;
  // A step that only follows another one goes on without it.
  const follows = hard.map(() => []);
  const harmful = { hard, follows, milestones: edges.milestones.filter(({ harmless }) => !harmless) };
  const dependents: number[][] = [...hard, ...harmful.milestones].map(() => []);
  for (const [node, list] of dependenciesOf(harmful).entries()) for (const first of list) dependents[first]?.push(node);
  const passed = new Set<number>();
  return (step) =>
    (dependents[step] ?? []).flatMap((node) => {
      if (node < hard.length) return [node];
      // Each milestone is passed once: the steps after it are blocked by then.
      if (passed.has(node)) return [];
      passed.add(node);
      return dependents[node] ?? [];
    });
}
