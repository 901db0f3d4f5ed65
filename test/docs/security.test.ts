import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const DOCS = join(import.meta.dirname, "../../docs/explanation/security.md");
const TESTS = join(import.meta.dirname, "../security");
/** What needs git or npm, or much time, stands with the tests that need more than Node. */
const SYSTEM_TESTS = join(import.meta.dirname, "../system");

/** The last cells of the tables whose last column is called test. */
function claimed(): string[] {
  const cells: string[] = [];
  let isListed = false;
  for (const line of readFileSync(DOCS, "utf8").split("\n")) {
    const row = /^\|.*\|\s*([^|]*?)\s*\|$/.exec(line)?.[1];
    if (row === undefined) isListed = false;
    else if (row === "test") isListed = true;
    else if (isListed && row !== "---") cells.push(row);
  }
  return cells;
}

function titles(): string[] {
  const files = readdirSync(TESTS).filter((file) => file.endsWith(".test.ts"));
  const more = readdirSync(SYSTEM_TESTS).filter((file) => /^threats-.*\.test\.ts$/.test(file));
  expect(more.length).toBeGreaterThan(1);
  return [...files.map((file) => join(TESTS, file)), ...more.map((file) => join(SYSTEM_TESTS, file))].flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/^test\(\s*"([^"]+)"/gm)].map((match) => match[1] ?? ""),
  );
}

test("every line of the threat model names a test by its title, and every test of a threat has its line", () => {
  const [lines, tests] = [claimed(), titles()];
  expect(lines.length).toBeGreaterThan(50);
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines.toSorted()).toEqual(tests.toSorted());
});

test("nothing else than a test by its title stands in the folder of the threats", () => {
  for (const file of readdirSync(TESTS).filter((name) => name.endsWith(".test.ts"))) {
    const text = readFileSync(join(TESTS, file), "utf8");
    expect([file, text.match(/\b(?:it|describe)(?:\.\w+)?\(|\btest\.\w+\(/g)]).toEqual([file, null]);
  }
});
