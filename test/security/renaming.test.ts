/** A name that stands in many places is renamed in all of them, with work that grows no faster than they do. */

import { expect, test } from "vitest";
import { renameEdits } from "../../src/lsp/names.ts";
import { operationsOf } from "../support/operations.ts";

function occurrences(count: number) {
  return Array.from({ length: count }, (_, line) => ({
    kind: "variable" as const,
    name: "ip",
    isDefinition: false,
    place: {
      path: `/p/${line % 3}.yaml`,
      range: { start: { line, character: 2 }, end: { line, character: 4 } },
    },
  }));
}

/** How many elements of arrays are taken one by one, as spreads do, and what is called. */
async function workOf(count: number): Promise<number> {
  const given = occurrences(count);
  const { [Symbol.iterator]: iterate } = Array.prototype;
  let taken = 0;
  const counting = function* (this: unknown[]) {
    for (let index = 0; index < this.length; index += 1) {
      taken += 1;
      yield this[index];
    }
  };
  const operations = await operationsOf(() => {
    Object.defineProperty(Array.prototype, Symbol.iterator, { value: counting, configurable: true, writable: true });
    try {
      renameEdits(given, "address");
    } finally {
      Object.defineProperty(Array.prototype, Symbol.iterator, { value: iterate, configurable: true, writable: true });
    }
  });
  return operations + taken;
}

test("the work of a rename grows with the places, and each place has its edit", async () => {
  const edits = renameEdits(occurrences(7), "address");
  expect([...edits].map(([path, of]) => [path, of.map(({ range, newText }) => [range.start.line, newText])])).toEqual([
    ["/p/0.yaml", [0, 3, 6].map((line) => [line, "address"])],
    ["/p/1.yaml", [1, 4].map((line) => [line, "address"])],
    ["/p/2.yaml", [2, 5].map((line) => [line, "address"])],
  ]);
  await workOf(500);
  const [small, large] = [await workOf(500), await workOf(4_000)];
  expect(large / small).toBeLessThan(10);
});
