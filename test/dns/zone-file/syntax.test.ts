import { describe, expect, test } from "vitest";
import { readSeconds } from "../../../src/dns/zone-file/lexer.ts";
import { asideOf, plain, position, problemsOf, read, recordsOf } from "./reading.ts";

const TTL = 3600;
const address = (name: string, ttl_sec = TTL) => ({ type: "A", name, target: "192.0.2.1", ttl_sec });

describe("owners", () => {
  test("are relative to the origin, absolute, the origin itself, or the one before", async () => {
    expect(
      await recordsOf(
        "www A 192.0.2.1",
        "WWW2.Example.COM. A 192.0.2.1",
        "@ A 192.0.2.1",
        " AAAA 2001:DB8::0:1",
        "$ORIGIN sub",
        "@ A 192.0.2.1",
        "a A 192.0.2.1",
        "$ORIGIN example.com.",
        '"quoted" A 192.0.2.1',
        "\\097\\b.c A 192.0.2.1",
      ),
    ).toEqual([
      ...[address("www"), address("www2"), address("")],
      { type: "AAAA", name: "", target: "2001:db8::1", ttl_sec: TTL },
      ...[address("sub"), address("a.sub"), address("quoted"), address("ab.c")],
    ]);
  });

  test("that look like types, classes and times are owners at the beginning of a line", async () => {
    const names = ["in", "300", "a", "txt", "1h", "ch", "soa", "type1"];
    const records = await recordsOf(...names.map((name) => `${name} IN A 192.0.2.1`));
    expect(records).toEqual(names.map((name) => address(name)));
  });

  test("outlast directives, and records that are set aside", async () => {
    const { records, skipped } = await read(
      "$TTL 1h\na SSHFP 1 1 00\n$TTL 2h\n A 192.0.2.1\nb TXT x\n$ORIGIN c\n A 192.0.2.1",
    );
    expect(skipped).toHaveLength(1);
    expect(records.map(plain)).toEqual([
      address("a", 7200),
      expect.objectContaining({ name: "b", type: "TXT" }),
      address("b", 7200),
    ]);
  });
});

test("an owner that begins with a dollar sign is no directive if it is quoted or escaped", async () => {
  expect(await asideOf('"$TTL" A 192.0.2.1', "\\$ORIGIN A 192.0.2.1")).toEqual([
    "A \\$ttl not-holdable",
    "A \\$origin not-holdable",
  ]);
});

describe("TTLs", () => {
  test.each([
    ["a 300 A 192.0.2.1", 300],
    ["a IN 300 A 192.0.2.1", 300],
    ["a 300 IN A 192.0.2.1", 300],
    ["a 300 CLASS1 A 192.0.2.1", 300],
    ["a 1w2d3h4m5s in a 192.0.2.1", 604800 + 2 * 86400 + 3 * 3600 + 4 * 60 + 5],
    ["a 1H30M A 192.0.2.1", 5400],
    ["a 2147483647 A 192.0.2.1", 2147483647],
    ["a A 192.0.2.1", 3600],
  ])("%s", async (line, ttl) => {
    expect(await recordsOf(line)).toEqual([address("a", ttl)]);
  });

  test("of forty megabytes are none, and no expression runs out of room over them", () => {
    expect(readSeconds("1h".repeat(20_000_000))).toBeNull();
  });

  test("of 0 stay 0: whoever keeps them knows what 0 means there", async () => {
    expect(await recordsOf("a 0 A 192.0.2.1")).toEqual([address("a", 0)]);
  });

  const SOA = "@ SOA ns1 hostmaster 1 2 3 4 77";

  test("come from the record, `$TTL`, the record before, or the SOA's minimum", async () => {
    const ttls = async (...lines: string[]) => (await read(lines.join("\n"))).records.map(({ ttl_sec }) => ttl_sec);
    expect(
      await ttls("a 5 A 192.0.2.1", "b A 192.0.2.1", "$TTL 9", "c A 192.0.2.1", "d 6 A 192.0.2.1", "e A 192.0.2.1"),
    ).toEqual([5, 5, 9, 6, 9]);
    expect(await ttls(SOA, "a A 192.0.2.1", "b 5 A 192.0.2.1", "c A 192.0.2.1")).toEqual([77, 5, 77]);
    expect(await ttls(SOA.replace("SOA", "8 SOA"), "a A 192.0.2.1")).toEqual([8]);
  });

  test("that nothing says are an error, once", async () => {
    expect(await problemsOf("a A 192.0.2.1\nb A 192.0.2.1\n")).toEqual(['1:3 missing-ttl "A"']);
  });

  test.each([
    ["a 2147483648 A 192.0.2.1", '1:3 bad-ttl "2147483648"'],
    ["a 1h30 A 192.0.2.1", '1:3 bad-ttl "1h30"'],
    ["a 1y A 192.0.2.1", '1:3 bad-ttl "1y"'],
    [`a ${"9".repeat(400)}w A 192.0.2.1`, `1:3 bad-ttl "${"9".repeat(400)}w"`],
    ["a 300 600 A 192.0.2.1", '1:7 unknown-type "600"'],
    ["a IN 300 IN A 192.0.2.1", '1:10 unknown-type "IN"'],
    ["$TTL forever", '1:6 bad-ttl "forever"'],
  ])("are refused: %s", async (line, problem) => {
    expect(await problemsOf(line)).toEqual([problem]);
  });
});

describe("lines", () => {
  test("are continued in parentheses, nested ones and the line's beginning included", async () => {
    expect(
      await recordsOf(
        "( a",
        "A ; (comment",
        "192.0.2.1 )",
        "b A ( ( 192.0.2.1 )",
        ")",
        "c A(192.0.2.1)",
        ' TXT ( "x;(" ; )',
        "\t\n)",
        "()",
        ' ; nothing "',
        "d A 192.0.2.1;",
      ),
    ).toEqual([
      address("a"),
      address("b"),
      address("c"),
      { type: "TXT", name: "c", target: "x;(", ttl_sec: TTL },
      address("d"),
    ]);
  });

  test.each([
    ["line feeds", "\n"],
    ["carriage returns and line feeds", "\r\n"],
    ["carriage returns", "\r"],
  ])("end in %s", async (_, end) => {
    const lines = ["$TTL 1h", "a A 192.0.2.1", "", "\t", " ( ", "\tTXT x )", "b\tA\t192.0.2.1\t", "c A 192.0.2.1"];
    const { records, diagnostics } = await read(lines.join(end));
    expect(diagnostics).toEqual([]);
    expect(records.map(({ name, type }) => `${name} ${type}`)).toEqual(["a A", "a TXT", "b A", "c A"]);
  });

  test.each([
    ["; c\ra A 192.0.2.66", '1:4 stray-carriage-return "\\r"'],
    ["a A 192.0.2.1 ; c\r b\n", '1:18 stray-carriage-return "\\r"'],
    ["a TXT ( x ; c\r\r b\n )", '1:14 stray-carriage-return "\\r"'],
    ["a\f60 A 192.0.2.1", '1:2 page-break "\\f"'],
    ["a A 192.0.2.1\v", '1:14 page-break "\\u000b"'],
    ["\f", '1:1 page-break "\\f"'],
  ])("that name servers read in different ways are errors: %j", async (text, problem) => {
    expect(await problemsOf(`${text}\n`)).toContain(problem);
  });

  test("may end in several carriage returns, also within a comment, which may hold a form feed", async () => {
    const { records, diagnostics } = await read("$TTL 1h ; c\r\r\na A 192.0.2.1 ; \f\r\r\nb A 192.0.2.1 ; c\r");
    expect(diagnostics).toEqual([]);
    expect(records.map(({ name, type }) => `${name} ${type}`)).toEqual(["a A", "b A"]);
  });

  test("may begin with a byte order mark, which is none of the owner", async () => {
    const text = "\ufeff$TTL 1h\na A 192.0.2.1";
    const { records } = await read(text);
    expect(records.map(({ name, span }) => `${name} ${position(text, span)}`)).toEqual(["a 2:1"]);
    expect((await read("\ufeffa 5 A 192.0.2.1")).records.map(({ name }) => name)).toEqual(["a"]);
  });

  test("tell where each record is from its first word to its last", async () => {
    const text = "$TTL 1h\na A (\n 192.0.2.1 ) ; c\n  TXT x";
    const { records } = await read(text);
    expect(records.map(({ span }) => text.slice(span.start, span.end))).toEqual(["a A (\n 192.0.2.1", "TXT x"]);
  });
});

describe("types and classes", () => {
  test("may be numbers, and known types may come in hexadecimal (RFC 3597)", async () => {
    const records = await recordsOf(
      "a TYPE1 \\# 4 c0000201",
      "a type28 \\# 16 ( 20010db8 00000000",
      " 0000000000000001 )",
      "a CLASS1 MX \\# 8 000A 026d 7801 6100",
      "a TYPE16 \\# 7 03612262 02c3bc",
      "_x._tcp TYPE33 \\# 10 000a 0014 0016 0268 6900",
      "a CAA \\# 8 00 05 6973737565 3b",
      "a TYPE15 10 mx",
    );
    expect(records.map(({ ttl_sec: _, ...rest }) => rest)).toEqual([
      { type: "A", name: "a", target: "192.0.2.1" },
      { type: "AAAA", name: "a", target: "2001:db8::1" },
      { type: "MX", name: "a", target: "mx.a", priority: 10 },
      { type: "TXT", name: "a", target: 'a"bü' },
      { type: "SRV", name: "_x._tcp", target: "hi", priority: 10, weight: 20, port: 22 },
      { type: "CAA", name: "a", target: ";", tag: "issue" },
      { type: "MX", name: "a", target: "mx.example.com", priority: 10 },
    ]);
  });

  test.each([
    ["a A \\# 3 c00002", "bad-octets"],
    ["a A \\# 5 c000020101", "bad-octets"],
    ["a A \\# 4 c00002", "bad-octets"],
    ["a A \\# 4 c00002zz", "bad-octets"],
    ["a A \\#", "bad-octets"],
    ["a TYPE16 \\# 0", "missing-field"],
    ["a MX \\# 4 000a c000", "bad-octets"],
    ["a TXT \\# 2 0561", "bad-octets"],
  ])("%s is refused", async (line, code) => {
    const { diagnostics } = await read(`$TTL 1h\n${line}`);
    expect(diagnostics.map((diagnostic) => diagnostic.code)).toEqual([code]);
  });

  test("of which the service keeps none are set aside", async () => {
    expect(
      await asideOf(
        "a SSHFP 1 2 4e9c",
        'a naptr 100 10 "u" "E2U+sip" "!^.*$!sip:a@b.c!" .',
        " TYPE65534 \\# 4 00010203",
        "a TYPE44 \\# 1 00",
        'a SPF "v=spf1 -all"',
        'a HTTPS 1 . alpn="h2,h3"',
        "a CH A 192.0.2.1",
        "a HS TXT x",
        "a CLASS77 A \\# 1 00",
      ),
    ).toEqual([
      ...["SSHFP a", "NAPTR a", "TYPE65534 a", "TYPE44 a", "SPF a", "HTTPS a"].map(
        (shown) => `${shown} unsupported-type`,
      ),
      ...["A a", "TXT a", "A a"].map((shown) => `${shown} not-holdable`),
    ]);
  });
});
