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
