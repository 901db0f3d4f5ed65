/** IP addresses as text: strict to read, one form to write. */

import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/** A dotted quad without leading zeros, or null: `010.0.0.1` and `10.1` mean different things to different readers. */
export function canonicalIpv4(text: string): string | null {
  return isIPv4(text) ? text : null;
}

/** RFC 5952, or null. Zone identifiers (`%eth0`) are no part of an address. */
export function canonicalIpv6(text: string): string | null {
  return isIPv6(text) && !text.includes("%") ? ipaddr.IPv6.parse(inGroups(text)).toRFC5952String() : null;
}

/** `::192.0.2.1` is `::c000:201`; ipaddr.js takes it for `::ffff:192.0.2.1`, which is another address (RFC 4291, 2.5.5). */
function inGroups(text: string): string {
  return text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...octets: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = octets.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
}

export function canonicalIp(text: string): string | null {
  return canonicalIpv4(text) ?? canonicalIpv6(text);
}

// Networks: an address and the length of a prefix (RFC 4632, 3.1; RFC 4291, 2.3).

export interface Network {
  /** In canonical form, with the bits beyond the prefix. */
  readonly address: string;
  /** Bits of the prefix. */
  readonly length: number;
  /** The address without the bits beyond the prefix. */
  readonly first: string;
}

/** `192.0.2.0/24`, `2001:db8::/32`; null if it is not an address, a slash and a length that such an address has, without leading zeros. */
export function readNetwork(text: string): Network | null {
  const [, written = "", digits = ""] = /^([0-9a-f.:]+)\/(0|[1-9]\d{0,2})$/i.exec(text) ?? [];
  const address = canonicalIp(written);
  const length = Number(digits);
  if (address === null) return null;
  const isIpv4 = canonicalIpv4(address) !== null;
  if (length > (isIpv4 ? 32 : 128)) return null;
  const first = isIpv4
    ? ipaddr.IPv4.networkAddressFromCIDR(`${address}/${length}`)
    : ipaddr.IPv6.networkAddressFromCIDR(`${address}/${length}`);
  return { address, length, first: canonicalIp(first.toString()) ?? address };
}

// Reverse zones: addresses and networks → names under in-addr.arpa (RFC 1035, 3.5) and ip6.arpa (RFC 3596, 2.5).

const IPV4_BITS_PER_LABEL = 8;
const IPV6_BITS_PER_LABEL = 4;
const IPV4_SUFFIX = "in-addr.arpa";
const IPV6_SUFFIX = "ip6.arpa";

/** The name that an address has its PTR records at, absolute without a final dot; null if it is no address. */
export function reverseName(address: string): string | null {
  const canonical = canonicalIp(address);
  if (canonical === null) return null;
  const { labels, suffix } = labelsOf(canonical);
  return [...labels].reverse().concat(suffix).join(".");
}

/**
 * - `no-network`: not an address, a slash and a prefix length.
 * - `host-bits`: the address has bits beyond the prefix; `network` is without them.
 * - `between-labels`: the prefix ends inside a label, so that no zone is just that network (RFC 2317 has to name one).
 */
export type ReverseZone =
  | { readonly ok: true; readonly zone: string }
  | { readonly ok: false; readonly problem: "no-network" | "between-labels" }
  | { readonly ok: false; readonly problem: "host-bits"; readonly network: string };

/** @param text as in `192.0.2.0/24` or `2001:db8::/32` */
export function reverseZone(text: string): ReverseZone {
  const network = readNetwork(text);
  if (network === null || network.length === 0) return { ok: false, problem: "no-network" };
  const { address, length, first } = network;
  const { labels, suffix, bits } = labelsOf(address);
  if (length % bits !== 0) return { ok: false, problem: "between-labels" };
  if (first !== address) return { ok: false, problem: "host-bits", network: `${first}/${length}` };
  const kept = labels.slice(0, length / bits);
  return { ok: true, zone: [...kept].reverse().concat(suffix).join(".") };
}

function labelsOf(address: string): { labels: string[]; suffix: string; bits: number } {
  if (canonicalIpv4(address) !== null) {
    return { labels: address.split("."), suffix: IPV4_SUFFIX, bits: IPV4_BITS_PER_LABEL };
  }
  const bytes = ipaddr.IPv6.parse(address).toByteArray();
  const labels = bytes.flatMap((byte) => [byte >> 4, byte & 15].map((nibble) => nibble.toString(16)));
  return { labels, suffix: IPV6_SUFFIX, bits: IPV6_BITS_PER_LABEL };
}
