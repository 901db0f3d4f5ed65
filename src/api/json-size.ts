/** How deep and how full the JSON of an answer is, counted while its bytes come: a parser would need gigabytes to find out. */

/** Collections inside collections; the service's objects have about seven. What reads an answer walks it by recursion. */
export const MAX_ANSWER_DEPTH = 64;
/** Values of one answer. A page of 500 networks with 100 interfaces each has about 300,000. */
export const MAX_ANSWER_VALUES = 2_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** What may stand before JSON. */
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

/** Counts brackets and commas outside of strings. Of what is no JSON, such as a page of HTML, it counts nothing. */
export class JsonSize {
  #isJson: boolean | null = null;
  #depth = 0;
  #values = 0;
  #inString = false;
  #isEscaped = false;

  /** @returns in which way the answer is more than Tenon reads; null: it is not, so far */
  take(chunk: Uint8Array): "deep" | "full" | null {
    for (const byte of chunk) {
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#inString = false;
        continue;
      }
      if (this.#isJson === null && !BLANKS.includes(byte)) this.#isJson = isOpening(byte);
      if (this.#isJson === false) return null;
      if (byte === QUOTE) this.#inString = true;
      else if (byte === COMMA) this.#values += 1;
      else if (isOpening(byte)) {
        this.#depth += 1;
        this.#values += 1;
      } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) this.#depth -= 1;
      if (this.#depth > MAX_ANSWER_DEPTH) return "deep";
      if (this.#values > MAX_ANSWER_VALUES) return "full";
    }
    return null;
  }
}

function isOpening(byte: number): boolean {
  return byte === OPENING_BRACKET || byte === OPENING_BRACE;
}
