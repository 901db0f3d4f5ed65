/** Keeps which places of a sample of mutants each test file executes, for run.mjs. */

import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";

const HITS = process.env["TENON_MUTANT_HITS"] ?? "";
const executed = new Set<number>();
let id = "";
/** A test that fails without a mistake cannot notice one. */
let failed = false;

Object.assign(globalThis, { __executed: (number: number) => executed.add(number) });

beforeAll(() => {
  executed.clear();
  failed = false;
  id = randomUUID();
  // Where a process that a test starts looks for the test file it works for.
  writeFileSync(join(HITS, `worker-${process.pid}`), id);
});

afterEach(({ task }) => {
  if (task.result?.state === "fail") failed = true;
});

afterAll(() => {
  const hits = { file: expect.getState().testPath, executed: [...executed], failed };
  writeFileSync(join(HITS, `${id}.json`), JSON.stringify(hits));
});
