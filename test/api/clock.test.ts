/** The time that waits are measured by, on machines whose clock is set. */

import { expect, test } from "vitest";
import { forwardClock } from "../../src/api/connection.ts";

test("a clock that is set back goes on from where it was, and takes each step forward", () => {
  let [wall, ticks] = [1_000_000, 50];
  const now = forwardClock(
    () => wall,
    () => ticks,
  );
  const seen = [];
  for (const step of [0, -600_000, 0, 7_200_000, -100]) {
    wall += 10 + step;
    ticks += 10;
    seen.push(now() - 1_000_000);
  }
  expect(seen).toEqual([10, 20, 30, 6_600_040, 6_600_050]);
});
