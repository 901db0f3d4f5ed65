import fc from "fast-check";
import { expect, test } from "vitest";
import { compareNatural } from "../../src/model/text.ts";

const sorted = (texts: readonly string[]): string[] => texts.toSorted(compareNatural);

test("numbers in names count as numbers", () => {
  expect(sorted(["brand10", "brand2", "brand1", "brand", "brand010", "Brand3"])).toEqual([
    "Brand3",
    "brand",
    "brand1",
    "brand2",
    "brand010",
    "brand10",
  ]);
  expect(sorted(["10.0.10.0/24", "10.0.9.0/24", "9.0.0.0/8"])).toEqual(["9.0.0.0/8", "10.0.9.0/24", "10.0.10.0/24"]);
  // Longer than any number that can be computed with.
  expect(sorted([`a${"9".repeat(400)}`, `a1${"0".repeat(400)}`, "a8"])[0]).toBe("a8");
  expect(sorted([`a1${"0".repeat(400)}`, `a${"9".repeat(400)}`])[0]).toBe(`a${"9".repeat(400)}`);
});

test("the natural order is an order: whatever the texts, it is the same from wherever one begins", () => {
  const text = fc
    .array(fc.constantFrom("0", "00", "1", "9", "10", "a", "-", "/", "é", "😀"), { maxLength: 5 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, text, text, (a, b, c) => {
      expect(Math.sign(compareNatural(a, b))).toBe(-Math.sign(compareNatural(b, a)) + 0);
      expect(compareNatural(a, b) === 0).toBe(a === b);
      if (compareNatural(a, b) <= 0 && compareNatural(b, c) <= 0) expect(compareNatural(a, c)).toBeLessThanOrEqual(0);
    }),
    { numRuns: 5_000 },
  );
});
