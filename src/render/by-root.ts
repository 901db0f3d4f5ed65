/** Changes by the network, zone or image they belong to: where there are too many to be told one by one. */

import type { Address } from "../model/address.ts";
import type { Action } from "../model/change.ts";
import { compareText, groupBy } from "../model/group.ts";
import { count } from "./wording.ts";
import { escapeText } from "./escape.ts";

/** So many are named; the rest is counted. */
const MAX_NAMED_ROOTS = 10;
const INDENT = "  ";

interface Keyed {
  /** Of a change: it begins with the address of its root. */
  readonly key: string;
}

/** In the order of the first of each. */
function byRoot<Item extends Keyed>(items: readonly Item[]): ReadonlyMap<Address, readonly Item[]> {
  return groupBy(items, ({ key }) => key.split("/", 2).join("/"));
}

/** What is to be done to each, below what it belongs to; one by itself needs no heading. Each entry as lines, escaped. */
export function actionEntries(items: readonly (Keyed & { readonly action: Action })[]): string[][] {
  return [...byRoot(items)].flatMap(([root, group]) => {
    const lines = group.map(({ action, key }) => `${action} ${escapeText(key)}`);
    if (lines.length === 1) return [lines];
    const heading = `${escapeText(root)}: ${lines.length} changes`;
    return lines.map((line, index) => [...(index === 0 ? [heading] : []), INDENT + line]);
  });
}

/** `domain/a.example (200)`, or its key where there is one change only; sorted. */
function rootCounts(keys: readonly string[]): string[] {
  const roots = [...byRoot(keys.map((key) => ({ key })))].sort(([a], [b]) => compareText(a, b));
  return roots.map(([root, group]) =>
    escapeText(group.length === 1 ? (group[0]?.key ?? root) : `${root} (${group.length})`),
  );
}

/** The first of them, a line each, and how many there are beside. */
export function someRootCounts(keys: readonly string[]): string[] {
  const counts = rootCounts(keys);
  const rest = counts.length - MAX_NAMED_ROOTS;
  const further = `and in ${count(rest, "more network, zone or image", "more networks, zones or images")}`;
  return [...counts.slice(0, MAX_NAMED_ROOTS), ...(rest > 0 ? [further] : [])];
}
