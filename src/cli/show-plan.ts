/** Shows a plan in the format that was asked for. */

import { type Plan, renderPlanJson, renderPlanMarkdown, renderPlanText } from "../index.ts";
import type { Format } from "./args.ts";
import type { Terminal } from "./terminal.ts";

export function showPlan(terminal: Terminal, plan: Plan, format: Format): void {
  terminal.print(planText(terminal, plan, format));
}

function planText(terminal: Terminal, plan: Plan, format: Format): string {
  switch (format) {
    case "text":
      return renderPlanText(plan, terminal.results);
    case "json":
      return renderPlanJson(plan);
    case "markdown":
      return renderPlanMarkdown(plan);
  }
}
