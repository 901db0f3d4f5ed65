/** A sample of the matrix of outcomes, by a seed: TENON_CHAOS_SEED, or always the same. */

import { expect, test } from "vitest";
import { report } from "./counts.ts";
import { loadWorlds } from "./outcome-load.ts";
import { cellsOf, sample, tryCells } from "./outcome-matrix.ts";
import { runUndisturbed } from "./outcome-run.ts";
import { LASTING_OUTCOMES, OUTCOMES } from "./outcome-table.ts";

const SEED = Number(process.env["TENON_CHAOS_SEED"] ?? 20_260_301);
const CELLS_PER_OUTCOME = 1;

test(`what becomes of a request is what apply promises, and the next apply ends it (seed ${SEED})`, async () => {
  const references = await Promise.all((await loadWorlds()).map(runUndisturbed));
  const outcomes = [...OUTCOMES, ...LASTING_OUTCOMES];
  const cells = sample(cellsOf(references, outcomes), CELLS_PER_OUTCOME, SEED);
  expect(cells.length).toBe(outcomes.length * CELLS_PER_OUTCOME);
  const { problems, survived } = await tryCells(cells);
  report({ suite: `outcomes (sample, seed ${SEED})`, tried: cells.length, survived });
  expect(problems).toEqual([]);
});
