/** How a manifest is laid out: the order of its sections, keys and records, what stands on one line, and where blank lines are. */

import type { Document, Node, Pair, YAMLMap, YAMLSeq } from "yaml";
import {
  ALLOW_KEYS,
  DEFAULTS_KEYS,
  DOMAIN_KEYS,
  HEAD_KEYS,
  IGNORE_KEYS,
  IMAGE_KEYS,
  RECORD_KEYS,
  REMOVED_KEYS,
  ROOT_KEYS,
  rankOf,
  SUBNET_KEYS,
  VPC_KEYS,
} from "./keys.ts";
import { keyText, type Yaml } from "./nodes.ts";
import { arrangeRecords } from "./records.ts";
import { type Surroundings, surroundings } from "./surroundings.ts";

/** Lists and objects that are written on the line of their key where a manifest is made anew; else as their author has them. */
const ONE_LINE_VALUES: ReadonlySet<string> = new Set([
  ...["files", "tags", "master_ips", "axfr_ips", "use", "lint", "create_from", "upload", "capture"],
]);

export interface LayoutOptions {
  /** Made of data, not of a text that somebody has laid out. */
  readonly isNew: boolean;
  /** Whether records are sorted, and those that differ by their target alone are joined. */
  readonly arrangesRecords: boolean;
}

/** Changes the document in place; takes time linear in its size, but for sorting. */
export function layOut(document: Document, yaml: Yaml, options: LayoutOptions): void {
  const root = document.contents;
  if (yaml.isMap(root)) new Layout(yaml, surroundings(document, yaml), options).root(root as YAMLMap);
}

class Layout {
  readonly #yaml: Yaml;
  readonly #around: Surroundings;
  readonly #options: LayoutOptions;

  constructor(yaml: Yaml, around: Surroundings, options: LayoutOptions) {
    this.#yaml = yaml;
    this.#around = around;
    this.#options = options;
  }

  root(root: YAMLMap): void {
    root.flow = false;
    this.#sortRoot(root);
    for (const [index, pair] of root.items.entries()) {
      if (index > 0 && !HEAD_KEYS.has(keyText(pair))) this.#space(pair.key, true);
      this.#section(pair as Pair<Node, Node | null>);
    }
  }

  /** What stands at the very top of a file is about the file, whichever section comes first. */
  #sortRoot(root: YAMLMap): void {
    const first = root.items[0]?.key as Node | undefined;
    if (!this.#sortKeys(root, ROOT_KEYS)) return;
    const now = root.items[0]?.key as Node | undefined;
    if (first === undefined || now === undefined || first === now || !first.commentBefore) return;
    now.commentBefore = now.commentBefore ? `${first.commentBefore}\n${now.commentBefore}` : first.commentBefore;
    first.commentBefore = null;
  }

  #section(pair: Pair<Node, Node | null>): void {
    const { value } = pair;
    switch (keyText(pair)) {
      case "files":
        this.#oneLineValue("files", value);
        break;
      case "defaults":
        this.#defaults(value);
        break;
      case "record_sets":
        for (const set of this.#pairs(value)) this.#records(set.value, null);
        break;
      case "vpcs":
        this.#entries(value, (entry) => this.#vpc(entry));
        break;
      case "domains":
        this.#entries(value, (entry) => this.#domain(entry));
        break;
      case "images":
        this.#entries(value, (entry) => this.#entry(entry, IMAGE_KEYS));
        break;
      case "removed":
        this.#lines(value, REMOVED_KEYS);
        break;
      case "allow":
        this.#lines(value, ALLOW_KEYS);
        break;
    }
  }

  #defaults(value: Node | null): void {
    if (!this.#yaml.isMap(value)) return;
    this.#sortKeys(value as YAMLMap, DEFAULTS_KEYS);
    for (const pair of this.#pairs(value)) {
      const inner = pair.value;
      if (!this.#yaml.isMap(inner)) continue;
      this.#sortKeys(inner as YAMLMap, keyText(pair) === "record" ? RECORD_KEYS : DOMAIN_KEYS);
      if (this.#options.isNew) inner.flow = true;
    }
  }

  #vpc(entry: YAMLMap): void {
    this.#entry(entry, VPC_KEYS);
    this.#lines(this.#value(entry, "subnets"), SUBNET_KEYS);
  }

  #domain(entry: YAMLMap): void {
    this.#entry(entry, DOMAIN_KEYS);
    this.#lines(this.#value(entry, "ignore"), IGNORE_KEYS);
    const name = this.#value(entry, "domain");
    this.#records(this.#value(entry, "records"), this.#yaml.isScalar(name) ? String(name.value) : null);
  }

  #records(value: Node | null, zone: string | null): void {
    if (!this.#yaml.isSeq(value)) return;
    const isFree = this.#options.arrangesRecords && !this.#around.anchored.has(value);
    if (isFree) arrangeRecords(value as YAMLSeq, zone, this.#yaml, this.#around.open);
    this.#lines(value, RECORD_KEYS);
  }

  /** Entries that take several lines, with a blank line between them. */
  #entries(value: Node | null, each: (entry: YAMLMap) => void): void {
    if (!this.#yaml.isSeq(value)) return;
    if (value.items.length > 0) value.flow = false;
    for (const [index, item] of value.items.entries()) {
      if (!this.#yaml.isMap(item)) continue;
      each(item as YAMLMap);
      if (item.flow !== true) this.#space(item, index > 0);
      else if (index === 0) this.#space(item, false);
    }
  }

  #entry(entry: YAMLMap, order: readonly string[]): void {
    this.#sortKeys(entry, order);
    for (const pair of this.#pairs(entry)) {
      const key = keyText(pair);
      this.#oneLineValue(key, pair.value);
      const hasLines = key === "records" || key === "subnets" || key === "ignore";
      if (hasLines && this.#yaml.isSeq(pair.value) && pair.value.items.length > 0) entry.flow = false;
    }
  }

  /** A list whose entries take a line each; those with comments or longer texts in them stay as they are. */
  #lines(value: Node | null, order: readonly string[]): void {
    if (!this.#yaml.isSeq(value)) return;
    if (value.items.length > 0) value.flow = false;
    for (const [index, item] of value.items.entries()) {
      if (index === 0) this.#space(item as Node, false);
      if (!this.#yaml.isMap(item)) continue;
      this.#sortKeys(item as YAMLMap, order);
      item.flow = !this.#around.open.has(item);
    }
  }

  #oneLineValue(key: string, value: Node | null): void {
    if (this.#options.isNew && ONE_LINE_VALUES.has(key) && this.#yaml.isCollection(value)) value.flow = true;
  }

  /** @returns whether the keys could be sorted: an alias must not come before its anchor */
  #sortKeys(map: YAMLMap, order: readonly string[]): boolean {
    const first = map.items[0]?.key as Node | undefined;
    if (first === undefined || this.#around.anchored.has(map)) return false;
    const rank = rankOf(order);
    const ranks = map.items.map((pair) => rank(keyText(pair)));
    if (ranks.every((value, index) => index === 0 || (ranks[index - 1] ?? 0) <= value)) return true;
    // The library hands the comment above the first key to the mapping, but it belongs to that key.
    if (map.commentBefore && this.#around.values.has(map)) {
      first.commentBefore = map.commentBefore;
      map.commentBefore = null;
    }
    const sorted = map.items.map((pair, index) => ({ pair, rank: ranks[index] ?? 0 }));
    map.items = sorted.sort((a, b) => a.rank - b.rank).map(({ pair }) => pair);
    this.#space(map.items[0]?.key as Node, false);
    return true;
  }

  #pairs(map: Node | null): readonly Pair<Node, Node | null>[] {
    return this.#yaml.isMap(map) ? (map.items as Pair<Node, Node | null>[]) : [];
  }

  #value(map: YAMLMap, key: string): Node | null {
    return this.#pairs(map).find((pair) => keyText(pair) === key)?.value ?? null;
  }

  #space(node: unknown, space: boolean): void {
    if (this.#yaml.isNode(node)) (node as Node & { spaceBefore?: boolean }).spaceBefore = space;
  }
}
