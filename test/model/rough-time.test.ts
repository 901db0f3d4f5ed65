import { expect, test } from "vitest";
import { roughTime } from "../../src/model/text.ts";

test("a time is said in the largest unit of which there are at least two, and is never less than nothing", () => {
  const seconds = [-5, 0, 0.2, 119, 120, 7_199, 7_200, 172_799, 172_800, 1_000_000];
  const said = ["0 s", "0 s", "1 s", "119 s", "2 min", "120 min", "2 h", "48 h", "2 d", "12 d"];
  expect(seconds.map(roughTime)).toEqual(said);
});
