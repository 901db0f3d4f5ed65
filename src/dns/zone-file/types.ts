/** Words for types and classes of records (RFC 1035, 3.2; RFC 3597, 5; the IANA registry of DNS parameters). */

import { PLAIN_TYPES, type PlainType } from "../plain-record.ts";

/** A type that is read, or one that is only known to be a type. */
export type ReadType = PlainType | "SOA" | "other";

const READ_CODES: ReadonlyMap<number, PlainType | "SOA"> = new Map([
  [1, "A"],
  [2, "NS"],
  [5, "CNAME"],
  [6, "SOA"],
  [12, "PTR"],
  [15, "MX"],
  [16, "TXT"],
  [28, "AAAA"],
  [33, "SRV"],
  [257, "CAA"],
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
  const plain = PLAIN_TYPES.find((type) => type === upper);
  if (plain !== undefined) return plain;
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
