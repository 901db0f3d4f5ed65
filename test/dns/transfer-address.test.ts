/** Addresses of nameservers as people write them. */

import { describe, expect, it } from "vitest";
import { parseNameserver } from "../../src/dns/nameserver.ts";

describe("a nameserver's address", () => {
  it.each([
    ["ns1.example.com", "ns1.example.com", 53],
    ["NS1.Example.com.", "ns1.example.com", 53],
    ["ns1.example.com:5353", "ns1.example.com", 5_353],
    ["ns1.example.com.:5353", "ns1.example.com", 5_353],
    ["localhost", "localhost", 53],
    ["bücher.example", "xn--bcher-kva.example", 53],
    ["1.example", "1.example", 53],
    ["192.0.2.1", "192.0.2.1", 53],
    ["192.0.2.1:65535", "192.0.2.1", 65_535],
    ["2001:db8::1", "2001:db8::1", 53],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1", 53],
    ["::", "::", 53],
    ["[2001:db8::1]", "2001:db8::1", 53],
    ["[2001:db8::1]:5353", "2001:db8::1", 5_353],
    ["[::ffff:192.0.2.1]:53", "::ffff:c000:201", 53],
  ])("may be %s", (text, host, port) => {
    expect(parseNameserver(text)).toEqual({ host, port });
  });

  it.each([
    "",
    ":53",
    ".",
    "ns1.example.com:",
    "ns1.example.com:0",
    "ns1.example.com:053",
    "ns1.example.com:65536",
    "ns1.example.com:99999",
    "ns1.example.com:dns",
    "ns1.example.com:53:53",
    "ns1.example.com 53",
    " ns1.example.com",
    "ns1.example.com\n",
    "ns1..example.com",
    "-ns1.example.com",
    "ns_1.example.com",
    "*.example.com",
    "user@ns1.example.com",
    "tcp://ns1.example.com",
    "ns1.example.com/zone",
    "192.0.2",
    "192.0.2.256",
    "192.0.2.010",
    "0x7f000001",
    "2130706433",
    "127.1:53",
    "2001:db8::1::2",
    "2001:db8::1:65536:1:1:1:1:1",
    "[2001:db8::1",
    "2001:db8::1]:53",
    "[192.0.2.1]:53",
    "[ns1.example.com]:53",
    "[]:53",
    "fe80::1%eth0",
    "[fe80::1%eth0]:53",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(127)}example`,
  ])("is not %j", (text) => {
    expect(parseNameserver(text)).toBeNull();
  });
});
