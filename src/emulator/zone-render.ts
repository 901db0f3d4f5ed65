/** The lines of a rendered zone file, in the form the service was seen to give them, and always ones that a nameserver loads. */

import type { DomainRow, RecordRow } from "./rows.ts";
import { setKey, unfitRecords } from "./zone-fit.ts";
import { mailbox, quote, splitText, withoutLeadingZeros } from "./zone-syntax.ts";

/** What 0 stands for. */
const DEFAULT_REFRESH_SECONDS = 14_400;
const DEFAULT_RETRY_SECONDS = 14_400;
const DEFAULT_EXPIRE_SECONDS = 1_209_600;
const DEFAULT_TTL_SECONDS = 86_400;

const NAME_SERVER_COUNT = 5;

export interface ZoneContent {
  readonly domain: DomainRow;
  readonly records: readonly RecordRow[];
  /** Of the SOA, below 2^32. */
  readonly serial: number;
}

/**
 * Nothing is rendered for a disabled domain. A slave's records are its master's, which the emulator has never seen.
 * @param word the operator's, who owns the name servers
 */
export function renderZone({ domain, records, serial }: ZoneContent, word: string): string[] {
  if (domain.status === "disabled" || domain.type === "slave") return [];
  const nameServers = Array.from({ length: NAME_SERVER_COUNT }, (_, index) => `ns${index + 1}.${word}.com.`);
  const zoneTtl = domain.ttl_sec || DEFAULT_TTL_SECONDS;
  const unfit = unfitRecords(records, domain.domain);
  const ttls = lowestTtls(
    records.filter((record) => !unfit.has(record)),
    zoneTtl,
  );
  const serversTtl = ttls.get(setKey({ name: "", type: "NS" }));
  const serversField = serversTtl === zoneTtl ? "" : `${serversTtl}\t`;
  return [
    `; ${domain.domain} [${domain.id}]`,
    `$TTL ${zoneTtl}`,
    `@\tIN\tSOA\t${nameServers[0]} ${startOfAuthority(domain, serial, zoneTtl)}`,
    ...nameServers.map((server) => `@\t\t${serversField}NS\t${server}`),
    ...records.flatMap((record) => {
      const reason = unfit.get(record);
      if (reason !== undefined) return [`; record ${record.id} (${record.type}) is left out: ${reason}`];
      const lowest = ttls.get(setKey(record));
      return renderRecord(record, lowest === (record.ttl_sec || zoneTtl) ? record.ttl_sec : lowest);
    }),
  ];
}

function startOfAuthority(domain: DomainRow, serial: number, ttl: number): string {
  const refresh = domain.refresh_sec || DEFAULT_REFRESH_SECONDS;
  const retry = domain.retry_sec || DEFAULT_RETRY_SECONDS;
  const expire = domain.expire_sec || DEFAULT_EXPIRE_SECONDS;
  return `${mailbox(domain.soa_email)} ${serial} ${refresh} ${retry} ${expire} ${ttl}`;
}

/**
 * The records of one name and type have one TTL, the lowest of theirs (RFC 2181, 5.2): of several, some nameservers take the
 * first, others give each its own.
 */
function lowestTtls(records: readonly RecordRow[], zoneTtl: number): ReadonlyMap<string, number> {
  const lowest = new Map([[setKey({ name: "", type: "NS" }), zoneTtl]]);
  for (const record of records) {
    const key = setKey(record);
    const ttl = record.ttl_sec || zoneTtl;
    lowest.set(key, Math.min(ttl, lowest.get(key) ?? ttl));
  }
  return lowest;
}

/** @param ttl 0: the zone's, which is not written */
function renderRecord(record: RecordRow, ttl: number | undefined): string[] {
  const name = record.name === "" ? "@" : record.name;
  const [first = "", ...rest] = renderData(record);
  return [`${name}\t\t${ttl || ""}\t${record.type}\t${first}`, ...rest];
}

function renderData(record: RecordRow): string[] {
  switch (record.type) {
    case "A":
      // No nameserver loads an address with leading zeros.
      return [withoutLeadingZeros(record.target)];
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
    case "TXT": {
      const strings = splitText(Buffer.from(record.target)).map(quote);
      return strings.length === 1 ? strings : ["( ", ...strings, " )"];
    }
  }
}
