/** What CONTRIBUTING.md says of the tests. */

import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { expect, test } from "vitest";

const TESTS = join(import.meta.dirname, "..");

/** Clocks that are read for nothing but to tell how long something took; a wall clock only where a moment is taken from it. */
const STOPWATCHES: readonly RegExp[] = [
  /\bperformance\.(?:now|mark|measure|timerify)\b/,
  /\bperf_hooks\b/,
  /\bhrtime\b/,
  /\b(?:cpuUsage|resourceUsage)\b/,
  /\bconsole\.time/,
  /\bDate\.now\(\) - \w+\b(?!\.)/,
];

function timesSomething(text: string): boolean {
  return STOPWATCHES.some((stopwatch) => stopwatch.test(text));
}

test("no test of `npm test` measures how long something takes: a busy machine is no failure", () => {
  // This file names them, and test/system is run on its own.
  const files = readdirSync(TESTS, { recursive: true, encoding: "utf8" }).filter(
    (file) =>
      file.endsWith(".ts") &&
      !file.startsWith(`system${sep}`) &&
      !file.endsWith(".chaos.test.ts") &&
      !import.meta.filename.endsWith(file),
  );
  expect(files.length).toBeGreaterThan(250);
  expect(files.filter((file) => timesSomething(readFileSync(join(TESTS, file), "utf8")))).toEqual([]);
});

test.each([
  "const began = performance.now();",
  "expect(Date.now() - started).toBeLessThan(5_000);",
  "const { user } = process.cpuUsage(before);",
  "process.hrtime.bigint()",
])("%s would be found", (text) => {
  expect(timesSomething(text)).toBe(true);
});

test.each([
  "now: () => Date.now() - time.behind,",
  "const deadline = Date.now() + 5_000;",
  "expect(clock.now() - begin).toBeLessThan(5_000);",
])("%s would not", (text) => {
  expect(timesSomething(text)).toBe(false);
});
