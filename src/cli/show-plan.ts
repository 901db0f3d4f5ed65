/** Shows a plan in the format that was asked for. */

import { type Plan, renderPlanJsonParts, renderPlanMarkdown, renderPlanText } from "../index.ts";
import type { Format } from "./args.ts";
import type { Terminal } from "./terminal.ts";

export function showPlan(terminal: Terminal, plan: Plan, format: Format): void {
  for (const text of planText(terminal, plan, format)) terminal.print(text);
}

function planText(terminal: Terminal, plan: Plan, format: Format): Iterable<string> {
  switch (format) {
    case "text":
      return [renderPlanText(plan, terminal.results)];
    case "json":
      return renderPlanJsonParts(plan);
    case "markdown":
      return [renderPlanMarkdown(plan)];
  }
}
