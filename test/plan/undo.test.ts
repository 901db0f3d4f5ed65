/** What an undo costs: forged journals may tell of a hundred thousand changes. */

import { expect, test } from "vitest";
import type { Declared, Desired } from "../../src/model/desired.ts";
import type { JournalledChange, JournalledRun } from "../../src/model/journal.ts";
import { undoRun } from "../../src/plan/undo.ts";
import { units } from "../../src/units/index.ts";
import { growth } from "../support/operations.ts";

const SPAN = { file: "run.jsonl", start: 0, end: 0 };

function runOf(names: readonly string[]): JournalledRun {
  const changes = names.map((name, index): JournalledChange => {
    const root = `domain/${name}` as const;
    const before = { domain: name, owner: null, type: "master", status: "active", soa_email: "h@a.example" };
    return {
      ...{ key: root, kind: "domain", root, action: "delete", id: index + 1, before, after: null, contents: [] },
      ...{ span: SPAN, isBegun: true, isDone: true, madeId: null },
    };
  });
  const place = { file: SPAN.file, span: SPAN, host: "a.example", account: null, environment: null, owner: null };
  return { ...place, started: "2026-11-22T10:00:00Z", goal: "apply", changes, isEnded: true };
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
