/** Zones of random records: some hundred through the API, all of them asked for. TENON_SEED=N takes other ones. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { compare } from "./zone-compare.ts";
import { checkZone, heldIn, makeZone, serveZone } from "./zone-judge.ts";

const SEED = Number(process.env["TENON_SEED"] ?? 1_035);

const RECORDS = 400;

/** A name refused, or one beside a CNAME: nothing else may be. */
const REFUSALS = new Set([
  "Record conflict - CNAMES must be unique",
  "A null MX must be the only MX record of its name",
]);

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

const record = fc.oneof(
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

test.each([0, 1, 2])("random records, zone %i", async (zoneNumber) => {
  const [records = []] = fc.sample(fc.array(record, { minLength: RECORDS, maxLength: RECORDS, size: "max" }), {
    seed: SEED + zoneNumber,
    numRuns: 1,
  });
  const made = await makeZone({ domain: "example.com", ttl_sec: [0, 300, 14_400][zoneNumber] ?? 0 });
  for (const sent of records) {
    const answer = await made.send("POST", `/domains/${made.domain.id}/records`, sent);
    const reasons = (answer.body.errors ?? []).map(({ reason }: { reason: string }) => reason);
    expect([sent, answer.status === 200, reasons.filter((reason: string) => !REFUSALS.has(reason))]).toEqual([
      sent,
      reasons.length === 0,
      [],
    ]);
  }
  const listed = await made.records();
  expect(listed.length).toBeGreaterThan(RECORDS / 2);
  const zone = await made.zone();
  expect(await checkZone("example.com", zone)).toMatchObject({ ok: true });
  // Random sets are short: only a name server without an address is left out.
  const held = heldIn(zone, listed);
  expect(listed.filter((one) => !held.includes(one)).every(({ type }) => type === "NS")).toBe(true);
  for (const kind of ["nsd", "bind"] as const) {
    expect(await compare(await serveZone("example.com", zone, kind), made.domain, held)).toEqual([]);
  }
});
