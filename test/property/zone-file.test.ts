/** For any records: written as a zone file and read again they are the same; and however a file is spelled, it reads the same. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { absoluteName } from "../../src/dns/name.ts";
import type { DnsRecord } from "../../src/dns/record.ts";
import { readZoneFile } from "../../src/dns/zone-file/read.ts";
import { writeZoneFile } from "../../src/dns/zone-file/write.ts";
import { plainRecords, ZONE } from "./zone-file-records.ts";
import { spelled } from "./zone-file-spelling.ts";

const RUNS = Number(process.env["TENON_PROPERTY_RUNS"] ?? 500);

/** So that lists of them can be compared: the order of a file is not that of the records. */
function keys(records: readonly DnsRecord[]): string[] {
  return records
    .map(({ type, name, target, ttl_sec, priority, weight, port, tag }) =>
      JSON.stringify([name, type, target, ttl_sec, priority, weight, port, tag]),
    )
    .sort();
}

async function readBack(text: string): Promise<{ keys: string[]; problems: unknown[] }> {
  const { records, skipped, diagnostics } = await readZoneFile(text, {
    zone: ZONE,
    file: "a.zone",
    include: async () => ({ ok: false, detail: "nothing is included" }),
  });
  const aside = skipped.filter(({ reason }) => reason !== "soa" && reason !== "apex-ns");
  return { keys: keys(records), problems: [...diagnostics, ...aside] };
}

test("records become a zone file and the same records again", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(plainRecords, fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (records, ttl_sec) => {
      const soa = {
        mname: "ns1.example.net",
        email: "a.b@example.net",
        serial: 1,
        refresh: 2,
        retry: 3,
        expire: 4,
        ttl_sec,
      };
      const text = writeZoneFile({ zone: ZONE, soa, nameservers: ["ns1.example.net"], records });
      const wanted = records.map((record) => (record.ttl_sec === 0 ? { ...record, ttl_sec } : record));
      expect(await readBack(text)).toEqual({ keys: keys(wanted), problems: [] });
      expect(text).toMatch(/^[\n -~]*$/);
    }),
    { numRuns: RUNS },
  );
});

test("a file reads the same however it is spelled", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(plainRecords, fc.infiniteStream(fc.nat()), async (records, randoms) => {
      const text = spelled(records, ZONE, (below) => (randoms.next().value as number) % below);
      const wanted = records.map((record) => ({ ...record, ttl_sec: Math.max(record.ttl_sec, 1) }));
      expect({ text, ...(await readBack(text)) }).toEqual({ text, keys: keys(wanted), problems: [] });
    }),
    { numRuns: RUNS },
  );
});

test("any text is read to an end, with every place within it", { timeout: 60_000 }, async () => {
  const pieces = fc.constantFrom(
    ...[
      "a",
      "@",
      "$TTL 5",
      "$ORIGIN b",
      "$GENERATE 1-2 a$ A 192.0.2.$",
      "A",
      "TXT",
      "IN",
      "5",
      '"',
      "(",
      ")",
      ";",
      "\\",
    ],
    ...[
      "\n",
      "\n",
      "\r\n",
      "\t",
      " ",
      " ",
      "\\#",
      "4",
      "c0000201",
      "192.0.2.1",
      "\\065",
      "é",
      "\ufeff",
      "\0",
      ".",
      "$",
      "😀",
    ],
  );
  const texts = fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const { records, skipped, diagnostics } = await readZoneFile(text, {
        zone: ZONE,
        file: "a.zone",
        include: async () => ({ ok: false, detail: "nothing is included" }),
      });
      for (const { span } of [...records, ...skipped, ...diagnostics]) {
        expect(span).toBeDefined();
        if (span === undefined) continue;
        expect([span.start >= 0, span.start < span.end, span.end <= text.length]).toEqual([true, true, true]);
      }
      for (const { name } of records) expect(absoluteName(name, ZONE)).toMatch(/^[a-z0-9_*+/.-]+$/);
    }),
    { numRuns: RUNS * 4 },
  );
});
