/** A sample of the outcomes of reading: each of them, for one of the lists of a small project. */

import { expect, test } from "vitest";
import { report } from "./counts.ts";
import { loadWorlds } from "./outcome-load.ts";
import { READ_OUTCOMES, readCellsOf, tryReadCell } from "./outcome-reads.ts";

test("a list that fails while planning is read again, or planning fails with the reason; nothing is written", async () => {
  const loaded = (await loadWorlds()).find(({ world }) => world.name === "images");
  if (loaded === undefined) throw new Error("no world of images");
  const all = await readCellsOf(loaded);
  const paths = [...new Set(all.map(({ path }) => path))];
  const cells = all.filter(({ path, outcome }) => paths[READ_OUTCOMES.indexOf(outcome) % paths.length] === path);
  const problems: string[] = [];
  let survived = 0;
  for (const cell of cells) {
    const found = await tryReadCell(cell);
    problems.push(...found);
    survived += found.length === 0 ? 1 : 0;
  }
  report({ suite: "outcomes of reading (sample)", tried: cells.length, survived });
  expect(problems).toEqual([]);
  expect(cells.length).toBe(READ_OUTCOMES.length * 2);
});
