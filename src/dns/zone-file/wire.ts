/** Data in the form for unknown types, `\# 4 c0000201` (RFC 3597, 5), of types that are known: back to how they are mostly written. */

import { canonicalIpv6 } from "../ip.ts";
import { Malformed, OctetReader } from "../message-octets.ts";
import type { PlainType } from "../plain-record.ts";
import { quoteOctets } from "./octets.ts";
import { Misread } from "./problem.ts";
import type { Token } from "./scan.ts";

/**
 * The same data as fields, each with the place of the whole. Throws `Misread`.
 * @param word the type as the file writes it
 * @param tokens `\#`, the length, and hexadecimal digits in any number of words
 */
export function writtenFields(type: PlainType | "SOA", word: Token, tokens: readonly Token[]): Token[] {
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

function malformed(place: { start: number; end: number }, detail: string): Misread {
  const fix = "Correct it, or write the record's data as its type has it.";
  return new Misread(place, { code: "bad-octets", summary: "bad data in hexadecimal", detail, fix });
}

interface Quoted {
  readonly octets: string;
}

function asToken(field: string | Quoted): { text: string; quoted: boolean } {
  if (typeof field === "string") return { text: field, quoted: false };
  return { text: quoteOctets(field.octets).slice(1, -1), quoted: true };
}

/** Throws `Malformed`. */
function fieldsOf(type: PlainType | "SOA", reader: OctetReader): (string | Quoted)[] {
  const name = (): string => `${reader.name()}.`;
  const uint16 = (): string => String(reader.uint16());
  const uint32 = (): string => String(reader.uint32());
  switch (type) {
    case "A":
      return [reader.take(4).join(".")];
    case "AAAA": {
      const groups = Array.from({ length: 8 }, () => reader.uint16().toString(16));
      return [canonicalIpv6(groups.join(":")) ?? "::"];
    }
    case "CNAME":
    case "NS":
    case "PTR":
      return [name()];
    case "MX":
      return [uint16(), name()];
    case "SRV":
      return [uint16(), uint16(), uint16(), name()];
    case "TXT": {
      const strings: Quoted[] = [];
      while (reader.offset < reader.end) strings.push(quoted(reader.take(reader.uint8())));
      return strings;
    }
    case "CAA":
      return [
        String(reader.uint8()),
        reader.take(reader.uint8()).toString("latin1"),
        quoted(reader.take(reader.end - reader.offset)),
      ];
    case "SOA":
      return [name(), name(), uint32(), uint32(), uint32(), uint32(), uint32()];
  }
}

function quoted(octets: Buffer): Quoted {
  return { octets: octets.toString("latin1") };
}
