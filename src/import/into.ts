/** An import into a project that exists: which record sets of it are used, which new files are written, and `files:` of its root file extended. */

import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Document, Pair, ParsedNode, YAMLMap, YAMLSeq } from "yaml";
import type { Address, Json, JsonObject } from "../model/resource.ts";
import { isJsonObject } from "../model/resource.ts";
import type { Unit } from "../model/unit.ts";
import type { ImportedDomains } from "./collect.ts";

/** What the project says already. */
export interface Existing {
  /** In any of its environments. */
  readonly declared: ReadonlySet<Address>;
  readonly recordSets: readonly KnownRecordSet[];
}

export interface KnownRecordSet {
  readonly name: string;
  /** As an import writes records, `${zone}` for the domain's name; null: it says something that no import writes. */
  readonly records: readonly JsonObject[] | null;
}

interface Undeclared {
  readonly taken: ImportedDomains;
  /** What is declared already, and left out. */
  readonly already: readonly Address[];
}

export function withoutDeclared(
  { owner, domains, others }: ImportedDomains,
  { declared }: Existing,
  units: readonly Unit[],
): Undeclared {
  const already: Address[] = [];
  const isNew = (section: string, name: Json | undefined): boolean => {
    const unit = units.find(({ spec }) => spec.section === section);
    const address = unit?.spec.removed(String(name)).address;
    if (address === undefined || !declared.has(address)) return true;
    already.push(address);
    return false;
  };
  const newDomains = domains.filter(({ name }) => isNew("domains", name));
  const newOthers = Object.entries(others).flatMap(([section, entries]) => {
    const left = entries.filter(({ label }) => isNew(section, label));
    return left.length === 0 ? [] : [[section, left] as const];
  });
  return { taken: { owner, domains: newDomains, others: Object.fromEntries(newOthers) }, already };
}

// The record sets of the project, in the form in which an import compares records.

const RECORD_KEYS: readonly string[] = ["type", "name", "tag", "target", "priority", "weight", "port", "ttl_sec"];

/** @param trees the manifests as they were parsed */
export function recordSetsOf(trees: readonly JsonObject[]): KnownRecordSet[] {
  return trees.flatMap((tree) => {
    const { record_sets: sets, defaults } = tree;
    if (!isJsonObject(sets)) return [];
    const shared = isJsonObject(defaults) && isJsonObject(defaults["record"]) ? defaults["record"] : {};
    const names = Object.keys(sets).filter((name) => !name.startsWith("x-"));
    return names.map((name) => ({ name, records: plainRecords(sets[name], shared) }));
  });
}

function plainRecords(list: Json | undefined, shared: JsonObject): JsonObject[] | null {
  if (!Array.isArray(list)) return null;
  const plain = (list as readonly Json[]).map((entry) => plainRecord(entry, shared));
  return plain.some((records) => records === null) ? null : plain.flatMap((records) => records ?? []);
}

/** One record for each target; null: it has a key or a reference that makes it something else. */
function plainRecord(entry: Json, shared: JsonObject): JsonObject[] | null {
  if (!isJsonObject(entry)) return null;
  const { targets, note: _, ...rest }: JsonObject = { ...shared, ...entry };
  const all = targets === undefined ? [rest["target"]] : Array.isArray(targets) ? targets : [];
  const known = Object.keys(rest).every((key) => RECORD_KEYS.includes(key));
  if (!known || all.length === 0 || /\$\{(?!zone\})/.test(JSON.stringify(entry))) return null;
  return all.map((target) => {
    const record: JsonObject = { ...rest, target: target ?? "" };
    const kept = RECORD_KEYS.filter((key) => {
      const value = record[key] ?? null;
      return (
        value !== null && !(key === "name" && (value === "" || value === "@")) && !(key === "ttl_sec" && value === 0)
      );
    });
    return Object.fromEntries(kept.map((key) => [key, record[key] as Json]));
  });
}

// The new files.

/** @returns the name, or with a number behind it the first that is free in the folder */
export async function freeName(folder: string, name: string): Promise<string> {
  const [, stem = name, ending = ""] = /^(.*?)(\.yaml)$/.exec(name) ?? [];
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${stem}-${number}${ending}`;
    if ((await lstat(join(folder, candidate)).catch(() => null)) === null) return candidate;
  }
}

// `files:` of the root file, extended where it stands: every other character stays as it is.

type Edit = { readonly at: number; readonly text: string };

/**
 * @param text of a root file without errors
 * @returns null: it is written in a way in which only a person can extend it
 */
export async function extendFiles(text: string, added: readonly string[]): Promise<string | null> {
  const yaml = await import("yaml");
  const document = yaml.parseDocument(text, { keepSourceTokens: true, logLevel: "silent" });
  const root = document.contents;
  if (!yaml.isMap(root) || root.flow === true) return null;
  const edit = editOf(document as Document.Parsed<YAMLMap.Parsed>, text, added.map(quoted), yaml.isSeq);
  if (edit === null) return null;
  const extended = text.slice(0, edit.at) + edit.text + text.slice(edit.at);
  return isExtended(yaml.parseDocument(extended, { logLevel: "silent" }), document, added) ? extended : null;
}

const PLAIN_PATH = /^[A-Za-z0-9_/.][\w./*-]*$/;

function quoted(path: string): string {
  return PLAIN_PATH.test(path) && !/^[\d.]+$/.test(path) ? path : JSON.stringify(path);
}

function editOf(
  { contents }: Document.Parsed<YAMLMap.Parsed>,
  text: string,
  added: readonly string[],
  isSeq: (node: unknown) => node is YAMLSeq,
): Edit | null {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const pairs = contents?.items ?? [];
  const files = pairs.find(({ key }) => String(key) === "files");
  if (files === undefined) return afterHead(pairs, text, `files: [${added.join(", ")}]`, end);
  const list: unknown = files.value;
  if (!isSeq(list)) return null;
  const [start = 0, stop = 0] = list.range ?? [];
  if (list.flow === true) {
    const closing = text.lastIndexOf("]", stop - 1);
    const inner = text.slice(start + 1, closing);
    const lastLine = inner.slice(inner.lastIndexOf("\n") + 1);
    // Behind a comment there would be nothing but the comment.
    if (closing < start || lastLine.includes("#")) return null;
    const hasComma = inner.trim() === "" || /,\s*$/.test(inner);
    const at = start + 1 + inner.trimEnd().length;
    return { at, text: `${hasComma ? "" : ","}${inner.trim() === "" ? "" : " "}${added.join(", ")}` };
  }
  const last = list.items.at(-1) as ParsedNode | undefined;
  if (last?.range === undefined || last.range === null) return null;
  const [from, to] = last.range;
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const dash = /^(\s*-\s+)/.exec(text.slice(lineStart, from))?.[1];
  if (dash === undefined) return null;
  const lineEnd = endOfLine(text, to);
  return { at: lineEnd, text: added.map((path) => `${end}${dash}${path}`).join("") };
}

/** Keys that `files` stands behind. */
const HEAD: readonly string[] = ["tenon", "requires", "owner", "account"];

function afterHead(
  pairs: readonly Pair<ParsedNode, ParsedNode | null>[],
  text: string,
  line: string,
  end: string,
): Edit | null {
  const before = pairs.filter(({ key }) => HEAD.includes(String(key))).at(-1);
  const range = before?.value?.range;
  if (range === undefined || range === null) return null;
  return { at: endOfLine(text, range[1]), text: `${end}${line}` };
}

/** Before the line break, so that a comment behind the value stays with it. */
export function endOfLine(text: string, from: number): number {
  const next = text.indexOf("\n", Math.max(from - 1, 0));
  if (next === -1) return text.length;
  return text[next - 1] === "\r" ? next - 1 : next;
}

/** What aliases may add was limited when the file was loaded. */
const AS_LOADED = { maxAliasCount: -1 };

/** Whether the one difference is what was added to `files`. */
function isExtended(now: Document, before: Document, added: readonly string[]): boolean {
  if (now.errors.length > 0) return false;
  const [after, earlier] = [now, before].map((document) => document.toJS(AS_LOADED) as JsonObject) as [
    JsonObject,
    JsonObject,
  ];
  const wanted = { ...earlier, files: [...((earlier["files"] as Json[] | undefined) ?? []), ...added] };
  return sorted(after) === sorted(wanted);
}

function sorted(value: JsonObject): string {
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
