import { expect, test } from "vitest";
import { sayFailure } from "../../src/cli/messages.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import type { Failure } from "../../src/index.ts";

const MALFORMED: Failure = {
  type: "malformed",
  effect: "none",
  status: 200,
  errors: [],
  message: "m",
  maintenance: false,
  attempts: 1,
};

function said(failure: Failure): string {
  let text = "";
  sayFailure({ say: (more: string) => (text += more) } as unknown as Terminal, "w", failure);
  return text;
}

test("the advice on an answer that is not this API's is to check the base URL", () => {
  expect(said(MALFORMED)).toContain("Check the base URL");
});

test.each([
  ["lists", "Read less at once: with --target, or for an import with --domain or --vpc."],
  ["answer", "report the error: the limit is Tenon's own."],
] as const)("the advice on a limit of Tenon that is exceeded is not to check the base URL: %s", (exceeds, advice) => {
  const text = said({ ...MALFORMED, exceeds });
  expect(text).toContain(advice);
  expect(text).not.toContain("Check the base URL");
});
