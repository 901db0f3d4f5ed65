/** A seeded sample of two runs on one account, and that a seed shows the same again. */

import { describe, expect, test } from "vitest";
import { play } from "./interleave.ts";
import { Projects } from "./interleave-projects.ts";
import { PAIRS } from "./interleave-scenarios.ts";
import { chosenSeed, playMany } from "./interleave-tally.ts";

const INTERLEAVINGS = PAIRS.length;

describe("two runs on one account", () => {
  test("survive a sample of the orders of their requests", async () => {
    const tally = await playMany("interleavings (sample)", INTERLEAVINGS);
    expect(tally.problems).toEqual([]);
    if (chosenSeed() !== null) return;
    expect(tally.distinct).toBe(INTERLEAVINGS);
    expect(tally.alternating).toBeGreaterThan(0);
  });

  test("meet in the same way when a seed is played again", async () => {
    const projects = new Projects();
    try {
      // At several steps at once, so that connections race each other.
      const [once, again] = [await play(4, projects), await play(4, projects)];
      const other = await play(4 + PAIRS.length, projects);
      expect(again.trace).toBe(once.trace);
      expect(other.pair).toBe(once.pair);
      expect(other.sequence).not.toEqual(once.sequence);
    } finally {
      await projects.close();
    }
  });
});
