/** The plan as JSON, which is the plan file: the same plan always gives the same bytes. */

import { jsonText } from "../model/json-text.ts";
import { type Plan, summarise } from "../model/plan.ts";
import type { Json } from "../model/resource.ts";
import { toPlanFile } from "./plan-file.ts";
import { sortKeys } from "./view.ts";

/** Lists and objects down to here get a line for each entry: one change, one step, one resource a line. */
const MAX_LINE_DEPTH = 3;

/** Newline-terminated, one change a line, so that plan files can be compared line by line. */
export function renderPlanJson(plan: Plan): string {
  const file = toPlanFile(plan, summarise(plan.changes));
  // Terraform's keys come first and in its order; what is in them is sorted.
  const lines = Object.entries(file).map(([key, part]) => `${jsonText(key)}:${write(sortKeys(part as Json), 1)}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}

function write(value: Json | undefined, depth: number): string {
  if (typeof value !== "object" || value === null || depth > MAX_LINE_DEPTH) return jsonText(value);
  if (Array.isArray(value))
    return enclose(
      "[",
      value.map((item: Json) => jsonText(item)),
      "]",
    );
  const entries = Object.entries(value);
  return enclose(
    "{",
    entries.map(([key, item]) => `${jsonText(key)}:${write(item as Json, depth + 1)}`),
    "}",
  );
}

function enclose(open: string, lines: readonly string[], close: string): string {
  return lines.length === 0 ? open + close : `${open}\n${lines.join(",\n")}\n${close}`;
}
