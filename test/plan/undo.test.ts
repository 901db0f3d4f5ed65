/** What an undo costs: forged journals may tell of a hundred thousand changes. */

import { expect, test } from "vitest";
import type { Declared, Desired } from "../../src/model/desired.ts";
import type { JournalledChange, JournalledRun } from "../../src/model/journal.ts";
import type { Live } from "../../src/model/live.ts";
import { undoRun } from "../../src/plan/undo.ts";
import { units } from "../../src/units/index.ts";
import { growth, itemsWalkedEach } from "../support/operations.ts";

const SPAN = { file: "run.jsonl", start: 0, end: 0 };

function runOf(names: readonly string[]): JournalledRun {
  const changes = names.map((name, index): JournalledChange => {
    const root = `domain/${name}` as const;
    const before = { domain: name, owner: null, type: "master", status: "active", soa_email: "h@a.example" };
    return {
      ...{ key: root, kind: "domain", root, action: "delete", id: index + 1, before, after: null, contents: [] },
      ...{
        span: SPAN,
        isBegun: true,
        isDone: true,
        madeId: null,
        mayBeMade: false,
        gaveWay: false,
        isFromAnother: false,
        sent: [],
      },
    };
  });
  const place = { file: SPAN.file, span: SPAN, host: "a.example", account: null, environment: null, owner: null };
  return { ...place, started: "2026-11-22T10:00:00Z", goal: "apply", changes, isEnded: true, youngest: {} };
}

test("of many deleted zones, beside as many that are declared, takes a time that is linear in them", async () => {
  const work = (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `z${index}.example`);
    const declared = names.map((name): Declared => {
      const address = `domain/other-${name}`;
      const named = { unit: "zone", address, key: `other-${name}`, id: null, movedFrom: null };
      return { ...named, protect: false, note: null, span: SPAN, spec: {} } as unknown as Declared;
    });
    const project: Desired = { owner: null, account: null, declared, removed: [], allow: [], lintOff: [] };
    const { desired } = undoRun(runOf(names), { units: {} }, units, project);
    expect(desired.declared).toHaveLength(count);
  };
  expect(await growth(300, 4, work)).toBeLessThan(6);
});

const WHEN = { created: "2026-01-01T00:00:00", updated: "2026-01-01T00:00:00" };

function vpc(id: number): { readonly vpc: object } {
  return { vpc: { ...WHEN, id, label: "x", region: "us-east", description: "of others", subnets: [] } };
}

function projectOf(): Desired {
  return { owner: null, account: null, declared: [], removed: [], allow: [], lintOff: [] };
}

test("of many deleted VPCs of one name, beside as many of that name, takes a time that is linear in them", async () => {
  const work = (count: number) => {
    const ids = Array.from({ length: count }, (_, index) => index + 1);
    const run = runOf(["x.example"]);
    const changes = ids.map((id): JournalledChange => {
      const root = `vpc/x:${count + id}` as const;
      const before = { label: "x", region: "us-east", description: `${id}`, owner: null };
      const [first] = run.changes as [JournalledChange];
      return { ...first, key: root, kind: "vpc", root, id: count + id, before };
    });
    const items = ids.map(vpc);
    const live = { units: { network: { items, total: count } } };
    const { desired, warnings } = undoRun({ ...run, changes }, live, units, projectOf());
    // The name is taken by others.
    expect([desired.declared.length, warnings.length]).toEqual([0, count]);
  };
  expect(await growth(200, 4, work)).toBeLessThan(6);
});

const DOMAIN = {
  ...{
    id: 1,
    domain: "a.example",
    type: "master",
    status: "active",
    description: "",
    group: "",
    soa_email: "h@a.example",
  },
  ...{ master_ips: [], axfr_ips: [], refresh_sec: 0, retry_sec: 0, expire_sec: 0, ttl_sec: 0, tags: [], ...WHEN },
};

function wire(id: number, type: string, name: string, target: string): object {
  const numbers = { ttl_sec: 300, priority: 0, weight: 0, port: 0 };
  return { id, type, name, target, ...numbers, protocol: null, service: null, tag: null, ...WHEN };
}

/** What a run did within one zone that stays, and the records that the zone has now. */
function undoWithin(changes: readonly Partial<JournalledChange>[], records: readonly object[]) {
  const root = "domain/a.example" as const;
  const [first] = runOf(["a.example"]).changes as [JournalledChange];
  const zone = { ...first, action: "no-op" as const, isBegun: false, after: first.before };
  const within = changes.map((one, index): JournalledChange => {
    const own = { key: `${root}/w/A[${index}]`, kind: "domain_record" as const, root, contents: [] };
    return { ...first, ...own, id: null, before: null, after: null, ...one };
  });
  const items = [{ domain: DOMAIN, records }];
  const live = { units: { zone: { items, total: 1 } } } as unknown as Live;
  return undoRun({ ...runOf([]), changes: [zone, ...within] }, live, units, projectOf());
}

const a = (name: string, target = "192.0.2.1") => ({ type: "A", name, target, ttl_sec: 300 });

test.each([
  [
    "a zone of which nothing is left to undo",
    (count: number) => {
      const records = Array.from({ length: count }, (_, index) => wire(index + 1, "A", `w${index}`, "192.0.2.1"));
      const change = { action: "update" as const, id: 1, before: a("w0"), after: a("w0", "192.0.2.9") };
      return [undoWithin([change], records).desired.declared.length, 0];
    },
  ],
  [
    "equal records of which no id is known",
    (count: number) => {
      const records = Array.from({ length: count }, (_, index) => wire(index + 1, "A", "w", "192.0.2.1"));
      const made = records.map(() => ({ action: "create" as const, after: a("w") }));
      return [undoWithin(made, records).conflicts.length, 0];
    },
  ],
  [
    "records that cannot come back beside those that came since",
    (count: number) => {
      const records = Array.from({ length: count }, (_, index) =>
        wire(index + 1, "A", "w", `10.0.${index >> 8}.${index & 255}`),
      );
      const gone = records.map((_, index) => ({
        ...{ action: "delete" as const, id: 1_000_000 + index },
        before: { type: "CNAME", name: "w", target: `t${index}.example.net`, ttl_sec: 300 },
      }));
      return [undoWithin(gone, records).warnings.length, count];
    },
  ],
] as const)("of %s takes a time that is linear in them", async (_, work) => {
  const [found, expected] = work(50);
  expect(found).toBe(expected);
  expect(await growth(200, 4, work)).toBeLessThan(6);
  expect(await growth(200, 4, work, itemsWalkedEach)).toBeLessThan(6);
});
