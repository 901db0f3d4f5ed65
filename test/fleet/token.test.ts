/** How long entries of one token wait for each other. */

import { expect, test } from "vitest";
import { TokenWaits } from "../../src/fleet/token.ts";

test("the more entries wait for a token the later each asks again, fifteen seconds at most", () => {
  const waits = new TokenWaits();
  expect(["a", "b", "b", "c"].map((account) => waits.put("x", account, 0))).toEqual([500, 1_000, 1_000, 1_500]);
  expect(waits.put("y", "a", 0)).toBe(500);
  const many = Array.from({ length: 100 }, (_, index) => waits.put("x", `e${index}`, 0));
  expect(many.at(-1)).toBe(15_000);
  waits.clear("x");
  expect(waits.put("x", "a", 0)).toBe(500);
});

test("tokens that nobody asks for any more are forgotten", () => {
  const waits = new TokenWaits();
  for (let index = 0; index < 1_000; index += 1) waits.put(`t${index}`, "a", index * 1_000);
  expect(waits.count).toBe(60);
});
