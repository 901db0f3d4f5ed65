/**
 * How a manifest is laid out: the order of its sections and records, what stands on one line, and where blank lines are. The order of an
 * entry's keys comes from its unit (`layout` of its `manifest.ts`).
 */

import type { Document, Node, Pair, YAMLMap, YAMLSeq } from "yaml";
import { type EntryLayout, OTHER_KEYS, type UnitSpec } from "../model/unit.ts";
import { arrangeRecords, keyText, type Yaml } from "./records.ts";

/** How the entries of a unit are laid out. */
export type SectionForm = Pick<UnitSpec, "section" | "removedKey" | "layout">;

/** The section whose entries hold records. Record sets and `defaults` have its order of keys. */
const ZONES = "domains";

interface LayoutOptions {
  /** Of all units, in the order of their sections. */
  readonly sections: readonly SectionForm[];
  /** Whether the document was made from data, not from a text that its author has laid out. */
  readonly isNew: boolean;
  /** Whether records are sorted, and those that differ by their target alone are joined. */
  readonly arrangesRecords: boolean;
}

/** Changes the document in place; takes time linear in its size, but for sorting. */
export function layOut(document: Document, yaml: Yaml, options: LayoutOptions): void {
  const root = document.contents;
  if (yaml.isMap(root)) new Layout(yaml, commentInfo(document, yaml), options).root(root as YAMLMap);
}

class Layout {
  readonly #yaml: Yaml;
  readonly #around: CommentInfo;
  readonly #options: LayoutOptions;

  constructor(yaml: Yaml, around: CommentInfo, options: LayoutOptions) {
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

  /** A comment at the very top of a file is about the file: it stays at the top, whichever section comes first. */
  #sortRoot(root: YAMLMap): void {
    const first = root.items[0]?.key as Node | undefined;
    const sections = this.#options.sections.map(({ section }) => section);
    if (!this.#sortKeys(root, [...ROOT_KEYS, ...sections, ...LAST_ROOT_KEYS])) return;
    const now = root.items[0]?.key as Node | undefined;
    if (first === undefined || now === undefined || first === now || !first.commentBefore) return;
    now.commentBefore = now.commentBefore ? `${first.commentBefore}\n${now.commentBefore}` : first.commentBefore;
    first.commentBefore = null;
  }

  #section(pair: Pair<Node, Node | null>): void {
    const { value } = pair;
    const key = keyText(pair);
    switch (key) {
      case "files":
        this.#oneLineValue(value);
        break;
      case "defaults":
        this.#defaults(value);
        break;
      case "record_sets":
        for (const set of this.#pairs(value)) this.#records(set.value, null);
        break;
      case "removed":
        this.#lines(value, [...this.#options.sections.map(({ removedKey }) => removedKey), ...REMOVED_KEYS]);
        break;
      case "allow":
        this.#lines(value, ALLOW_KEYS);
        break;
      default: {
        const layout = this.#layoutOf(key);
        if (layout !== undefined) this.#entries(value, (entry) => this.#entry(key, entry, layout));
      }
    }
  }

  #defaults(value: Node | null): void {
    if (!this.#yaml.isMap(value)) return;
    this.#sortKeys(value as YAMLMap, DEFAULTS_KEYS);
    const zones = this.#layoutOf(ZONES);
    for (const pair of this.#pairs(value)) {
      const inner = pair.value;
      if (!this.#yaml.isMap(inner)) continue;
      this.#sortKeys(inner as YAMLMap, (keyText(pair) === "record" ? this.#recordKeys() : zones?.keys) ?? []);
      if (this.#options.isNew) inner.flow = true;
    }
  }

  #layoutOf(section: string): EntryLayout | undefined {
    return this.#options.sections.find((form) => form.section === section)?.layout;
  }

  #recordKeys(): readonly string[] {
    return this.#layoutOf(ZONES)?.lists?.["records"] ?? [];
  }

  #records(value: Node | null, zone: string | null): void {
    if (!this.#yaml.isSeq(value)) return;
    const isFree = this.#options.arrangesRecords && !this.#around.anchored.has(value);
    if (isFree) arrangeRecords(value as YAMLSeq, zone, this.#yaml, this.#around.open);
    this.#lines(value, this.#recordKeys());
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

  #entry(section: string, entry: YAMLMap, { keys, lists = {}, oneLine = [] }: EntryLayout): void {
    this.#sortKeys(entry, keys);
    for (const pair of this.#pairs(entry)) {
      const key = keyText(pair);
      if (oneLine.includes(key)) this.#oneLineValue(pair.value);
      const order = Object.hasOwn(lists, key) ? lists[key] : undefined;
      if (order === undefined) continue;
      if (this.#yaml.isSeq(pair.value) && pair.value.items.length > 0) entry.flow = false;
      if (section === ZONES && key === "records") this.#records(pair.value, this.#nameOf(entry));
      else this.#lines(pair.value, order);
    }
  }

  #nameOf(zone: YAMLMap): string | null {
    const name = this.#value(zone, "domain");
    return this.#yaml.isScalar(name) ? String(name.value) : null;
  }

  /** A list whose entries take a line each, except for entries with comments or texts of several lines in them. */
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

  /** Puts the value on one line if the manifest is new; otherwise the author's layout stays. */
  #oneLineValue(value: Node | null): void {
    if (this.#options.isNew && this.#yaml.isCollection(value)) value.flow = true;
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

// Blank lines around comments: the library keeps them as part of the comment's text, where the layout does not see them.

type Commented = Node & { comment?: string | null; commentBefore?: string | null; spaceBefore?: boolean };

/** A blank line after a comment becomes one before the next node; of several blank lines one is kept. Changes the document in place. */
export function normaliseBlankLines(document: Document, yaml: Yaml): void {
  yaml.visit(document, {
    Collection: (_, node) => {
      const items = node.items as (Node | Pair<Node, Node | null>)[];
      for (const [index, item] of items.entries()) {
        const before = items[index - 1];
        if (before === undefined || !endsWithBlankLine(before, yaml)) continue;
        const next = (yaml.isPair(item) ? item.key : item) as Commented | null;
        if (yaml.isNode(next)) (next as Commented).spaceBefore = true;
      }
    },
  });
  yaml.visit(document, {
    Node: (_, found) => {
      const node = found as Commented;
      if (node.comment) node.comment = node.comment.replace(/(?<!\n)\n+$/, "").replace(/\n{3,}/g, "\n\n");
      if (!node.commentBefore) return;
      const isEmpty = yaml.isScalar(node) && (node.value === "" || node.value === null) && node.type === "PLAIN";
      node.commentBefore = node.commentBefore.replace(/(?<!\n)\n+$/, isEmpty ? "" : "\n").replace(/\n{3,}/g, "\n\n");
    },
  });
}

function endsWithBlankLine(item: Node | Pair<Node, Node | null>, yaml: Yaml): boolean {
  let node: Node | null = yaml.isPair(item) ? (item.value ?? item.key) : item;
  for (;;) {
    const { comment, commentBefore } = node as Commented;
    const isEmpty = yaml.isScalar(node) && node.value === "";
    if (comment?.endsWith("\n") || (isEmpty && commentBefore?.endsWith("\n"))) return true;
    if (!yaml.isCollection(node)) return false;
    const last = node.items.at(-1) as Node | Pair<Node, Node | null> | undefined;
    node = last === undefined ? null : yaml.isPair(last) ? (last.value ?? last.key) : last;
    if (node === null) return false;
  }
}

// The order of the keys that belong to no unit.

const ROOT_KEYS: readonly string[] = [
  "tenon",
  "requires",
  "owner",
  "account",
  "files",
  "variables",
  "environments",
  "defaults",
  "record_sets",
];

const LAST_ROOT_KEYS: readonly string[] = ["removed", "allow", "lint", OTHER_KEYS];

/** Short keys at the head of a manifest, which need no blank line between them. */
const HEAD_KEYS: ReadonlySet<string> = new Set(["tenon", "requires", "owner", "account", "files"]);

const REMOVED_KEYS: readonly string[] = ["id", "destroy", "ignore", OTHER_KEYS];

const ALLOW_KEYS: readonly string[] = ["delete", "replace", "bulk", "ns", "until", "reason", OTHER_KEYS];

const DEFAULTS_KEYS: readonly string[] = ["domain", "record", OTHER_KEYS];

/** Place of a key in an order. */
function rankOf(order: readonly string[]): (key: string) => number {
  const ranks = new Map(order.map((key, index) => [key, index]));
  const others = ranks.get(OTHER_KEYS) ?? order.length;
  return (key) => ranks.get(key) ?? others;
}

// What must be known of a YAML document before anything in it is moved: where its comments and anchors are.

interface CommentInfo {
  /** Collections with an anchor or an alias somewhere in them: their entries keep their order. */
  readonly anchored: ReadonlySet<unknown>;
  /** Collections with a comment or a text of several lines in them: they cannot be put on one line. */
  readonly open: ReadonlySet<unknown>;
  /** Nodes that are the value of a key, not an entry of a list. */
  readonly values: ReadonlySet<unknown>;
}

function commentInfo(document: Document, yaml: Yaml): CommentInfo {
  const anchored = new Set<unknown>();
  const open = new Set<unknown>();
  const values = new Set<unknown>();
  yaml.visit(document, {
    Node: (_, node, path) => {
      const own = node as Node & { anchor?: string; flow?: boolean; type?: string };
      const parent = path.at(-1);
      if (yaml.isPair(parent) && parent.value === node) values.add(node);
      if (yaml.isAlias(node) || own.anchor !== undefined) for (const above of [...path, node]) anchored.add(above);
      const isBlock = yaml.isCollection(node) && own.flow !== true;
      if (own.comment && isBlock) open.add(node);
      const isLong = own.type === "BLOCK_LITERAL" || own.type === "BLOCK_FOLDED";
      if (own.comment || own.commentBefore || isLong) for (const above of path) open.add(above);
    },
  });
  return { anchored, open, values };
}

// A YAML document, laid out, as text.

/** Folded text would be harder to read, to search and to compare than a long line. */
const TEXT_OPTIONS = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };

/** Newline-terminated. Mappings on one line have blanks inside their braces, lists none: `{ targets: [a, b] }`. */
export function textOf(document: Document, yaml: Yaml): string {
  yaml.visit(document, {
    Seq: (_, list) => {
      if (list.items.every((item) => yaml.isScalar(item) || yaml.isAlias(item))) tighten(list, yaml);
    },
    // The library writes a text of blanks and line breaks alone as a block that begins with its blanks, which then are its indent; and one of
    // several lines in a list or mapping on one line without quotes, even if it reads as something else then.
    Scalar: (key, node, path) => {
      const { value } = node;
      if (typeof value !== "string" || !value.includes("\n")) return;
      const isInLine = key === "key" || path.some((above) => yaml.isCollection(above) && above.flow === true);
      if (isInLine || /^\s+$/.test(value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString(TEXT_OPTIONS);
}

/** The library pads all lists and mappings on one line, or none. */
function tighten(list: YAMLSeq, yaml: Yaml): void {
  list.toString = (...[context, onComment, onChompKeep]: Parameters<YAMLSeq["toString"]>) => {
    const tight = context === undefined ? context : { ...context, flowCollectionPadding: "" };
    return yaml.YAMLSeq.prototype.toString.call(list, tight, onComment, onChompKeep);
  };
}
