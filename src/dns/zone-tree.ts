/** The names of a zone as a tree: which exist, which are delegated away, and which a wildcard stands for (RFC 1034, 4.3.2; RFC 4592). */

import { parentOf } from "./name.ts";
import { RECORD_TYPES, type RecordType } from "./record.ts";

/** The records of one name. */
export interface Node<Item> {
  readonly items: readonly Item[];
  readonly types: ReadonlySet<RecordType>;
}

/** Of most names there is one record: a set of types for each name would take half of the memory of a tree. */
const ONE_TYPE: ReadonlyMap<RecordType, ReadonlySet<RecordType>> = new Map(
  RECORD_TYPES.map((type) => [type, new Set([type])]),
);

const NOTHING: readonly never[] = [];
const NO_TYPES: ReadonlySet<RecordType> = new Set();

/**
 * All names are of one form, lower-case ASCII without a final dot: relative to the zone, with `""` as its apex, or absolute, with the
 * zone's name as its apex.
 */
export class ZoneTree<Item extends { readonly name: string }> {
  readonly apex: string;
  readonly #typeOf: (item: Item) => RecordType;
  readonly #items: Map<string, Item[]> = new Map();
  /** Of names with records of several types. */
  readonly #types: Map<string, Set<RecordType>> = new Map();
  /** Names without records that exist all the same: those above others (RFC 4592, 2.2.2), and the apex. */
  readonly #empty: Set<string>;
  readonly #cuts: Set<string> = new Set();

  constructor(apex: string, items: Iterable<Item>, typeOf: (item: Item) => RecordType) {
    this.apex = apex;
    this.#typeOf = typeOf;
    this.#empty = new Set([apex]);
    for (const item of items) {
      const { name } = item;
      if (name !== apex && typeOf(item) === "NS") this.#cuts.add(name);
      const known = this.#items.get(name);
      if (known === undefined) this.#put(name, [item]);
      else this.#add(known, item);
    }
  }

  #put(name: string, items: Item[]): void {
    this.#items.set(name, items);
    if (this.#empty.delete(name)) return;
    for (let above = parentOf(name); !this.exists(above); above = parentOf(above)) this.#empty.add(above);
  }

  #add(known: Item[], item: Item): void {
    const types = this.typesAt(item.name);
    const type = this.#typeOf(item);
    known.push(item);
    if (!types.has(type)) this.#types.set(item.name, new Set([...types, type]));
  }

  /** Every name that exists: those with records, then those without. */
  *names(): Iterable<string> {
    yield* this.#items.keys();
    yield* this.#empty;
  }

  /** The records of each name that has some, in the order in which each name's first record was given. */
  *sets(): Iterable<readonly [string, readonly Item[]]> {
    yield* this.#items;
  }

  node(name: string): Node<Item> {
    return { items: this.at(name), types: this.typesAt(name) };
  }

  at(name: string): readonly Item[] {
    return this.#items.get(name) ?? NOTHING;
  }

  typesAt(name: string): ReadonlySet<RecordType> {
    const first = this.at(name)[0];
    if (first === undefined) return NO_TYPES;
    const type = this.#typeOf(first);
    return this.#types.get(name) ?? ONE_TYPE.get(type) ?? new Set([type]);
  }

  /** Whether the name is the apex, or there are records at it or below it. */
  exists(name: string): boolean {
    return this.#items.has(name) || this.#empty.has(name);
  }

  /** The delegation nearest to the apex, at or above the name: what is at and below it is another zone's (RFC 1034, 4.2.1). */
  cutAbove(name: string): string | null {
    // Saves the walk up, which hashes the whole name at each step.
    if (this.#cuts.size === 0) return null;
    let found: string | null = null;
    for (let above = name; above !== this.apex; above = parentOf(above)) if (this.#cuts.has(above)) found = above;
    return found;
  }

  /** The delegations, in the order of their first NS records. */
  cuts(): Iterable<string> {
    return this.#cuts;
  }

  /**
   * The name whose records answer for this one: itself if it exists, or else the wildcard below the nearest name that does; null if
   * there is none.
   */
  answeringName(name: string): string | null {
    if (this.exists(name)) return name;
    let encloser = name;
    while (!this.exists(encloser)) encloser = parentOf(encloser);
    const wildcard = encloser === "" ? "*" : `*.${encloser}`;
    return this.#items.has(wildcard) ? wildcard : null;
  }
}
