/** Labels that swap: which renames must go through a temporary label. */

import { groupBy } from "../../model/group.ts";

export interface Relabel {
  readonly key: string;
  readonly from: string;
  readonly to: string;
}

/**
 * The keys of the renames that must first step aside, one in each cycle, so that no label is taken before all who carry it have
 * given it up. `to` is unique; several may carry the same `from`.
 */
export function throughTemporary(relabels: readonly Relabel[]): Set<string> {
  const holders = groupBy(relabels, ({ from }) => from);
  const takers = new Map(relabels.map((relabel) => [relabel.to, relabel]));
  const carried = new Map([...holders].map(([label, list]) => [label, list.length]));
  const left = new Set(relabels);
  const aside = new Set<string>();
  const isFree = (label: string) => (carried.get(label) ?? 0) === 0;
  /** The rename gives up its label; whoever waited for just that is next. */
  const settle = (first: Relabel) => {
    for (let relabel: Relabel | undefined = first; relabel !== undefined; ) {
      left.delete(relabel);
      carried.set(relabel.from, (carried.get(relabel.from) ?? 0) - 1);
      const next: Relabel | undefined = isFree(relabel.from) ? takers.get(relabel.from) : undefined;
      relabel = next !== undefined && left.has(next) ? next : undefined;
    }
  };
  for (const relabel of relabels) if (left.has(relabel) && isFree(relabel.to)) settle(relabel);
  while (left.size > 0) {
    const stuck = inCycle(left, holders);
    aside.add(stuck.key);
    settle(stuck);
  }
  return aside;
}

/** Of renames that all wait for each other, one that waits for itself in the end. */
function inCycle(left: ReadonlySet<Relabel>, holders: ReadonlyMap<string, Relabel[]>): Relabel {
  const seen = new Set<Relabel>();
  let [relabel] = left;
  while (relabel !== undefined && !seen.has(relabel)) {
    seen.add(relabel);
    relabel = holders.get(relabel.to)?.find((holder) => left.has(holder));
  }
  if (relabel === undefined) throw new Error("Renames wait for a label that nothing carries");
  return relabel;
}

/** A label that no person would choose, and that says whose it was. */
export function temporaryLabel(id: number | string): string {
  return `tenon-tmp-${id}`;
}
