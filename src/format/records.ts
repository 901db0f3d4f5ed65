/** A list of records as people write it: sorted within its sections, several targets of one name and type on one line. */

import type * as YamlLibrary from "yaml";
import type { Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { isRecordType, isText, RECORD_TYPES } from "../dns/record.ts";
import { toAscii } from "../dns/unicode.ts";
import { compareText } from "../model/text.ts";

interface Entry {
  readonly node: YAMLMap;
  readonly place: RecordPlace;
}

/**
 * Sorts and merges in place. Blank lines and comments divide a list into sections, which keep their place. An entry that is no plain record
 * keeps its place, too.
 * @param open entries that hold comments: they are not merged
 */
export function arrangeRecords(list: YAMLSeq, zone: string | null, yaml: Yaml, open: ReadonlySet<unknown>): void {
  const arranged: unknown[] = [];
  let section: Entry[] = [];
  const close = (): void => {
    for (const node of arrangeSection(section, yaml, open)) arranged.push(node);
    section = [];
  };
  for (const item of list.items) {
    const place = yaml.isMap(item) ? placeOf(item as YAMLMap, zone, yaml) : null;
    const node = item as YAMLMap;
    if (place === null || node.commentBefore || node.spaceBefore === true) close();
    if (place === null) arranged.push(item);
    else section.push({ node, place });
  }
  close();
  list.items = arranged;
}

function arrangeSection(section: readonly Entry[], yaml: Yaml, open: ReadonlySet<unknown>): YAMLMap[] {
  const first = section[0]?.node;
  if (first === undefined) return [];
  const { commentBefore, spaceBefore } = first;
  const sorted = [...section].sort((a, b) => comparePlaces(a.place, b.place)).map(({ node }) => node);
  first.commentBefore = null;
  first.spaceBefore = false;
  const merged = mergeTargets(sorted, yaml, open);
  const top = merged[0] as YAMLMap;
  top.commentBefore = commentBefore ?? null;
  top.spaceBefore = spaceBefore ?? false;
  return merged;
}

/** null: not a record with one type, so it has no place in the order. */
function placeOf(node: YAMLMap, zone: string | null, yaml: Yaml): RecordPlace | null {
  const texts = new Map<string, string>();
  for (const pair of node.items as Pair[]) {
    const value = firstScalar(pair.value, yaml);
    if (value === null) continue;
    texts.set(keyText(pair) === "targets" ? "target" : keyText(pair), String(value.value));
  }
  const builder = builderOf(node);
  if (builder !== null) {
    const [type, label] = builder;
    const name = texts.get("name");
    texts.set("type", type).set("name", [label, name === "@" ? undefined : name].filter(Boolean).join("."));
  }
  return texts.has("type") ? recordPlace((key) => texts.get(key), zone) : null;
}

/**
 * Builders: the type of the record that each makes, and the label before its name. `ptr` is not among them: its records have many names.
 */
const BUILDERS: ReadonlyMap<string, readonly [type: string, label: string]> = new Map([
  ["spf", ["TXT", ""]],
  ["dmarc", ["TXT", "_dmarc"]],
  ["dkim", ["TXT", "_domainkey"]],
  ["caa", ["CAA", ""]],
]);

function builderOf(node: YAMLMap): readonly [type: string, label: string] | null {
  for (const pair of node.items as Pair[]) {
    const builder = BUILDERS.get(keyText(pair));
    if (builder !== undefined) return builder;
  }
  return null;
}

function firstScalar(value: unknown, yaml: Yaml): Scalar | null {
  if (yaml.isSeq(value)) return yaml.isScalar(value.items[0]) ? value.items[0] : null;
  return yaml.isScalar(value) ? value : null;
}

/** Types whose targets are texts: these may be long and have little to do with each other, so each stays on a line of its own. */
const TEXT_TYPES: ReadonlySet<string> = new Set(RECORD_TYPES.filter(isText));

/** Neighbours that are equal but for their targets become one. */
function mergeTargets(nodes: readonly YAMLMap[], yaml: Yaml, open: ReadonlySet<unknown>): YAMLMap[] {
  const merged: YAMLMap[] = [];
  let last: { key: string; targets: Node[]; node: YAMLMap } | null = null;
  for (const node of nodes) {
    const key = open.has(node) || node.comment ? null : mergeKey(node, yaml);
    const targets = key === null ? [] : targetsOf(node, yaml);
    if (last !== null && key === last.key && targets.length > 0) {
      for (const target of targets) last.targets.push(target);
      continue;
    }
    if (last !== null) setTargets(last.node, last.targets, yaml);
    last = key === null || targets.length === 0 ? null : { key, targets, node };
    merged.push(node);
  }
  if (last !== null) setTargets(last.node, last.targets, yaml);
  return merged;
}

/** All of an entry but its targets, in a form to compare; null if the entry must not be merged. */
function mergeKey(node: YAMLMap, yaml: Yaml): string | null {
  const said: [string, string, string][] = [];
  for (const pair of node.items as Pair[]) {
    const key = keyText(pair);
    if (key === "target" || key === "targets") continue;
    if (!yaml.isScalar(pair.value) || pair.value.tag !== undefined) return null;
    if (key === "type" && TEXT_TYPES.has(String(pair.value.value))) return null;
    const isPlain = pair.value.type === undefined || pair.value.type === "PLAIN";
    said.push([key, String(pair.value.value), isPlain ? "" : '"']);
  }
  return JSON.stringify(said.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function targetsOf(node: YAMLMap, yaml: Yaml): Node[] {
  const values = (node.items as Pair[]).filter((pair) => /^targets?$/.test(keyText(pair))).map(({ value }) => value);
  const [value] = values;
  if (values.length !== 1) return [];
  if (yaml.isScalar(value)) return [value];
  return yaml.isSeq(value) && value.items.every((item) => yaml.isScalar(item)) ? (value.items as Node[]) : [];
}

function setTargets(node: YAMLMap, targets: readonly Node[], yaml: Yaml): void {
  const pair = (node.items as Pair[]).find((candidate) => /^targets?$/.test(keyText(candidate)));
  if (
    pair === undefined ||
    targets.length < 2 ||
    (yaml.isSeq(pair.value) && pair.value.items.length === targets.length)
  )
    return;
  const list = new yaml.YAMLSeq();
  list.items = [...targets];
  pair.key = new yaml.Scalar("targets");
  pair.value = list;
}

// The order in which people write the records of a zone: the apex first, then by name, type and content.

/** Wide enough for every number of a record. */
const NUMBER_WIDTH_DIGITS = 10;

/** The value of a record entry's key, as text; undefined if the entry has no such key. */
type RecordText = (key: string) => string | undefined;

interface RecordPlace {
  /** Labels from the right, so that a name stands before the names beneath it (RFC 4034, 6.1). */
  readonly name: string;
  readonly type: number;
  readonly content: string;
}

/**
 * @param text of one entry; of several targets the first counts
 * @param zone the domain's name as written; null in a record set
 */
function recordPlace(text: RecordText, zone: string | null): RecordPlace {
  const written = text("type") ?? "";
  const numbers = ["priority", "weight", "port"].map((key) => (text(key) ?? "0").padStart(NUMBER_WIDTH_DIGITS, "0"));
  return {
    name: relativeText(fullName(text), zone).split(".").reverse().join("\u0000"),
    // An unknown type comes last.
    type: isRecordType(written) ? RECORD_TYPES.indexOf(written) : RECORD_TYPES.length,
    content: [...numbers, text("tag") ?? "", sortableTarget(text("target") ?? "")].join("\u0000"),
  };
}

function comparePlaces(a: RecordPlace, b: RecordPlace): number {
  return compareText(a.name, b.name) || a.type - b.type || compareText(a.content, b.content);
}

function fullName(text: RecordText): string {
  const name = text("name") ?? "";
  const [service, protocol] = [text("service"), text("protocol")];
  if (service === undefined || protocol === undefined || name.startsWith("_")) return name;
  const prefix = `_${service.replace(/^_/, "")}._${protocol.replace(/^_/, "")}`;
  return name === "" || name === "@" ? prefix : `${prefix}.${name}`;
}

function relativeText(name: string, zone: string | null): string {
  const text = toAscii(name) ?? name;
  if (text === "" || text === "@") return "";
  const origin = zone === null ? "${zone}" : (toAscii(zone) ?? zone).replace(/\.$/, "");
  if (text === `${origin}.`) return "";
  return text.endsWith(`.${origin}.`) ? text.slice(0, -origin.length - 2) : text;
}

/** IPv4 addresses by number: .9 before .10. */
function sortableTarget(target: string): string {
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(target)) return target;
  return target.replace(/\d+/g, (octet) => octet.padStart(3, "0"));
}

// The YAML library's type, and a helper for its nodes.

/** The library is imported only when a text is read or written. */
export type Yaml = typeof YamlLibrary;

/** `""` if the key is not a scalar. */
export function keyText(pair: Pair<unknown, unknown>): string {
  const key = pair.key as Scalar | null;
  return key !== null && typeof key === "object" && "value" in key ? String(key.value) : "";
}
