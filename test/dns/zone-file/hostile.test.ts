import { describe, expect, test } from "vitest";
import { findOrigin } from "../../../src/dns/zone-file/read.ts";
import { growth } from "../../support/operations.ts";
import { read } from "./reading.ts";

const MEGABYTE = 1024 ** 2;

/** Reads what is so long that its square would take longer than a test may. */
async function readWhole(text: string): Promise<void> {
  const { diagnostics, records, skipped } = await read(text);
  findOrigin(text);
  expect(diagnostics.length).toBeLessThanOrEqual(300);
  expect(records.length + skipped.length).toBeLessThanOrEqual(100_000);
  for (const { detail, summary } of diagnostics) expect((detail + summary).length).toBeLessThan(2_000);
}

describe("reading in one pass, with a bounded number of problems", () => {
  test.each(["(", ")", '"', "\\", "\0", "(\n", '"\n'])("a megabyte of %j", { timeout: 60_000 }, async (piece) => {
    await readWhole(piece.repeat(MEGABYTE / piece.length));
  });

  test.each<[string, string]>([
    ["opening parentheses", "("],
    ["opening parentheses, one a line", "(\n"],
    ["opening parentheses in records", "a TXT (\n"],
    ["pairs of parentheses", "()"],
    ["closing parentheses", ")"],
    ["quotes", '"'],
    ["quotes, one a line", '"\n'],
    ["backslashes", "\\"],
    ["backslashes in texts", "a TXT \\\\\n"],
    ["a backslash and a line's end", "\\\n"],
    ["NUL", "\0"],
    ["NUL between blanks", "\0 "],
    ["one word", "x"],
    ["dots", "."],
    ["words", "x "],
    ["indented words", " x\n"],
    ["digits", "9"],
    ["times", "1h"],
    ["empty strings", '"" '],
    ["carriage returns", "\r"],
    ["line ends and blanks", " \n"],
    ["comments", ";\n"],
    ["dollar signs", "$"],
    ["surrogates", "\ud800"],
  ])("an eighth of %s, as they are and within records", { timeout: 60_000 }, async (_, piece) => {
    const text = piece.repeat(MEGABYTE / 8 / piece.length);
    const shorter = piece.repeat(MEGABYTE / 16 / piece.length);
    for (const whole of [text, `a TXT ${shorter}`, `a A \\# 4 ${shorter}`]) await readWhole(whole);
    const work = async (count: number) => {
      findOrigin(piece.repeat(count));
      await read(`a TXT ${piece.repeat(count)}`);
    };
    expect(await growth(1_000, 4, work)).toBeLessThan(5);
  });

  test.each<[string, string]>([
    ["$INCLUDE", "$INCLUDE x\n"],
    ["$ORIGIN", "$ORIGIN a\n"],
    ["$GENERATE", "$GENERATE 0-99999 a 1 A 192.0.2.1\n"],
    ["duplicates", "a 1 A 192.0.2.1\n"],
  ])("an eighth of lines with %s", { timeout: 60_000 }, async (_, line) => {
    await readWhole(line.repeat(MEGABYTE / 8 / line.length));
  });

  test("twelve thousand records, each over lines, and four times the records with four times the work", async () => {
    const text = (count: number) =>
      Array.from({ length: count }, (_, index) => `h${index} 300 IN TXT ( "a"\n "b" ; c\n )\n`).join("");
    expect((await read(text(12_000))).records).toHaveLength(12_000);
    expect(await growth(1_000, 4, (count) => read(text(count)))).toBeLessThan(5);
  });

  test("names that are like properties of objects are names", async () => {
    const { records } = await read("__proto__ 1 A 192.0.2.1\nconstructor 1 TXT x\ntoString 1 TXT y\n");
    expect(records.map(({ name }) => name)).toEqual(["__proto__", "constructor", "tostring"]);
  });

  test("a file above 64 MiB is not read", async () => {
    const { diagnostics } = await read(`a 1 A 192.0.2.1\n;${"x".repeat(64 * MEGABYTE)}`);
    expect(diagnostics.map(({ code }) => code)).toEqual(["too-large"]);
  });
});
