/** Labels that swap: which renames must go through a temporary label. */

export interface Relabel {
  readonly key: string;
  readonly from: string;
  readonly to: string;
}

/** The keys of the renames that, one in each cycle, must first step aside. `from` and `to` are unique in a scope. */
export function throughTemporary(relabels: readonly Relabel[]): Set<string> {
  const bySource = new Map(relabels.map((relabel) => [relabel.from, relabel]));
  const settled = new Set<Relabel>();
  const aside = new Set<string>();
  for (const start of relabels) {
    const path = new Set<Relabel>();
    let next: Relabel | undefined = start;
    while (next !== undefined && !settled.has(next) && !path.has(next)) {
      path.add(next);
      next = bySource.get(next.to);
    }
    if (next !== undefined && path.has(next)) aside.add(next.key);
    for (const relabel of path) settled.add(relabel);
  }
  return aside;
}

/** A label that no person would choose, and that says whose it was. */
export function temporaryLabel(id: number | string): string {
  return `tenon-tmp-${id}`;
}
