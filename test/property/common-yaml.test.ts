/** What the reader of common YAML accepts has the same values at the same places as with the yaml library, which finds nothing wrong in it. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import * as yaml from "yaml";
import { readCommonYaml } from "../../src/manifest/common-yaml.ts";
import { Budget } from "../../src/manifest/limits.ts";
import { parseWithLibrary } from "../../src/manifest/parse.ts";
import { Places } from "../../src/manifest/positions.ts";
import type { Diagnostic } from "../../src/model/diagnostic.ts";
import { commonDocument, mutated } from "./yaml-documents.ts";

const RUNS = Number(process.env["TENON_PROPERTY_RUNS"] ?? 500);
/** 100,000 of the 500 runs of test:chaos, generated and changed: a document takes a hundredth of the time of another property's run. */
const DOCUMENTS_PER_RUN = 100;

/** Each value with all that is known of its place. */
function located(value: unknown, places: Places): unknown {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [
    ...[key, places.span(value, key), places.keySpan(value, key), places.source(value, key)],
    located(item, places),
  ]);
  return [Array.isArray(value), places.span(value), places.firstKeySpan(value), [...places.brokenKeys(value)], entries];
}

function byLibrary(text: string): unknown {
  const places = new Places();
  const found: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => void found.push(diagnostic);
  const { tree, damaged } = parseWithLibrary("a.yaml", text, { yaml, places, budget: new Budget(), report });
  return { tree: tree === null ? null : located(tree, places), damaged, found };
}

/** @returns whether the reader took the text */
function compare(text: string): boolean {
  const places = new Places();
  const tree = readCommonYaml("a.yaml", text, places);
  if (tree === null) return false;
  expect({ text, ...(byLibrary(text) as object) }).toEqual({
    ...{ text, tree: located(tree, places), damaged: false, found: [] },
  });
  return true;
}

test("the YAML files of the tests and examples, whole and without one of their lines", () => {
  const files = ["test", "examples"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".yaml") && !file.includes("node_modules"))
      .map((file) => join(folder, file)),
  );
  const texts = files.map((file) => readFileSync(file, "utf8")).filter((text) => text.length < 10_000);
  let common = 0;
  for (const text of texts) {
    if (compare(text)) common += 1;
    const lines = text.split("\n");
    for (const index of lines.keys()) if (index % 7 === 0) compare(lines.toSpliced(index, 1).join("\n"));
  }
  expect(common).toBeGreaterThan(20);
});

test("generated documents, and what one to five changes make of them", { timeout: 1_200_000 }, () => {
  let common = 0;
  let changed = 0;
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (randoms) => {
      const below = (bound: number): number => (randoms.next().value as number) % bound;
      for (let index = 0; index < DOCUMENTS_PER_RUN; index += 1) {
        const document = commonDocument(below);
        if (compare(document)) common += 1;
        if (compare(mutated(document, below))) changed += 1;
      }
    }),
    { numRuns: RUNS },
  );
  // All that is generated is common, and so is a good part of what is changed.
  expect(common).toBe(RUNS * DOCUMENTS_PER_RUN);
  expect(changed).toBeGreaterThan(RUNS);
});
