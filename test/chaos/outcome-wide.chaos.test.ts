/** Outcomes met with eight steps under way at once, for a part of the requests by a seed: TENON_CHAOS_SEED, or always the same. */

import { expect, test } from "vitest";
import { report } from "./counts.ts";
import { loadWorlds } from "./outcome-load.ts";
import { sample } from "./outcome-matrix.ts";
import { runUndisturbed } from "./outcome-run.ts";
import { OUTCOMES } from "./outcome-table.ts";
import { tryWideCell, wideCellsOf } from "./outcome-wide.ts";

const SEED = Number(process.env["TENON_CHAOS_SEED"] ?? 20_260_301);
const CELLS_PER_OUTCOME = 16;

test(`whoever meets an outcome, one step at most is not done, and the next apply ends it (seed ${SEED})`, async () => {
  const references = await Promise.all((await loadWorlds()).map(runUndisturbed));
  const cells = sample(
    references.flatMap((reference) => wideCellsOf(reference, OUTCOMES)),
    CELLS_PER_OUTCOME,
    SEED,
  );
  const problems: string[] = [];
  let survived = 0;
  for (const cell of cells) {
    const found = await tryWideCell(cell);
    problems.push(...found);
    survived += found.length === 0 ? 1 : 0;
  }
  report({ suite: `outcomes at concurrency 8 (seed ${SEED})`, tried: cells.length, survived });
  expect(problems).toEqual([]);
});
