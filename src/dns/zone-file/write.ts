/** Writes zone files: plain records → text that nameservers and `readZoneFile` read back to the same records. Pure. */

import { canonicalIpv4, canonicalIpv6 } from "../ip.ts";
import { absoluteName, nameProblem } from "../name.ts";
import { type DnsRecord, RECORD_TYPES, rulesOf, writeRdata } from "../record.ts";
import { escapeLabel, MAX_RDATA_OCTETS, MAX_STRING_OCTETS, type Octets, quoteOctets, utf8Octets } from "./lexer.ts";

export interface WrittenZone {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  /** null: no SOA is written, so that a nameserver will not load the file by itself. */
  readonly soa: WrittenSoa | null;
  /** The zone's own: absolute, without a final dot. */
  readonly nameservers: readonly string[];
  /** In any order. A TTL of 0 is the zone's default. */
  readonly records: readonly DnsRecord[];
}

export interface WrittenSoa {
  /** Absolute, without a final dot. */
  readonly mname: string;
  /** `hostmaster@example.com` */
  readonly email: string;
  readonly serial: number;
  /** Seconds, as all that follow. */
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  /** The zone's default, for what does not exist, too. */
  readonly ttl_sec: number;
}

/** What the service takes for 0, and what a zone without an SOA record begins with (OBSERVED behaviour). */
const DEFAULT_TTL_SECONDS = 86_400;

/** Longer owners push what follows to the right, each for itself. */
const MAX_OWNER_WIDTH = 32;

/** RFC 2181, 8: seconds. */
const MAX_TTL_SECONDS = 2 ** 31 - 1;
const MAX_NUMBER = 65_535;

/** RFC 8659, 4.1 */
const CAA_TAG = /^[a-z0-9]{1,255}$/i;

/** The same zone, the same bytes, whatever the order of its records. */
export function writeZoneFile(zone: WrittenZone): string {
  const defaultTtl = zone.soa?.ttl_sec ?? DEFAULT_TTL_SECONDS;
  const lines = linesOf(zone);
  const ownerWidth = widest(lines.map(({ owner }) => owner.length).filter((width) => width <= MAX_OWNER_WIDTH));
  const ttlWidth = widest(lines.map(({ ttl }) => ttl.length));
  const typeWidth = widest(lines.map(({ type }) => type.length));
  const text = lines.map(({ owner, ttl, type, data }) => {
    if (typeof data === "string") return `; ${owner} ${type} is left out: ${data}\n`;
    const head = `${owner.padEnd(ownerWidth)} ${ttl.padStart(ttlWidth)} IN ${type.padEnd(typeWidth)} `;
    return data.length === 1 ? `${head}${data[0]}\n` : `${head}( ${data.join(`\n${" ".repeat(head.length + 2)}`)} )\n`;
  });
  return `$ORIGIN ${escapeName(zone.zone)}.\n$TTL ${defaultTtl}\n${text.join("")}`;
}

interface Line {
  readonly owner: string;
  /** `""`: the default. */
  readonly ttl: string;
  readonly type: string;
  /** More than one: each on a line of its own, in parentheses. A text: why there is none. */
  readonly data: readonly string[] | string;
}

function linesOf({ zone, soa, nameservers, records }: WrittenZone): Line[] {
  const lines: Line[] = [];
  if (soa !== null) lines.push({ owner: "@", ttl: "", type: "SOA", data: [soaData(soa)] });
  const own = new Set([...nameservers].sort());
  for (const name of own) lines.push({ owner: "@", ttl: "", type: "NS", data: [absolute(name)] });
  const others = records.filter(({ type, name, target }) => type !== "NS" || name !== "" || !own.has(target));
  for (const record of sorted(others, zone)) {
    const data = unwritable(record) ?? dataOf(record);
    const ttl = record.ttl_sec === 0 || typeof data === "string" ? "" : String(record.ttl_sec);
    lines.push({ owner: ownerText(record.name), ttl, type: record.type, data });
  }
  return lines;
}

/**
 * Checks whether a line can hold the record. Its values may come from others, and must not add anything else to the file.
 * @returns why no line can hold it, as a clause; null if one can
 */
export function unwritable({
  type,
  target,
  ttl_sec,
  priority = 0,
  weight = 0,
  port = 0,
  tag,
}: DnsRecord): string | null {
  if (!isWithin(ttl_sec, MAX_TTL_SECONDS)) return `its TTL is no number from 0 to ${MAX_TTL_SECONDS}`;
  for (const [what, value] of Object.entries({ priority, weight, port })) {
    if (!isWithin(value, MAX_NUMBER)) return `its ${what} is no number from 0 to ${MAX_NUMBER}`;
  }
  if (tag !== undefined && !CAA_TAG.test(tag)) return "its tag is none that CAA records have";
  if (/\p{Cs}/u.test(target)) return "its target has half of a character (a lone surrogate), which no octets stand for";
  switch (rulesOf(type).target) {
    case "ipv4":
      return canonicalIpv4(target) === null ? "its target is no IPv4 address" : null;
    case "ipv6":
      return canonicalIpv6(target) === null ? "its target is no IPv6 address" : null;
    case "strings": {
      const octets = utf8Octets(target);
      const isTooLong = octets.length + strings(octets).length > MAX_RDATA_OCTETS;
      return isTooLong ? `its strings take more than the ${MAX_RDATA_OCTETS} octets that a record has room for` : null;
    }
    case "name":
      return nameProblem(target, false) === null ? null : "its target is no name that DNS has";
    default:
      return null;
  }
}

function isWithin(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= most;
}

function widest(widths: readonly number[]): number {
  return widths.reduce((most, width) => Math.max(most, width), 0);
}

/** In the order of DNSSEC (RFC 4034, 6.1): the apex first, every name before the names below it. */
function sorted(records: readonly DnsRecord[], zone: string): DnsRecord[] {
  const keyed = records.map((record) => ({ record, key: sortKey(record, zone) }));
  keyed.sort((a, b) => compare(a.key, b.key));
  return keyed.map(({ record }) => record);
}

function sortKey(record: DnsRecord, zone: string): string {
  const { type, name, target, ttl_sec, priority = 0, weight = 0, port = 0, tag = "" } = record;
  const labels = absoluteName(name, zone).split(".").reverse().join("\0");
  const numbers = [priority, weight, port].map(padded);
  const address =
    type === "A"
      ? target
          .split(".")
          .map((part) => part.padStart(3, "0"))
          .join(".")
      : target;
  return [labels, padded(RECORD_TYPES.indexOf(type)), ...numbers, tag, address, padded(ttl_sec)].join("\0\0");
}

function padded(value: number): string {
  return String(value).padStart(10, "0");
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function soaData({ mname, email, serial, refresh, retry, expire, ttl_sec }: WrittenSoa): string {
  const at = email.lastIndexOf("@");
  const local = at === -1 ? email : email.slice(0, at);
  const host = at === -1 ? "" : email.slice(at + 1);
  const rname = `${escapeLabel(utf8Octets(local))}.${host === "" ? "" : absolute(host)}`;
  return [absolute(mname), rname, serial, refresh, retry, expire, ttl_sec].join(" ");
}

/** On one line, but for a text of several strings. */
function dataOf(record: DnsRecord): string[] {
  const { type, target } = record;
  switch (rulesOf(type).target) {
    case "ipv4":
    case "ipv6":
      return [writeRdata(record, target)];
    case "name":
      return [writeRdata(record, absolute(target))];
    case "octets":
      return [writeRdata(record, quoteOctets(utf8Octets(target)))];
    case "strings": {
      const [first = "", ...others] = strings(utf8Octets(target)).map(quoteOctets);
      return [writeRdata(record, first), ...others];
    }
  }
}

/** Divided where a string is full, but never within a character. */
function strings(octets: Octets): Octets[] {
  const parts: Octets[] = [];
  let start = 0;
  do {
    let end = Math.min(start + MAX_STRING_OCTETS, octets.length);
    while (end < octets.length && isContinuation(octets, end)) end -= 1;
    parts.push(octets.slice(start, end));
    start = end;
  } while (start < octets.length);
  return parts;
}

/** RFC 3629, 3: octets of a character behind its first one. */
function isContinuation(octets: Octets, index: number): boolean {
  return (octets.charCodeAt(index) & 0xc0) === 0x80;
}

/** An owner stands at the beginning of its line, so that it is never taken for a type, a class or a TTL. */
function ownerText(name: string): string {
  return name === "" ? "@" : escapeName(name);
}

function absolute(name: string): string {
  return `${escapeName(name)}.`;
}

function escapeName(name: string): string {
  return name
    .split(".")
    .map((label) => escapeLabel(utf8Octets(label)))
    .join(".");
}
