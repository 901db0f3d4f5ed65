/**
 * DNS messages as they are on the wire (RFC 1035, 4): hostile octets → plain data, every length and pointer checked.
 *
 * `dns-packet` writes our questions, but does not read the answers: to it a label `a.b` and the labels `a` and `b` are the same name, octets
 * that are no UTF-8 become U+FFFD, the length of a record's data is not held against what is in it, and data that runs past the
 * message's end is cut off without a word.
 */

import { canonicalIpv6 } from "./ip.ts";
import { type Rdata, RECORD_TYPES, type RecordType, readRdata, rulesOf, type TargetFormat } from "./record.ts";

export interface DnsMessage {
  readonly id: number;
  readonly isResponse: boolean;
  readonly opcode: number;
  readonly rcode: number;
  /** AA: the server holds the zone that the first name of the answer is in (RFC 1035, 4.1.1). */
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly questions: readonly DnsQuestion[];
  readonly answers: readonly ResourceRecord[];
  /** For a referral: the zone, and the names of its servers. */
  readonly authorities: readonly ResourceRecord[];
  /** Addresses of those servers, and what is about the message itself (OPT). */
  readonly additionals: readonly ResourceRecord[];
}

/**
 * Every name in what is read here is absolute, in lower case and without its final dot; the root is `""`. What could be taken for
 * something else is escaped (RFC 1035, 5.1): a dot within a label is `\.`, an octet outside of printable ASCII `\DDD`.
 */
interface DnsQuestion {
  readonly name: string;
  readonly type: number;
  readonly class: number;
}

export interface ResourceRecord {
  readonly name: string;
  /** In seconds; with its highest bit set it counts as 0 (RFC 2181, 8). */
  readonly ttl: number;
  readonly class: number;
  readonly data: RecordData;
}

export interface SoaData {
  readonly type: "SOA";
  readonly mname: string;
  /** The mailbox as a name, in the letter case it has. */
  readonly rname: string;
  readonly serial: number;
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  readonly minimum: number;
}

export type RecordData =
  | Rdata
  | SoaData
  /** A type that is not read: `code` is its number, `mnemonic` its name, or `TYPE` and the number (RFC 3597). */
  | { readonly type: "other"; readonly code: number; readonly mnemonic: string };

export type MessageReading =
  | { readonly ok: true; readonly message: DnsMessage }
  /** One clause without a full stop. */
  | { readonly ok: false; readonly detail: string };

const MNEMONICS: ReadonlyMap<number, string> = new Map([
  [13, "HINFO"],
  [17, "RP"],
  [29, "LOC"],
  [35, "NAPTR"],
  [37, "CERT"],
  [39, "DNAME"],
  [43, "DS"],
  [44, "SSHFP"],
  [45, "IPSECKEY"],
  [46, "RRSIG"],
  [47, "NSEC"],
  [48, "DNSKEY"],
  [50, "NSEC3"],
  [51, "NSEC3PARAM"],
  [52, "TLSA"],
  [53, "SMIMEA"],
  [59, "CDS"],
  [60, "CDNSKEY"],
  [61, "OPENPGPKEY"],
  [62, "CSYNC"],
  [63, "ZONEMD"],
  [64, "SVCB"],
  [65, "HTTPS"],
  [99, "SPF"],
  [256, "URI"],
]);

export const INTERNET_CLASS = 1;
const SOA_CODE = 6;
const OPT_CODE = 41;

/** The types that are read, and their numbers. */
export const TYPE_CODES: Readonly<Record<RecordType | "SOA", number>> = {
  ...Object.fromEntries(RECORD_TYPES.map((type) => [type, rulesOf(type).code])),
  SOA: SOA_CODE,
} as Record<RecordType | "SOA", number>;

const TYPES_BY_CODE: ReadonlyMap<number, RecordType> = new Map(RECORD_TYPES.map((type) => [rulesOf(type).code, type]));

const RESPONSE_CODES: readonly string[] = [
  "NOERROR",
  "FORMERR",
  "SERVFAIL",
  "NXDOMAIN",
  "NOTIMP",
  "REFUSED",
  "YXDOMAIN",
  "YXRRSET",
  "NXRRSET",
  "NOTAUTH",
  "NOTZONE",
];

/** `NXDOMAIN`, or `code 15` for one without a name here. */
export function responseCode(rcode: number): string {
  return RESPONSE_CODES[rcode] ?? `code ${rcode}`;
}

export function readMessage(octets: Buffer): MessageReading {
  try {
    return { ok: true, message: messageOf(new OctetReader(octets)) };
  } catch (error) {
    if (error instanceof Malformed) return { ok: false, detail: error.message };
    throw error;
  }
}

function messageOf(reader: OctetReader): DnsMessage {
  if (reader.end < HEADER_OCTETS) throw new Malformed("a message is shorter than its header");
  const id = reader.uint16();
  const flags = reader.uint16();
  const [questionCount, answerCount] = [reader.uint16(), reader.uint16()];
  const [authorityCount, additionalCount] = [reader.uint16(), reader.uint16()];
  const questions = readMany(questionCount, () => readQuestion(reader));
  const answers = readMany(answerCount, () => readRecord(reader));
  const authorities = readMany(authorityCount, () => readRecord(reader));
  const additionals = readMany(additionalCount, () => readRecord(reader));
  if (reader.offset !== reader.end) throw new Malformed("a message goes on after its last record");
  return {
    id,
    isResponse: (flags & 0x8000) !== 0,
    opcode: (flags >> 11) & 0xf,
    rcode: (flags & 0xf) | extendedCode(additionals),
    isAuthoritative: (flags & 0x0400) !== 0,
    isTruncated: (flags & 0x0200) !== 0,
    questions,
    answers,
    authorities,
    additionals,
  };
}

/** RFC 6891, 6.1.3: the upper eight bits of a code of twelve, in the place of the TTL. */
function extendedCode(additionals: readonly ResourceRecord[]): number {
  const options = additionals.find(({ data }) => data.type === "other" && data.code === OPT_CODE);
  return options === undefined ? 0 : (options.ttl >>> 24) << 4;
}

/** Reads `count` items. The count may be a lie, so no memory is reserved for it. */
function readMany<Item>(count: number, read: () => Item): Item[] {
  const items: Item[] = [];
  for (let index = 0; index < count; index += 1) items.push(read());
  return items;
}

function readQuestion(reader: OctetReader): DnsQuestion {
  return { name: reader.name().toLowerCase(), type: reader.uint16(), class: reader.uint16() };
}

function readRecord(reader: OctetReader): ResourceRecord {
  const name = reader.name().toLowerCase();
  const type = reader.uint16();
  const recordClass = reader.uint16();
  const seconds = reader.uint32();
  const length = reader.uint16();
  if (reader.offset + length > reader.end) throw new Malformed("a record is longer than its message");
  const after = reader.offset + length;
  const data = readRecordData(reader, type, after);
  if (reader.offset !== after) throw new Malformed(`the length of a record of type ${type} is wrong`);
  const isTime = type !== OPT_CODE;
  return { name, ttl: isTime && seconds > 0x7fffffff ? 0 : seconds, class: recordClass, data };
}

/** @param after the offset at which the data ends */
function readRecordData(reader: OctetReader, code: number, after: number): RecordData {
  if (code === SOA_CODE) return readSoa(reader);
  const type = TYPES_BY_CODE.get(code);
  if (type !== undefined)
    return readRdata(type, {
      uint8: () => reader.uint8(),
      uint16: () => reader.uint16(),
      tag: () => readTag(reader, type, after),
      target: (format) => readTarget(reader, type, format, after),
    });
  reader.take(after - reader.offset);
  return { type: "other", code, mnemonic: MNEMONICS.get(code) ?? `TYPE${code}` };
}

function readTag(reader: OctetReader, type: RecordType, after: number): string {
  const tag = reader.take(reader.uint8()).toString("latin1");
  if (!/^[a-z0-9]+$/i.test(tag)) throw new Malformed(`a ${type} record's tag is not letters and digits`);
  if (reader.offset > after) throw new Malformed(`a ${type} record's tag is longer than the record`);
  return tag.toLowerCase();
}

function readTarget(reader: OctetReader, type: RecordType, format: TargetFormat, after: number): string {
  switch (format) {
    case "ipv4":
      return reader.take(4).join(".");
    case "ipv6":
      return reader.ipv6();
    case "name":
      return reader.name().toLowerCase();
    case "strings":
      return readStrings(reader, type, after);
    case "octets":
      // A field before it may have run past the end.
      if (reader.offset > after) throw new Malformed(`the length of a record of type ${type} is wrong`);
      return reader.take(after - reader.offset).toString("latin1");
  }
}

/** Where a text is cut into strings says nothing (RFC 7208, 3.3; RFC 6376, 3.6.2.2). */
function readStrings(reader: OctetReader, type: RecordType, after: number): string {
  if (reader.offset >= after) throw new Malformed(`a ${type} record holds no text`);
  const strings: Buffer[] = [];
  while (reader.offset < after) strings.push(reader.take(reader.uint8()));
  return Buffer.concat(strings).toString("latin1");
}

function readSoa(reader: OctetReader): SoaData {
  return {
    type: "SOA",
    mname: reader.name().toLowerCase(),
    rname: reader.name(),
    serial: reader.uint32(),
    refresh: reader.uint32(),
    retry: reader.uint32(),
    expire: reader.uint32(),
    minimum: reader.uint32(),
  };
}

// The octets of a DNS message, read one after the other: numbers, names (RFC 1035, 4.1.4), and never past the end.

/** RFC 1035, 4.1.1. No name begins before its end. */
const HEADER_OCTETS = 12;

/** RFC 1035, 2.3.4: with the octets of lengths and the root. */
const MAX_NAME_OCTETS = 255;

/** A name has at most so many labels. More pointers compress nothing, and only make the reader work. */
const MAX_POINTERS_PER_NAME = 127;

/** Thrown from wherever a message is found to be wrong, and caught by `readMessage`, which makes a value of it. */
export class Malformed extends Error {}

interface ReadName {
  readonly text: string;
  /** As a whole, its last, empty label included. */
  readonly octetCount: number;
  readonly pointers: number;
}

const TOO_LONG_NAME = `a name is longer than ${MAX_NAME_OCTETS} octets`;

/** Throws `Malformed` for what is not there. */
export class OctetReader {
  readonly end: number;
  offset = 0;
  readonly #octets: Buffer;
  /** Names that pointers have led to, by their offsets. */
  readonly #names: Map<number, ReadName> = new Map();

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

  ipv6(): string {
    const groups = Array.from({ length: 8 }, () => this.uint16().toString(16));
    // Eight groups of hexadecimal digits always are an address.
    return canonicalIpv6(groups.join(":")) ?? "::";
  }

  take(length: number): Buffer {
    const start = this.#advance(length);
    return this.#octets.subarray(start, start + length);
  }

  /**
   * A name, escaped, in the letter case it has. A pointer must lead to before the name's (or the last pointer's) own beginning, as
   * RFC 1035, 4.1.4 has it, so that no name can loop. A name that many pointers lead to is read once.
   */
  name(): string {
    return this.#nameFrom(0).text;
  }

  /** @param pointers how many have led here */
  #nameFrom(pointers: number): ReadName {
    if (pointers > MAX_POINTERS_PER_NAME) throw new Malformed("a name has too many pointers");
    const start = this.offset;
    const labels: string[] = [];
    let octetCount = 0;
    for (;;) {
      const length = this.uint8();
      if (length === 0) return { text: labels.join("."), octetCount: octetCount + 1, pointers: 0 };
      if (length >= 0xc0) {
        const target = ((length & 0x3f) << 8) | this.uint8();
        if (target >= start || target < HEADER_OCTETS) throw new Malformed("a name points forward or at itself");
        const rest = this.#nameAt(target, pointers + 1);
        const whole = { octetCount: octetCount + rest.octetCount, pointers: rest.pointers + 1 };
        if (pointers + whole.pointers > MAX_POINTERS_PER_NAME) throw new Malformed("a name has too many pointers");
        if (whole.octetCount > MAX_NAME_OCTETS) throw new Malformed(TOO_LONG_NAME);
        if (rest.text !== "") labels.push(rest.text);
        return { text: labels.join("."), ...whole };
      }
      if (length > 0x3f) throw new Malformed("a label is of an unknown kind");
      octetCount += length + 1;
      if (octetCount >= MAX_NAME_OCTETS) throw new Malformed(TOO_LONG_NAME);
      labels.push(escapeLabel(this.take(length)));
    }
  }

  #nameAt(target: number, pointers: number): ReadName {
    const known = this.#names.get(target);
    if (known !== undefined) return known;
    const resume = this.offset;
    this.offset = target;
    const name = this.#nameFrom(pointers);
    this.offset = resume;
    this.#names.set(target, name);
    return name;
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
