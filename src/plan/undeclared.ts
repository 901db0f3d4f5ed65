/** What becomes of live objects that carry our tag and that no entry means: kept, retired, or pruned. */

import type { Declared, Removed } from "../model/desired.ts";
import type { Family } from "../model/plan.ts";
import type { Address } from "../model/resource.ts";
import type { LiveIdentity, Match, PairContext, Unit } from "../model/unit.ts";

interface Undeclared {
  readonly matches: readonly Match[];
  /** What stays although nothing names it. */
  readonly kept: readonly unknown[];
  readonly families: readonly Family[];
}

/** For a run that deletes only what entries name. */
export const NOTHING_LEAVES: Undeclared = { matches: [], kept: [], families: [] };

interface UndeclaredOptions {
  /** Whether the run may delete what has this address and nothing declares, or what leaves because of an entry with it. */
  readonly mayPrune: (address: Address) => boolean;
  readonly context: PairContext;
}

/**
 * A run that is narrowed to what has changed keeps to the entries that have: an object leaves if it is one of those by its own name, or by an
 * entry that makes it leave. What a narrowed run does not make takes nobody's place, but its entry still says what stays.
 * @param named what the entries mean
 * @param unnamed live objects with our tag
 */
export function matchUndeclared(
  unit: Unit,
  named: readonly Match[],
  unnamed: readonly { readonly live: unknown; readonly identity: LiveIdentity }[],
  { mayPrune, context }: UndeclaredOptions,
): Undeclared {
  const isThere = (match: Match): boolean => match.intent !== "create" || mayPrune(match.declared.address);
  const live = unnamed.map((one) => one.live);
  const { kept = [], leaving = [], families = [] } = unit.retain?.(named, live, context, isThere) ?? {};
  const others = new Set([...kept, ...leaving.map((one) => one.live)]);
  // A family has one list of entries for all of its images.
  const chosen = new Map<readonly Declared[], boolean>();
  const isAnyChosen = (by: readonly Declared[]): boolean => {
    const known = chosen.get(by) ?? by.some(({ address }) => mayPrune(address));
    chosen.set(by, known);
    return known;
  };
  const left = leaving.filter((one) => mayPrune(unit.identify(one.live).address) || isAnyChosen(one.by));
  const pruned = unnamed.filter((one) => !others.has(one.live) && mayPrune(one.identity.address));
  return {
    matches: [
      ...left.map(({ live: object, label, replacedBy, by }) => ({
        ...deletion(object, null, null, label),
        by,
        ...(replacedBy === undefined ? {} : { replacedBy }),
      })),
      ...pruned.map((one) => deletion(one.live, null, null, "prune")),
    ],
    kept,
    families: families.flatMap(({ family, by }) => (isAnyChosen(by) ? [family] : [])),
  };
}

type Deletion = Extract<Match, { intent: "delete" }>;

export function deletion(
  live: unknown,
  declared: Declared | null,
  removed: Removed | null,
  label: Deletion["label"],
): Deletion {
  return { intent: "delete", declared, removed, live, label, former: null };
}
