/** The data of a record, field by field, by its type (RFC 1035, 3.3; RFC 2782, 3596, 8659). */

import type { PlainType } from "../plain-record.ts";
import { Fields } from "./fields.ts";
import { MAX_RDATA_OCTETS } from "./limits.ts";
import type { Labels } from "./name.ts";
import type { Octets } from "./octets.ts";
import { Misread, shown } from "./problem.ts";
import type { Token } from "./scan.ts";
import { writtenFields } from "./wire.ts";

export type PlainRdata =
  | { readonly type: "A" | "AAAA"; readonly address: string }
  | { readonly type: "CNAME" | "NS" | "PTR"; readonly target: Labels }
  | { readonly type: "MX"; readonly priority: number; readonly target: Labels }
  | {
      readonly type: "SRV";
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: Labels;
    }
  /** All strings, one after the other. */
  | { readonly type: "TXT"; readonly text: Octets }
  | { readonly type: "CAA"; readonly flags: number; readonly tag: string; readonly value: Octets };

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

export type Rdata = PlainRdata | SoaRdata;

/**
 * Throws `Misread`.
 * @param word the type as the file writes it
 * @param tokens the rest of the entry
 */
export function readRdata(type: PlainType | "SOA", word: Token, tokens: readonly Token[], origin: Labels): Rdata {
  const [first] = tokens;
  const isGeneric = first !== undefined && first.text === "\\#" && !first.quoted;
  const fields = new Fields(isGeneric ? writtenFields(type, word, tokens) : tokens, word, origin);
  const rdata = readFields(type, word, fields);
  fields.end();
  return rdata;
}

function readFields(type: PlainType | "SOA", word: Token, fields: Fields): Rdata {
  switch (type) {
    case "A":
      return { type, address: fields.ipv4() };
    case "AAAA":
      return { type, address: fields.ipv6() };
    case "CNAME":
    case "NS":
    case "PTR":
      return { type, target: fields.name("target") };
    case "MX":
      return { type, priority: fields.number("priority", 0xffff), target: fields.name("target") };
    case "SRV":
      return {
        type,
        priority: fields.number("priority", 0xffff),
        weight: fields.number("weight", 0xffff),
        port: fields.number("port", 0xffff),
        target: fields.name("target"),
      };
    case "TXT":
      return { type, text: readText(word, fields) };
    case "CAA":
      return { type, flags: fields.number("flags", 0xff), tag: readTag(fields), value: fields.longString("value") };
    case "SOA":
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
  }
}

function readText(word: Token, fields: Fields): Octets {
  const strings = fields.strings("text");
  const text = strings.join("");
  const length = text.length + strings.length;
  if (length <= MAX_RDATA_OCTETS) return text;
  const detail = `Its strings take ${length} octets, and a record has room for ${MAX_RDATA_OCTETS} (RFC 1035, 3.2.1).`;
  throw new Misread(word, { code: "too-long", summary: "a text that is too long", detail, fix: "Shorten it." });
}

function readTag(fields: Fields): string {
  const token = fields.token("tag");
  if (/^[a-z0-9]{1,255}$/i.test(token.text)) return token.text.toLowerCase();
  const detail = `${shown(token.text)} is not a tag: letters and digits (RFC 8659, 4.1).`;
  const fix = "Write `issue`, `issuewild` or `iodef`.";
  throw new Misread(token, { code: "bad-tag", summary: "a bad CAA tag", detail, fix });
}
