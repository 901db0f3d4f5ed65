/** IP addresses in their one form. */

import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalIpv4, canonicalIpv6 } from "../../src/dns/ip.ts";

it.each([
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["::", "::"],
  ["::ffff:192.0.2.1", "::ffff:c000:201"],
  // Another address than the one above.
  ["::192.0.2.1", "::c000:201"],
  ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
  ["1:2:3:4:5:6:255.255.255.255", "1:2:3:4:5:6:ffff:ffff"],
  ["::0.0.0.1", "::1"],
])("%s is %s", (text, canonical) => {
  expect(canonicalIpv6(text)).toBe(canonical);
  expect(canonicalIpv6(canonical)).toBe(canonical);
});

it.each(["", "::1%eth0", "1::2::3", "::256.0.0.1", "::1.2.3", "12345::"])("%j is none", (text) => {
  expect(canonicalIpv6(text)).toBeNull();
});

it("however an address is written, it is the one that URLs have", () => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      expect(`[${canonicalIpv6(text)}]`).toBe(new URL(`http://[${text}]`).hostname);
    }),
    { numRuns: 500 },
  );
});

it("an IPv4 address has no leading zeros and four parts", () => {
  expect(["192.0.2.1", "010.0.0.1", "10.1", "1.2.3.256"].map(canonicalIpv4)).toEqual(["192.0.2.1", null, null, null]);
});
