/** The full set: two runs on one account in more than a thousand different orders of their requests. */

import { describe, expect, test } from "vitest";
import { chosenSeed, playMany } from "./interleave-tally.ts";

const INTERLEAVINGS = 1_200;
/** By their writes alone, and only those in which both runs write in turns. */
const MIN_ALTERNATING = 500;

describe("two runs on one account", () => {
  test("touch nothing of others, note what others did meanwhile, and leave what one more apply of either brings to its manifest", async () => {
    const tally = await playMany("interleavings", INTERLEAVINGS);
    expect(tally.problems).toEqual([]);
    if (chosenSeed() !== null) return;
    expect(tally.distinct).toBe(INTERLEAVINGS);
    expect(tally.alternating).toBeGreaterThanOrEqual(MIN_ALTERNATING);
    expect([...tally.notices]).toEqual(
      expect.arrayContaining([
        "it was gone already, deleted by somebody else since the plan",
        "the object that it was to change is gone: somebody else deleted it since the plan; plan again",
        "the object in which, or from which, it was to be made is gone: somebody else deleted it since the plan; plan again",
        "the domain exists by now, made by somebody else since the plan or held by another account; plan again",
        "a record stands in its way that was not there when it was planned; plan again",
        "since the plan was made, another subnet has taken part of its range; plan again",
        "another run made an equal VPC first; this run deleted its own, …, and goes on with …",
        "another run made an equal image first; this run deleted its own, …, and goes on with …",
        "another run made an equal record first; this run deleted its own, …, and goes on with …",
        "somebody else changed it since the plan: ttl_sec is …, not …; plan again",
      ]),
    );
    expect(tally.yielded).toBeGreaterThan(0);
    expect(tally.imagesGone).toBeGreaterThan(INTERLEAVINGS / 40);
  });
});
