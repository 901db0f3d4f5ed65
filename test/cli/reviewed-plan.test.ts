import { expect, it } from "vitest";
import { narrowingDiffers } from "../../src/cli/reviewed-plan.ts";
import { NO_INPUTS, plan } from "../render/plans.ts";

const narrowed = (addresses: readonly string[]) =>
  plan([], { inputs: { ...NO_INPUTS, changedSince: { name: "main", addresses } } });
const many = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => `vpc/${prefix}${index}`);

it("two narrowings of hundreds of thousands of objects are compared in one pass: a square of them would outlast the test", () => {
  const now = { name: "later", addresses: many(300_000, "a") };
  const found = narrowingDiffers(now, narrowed(many(300_000, "b")));
  expect(found?.detail).toMatch(
    /^Changed since later: now also `vpc\/a0`, .* more, and no longer `vpc\/b0`, .* more\.$/,
  );
  expect(narrowingDiffers(now, narrowed(now.addresses.toReversed()))).toBeNull();
});
