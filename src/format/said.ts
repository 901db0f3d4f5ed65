/** What a manifest says, in one form: whatever the order of its keys and records, and however targets are joined. */

import type { Document } from "yaml";

/** Equal texts, equal manifests. Of a document whose scalars are texts; linear but for sorting. */
export function saidBy(document: Document): string {
  // Aliases are limited by what reads manifests; here they are only compared.
  return JSON.stringify(normal(document.toJS({ maxAliasCount: -1 }), ""));
}

/** @param path keys from the root, list entries without their number */
function normal(value: unknown, path: string): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => normal(item, path));
    return isRecordList(path) ? sortedRecords(items) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, normal(item, `${path}/${key}`)] as const);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

function isRecordList(path: string): boolean {
  return path === "/domains/records" || /^\/record_sets\/[^/]+$/.test(path);
}

type Entries = readonly (readonly [string, unknown])[];

/** One text for each record: several targets are several records. */
function sortedRecords(items: readonly unknown[]): string[] {
  return items
    .flatMap((item) => {
      if (!Array.isArray(item)) return [JSON.stringify(item)];
      const entries = item as Entries;
      const targets = entries.find(([key]) => key === "targets")?.[1];
      if (!Array.isArray(targets)) return [JSON.stringify(entries)];
      const rest = entries.filter(([key]) => key !== "targets");
      return targets.map((target) => JSON.stringify([...rest, ["target", target] as const].sort(byKey)));
    })
    .sort();
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
