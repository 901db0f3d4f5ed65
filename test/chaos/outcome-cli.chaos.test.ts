/** Outcomes of requests as a pipeline sees them, and that the next apply ends what they left. */

import { expect, test } from "vitest";
import { report } from "./counts.ts";
import { CASES, tryCase } from "./outcome-cli.ts";

test("exit code and words say what became of a request, and the next apply ends it", async () => {
  const problems = await Promise.all(CASES.map((one) => tryCase(one, true)));
  const survived = problems.filter((found) => found.length === 0).length;
  report({ suite: "outcomes at the command line", tried: CASES.length, survived });
  expect(problems.flat()).toEqual([]);
});
