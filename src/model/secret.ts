/** A token in text: found and taken out, however it is spelt there. */

/** A shorter token is no secret: it may occur in a text by chance, and to take it out would spoil the words of messages. */
const MIN_SECRET_CHARACTERS = 6;
/** Less of a token is no use to anybody, and may be chance. */
const PIECE_CHARACTERS = 12;
/** Between two pieces of a token that was broken over lines: a line's end, blanks and the borders of a table. */
const LAYOUT = /[\s│|]/;
const MAX_LAYOUT_CHARACTERS = 200;
/** A search for one spelling after another is faster in a text of more. */
const LONG_CHARACTERS = 10_000;

const REDACTED = "[redacted]";

/** Making one costs more than a search: whoever looks through many texts keeps it. */
export class Secret {
  /** The longest first; none of a token that is too short. */
  readonly #spellings: readonly string[];
  /** In lower case, as names are written; "": too short to be cut. */
  readonly #whole: string;
  /** Matches every text that `hide` changes, and few others. */
  readonly #trace: RegExp;
  readonly #leastCharacters: number;

  /** @param token blanks around it do not count */
  constructor(token: string) {
    const plain = token.trim();
    this.#spellings = spellingsOf(plain);
    this.#whole = plain.length > PIECE_CHARACTERS ? lowerCase(plain) : "";
    const traces = [...this.#spellings, ...(this.#whole === "" ? [] : piecesOf(this.#whole))];
    this.#trace = new RegExp(traces.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"), "i");
    this.#leastCharacters = traces.reduce((least, { length }) => Math.min(least, length), Number.POSITIVE_INFINITY);
  }

  /**
   * Linear in the length of the text.
   * @param text may be UTF-16 or UTF-32 that was read as UTF-8: ASCII with NUL between its characters
   */
  isIn(text: string): boolean {
    const plain = text.replaceAll("\0", "");
    return this.#spellings.some((spelling) => plain.includes(spelling));
  }

  /** The text with other words in the token's place, also of a token that is cut, broken over lines, or in lower case. */
  hide(text: string): string {
    // Most texts are short and many: for them one search is faster than one for each spelling.
    if (text.length < this.#leastCharacters || (text.length < LONG_CHARACTERS && !this.#trace.test(text))) return text;
    const hidden = this.#spellings.reduce((left, spelling) => left.replaceAll(spelling, REDACTED), text);
    return this.#whole === "" ? hidden : this.#withoutPieces(hidden);
  }

  /** Linear in the length of the text. */
  #withoutPieces(text: string): string {
    const lower = lowerCase(text);
    const [begin, end] = piecesOf(this.#whole);
    let [hidden, done] = ["", 0];
    let [first, last] = [lower.indexOf(begin), lower.indexOf(end)];
    for (;;) {
      // Looked for anew only behind what was found, so that each text is searched once.
      if (first >= 0 && first < done) first = lower.indexOf(begin, done);
      if (last >= 0 && last < done) last = lower.indexOf(end, done);
      if (first < 0 && last < 0) return done === 0 ? text : hidden + text.slice(done);
      const isBegin = first >= 0 && (last < 0 || first <= last);
      const from = isBegin ? first : this.#reach(lower, last + end.length - 1, -1, done);
      const to = isBegin ? this.#reach(lower, first, 1, lower.length - 1) + 1 : last + end.length;
      hidden += `${text.slice(done, from)}${REDACTED}`;
      done = to;
    }
  }

  /** How far the token goes on from an end of it, through the layout of a text. @returns the index of its last character there */
  #reach(text: string, start: number, step: 1 | -1, limit: number): number {
    let [index, reached, layout] = [start, start, 0];
    let at = step === 1 ? 0 : this.#whole.length - 1;
    while (at >= 0 && at < this.#whole.length && (limit - index) * step >= 0) {
      const character = text[index] as string;
      if (character === this.#whole[at]) {
        [reached, layout] = [index, 0];
        at += step;
      } else if (LAYOUT.test(character) && layout < MAX_LAYOUT_CHARACTERS) layout += 1;
      else break;
      index += step;
    }
    return reached;
  }

  /**
   * The same data with other words in the token's place, in every text and key of it; what holds none is returned as it is. To be used before
   * data are rendered: a text that is cut to length may end within the token.
   */
  hideIn<Data>(data: Data): Data {
    return this.#hidden(data) as Data;
  }

  #hidden(value: unknown): unknown {
    if (typeof value === "string") return this.hide(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      let entries: unknown[] | null = null;
      for (const [index, entry] of value.entries()) {
        const hidden = this.#hidden(entry);
        if (hidden === entry) continue;
        entries ??= [...value];
        entries[index] = hidden;
      }
      return entries ?? value;
    }
    let isSame = true;
    const fields = value as Readonly<Record<string, unknown>>;
    const hidden = new Map<string, unknown>();
    for (const key of Object.keys(fields)) {
      if (this.hide(key) !== key) isSame = false;
      const field = this.#hidden(fields[key]);
      if (field === fields[key]) continue;
      hidden.set(key, field);
      isSame = false;
    }
    if (isSame) return value;
    const all = Object.entries(fields);
    return Object.fromEntries(all.map(([key, field]) => [this.hide(key), hidden.has(key) ? hidden.get(key) : field]));
  }
}

/** The two ends of a token, either of which may be all that is left of it. */
function piecesOf(token: string): readonly [string, string] {
  return [token.slice(0, PIECE_CHARACTERS), token.slice(-PIECE_CHARACTERS)];
}

/** Of ASCII, so that every character keeps its place. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** As texts, URLs, JSON, hexadecimal and basic credentials write it. */
function spellingsOf(token: string): readonly string[] {
  if (token.length < MIN_SECRET_CHARACTERS) return [];
  const json = JSON.stringify(token).slice(1, -1);
  const url = encodeURIComponent(token);
  const hex = Buffer.from(token).toString("hex");
  const base64 = [0, 1, 2].flatMap((offset) => base64Within(token, offset));
  const all = [
    ...[token, json, json.replaceAll("/", "\\/")],
    ...[url, url.replace(/%../g, (octet) => octet.toLowerCase())],
    ...[hex, hex.toUpperCase()],
    ...base64.flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]),
  ];
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

/** Base64 writes three octets as four characters: what it makes of a token depends on how many octets stand before it. */
function base64Within(token: string, offset: number): string[] {
  const octets = Buffer.concat([Buffer.alloc(offset), Buffer.from(token)]);
  // Characters at the ends also hold bits of the octets beside the token.
  const [start, end] = [Math.ceil((offset * 4) / 3), Math.floor((octets.length * 4) / 3)];
  const text = octets.toString("base64").slice(start, end);
  return text.length < MIN_SECRET_CHARACTERS ? [] : [text];
}
