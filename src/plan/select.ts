/** Targets and excludes: the changes that a narrowed run is about. */

import type { Address } from "../model/address.ts";
import type { Change } from "../model/change.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { globMatches, mayMatchWithin } from "../model/glob.ts";

export interface Selection {
  readonly targets: readonly string[];
  readonly excludes: readonly string[];
}

export function isNarrowed({ targets, excludes }: Selection): boolean {
  return targets.length > 0 || excludes.length > 0;
}

/** Whether anything at or beneath `root` could be selected: what surely could not need not be read. */
export function mayConcern(root: Address, { targets, excludes }: Selection): boolean {
  if (excludes.some((glob) => covers(glob, root))) return false;
  return targets.length === 0 || targets.some((glob) => mayMatchWithin(glob, root));
}

/** A glob covers an address if it matches it or anything above it. */
function covers(glob: string, address: Address): boolean {
  for (let end = address.length; end > 0; end = address.lastIndexOf("/", end - 1)) {
    if (globMatches(glob, address.slice(0, end))) return true;
  }
  return false;
}

/**
 * What is not selected stays as it is live. A child needs its parent to be created; a parent is deleted or made anew only with
 * all of its children, and they only with it.
 */
export function selectChanges(changes: readonly Change[], selection: Selection): Change[] {
  if (!isNarrowed(selection)) return [...changes];
  const roots = new Map(
    changes.filter((change) => change.address === change.root).map((change) => [change.root, change]),
  );
  const rootAction = (change: Change) => roots.get(change.root)?.action ?? "no-op";
  const isNamed = (change: Change) =>
    (selection.targets.length === 0 || selection.targets.some((glob) => covers(glob, change.address))) &&
    !selection.excludes.some((glob) => coversEither(glob, change));
  const named = new Set(changes.filter(isNamed));
  const needed = new Set([...named].filter((change) => rootAction(change) === "create").map((change) => change.root));
  const spared = new Set(
    changes.filter((change) => !named.has(change) && change.before !== null).map((change) => change.root),
  );
  return changes.flatMap((change) => {
    const isRoot = roots.get(change.root) === change;
    const action = rootAction(change);
    const whole = action === "delete" || action === "replace";
    if (change.kind === "domain" && action === "delete" && mayExcludeRecord(selection, change.root))
      return asItIs(change);
    if (whole && (spared.has(change.root) || !named.has(roots.get(change.root) ?? change))) return asItIs(change);
    return named.has(change) || (isRoot && needed.has(change.root)) ? [change] : asItIs(change);
  });
}

/** A target that nothing answers to is more likely a slip than a wish for nothing. */
export function unmatchedTargets(changes: readonly Change[], { targets }: Selection): Diagnostic[] {
  return targets
    .filter((glob) => !changes.some((change) => coversEither(glob, change)))
    .map((glob) => ({
      code: "unmatched-target",
      severity: "warning",
      summary: `the target ${glob} matches nothing`,
      detail: "Nothing that is declared, removed or owned has an address that it matches.",
      fix: "Compare it with the addresses of `tenon plan --format json`.",
    }));
}

/** What is excluded by its old name does not lose it. */
function coversEither(glob: string, { address, previousAddress }: Change): boolean {
  return covers(glob, address) || (previousAddress !== null && covers(glob, previousAddress));
}

/** The records of a domain that goes are not read, so one that is excluded may be among them. Their addresses end in a type. */
function mayExcludeRecord({ excludes }: Selection, domain: Address): boolean {
  return excludes.some((glob) => /[*A-Z]$/.test(glob) && mayMatchWithin(glob, domain));
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
