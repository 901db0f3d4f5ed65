/** Shows a plan in the format that was asked for. */

import { type Plan, renderPlanJson, renderPlanText } from "../index.ts";
import type { Terminal } from "./terminal.ts";

export function showPlan(terminal: Terminal, plan: Plan, format: "text" | "json"): void {
  terminal.print(format === "json" ? renderPlanJson(plan) : renderPlanText(plan, terminal.results));
}
