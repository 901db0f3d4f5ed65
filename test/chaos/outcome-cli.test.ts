/** A few outcomes of requests as a pipeline sees them; all of them, run again afterwards, are in the full set. */

import { expect, test } from "vitest";
import { report } from "./counts.ts";
import { CASES, tryCase } from "./outcome-cli.ts";

const SAMPLE = ["the answer to a POST is lost", "a request is refused", "the token is not accepted any more"];

test("exit code and words of an apply say what became of a request", async () => {
  const cases = CASES.filter(({ name }) => SAMPLE.some((beginning) => name.startsWith(beginning)));
  const problems = await Promise.all(cases.map((one) => tryCase(one, false)));
  const survived = problems.filter((found) => found.length === 0).length;
  report({ suite: "outcomes at the command line (sample)", tried: cases.length, survived });
  expect(problems.flat()).toEqual([]);
  expect(cases).toHaveLength(SAMPLE.length);
});
