/** Rows in the order in which a list shows them. */

/**
 * Sorts once per state of a table, which gives the same array (`Table.list`) until it changes.
 * @param compare never changes
 */
export function listOrder<Row>(
  compare: (a: Row, b: Row) => number,
): <Same extends Row>(rows: readonly Same[]) => readonly Same[] {
  const sorted = new WeakMap<readonly Row[], readonly Row[]>();
  return <Same extends Row>(rows: readonly Same[]) => {
    const known = (sorted.get(rows) as readonly Same[] | undefined) ?? [...rows].sort(compare);
    sorted.set(rows, known);
    return known;
  };
}

/** A seed chooses ids: rows need not have come in the order of theirs. */
export const byId: <Row extends { readonly id: number }>(rows: readonly Row[]) => readonly Row[] = listOrder(
  (a: { readonly id: number }, b: { readonly id: number }) => a.id - b.id,
);
