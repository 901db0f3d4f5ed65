import { expect, test } from "vitest";
import { sayFailure } from "../../src/cli/messages.ts";
import type { Failure } from "../../src/index.ts";
import { stage } from "./stage.ts";

const MALFORMED: Failure = {
  type: "malformed",
  effect: "none",
  status: 200,
  errors: [],
  message: "m",
  maintenance: false,
  attempts: 1,
};

function saidBy(failure: Failure): string {
  const { terminal, said } = stage({});
  sayFailure(terminal, "w", failure);
  return said();
}

test("the advice on an answer that is not this API's is to check the base URL", () => {
  expect(saidBy(MALFORMED)).toContain("Check the base URL");
});

test.each([
  ["lists", "Read less at once: with --target, or for an import with --domain or --vpc."],
  ["answer", "report the error: the limit is Tenon's own."],
] as const)("the advice on a limit of Tenon that is exceeded is not to check the base URL: %s", (exceeds, advice) => {
  const text = saidBy({ ...MALFORMED, exceeds });
  expect(text).toContain(advice);
  expect(text).not.toContain("Check the base URL");
});
