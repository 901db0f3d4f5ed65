import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { writeZoneFile } from "../../../src/dns/zone-file/write.ts";
import { plain, position, read } from "./reading.ts";

const text = readFileSync(new URL("../../fixtures/zones/example.org.zone", import.meta.url), "utf8");

interface Expected {
  readonly type: string;
  readonly name: string;
  readonly ttl_sec: number;
  readonly target: string;
  readonly priority?: number;
  readonly weight?: number;
  readonly port?: number;
  readonly tag?: string;
  readonly flags?: number;
}

/** What another reader (dnspython) made of the file. */
const expected = JSON.parse(
  readFileSync(new URL("../../fixtures/zones/example.org.records.json", import.meta.url), "utf8"),
) as Expected[];

const NAMES = ["CNAME", "MX", "NS", "PTR", "SRV"];

test("a real zone is read to the same records as by another reader", async () => {
  const wanted = expected
    .filter(({ type, name }) => type !== "NS" || name !== "")
    .map(({ flags, ...record }) => {
      expect(flags ?? 0).toBe(0);
      return NAMES.includes(record.type) ? { ...record, target: record.target.replace(/\.$/, "") } : record;
    });
  const { records, diagnostics } = await read(text, "example.org");
  expect(diagnostics).toEqual([]);
  expect(records).toHaveLength(258);
  expect(sorted(records.map(plain))).toEqual(sorted(wanted));
});

function sorted(records: readonly object[]): object[] {
  const keyed = records.map((record) => ({ record, key: JSON.stringify(Object.entries(record).sort()) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ record }) => record);
}

test("its SOA, its own NS and the 86 records of other types are told by line", async () => {
  const { skipped, soa } = await read(text, "example.org");
  const lines = text.split("\n");
  const told = skipped.map(({ reason, type, span }) => ({
    reason,
    type,
    line: Number(position(text, span).split(":")[0]),
  }));
  expect(told.filter(({ reason }) => reason !== "unsupported-type")).toEqual([
    { reason: "soa", type: "SOA", line: 29 },
    ...[36, 37, 38, 39].map((line) => ({ reason: "apex-ns", type: "NS", line })),
  ]);
  const unsupported = told.filter(({ reason }) => reason === "unsupported-type");
  expect(unsupported).toHaveLength(86);
  for (const { type, line } of unsupported) expect(lines[line - 1]).toContain(type);
  expect(soa).toMatchObject({ email: "hostmaster@example.org", serial: 2020030700, expire: 864_000, ttl_sec: 7200 });
});

test("written and read again it is the same", async () => {
  const { records, soa } = await read(text, "example.org");
  const written = writeZoneFile({ zone: "example.org", soa, nameservers: ["ns1.example.org"], records });
  const again = await read(written, "example.org");
  expect(again.diagnostics).toEqual([]);
  expect(sorted(again.records.map(plain))).toEqual(sorted(records.map(plain)));
  expect(again.soa).toEqual({ ...soa, minimum: 7200 });
});
