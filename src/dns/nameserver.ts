/** Which servers hold a zone: those that were given, or those of its NS records, with their addresses. */

import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { isIP, isIPv4 } from "node:net";
import { setTimeout } from "node:timers/promises";
import { compareText } from "../model/text.ts";
import { canonicalIpv4, canonicalIpv6 } from "./ip.ts";
import { nameProblem } from "./name.ts";
import { toAscii } from "./unicode.ts";

export interface Nameserver {
  /** As people know it: `ns1.example.net (192.0.2.1)`, or the address alone; with a port that is not 53. */
  readonly label: string;
  /** The host is an IP address. */
  readonly address: NameserverAddress;
}

/** The resolver of the machine, or what stands in its place. Both reject if there is nothing, or no answer. */
export interface SystemResolver {
  /** Names of the servers of a zone. */
  nameservers(zone: string): Promise<readonly string[]>;
  /** IP addresses of a host. */
  addresses(host: string): Promise<readonly string[]>;
  /** Gives up what is looked up. */
  cancel?(): void;
}

type FoundServers =
  /** `unasked`: clauses that say which servers the zone has beside these, and why they are not asked. */
  | { readonly ok: true; readonly servers: readonly Nameserver[]; readonly unasked: readonly string[] }
  /** One clause without a full stop. */
  | { readonly ok: false; readonly detail: string };

/** Of a zone with more servers, only this many are asked: a hostile zone must not cause unlimited work. */
const MAX_SERVERS = 16;

const DNS_PORT = 53;

/** @param texts as `parseNameserver` reads them */
export async function givenServers(texts: readonly string[], resolver: SystemResolver): Promise<FoundServers> {
  const servers: Nameserver[] = [];
  for (const text of texts) {
    const parsed = parseNameserver(text);
    if (parsed === null)
      return { ok: false, detail: `\`${text}\` is no name server: write HOST, HOST:PORT or [IPV6]:PORT` };
    const found = await serversOf(parsed, resolver);
    if (!found.ok) return { ok: false, detail: found.detail };
    servers.push(...found.servers);
  }
  const used = distinct(servers);
  return used.length > MAX_SERVERS
    ? { ok: false, detail: `${used.length} addresses of name servers are given, and ${MAX_SERVERS} is the limit` }
    : { ok: true, servers: used, unasked: [] };
}

/** The servers that the world is sent to for the zone; those that cannot be asked are named. @param zone lower-case ASCII without a final dot */
export async function zoneServers(zone: string, resolver: SystemResolver): Promise<FoundServers> {
  let names: readonly string[];
  try {
    names = await resolver.nameservers(zone);
  } catch (error) {
    return { ok: false, detail: `the system's resolver finds no name servers of ${zone} (${codeOf(error)})` };
  }
  const ordered = [...new Set(names.map((name) => name.toLowerCase().replace(/\.$/, "")))].sort(compareText);
  const asked = ordered.slice(0, MAX_SERVERS);
  const found = await Promise.all(asked.map((host) => serversOf({ host, port: DNS_PORT }, resolver)));
  const unasked = found.flatMap((host) => (host.ok ? [] : [host.detail]));
  const servers = distinct(found.flatMap((host) => (host.ok ? host.servers : [])));
  const surplus = Math.max(ordered.length, servers.length) - MAX_SERVERS;
  if (surplus > 0) unasked.push(`${surplus} more of its name servers are not asked: ${MAX_SERVERS} is the limit`);
  return servers.length > 0
    ? { ok: true, servers: servers.slice(0, MAX_SERVERS), unasked }
    : { ok: false, detail: `no name server of ${zone} has an address` };
}

/** Parents agree: a few of them are as good as all. */
const MAX_PARENTS = 3;

/** Servers of the zone above: the nearest one that has some. */
export async function parentServers(zone: string, resolver: SystemResolver): Promise<FoundServers> {
  let detail = `${zone} has no parent but the root`;
  for (let dot = zone.indexOf("."); dot !== -1; dot = zone.indexOf(".", dot + 1)) {
    const found = await zoneServers(zone.slice(dot + 1), resolver);
    if (found.ok) return { ok: true, servers: found.servers.slice(0, MAX_PARENTS), unasked: [] };
    ({ detail } = found);
  }
  return { ok: false, detail };
}

type HostServers =
  | { readonly ok: true; readonly servers: readonly Nameserver[] }
  /** One clause without a full stop. */
  | { readonly ok: false; readonly detail: string };

/** IPv6 only where there is nothing else: many machines that run this have no way to it. */
async function serversOf({ host, port }: NameserverAddress, resolver: SystemResolver): Promise<HostServers> {
  const suffix = port === DNS_PORT ? "" : `:${port}`;
  if (isIP(host) !== 0) {
    const shown = isIPv4(host) || suffix === "" ? host : `[${host}]`;
    return { ok: true, servers: [{ label: `${shown}${suffix}`, address: { host, port } }] };
  }
  let addresses: readonly string[];
  try {
    addresses = await resolver.addresses(host);
  } catch (error) {
    return { ok: false, detail: `no address of the name server ${host} is found (${codeOf(error)})` };
  }
  const preferred = addresses.filter(isIPv4);
  const used = [...new Set(preferred.length > 0 ? preferred : addresses.filter((address) => isIP(address) !== 0))];
  if (used.length === 0) return { ok: false, detail: `the name server ${host} has no address` };
  const servers = used
    .sort(compareText)
    .map((address) => ({ label: `${host}${suffix} (${address})`, address: { host: address, port } }));
  return { ok: true, servers };
}

function distinct(servers: readonly Nameserver[]): Nameserver[] {
  const byAddress = new Map(servers.map((server) => [`${server.address.host} ${server.address.port}`, server]));
  return [...byAddress.values()];
}

function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === "string" ? code : "no answer";
}

// The resolver of the machine: for the names of servers and their addresses, not for what is to be verified.

const TIMEOUT_MILLISECONDS = 5_000;
const TRIES = 2;
const LOOKUP_MILLISECONDS = 10_000;

export function systemResolver(): SystemResolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MILLISECONDS, tries: TRIES });
  return {
    nameservers: (zone) => resolver.resolveNs(zone),
    addresses: (host) => within(LOOKUP_MILLISECONDS, host, lookup(host, { all: true })),
    cancel: () => resolver.cancel(),
  };
}

/** The system's own lookup has no limit of time. */
async function within(milliseconds: number, host: string, found: Promise<LookupAddress[]>): Promise<string[]> {
  const tooLong = new Error(`${host} was not found within ${milliseconds / 1000} s`);
  const over = setTimeout(milliseconds, null, { ref: false }).then(() => Promise.reject(tooLong));
  return (await Promise.race([found, over])).map(({ address }) => address);
}

// A nameserver's address as people write it: host or IP address, with or without a port.

export interface NameserverAddress {
  /** An IP address, or a name in lower-case ASCII without a final dot. */
  readonly host: string;
  readonly port: number;
}

const MAX_PORT = 65_535;

/**
 * `ns1.example.com`, `192.0.2.1:5353`, `2001:db8::1`, `[2001:db8::1]:5353`. Without a port it is 53.
 * @returns null if it is none of these: an almost-address such as `192.0.2` or `010.0.0.1` is no name
 */
export function parseNameserver(text: string): NameserverAddress | null {
  const bare = canonicalIpv6(text);
  if (bare !== null) return { host: bare, port: DNS_PORT };
  const parts = /^(?:\[(?<ipv6>[^[\]]*)\]|(?<host>[^:[\]]*))(?::(?<port>[1-9]\d{0,4}))?$/.exec(text)?.groups;
  if (parts === undefined) return null;
  const port = parts["port"] === undefined ? DNS_PORT : Number(parts["port"]);
  const host = parts["ipv6"] === undefined ? namedHost(parts["host"] ?? "") : canonicalIpv6(parts["ipv6"]);
  return host === null || port > MAX_PORT ? null : { host, port };
}

function namedHost(text: string): string | null {
  const ipv4 = canonicalIpv4(text);
  if (ipv4 !== null) return ipv4;
  const name = toAscii(text.replace(/\.$/, ""));
  if (name === null || name === "" || nameProblem(name, true) !== null) return null;
  // No top-level domain is a number; what ends in one is an address that was written wrong.
  return /(^|\.)(\d+|0x[0-9a-f]*)$/.test(name) ? null : name;
}
