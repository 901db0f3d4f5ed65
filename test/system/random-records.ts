/** Records as they are sent to the API, of every type and of any content that it takes. */

import fc from "fast-check";

const label = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "C", "sub", "IN", "TXT", "300", "_x", "0/25", "-", "x+y") },
  { weight: 1, arbitrary: fc.stringMatching(/^[a-z0-9_/-]{1,20}$/) },
);

const name = fc.oneof(
  { weight: 1, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: label.map((text) => `*.${text}`) },
  { weight: 8, arbitrary: fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join(".")) },
);

const host = fc
  .array(fc.constantFrom("mx", "Host", "example", "com", "net", "1", "_a", "b-c"), { minLength: 1, maxLength: 4 })
  .chain((labels) => fc.constantFrom("", ".").map((dot) => `${labels.join(".")}.test${dot}`));

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ unit: fc.constantFrom('"', "\\", ";", "(", ")", "$", "@", " ", "\n", "0", "é", "🦦"), maxLength: 12 }),
  fc.integer({ min: 250, max: 1_100 }).map((length) => "y".repeat(length)),
);

const ttl_sec = fc.constantFrom(0, 0, 0, 300, 3_600, 86_400, 2_419_200);
const byte = fc.nat(255);
const word = fc.nat(65_535);

/** Many of them make a zone of every shape: few names, so that they meet. */
export const randomRecord: fc.Arbitrary<Readonly<Record<string, string | number>>> = fc.oneof(
  fc.record({ type: fc.constant("A"), name, ttl_sec, target: fc.ipV4() }),
  fc.record({ type: fc.constant("AAAA"), name, ttl_sec, target: fc.ipV6() }),
  fc.record({ type: fc.constant("CNAME"), name, ttl_sec, target: host }),
  fc.record({ type: fc.constant("PTR"), name, ttl_sec, target: host }),
  fc.record({ type: fc.constant("MX"), name, ttl_sec, target: fc.oneof(host, fc.constant(".")), priority: byte }),
  fc.record({ type: fc.constant("TXT"), name, ttl_sec, target: text }),
  fc.record({
    type: fc.constant("CAA"),
    name,
    ttl_sec,
    tag: fc.constantFrom("issue", "issuewild", "iodef"),
    target: text.filter((value) => value !== "" && !value.endsWith(".")),
  }),
  fc.record({
    type: fc.constant("SRV"),
    ttl_sec,
    service: fc.constantFrom("sip", "x-y", "A+b"),
    protocol: fc.constantFrom("tcp", "udp", "tcp.sub", "tls.a.b"),
    target: fc.oneof(host, fc.constant("."), fc.constant("bare")),
    priority: byte,
    weight: word,
    port: word,
  }),
  // Few delegations, so that they do not cover everything.
  fc.record({
    type: fc.constant("NS"),
    name: fc.constantFrom("", "sub", "x.sub", "other", "b.deleg"),
    ttl_sec,
    target: fc.oneof(host, fc.constantFrom("a.example.com", "example.com")),
  }),
);
