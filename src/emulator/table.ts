/** A table: rows by id, and groups of rows by what they have in common. */

export type RowId = number | string;

export interface Identified {
  readonly id: RowId;
}

/** Called after each change; `row` is null when it was deleted. */
export type ChangeListener = (id: RowId, row: Identified | null) => void;

/** Says which group of an index a row is in; null: none. */
export type Grouping<Row> = (row: Row) => RowId | null;

const NO_ROWS: ReadonlyMap<RowId, never> = new Map<RowId, never>();

export class Table<Row extends Identified, Index extends string = never> {
  readonly #rows = new Map<RowId, Row>();
  readonly #groupings: readonly [Index, Grouping<Row>][];
  readonly #groups = new Map<Index, Map<RowId, Map<RowId, Row>>>();
  readonly #changed: ChangeListener;

  constructor(groupings: Readonly<Record<Index, Grouping<Row>>>, changed: ChangeListener) {
    this.#groupings = Object.entries(groupings) as [Index, Grouping<Row>][];
    for (const [index] of this.#groupings) this.#groups.set(index, new Map());
    this.#changed = changed;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(id: RowId): Row | undefined {
    return this.#rows.get(id);
  }

  /** In the order in which they came. */
  all(): IterableIterator<Row> {
    return this.#rows.values();
  }

  /** The rows of one group of an index, in the order in which they came into it. */
  group(index: Index, key: RowId): ReadonlyMap<RowId, Row> {
    return this.#groups.get(index)?.get(key) ?? NO_ROWS;
  }

  put(row: Row): void {
    const before = this.#rows.get(row.id);
    this.#rows.set(row.id, row);
    for (const [index, grouping] of this.#groupings) {
      const key = grouping(row);
      const keyBefore = before === undefined ? null : grouping(before);
      if (keyBefore !== null && keyBefore !== key) this.#leave(index, keyBefore, row.id);
      if (key !== null) this.#enter(index, key, row);
    }
    this.#changed(row.id, row);
  }

  delete(id: RowId): void {
    const before = this.#rows.get(id);
    if (before === undefined) return;
    this.#rows.delete(id);
    for (const [index, grouping] of this.#groupings) {
      const key = grouping(before);
      if (key !== null) this.#leave(index, key, id);
    }
    this.#changed(id, null);
  }

  #enter(index: Index, key: RowId, row: Row): void {
    const groups = this.#groups.get(index);
    const group = groups?.get(key);
    if (group === undefined) groups?.set(key, new Map([[row.id, row]]));
    else group.set(row.id, row);
  }

  #leave(index: Index, key: RowId, id: RowId): void {
    const groups = this.#groups.get(index);
    const group = groups?.get(key);
    group?.delete(id);
    if (group?.size === 0) groups?.delete(key);
  }
}
