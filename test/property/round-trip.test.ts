/** All the way round: manifest → API → import → zone file → import → manifest says the same records, whatever their texts. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { DnsRecord } from "../../src/dns/record.ts";
import { exportLive } from "../../src/format/index.ts";
import type { Desired } from "../../src/index.ts";
import type { ZoneSpec } from "../../src/units/zone/spec.ts";
import { Account, loadFolder } from "../support/account.ts";
import { importAccount, importFiles, written } from "../support/imports.ts";

const RUNS = Math.ceil(Number(process.env["TENON_PROPERTY_RUNS"] ?? 500) / 20);
const ZONE = "example.com";
const MAX_TEXT_BYTES = 4_000;

/** What breaks readers and writers: quotes, escapes, comments, variables, YAML's own signs, and what takes several octets. */
const pieces = fc.constantFrom(
  '"',
  "\\",
  ";",
  "$",
  "${zone}",
  "$${",
  "@",
  "#",
  ": ",
  "- ",
  "\\034",
  "'",
  " ",
  "é",
  "🎉",
  "\u{10ffff}",
  "\u202e",
  "%",
  "x".repeat(250),
  "{",
  "]",
  "\u00a0",
  "~",
  "null",
  "é".repeat(130),
);

const text = fc
  .oneof(
    fc.array(pieces, { minLength: 1, maxLength: 40 }).map((parts) => parts.join("")),
    fc.string({ unit: "grapheme", minLength: 1 }),
  )
  .map((value) => value.replace(/\p{Cc}|\p{Cs}|\ufffd/gu, "").normalize())
  .filter((value) => value !== "" && Buffer.byteLength(value) <= MAX_TEXT_BYTES);

const name = fc.constantFrom("", "a", "*.b", "_x._y", "xn--bcher-kva", "in", "300", "txt");
const ttl_sec = fc.constantFrom(300, 3600, 86400);
const host = fc.constantFrom("www.example.com", "example.com", "mx.example.net", "");

const record: fc.Arbitrary<DnsRecord> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("TXT" as const), name, target: text, ttl_sec }) },
  fc.record({ type: fc.constant("A" as const), name, target: fc.constantFrom("192.0.2.1", "203.0.113.7"), ttl_sec }),
  fc.record({
    type: fc.constant("AAAA" as const),
    name,
    target: fc
      .constantFrom("2001:db8::1", "::1.2.3.4")
      .map((address) => (address === "2001:db8::1" ? address : "2001:db8::102:304")),
    ttl_sec,
  }),
  fc.record({
    type: fc.constant("MX" as const),
    name: fc.constantFrom("m1", "m2"),
    target: host.filter((target) => target !== ""),
    priority: fc.integer({ min: 0, max: 255 }),
    ttl_sec,
  }),
  fc.record({
    type: fc.constant("CAA" as const),
    name,
    tag: fc.constantFrom("issue", "iodef"),
    target: fc.constantFrom("letsencrypt.org; a=b\\c", ";", "mailto:x@example.com"),
    ttl_sec,
  }),
  fc.record({
    type: fc.constant("SRV" as const),
    name: fc.constantFrom("_sip._tcp", "_s._udp.a"),
    target: host,
    priority: fc.integer({ min: 0, max: 255 }),
    weight: fc.integer({ min: 0, max: 65535 }),
    port: fc.integer({ min: 0, max: 65535 }),
    ttl_sec,
  }),
  fc.record({
    type: fc.constant("CNAME" as const),
    name: fc.constantFrom("c1", "c2", "c3"),
    target: host.filter((target) => target !== ""),
    ttl_sec,
  }),
);

/** One TTL for each name and type, as a zone file has it, and nothing twice. */
const records = fc.array(record, { minLength: 1, maxLength: 25 }).map((drafts) => {
  const ttls = new Map<string, number>();
  const kept = new Map<string, DnsRecord>();
  for (const draft of drafts) {
    const set = `${draft.type} ${draft.name}`;
    if (draft.type === "CNAME" && ttls.has(set)) continue;
    const ttl = ttls.get(set) ?? draft.ttl_sec;
    ttls.set(set, ttl);
    const { ttl_sec: _, ...content } = draft;
    kept.set(JSON.stringify(content), { ...draft, ttl_sec: ttl });
  }
  return [...kept.values()];
});

test("records come back as they were from the API, from a zone file, and from both in turn", {
  timeout: 120_000,
}, async () => {
  await fc.assert(fc.asyncProperty(records, fc.boolean(), goesRound), { numRuns: RUNS });
});

test("a text of 4,000 octets with every awkward sign comes back as it was", async () => {
  const awkward = '"quotes" \\ back\\slashes; semi;colons 🎉 ${zone} $${x} ';
  const target = awkward.repeat(100).slice(0, 3_000);
  expect(Buffer.byteLength(target)).toBeGreaterThan(3_000);
  const long = target + "é".repeat((MAX_TEXT_BYTES - Buffer.byteLength(target)) >> 1);
  expect(Buffer.byteLength(long)).toBeGreaterThanOrEqual(MAX_TEXT_BYTES - 1);
  await goesRound([{ type: "TXT", name: "", target: long, ttl_sec: 300 }], false);
});

async function goesRound(given: readonly DnsRecord[], split: boolean): Promise<void> {
  const account = await Account.open();
  try {
    const domain = { domain: ZONE, type: "master", soa_email: "hostmaster@example.com", records: given.map(entryOf) };
    const { report } = await account.converge(
      JSON.stringify({ tenon: 1, domains: [domain] }).replaceAll("${", () => "$${"),
    );
    expect(report.failed).toBe(0);
    const live = await written(await importAccount(account.api, { split }));
    expect(await recordsIn(live)).toEqual(sorted(given));
    const exported = await exportLive(account.api, ZONE, {
      nameservers: ["ns.example.net"],
      serial: 1,
      nowMilliseconds: 0,
    });
    if (!("exported" in exported)) throw new Error(JSON.stringify(exported));
    const folder = await mkdtemp(join(tmpdir(), "tenon-round-"));
    await writeFile(join(folder, "example.com.zone"), exported.exported.text);
    const again = await written(await importFiles("zone", [join(folder, "example.com.zone")], { split }));
    await rm(folder, { recursive: true });
    expect(await recordsIn(again)).toEqual(sorted(given));
    const { desired } = await loadFolder(again);
    expect((await account.plan(desired as Desired)).steps).toEqual([]);
  } finally {
    await account.close();
  }
}

const NAMED: ReadonlySet<string> = new Set(["CNAME", "MX", "SRV"]);

function entryOf({ name: owner, target, ...rest }: DnsRecord): object {
  return { ...rest, ...(owner === "" ? {} : { name: owner }), target: NAMED.has(rest.type) ? `${target}.` : target };
}

async function recordsIn(folder: string): Promise<unknown[]> {
  const { desired, diagnostics } = await loadFolder(folder);
  if (desired === null) throw new Error(JSON.stringify(diagnostics, null, 1));
  const spec = desired.declared[0]?.spec as ZoneSpec;
  return sorted((spec.records ?? []).map(({ span: _span, note: _note, lintOff: _off, ...rest }) => rest));
}

function sorted(list: readonly DnsRecord[]): unknown[] {
  const texts = list.map((one) => JSON.stringify(Object.fromEntries(Object.entries(one).sort())));
  return texts.sort().map((one) => JSON.parse(one) as unknown);
}
