/** The data of a record, field by field, by its type (RFC 1035, 3.3; RFC 2782, 3596, 8659). */

import { canonicalIpv4, canonicalIpv6 } from "../ip.ts";
import { Malformed, OctetReader, TYPE_CODES } from "../message.ts";
import {
  isRecordType,
  type Rdata,
  RECORD_TYPES,
  type RecordType,
  readRdata,
  rulesOf,
  type TargetFormat,
} from "../record.ts";
import {
  type Labels,
  MAX_RDATA_OCTETS,
  MAX_STRING_OCTETS,
  MAX_TTL_SECONDS,
  nameText,
  type Octets,
  octetsOf,
  type Place,
  quoteOctets,
  readName,
  readSeconds,
  shown,
  type Token,
  ZoneSyntaxError,
} from "./lexer.ts";

export interface SoaRdata {
  readonly type: "SOA";
  readonly mname: Labels;
  readonly rname: Labels;
  readonly serial: number;
  /** In seconds, as the following. */
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  readonly minimum: number;
}

/**
 * Throws `ZoneSyntaxError`.
 * @param word the type as the file writes it
 * @param tokens the rest of the entry
 */
export function readRecordData(
  type: RecordType | "SOA",
  word: Token,
  tokens: readonly Token[],
  origin: Labels,
): Rdata | SoaRdata {
  const [first] = tokens;
  const isGeneric = first !== undefined && first.text === "\\#" && !first.quoted;
  const fields = new Fields(isGeneric ? writtenFields(type, word, tokens) : tokens, word, origin);
  const rdata = readFields(type, word, fields);
  fields.end();
  return rdata;
}

function readFields(type: RecordType | "SOA", word: Token, fields: Fields): Rdata | SoaRdata {
  if (type === "SOA")
    return {
      type,
      mname: fields.name("first nameserver"),
      rname: fields.name("mailbox"),
      serial: fields.number("serial number", 0xffff_ffff),
      refresh: fields.seconds("refresh time"),
      retry: fields.seconds("retry time"),
      expire: fields.seconds("expiry time"),
      minimum: fields.seconds("minimum"),
    };
  return readRdata(type, {
    uint8: (field) => fields.number(field, 0xff),
    uint16: (field) => fields.number(field, 0xffff),
    tag: () => readTag(fields),
    target: (format) => readTarget(format, word, fields),
  });
}

function readTarget(format: TargetFormat, word: Token, fields: Fields): string {
  switch (format) {
    case "ipv4":
      return fields.ipv4();
    case "ipv6":
      return fields.ipv6();
    case "name":
      return nameText(fields.name("target"));
    case "strings":
      return readText(word, fields);
    case "octets":
      return fields.longString("value");
  }
}

function readText(word: Token, fields: Fields): Octets {
  const strings = fields.strings("text");
  const text = strings.join("");
  const length = text.length + strings.length;
  if (length <= MAX_RDATA_OCTETS) return text;
  const detail = `Its strings take ${length} octets, and a record has room for ${MAX_RDATA_OCTETS} (RFC 1035, 3.2.1).`;
  throw new ZoneSyntaxError(word, { code: "too-long", summary: "a text that is too long", detail, fix: "Shorten it." });
}

function readTag(fields: Fields): string {
  const token = fields.token("tag");
  if (/^[a-z0-9]{1,255}$/i.test(token.text)) return token.text.toLowerCase();
  const detail = `${shown(token.text)} is not a tag: letters and digits (RFC 8659, 4.1).`;
  const fix = "Write `issue`, `issuewild` or `iodef`.";
  throw new ZoneSyntaxError(token, { code: "bad-tag", summary: "a bad CAA tag", detail, fix });
}

// The fields of a record's data, one after the other, each checked. All methods throw `ZoneSyntaxError`.

class Fields {
  readonly #tokens: readonly Token[];
  readonly #type: string;
  readonly #origin: Labels;
  /** What a missing field follows. */
  readonly #before: Place;
  #next = 0;

  /** @param type as the file writes it */
  constructor(tokens: readonly Token[], type: Token, origin: Labels) {
    this.#tokens = tokens;
    this.#type = type.text.toUpperCase();
    this.#origin = origin;
    this.#before = type;
  }

  /** @param what the field is, for example `priority` */
  name(what: string): Labels {
    const token = this.#take(what);
    if (!token.quoted) return readName(token, this.#origin);
    const detail = `The ${what} of a record of type ${this.#type} is a name, and names are not quoted.`;
    throw new ZoneSyntaxError(token, {
      code: "bad-name",
      summary: "a name in quotes",
      detail,
      fix: "Remove the quotes.",
    });
  }

  ipv4(): string {
    const token = this.#take("address");
    return canonicalIpv4(token.text) ?? badAddress(token, "IPv4", "192.0.2.10");
  }

  ipv6(): string {
    const token = this.#take("address");
    return canonicalIpv6(token.text) ?? badAddress(token, "IPv6", "2001:db8::10");
  }

  number(what: string, max: number): number {
    const token = this.#take(what);
    const value = /^\d+$/.test(token.text) && !token.quoted ? Number(token.text) : Number.NaN;
    if (value <= max) return value;
    const detail = `${shown(token.text)} is not a number from 0 to ${max}.`;
    const summary = `the ${what} is not a number from 0 to ${max}`;
    throw new ZoneSyntaxError(token, { code: "bad-number", summary, detail, fix: `Correct the ${what}.` });
  }

  seconds(what: string): number {
    const token = this.#take(what);
    return secondsOf(token, what);
  }

  /** A character string (RFC 1035, 3.3), in quotes or not. */
  string(what: string): Octets {
    return stringOf(this.#take(what));
  }

  /** All that is left, at least one. */
  strings(what: string): Octets[] {
    const strings = [this.string(what)];
    while (this.#next < this.#tokens.length) strings.push(this.string(what));
    return strings;
  }

  /** One string whose length is not bounded by itself (RFC 8659, 4.1.1). */
  longString(what: string): Octets {
    const token = this.#take(what);
    const octets = octetsOf(token);
    if (octets.length <= MAX_RDATA_OCTETS) return octets;
    throw tooLong(token, octets.length, MAX_RDATA_OCTETS, "Shorten it.");
  }

  token(what: string): Token {
    return this.#take(what);
  }

  /** Nothing may be left. */
  end(): void {
    const token = this.#tokens[this.#next];
    if (token === undefined) return;
    const detail = `A record of type ${this.#type} has no field after this; ${shown(token.text)} is left over.`;
    const fix = "Remove it, or put a text with white space into quotes.";
    throw new ZoneSyntaxError(token, { code: "extra-field", summary: "a field too many", detail, fix });
  }

  #take(what: string): Token {
    const token = this.#tokens[this.#next];
    if (token === undefined) {
      const detail = `A record of type ${this.#type} has a ${what} here, and the record ends before it.`;
      const summary = `the ${what} is missing`;
      const fix = `Add the ${what}; a record over several lines is put into parentheses.`;
      throw new ZoneSyntaxError(this.#tokens.at(-1) ?? this.#before, { code: "missing-field", summary, detail, fix });
    }
    this.#next += 1;
    return token;
  }
}

function badAddress(token: Token, family: "IPv4" | "IPv6", example: string): never {
  const detail = `${shown(token.text)} is not an ${family} address.`;
  const fix = `Write one, for example ${example}; a record that points at a name is a CNAME.`;
  throw new ZoneSyntaxError(token, { code: "bad-address", summary: `not an ${family} address`, detail, fix });
}

function stringOf(token: Token): Octets {
  const octets = octetsOf(token);
  if (octets.length <= MAX_STRING_OCTETS) return octets;
  const fix = 'Divide it into several strings, `"…" "…"`, which are read as one text.';
  throw tooLong(token, octets.length, MAX_STRING_OCTETS, fix);
}

function tooLong(place: Place, length: number, max: number, fix: string): ZoneSyntaxError {
  const detail = `It has ${length} octets, and there is room for ${max} (RFC 1035, 3.3).`;
  return new ZoneSyntaxError(place, { code: "too-long", summary: "a string that is too long", detail, fix });
}

/** Throws `ZoneSyntaxError`. */
export function secondsOf(token: Token, what: string): number {
  const seconds = token.quoted ? null : readSeconds(token.text);
  if (seconds !== null && seconds <= MAX_TTL_SECONDS) return seconds;
  const detail =
    seconds === null
      ? `${shown(token.text)} is not a time.`
      : `${shown(token.text)} is more than ${MAX_TTL_SECONDS} seconds, and nameservers would take it for 0 (RFC 2181, 8).`;
  const fix = "Write seconds, or numbers with the units w, d, h, m and s: `3600`, `1d12h`.";
  throw new ZoneSyntaxError(token, { code: "bad-ttl", summary: `bad ${what}`, detail, fix });
}

// Words for types and classes of records (RFC 1035, 3.2; RFC 3597, 5; the IANA registry of DNS parameters).

/** A type that is read, or one that is only known to be a type. */
export type ReadType = RecordType | "SOA" | "other";

const READ_CODES: ReadonlyMap<number, RecordType | "SOA"> = new Map<number, RecordType | "SOA">([
  [TYPE_CODES.SOA, "SOA"],
  ...RECORD_TYPES.map((type) => [rulesOf(type).code, type] as const),
]);

/**
 * The registered types of records; those of questions and of messages are none of them. ALIAS, ANAME and LUA are name servers' own, never on
 * the wire.
 */
const OTHER_TYPES: ReadonlySet<string> = new Set(
  (
    "MD MF MB MG MR NULL WKS HINFO MINFO RP AFSDB X25 ISDN RT NSAP NSAP-PTR SIG KEY PX GPOS LOC NXT EID NIMLOC ATMA " +
    "NAPTR KX CERT A6 DNAME SINK APL DS SSHFP IPSECKEY RRSIG NSEC DNSKEY DHCID NSEC3 NSEC3PARAM TLSA SMIMEA HIP NINFO " +
    "RKEY TALINK CDS CDNSKEY OPENPGPKEY CSYNC ZONEMD SVCB HTTPS DSYNC HHIT BRID SPF UINFO UID GID UNSPEC NID L32 L64 " +
    "ALIAS ANAME LUA LP EUI48 EUI64 URI AVC DOA AMTRELAY RESINFO WALLET CLA IPN TA DLV"
  ).split(" "),
);

/** @returns null if the word is no type, in any letter case */
export function readType(word: string): ReadType | null {
  const upper = word.toUpperCase();
  if (isRecordType(upper)) return upper;
  if (upper === "SOA") return "SOA";
  if (OTHER_TYPES.has(upper)) return "other";
  const code = numberAfter("TYPE", upper);
  return code === null ? null : (READ_CODES.get(code) ?? "other");
}

const CLASSES: ReadonlyMap<string, string> = new Map([
  ["IN", "IN"],
  ["CLASS1", "IN"],
  ["CH", "CH"],
  ["CLASS3", "CH"],
  ["HS", "HS"],
  ["CLASS4", "HS"],
]);

/** @returns null if the word is no class, in any letter case */
export function readClass(word: string): string | null {
  const upper = word.toUpperCase();
  return CLASSES.get(upper) ?? (numberAfter("CLASS", upper) === null ? null : upper);
}

function numberAfter(prefix: string, word: string): number | null {
  if (!word.startsWith(prefix) || !/^\d{1,5}$/.test(word.slice(prefix.length))) return null;
  const code = Number(word.slice(prefix.length));
  return code <= 0xffff ? code : null;
}

// Data of known types that is written in the form for unknown types, `\# 4 c0000201` (RFC 3597, 5): converted into the usual form.

/**
 * Converts the data into fields, each with the place of the whole. Throws `ZoneSyntaxError`.
 * @param word the type as the file writes it
 * @param tokens `\#`, the length, and hexadecimal digits in any number of words
 */
function writtenFields(type: RecordType | "SOA", word: Token, tokens: readonly Token[]): Token[] {
  const place = { start: tokens[0]?.start ?? word.start, end: tokens.at(-1)?.end ?? word.end };
  const [, length, ...words] = tokens;
  const digits = words.map(({ text }) => text).join("");
  if (length === undefined || !/^\d{1,5}$/.test(length.text) || !/^(?:[0-9a-f]{2})*$/i.test(digits)) {
    throw malformed(length ?? word, "After `\\#` stands the number of octets, then the octets in hexadecimal.");
  }
  const octets = Buffer.from(digits, "hex");
  if (octets.length !== Number(length.text)) {
    throw malformed(length, `It says ${length.text} octets, and there are ${octets.length}.`);
  }
  try {
    const reader = new OctetReader(octets);
    const fields = fieldsOf(type, reader);
    if (reader.offset !== reader.end) throw new Malformed("octets are left over");
    return fields.map((field) => ({ ...place, ...asToken(field) }));
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw malformed(place, `The octets are not the data of a record of type ${type}: ${error.message}.`);
  }
}

function malformed(place: { start: number; end: number }, detail: string): ZoneSyntaxError {
  const fix = "Correct it, or write the record's data as its type has it.";
  return new ZoneSyntaxError(place, { code: "bad-octets", summary: "bad data in hexadecimal", detail, fix });
}

interface Quoted {
  readonly octets: string;
}

function asToken(field: string | Quoted): { text: string; quoted: boolean } {
  if (typeof field === "string") return { text: field, quoted: false };
  return { text: quoteOctets(field.octets).slice(1, -1), quoted: true };
}

/** Throws `Malformed`. */
function fieldsOf(type: RecordType | "SOA", reader: OctetReader): (string | Quoted)[] {
  const name = (): string => `${reader.name()}.`;
  const uint32 = (): string => String(reader.uint32());
  if (type === "SOA") return [name(), name(), uint32(), uint32(), uint32(), uint32(), uint32()];
  const { hasFlags, values, target } = rulesOf(type);
  const flags = hasFlags ? [String(reader.uint8())] : [];
  const read = values.map((field) =>
    field === "tag" ? reader.take(reader.uint8()).toString("latin1") : String(reader.uint16()),
  );
  return [...flags, ...read, ...targetFields(target, reader)];
}

function targetFields(format: TargetFormat, reader: OctetReader): (string | Quoted)[] {
  switch (format) {
    case "ipv4":
      return [reader.take(4).join(".")];
    case "ipv6":
      return [reader.ipv6()];
    case "name":
      return [`${reader.name()}.`];
    case "strings": {
      const strings: Quoted[] = [];
      while (reader.offset < reader.end) strings.push(quoted(reader.take(reader.uint8())));
      return strings;
    }
    case "octets":
      return [quoted(reader.take(reader.end - reader.offset))];
  }
}

function quoted(octets: Buffer): Quoted {
  return { octets: octets.toString("latin1") };
}
