/** What caches keep of a plan's changes is told with the minute it ends, and only where it matters. */

import { expect, test } from "vitest";
import { lintChanges } from "../../src/lint/changes.ts";
import type { Change } from "../../src/model/change.ts";
import type { Values } from "../../src/model/resource.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 0, 30);
const ROOT = "domain/example.com";
const RECORD = { type: "A", name: "www", target: "192.0.2.1", ttl_sec: 7200 };

function change(before: Values | null, after: Values | null, more: Partial<Change> = {}): Change {
  const { name, type } = (after ?? before) as { name: string; type: string };
  return {
    key: `${ROOT}/${name}/${type}`,
    address: `${ROOT}/${name}/${type}`,
    previousAddress: null,
    unit: "zone",
    root: ROOT,
    kind: "domain_record",
    action: before === null ? "create" : after === null ? "delete" : "update",
    labels: [],
    id: 1,
    before,
    after,
    replaceFields: [],
    blocked: null,
    note: null,
    span: { file: "tenon.yaml", start: 3, end: 5 },
    origin: null,
    ...more,
  };
}

function domain(values: Values | null, root = ROOT): Change {
  return { ...change(RECORD, RECORD), key: root, address: root, root, kind: "domain", action: "no-op", before: values };
}

const SERVED = domain({ type: "master", status: "active", ttl_sec: 0 });

function summaries(changes: readonly Change[], off: readonly string[] = []): string[] {
  return lintChanges(changes, NOW, () => off).map(({ summary }) => summary);
}

test("a new target under a TTL of two hours is told with the minute at which the last cache forgets the old one", () => {
  const changed = change(RECORD, { ...RECORD, target: "192.0.2.2" });
  expect(lintChanges([SERVED, changed], NOW, () => [])).toEqual([
    {
      code: "cached-target",
      severity: "warning",
      summary: "caches keep the old domain/example.com/www/A until 2026-11-21 14:01 UTC (changed; TTL 7200 seconds)",
      detail: expect.stringMatching(/^Resolvers .* \(RFC 1034, 3\.6\)\.$/),
      fix: expect.stringContaining("cached-target"),
      span: changed.span,
      address: ROOT,
    },
  ]);
});

test("a TTL that no answer can have, of a record or its zone, is told as the longest that one can", () => {
  const until = "until 2094-12-09 15:15 UTC (removed; TTL 2147483647 seconds)";
  for (const ttl_sec of [9_000_000_000_000, 1e308]) {
    expect(summaries([SERVED, change({ ...RECORD, ttl_sec }, null)])).toEqual([expect.stringContaining(until)]);
    const zone = domain({ type: "master", status: "active", ttl_sec });
    expect(summaries([zone, change({ ...RECORD, ttl_sec: 0 }, null)])).toEqual([expect.stringContaining(until)]);
  }
});

test("a record that is removed, renamed, or changed in another field than its target counts, too", () => {
  const renamed = { ...RECORD, name: "web" };
  const mail = { type: "MX", name: "", target: "mx.example.net", priority: 10, ttl_sec: 14_400 };
  const found = lintChanges(
    [
      SERVED,
      change(RECORD, null, { span: null }),
      change(RECORD, renamed, { previousAddress: `${ROOT}/www/A` }),
      change(mail, { ...mail, priority: 20 }),
    ],
    NOW,
    () => [],
  );
  expect(found.map(({ summary }) => /old (.*)$/.exec(summary)?.[1])).toEqual([
    "domain/example.com/www/A until 2026-11-21 14:01 UTC (removed; TTL 7200 seconds)",
    "domain/example.com/www/A until 2026-11-21 14:01 UTC (renamed; TTL 7200 seconds)",
    "domain/example.com//MX until 2026-11-21 16:01 UTC (changed; TTL 14400 seconds)",
  ]);
  // What is the same for all can be told once.
  expect(new Set(found.map(({ detail, fix }) => `${detail} ${fix}`)).size).toBe(1);
});

test("a TTL of 0 is the domain's live one, or the service's day", () => {
  const of = (ttl_sec: number) => domain({ type: "master", status: "active", ttl_sec });
  const changed = change({ ...RECORD, ttl_sec: 0 }, null);
  expect(summaries([of(0), changed])).toEqual([
    "caches keep the old domain/example.com/www/A until 2026-11-22 12:01 UTC (removed; TTL 86400 seconds)",
  ]);
  expect(summaries([of(14_400), changed])).toEqual([
    "caches keep the old domain/example.com/www/A until 2026-11-21 16:01 UTC (removed; TTL 14400 seconds)",
  ]);
  expect(summaries([of(3_600), changed])).toEqual([]);
});

test("what changes nothing for a cache is silent", () => {
  const off = domain({ type: "master", status: "disabled", ttl_sec: 0 });
  const slave = domain({ type: "slave", status: "active", ttl_sec: 0 });
  const changed = change(RECORD, null);
  expect(summaries([SERVED, change(RECORD, { ...RECORD, ttl_sec: 300 })])).toEqual([]);
  expect(summaries([SERVED, change(null, RECORD)])).toEqual([]);
  expect(summaries([SERVED, change(RECORD, RECORD, { action: "no-op" })])).toEqual([]);
  expect(summaries([SERVED, change({ ...RECORD, ttl_sec: 3_600 }, null)])).toEqual([]);
  expect(summaries([SERVED, change(RECORD, null, { blocked: { type: "depends", on: [] } })])).toEqual([]);
  expect(summaries([SERVED, change(RECORD, null, { labels: ["duplicate"] })])).toEqual([]);
  expect(summaries([off, changed])).toEqual([]);
  expect(summaries([slave, changed])).toEqual([]);
  expect(summaries([domain(null), changed])).toEqual([]);
  expect(summaries([SERVED, changed])).toHaveLength(1);
});

test("it is silent where it is switched off, for one record as for all", () => {
  const [first, second] = [change(RECORD, null), change({ ...RECORD, name: "web" }, null)];
  expect(summaries([SERVED, first, second], ["cached-target"])).toEqual([]);
  const found = lintChanges([SERVED, first, second], NOW, (each) =>
    each === first ? ["cached-target"] : ["mixed-ttl"],
  );
  expect(found.map(({ summary }) => summary)).toEqual([
    "caches keep the old domain/example.com/web/A until 2026-11-21 14:01 UTC (removed; TTL 7200 seconds)",
  ]);
});

test("many records of a zone are told in one line each zone, with the longest of their TTLs", () => {
  const many = Array.from({ length: 12_000 }, (_, n) =>
    change({ ...RECORD, name: `n${n}`, ttl_sec: n === 7 ? 86_400 : 7_200 }, null),
  );
  const other = "domain/example.org";
  const found = lintChanges(
    [
      SERVED,
      ...many,
      domain({ type: "master", status: "active", ttl_sec: 0 }, other),
      { ...change(RECORD, null), root: other },
    ],
    NOW,
    () => [],
  );
  expect(found.map(({ summary }) => summary)).toEqual([
    "caches keep 12,000 old records of domain/example.com until 2026-11-22 12:01 UTC (TTL up to 86400 seconds): n0/A, n1/A, n2/A, n3/A, n4/A and 11,995 more",
    "caches keep the old domain/example.com/www/A until 2026-11-21 14:01 UTC (removed; TTL 7200 seconds)",
  ]);
  expect(found[0]).not.toHaveProperty("span");
});
