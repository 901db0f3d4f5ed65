/** A nameserver's address as people write it: host or IP address, with or without a port. */

import { canonicalIpv4, canonicalIpv6 } from "./ip.ts";
import { nameProblem, toAscii } from "./name.ts";

export interface NameserverAddress {
  /** An IP address, or a name in lower-case ASCII without a final dot. */
  readonly host: string;
  readonly port: number;
}

const DNS_PORT = 53;

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
