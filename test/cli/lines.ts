/** The lines of `apply --format json`, held against their published schemas. */

import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";

/** Schemas and lines, as JSON has them. */
export type Plain = ReturnType<typeof JSON.parse>;

export function schema(name: string): Plain {
  return JSON.parse(readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), "utf8"));
}

/** The same with no field allowed that is not described. */
function closed(value: Plain): Plain {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, closed(item)]));
  return value.properties !== undefined && value.type === "object" ? { ...inner, additionalProperties: false } : inner;
}

function validator(): ValidateFunction {
  const { type: _type, required: _required, ...event } = schema("event");
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
  ajv.addSchema(closed(schema("report")));
  ajv.addSchema(closed(schema("validation")));
  return ajv.compile(closed(event));
}

const isLine = validator();

/** Each fits, with no field that is not described; the first is the plan if there was one, the last is the only end. */
export function expectLines(lines: readonly Plain[]): void {
  for (const line of lines) {
    const fits = isLine(line);
    expect(fits, JSON.stringify({ line, errors: isLine.errors })).toBe(true);
  }
  const indexesOf = (...types: string[]) => lines.flatMap(({ type }, index) => (types.includes(type) ? [index] : []));
  expect(indexesOf("report", "refused", "error")).toEqual([lines.length - 1]);
  const isWithoutPlan = lines.length === 1 && lines[0]?.type === "error";
  expect(indexesOf("plan")).toEqual(isWithoutPlan ? [] : [0]);
}
