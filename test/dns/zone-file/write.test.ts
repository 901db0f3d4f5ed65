import { describe, expect, test } from "vitest";
import type { DnsRecord } from "../../../src/dns/record.ts";
import { type WrittenZone, writeZoneFile } from "../../../src/dns/zone-file/write.ts";
import { plain, read } from "./reading.ts";

const SOA = {
  mname: "ns1.example.net",
  email: "host.master@example.com",
  serial: 7,
  refresh: 1,
  retry: 2,
  expire: 3,
  ttl_sec: 300,
};

function zone(records: readonly DnsRecord[], more: Partial<WrittenZone> = {}): WrittenZone {
  return { zone: "example.com", soa: null, nameservers: [], records, ...more };
}

const a = (name: string, target = "192.0.2.1", ttl_sec = 0): DnsRecord => ({ type: "A", name, target, ttl_sec });
const txt = (target: string): DnsRecord => ({ type: "TXT", name: "t", target, ttl_sec: 0 });

describe("a written zone", () => {
  test("has origin, TTL, SOA, nameservers and the records in order and in columns", () => {
    const records: DnsRecord[] = [
      a("b.www", "192.0.2.10", 600),
      a("b.www", "192.0.2.9", 300),
      { type: "SRV", name: "_sip._tcp", target: "", ttl_sec: 0, priority: 1, weight: 2, port: 3 },
      { type: "MX", name: "", target: "mx.example.com", ttl_sec: 0, priority: 10 },
      a("*"),
      a("www"),
      { type: "CAA", name: "", target: "letsencrypt.org; x=y", ttl_sec: 0, tag: "issue" },
      a(""),
    ];
    const written = zone(records, { soa: SOA, nameservers: ["ns2.example.net", "ns1.example.net"] });
    const text = `$ORIGIN example.com.
$TTL 300
@             IN SOA ns1.example.net. host\\.master.example.com. 7 1 2 3 300
@             IN NS  ns1.example.net.
@             IN NS  ns2.example.net.
@             IN A   192.0.2.1
@             IN MX  10 mx.example.com.
@             IN CAA 0 issue "letsencrypt.org; x=y"
*             IN A   192.0.2.1
_sip._tcp     IN SRV 1 2 3 .
www           IN A   192.0.2.1
b.www     300 IN A   192.0.2.9
b.www     600 IN A   192.0.2.10
`;
    expect(writeZoneFile(written)).toBe(text);
    expect(writeZoneFile({ ...written, records: [...records].reverse() })).toBe(text);
  });

  test("divides long texts into strings, never within a character", async () => {
    const target = `${"x".repeat(254)}ü${"😀".repeat(100)}`;
    const text = writeZoneFile(zone([txt(target)]));
    const strings = [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(
      ([, inner = ""]) => inner.replace(/\\\d{3}/g, "?").length,
    );
    expect(strings).toEqual([254, 254, 148]);
    expect((await read(text)).records.map(({ target: again }) => again)).toEqual([target]);
  });

  test.each([
    'quotes " and \\ backslashes',
    "semicolons; (and) parentheses",
    "ümläut 😀",
    "",
    " ",
    "\\",
    '"',
    "\\065",
    "@",
    "$TTL",
  ])("reads the text %j back", async (target) => {
    const { records, diagnostics } = await read(writeZoneFile(zone([txt(target)])));
    expect([records.map((record) => record.target), diagnostics]).toEqual([[target], []]);
  });

  test("escapes everything but printable ASCII, so that any reader has the same octets", () => {
    const text = writeZoneFile(zone([txt('a"b\\c;ü\u0001\u007f')]));
    expect(text).toContain('"a\\"b\\\\c;\\195\\188\\001\\127"');
    expect(text).toMatch(/^[\n -~]*$/);
  });

  test("has owners like types, classes and times", async () => {
    const names = ["in", "300", "a", "txt", "1h", "soa", "ttl", "type1", "ch"];
    const records = names.map((name) => a(name, "192.0.2.1", 60));
    const again = await read(writeZoneFile(zone(records)));
    expect(again.records.map(plain)).toEqual([...records].sort((x, y) => (x.name < y.name ? -1 : 1)));
  });

  test("escapes what is no plain name", () => {
    const text = writeZoneFile(zone(["@", "$ttl", "a b", 'x"y', "ü", "a;b"].map((name) => a(name))));
    expect(
      text
        .split("\n")
        .slice(2, -1)
        .map((line) => line.split(" ")[0]),
    ).toEqual([...["\\$ttl", "\\@", "a\\032b", "a\\;b", 'x\\"y', "\\195\\188"]]);
  });

  test("does not name a nameserver twice", () => {
    const records: DnsRecord[] = [{ type: "NS", name: "", target: "ns1.example.net", ttl_sec: 0 }];
    expect(writeZoneFile(zone(records, { nameservers: ["ns1.example.net"] })).match(/ NS /g)).toHaveLength(1);
  });

  test("says what no record has room for", () => {
    expect(writeZoneFile(zone([txt("x".repeat(65_535))])).split("\n")[2]).toBe(
      "; t TXT is left out: its strings take more than the 65535 octets that a record has room for",
    );
  });
});
