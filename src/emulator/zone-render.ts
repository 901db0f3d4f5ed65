/** The lines of a rendered zone file, in the form the service was seen to give them. */

import type { DomainRow, RecordRow } from "./rows.ts";

/** What 0 stands for. */
const DEFAULT_REFRESH_SECONDS = 14_400;
const DEFAULT_RETRY_SECONDS = 14_400;
const DEFAULT_EXPIRE_SECONDS = 1_209_600;
const DEFAULT_TTL_SECONDS = 86_400;

/** RFC 1035, 3.3: octets in a character-string. */
const MAX_CHUNK_OCTETS = 255;

const NAME_SERVER_COUNT = 5;

/** Nothing is rendered for a disabled domain. A slave's records are its master's, which the emulator has never seen. */
export function renderZone(domain: DomainRow, records: readonly RecordRow[], word: string): string[] {
  if (domain.status === "disabled" || domain.type === "slave") return [];
  const nameServers = Array.from({ length: NAME_SERVER_COUNT }, (_, index) => `ns${index + 1}.${word}.com.`);
  const ttl = domain.ttl_sec || DEFAULT_TTL_SECONDS;
  return [
    `; ${domain.domain} [${domain.id}]`,
    `$TTL ${ttl}`,
    `@\tIN\tSOA\t${nameServers[0]} ${startOfAuthority(domain, records, ttl)}`,
    ...nameServers.map((server) => `@\t\tNS\t${server}`),
    ...records.flatMap(renderRecord),
  ];
}

function startOfAuthority(domain: DomainRow, records: readonly RecordRow[], ttl: number): string {
  const at = domain.soa_email.lastIndexOf("@");
  // A dot in the local part is not a label's end (RFC 1035, 8).
  const mailbox = `${domain.soa_email.slice(0, at).replaceAll(".", "\\.")}.${domain.soa_email.slice(at + 1)}.`;
  const refresh = domain.refresh_sec || DEFAULT_REFRESH_SECONDS;
  const retry = domain.retry_sec || DEFAULT_RETRY_SECONDS;
  const expire = domain.expire_sec || DEFAULT_EXPIRE_SECONDS;
  return `${mailbox} ${serial(domain, records)} ${refresh} ${retry} ${expire} ${ttl}`;
}

/** The time of the latest change, in seconds: it grows with every one that is seen a second later. */
function serial(domain: DomainRow, records: readonly RecordRow[]): number {
  let latest = domain.updated;
  for (const record of records) if (record.updated > latest) latest = record.updated;
  return Math.floor(Date.parse(`${latest}Z`) / 1000);
}

function renderRecord(record: RecordRow): string[] {
  const name = record.name === "" ? "@" : record.name;
  const [first = "", ...rest] = renderData(record);
  return [`${name}\t\t${record.ttl_sec || ""}\t${record.type}\t${first}`, ...rest];
}

function renderData(record: RecordRow): string[] {
  switch (record.type) {
    case "A":
    case "AAAA":
      return [record.target];
    case "NS":
    case "CNAME":
    case "PTR":
      return [`${record.target}.`];
    case "MX":
      return [`${record.priority}\t${record.target}.`];
    case "SRV":
      return [`${record.priority}\t${record.weight}\t${record.port}\t${record.target}.`];
    case "CAA":
      return [`0\t${record.tag}\t${quote(Buffer.from(record.target))}`];
    case "TXT":
      return renderText(Buffer.from(record.target));
  }
}

function renderText(octets: Buffer): string[] {
  if (octets.length <= MAX_CHUNK_OCTETS) return [quote(octets)];
  const lines = ["( "];
  for (let start = 0; start < octets.length; start += MAX_CHUNK_OCTETS) {
    lines.push(quote(octets.subarray(start, start + MAX_CHUNK_OCTETS)));
  }
  return [...lines, " )"];
}

/** A character-string: quotes and backslashes escaped, all but printable ASCII as `\DDD` (RFC 1035, 5.1). */
function quote(octets: Buffer): string {
  let text = "";
  for (const octet of octets) {
    const character = String.fromCharCode(octet);
    if (character === '"' || character === "\\") text += `\\${character}`;
    else if (octet >= 0x20 && octet < 0x7f) text += character;
    else text += `\\${String(octet).padStart(3, "0")}`;
  }
  return `"${text}"`;
}
