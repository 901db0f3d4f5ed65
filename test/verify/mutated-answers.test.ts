/** A zone counts as verified only by answers that hold exactly what is declared: answers are mutated on the wire, and judged. */

import dnsPacket, { type Answer } from "dns-packet";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DnsQuery, openNameserver, queryFailure, readAnswer } from "../../src/dns/query.ts";
import type { DnsRecord } from "../../src/dns/record.ts";
import { type ExpectedZone, expectations } from "../../src/verify/expectation.ts";
import { judgeAnswer } from "../../src/verify/judge.ts";
import { verifyZones } from "../../src/verify/verify.ts";
import { startAsked } from "../support/scripted-asked.ts";

const ZONE = "example.com";
const NAME = `www.${ZONE}`;
const QUERY_ID = 4_711;
const TTL_SEC = 300;

function zone(records: readonly DnsRecord[], gone: readonly DnsRecord[] = []): ExpectedZone {
  return { zone: ZONE, records, changed: null, gone, tolerates: () => false };
}

function host(target: string): DnsRecord {
  return { type: "A", name: "www", target, ttl_sec: TTL_SEC };
}

/** What a server sends, before and after it is mutated. */
interface Message {
  readonly name: string;
  readonly type: "A" | "AAAA" | "MX";
  readonly id: number;
  readonly flags: number;
  readonly answers: readonly Answer[];
  readonly authorities: readonly Answer[];
  readonly additionals: readonly Answer[];
}

const RESPONSE = 0x8000;
const AUTHORITATIVE = 0x0400;

function state(wanted: ExpectedZone, message: Message): string {
  const [set] = expectations(wanted).sets;
  if (set === undefined) throw new Error("The zone asks for nothing.");
  const query: DnsQuery = { name: set.name, type: set.type };
  const octets = dnsPacket.encode({
    id: message.id,
    flags: message.flags,
    questions: [{ type: message.type, class: "IN", name: message.name }],
    answers: [...message.answers],
    authorities: [...message.authorities],
    additionals: [...message.additionals],
  });
  octets.writeUInt16BE(message.flags, 2);
  const answer = readAnswer(octets, query, QUERY_ID);
  return judgeAnswer(set, typeof answer === "string" ? queryFailure("malformed", answer) : { ok: true, answer }).state;
}

function address(data: string, changes: { name?: string; ttl?: number; class?: "IN" | "CH" } = {}): Answer {
  return { type: "A", name: NAME, ttl: TTL_SEC, class: "IN", data, ...changes };
}

const ADDRESSES = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];

/** Each turns a true answer into one that says something else. */
const MUTATIONS: Readonly<Record<string, (message: Message, index: number) => Message>> = {
  "a record is missing": (message, index) => ({ ...message, answers: message.answers.toSpliced(index, 1) }),
  "a record has another value": (message, index) => ({
    ...message,
    answers: message.answers.with(index, address("198.51.100.66")),
  }),
  "a record has another owner": (message, index) => ({
    ...message,
    answers: message.answers.with(index, address("192.0.2.1", { name: `evil.${ZONE}` })),
  }),
  "a record has another class": (message, index) => ({
    ...message,
    answers: message.answers.with(index, address(ADDRESSES[index] ?? "", { class: "CH" })),
  }),
  "a record has another TTL": (message, index) => ({
    ...message,
    answers: message.answers.with(index, address(ADDRESSES[index] ?? "", { ttl: 1 })),
  }),
  "a record more": (message, index) => ({
    ...message,
    answers: message.answers.toSpliced(index, 0, address("198.51.100.66")),
  }),
  "a record of another name more": (message, index) => ({
    ...message,
    answers: message.answers.toSpliced(index, 0, address("198.51.100.66", { name: `evil.${ZONE}` })),
  }),
  "a record of another class more": (message, index) => ({
    ...message,
    answers: message.answers.toSpliced(index, 0, address("198.51.100.66", { class: "CH" })),
  }),
  "a record of another type more": (message, index) => ({
    ...message,
    answers: message.answers.toSpliced(index, 0, { type: "TXT", name: NAME, ttl: TTL_SEC, data: "v=spf1 +all" }),
  }),
  "an alias more": (message, index) => ({
    ...message,
    answers: message.answers.toSpliced(index, 0, { type: "CNAME", name: NAME, ttl: TTL_SEC, data: "evil.example" }),
  }),
  "its records stand in the authority section": (message) => ({
    ...message,
    answers: [],
    authorities: message.answers,
  }),
  "its records stand in the additional section": (message) => ({
    ...message,
    answers: [],
    additionals: message.answers,
  }),
  "it has the code NXDOMAIN": (message) => ({ ...message, flags: message.flags | 3 }),
  "it has the code SERVFAIL": (message) => ({ ...message, flags: message.flags | 2 }),
  "it has the code REFUSED": (message) => ({ ...message, flags: message.flags | 5 }),
  "it has the code BADVERS, whose upper bits are in an OPT record": (message) => ({
    ...message,
    additionals: [
      ...message.additionals,
      { type: "OPT", name: ".", extendedRcode: 1, flags: 0, udpPayloadSize: 1232 } as never,
    ],
  }),
  "it is without authority": (message) => ({ ...message, flags: message.flags & ~AUTHORITATIVE }),
  "it is no answer": (message) => ({ ...message, flags: message.flags & ~RESPONSE }),
  "it has another operation": (message) => ({ ...message, flags: message.flags | 0x2800 }),
  "it has another number": (message) => ({ ...message, id: QUERY_ID + 1 }),
  "it answers another name": (message) => ({ ...message, name: `w.${ZONE}` }),
  "it answers another type": (message) => ({ ...message, type: "AAAA" }),
  "it refers elsewhere": (message) => ({
    ...message,
    flags: message.flags & ~AUTHORITATIVE,
    answers: [],
    authorities: [{ type: "NS", name: NAME, ttl: TTL_SEC, data: "ns.evil.example" }],
  }),
};

describe("an answer about a set", () => {
  const sets = fc.subarray(ADDRESSES, { minLength: 1 });

  it("that holds exactly what is declared is there, in any order", () => {
    fc.assert(
      fc.property(
        sets.chain((set) => fc.tuple(fc.constant(set), fc.shuffledSubarray(set, { minLength: set.length }))),
        ([declared, answered]) => {
          const answers = answered.map((data) => address(data));
          expect(state(zone(declared.map(host)), answer({ answers }))).toBe("there");
        },
      ),
    );
  });

  it.each(Object.entries(MUTATIONS))("is not there when %s", (_, mutate) => {
    fc.assert(
      fc.property(sets, fc.nat(), (declared, draw) => {
        const answers = declared.map((data) => address(data));
        const mutated = mutate(answer({ answers }), draw % declared.length);
        expect(state(zone(declared.map(host)), mutated)).not.toBe("there");
      }),
    );
  });
});

describe("an answer about a set that is gone", () => {
  const gone = [host("192.0.2.1")];
  const alias = (target: string, name = NAME): Answer => ({ type: "CNAME", name, ttl: TTL_SEC, data: target });

  it.each([
    ["nothing", [], []],
    [
      "the declared alias and what it leads to",
      [{ type: "CNAME", name: "www", target: "a.example.com", ttl_sec: 0 }],
      [
        alias("a.example.com"),
        alias("b.example.net", "a.example.com"),
        address("192.0.2.1", { name: "b.example.net" }),
      ],
    ],
    [
      "the alias of a declared wildcard",
      [{ type: "CNAME", name: "*", target: "a.example.com", ttl_sec: 0 }],
      [alias("a.example.com")],
    ],
  ] as const)("is there when it holds %s", (_, records, answers) => {
    const wanted = { ...zone(records as readonly DnsRecord[], gone), changed: [] };
    expect(state(wanted, answer({ answers: answers as readonly Answer[] }))).toBe("there");
  });

  it.each([
    ["the record that is gone", [address("192.0.2.1")]],
    ["another record", [address("192.0.2.9")]],
    ["an alias that nobody declared", [alias("evil.example")]],
    ["a record of another name", [address("192.0.2.1", { name: "evil.example.com" })]],
    ["a ring of aliases", [alias("a.example.com"), alias(NAME, "a.example.com")]],
  ] as const)("is not there when it holds %s", (_, answers) => {
    expect(state(zone([], gone), answer({ answers }))).not.toBe("there");
  });

  it("is not there when it refers to servers that nobody declared, unless such records are tolerated", () => {
    const referral = answer({
      flags: RESPONSE,
      authorities: [{ type: "NS", name: NAME, ttl: TTL_SEC, data: "ns.evil.example" }],
    });
    expect(state(zone([], gone), referral)).toBe("different");
    expect(state({ ...zone([], gone), tolerates: ({ type }) => type === "NS" }, referral)).toBe("there");
    const elsewhere = { ...referral, authorities: [{ ...referral.authorities[0], name: `other.${ZONE}` } as Answer] };
    expect(state({ ...zone([], gone), tolerates: () => true }, elsewhere)).toBe("different");
  });
});

describe("a server that cuts everything off", () => {
  it("verifies nothing, as its answers over TCP are cut off too", async () => {
    const server = await startAsked(({ send, reply }) => send(reply({ isTruncated: true })));
    const verification = await verifyZones({
      zones: [zone([host("192.0.2.1")])],
      nameservers: [{ label: "ns", address: { host: server.host, port: server.port } }],
      delegation: { wanted: false, parents: null },
      resolver: { nameservers: () => Promise.resolve([]), addresses: () => Promise.resolve([]) },
      clock: { now: () => 0, sleep: () => Promise.resolve() },
      timeoutMilliseconds: 0,
      signal: new AbortController().signal,
      open: (nameserver) => openNameserver(nameserver.address),
    });
    expect(verification.problems.map(({ name, transport, state, detail }) => [name, transport, state, detail])).toEqual(
      [
        [ZONE, "tcp", "not-answering", "the answer over TCP is cut off"],
        [NAME, "tcp", "not-answering", "the answer over TCP is cut off"],
      ],
    );
  });
});

function answer(changes: Partial<Message>): Message {
  return {
    name: NAME,
    type: "A",
    id: QUERY_ID,
    flags: RESPONSE | AUTHORITATIVE,
    answers: [],
    authorities: [],
    additionals: [],
    ...changes,
  };
}
