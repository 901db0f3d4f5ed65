/** What a zone must answer, and how answers are judged. */

import { describe, expect, it } from "vitest";
import type { RecordData, ResourceRecord } from "../../src/dns/message.ts";
import type { DnsAnswer } from "../../src/dns/query.ts";
import type { DnsRecord, RecordType } from "../../src/dns/record.ts";
import { type ExpectedSet, type ExpectedZone, expectations, soaExpectation } from "../../src/verify/expectation.ts";
import { judgeAnswer } from "../../src/verify/judge.ts";

const ZONE = "example.com";

function record(type: RecordType, name: string, target: string, more: Partial<DnsRecord> = {}): DnsRecord {
  return { type, name, target, ttl_sec: 0, ...more };
}

function wanted(changes: Partial<ExpectedZone>): ExpectedZone {
  return { zone: ZONE, records: [], changed: null, gone: [], tolerates: () => false, ...changes };
}

function shown(zone: ExpectedZone): string[] {
  return expectations(zone).sets.map(
    ({ name, type, section, values, ttls }) =>
      `${name} ${type} ${section === "answer" ? "" : `(${section}) `}= ${values.join(" | ")}${ttls === null ? "" : ` ttl ${ttls.join("/")}`}`,
  );
}

function answer(
  records: readonly (readonly [string, RecordData, number?])[],
  changes: Partial<DnsAnswer> = {},
): DnsAnswer {
  const answers = records.map(([name, data, ttl = 300]): ResourceRecord => ({ name, data, ttl, class: 1 }));
  const empty = { rcode: 0, isAuthoritative: true, isTruncated: false, authorities: [], additionals: [] };
  return { ...empty, answers, ...changes };
}

const A = (address: string): RecordData => ({ type: "A", target: address });
const NS = (target: string): RecordData => ({ type: "NS", target });

function setOf(zone: ExpectedZone): ExpectedSet {
  const [set] = expectations(zone).sets;
  if (set === undefined) throw new Error("nothing is asked for");
  return set;
}

function state(set: ExpectedSet, given: DnsAnswer): string {
  const { state, detail } = judgeAnswer(set, { ok: true, answer: given });
  return detail === "" ? state : `${state}: ${detail}`;
}

describe("what is asked for", () => {
  it("is the whole set of each name and type, in one spelling", () => {
    const records = [
      record("A", "www", "192.0.2.2", { ttl_sec: 300 }),
      record("A", "www", "192.0.2.1", { ttl_sec: 300 }),
      record("A", "www", "192.0.2.1", { ttl_sec: 300 }),
      record("MX", "", "", { priority: 0 }),
      record("SRV", "_sip._tcp", "sip.example.com", { priority: 1, weight: 2, port: 3, ttl_sec: 300 }),
      record("SRV", "_sip._tcp", "", { priority: 1, weight: 2, port: 3, ttl_sec: 600 }),
      record("CAA", "", "a.example", { tag: "Issue" }),
      record("TXT", "t", "é"),
      record("AAAA", "www", "2001:db8::1"),
      record("CNAME", "alias", "www.example.com"),
      record("PTR", "1", "www.example.com"),
      record("NS", "", "ns1.example.net", { ttl_sec: 300 }),
    ];
    expect(shown(wanted({ records }))).toEqual([
      "1.example.com PTR = www.example.com.",
      "_sip._tcp.example.com SRV = 1 2 3 . | 1 2 3 sip.example.com. ttl 300/600",
      "alias.example.com CNAME = www.example.com.",
      "example.com CAA = 0 issue a.example",
      "example.com MX = 0 .",
      "example.com NS = ns1.example.net.",
      "t.example.com TXT = Ã©",
      "www.example.com A = 192.0.2.1 | 192.0.2.2 ttl 300",
      "www.example.com AAAA = 2001:db8::1",
    ]);
  });

  it("of changes is what changed, what is gone, and what else is in their sets", () => {
    const records = [
      record("A", "www", "192.0.2.1"),
      record("A", "www", "192.0.2.2"),
      record("A", "other", "192.0.2.3"),
    ];
    const gone = [record("A", "www", "192.0.2.9"), record("TXT", "old", "x")];
    expect(shown(wanted({ records, changed: [record("A", "www", "192.0.2.2")], gone }))).toEqual([
      "old.example.com TXT = ",
      "www.example.com A = 192.0.2.1 | 192.0.2.2",
    ]);
  });

  it("of a name that is gone is what a wildcard puts in its place", () => {
    const records = [
      record("A", "*", "192.0.2.1"),
      record("A", "*.dev", "192.0.2.2"),
      record("A", "a.b", "192.0.2.3"),
      record("TXT", "here", "x"),
    ];
    const gone = ["x", "x.dev", "y.x.dev", "x.b", "b", "here", "x.here"].map((name) => record("A", name, "192.0.2.9"));
    expect(shown(wanted({ records, changed: [], gone }))).toEqual([
      // Exists, as there is something below it; so does `here`, and no wildcard is below either.
      "b.example.com A = ",
      "here.example.com A = ",
      "x.b.example.com A = ",
      "x.dev.example.com A = 192.0.2.2",
      "x.example.com A = 192.0.2.1",
      "x.here.example.com A = ",
      "y.x.dev.example.com A = 192.0.2.2",
    ]);
  });

  it("at and below a delegation is a referral, its glue, and nothing else", () => {
    const records = [
      record("NS", "sub", "ns.sub.example.com"),
      record("NS", "deep.sub", "ns.example.net"),
      record("A", "ns.sub", "192.0.2.53"),
      record("A", "www.sub", "192.0.2.1"),
      record("TXT", "sub", "x"),
      record("A", "sub2", "192.0.2.2"),
    ];
    expect(shown(wanted({ records }))).toEqual([
      "ns.sub.example.com A (glue) = 192.0.2.53",
      "sub.example.com NS (referral) = ns.sub.example.com.",
      "sub2.example.com A = 192.0.2.2",
    ]);
    expect(expectations(wanted({ records })).hidden.map(({ name, type }) => `${name} ${type}`)).toEqual([
      "deep.sub.example.com NS",
      "sub.example.com TXT",
      "www.sub.example.com A",
    ]);
  });

  it("of 12,000 records is one for each", () => {
    const records = Array.from({ length: 12_000 }, (_, index) => record("A", `h${index}.a.b.c.d.e`, "192.0.2.1"));
    expect(expectations(wanted({ records })).sets).toHaveLength(12_000);
    expect(expectations(wanted({ records, changed: records.slice(0, 1) })).sets).toHaveLength(1);
  });
});

describe("an answer", () => {
  const www = wanted({
    records: [record("A", "www", "192.0.2.1", { ttl_sec: 300 }), record("A", "www", "192.0.2.2", { ttl_sec: 300 })],
  });
  const both = [
    ["www.example.com", A("192.0.2.1")],
    ["www.example.com", A("192.0.2.2")],
  ] as const;

  it.each([
    ["all of it", both, "there"],
    ["in another order", [...both].reverse(), "there"],
    ["nothing", [], "missing"],
    [
      "another name's",
      [["example.com", A("192.0.2.1")]],
      "different: the answer holds example.com A, which does not belong there",
    ],
    [
      "another type's",
      [["www.example.com", { type: "AAAA", address: "::1" }]],
      "different: the answer holds www.example.com AAAA, which does not belong there",
    ],
    ["half of it", both.slice(0, 1), "different"],
    ["other values", [["www.example.com", A("192.0.2.3")]], "different"],
    ["one more", [...both, ["www.example.com", A("192.0.2.3")]], "different"],
    [
      "another TTL",
      [
        ["www.example.com", A("192.0.2.1"), 299],
        ["www.example.com", A("192.0.2.2"), 299],
      ],
      "different: its TTL is 299, not 300",
    ],
  ] as const)("of %s is judged", (_, records, expected) => {
    expect(state(setOf(www), answer(records as never))).toBe(expected);
  });

  it("is that of a declared alias where there must be nothing", () => {
    const records = [record("CNAME", "www", "a.example.com")];
    const gone = setOf(wanted({ records, changed: [], gone: [record("A", "www", "192.0.2.1")] }));
    const alias: RecordData = { type: "CNAME", target: "a.example.com" };
    expect(
      state(
        gone,
        answer([
          ["www.example.com", alias],
          ["a.example.com", A("192.0.2.1")],
        ]),
      ),
    ).toBe("there");
    expect(state(gone, answer([["www.example.com", A("192.0.2.1")]]))).toBe("different");
    expect(state(gone, answer([], { rcode: 3 }))).toBe("there");
  });

  it.each([
    ["NXDOMAIN", { rcode: 3 }, "missing"],
    ["SERVFAIL", { rcode: 2 }, "not-answering: the server answered SERVFAIL"],
    ["REFUSED", { rcode: 5, isAuthoritative: false }, "not-authoritative: the server answered REFUSED"],
    [
      "from a cache",
      { isAuthoritative: false },
      "not-authoritative: the server answers without authority for the zone",
    ],
    ["cut off", { isTruncated: true }, "there: truncated: the set does not fit into one UDP answer"],
  ])("that is %s is judged", (_, changes, expected) => {
    expect(state(setOf(www), answer([], changes))).toBe(expected);
  });

  it("upwards is no authority, to an unknown delegation is a lack", () => {
    const refer = (name: string): Partial<DnsAnswer> => ({
      isAuthoritative: false,
      authorities: [{ name, ttl: 1, class: 1, data: NS("ns.example.net") }],
    });
    for (const name of ["", "com", ZONE])
      expect(state(setOf(www), answer([], refer(name)))).toMatch(/^not-authoritative/);
    expect(state(setOf(www), answer([], refer("www.example.com")))).toMatch(/^missing: the server refers to/);
  });

  it("to a delegation is looked for where it stands, with glue, or from the zone itself", () => {
    const records = [record("NS", "sub", "ns.sub.example.com"), record("A", "ns.sub", "192.0.2.53")];
    const [glue, referral] = expectations(wanted({ records })).sets;
    if (glue === undefined || referral === undefined) throw new Error("two sets are expected");
    const authorities = [{ name: "sub.example.com", ttl: 1, class: 1, data: NS("ns.sub.example.com") }];
    const additionals = [{ name: "ns.sub.example.com", ttl: 1, class: 1, data: A("192.0.2.53") }];
    const given = answer([], { isAuthoritative: false, authorities, additionals });
    expect([state(referral, given), state(glue, given)]).toEqual(["there", "there"]);
    expect(state(glue, { ...given, additionals: [] })).toBe("missing");
    expect(state(referral, answer([["sub.example.com", NS("ns.sub.example.com")]]))).toBe("there");
    expect(state(referral, { ...given, authorities: [] })).toBe("missing");
  });

  it("may have more of what is tolerated, but not of what is gone", () => {
    const tolerates = ({ target }: DnsRecord): boolean => target !== "192.0.2.66";
    const records = [record("A", "www", "192.0.2.1")];
    const set = setOf(wanted({ records, changed: records, gone: [record("A", "www", "192.0.2.9")], tolerates }));
    const with_ = (address: string): DnsAnswer =>
      answer([
        ["www.example.com", A("192.0.2.1")],
        ["www.example.com", A(address)],
      ]);
    expect(["192.0.2.8", "192.0.2.9", "192.0.2.66"].map((address) => state(set, with_(address)))).toEqual([
      "there",
      "different",
      "different",
    ]);
  });

  it("at the apex may name more servers than are declared", () => {
    const apex = setOf(wanted({ records: [record("NS", "", "ns9.example.net", { ttl_sec: 300 })] }));
    expect(
      state(
        apex,
        answer([
          [ZONE, NS("ns9.example.net"), 5],
          [ZONE, NS("ns1.node.com"), 5],
        ]),
      ),
    ).toBe("there");
    expect(state(apex, answer([[ZONE, NS("ns1.node.com")]]))).toBe("different");
    const emptied = setOf(wanted({ gone: [record("NS", "", "ns9.example.net")] }));
    expect(state(emptied, answer([[ZONE, NS("ns1.node.com"), 5]]))).toBe("there");
    expect(state(emptied, answer([[ZONE, { type: "CNAME", target: "evil.example" }, 5]]))).not.toBe("there");
  });

  it("of texts is compared octet by octet", () => {
    const text = setOf(wanted({ records: [record("TXT", "t", "é😀x")] }));
    const octets = (of: string): string => Buffer.from(of).toString("latin1");
    expect(state(text, answer([["t.example.com", { type: "TXT", target: octets("é😀x") }]]))).toBe("there");
    expect(state(text, answer([["t.example.com", { type: "TXT", target: octets("e😀x") }]]))).toBe("different");
    const caa = setOf(wanted({ records: [record("CAA", "", "a.example", { tag: "issue" })] }));
    const target = "a.example";
    expect(state(caa, answer([[ZONE, { type: "CAA", flags: 0, tag: "issue", target }]]))).toBe("there");
    expect(state(caa, answer([[ZONE, { type: "CAA", flags: 128, tag: "issue", target }]]))).toBe("different");
  });

  it("of the SOA shows that the zone is there, whatever it says", () => {
    const soa = { mname: "a", rname: "b", serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1 };
    expect(state(soaExpectation(ZONE), answer([[ZONE, { type: "SOA", ...soa }]]))).toBe("there");
    expect(state(soaExpectation(ZONE), answer([]))).toBe("missing");
  });
});
