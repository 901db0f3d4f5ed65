import { expect, test } from "vitest";
import { columnsOf, cut, cutToEnd, fits, shorten } from "../../src/render/terminal.ts";
import { operationsOf } from "../support/operations.ts";

const PLAIN = "abcdefghij";
const WIDE = "a\u4f60b\u597dc\u{1f600}d";
const MARKED = "e\u0301f\u0301g";
const TEXTS = ["", PLAIN, WIDE, MARKED, "\u{1f600}".repeat(9), `${"\ud83d".repeat(3)}\u{1f600}${"\ude00".repeat(3)}`];

test("a text is cut to columns at either end, between characters only", () => {
  for (const text of TEXTS)
    for (let columns = 0; columns <= 20; columns += 1) {
      const [head, tail] = [cut(text, columns), cutToEnd(text, columns)];
      const characters = [...text];
      expect([...head]).toEqual(characters.slice(0, [...head].length));
      expect([...tail]).toEqual(characters.slice(characters.length - [...tail].length));
      for (const part of [head, tail]) {
        expect(columnsOf(part)).toBeLessThanOrEqual(columns);
        expect(columnsOf(part) >= columns - 1 || part === text).toBe(true);
      }
      expect(fits(text, columns)).toBe(columnsOf(text) <= columns);
    }
});

test("a text that is too long has its beginning, its end and its size", () => {
  expect(shorten(PLAIN.repeat(9), 40, 90)).toBe("abcdefghijabcdefghi…bcdefghij (90 bytes)");
  expect(shorten("\u{1f600}".repeat(99), 20, null)).toBe(`${"\u{1f600}".repeat(6)}…${"\u{1f600}".repeat(3)}`);
  expect(shorten(PLAIN, 10, 10)).toBe(PLAIN);
});

test("of a text of a million characters no more is looked at than is shown", async () => {
  const text = "\u4f60".repeat(1_000_000);
  const work = (): unknown => [shorten(text, 60, null), cut(text, 60), cutToEnd(text, 60), fits(text, 60)];
  expect(await operationsOf(work)).toBeLessThan(2_000);
});

test("characters that take no column do not take the room of others", () => {
  const hidden = `a${"\u0301".repeat(60_000)}b`;
  expect(fits(hidden, 60)).toBe(false);
  for (const part of [cut(hidden, 60), cutToEnd(hidden, 60), shorten(hidden, 60, 120_002)])
    expect(part.length).toBeLessThanOrEqual(4 * 60);
  expect(shorten(hidden, 60, 120_002)).toMatch(/^a.*….*b \(120002 bytes\)$/);
});
