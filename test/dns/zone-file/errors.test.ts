import { describe, expect, test } from "vitest";
import { MAX_PROBLEMS, MAX_RECORDS } from "../../../src/dns/zone-file/lexer.ts";
import { position, problemsIn, problemsOf, read } from "./reading.ts";

const namesIn = async (text: string): Promise<string[]> => (await read(text)).records.map(({ name }) => name);

describe("errors", () => {
  test("are all told, and reading goes on behind each", async () => {
    const text = [
      "$TTL 1h",
      "a A 192.0.2.300",
      "b A 192.0.2.1",
      "c MX ( 10",
      "  mx extra ; )",
      "  more )",
      "d BOGUS x",
      "  TXT still-d",
      '$ORIGIN "',
      "e A 192.0.2.1 )",
      "f A 192.0.2.1",
    ].join("\n");
    expect(await problemsOf(text)).toEqual([
      '2:5 bad-address "192.0.2.300"',
      '5:6 extra-field "extra"',
      '7:3 unknown-type "BOGUS"',
      '9:9 unclosed-quote "\\""',
      '10:15 stray-parenthesis ")"',
    ]);
    expect(await namesIn(text)).toEqual(["b", "d", "f"]);
  });

  test("in a line 8,000 have its line and column", async () => {
    const lines = Array.from({ length: 12_000 }, (_, index) => `host-${index} 300 IN A 192.0.2.1`);
    lines[7_999] = "host-7999 300 IN A 192.0.2.x";
    const text = lines.join("\n");
    const { records, diagnostics } = await read(text);
    expect(problemsIn(text, diagnostics)).toEqual(['8000:20 bad-address "192.0.2.x"']);
    expect(records).toHaveLength(11_999);
  });

  test("of an owner are not repeated for the lines that take it over", async () => {
    const text = '$TTL 1h\nb A 192.0.2.1\na..b A 192.0.2.1\n A 192.0.2.2\n TXT x\n"open\n A 192.0.2.3\nc A 192.0.2.1';
    expect(await problemsOf(text)).toEqual(['3:1 bad-name "a..b"', '6:1 unclosed-quote "\\""']);
    expect(await namesIn(text)).toEqual(["b", "c"]);
  });
});

describe("what nothing closes", () => {
  test("a parenthesis is told where it opens, and the rest is read", async () => {
    const text = "$TTL 1h\na TXT ( x\n  y\n\n  z\nb A 192.0.2.1\nc MX ( 10\n mx )\n";
    expect(await problemsOf(text)).toEqual(['2:7 unclosed-parenthesis "("']);
    expect(await namesIn(text)).toEqual(["b", "c"]);
  });

  test("of nested ones the outer one is told", async () => {
    expect(await problemsOf("$TTL 1h\na TXT ( ( x )\nb A 192.0.2.1")).toEqual(['2:7 unclosed-parenthesis "("']);
  });

  test("a quote ends with its line, within parentheses, too", async () => {
    const text = '$TTL 1h\na TXT ( "x\n y )\nb TXT "x\\\nc A 192.0.2.1\nd TXT "';
    expect(await problemsOf(text)).toEqual([
      '2:9 unclosed-quote "\\""',
      '4:7 unclosed-quote "\\""',
      '6:7 unclosed-quote "\\""',
    ]);
    expect(await namesIn(text)).toEqual(["c"]);
  });
});

describe("directives", () => {
  test.each([
    ["$ORIGIN", '1:1 bad-directive "$ORIGIN"'],
    ["$ORIGIN a b", '1:11 bad-directive "b"'],
    ["$origin a..b", '1:9 bad-name "a..b"'],
    ["$TTL", '1:1 bad-directive "$TTL"'],
    ["$TTL 1 2", '1:8 bad-directive "2"'],
    ["$FOO x", '1:1 unknown-directive "$FOO"'],
    ["$INCLUDE", '1:1 bad-directive "$INCLUDE"'],
    ["$INCLUDE a b c", '1:14 bad-directive "c"'],
    ["$INCLUDE none", '1:10 include-failed "none"'],
    ["$GENERATE 1-2 a", '1:15 bad-generate "a"'],
    ["$GENERATE 3-1 a$ A 192.0.2.$", '1:11 bad-generate "3-1"'],
    ["$GENERATE 1-2/0 a$ A 192.0.2.$", '1:11 bad-generate "1-2/0"'],
    ["$GENERATE 0-999999 a$ A 192.0.2.$", '1:11 bad-generate "0-999999"'],
    ["$GENERATE 1-2 a${0,4,q} A 192.0.2.1", '1:15 bad-generate "a${0,4,q}"'],
    ["$GENERATE 1-2 a${-4} A 192.0.2.1", '1:15 bad-generate "a${-4}"'],
    [
      `$GENERATE 1-1 ${"${0,255,n}".repeat(300)} A 192.0.2.1`,
      `1:15 bad-generate ${JSON.stringify("${0,255,n}".repeat(300))}`,
    ],
    ["$GENERATE 1-2 a${0 A 192.0.2.1", '1:15 bad-generate "a${0"'],
    ["$GENERATE 255-257 a$ 5 A 192.0.2.$", '1:26 bad-address "192.0.2.$"'],
  ])("%s", async (line, problem) => {
    expect(await problemsOf(line)).toEqual([problem]);
  });
});

describe("limits", () => {
  test(`${MAX_PROBLEMS} errors are told, and then that there are too many`, async () => {
    const problems = await problemsOf("a BOGUS\n".repeat(5_000));
    expect(problems).toHaveLength(MAX_PROBLEMS + 1);
    expect(problems.slice(-2)).toEqual(['100:3 unknown-type "BOGUS"', '100:3 too-many-errors "BOGUS"']);
  });

  test(`${MAX_PROBLEMS} duplicates are told one by one, and the others by their number`, async () => {
    const { records, diagnostics } = await read("a 5 A 192.0.2.1\n".repeat(151));
    expect(records).toHaveLength(1);
    expect(diagnostics).toHaveLength(MAX_PROBLEMS + 1);
    expect(diagnostics.at(-1)?.summary).toBe("50 more records are there twice");
  });

  test("the record above those of a zone is told by its place", async () => {
    const lines = Array.from({ length: MAX_RECORDS + 5 }, (_, index) => `h${index} 300 A 192.0.2.1`);
    const text = ["@ 5 NS ns", ...lines].join("\n");
    const { diagnostics } = await read(text);
    expect(diagnostics.map(({ code, span }) => [code, span && position(text, span)])).toEqual([
      ["too-many-records", "12002:1"],
    ]);
  });

  test("reading stops at a number of records of any kind", async () => {
    const text = "$TTL 5\n$GENERATE 1-90000 a$ SSHFP x\n$GENERATE 1-90000 b$ SSHFP x\nc BOGUS\n";
    const { skipped, diagnostics } = await read(text);
    expect(skipped).toHaveLength(100_000);
    expect(problemsIn(text, diagnostics)).toEqual(['3:1 too-many-records "$GENERATE 1-90000 b$ SSHFP x"']);
  });
});
