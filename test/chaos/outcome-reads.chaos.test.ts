/** Every outcome of every list that planning reads. */

import { expect, test } from "vitest";
import { report } from "./counts.ts";
import { loadWorlds } from "./outcome-load.ts";
import { READ_OUTCOMES, readCellsOf, tryReadCell } from "./outcome-reads.ts";

test("a plan is as it would have been, or fails with the reason, and nothing is written", async () => {
  const problems: string[] = [];
  let [tried, survived, lists] = [0, 0, 0];
  for (const loaded of await loadWorlds()) {
    const cells = await readCellsOf(loaded);
    lists += new Set(cells.map(({ path }) => path)).size;
    for (const cell of cells) {
      const found = await tryReadCell(cell);
      problems.push(...found);
      tried += 1;
      survived += found.length === 0 ? 1 : 0;
    }
  }
  report({ suite: "outcomes of reading", tried, survived, more: { lists } });
  expect(problems).toEqual([]);
  expect(tried).toBe(lists * READ_OUTCOMES.length * 2);
});
