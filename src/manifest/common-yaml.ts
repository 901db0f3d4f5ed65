/**
 * The YAML that most manifests are written in, read in one pass: block mappings and lists, flow collections and scalars of one line,
 * comments. At the first thing beyond that, correct or not, the yaml library reads the whole text instead: what is unusual, and every
 * error message, comes from it. What this reader accepts has the same values at the same places (test/property/common-yaml).
 */

import type { Json, JsonObject } from "../model/resource.ts";
import { MAX_SHORT_FILE_VALUES, MIN_CHARACTERS_PER_VALUE } from "./limits.ts";
import { newMapping, type Places } from "./positions.ts";

/** Half of what the library may read, so that the limit of nesting is its own to report. */
const MAX_DEPTH = 32;
/** The library refuses an implicit key of more than 1,024 characters. */
const MAX_KEY_CHARACTERS = 500;

/** Tabs, carriage returns, and all that cannot be seen. */
const UNUSUAL_CHARACTER = /(?!\n)\p{Cc}|[\u2028\u2029\ufeff]/u;
/** What the core schema may take for a number, beside decimal integers: signs, fractions, exponents, octal, hexadecimal, infinity. */
const UNUSUAL_NUMBER = /^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0[ox].*|[-+]?\.(?:inf|nan))$/i;
/** Those that JavaScript writes as they are written. */
const INTEGER = /^(?:0|[1-9][0-9]{0,14})$/;
/** A plain text of these characters before a comment gets a warning: `v=DMARC1; p=none # strict`. */
const CUT_BY_COMMENT = /[;=]/;

const NEWLINE = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const HASH = 0x23;
const APOSTROPHE = 0x27;
const COMMA = 0x2c;
const DASH = 0x2d;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

/** ASCII characters in plain keys, and those that a plain scalar may begin with; above ASCII each may begin one. */
const [IN_KEY, STARTS_KEY, STARTS_PLAIN] = [
  charactersOf("A-Za-z0-9_./-"),
  charactersOf("A-Za-z_"),
  charactersOf("A-Za-z0-9_./~$+=^(;\\\\"),
];

/** @param range as in a character class of a regular expression */
function charactersOf(range: string): Uint8Array {
  const pattern = new RegExp(`[${range}]`);
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
}

/** Thrown, and caught in `readCommonYaml`, where the text is not of the common kind. */
const UNUSUAL = new Error("not common YAML");

/**
 * The mapping that `text` holds, and the places of all that is in it.
 * @returns null if the library must read the text
 */
export function readCommonYaml(file: string, text: string, places: Places): JsonObject | null {
  if (UNUSUAL_CHARACTER.test(text)) return null;
  try {
    return new Reader(file, text, places).read();
  } catch (error) {
    if (error === UNUSUAL) return null;
    throw error;
  }
}

class Reader {
  readonly #file: string;
  readonly #text: string;
  readonly #places: Places;
  readonly #maxValues: number;
  #values = 0;
  #depth = 0;
  /** The next character that is read. */
  #at = 0;
  /** Of the line that is read; -1 after the last. */
  #indent: number = 0;
  /** The value that was read last. */
  #start = 0;
  #end = 0;

  constructor(file: string, text: string, places: Places) {
    this.#file = file;
    this.#text = text;
    this.#places = places;
    this.#maxValues = Math.max(MAX_SHORT_FILE_VALUES, text.length / MIN_CHARACTERS_PER_VALUE);
  }

  read(): JsonObject {
    if (this.#text.startsWith("---\n")) this.#at = 4;
    this.#toContent();
    if (this.#indent !== 0) throw UNUSUAL;
    const tree = this.#blockMap(0);
    if (!this.#isAtEnd()) throw UNUSUAL;
    return tree;
  }

  // Lines.

  /** From the beginning of a line to the first character that is neither blank nor in a comment. */
  #toContent(): void {
    const text = this.#text;
    for (;;) {
      const begin = this.#at;
      this.#skipSpaces();
      if (this.#at >= text.length) {
        this.#indent = -1;
        return;
      }
      const code = text.charCodeAt(this.#at);
      if (code !== NEWLINE && code !== HASH) {
        this.#indent = this.#at - begin;
        // The marks of a document's beginning and end.
        if (this.#indent === 0 && (text.startsWith("---", begin) || text.startsWith("...", begin))) throw UNUSUAL;
        return;
      }
      this.#skipLine();
    }
  }

  #isAtEnd(): boolean {
    return this.#indent === -1;
  }

  #skipSpaces(): void {
    while (this.#text.charCodeAt(this.#at) === SPACE) this.#at += 1;
  }

  /** To the beginning of the next line. */
  #skipLine(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end === -1 ? this.#text.length : end + 1;
  }

  /** After a value, a colon or a dash: whether nothing but a comment follows in the line. Stands at what follows, if anything does. */
  #isRestEmpty(): boolean {
    const begin = this.#at;
    this.#skipSpaces();
    if (this.#at >= this.#text.length) return true;
    const code = this.#text.charCodeAt(this.#at);
    return code === NEWLINE || (code === HASH && this.#at > begin);
  }

  /** After a value in a block collection. */
  #endLine(): void {
    if (!this.#isRestEmpty()) throw UNUSUAL;
    this.#skipLine();
    this.#toContent();
  }

  // Block collections. Each begins at its first key or dash, and ends with its last value.

  #blockMap(indent: number): JsonObject {
    const start = this.#at;
    const map = newMapping();
    const places = this.#open(map, start);
    do {
      const keyStart = this.#at;
      const key = this.#key();
      const keyEnd = this.#at;
      if (key in map) throw UNUSUAL;
      this.#at += 1;
      map[key] = this.#blockMapValue(indent);
      places.putKey(map, key, [keyStart, keyEnd], [this.#start, this.#end], null);
    } while (this.#indent === indent && !this.#isDash());
    if (this.#indent > indent) throw UNUSUAL;
    this.#close(map, start, this.#end);
    return map as JsonObject;
  }

  #blockMapValue(indent: number): Json {
    if (!this.#isRestEmpty()) {
      // In a block collection a space stands before each value.
      if (this.#text.charCodeAt(this.#at - 1) !== SPACE) throw UNUSUAL;
      return this.#lineValue();
    }
    this.#skipLine();
    this.#toContent();
    if (this.#isDash() && this.#indent >= indent) return this.#blockList(this.#indent);
    if (this.#indent <= indent) throw UNUSUAL;
    return this.#blockMap(this.#indent);
  }

  #blockList(indent: number): Json[] {
    const start = this.#at;
    const list: Json[] = [];
    const places = this.#open(list, start);
    do {
      const dash = this.#at;
      this.#at += 1;
      const item = this.#blockItem(indent, dash);
      places.putKey(list, list.length, [this.#start, this.#end], [this.#start, this.#end], null);
      list.push(item);
      this.#count();
    } while (this.#indent === indent && this.#isDash());
    if (this.#indent > indent) throw UNUSUAL;
    this.#close(list, start, this.#end);
    return list;
  }

  #blockItem(indent: number, dash: number): Json {
    if (this.#isRestEmpty()) {
      this.#skipLine();
      this.#toContent();
      if (this.#indent <= indent) throw UNUSUAL;
      return this.#blockMap(this.#indent);
    }
    if (this.#startsKey()) return this.#blockMap(indent + this.#at - dash);
    return this.#lineValue();
  }

  #isDash(): boolean {
    if (this.#text.charCodeAt(this.#at) !== DASH) return false;
    const next = this.#text.charCodeAt(this.#at + 1);
    return next === SPACE || next === NEWLINE;
  }

  /** Whether a key with its colon stands here. */
  #startsKey(): boolean {
    const { length } = this.#text;
    const begin = this.#at;
    const code = this.#text.charCodeAt(begin);
    if (code === OPEN_MAP || code === OPEN_LIST) return false;
    const end = code === QUOTE || code === APOSTROPHE ? this.#closingQuote(code) + 1 : this.#plainKeyEnd();
    if (end === begin || end >= length) return false;
    return this.#text.charCodeAt(end) === COLON && isBlank(this.#text.charCodeAt(end + 1));
  }

  // Values within a line.

  /** A value of a block collection, and the rest of its line. */
  #lineValue(): Json {
    const begin = this.#at;
    const value = this.#isCollection() ? this.#flow() : this.#scalar(false);
    const end = this.#at;
    this.#endLine();
    this.#start = begin;
    this.#end = end;
    return value;
  }

  #isCollection(): boolean {
    const code = this.#text.charCodeAt(this.#at);
    return code === OPEN_MAP || code === OPEN_LIST;
  }

  #flow(): Json {
    return this.#text.charCodeAt(this.#at) === OPEN_MAP ? this.#flowMap() : this.#flowList();
  }

  #flowMap(): Json {
    const start = this.#at;
    const map = newMapping();
    const places = this.#open(map, start);
    this.#count();
    this.#at += 1;
    this.#skipSpaces();
    while (this.#text.charCodeAt(this.#at) !== CLOSE_MAP) {
      const keyStart = this.#at;
      const key = this.#key();
      const keyEnd = this.#at;
      if (key in map) throw UNUSUAL;
      this.#at += 1;
      this.#skipSpaces();
      map[key] = this.#flowValue();
      places.putKey(map, key, [keyStart, keyEnd], [this.#start, this.#end], null);
      this.#nextInFlow(CLOSE_MAP);
    }
    this.#at += 1;
    this.#close(map, start, this.#at);
    return map;
  }

  #flowList(): Json {
    const start = this.#at;
    const list: Json[] = [];
    const places = this.#open(list, start);
    this.#count();
    this.#at += 1;
    this.#skipSpaces();
    while (this.#text.charCodeAt(this.#at) !== CLOSE_LIST) {
      const item = this.#flowValue();
      places.putKey(list, list.length, [this.#start, this.#end], [this.#start, this.#end], null);
      list.push(item);
      this.#nextInFlow(CLOSE_LIST);
    }
    this.#at += 1;
    this.#close(list, start, this.#at);
    return list;
  }

  #flowValue(): Json {
    if (this.#isCollection()) return this.#flow();
    const start = this.#at;
    const value = this.#scalar(true);
    this.#start = start;
    this.#end = this.#at;
    return value;
  }

  /** To the next key or item, or to the bracket that closes. */
  #nextInFlow(close: number): void {
    this.#skipSpaces();
    const code = this.#text.charCodeAt(this.#at);
    if (code === close) return;
    if (code !== COMMA) throw UNUSUAL;
    this.#at += 1;
    this.#skipSpaces();
  }

  // Keys and scalars. Each begins and ends in one line.

  /** Up to its colon, which a space or the end of the line follows. */
  #key(): string {
    const begin = this.#at;
    if (!this.#startsKey()) throw UNUSUAL;
    this.#count();
    const code = this.#text.charCodeAt(begin);
    const isQuoted = code === QUOTE || code === APOSTROPHE;
    if (!isQuoted) this.#at = this.#plainKeyEnd();
    const key = isQuoted ? this.#quoted(code) : this.#text.slice(begin, this.#at);
    if (key.length > MAX_KEY_CHARACTERS) throw UNUSUAL;
    return key;
  }

  /** @returns the position itself if no plain key begins there */
  #plainKeyEnd(): number {
    const text = this.#text;
    let end = this.#at;
    if (STARTS_KEY[text.charCodeAt(end)] !== 1) return end;
    do end += 1;
    while (IN_KEY[text.charCodeAt(end)] === 1);
    return end;
  }

  #scalar(inFlow: boolean): Json {
    this.#count();
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE || code === APOSTROPHE) return this.#quoted(code);
    if (code < 128 && STARTS_PLAIN[code] !== 1) throw UNUSUAL;
    return this.#resolved(this.#plain(inFlow));
  }

  #quoted(quote: number): string {
    const begin = this.#at + 1;
    const end = this.#closingQuote(quote);
    this.#at = end + 1;
    return this.#text.slice(begin, end);
  }

  /** Escapes, a doubled apostrophe, and a text of several lines are not common. */
  #closingQuote(quote: number): number {
    const text = this.#text;
    let end = this.#at + 1;
    for (let code = text.charCodeAt(end); code !== quote; code = text.charCodeAt(end)) {
      if (end >= text.length || code === NEWLINE || code === BACKSLASH) throw UNUSUAL;
      end += 1;
    }
    if (quote === APOSTROPHE && text.charCodeAt(end + 1) === APOSTROPHE) throw UNUSUAL;
    return end;
  }

  #plain(inFlow: boolean): string {
    const text = this.#text;
    const begin = this.#at;
    let end = begin;
    let next = begin;
    for (; next < text.length; next += 1) {
      const code = text.charCodeAt(next);
      if (code === NEWLINE) break;
      if (code === SPACE) continue;
      if (code === HASH && text.charCodeAt(next - 1) === SPACE) {
        if (inFlow || CUT_BY_COMMENT.test(text.slice(begin, end))) throw UNUSUAL;
        break;
      }
      if (inFlow && isFlowIndicator(code)) break;
      if (code === COLON && endsKey(text.charCodeAt(next + 1), inFlow)) throw UNUSUAL;
      end = next + 1;
    }
    this.#at = end;
    return text.slice(begin, end);
  }

  /** By the core schema of YAML 1.2. */
  #resolved(text: string): Json {
    const first = text.charCodeAt(0);
    // Signs, digits and dots.
    if (first < 0x3a) {
      if (INTEGER.test(text)) return Number(text);
      if (UNUSUAL_NUMBER.test(text)) throw UNUSUAL;
      return text;
    }
    if (text.length > 5) return text;
    if (text === "true" || text === "false") return text === "true";
    if (text === "null" || text === "~") return null;
    if (/^(?:true|false|null)$/i.test(text)) throw UNUSUAL;
    return text;
  }

  // Collections and their limits.

  #open(collection: object, start: number): Places {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw UNUSUAL;
    this.#places.put(collection, this.#file, [start, start]);
    return this.#places;
  }

  #close(collection: object, start: number, end: number): void {
    this.#depth -= 1;
    this.#places.close(collection, end);
    this.#start = start;
    this.#end = end;
  }

  #count(): void {
    this.#values += 1;
    if (this.#values > this.#maxValues) throw UNUSUAL;
  }
}

/** Past the end there is nothing, which is NaN. */
function isBlank(code: number): boolean {
  return code === SPACE || code === NEWLINE || Number.isNaN(code);
}

function isFlowIndicator(code: number): boolean {
  return code === COMMA || code === OPEN_LIST || code === CLOSE_LIST || code === OPEN_MAP || code === CLOSE_MAP;
}

/** Whether a colon before `next` ends a key. */
function endsKey(next: number, inFlow: boolean): boolean {
  return isBlank(next) || (inFlow && isFlowIndicator(next));
}
