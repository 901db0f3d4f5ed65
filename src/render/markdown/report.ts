/** The report of an apply as markdown: what was done, what was not and why, within the size of a comment. */

import type { Change } from "../../model/change.ts";
import { compareText, groupBy } from "../../model/group.ts";
import type { Plan, Summary } from "../../model/plan.ts";
import type { ChangeOutcome, Report } from "../../model/report.ts";
import type { Verification } from "../../model/verification.ts";
import { count } from "../wording.ts";
import { someRootCounts } from "../by-root.ts";
import { escapeText } from "../escape.ts";
import { adviceText, leftovers, notBegun, notBegunHeading, reasonsOf } from "../report.ts";
import { renderVerificationText } from "../verification.ts";
import { wrap } from "../width.ts";
import { noChangesText } from "../wording.ts";
import { composeWithin } from "./compose.ts";
import type { List } from "./list.ts";
import { wholeSummaryText } from "./tally.ts";
import { CODE_COLUMNS } from "./unit.ts";

const INDENT = 2;
const WHOLE = "All of it: `--format json`, and the journal of the run.";

const HEADINGS: Readonly<Record<Exclude<ChangeOutcome, "done">, string>> = {
  failed: "Failed:",
  partial: "Done in part:",
  unknown: "Unknown, whether it was done:",
  skipped: "Skipped:",
  blocked: "Blocked:",
};
/** The gravest first. */
const NOT_DONE = ["failed", "partial", "unknown", "skipped", "blocked"] as const;

/**
 * Newline-terminated, at most `MAX_BODY_CHARACTERS` UTF-16 code units.
 * @param plan the one that was applied
 * @param verification what nameservers were asked afterwards; null: they were not
 */
export function renderReportMarkdown(report: Report, plan: Plan, verification: Verification | null): string {
  const left = leftovers(report);
  return composeWithin({
    head: headBlocks(report, plan, left),
    before: [...outcomeLists(report, plan), notBegunList(report), surpriseList(report)],
    sections: [{ heading: "Done", weight: 0, changes: doneChanges(report, plan) }],
    frame: { strategies: plan.strategies, tense: "done", whole: WHOLE },
    after: verification === null ? [] : [verificationList(verification)],
    foot: footBlocks(report, plan, left),
  });
}

function headBlocks(report: Report, plan: Plan, left: string): string[] {
  if (isIdle(report)) return [`## ${noChangesText(plan)}`];
  const goal = plan.goal === "destroy" ? "Destroy" : "Apply";
  const state = report.interrupted ? "interrupted" : left === "" ? "complete" : "incomplete";
  const lost = left === "" ? "" : ` ${left}.`;
  return [`## ${goal} ${state}: ${wholeSummaryText(summaryOf(report), "done")}${lost}`];
}

function isIdle({ changes, interrupted, surprises }: Report): boolean {
  return changes.length === 0 && !interrupted && surprises.length === 0;
}

/** What is blocked is among what is left. */
function summaryOf({ added, changed, destroyed }: Report): Summary {
  return { add: added, change: changed, destroy: destroyed, blocked: 0 };
}

function doneChanges(report: Report, plan: Plan): Change[] {
  const done = new Set(report.changes.flatMap(({ key, outcome }) => (outcome === "done" ? [key] : [])));
  return plan.changes.filter(({ key }) => done.has(key));
}

function outcomeLists(report: Report, plan: Plan): List[] {
  const reasons = reasonsOf(report, plan, CODE_COLUMNS - INDENT);
  const untouched = notBegun(report);
  const told = report.changes.filter(({ key }) => !untouched.has(key));
  const byOutcome = groupBy(told, ({ outcome }) => outcome);
  return NOT_DONE.map((outcome) => ({
    heading: HEADINGS[outcome],
    entries: (byOutcome.get(outcome) ?? [])
      .map(({ key }) => key)
      .sort(compareText)
      .map((key) => [
        ...wrap(escapeText(key), CODE_COLUMNS, 0),
        ...reasons(key).flatMap((reason) => wrap(reason, CODE_COLUMNS, INDENT)),
      ]),
    folding: "never",
    shareCharacters: 7_000,
  }));
}

function notBegunList(report: Report): List {
  const untouched = notBegun(report);
  const lines = someRootCounts([...untouched]);
  const entries = lines.map((line) => wrap(line, CODE_COLUMNS, 0));
  return { heading: notBegunHeading(untouched), entries, folding: "never", shareCharacters: 4_000 };
}

function surpriseList({ surprises }: Report): List {
  const entries = surprises.map((surprise) => wrap(escapeText(surprise), CODE_COLUMNS, 0));
  return { heading: "To be known:", entries, folding: "never", shareCharacters: 5_000 };
}

/** The verdict is the last paragraph of the text, and the first thing here. */
function verificationList(verification: Verification): List {
  const text = renderVerificationText(verification, { colour: false, width: CODE_COLUMNS }).trimEnd();
  const cut = text.lastIndexOf("\n\n");
  const found = cut === -1 ? [] : text.slice(0, cut).split("\n");
  const verdict = text
    .slice(cut + 1)
    .trimStart()
    .split("\n");
  const entries = [verdict, ...found.map((line) => [line])];
  return { heading: "Asked of nameservers:", entries, folding: "if-long", shareCharacters: 8_000 };
}

function footBlocks(report: Report, plan: Plan, left: string): string[] {
  const { requestCount, interrupted } = report;
  const advice = left !== "" || interrupted ? [adviceText(report)] : [];
  const total = plan.requestCount === 0 ? [] : [`${count(requestCount, "request was", "requests were")} sent.`];
  return [...advice, ...total].length === 0 ? [] : [[...advice, ...total].join(" ")];
}
