/** Random records of one zone that the service can hold, none of them twice. */

import fc from "fast-check";
import type { DnsRecord } from "../../src/dns/record.ts";

export const ZONE = "example.com";

/** Words of the format are names like any other. */
const label = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "in",
      "300",
      "a",
      "txt",
      "1h",
      "soa",
      "ns",
      "type1",
      "class1",
      "ch",
      "ttl",
      "10",
      "0/25",
    ),
  },
  { weight: 2, arbitrary: fc.stringMatching(/^[a-z0-9_]([a-z0-9_+/-]{0,10}[a-z0-9])?$/) },
);

const labels = fc.array(label, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."));

const owner = fc
  .oneof(
    fc.constant(""),
    labels,
    labels.map((name) => `*.${name}`),
  )
  .filter((name) => name !== ZONE && !name.endsWith(`.${ZONE}`));

const target = fc.oneof(
  labels.map((name) => `${name}.${ZONE}`),
  labels.map((name) => `${name}.example.net`),
  fc.constant(ZONE),
);

const octet = fc.nat(255);
const ipv4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join("."));
/** In the form of RFC 5952 as they are: no group is 0. */
const ipv6 = fc
  .array(fc.integer({ min: 1, max: 0xfffe }), { minLength: 8, maxLength: 8 })
  .map((groups) => groups.map((group) => group.toString(16)).join(":"));

/** Up to 4,000 octets of UTF-8, with all that means something in a zone file. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '"',
        "\\",
        ";",
        "(",
        ")",
        "@",
        "$",
        " ",
        "\\065",
        "😀",
        "ü",
        "\u0080",
        "\u2028",
        "\ufeff",
        "\ufffd",
      ),
      fc.string({ unit: "grapheme", maxLength: 12 }),
      fc.integer({ min: 1, max: 400 }).map((count) => "x".repeat(count)),
      fc.integer({ min: 1, max: 90 }).map((count) => "😀".repeat(count)),
    ),
    { maxLength: 40 },
  )
  .map((parts) => holdable(parts.join("")));

function holdable(value: string): string {
  let kept = value.replace(/[^\P{Cc}\u0080-\u009f]/gu, "");
  while (Buffer.byteLength(kept) > 4_000) kept = kept.slice(0, -1);
  // Half a character is none: U+FFFD stands for it.
  return Buffer.from(kept).toString();
}

const ttl_sec = fc.oneof(fc.constantFrom(0, 300, 3600, 86_400), fc.integer({ min: 1, max: 2 ** 31 - 1 }));
const uint16 = fc.nat(0xffff);

const record: fc.Arbitrary<DnsRecord> = fc.oneof(
  fc.record({ type: fc.constant("A" as const), name: owner, target: ipv4, ttl_sec }),
  fc.record({ type: fc.constant("AAAA" as const), name: owner, target: ipv6, ttl_sec }),
  fc.record({ type: fc.constant("CNAME" as const), name: owner.filter((name) => name !== ""), target, ttl_sec }),
  fc.record({ type: fc.constant("NS" as const), name: labels, target, ttl_sec }),
  fc.record({ type: fc.constant("PTR" as const), name: owner, target, ttl_sec }),
  fc.record({
    type: fc.constant("MX" as const),
    name: owner,
    target: fc.oneof(target, fc.constant("")),
    priority: octet,
    ttl_sec,
  }),
  fc.record({
    type: fc.constant("SRV" as const),
    name: labels.map((name) => `_sip._tcp.${name}`),
    target: fc.oneof(target, fc.constant("")),
    priority: octet,
    weight: uint16,
    port: uint16,
    ttl_sec,
  }),
  fc.record({ type: fc.constant("TXT" as const), name: owner, target: text, ttl_sec }),
  fc.record({
    type: fc.constant("CAA" as const),
    name: owner,
    target: text.filter((value) => value !== "" && !value.endsWith(".") && !/^\d+ issue/.test(value)),
    tag: fc.constantFrom("issue", "issuewild", "iodef"),
    ttl_sec,
  }),
);

export const plainRecords: fc.Arbitrary<DnsRecord[]> = fc.uniqueArray(record, {
  maxLength: 12,
  selector: ({ type, name, target: value, priority, weight, port, tag }) =>
    JSON.stringify([type, name, value, priority, weight, port, tag]),
});
