import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { manifestSchema } from "../../src/manifest/schema.ts";
import type { Json, JsonObject } from "../../src/model/resource.ts";
import { UNITS } from "./support.ts";

// `npx vitest run test/manifest/schema.test.ts --update` writes the published file anew.
test("the published schema is what the units and the project say", async () => {
  const text = `${JSON.stringify(manifestSchema(UNITS), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("../../schemas/manifest.schema.json");
});

test("every property of the published schema has a title and a description for editors", () => {
  const published = JSON.parse(
    readFileSync(new URL("../../schemas/manifest.schema.json", import.meta.url), "utf8"),
  ) as JsonObject;
  const bare: string[] = [];
  let count = 0;
  const visit = (value: Json, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    if (path.endsWith("/properties")) {
      for (const [name, property] of Object.entries(value as JsonObject)) {
        count += 1;
        const { $ref, title, description } = property as { $ref?: string; title?: string; description?: string };
        if ($ref === undefined && (title === undefined || description === undefined)) bare.push(`${path}/${name}`);
      }
    }
    for (const [key, item] of Object.entries(value)) visit(item as Json, `${path}/${key}`);
  };
  visit(published, "");
  expect(count).toBeGreaterThan(60);
  expect(bare).toEqual([]);
});

test("the published schema is a JSON Schema of draft 2020-12", () => {
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    allowMatchingProperties: true,
  });
  expect(ajv.validateSchema(manifestSchema(UNITS))).toBe(true);
  expect(() => ajv.compile(manifestSchema(UNITS))).not.toThrow();
});

test("every $ref of the published schema leads somewhere", () => {
  const schema = manifestSchema(UNITS);
  const text = JSON.stringify(schema);
  const references = [...text.matchAll(/"#\/\$defs\/([^"]+)"/g)].map((match) => match[1] ?? "");
  expect(references.length).toBeGreaterThan(8);
  for (const reference of references) expect(Object.keys(schema["$defs"] as JsonObject)).toContain(reference);
});
