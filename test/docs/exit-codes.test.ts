/** That docs/reference/exit-codes.md lists the exit codes, and the codes of errors, as the code has them: the second table is made here. */

import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit.ts";
import { ERROR_CODES } from "../../src/cli/messages.ts";

const GUIDE = new URL("../../docs/reference/exit-codes.md", import.meta.url);

test("docs/reference/exit-codes.md lists every exit code", async () => {
  const guide = await readFile(GUIDE, "utf8");
  const rows = [...guide.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes = ""]) => codes.split(", ").map(Number));
  expect(rows).toEqual(Object.values(EXIT));
});

test("docs/reference/exit-codes.md lists every code of an error of the command line, with what it means", async () => {
  const guide = await readFile(GUIDE, "utf8");
  const codes = Object.entries(ERROR_CODES);
  expect(codes.map(([code]) => code)).toEqual(codes.map(([code]) => code).toSorted());
  const table = ["| code | |", "| --- | --- |", ...codes.map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)];
  const place = /(<!-- error codes -->\n).*?(<!-- end of error codes -->)/s;
  expect(guide).toMatch(place);
  const rewritten = guide.replace(place, (_, begin: string, end: string) => `${begin}\n${table.join("\n")}\n\n${end}`);
  // `npm run golden` writes it anew; the diff is for a person to read.
  if (process.env["TENON_GOLDEN"] === "write") await writeFile(GUIDE, rewritten);
  else expect(guide).toBe(rewritten);
});
