/** Zones as master files: what the record list has not, and what no zone file can hold. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DnsRecord } from "../../../src/dns/record.ts";
import { exportDeclared, readNameservers } from "../../../src/format/index.ts";
import type { Desired } from "../../../src/index.ts";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";
import { type ExportedFrom, type ExportOptions, exportZone } from "../../../src/units/zone/export.ts";
import { Account } from "../../support/account.ts";
import { growth } from "../../support/operations.ts";

const OPTIONS: ExportOptions = { nameservers: [], serial: null, nowMilliseconds: Date.UTC(2026, 10, 21, 23, 59) };

const PROJECT = `tenon: 1
defaults: { domain: { type: master, soa_email: hostmaster@example.com } }
domains:
  - domain: example.com
    refresh_sec: 7200
    records:
      - { type: A, name: www, target: 192.0.2.1, ttl_sec: 300 }
      - { type: A, target: 192.0.2.1 }
      - { type: MX, target: mx.example.net., priority: 10 }
      - { type: TXT, target: "v=spf1 mx -all" }
  - { domain: open.example }
  - { domain: copy.example, type: slave, master_ips: [192.0.2.53] }
`;

let account: Account;
let desired: Desired;

beforeAll(async () => {
  account = await Account.open();
  const loaded = await account.load(PROJECT);
  if (loaded.desired === null) throw new Error(JSON.stringify(loaded.diagnostics));
  ({ desired } = loaded);
});

afterAll(() => account.close());

function record(type: DnsRecord["type"], name: string, target: string, ttl_sec = 0): DnsRecord {
  return { type, name, target, ttl_sec };
}

/** Lines with single blanks, and what was said. */
function written(
  source: Partial<ExportedFrom>,
  options: Partial<ExportOptions> = {},
): { lines: string[]; said: string[]; notes: readonly Diagnostic[] } {
  const { text, notes } = exportZone(
    { zone: "example.com", fields: {}, records: [], rendered: [], ...source },
    { ...OPTIONS, ...options },
  );
  return {
    lines: text.split("\n").map((line) => line.replace(/ +/g, " ")),
    notes,
    said: notes.map(({ code, summary, detail }) => `${code}: ${summary}. ${detail}`),
  };
}

describe("a declared zone", () => {
  it("has the given servers, the date as serial, and defaults for what is not said", () => {
    const result = exportDeclared(desired, "Example.COM.", { ...OPTIONS, nameservers: ["ns1.example.net"] });
    if (!result.ok) throw new Error(JSON.stringify(result));
    expect(result.exported.notes).toEqual([]);
    expect(result.exported.text.split("\n").map((line) => line.replace(/ +/g, " "))).toEqual([
      "$ORIGIN example.com.",
      "$TTL 86400",
      "@ IN SOA ns1.example.net. hostmaster.example.com. 2026112100 7200 14400 1209600 86400",
      "@ IN NS ns1.example.net.",
      "@ IN A 192.0.2.1",
      "@ IN MX 10 mx.example.net.",
      '@ IN TXT "v=spf1 mx -all"',
      "www 300 IN A 192.0.2.1",
      "",
    ]);
  });

  it.each([
    ["nope.example", "unknown-domain"],
    ["...", "unknown-domain"],
    ["", "unknown-domain"],
    ["open.example", "records-not-managed"],
    ["copy.example", "zone-is-slave"],
  ])("%j cannot be exported: %s", (name, code) => {
    expect(exportDeclared(desired, name, OPTIONS)).toMatchObject({ ok: false, diagnostic: { code } });
  });
});

describe("servers", () => {
  const RENDERED = [
    "; example.com [1]",
    "$TTL 86400",
    "@  IN  SOA  ns1.node.com. h.example.com. 2021000020 1 1 1 1",
    "@    NS  ns1.node.com.",
    "@  300  NS  NS2.node.com.",
    "@    NS  own.example.net.",
    "sub    NS  other.example.",
  ];

  it("are those that the service renders, and so is the serial", () => {
    const { lines, said } = written({ rendered: RENDERED, records: [record("NS", "", "own.example.net", 300)] });
    expect(lines.slice(2, 6)).toEqual([
      "@ IN SOA ns1.node.com. hostmaster.example.com. 2021000020 14400 14400 1209600 86400",
      "@ 300 IN NS ns1.node.com.",
      "@ 300 IN NS ns2.node.com.",
      "@ 300 IN NS own.example.net.",
    ]);
    expect(said).toHaveLength(1);
  });

  it("that are given come instead, beside the declared ones", () => {
    const { lines } = written(
      { rendered: RENDERED, records: [record("NS", "", "own.example.net")] },
      { nameservers: ["new.example.net"], serial: 5 },
    );
    expect(lines.slice(2, 5)).toEqual([
      "@ IN SOA new.example.net. hostmaster.example.com. 5 14400 14400 1209600 86400",
      "@ IN NS new.example.net.",
      "@ IN NS own.example.net.",
    ]);
  });

  it("are a name that never exists where nobody knows them, and that is said", () => {
    const { lines, said } = written({});
    expect(lines.slice(2, 4)).toEqual([
      "@ IN SOA nameserver.invalid. hostmaster.example.com. 2026112100 14400 14400 1209600 86400",
      "@ IN NS nameserver.invalid.",
    ]);
    expect(said).toEqual([expect.stringMatching(/^nameservers-unknown: /)]);
  });

  it("that are given and have no address in the zone are neither in the NS nor in the SOA, and what is missing is said", () => {
    const nameservers = ["ns1.example.com", "ns2.example.net"];
    const beside = written({}, { nameservers });
    expect(beside.lines.slice(2, 5)).toEqual([
      "@ IN SOA ns2.example.net. hostmaster.example.com. 2026112100 14400 14400 1209600 86400",
      "@ IN NS ns2.example.net.",
      "",
    ]);
    const { lines, notes } = written({}, { nameservers: nameservers.slice(0, 1) });
    expect(lines.slice(2, 4)).toEqual([
      "@ IN SOA nameserver.invalid. hostmaster.example.com. 2026112100 14400 14400 1209600 86400",
      "@ IN NS nameserver.invalid.",
    ]);
    const fix = "Add an A or AAAA record for that host, or name a server outside the zone.";
    expect(notes).toMatchObject([
      { code: "record-left-out", fix },
      { code: "nameservers-unknown", summary: "no name server of example.com can be named", fix },
    ]);
    const whole = written({ records: [record("AAAA", "ns1", "2001:db8::1")] }, { nameservers });
    expect(whole.lines[2]).toMatch(/^@ IN SOA ns1\.example\.com\. /);
    expect(whole.said).toEqual([]);
  });

  it("that the service renders without their address are not in the SOA either", () => {
    const rendered = [
      "@  IN  SOA  ns1.example.com. h.example.com. 5 1 1 1 1",
      "@ NS ns1.example.com.",
      "@ NS ns2.node.com.",
    ];
    expect(written({ rendered }).lines[2]).toMatch(/^@ IN SOA ns2\.node\.com\. /);
  });

  it("have names", () => {
    expect(readNameservers(["NS1.Example.net.", "bücher.example"])).toEqual({
      ok: true,
      names: ["ns1.example.net", "xn--bcher-kva.example"],
    });
    expect(readNameservers(["a b"]).ok).toBe(false);
    expect(readNameservers(["."]).ok).toBe(false);
  });
});

describe("what no zone file can hold", () => {
  it("is left out by record, with the reason", () => {
    const records = [
      record("TXT", "twice", "same"),
      record("TXT", "twice", "same", 300),
      record("CNAME", "", "other.example"),
      record("A", "x".repeat(63), "192.0.2.1"),
      record("NS", "", "ns.example.com"),
      record("NS", "", "ns.deleg.example.com"),
      record("NS", "", "any.wild.example.com"),
      record("NS", "deleg", "ns.example.net"),
      record("A", "*.wild", "192.0.2.1"),
    ];
    const { lines, said } = written({ records });
    expect(said).toEqual([
      expect.stringContaining(
        "twice TXT. The record of example.com with the target `same` is left out: it is there twice",
      ),
      expect.stringContaining("@ CNAME"),
      expect.stringContaining("`ns.example.com` is left out: its host is in the zone, and has no address"),
    ]);
    expect(lines.filter((line) => /^@.* NS /.test(line))).toEqual([
      "@ IN NS any.wild.example.com.",
      "@ IN NS ns.deleg.example.com.",
    ]);
    const long = written({
      zone: `${"d".repeat(63)}.${"e".repeat(63)}.${"f".repeat(62)}`,
      records: [record("A", "x".repeat(63), "192.0.2.1")],
    });
    expect(long.said[0]).toContain("its full name is not a valid DNS name");
  });

  it("is a set that fits no message", () => {
    const records = Array.from({ length: 20 }, (_, index) => record("TXT", "big", `${index}${"x".repeat(4_000)}`));
    const { said } = written({ records });
    expect(said.filter((text) => text.includes("do not fit into one DNS message"))).toHaveLength(4);
  });

  it("is more than one TTL for one name and type: the lowest holds", () => {
    const records = [
      record("A", "www", "192.0.2.1", 3_600),
      record("A", "www", "192.0.2.2", 300),
      record("A", "www", "192.0.2.3"),
    ];
    const { lines, said } = written({ records });
    expect(lines.filter((line) => line.startsWith("www 300 IN A "))).toHaveLength(3);
    expect(said[0]).toMatch(/^mixed-ttl: /);
  });

  it("has a line for each of 12,000 records, and four times the records take four times the work", async () => {
    const write = (count: number) => {
      const records = Array.from({ length: count }, (_, index) => record("A", `h${index}.a.b.c`, "192.0.2.1"));
      expect(written({ records }).lines).toHaveLength(count + 5);
    };
    write(12_000);
    expect(await growth(500, 4, write)).toBeLessThan(5);
  });
});
