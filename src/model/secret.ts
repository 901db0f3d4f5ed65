/** A token in text: found and taken out, however it is spelt there. */

/** A shorter token is no secret: it may occur in a text by chance, and to take it out would spoil the words of messages. */
const MIN_SECRET_CHARACTERS = 6;

/** Making one costs more than a search: whoever looks through many texts keeps it. */
export class Secret {
  /** The longest first; none of a token that is too short. */
  readonly #spellings: readonly string[];

  /** @param token blanks around it do not count */
  constructor(token: string) {
    this.#spellings = spellingsOf(token.trim());
  }

  /** Linear in the length of the text. */
  isIn(text: string): boolean {
    return this.#spellings.some((spelling) => text.includes(spelling));
  }

  /** The text with other words in the token's place. */
  hide(text: string): string {
    return this.#spellings.reduce((hidden, spelling) => hidden.replaceAll(spelling, "[redacted]"), text);
  }

  /**
   * The same data with other words in the token's place, in every text and key of it; what holds none is returned as it is. To be used before
   * data are rendered: a text that is cut to length may end within the token.
   */
  hideIn<Data>(data: Data): Data {
    return this.#hidden(data) as Data;
  }

  #hidden(value: unknown): unknown {
    if (typeof value === "string") return this.isIn(value) ? this.hide(value) : value;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const entries = value.map((entry) => this.#hidden(entry));
      return entries.some((entry, index) => entry !== value[index]) ? entries : value;
    }
    let isSame = true;
    const fields = Object.entries(value).map(([key, field]) => {
      const pair = [this.hide(key), this.#hidden(field)] as const;
      if (pair[0] !== key || pair[1] !== field) isSame = false;
      return pair;
    });
    return isSame ? value : Object.fromEntries(fields);
  }
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
