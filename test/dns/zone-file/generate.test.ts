import { describe, expect, test } from "vitest";
import { asideOf, problemsOf, recordsOf } from "./reading.ts";

async function generated(line: string): Promise<string[]> {
  return (await recordsOf(line)).map(({ name, type, target, priority, ttl_sec }) =>
    [name, ttl_sec, type, ...(priority === undefined ? [] : [priority]), target].join(" "),
  );
}

describe("$GENERATE", () => {
  test.each<[string, string[]]>([
    ["$GENERATE 1-2 a$ A 192.0.2.$", ["a1 3600 A 192.0.2.1", "a2 3600 A 192.0.2.2"]],
    ["$GENERATE 1-4/2 a$ 60 IN A 192.0.2.$", ["a1 60 A 192.0.2.1", "a3 60 A 192.0.2.3"]],
    ["$GENERATE 9-10 a${1,4,x} CNAME b${-9}", ["a000a 3600 CNAME b0.example.com", "a000b 3600 CNAME b1.example.com"]],
    ["$GENERATE 8-8 a${0,0,o}-${2,3,X} CNAME b", ["a10-00a 3600 CNAME b.example.com".replace("00a", "00a")]],
    ["$GENERATE 1-2 ${0,7,n}.r PTR h$", ["1.0.0.0.r 3600 PTR h1.example.com", "2.0.0.0.r 3600 PTR h2.example.com"]],
    ["$GENERATE 18-18 ${0,3,n} PTR h${0,0,N}", ["2.1 3600 PTR h2.1.example.com"]],
    ['$GENERATE 1-2 m$ MX "10 mx${0,3}"', ["m1 3600 MX 10 mx001.example.com", "m2 3600 MX 10 mx002.example.com"]],
    ["$GENERATE 1-1 m MX 1$ mx$", ["m 3600 MX 11 mx1.example.com"]],
    ['$GENERATE 1-2 t$ TXT "text $"', ["t1 3600 TXT text1", "t2 3600 TXT text2"]],
    [
      '$GENERATE 1-2 t$ TXT "\\"v=spf1 ip4:192.0.2.$ -all\\""',
      ["t1 3600 TXT v=spf1 ip4:192.0.2.1 -all", "t2 3600 TXT v=spf1 ip4:192.0.2.2 -all"],
    ],
    ['$GENERATE 1-1 t TXT "\\"a\\\\b\\" \\; ${1}-${0}-$"', ["t 3600 TXT a\\b;2-1-1"]],
    ["$GENERATE 1-1 t TXT \\$$$\\\\", ["t 3600 TXT $$\\"]],
    ["$GENERATE 5-5 @ A 192.0.2.$", [" 3600 A 192.0.2.5"]],
  ])("%s", async (line, records) => {
    expect(await generated(line)).toEqual(records);
  });

  test("refuses what BIND counts in a way of its own", async () => {
    expect(await problemsOf("$TTL 1h\n$GENERATE 1-2 h${1}-$ A 192.0.2.1\n")).toEqual(['2:15 bad-generate "h${1}-$"']);
    expect(await problemsOf("$TTL 1h\n$GENERATE 1-2 h${1}-${0}-$ A 192.0.2.1\n")).toEqual([]);
  });

  test("leaves the owner of the record before", async () => {
    const records = await recordsOf("a A 192.0.2.1", "$GENERATE 1-2 b$ A 192.0.2.$", " TXT x");
    expect(records.map(({ name }) => name)).toEqual(["a", "b1", "b2", "a"]);
  });

  test("sets aside what the service does not keep, each by its name", async () => {
    expect(await asideOf("$GENERATE 1-2 a$$b$ A 192.0.2.1")).toEqual([
      "A a\\$b1 not-holdable",
      "A a\\$b2 not-holdable",
    ]);
  });

  test("makes no more text than a file may have", async () => {
    const line = `$GENERATE 0-99999 a$ SSHFP ${"x".repeat(10_000)}`;
    expect(await problemsOf(`$TTL 1\n${line}\n`)).toEqual([`2:1 too-large ${JSON.stringify(line)}`]);
  });
});
