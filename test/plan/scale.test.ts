/** A zone of the largest size: planned with work in proportion to its records, and with just the steps that it needs. */

import { expect, test } from "vitest";
import type { WireDomain, WireRecord } from "../../src/api/wire.ts";
import type { RecordType } from "../../src/dns/record.ts";
import type { Declared, Desired } from "../../src/model/desired.ts";
import type { Live } from "../../src/model/live.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { LiveIdentity, Unit } from "../../src/model/unit.ts";
import { guardsOf } from "../../src/plan/guards.ts";
import { matchUnit } from "../../src/plan/match.ts";
import { makePlan } from "../../src/plan/plan.ts";
import { units } from "../../src/units/index.ts";
import type { RecordSpec } from "../../src/units/zone/spec.ts";
import { growth } from "../support/operations.ts";
import { NOBODY } from "../support/snapshot.ts";
import { declared, change as pruned } from "./changes.ts";

const TIME = { created: "2026-01-01T00:00:00", updated: "2026-01-01T00:00:00" };

const DOMAIN: WireDomain = {
  ...{ id: 1, domain: "a.example", type: "master", status: "active", description: "", group: "" },
  ...{
    soa_email: "h@a.example",
    master_ips: [],
    axfr_ips: [],
    refresh_sec: 0,
    retry_sec: 0,
    expire_sec: 0,
    ttl_sec: 0,
  },
  ...{ tags: [], ...TIME },
};

function wire(id: number, type: "A" | "CNAME", name: string, target: string): WireRecord {
  return {
    id,
    type,
    name,
    target,
    ttl_sec: 300,
    priority: 0,
    weight: 0,
    port: 0,
    protocol: null,
    service: null,
    tag: null,
    ...TIME,
  };
}

/** Hosts and, for every second one, an alias of it. */
function records(count: number): WireRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const host = `host-${Math.floor(index / 2)}`;
    return index % 2 === 0
      ? wire(index, "A", host, `192.0.2.${index % 250}`)
      : wire(index, "CNAME", `www-${host}`, `${host}.a.example`);
  });
}

function zone(records: readonly RecordSpec[]): Declared {
  const spec = {
    domain: "a.example",
    fields: { type: "master", status: "active" },
    records,
    ignore: [],
    policy: "authoritative",
  };
  return { ...declared("domain/a.example", false), spec };
}

function plan(
  count: number,
  change: (record: WireRecord, index: number) => WireRecord[],
  listed: (records: WireRecord[]) => WireRecord[] = (list) => list.toReversed(),
): Plan {
  const live = records(count);
  const span = { file: "tenon.yaml", start: 0, end: 0 };
  const specs = live.flatMap(change).map(({ type, name, target, ttl_sec }) => ({
    type: type as RecordType,
    name,
    target,
    ttl_sec,
    span,
    note: null,
    lintOff: [],
  }));
  const desired: Desired = { owner: null, account: null, declared: [zone(specs)], removed: [], allow: [], lintOff: [] };
  const found: Live = { units: { zone: { items: [{ domain: DOMAIN, records: listed(live) }], total: 1 } } };
  const options = {
    goal: "apply",
    nowMilliseconds: 0,
    targets: [],
    excludes: [],
    consents: [],
    maxChanges: null,
    takeOwnershipFrom: [],
    account: null,
    clone: true,
  } as const;
  return makePlan(desired, found, units, options);
}

/** One in a hundred: a new address, a removed alias, a new alias and a new TTL in turn. */
function onePercent(record: WireRecord, index: number): WireRecord[] {
  if (index % 100 !== 1) return [record];
  switch (Math.floor(index / 100) % 4) {
    case 0:
      return [{ ...record, target: "elsewhere.test" }];
    case 1:
      return [];
    case 2:
      return [record, wire(0, "A", `new-${index}`, "192.0.2.251")];
    default:
      return [{ ...record, ttl_sec: 3600 }];
  }
}

test("a zone of 12,000 records with one percent changed has just those steps", () => {
  const made = plan(12_000, onePercent);
  const kinds = made.steps.map((step) => (step.type === "request" ? step.method : step.type));
  const counted = (method: string) => kinds.filter((kind) => kind === method).length;
  expect([counted("PUT"), counted("DELETE"), counted("POST"), made.steps.length]).toEqual([60, 30, 30, 120]);
  expect(made.changes).toHaveLength(12_031);
  expect(made.guards).toEqual([]);
  expect(made.gaps).toEqual([]);
});

test("the plan is the same, to the byte, in whatever order the service lists the records", () => {
  const straight = plan(1_200, onePercent, (list) => list);
  const turned = plan(1_200, onePercent, (list) => list.toReversed());
  expect(JSON.stringify(turned)).toBe(JSON.stringify(straight));
});

test("200,000 prunes are planned like two: no list of them is handed to a function as its arguments", () => {
  const unit = { name: "image", identify: (live: LiveIdentity) => live } as unknown as Unit;
  const items = Array.from({ length: 200_000 }, (_, id): LiveIdentity => {
    return { id, key: `i${id}`, address: `image/i${id}`, owner: "edge", shown: {} };
  });
  const options = {
    goal: "apply" as const,
    narrowed: false,
    mayPrune: () => true,
    takeOwnershipFrom: [],
    isAsDeclared: () => false,
    context: {
      owner: "edge",
      servedMilliseconds: null,
      uploadTimeoutSeconds: 3600,
      compared: { characters: 0 },
      mayDelete: () => false,
      idsOf: () => [],
      ownerOf: () => null,
      contentOf: () => null,
      live: [],
    },
  };
  const { matches } = matchUnit(unit, { ...NOBODY, owner: "edge" }, { items, total: items.length }, options);
  expect(matches).toHaveLength(200_000);
  const changes = items.map(({ address }) => pruned({ address, action: "delete", labels: ["prune"] }));
  const policy = { goal: "apply" as const, owner: "edge", today: "2026-01-01", consents: [], maxChanges: null };
  expect(
    guardsOf(
      changes,
      { changes, withRemovals: changes },
      { addresses: new Set(), takenFromProtected: new Map() },
      units,
      policy,
    ).guards,
  ).not.toEqual([]);
});

test("four times the records take about four times the work", async () => {
  expect(await growth(400, 4, (count) => plan(count, onePercent))).toBeLessThan(5);
});

test("so do the worst changes: every record renamed, every address replaced by an alias, all of one name", async () => {
  const worst = [
    (record: WireRecord) => [
      { ...record, name: `x-${record.name}`, ...(record.type === "CNAME" ? { target: `x-${record.target}` } : {}) },
    ],
    (record: WireRecord, index: number) => [
      record.type === "A"
        ? wire(index, "CNAME", record.name, "elsewhere.test")
        : wire(index, "A", record.name, "192.0.2.1"),
    ],
    (_: WireRecord, index: number) => [wire(index, "A", "one", `10.0.${Math.floor(index / 250)}.${index % 250}`)],
  ];
  for (const change of worst) {
    expect(await growth(200, 4, (count) => plan(count, change)), String(change)).toBeLessThan(6);
  }
});
