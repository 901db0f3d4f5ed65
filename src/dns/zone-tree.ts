/** The names of a zone as a tree: which exist, which are delegated away, and which a wildcard stands for (RFC 1034, 4.3.2; RFC 4592). */

import { parentOf } from "./name.ts";
import type { RecordType } from "./record.ts";

/** The records of one name. */
export interface Node<Item> {
  readonly items: readonly Item[];
  readonly types: ReadonlySet<RecordType>;
}

interface GrowingNode<Item> extends Node<Item> {
  readonly items: Item[];
  readonly types: Set<RecordType>;
}

const EMPTY: Node<never> = { items: [], types: new Set() };

/**
 * All names are of one form, lower-case ASCII without a final dot: relative to the zone, with `""` as its apex, or absolute, with the
 * zone's name as its apex.
 */
export class ZoneTree<Item extends { readonly name: string }> {
  readonly apex: string;
  readonly #nodes: Map<string, GrowingNode<Item>> = new Map();
  /** All names that exist, also those with nothing but names below them (RFC 4592, 2.2.2). */
  readonly #names: Set<string>;
  readonly #cuts: Set<string> = new Set();

  constructor(apex: string, items: Iterable<Item>, typeOf: (item: Item) => RecordType) {
    this.apex = apex;
    this.#names = new Set([apex]);
    for (const item of items) {
      const { name } = item;
      const node = this.#nodes.get(name) ?? { items: [], types: new Set() };
      this.#nodes.set(name, node);
      const type = typeOf(item);
      node.items.push(item);
      node.types.add(type);
      if (type === "NS" && name !== apex) this.#cuts.add(name);
      for (let known = name; !this.#names.has(known); known = parentOf(known)) this.#names.add(known);
    }
  }

  /** Every name that exists, the apex first. */
  names(): Iterable<string> {
    return this.#names;
  }

  /** The records of each name that has some, in the order in which each name's first record was given. */
  *sets(): Iterable<readonly [string, readonly Item[]]> {
    for (const [name, { items }] of this.#nodes) yield [name, items];
  }

  node(name: string): Node<Item> {
    return this.#nodes.get(name) ?? EMPTY;
  }

  at(name: string): readonly Item[] {
    return this.node(name).items;
  }

  typesAt(name: string): ReadonlySet<RecordType> {
    return this.node(name).types;
  }

  /** Whether the name is the apex, or there are records at it or below it. */
  exists(name: string): boolean {
    return this.#names.has(name);
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
    if (this.#names.has(name)) return name;
    let encloser = name;
    while (!this.#names.has(encloser)) encloser = parentOf(encloser);
    const wildcard = encloser === "" ? "*" : `*.${encloser}`;
    return this.#nodes.has(wildcard) ? wildcard : null;
  }
}
