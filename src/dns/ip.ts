/** IP addresses as text: strict to read, one form to write. */

import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/** A dotted quad without leading zeros, or null: `010.0.0.1` and `10.1` mean different things to different readers. */
export function canonicalIpv4(text: string): string | null {
  return isIPv4(text) ? text : null;
}

/** RFC 5952, or null. Zone identifiers (`%eth0`) are no part of an address. */
export function canonicalIpv6(text: string): string | null {
  return isIPv6(text) && !text.includes("%") ? ipaddr.IPv6.parse(text).toRFC5952String() : null;
}

export function canonicalIp(text: string): string | null {
  return canonicalIpv4(text) ?? canonicalIpv6(text);
}
