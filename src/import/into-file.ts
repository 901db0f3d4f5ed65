/** An import into a manifest that exists: new entries behind those of their sections, by the file's own defaults; every other character stays. */

import isEqual from "fast-deep-equal";
import type { Document, ParsedNode, YAMLMap } from "yaml";
import { escapeReferences, writeManifest } from "../format/write.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import type { Unit } from "../model/unit.ts";
import type { ImportedDomains } from "./collect.ts";
import { type Existing, endOfLine } from "./into.ts";
import { type DomainWithRecordSets, extractRecordSets } from "./record-sets.ts";

type Yaml = typeof import("yaml");

/**
 * The text of the manifest with what was imported.
 * @param text of a manifest without errors
 * @param tree as it was parsed
 * @returns null: it is written in a way in which only a person can extend it
 */
export async function entriesInto(
  { text, tree }: { readonly text: string; readonly tree: JsonObject },
  imported: ImportedDomains,
  units: readonly Unit[],
  existing: Existing,
): Promise<string | null> {
  const yaml = await import("yaml");
  const sections = sectionsOf(imported, tree, existing);
  const order = [...BEFORE_SECTIONS, ...units.map(({ spec }) => spec.section)];
  let extended = text;
  for (const section of order.filter((name) => sections[name] !== undefined)) {
    const entries = sections[section] as readonly JsonObject[];
    const lines = linesOf(await writeManifest({ tenon: 1, [section]: entries }, { units, arrangesRecords: true }));
    const next = withEntries(extended, section, lines, order, yaml);
    if (next === null || !isAppended(extended, next, section, entries, yaml)) return null;
    extended = next;
  }
  return extended;
}

function sectionsOf(
  imported: ImportedDomains,
  tree: JsonObject,
  { recordSets }: Existing,
): Readonly<Record<string, readonly JsonObject[]>> {
  const others = escapeReferences(imported.others) as Readonly<Record<string, readonly JsonObject[]>>;
  const { domains } = extractRecordSets(imported.domains, recordSets, false);
  const defaults = isJsonObject(tree["defaults"]) ? tree["defaults"] : {};
  const of = (key: string): JsonObject => (isJsonObject(defaults[key]) ? defaults[key] : {});
  const written = domains.map((domain) => byDefaults(domain, of("domain"), of("record")));
  return { ...others, ...(written.length === 0 ? {} : { domains: written }) };
}

/** Defaults that say nothing of the domain in the account: they hold for what is added as for the rest of the file. */
const KEPT_DEFAULTS: ReadonlySet<string> = new Set([
  ...["protect", "lint", "note", "owner", "reason", "review_by", "expires"],
]);

/** What takes a default back. null resets a field. */
const NEUTRAL: Readonly<Record<string, Json>> = { use: [], ignore: [], records_policy: "authoritative" };

/** The entry without what the file's defaults say already, and with what takes back a default that does not hold for it. */
function byDefaults({ entry, use, records }: DomainWithRecordSets, domain: JsonObject, record: JsonObject): JsonObject {
  const own: Record<string, Json> = {
    ...entry,
    ...(use.length === 0 ? {} : { use }),
    // Where a set is in use, no own records mean the same as an empty list.
    ...(records === null || (records.length === 0 && use.length > 0)
      ? {}
      : { records: records.map((one) => byTtl(one, record["ttl_sec"] ?? 0)) }),
  };
  for (const [key, value] of Object.entries(domain)) {
    if (key.startsWith("x-") || KEPT_DEFAULTS.has(key)) continue;
    if (own[key] === undefined) own[key] = NEUTRAL[key] ?? null;
    else if (isEqual(own[key], value) && !JSON.stringify(value).includes("${")) delete own[key];
  }
  return own;
}

/** A record without a TTL of its own has the domain's, which it must say beside a default. */
function byTtl({ ttl_sec = 0, ...rest }: JsonObject, shared: Json): JsonObject {
  return ttl_sec === shared ? rest : { ...rest, ttl_sec };
}

/** Of a manifest with one section, the lines of its entries, without indentation. */
function linesOf(manifest: string): string[] {
  const lines = manifest.trimEnd().split("\n");
  const first = lines.findIndex((line) => line.startsWith("  - "));
  return lines.slice(first).map((line) => line.slice(2));
}

/** The keys of the root that stand before its sections, as `tenon fmt` has them. */
const BEFORE_SECTIONS: readonly string[] = [
  ...["tenon", "requires", "owner", "account", "files", "variables", "environments", "defaults", "record_sets"],
];

function withEntries(
  text: string,
  section: string,
  lines: readonly string[],
  order: readonly string[],
  yaml: Yaml,
): string | null {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const document = yaml.parseDocument(text, { logLevel: "silent" }) as Document.Parsed<YAMLMap.Parsed>;
  const root = document.contents;
  if (!yaml.isMap(root) || root.flow === true) return null;
  const indented = (columns: number): string =>
    lines.map((line) => (line === "" ? "" : `${" ".repeat(columns)}${line}`)).join(end);
  const put = (at: number, added: string, from = at): string => text.slice(0, from) + added + text.slice(at);
  const pairs = root.items;
  const pair = pairs.find(({ key }) => String(key) === section);
  if (pair === undefined) {
    const before = pairs.filter(({ key }) => {
      const rank = order.indexOf(String(key));
      return rank !== -1 && rank < order.indexOf(section);
    });
    const last = before.at(-1);
    if (last === undefined) return null;
    return put(endOf(last.value ?? last.key, text, yaml), `${end}${end}${section}:${end}${indented(2)}`);
  }
  const list = pair.value;
  const [, keyEnd] = pair.key.range ?? [0, 0];
  if (!yaml.isSeq(list) || list.range === undefined || list.range === null) return null;
  if (list.items.length === 0) {
    const [, stop] = list.range;
    const isAlone = text.slice(stop, endOfLine(text, stop)).trim() === "";
    return isAlone ? put(endOfLine(text, stop), `:${end}${indented(2)}`, keyEnd) : null;
  }
  if (list.flow === true) return null;
  const [first, last] = [list.items[0] as ParsedNode, list.items.at(-1) as ParsedNode];
  const start = first.range?.[0] ?? 0;
  const dash = /^( *)-\s/.exec(text.slice(text.lastIndexOf("\n", start - 1) + 1, start))?.[1];
  if (dash === undefined) return null;
  return put(endOf(last, text, yaml), `${end}${end}${indented(dash.length)}`);
}

/** The end of the line on which the last value of a node ends, so that a comment behind it stays with it. */
function endOf(node: ParsedNode, text: string, yaml: Yaml): number {
  if (yaml.isCollection(node) && node.flow !== true) {
    const last = node.items.at(-1);
    const inner = yaml.isPair(last) ? ((last.value ?? last.key) as ParsedNode) : (last as ParsedNode | undefined);
    if (inner !== undefined && inner !== null) return endOf(inner, text, yaml);
  }
  const to = node.range?.[1] ?? 0;
  // A text of several lines ends behind its last line break.
  return text[to - 1] === "\n" ? endOfLine(text, text.slice(0, to).trimEnd().length) : endOfLine(text, to);
}

/** Whether the one difference is that the entries stand at the end of the section. */
function isAppended(
  before: string,
  after: string,
  section: string,
  entries: readonly JsonObject[],
  yaml: Yaml,
): boolean {
  const [earlier, now] = [before, after].map((text) => yaml.parseDocument(text, { logLevel: "silent" }));
  if (earlier === undefined || now === undefined || now.errors.length > 0) return false;
  const { [section]: old, ...rest } = earlier.toJS() as JsonObject;
  const { [section]: list, ...others } = now.toJS() as JsonObject;
  const kept = Array.isArray(old) ? (old as readonly Json[]) : [];
  if (!Array.isArray(list) || list.length !== kept.length + entries.length) return false;
  return isEqual(rest, others) && isEqual(list.slice(0, kept.length), kept);
}
