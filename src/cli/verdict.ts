/** Decides whether a plan may be carried out, and prints why not: on stdout, on stderr and in the summary of the CI step. */

import { type Change, findUnreviewed, type Plan, type Report, summarise } from "../index.ts";
import {
  renderGuardsText,
  renderPlanHtml,
  renderPlanText,
  renderReportHtml,
  renderReportMarkdown,
  renderUnreviewedMarkdown,
} from "../render/index.ts";
import { renderUnreviewedText } from "../render/plan-text.ts";
import { renderPlanEventJson, renderRefusalJson, renderReportJson } from "../render/report.ts";
import { escapeText } from "../render/terminal.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { FailOn, Format } from "./flags.ts";
import { givePage, markdownOf, pageLook, printJson, printMarkdown } from "./output.ts";
import type { Terminal } from "./terminal.ts";

/**
 * - `unreviewed`: the plan has changes that a plan which bounds it does not show; `extra`: those changes.
 * - `guarded`: a guard has no consent, or there can be none for it.
 * - `blocked`: a change is blocked, and `--fail-on` forbids that.
 * - `idle`: there is nothing to do; changes may be blocked.
 */
type Verdict =
  | { readonly type: "go" }
  | { readonly type: "unreviewed"; readonly extra: readonly Change[] }
  | { readonly type: "guarded" }
  | { readonly type: "blocked" }
  | { readonly type: "idle"; readonly blocked: number };

/** @param bounds the plan must be within each of them */
export function judgeRun(plan: Plan, bounds: readonly Plan[], failOn: readonly FailOn[]): Verdict {
  const extra = [...new Set(bounds.flatMap((bound) => findUnreviewed(plan, bound)))];
  if (extra.length > 0) return { type: "unreviewed", extra };
  if (plan.guards.some((guard) => guard.consent !== "given")) return { type: "guarded" };
  const { add, change, destroy, blocked } = summarise(plan.changes);
  if (blocked > 0 && failOn.includes("blocked")) return { type: "blocked" };
  return add + change + destroy > 0 ? { type: "go" } : { type: "idle", blocked };
}

/**
 * Shows the plan, and why it cannot be carried out.
 * @returns the exit code if the run ends here; null if the plan may be carried out
 */
export async function printRunVerdict(
  terminal: Terminal,
  plan: Plan,
  verdict: Verdict,
  { format, yes, token }: { readonly format: Format; readonly yes?: boolean; readonly token: string },
): Promise<ExitCode | null> {
  if (format === "text") terminal.print(renderPlanText(plan, terminal.results));
  if (format === "json") terminal.print(renderPlanEventJson(plan, Date.now()));
  switch (verdict.type) {
    case "go":
      // A person who is asked must have seen the plan. It goes to stderr, as stdout is for the report.
      if (format !== "text" && yes !== true) terminal.say(renderPlanText(plan, terminal.messages));
      return null;
    case "unreviewed":
      sayUnreviewed(terminal, verdict.extra);
      printJson(terminal, format, () => renderRefusalJson(plan, "unreviewed", verdict.extra), token);
      await printMarkdown(terminal, format, (hide, most) => renderUnreviewedMarkdown(hide(verdict.extra), most), token);
      await givePage(terminal, () => renderPlanHtml(plan, { ...pageLook(terminal), unreviewed: verdict.extra }), token);
      return EXIT.unreviewed;
    case "guarded":
      if (format === "json") terminal.say(renderGuardsText(plan, terminal.messages));
      sayRefused(terminal, "refused; nothing was done");
      printJson(terminal, format, () => renderRefusalJson(plan, "consent"), token);
      await printMarkdown(terminal, format, markdownOf(plan), token);
      await givePage(terminal, () => renderPlanHtml(plan, pageLook(terminal)), token);
      return EXIT.refused;
    case "blocked":
      sayBlocked(terminal, plan);
      printJson(terminal, format, () => renderRefusalJson(plan, "blocked"), token);
      await printMarkdown(terminal, format, markdownOf(plan), token);
      await givePage(terminal, () => renderPlanHtml(plan, pageLook(terminal)), token);
      return EXIT.refused;
    case "idle":
      // A report without a run, so that a program that reads reports finds one.
      printJson(terminal, format, () => renderReportJson(idleReport(plan), plan), token);
      await printMarkdown(
        terminal,
        format,
        (hide, most) => renderReportMarkdown(idleReport(hide(plan)), hide(plan), null, null, most),
        token,
      );
      await givePage(terminal, () => renderReportHtml(idleReport(plan), plan, null, pageLook(terminal)), token);
      return verdict.blocked > 0 ? EXIT.partial : EXIT.done;
  }
}

/** For people, on stderr. Programs read the last line of stdout instead. */
function sayRefused(terminal: Terminal, summary: string): void {
  terminal.say(`error: ${summary}\n`);
}

function sayUnreviewed(terminal: Terminal, changes: readonly Change[]): void {
  sayRefused(terminal, "this plan is not within the reviewed one; nothing was done. It does not cover:");
  terminal.say(renderUnreviewedText(changes));
  terminal.say("  Review a new plan: tenon plan --out FILE\n");
}

function sayBlocked(terminal: Terminal, plan: Plan): void {
  sayRefused(terminal, "changes are blocked; nothing was done:");
  for (const { key, blocked } of plan.changes) if (blocked !== null) terminal.say(`  ${escapeText(key)}\n`);
}

function idleReport(plan: Plan): Report {
  const blocked = plan.changes.filter((change) => change.blocked !== null);
  return {
    steps: [],
    changes: blocked.map(({ key }) => ({ key, outcome: "blocked" })),
    added: 0,
    changed: 0,
    destroyed: 0,
    failed: 0,
    skipped: 0,
    unknown: 0,
    blocked: blocked.length,
    duplicates: 0,
    requestCount: 0,
    interrupted: false,
    notices: [],
  };
}
