/** BIND judges what is written as a zone file, and what is read from one: `named-checkzone` loads it and dumps what it understood. */

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DnsRecord } from "../../src/dns/record.ts";
import { readZoneFile, type ZoneFileReading } from "../../src/dns/zone-file/read.ts";
import { writeZoneFile } from "../../src/dns/zone-file/write.ts";
import { plainRecords, ZONE } from "../property/zone-file-records.ts";
import { spelled } from "../property/zone-file-spelling.ts";

const run = promisify(execFile);
const RUNS = Number(process.env["TENON_SYSTEM_RUNS"] ?? 60);
const SOA = {
  mname: "ns1.example.net",
  email: "a.b@example.net",
  serial: 7,
  refresh: 60,
  retry: 120,
  expire: 180,
  ttl_sec: 4242,
};
const HEAD = `${ZONE}. 300 IN SOA ns1.example.net. h.example.net. 1 2 3 4 300\n${ZONE}. 300 NS ns1.example.net.\n`;

type Files = Readonly<Record<string, string>>;

/** The lines of BIND's dump, or what it says against the file. Names elsewhere and names of hosts are not checked. */
async function dump(
  zone: string,
  text: string,
  files: Files = {},
): Promise<{ lines: string[]; refused: string | null }> {
  const folder = await mkdtemp(join(tmpdir(), "tenon-zone-"));
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    await writeFile(join(folder, "main.zone"), text);
    const flags = ["-w", folder, "-i", "none", "-k", "ignore", "-D", "-o", "-"];
    const { stdout } = await run("named-checkzone", [...flags, zone, "main.zone"], { maxBuffer: 64 * 1024 ** 2 });
    return { lines: stdout.split("\n").filter((line) => line !== ""), refused: null };
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    if (stdout + stderr === "") throw error;
    return { lines: [], refused: stdout + stderr };
  } finally {
    await rm(folder, { recursive: true });
  }
}

const KEPT = ["A", "AAAA", "CAA", "CNAME", "MX", "NS", "PTR", "SRV", "TXT"];

/** A line of the dump as `name ttl type data`, texts as the hexadecimal of their octets; null: another type. */
function understood(line: string): string | null {
  const [, name = "", ttl = "", type = "", data = ""] = /^(\S+)\s+(\d+)\s+IN\s+(\S+)\s+(.*)$/.exec(line) ?? [];
  if (!KEPT.includes(type)) return null;
  if (type === "TXT") return [name.toLowerCase(), ttl, type, octets(data)].join(" ");
  if (type === "CAA") {
    const [, flags, tag = "", value = ""] = /^(\d+) (\S+) (".*")$/.exec(data) ?? [];
    return [name.toLowerCase(), ttl, type, flags, tag.toLowerCase(), octets(value)].join(" ");
  }
  return [name, ttl, type, data].join(" ").toLowerCase().replace(` ${type.toLowerCase()} `, ` ${type} `);
}

/** Of one or more strings in quotes. */
function octets(strings: string): string {
  const codes: number[] = [];
  for (const [, inner = ""] of strings.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
    for (const [found] of inner.matchAll(/\\\d{3}|\\.|./g)) {
      if (/^\\\d{3}$/.test(found)) codes.push(Number(found.slice(1)));
      else codes.push(found.charCodeAt(found.length - 1));
    }
  }
  return Buffer.from(codes).toString("hex");
}

function told(record: DnsRecord, zone: string): string {
  const { type, name, target, ttl_sec, priority, weight, port, tag } = record;
  const owner = name === "" ? `${zone}.` : `${name}.${zone}.`;
  const text = type === "TXT" || type === "CAA";
  const value = text ? Buffer.from(target).toString("hex") : `${target}${type === "A" || type === "AAAA" ? "" : "."}`;
  const numbers = [priority, weight, port].filter((number) => number !== undefined);
  return [owner, ttl_sec, type, ...numbers, ...(type === "CAA" ? ["0", tag] : []), value].join(" ");
}

/** What no nameserver loads (RFC 1034, 3.6.2) or keeps as it is (RFC 2181, 5.2) is no matter of how it is written. */
function loadable(records: readonly DnsRecord[]): DnsRecord[] {
  const others = new Set(records.filter(({ type }) => type !== "CNAME").map(({ name }) => name));
  const ttls = new Map<string, number>();
  const aliases = new Set<string>();
  return records.flatMap((record) => {
    const { type, name } = record;
    if (type === "CNAME" && (others.has(name) || aliases.has(name))) return [];
    if (type === "CNAME") aliases.add(name);
    const ttl_sec = ttls.get(`${name} ${type}`) ?? record.ttl_sec;
    ttls.set(`${name} ${type}`, ttl_sec);
    return [{ ...record, ttl_sec }];
  });
}

async function read(zone: string, text: string, files: Files = {}): Promise<ZoneFileReading> {
  const include = async (path: string) => ({ ok: true as const, file: path, text: files[path] ?? "" });
  return readZoneFile(text, { zone, file: "main.zone", include });
}

/** All that both keep: the apex NS are set aside by the reader. */
async function compare(zone: string, text: string, files: Files = {}): Promise<void> {
  const { lines, refused } = await dump(zone, text, files);
  const { records, diagnostics } = await read(zone, text, files);
  expect({ refused, diagnostics: diagnostics.filter(({ severity }) => severity === "error") }).toEqual({
    refused: null,
    diagnostics: [],
  });
  const wanted = lines
    .map(understood)
    .filter((line) => line !== null && !new RegExp(`^${zone}\\. \\d+ NS `).test(line));
  expect(records.map((record) => told(record, zone)).sort()).toEqual(wanted.sort());
}

test("BIND reads random records back from what is written", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(plainRecords, async (random) => {
      const records = loadable(random);
      const text = writeZoneFile({ zone: ZONE, soa: SOA, nameservers: ["ns1.example.net"], records });
      const { lines, refused } = await dump(ZONE, text);
      expect({ text, refused }).toEqual({ text, refused: null });
      const soa = lines.map((line) => line.replace(/\s+/g, " ")).filter((line) => line.includes(" SOA "));
      expect(soa).toEqual([`${ZONE}. 4242 IN SOA ns1.example.net. a\\.b.example.net. 7 60 120 180 4242`]);
      const own: DnsRecord = { type: "NS", name: "", target: "ns1.example.net", ttl_sec: 4242 };
      const wanted = [own, ...records.map((record) => ({ ...record, ttl_sec: record.ttl_sec || 4242 }))];
      expect(
        lines
          .map(understood)
          .filter((line) => line !== null)
          .sort(),
      ).toEqual(wanted.map((record) => told(record, ZONE)).sort());
    }),
    { numRuns: RUNS },
  );
});

test("the reader and BIND read the same from files spelled at random", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(plainRecords, fc.infiniteStream(fc.nat()), async (random, randoms) => {
      const text = spelled(loadable(random), ZONE, (below) => (randoms.next().value as number) % below);
      await compare(ZONE, `${HEAD}${text.replace("\ufeff", "")}\n`);
    }),
    { numRuns: RUNS },
  );
});

test("the reader and BIND read the same from a real zone, and from what is written of it", async () => {
  const text = await readFile(new URL("../fixtures/zones/example.org.zone", import.meta.url), "utf8");
  await compare("example.org", text);
  const { records, soa } = await read("example.org", text);
  await compare("example.org", writeZoneFile({ zone: "example.org", soa, nameservers: ["ns1.example.org"], records }));
});

test("BIND loads twelve thousand written records", { timeout: 60_000 }, async () => {
  const records = Array.from(
    { length: 12_000 },
    (_, index): DnsRecord => ({ type: "A", name: `h${index}`, target: "192.0.2.1", ttl_sec: 60 }),
  );
  const text = writeZoneFile({ zone: ZONE, soa: SOA, nameservers: ["ns1.example.net"], records });
  expect((await dump(ZONE, text)).lines).toHaveLength(12_002);
});

describe("the reader and BIND agree on", () => {
  test.each([
    'a TXT a"b"c',
    "a TXT a;b",
    "( a A\n 192.0.2.1 )",
    "a 1h30m IN A 192.0.2.1",
    "a IN 1W A 192.0.2.1",
    "a TYPE1 \\# 4 c0000201",
    "a A \\# 4 ( c000 0202 )",
    "a TYPE16 \\# 7 03612262 02c3bc",
    "a CAA 0 ISSUE \\;",
    "\\097 A 192.0.2.1",
    "1 PTR 1h",
    '$GENERATE 1-3 t$ TXT "text $"',
    "$GENERATE 1-3/2 u${10,4,x} CNAME v$",
    '$GENERATE 1-2 m$ MX "10 mx${0,3}"',
    "$GENERATE 8-20/4 ${0,7,n}.r PTR h${-1,0,o}",
    "$GENERATE 250-252 ${0,3,N} CNAME x${0,5,X}y",
    "a 5 A 192.0.2.1\n$GENERATE 1-2 b$ 9 A 192.0.2.$\nc A 192.0.2.1\n AAAA ::1",
    "last 5 A 192.0.2.1\n$INCLUDE inner sub\n AAAA ::2\nb A 192.0.2.1",
    "$TTL 9\n$INCLUDE inner\nb A 192.0.2.1",
  ])("%j", async (text) => {
    const files = { inner: " TXT taken-over\na A 192.0.2.1\n$ORIGIN x\n$TTL 77\n@ A 192.0.2.1\n" };
    await compare(ZONE, `${HEAD}${text}\n`, files);
  });

  test.each([
    "a 1h30 A 192.0.2.1",
    "a 300 600 A 192.0.2.1",
    "a IN 300 IN A 192.0.2.1",
    "a A 192.0.2.01",
    "a A 192.0.2.1 x",
    "a A",
    "a TXT",
    "a TXT a\\1b",
    'a TXT "a',
    "a TXT b\\",
    `a TXT ${"x".repeat(256)}`,
    ")",
    "a A 192.0.2.1 (",
    "a..b A 192.0.2.1",
    `${"x".repeat(64)} A 192.0.2.1`,
    `${"x.".repeat(127)}a A 192.0.2.1`,
    "$FOO",
    " $TTL 5",
    "$ORIGIN a b",
    "$ORIGIN",
    "a CAA 0 is-sue x",
    "a CAA 0 issue",
    "a CAA 0 issue a b",
    "a CAA 256 issue a",
    "a MX 0x10 b",
    "a MX 65536 b",
    'a CNAME "b"',
    '"" A 192.0.2.1',
    "a TYPE1 \\# 3 c00002",
    "a TYPE16 \\# 0",
    "a MX \\# 4 000ac00c",
    "a BOGUS x",
    "a TYPE65536 \\# 0",
    "b SOA a b 1 2 3 4 5",
    "$GENERATE 3-1 a$ A 192.0.2.1",
    "$GENERATE 1-2/0 a$ A 192.0.2.1",
    "$GENERATE 1-2 a${0,4,q} A 192.0.2.1",
    "$GENERATE 1-2 a${ A 192.0.2.1",
    "$GENERATE 1-2 ${0,8,n}.r A 192.0.2.1",
  ])("refusing %j", async (line) => {
    const text = `${HEAD}${line}\n`;
    expect((await dump(ZONE, text)).refused).not.toBeNull();
    const { diagnostics } = await read(ZONE, text);
    expect(diagnostics.filter(({ severity }) => severity === "error")).toHaveLength(1);
  });
});
