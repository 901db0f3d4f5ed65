/** The plan as JSON, which is the plan file: the same plan always gives the same bytes. */

import { jsonText } from "../model/json-text.ts";
import { type Plan, summarise } from "../model/plan.ts";
import { type Layout, pieces, type Written } from "./pieces.ts";
import { toPlanFile } from "./plan-file.ts";

/** About so much is handed over at once. */
const PART_CHARACTERS = 1024 * 1024;
const LINES: Layout = { end: "\n", text: (value) => jsonText(value) };

/** Newline-terminated, one change a line, so that plan files can be compared line by line. */
export function renderPlanJson(plan: Plan): string {
  return [...renderPlanJsonParts(plan)].join("");
}

/** The same in parts that end where lines do, each made when it is asked for. */
export function* renderPlanJsonParts(plan: Plan): Generator<string> {
  let part = "";
  for (const piece of documentOf(plan)) {
    if (part.length > PART_CHARACTERS && part.endsWith("\n")) {
      yield part;
      part = "";
    }
    part += piece;
  }
  yield part;
}

/** Terraform's keys come first and in its order; what is in them is sorted. */
function* documentOf(plan: Plan): Generator<string> {
  const file: object = toPlanFile(plan, summarise(plan.changes));
  let start = "{\n";
  for (const [key, value] of Object.entries(file)) {
    yield `${start}${jsonText(key)}:`;
    yield* pieces(value as Written, 1, LINES);
    start = ",\n";
  }
  yield "\n}\n";
}
