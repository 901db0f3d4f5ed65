/** Keeps which places of a sample of mutants each test file executes, for run.mjs. */

import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";

const executed = new Set<number>();
/** A test that fails without a mistake cannot notice one. */
let failed = false;

Object.assign(globalThis, { __executed: (number: number) => executed.add(number) });

beforeAll(() => {
  executed.clear();
  failed = false;
});

afterEach(({ task }) => {
  if (task.result?.state === "fail") failed = true;
});

afterAll(() => {
  const told = { file: expect.getState().testPath, executed: [...executed], failed };
  writeFileSync(join(process.env["TENON_MUTANT_HITS"] ?? "", `${randomUUID()}.json`), JSON.stringify(told));
});
