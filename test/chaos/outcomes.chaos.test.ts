/** Every outcome of every mutating request of applies that send every kind of request. */

import { afterAll, describe, expect, test } from "vitest";
import { report } from "./counts.ts";
import { loadWorlds } from "./outcome-load.ts";
import { cellsOf, tryCells } from "./outcome-matrix.ts";
import { runUndisturbed } from "./outcome-run.ts";
import { LASTING_OUTCOMES, OUTCOMES } from "./outcome-table.ts";
import { WORLD_NAMES } from "./outcome-worlds.ts";

const counts = { tried: 0, survived: 0, mutations: 0 };

/** Every mutating request that Tenon knows, ids replaced. */
const EVERY_REQUEST = [
  "DELETE /domains/*",
  "DELETE /domains/*/records/*",
  "DELETE /images/*",
  "DELETE /vpcs/*",
  "DELETE /vpcs/*/subnets/*",
  "POST /domains",
  "POST /domains/*/clone",
  "POST /domains/*/records",
  "POST /domains/import",
  "POST /images",
  "POST /images/upload",
  "POST /vpcs",
  "POST /vpcs/*/subnets",
  "PUT (upload)",
  "PUT /domains/*",
  "PUT /domains/*/records/*",
  "PUT /images/*",
  "PUT /vpcs/*",
  "PUT /vpcs/*/subnets/*",
];

test("the applies send every mutating request there is", async () => {
  const references = await Promise.all((await loadWorlds()).map(runUndisturbed));
  const shapes = references.flatMap(({ requests }) => requests.map(shapeOf));
  expect([...new Set(shapes)].sort()).toEqual(EVERY_REQUEST);
});

function shapeOf({ method, path }: { readonly method: string; readonly path: string }): string {
  if (path.startsWith("/_upload/")) return `${method} (upload)`;
  return `${method} ${path.replace(/^\/v4/, "").replace(/\/(\d+|private%2F\d+)(?=\/|$)/g, "/*")}`;
}

describe.each(WORLD_NAMES)("in the world of %s", (name) => {
  test.each([
    ["once", OUTCOMES],
    ["for as long as it is tried", LASTING_OUTCOMES],
  ] as const)("every outcome of every mutating request, %s", async (_, outcomes) => {
    const loaded = (await loadWorlds()).find(({ world }) => world.name === name);
    if (loaded === undefined) throw new Error(`no world ${name}`);
    const reference = await runUndisturbed(loaded);
    const cells = cellsOf([reference], outcomes);
    expect(cells.length).toBe(reference.requests.length * outcomes.length);
    const { problems, survived } = await tryCells(cells);
    counts.tried += cells.length;
    counts.survived += survived;
    if (outcomes === OUTCOMES) counts.mutations += reference.requests.length;
    expect(problems).toEqual([]);
  });
});

afterAll(() => {
  const { tried, survived, mutations } = counts;
  const outcomes = OUTCOMES.length + LASTING_OUTCOMES.length;
  report({ suite: "outcomes", tried, survived, more: { mutations, outcomes } });
  expect(tried).toBe(mutations * outcomes);
});
