/** One HTTP exchange as plain values: what is sent, and what came of it. */

import type { FileContent, Method } from "../model/api.ts";

export interface HttpCall {
  readonly method: Method;
  readonly origin: string;
  /** Encoded path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: HttpContent;
}

type HttpContent =
  | { readonly type: "none" }
  | { readonly type: "text"; readonly text: string }
  /** Streamed from the file; the caller states its Content-Length. */
  | {
      readonly type: "file";
      readonly file: string;
      readonly content?: FileContent;
      progress?(sentBytes: number): void;
    }
  /** A form with one file, streamed: `head` and `tail` stand around it. */
  | {
      readonly type: "form";
      readonly file: string;
      readonly content: FileContent;
      readonly head: string;
      readonly tail: string;
    };

export type HttpOutcome =
  | {
      readonly type: "answer";
      readonly status: number;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      readonly text: string;
    }
  | {
      readonly type: "lost";
      /** false: not one byte of the request left this machine. */
      readonly sent: boolean;
      /** The status, if its answer broke off after its head. */
      readonly status: number | null;
      /** Node's, OpenSSL's or undici's code, such as ECONNREFUSED. */
      readonly code: string;
      readonly detail: string;
    };

export interface Transport {
  /**
   * Never rejects; redirects are answers like any other.
   * @param mayStart asked when the connection stands, right before the first byte is sent; false ends the exchange with ADMISSION_OVER
   */
  exchange(call: HttpCall, signal: AbortSignal | undefined, mayStart?: () => boolean): Promise<HttpOutcome>;
  close(): Promise<void>;
}

/** Code of an exchange that the caller's signal ended. */
export const ABORTED = "ABORTED";
/** Code of an exchange whose admission was over before its first byte was sent. */
export const ADMISSION_OVER = "ADMISSION_OVER";
/** The file to be sent has changed: it does not hold what was to be sent. */
export const CHANGED_FILE = "CHANGED_FILE";
/** The same of a file in a form. */
export const CHANGED_FORM_FILE = "CHANGED_FORM_FILE";
/** The file to be sent could not be read; the detail says why. */
export const UNREADABLE_FILE = "UNREADABLE_FILE";
/** The name that a file was to be sent to leads to a network that it must not reach; which one is in the detail. */
export const FORBIDDEN_ADDRESS = "FORBIDDEN_ADDRESS";
/** Code of an exchange that took longer than `Timeouts.total`. */
export const TOTAL_TIMEOUT = "TOTAL_TIMEOUT";
/** Codes of an answer that is nested more deeply, has more values, or more kinds of objects, than Tenon reads. */
export const ANSWER_TOO_DEEP = "ANSWER_TOO_DEEP";
export const ANSWER_TOO_FULL = "ANSWER_TOO_FULL";
export const ANSWER_TOO_MIXED = "ANSWER_TOO_MIXED";
/** Code of an exchange in which nothing but informational answers (1xx) came. */
export const ONLY_INFORMATIONAL_ANSWERS = "ONLY_INFORMATIONAL_ANSWERS";
/** Code of an exchange that this machine's settings make impossible; `detail` says why. */
export const MISCONFIGURED = "MISCONFIGURED";

// How deep and how full the JSON of an answer is, counted while its bytes come: a parser would need gigabytes to find out.

/** Collections inside collections; the service's objects have about seven. What reads an answer walks it by recursion. */
export const MAX_ANSWER_DEPTH = 64;
/** Values of one answer. A page of 500 networks with 100 interfaces each has about 300,000. */
export const MAX_ANSWER_VALUES = 2_000_000;
/**
 * Lists of keys with which objects of one answer begin: `a`, `a b` and `a c` are three. The service's objects have some hundred. For each, V8
 * makes a description, which takes a parser twenty times as long as another object of a known kind.
 */
export const MAX_ANSWER_SHAPES = 10_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** White space that may stand before JSON. */
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

/** Stands for a list, which has no keys, where objects have the hash of their keys. */
const LIST = null;

/** Counts brackets, commas and kinds of objects outside of strings. Of what is no JSON, such as a page of HTML, it counts nothing. */
export class JsonSize {
  readonly #maxValues: number;
  readonly #maxShapes: number | null;
  #isJson: boolean | null = null;
  #values = 0;
  #inString = false;
  #isEscaped = false;
  /** Of each collection that is open: the hash of the keys so far. */
  readonly #open: (number | typeof LIST)[] = [];
  readonly #shapes = new Set<number>();
  /** Whether the next string is a key, or this one. */
  #isKey = false;
  #hash = 0;
  // Chosen by chance, so that nobody can write keys of the same hash.
  readonly #seed: number = randomInteger();
  readonly #factor: number = randomInteger() | 1;

  /** @param maxShapes null: they are not counted */
  constructor(maxValues: number = MAX_ANSWER_VALUES, maxShapes: number | null = MAX_ANSWER_SHAPES) {
    this.#maxValues = maxValues;
    this.#maxShapes = maxShapes;
  }

  /** @returns in which way the answer is more than Tenon reads; null: it is not, so far */
  take(chunk: Uint8Array): "deep" | "full" | "mixed" | null {
    const { length } = chunk;
    for (let index = 0; index < length; index += 1) {
      if (this.#inString) {
        index = this.#endOfString(chunk, index);
        continue;
      }
      const byte = chunk[index] as number;
      if (this.#isJson === null && !BLANKS.includes(byte)) this.#isJson = isOpening(byte);
      if (this.#isJson === false) return null;
      if (byte === QUOTE) this.#beginString();
      else if (byte === COMMA) {
        this.#values += 1;
        this.#isKey = this.#maxShapes !== null && (this.#open.at(-1) ?? LIST) !== LIST;
      } else if (isOpening(byte)) {
        this.#values += 1;
        this.#isKey = this.#maxShapes !== null && byte === OPENING_BRACE;
        this.#open.push(this.#isKey ? this.#seed : LIST);
      } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) {
        this.#open.pop();
        this.#isKey = false;
      }
      if (this.#open.length > MAX_ANSWER_DEPTH) return "deep";
      if (this.#values > this.#maxValues) return "full";
      if (this.#maxShapes !== null && this.#shapes.size > this.#maxShapes) return "mixed";
    }
    return null;
  }

  #beginString(): void {
    this.#inString = true;
    if (this.#isKey) this.#hash = this.#open.at(-1) ?? this.#seed;
  }

  /** @returns where the string ends, or the end of the chunk */
  #endOfString(chunk: Uint8Array, from: number): number {
    let index = from;
    for (; index < chunk.length; index += 1) {
      const byte = chunk[index] as number;
      if (this.#isKey) this.#hash = Math.imul(this.#hash ^ byte, this.#factor);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#inString = false;
        if (this.#isKey) this.#endKey();
        return index;
      }
    }
    return index;
  }

  #endKey(): void {
    this.#isKey = false;
    // Mixed once more: a product's low bits depend on the low bits alone.
    this.#hash = Math.imul(this.#hash ^ (this.#hash >>> 15), this.#factor);
    this.#open[this.#open.length - 1] = this.#hash;
    this.#shapes.add(this.#hash);
  }
}

function randomInteger(): number {
  return Math.trunc(Math.random() * 2 ** 32);
}

function isOpening(byte: number): boolean {
  return byte === OPENING_BRACKET || byte === OPENING_BRACE;
}
