/** The octets of a DNS message, read one after the other: numbers, names (RFC 1035, 4.1.4), and never past the end. */

/** RFC 1035, 4.1.1. No name begins before its end. */
export const HEADER_OCTETS = 12;

/** RFC 1035, 2.3.4: with the octets of lengths and the root. */
const MAX_NAME_OCTETS = 255;

/** More than a name has labels is no compression any more, but a way to make readers work. */
const MAX_POINTERS_PER_NAME = 127;

/** What is wrong with a message, from wherever it is found to `readMessage`, which makes a value of it. */
export class Malformed extends Error {}

/** Throws `Malformed` for what is not there. */
export class OctetReader {
  readonly end: number;
  offset = 0;
  readonly #octets: Buffer;

  constructor(octets: Buffer) {
    this.#octets = octets;
    this.end = octets.length;
  }

  uint8(): number {
    return this.#octets.readUInt8(this.#advance(1));
  }

  uint16(): number {
    return this.#octets.readUInt16BE(this.#advance(2));
  }

  uint32(): number {
    return this.#octets.readUInt32BE(this.#advance(4));
  }

  take(length: number): Buffer {
    const start = this.#advance(length);
    return this.#octets.subarray(start, start + length);
  }

  /**
   * A name, escaped, in the letter case it has. A pointer must lead to before the name's (or the last pointer's) own beginning, as
   * RFC 1035, 4.1.4 has it, so that no name can loop.
   */
  name(): string {
    const labels: string[] = [];
    let octetCount = 1;
    let pointers = 0;
    let segmentStart = this.offset;
    let resume: number | null = null;
    for (;;) {
      const length = this.uint8();
      if (length === 0) break;
      if (length >= 0xc0) {
        const target = ((length & 0x3f) << 8) | this.uint8();
        resume ??= this.offset;
        pointers += 1;
        if (target >= segmentStart || target < HEADER_OCTETS) throw new Malformed("a name points forward or at itself");
        if (pointers > MAX_POINTERS_PER_NAME) throw new Malformed("a name has too many pointers");
        segmentStart = target;
        this.offset = target;
      } else {
        if (length > 0x3f) throw new Malformed("a label is of an unknown kind");
        octetCount += length + 1;
        if (octetCount > MAX_NAME_OCTETS) throw new Malformed(`a name is longer than ${MAX_NAME_OCTETS} octets`);
        labels.push(escapeLabel(this.take(length)));
      }
    }
    this.offset = resume ?? this.offset;
    return labels.join(".");
  }

  #advance(length: number): number {
    const start = this.offset;
    if (start + length > this.end) throw new Malformed("a message ends within a record");
    this.offset = start + length;
    return start;
  }
}

function escapeLabel(octets: Buffer): string {
  const text = octets.toString("latin1");
  if (/^[a-z0-9_*/+-]*$/i.test(text)) return text;
  let escaped = "";
  for (const octet of octets) {
    const character = String.fromCharCode(octet);
    if (octet <= 0x20 || octet >= 0x7f) escaped += `\\${String(octet).padStart(3, "0")}`;
    else escaped += /[.\\"();@$]/.test(character) ? `\\${character}` : character;
  }
  return escaped;
}
