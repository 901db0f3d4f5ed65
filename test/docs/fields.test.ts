/** That docs/reference/fields.md lists every field of a manifest, as `tenon explain` has it: the tables are made here, from the schema. */

import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/model/resource.ts";
import { type Explanation, explainField, factsText } from "../../src/render/explain.ts";

const GUIDE = new URL("../../docs/reference/fields.md", import.meta.url);
const SCHEMA = new URL("../../schemas/manifest.schema.json", import.meta.url);

const schema: JsonObject = JSON.parse(await readFile(SCHEMA, "utf8"));

function explained(path: string): Explanation {
  const found = explainField(schema, path);
  if (!found.ok) throw new Error(`${path}: ${found.where} has no ${found.word}`);
  return found.explanation;
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

/** Objects with the same fields are listed once. */
function sections(path: string, known: Map<string, string>): string[] {
  const { title, fields } = explained(path);
  if (fields.length === 0) return [];
  const heading = `## ${path === "" ? "A manifest" : `\`${path}\``}`;
  const key = JSON.stringify(fields);
  const same = known.get(key);
  if (same !== undefined) return [`${heading}\n\n${title}: as under \`${same}\`.`];
  known.set(key, path);
  const inner = fields.map(({ name }) => (path === "" ? name : `${path}.${name}`));
  const rows = inner.map((below, index) => {
    const field = explained(below);
    const name = fields[index]?.name ?? "";
    return `| \`${name}\` | ${cell(factsText(field))} | ${cell(field.description)} |`;
  });
  const table = ["| field | | |", "| --- | --- | --- |", ...rows].join("\n");
  return [`${heading}\n\n${table}`, ...inner.flatMap((below) => sections(below, known))];
}

test("docs/reference/fields.md lists every field with its type, its values and what it is for", async () => {
  const guide = await readFile(GUIDE, "utf8");
  const place = /(<!-- fields -->\n).*?(<!-- end of fields -->)/s;
  expect(guide).toMatch(place);
  const text = sections("", new Map()).join("\n\n");
  const rewritten = guide.replace(place, (_, begin: string, end: string) => `${begin}\n${text}\n\n${end}`);
  // `npm run golden` writes it anew; the diff is for a person to read.
  if (process.env["TENON_GOLDEN"] === "write") await writeFile(GUIDE, rewritten);
  else expect(guide).toBe(rewritten);
});
