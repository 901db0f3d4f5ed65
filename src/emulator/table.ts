/** A table: rows by id, and groups of rows by what they have in common. */

export type RowId = number | string;

export interface Identified {
  readonly id: RowId;
}

/** Called after each change; `row` is null when it was deleted. */
export type ChangeListener = (id: RowId, row: Identified | null) => void;

/** Says which group of an index a row is in; null: none. */
export type Grouping<Row> = (row: Row) => RowId | null;

/** A row that is alone is not worth a Map: most names have one record, and there may be a million of them. */
type Group<Row> = Row | Map<RowId, Row>;

class GroupIndex<Row extends Identified> {
  readonly keyOf: Grouping<Row>;
  readonly #groups = new Map<RowId, Group<Row>>();
  /** Of groups that were listed and have not changed since. */
  readonly #lists = new Map<RowId, readonly Row[]>();

  constructor(keyOf: Grouping<Row>) {
    this.keyOf = keyOf;
  }

  rows(key: RowId): ReadonlyMap<RowId, Row> {
    const group = this.#groups.get(key);
    if (group instanceof Map) return group;
    return new Map(group === undefined ? [] : [[group.id, group]]);
  }

  list(key: RowId): readonly Row[] {
    const listed = this.#lists.get(key);
    if (listed !== undefined) return listed;
    const rows = [...this.rows(key).values()];
    if (rows.length > 0) this.#lists.set(key, rows);
    return rows;
  }

  enter(key: RowId, row: Row): void {
    this.#lists.delete(key);
    const group = this.#groups.get(key);
    if (group instanceof Map) group.set(row.id, row);
    else if (group === undefined || group.id === row.id) this.#groups.set(key, row);
    else this.#groups.set(key, new Map([group, row].map((each) => [each.id, each])));
  }

  leave(key: RowId, id: RowId): void {
    this.#lists.delete(key);
    const group = this.#groups.get(key);
    if (group instanceof Map) group.delete(id);
    if (!(group instanceof Map) || group.size === 0) this.#groups.delete(key);
  }
}

export class Table<Row extends Identified, Index extends string = never> {
  readonly #rows = new Map<RowId, Row>();
  readonly #indexes: ReadonlyMap<Index, GroupIndex<Row>>;
  readonly #changed: ChangeListener;

  constructor(groupings: Readonly<Record<Index, Grouping<Row>>>, changed: ChangeListener) {
    const entries = Object.entries(groupings) as [Index, Grouping<Row>][];
    this.#indexes = new Map(entries.map(([index, keyOf]) => [index, new GroupIndex(keyOf)]));
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
    return this.#index(index).rows(key);
  }

  /** The same as an array: the very same one each time, until the group changes. */
  list(index: Index, key: RowId): readonly Row[] {
    return this.#index(index).list(key);
  }

  put(row: Row): void {
    const before = this.#rows.get(row.id);
    this.#rows.set(row.id, row);
    for (const index of this.#indexes.values()) {
      const key = index.keyOf(row);
      const keyBefore = before === undefined ? null : index.keyOf(before);
      if (keyBefore !== null && keyBefore !== key) index.leave(keyBefore, row.id);
      if (key !== null) index.enter(key, row);
    }
    this.#changed(row.id, row);
  }

  delete(id: RowId): void {
    const before = this.#rows.get(id);
    if (before === undefined) return;
    this.#rows.delete(id);
    for (const index of this.#indexes.values()) {
      const key = index.keyOf(before);
      if (key !== null) index.leave(key, id);
    }
    this.#changed(id, null);
  }

  #index(name: Index): GroupIndex<Row> {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`There is no index ${name}`);
    return index;
  }
}
