import { describe, expect, test } from "vitest";
import { asideOf, problemsOf, read, recordsOf } from "./reading.ts";

async function dataOf(line: string): Promise<object | undefined> {
  const [record] = await recordsOf(line);
  if (record === undefined) return undefined;
  const { name: _, ttl_sec: __, ...data } = record;
  return data;
}

describe("data", () => {
  test.each<[string, object]>([
    ["a A 192.0.2.1", { type: "A", target: "192.0.2.1" }],
    ["a AAAA ::FFFF:192.0.2.1", { type: "AAAA", target: "::ffff:c000:201" }],
    ["a CNAME b", { type: "CNAME", target: "b.example.com" }],
    ["a CNAME B.Example.NET.", { type: "CNAME", target: "b.example.net" }],
    ["a NS @", { type: "NS", target: "example.com" }],
    ["1 PTR 1h", { type: "PTR", target: "1h.example.com" }],
    ["a MX 255 mx.example.net.", { type: "MX", target: "mx.example.net", priority: 255 }],
    ["a MX 0 .", { type: "MX", target: "", priority: 0 }],
    ["_SIP._tcp SRV 0 65535 5060 b", { type: "SRV", target: "b.example.com", priority: 0, weight: 65535, port: 5060 }],
    ["_a_b SRV 1 2 3 b", { type: "SRV", target: "b.example.com", priority: 1, weight: 2, port: 3 }],
    ["a CAA 0 Issue letsencrypt.org", { type: "CAA", target: "letsencrypt.org", tag: "issue" }],
    ['a CAA 0 issuewild "\\;"', { type: "CAA", target: ";", tag: "issuewild" }],
    ["a CAA 0 issue \\;", { type: "CAA", target: ";", tag: "issue" }],
    [`a CAA 0 iodef "${"x".repeat(300)}"`, { type: "CAA", target: "x".repeat(300), tag: "iodef" }],
  ])("of %s", async (line, data) => {
    expect(await dataOf(line)).toEqual(data);
  });

  test.each<[string, string]>([
    ["a TXT x", "x"],
    ['a TXT ""', ""],
    ['a TXT "a" "b"c"d"', "abcd"],
    ["a TXT a;b", "a"],
    ["a TXT a\\;b\\ c\\(", "a;b c("],
    ['a TXT "a;b (c) \\" \\\\ \\x"', 'a;b (c) " \\ x'],
    ["a TXT \\098\\195\\188", "bü"],
    ['a TXT "\\195" "\\188"', "ü"],
    ['a TXT "bü 😀 \\😀"', "bü 😀 😀"],
    ["a TXT @ $ *", "@$*"],
    ["a TXT \\239\\191\\189\\239\\187\\191", "\ufffd\ufeff"],
  ])("of the text %s", async (line, target) => {
    expect(await dataOf(line)).toEqual({ type: "TXT", target });
  });

  test("that the service cannot hold is set aside", async () => {
    const lines = [
      ...["a CAA 128 issue x", "a CAA 0 issuemail x", 'a CAA 0 issue ""', "a CAA 0 issue a.", "a CAA 0 issue \\255"],
      ...["a MX 256 b", "_a._b SRV 256 0 0 b", "a SRV 1 1 1 b", "_a.b SRV 1 1 1 b"],
      ...["a TXT \\255", "a TXT \\000", 'a TXT "a\tb"', "a TXT \\127", "a TXT \\237\\160\\128"],
      ...["* NS a", "@ CNAME a", "a CNAME .", "a CNAME *.b", "a NS b\\ c", "a CNAME b\\.c"],
      ...[
        `${"a".repeat(50)}.${"b".repeat(50)} A 192.0.2.1`,
        "a*b A 192.0.2.1",
        "a.*.b A 192.0.2.1",
        "a\\.b A 192.0.2.1",
      ],
      ...[
        "bü A 192.0.2.1",
        "b.example.net. A 192.0.2.1",
        "x.example.com A 192.0.2.1",
        ". A 192.0.2.1",
        "\\@ A 192.0.2.1",
      ],
    ];
    const aside = await asideOf(...lines);
    expect(aside).toHaveLength(lines.length);
    expect(aside.filter((line) => !line.endsWith(" not-holdable"))).toEqual([]);
    expect(aside.slice(-5)).toEqual([
      "A b\\195\\188 not-holdable",
      "A b.example.net. not-holdable",
      "A x.example.com not-holdable",
      "A . not-holdable",
      "A \\@ not-holdable",
    ]);
  });

  test("of a zone's own nameservers and its SOA are set aside, with what the SOA says", async () => {
    const { records, skipped, soa, diagnostics } = await read(
      "@ 5 SOA ns1.example.net. Host\\.Master.example.com. 2026010101 1h 30M 1w 60\n$TTL 9\n NS ns1.example.net.\nsub NS a\n",
    );
    expect(diagnostics).toEqual([]);
    expect(records.map(({ name }) => name)).toEqual(["sub"]);
    expect(skipped.map(({ reason, type, name }) => [reason, type, name])).toEqual([
      ["soa", "SOA", ""],
      ["apex-ns", "NS", ""],
    ]);
    expect(soa).toEqual({
      mname: "ns1.example.net",
      email: "Host.Master@example.com",
      serial: 2026010101,
      refresh: 3600,
      retry: 1800,
      expire: 604800,
      minimum: 60,
      ttl_sec: 5,
    });
  });

  test("that is there twice is read once, with a warning", async () => {
    const text = "$TTL 1h\na A 192.0.2.1\nA 300 a 192.0.2.1\na A 192.0.2.2\n";
    const { records, diagnostics } = await read(text);
    expect(records.map(({ target, ttl_sec }) => [target, ttl_sec])).toEqual([
      ["192.0.2.1", 3600],
      ["192.0.2.2", 3600],
    ]);
    expect(diagnostics).toMatchObject([
      { code: "duplicate-record", severity: "warning", related: [{ span: { start: 8 } }] },
    ]);
  });
});

describe("data is refused at the very word", () => {
  test.each([
    ["a A 192.0.2.256", '1:5 bad-address "192.0.2.256"'],
    ["a A 192.0.2.01", '1:5 bad-address "192.0.2.01"'],
    ["a A 2001:db8::1", '1:5 bad-address "2001:db8::1"'],
    ["a AAAA fe80::1%eth0", '1:8 bad-address "fe80::1%eth0"'],
    ["a A", '1:3 missing-field "A"'],
    ["a A 192.0.2.1 192.0.2.2", '1:15 extra-field "192.0.2.2"'],
    ["a MX mx", '1:6 bad-number "mx"'],
    ["a MX 10", '1:6 missing-field "10"'],
    ["a MX 65536 mx", '1:6 bad-number "65536"'],
    ["a MX 0x10 mx", '1:6 bad-number "0x10"'],
    ["a MX -1 mx", '1:6 bad-number "-1"'],
    ["_a._b SRV 1 2 65536 x", '1:15 bad-number "65536"'],
    ["_a._b SRV 1 2 x", '1:15 bad-number "x"'],
    ["a CNAME b..c", '1:9 bad-name "b..c"'],
    ["a CNAME .b", '1:9 bad-name ".b"'],
    ['a CNAME "b"', '1:9 bad-name "\\"b\\""'],
    [`a CNAME ${"x".repeat(64)}`, `1:9 bad-name "${"x".repeat(64)}"`],
    [`${"x".repeat(64)} A 192.0.2.1`, `1:1 bad-name "${"x".repeat(64)}"`],
    [`a 5 CNAME ${"x.".repeat(125)}xxx.`, null],
    [`a 5 CNAME ${"x.".repeat(126)}xx.`, `1:11 bad-name "${"x.".repeat(126)}xx."`],
    [`a CNAME ${"x.".repeat(128)}`, `1:9 bad-name "${"x.".repeat(128)}"`],
    ["a CNAME b\\1", '1:10 bad-escape "\\\\1"'],
    ["a TXT b\\256", '1:8 bad-escape "\\\\256"'],
    ["a TXT b\\", '1:8 bad-escape "\\\\"'],
    ['a TXT "b\\12c"', '1:9 bad-escape "\\\\12"'],
    ["a TXT", '1:3 missing-field "TXT"'],
    [`a TXT ${"x".repeat(256)}`, `1:7 too-long "${"x".repeat(256)}"`],
    ["a TXT b\ufffdc", '1:8 not-utf-8 "\ufffd"'],
    ["a CAA 256 issue x", '1:7 bad-number "256"'],
    ["a CAA 0 is-sue x", '1:9 bad-tag "is-sue"'],
    ["a CAA 0 issue", '1:9 missing-field "issue"'],
    ["a CAA 0 issue x y", '1:17 extra-field "y"'],
    ["a BOGUS x", '1:3 unknown-type "BOGUS"'],
    ["a TYPE65536 x", '1:3 unknown-type "TYPE65536"'],
    ["a AXFR x", '1:3 unknown-type "AXFR"'],
    ["a", '1:1 missing-type "a"'],
    ["a 300 IN", '1:7 missing-type "IN"'],
    ['a "A" 192.0.2.1', '1:3 unknown-type "\\"A\\""'],
    [" A 192.0.2.1", '1:2 missing-owner "A"'],
    ['"" A 192.0.2.1', '1:1 bad-name "\\"\\""'],
    ["sub SOA a b 1 2 3 4 5", '1:1 wrong-zone "sub SOA a b 1 2 3 4 5"'],
    ["example.net. SOA a b 1 2 3 4 5", '1:1 wrong-zone "example.net. SOA a b 1 2 3 4 5"'],
    ["@ SOA a b 4294967296 2 3 4 5", '1:11 bad-number "4294967296"'],
    ["@ SOA a b 1 2 3 4", '1:17 missing-field "4"'],
  ])("%s", async (line, problem) => {
    expect(await problemsOf(line)).toEqual(problem === null ? [] : [problem]);
  });

  test("with words that say what to do", async () => {
    const { diagnostics } = await read("$TTL 1h\na A 192.0.2.1\n b A 192.0.2.1\n");
    expect(diagnostics).toMatchObject([
      {
        code: "unknown-type",
        detail:
          "`b` stands where the type is expected: a line that begins with white space has the owner of the record before.",
        fix: "Remove the white space before it if it is the owner.",
      },
    ]);
  });
});
