/** Reads the JSON that another tool wrote: every value with its place, within limits, and without showing the texts of a file of secrets. */

import type { Diagnostic, Sources, Span } from "../model/diagnostic.ts";
import { MAX_HASHED_CHARACTERS } from "../model/map-key.ts";
import { readSource, unreadable } from "./zone-files.ts";

/** Terraform nests values of other providers, and a module within a module, to some twenty levels. */
const MAX_NESTING_DEPTH = 128;
/** Values of one file: those of 100,000 records in a state of Terraform. */
const MAX_VALUES = 2_000_000;

interface Placed {
  /** Offsets in the text. */
  readonly start: number;
  readonly end: number;
}

export type JsonValue = Placed &
  (
    | { readonly kind: "text"; readonly text: string }
    | { readonly kind: "number"; readonly number: number }
    | { readonly kind: "word"; readonly word: boolean | null }
    | { readonly kind: "list"; readonly items: readonly JsonValue[] }
    /** A map, so that a key such as `__proto__` is a key like any other. */
    | { readonly kind: "map"; readonly entries: JsonEntries }
  );

export type JsonEntries = ReadonlyMap<string, JsonValue>;

export type JsonSource =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

interface JsonSourceOptions {
  readonly sources: Sources;
  /** Whether a message that points into the file may show its line. The line of a file that is no JSON is never shown. */
  readonly showsTexts: boolean;
  /** What to do about a file that cannot be read, or that is no JSON. */
  readonly advice: string;
}

export async function readJsonSource(
  path: string,
  { sources, showsTexts, advice }: JsonSourceOptions,
): Promise<JsonSource> {
  const source = await readSource(path, path, sources);
  if (!source.ok) {
    sources.add(path, "");
    const { span: _, ...diagnostic } = unreadable(path, source, advice);
    return { ok: false, diagnostic };
  }
  const parser = new JsonParser(source.text);
  const value = parser.document();
  if (value === null || !showsTexts) sources.add(path, parser.masked());
  return value === null ? { ok: false, diagnostic: parser.diagnostic(path, advice) } : { ok: true, value };
}

export function spanOf(file: string, { start, end }: Placed): Span {
  return { file, start, end };
}

/** Undefined if the value is no map, or has no such key. */
export function entryAt(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return value?.kind === "map" ? value.entries.get(key) : undefined;
}

export function textAt(value: JsonValue | undefined, key: string): string | undefined {
  const found = entryAt(value, key);
  return found?.kind === "text" ? found.text : undefined;
}

/** Empty if there is no such list. */
export function itemsAt(value: JsonValue | undefined, key: string): readonly JsonValue[] {
  const found = entryAt(value, key);
  return found?.kind === "list" ? found.items : [];
}

/** What is wrong with the text, and where. */
class JsonProblem extends Error {
  readonly place: Placed;

  constructor(message: string, place: Placed) {
    super(message);
    this.place = place;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const WORD = /true|false|null/y;
const WORDS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

/** RFC 8259, and of two equal keys neither is chosen: the second is a problem. */
class JsonParser {
  readonly #text: string;
  #position = 0;
  #values = 0;
  #problem: JsonProblem | null = null;
  /** Where each text that is no key begins and ends, one after the other. */
  readonly #texts: number[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** null: see `diagnostic`. */
  document(): JsonValue | null {
    try {
      const value = this.#value(0);
      this.#skipBlanks();
      if (this.#position < this.#text.length) throw this.#unexpected("after the end of the value");
      return value;
    } catch (error) {
      if (!(error instanceof JsonProblem)) throw error;
      this.#problem = error;
      return null;
    }
  }

  diagnostic(file: string, fix: string): Diagnostic {
    const { message = "", place = { start: 0, end: 0 } } = this.#problem ?? {};
    const summary = `${file} cannot be read as JSON`;
    return { code: "bad-json", severity: "error", summary, detail: message, fix, span: spanOf(file, place) };
  }

  /** The text with a star for each character of a text that is no key, and of everything behind a problem. */
  masked(): string {
    const parts: string[] = [];
    let done = 0;
    for (let index = 0; index < this.#texts.length; index += 2) {
      const [start = 0, end = 0] = this.#texts.slice(index, index + 2);
      parts.push(this.#text.slice(done, start), "*".repeat(end - start));
      done = end;
    }
    const rest = this.#text.slice(done);
    parts.push(this.#problem === null ? rest : rest.replace(/[^\s{}[\],:]/g, "*"));
    return parts.join("");
  }

  #value(depth: number): JsonValue {
    this.#skipBlanks();
    const start = this.#position;
    this.#values += 1;
    if (this.#values > MAX_VALUES) {
      throw new JsonProblem(`It has more than ${MAX_VALUES} values.`, { start, end: start + 1 });
    }
    if (depth > MAX_NESTING_DEPTH) {
      throw new JsonProblem(`It is nested deeper than ${MAX_NESTING_DEPTH} levels.`, { start, end: start + 1 });
    }
    switch (this.#text[start]) {
      case "{":
        return { kind: "map", entries: this.#entries(depth), start, end: this.#position };
      case "[":
        return { kind: "list", items: this.#items(depth), start, end: this.#position };
      case '"': {
        const text = this.#string();
        this.#texts.push(start + 1, this.#position - 1);
        return { kind: "text", text, start, end: this.#position };
      }
    }
    const number = this.#match(NUMBER);
    if (number !== null) return { kind: "number", number: Number(number), start, end: this.#position };
    const word = this.#match(WORD);
    if (word === null) throw this.#unexpected("where a value is expected");
    return { kind: "word", word: WORDS[word] ?? null, start, end: this.#position };
  }

  #entries(depth: number): JsonEntries {
    const entries = new Map<string, JsonValue>();
    this.#position += 1;
    if (this.#takes("}")) return entries;
    do {
      this.#skipBlanks();
      const start = this.#position;
      if (this.#text[start] !== '"') throw this.#unexpected("where a key is expected");
      const key = this.#string();
      if (key.length > MAX_HASHED_CHARACTERS)
        throw new JsonProblem("The key is too long.", { start, end: this.#position });
      if (entries.has(key)) throw new JsonProblem("The key is there twice.", { start, end: this.#position });
      if (!this.#takes(":")) throw this.#unexpected("where a colon is expected");
      entries.set(key, this.#value(depth + 1));
    } while (this.#takes(","));
    if (!this.#takes("}")) throw this.#unexpected("where a comma or } is expected");
    return entries;
  }

  #items(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.#position += 1;
    if (this.#takes("]")) return items;
    do items.push(this.#value(depth + 1));
    while (this.#takes(","));
    if (!this.#takes("]")) throw this.#unexpected("where a comma or ] is expected");
    return items;
  }

  #string(): string {
    const start = this.#position;
    let end = start + 1;
    let isPlain = true;
    for (;;) {
      const code = this.#text.charCodeAt(end);
      if (code === 34) break;
      if (Number.isNaN(code)) throw new JsonProblem(CUT, { start, end: this.#text.length });
      if (code < 32) throw new JsonProblem("A text has a raw control character.", { start: end, end: end + 1 });
      if (code === 92) isPlain = false;
      end += code === 92 ? 2 : 1;
    }
    this.#position = end + 1;
    if (isPlain) return this.#text.slice(start + 1, end);
    try {
      return JSON.parse(this.#text.slice(start, end + 1));
    } catch {
      throw new JsonProblem("A text has an unknown escape.", { start, end: end + 1 });
    }
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    this.#position += found?.length ?? 0;
    return found;
  }

  #takes(character: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.#position] !== character) return false;
    this.#position += 1;
    return true;
  }

  #skipBlanks(): void {
    while (" \t\r\n".includes(this.#text[this.#position] ?? "x")) this.#position += 1;
  }

  #unexpected(where: string): JsonProblem {
    const start = this.#position;
    if (start >= this.#text.length) return new JsonProblem(CUT, { start, end: start });
    return new JsonProblem(`There is something else ${where}.`, { start, end: start + 1 });
  }
}

const CUT = "It ends before the JSON does: it was cut, or the tool failed while it wrote.";
