/** That docs/reference/lint-codes.md lists every lint rule as the code has it: the table is made here. */

import { readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ALL_RULES } from "../../src/lint/lint.ts";

const GUIDE = new URL("../../docs/reference/lint-codes.md", import.meta.url);

test("docs/reference/lint-codes.md lists every lint rule with its severity, what it finds, why, and what to do", async () => {
  const guide = await readFile(GUIDE, "utf8");
  const rows = ALL_RULES.map(
    ({ code, severity, finds, why, fix }) => `| \`${code}\` | ${severity} | ${finds} | ${why} | ${fix} |`,
  );
  const table = ["| Code | Severity | Finds | Why | What to do |", "| --- | --- | --- | --- | --- |", ...rows];
  const place = /(<!-- lint codes -->\n).*?(<!-- end of lint codes -->)/s;
  expect(guide).toMatch(place);
  const rewritten = guide.replace(place, (_, begin: string, end: string) => `${begin}\n${table.join("\n")}\n\n${end}`);
  // `npm run golden` writes it anew; the diff is for a person to read.
  if (process.env["TENON_GOLDEN"] === "write") await writeFile(GUIDE, rewritten);
  else expect(guide).toBe(rewritten);
});

test("no cell of the table breaks it", () => {
  for (const { finds, why, fix } of ALL_RULES) for (const cell of [finds, why, fix]) expect(cell).not.toMatch(/[|\n<]/);
});

test("every code that the source of the lint gives to a rule is in the list, and no other", () => {
  const source = fileURLToPath(new URL("../../src/", import.meta.url));
  const files = readdirSync(`${source}lint`, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  // Codes that the reader of zone files shares with the lint have a name.
  const named = new Map(
    [...readFileSync(`${source}dns/record.ts`, "utf8").matchAll(/(\w+_CODE) = ("[^"]+")/g)].map(([, name, code]) => [
      name,
      code,
    ]),
  );
  const codes = files.flatMap((file) =>
    [...readFileSync(`${source}lint/${file}`, "utf8").matchAll(/\bcode: ("[^"]+"|\w+_CODE)/g)].map(
      ([, code = ""]) => named.get(code) ?? code,
    ),
  );
  expect([...new Set(codes)].sort()).toEqual(ALL_RULES.map(({ code }) => `"${code}"`).sort());
});
