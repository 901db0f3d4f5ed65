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
