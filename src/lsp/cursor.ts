/** What stands at a place of a manifest: the keys that lead there, also where the text is still being written. */

import { readCommonYaml } from "../manifest/common-yaml.ts";
import { Budget } from "../manifest/limits.ts";
import { parseFile } from "../manifest/parse.ts";
import { Places } from "../manifest/positions.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";

/** Characters of a text of unusual YAML, which takes long to read: at no place of a longer one is anything known. */
const MAX_UNUSUAL_CHARACTERS: number = 512 * 1024;

export interface Cursor {
  /** The keys that lead to what stands here, its own key included; indices are left out. */
  readonly path: readonly string[];
  /** A key, or a value, which may be an entry of a list. */
  readonly on: "key" | "value";
  /** The innermost mapping around the place; null: there is none. */
  readonly mapping: JsonObject | null;
  /** Offsets of the key or value. */
  readonly start: number;
  readonly end: number;
  readonly inList: boolean;
}

/** @returns null if nothing stands there */
export async function cursorAt(text: string, offset: number): Promise<Cursor | null> {
  const parsed = await parse(text);
  return parsed === null ? null : find(parsed.tree, parsed.places, offset);
}

interface Parsed {
  readonly tree: JsonObject;
  readonly places: Places;
}

/** Lines that end as on Windows are read as others are: what is put in for their carriage return changes no place. */
export async function parse(text: string): Promise<Parsed | null> {
  const unified = text.replaceAll("\r\n", " \n").replace(/^\ufeff/, " ");
  const places = new Places();
  const common = readCommonYaml("", unified, places);
  if (common !== null) return { tree: common, places };
  if (unified.length > MAX_UNUSUAL_CHARACTERS) return null;
  const { tree } = await parseFile("", unified, { places, budget: new Budget(), report: () => {} });
  return tree === null ? null : { tree, places };
}

function find(tree: JsonObject, places: Places, offset: number): Cursor | null {
  const path: string[] = [];
  let container: JsonObject | Json[] = tree;
  let mapping: JsonObject | null = tree;
  for (;;) {
    const step = stepAt(container, places, offset);
    if (step === null) return null;
    const { key, on, start, end } = step;
    const inList = Array.isArray(container);
    if (!inList) path.push(String(key));
    const value = (container as JsonObject)[key] as Json;
    if (on === "key" || typeof value !== "object" || value === null) return { path, on, mapping, start, end, inList };
    container = value as JsonObject | Json[];
    mapping = isJsonObject(value) ? value : null;
  }
}

interface StepAt {
  readonly key: string | number;
  readonly on: "key" | "value";
  readonly start: number;
  readonly end: number;
}

function stepAt(container: JsonObject | readonly Json[], places: Places, offset: number): StepAt | null {
  const keys = Array.isArray(container) ? [...container.keys()] : Object.keys(container);
  for (const key of keys) {
    if (typeof key === "string") {
      const at = places.keySpan(container, key);
      if (offset >= at.start && offset <= at.end) return { key, on: "key", start: at.start, end: at.end };
    }
    const value = (container as JsonObject)[key];
    const { start, end } = places.span(container, key);
    const isEmpty = value === null && typeof key === "string" && start === places.keySpan(container, key).start;
    if (!isEmpty && offset >= start && offset <= end) return { key, on: "value", start, end };
  }
  return null;
}

// Where something is to be completed, the text is not whole: a word is put in that makes it so.

export interface Gap extends Cursor {
  /** What of the word is there already, before and behind the place. */
  readonly wordStart: number;
  readonly wordEnd: number;
  /** Whether the word is the first of its line, or behind a dash: not within brackets. */
  readonly isBlock: boolean;
  /** Of the line that the word is on. */
  readonly indent: string;
  /** Whether a colon follows. */
  readonly hasColon: boolean;
}

const WORD = "TENON-WORD";
/** What ends a word: blanks, and what YAML has around keys and values. */
const WORD_END = /[\s,[\]{}"':#]/;

/** @returns null if it cannot be made out where the place is */
export async function gapAt(text: string, offset: number): Promise<Gap | null> {
  let [wordStart, wordEnd] = [offset, offset];
  while (wordStart > 0 && !WORD_END.test(text[wordStart - 1] ?? "")) wordStart -= 1;
  while (wordEnd < text.length && !WORD_END.test(text[wordEnd] ?? "")) wordEnd += 1;
  const lineStart = text.lastIndexOf("\n", wordStart - 1) + 1;
  const before = text.slice(lineStart, wordStart);
  const isBlock = /^[ \t]*(?:-[ \t]+)*$/.test(before);
  const hasColon = /^[ \t]*:(?:\s|$)/.test(text.slice(wordEnd, wordEnd + 80));
  const asKey = `${WORD}:`;
  const attempts = hasColon ? [WORD] : isBlock && !before.includes("-") ? [asKey, WORD] : [WORD, asKey];
  for (const word of attempts) {
    const parsed = await parse(`${text.slice(0, wordStart)}${word}${text.slice(wordEnd)}`);
    const cursor = parsed === null ? null : find(parsed.tree, parsed.places, wordStart);
    if (cursor === null) continue;
    const isThere = cursor.on === "key" ? cursor.path.at(-1) === WORD : cursor.start <= wordStart;
    if (!isThere) continue;
    const indent = /^[ \t]*/.exec(before)?.[0] ?? "";
    return { ...cursor, wordStart, wordEnd, isBlock, indent, hasColon };
  }
  return null;
}
