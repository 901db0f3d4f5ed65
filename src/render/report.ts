/** The report of an apply, as text and as JSON: the outcome of each change, and what to do now. */

import type { Failure } from "../model/api.ts";
import type { Change } from "../model/change.ts";
import type { Diagnostic, Sources, Span } from "../model/diagnostic.ts";
import { type Goal, type Plan, summarise } from "../model/plan.ts";
import type { ChangeOutcome, Report, StepReport } from "../model/report.ts";
import type { Json, JsonObject, ObjectId } from "../model/resource.ts";
import { compareText, jsonText } from "../model/text.ts";
import type { Verification } from "../model/verification.ts";
import { blockText } from "./blocks.ts";
import { createPaint, type Paint } from "./change-lines.ts";
import { diagnosticsJson } from "./diagnostics.ts";
import { missingConsents, savedGuard } from "./plan-json.ts";
import type { TextOptions } from "./plan-text.ts";
import { DEFAULT_WIDTH_COLUMNS, escapeText, usableWidth, wrap } from "./terminal.ts";
import { verificationJson } from "./verification.ts";
import { count, someRootCounts, sortKeys } from "./view.ts";

/** The version of schemas/report.schema.json. */
const REPORT_FORMAT_VERSION = 2;
const INDENT = 2;

/** As the headings of reports say it. */
export const GOAL_WORDS: Readonly<Record<Goal, string>> = { apply: "Apply", destroy: "Destroy", undo: "Undo" };

/**
 * The report as text, newline-terminated. If all is done, the last line is `Apply complete! Resources: N added, N changed, N destroyed.`,
 * as Terraform's; otherwise it begins with `Apply incomplete: ` or `Apply interrupted: `, with the resources on a line of their own if one
 * line is too short.
 * @param plan the plan that was applied: it has the reasons why changes are blocked
 */
export function renderReportText(report: Report, plan: Plan, options: TextOptions): string {
  const paint = createPaint(options.colour);
  const width = usableWidth(options.width ?? DEFAULT_WIDTH_COLUMNS);
  const stepsOf = stepsByChange(report.steps);
  const changeOf = new Map(plan.changes.map((change) => [change.key, change]));
  const untouched = notBegun(report);
  const lines: string[] = [];
  for (const { key, outcome } of sortedChanges(report)) {
    if (outcome === "done" || untouched.has(key)) continue;
    lines.push(...wrap(`${paintOutcome(paint, outcome)} ${escapeText(key)}`, width, 0));
    for (const reason of reasons(stepsOf.get(key) ?? [], changeOf.get(key), width))
      lines.push(...wrap(reason, width, INDENT));
  }
  if (untouched.size > 0) lines.push(...wrap(notBegunHeading(untouched), width, 0).map(paint.warn));
  for (const counted of someRootCounts([...untouched])) lines.push(...wrap(counted, width, INDENT));
  for (const notice of report.notices) {
    lines.push(...wrap(`${paint.warn("Note:")} ${escapeText(notice)}`, width, 0));
  }
  if (lines.length > 0) lines.push("");
  lines.push(...closing(report, plan, paint, width));
  return `${lines.join("\n")}\n`;
}

/**
 * For each object that the manifest names by its id, and that this run made anew: its new id, and where to write it.
 * @param place file and line of a span, as text
 */
export function newIdNotes(report: Report, plan: Plan, place: (span: Span) => string): string[] {
  return plan.warnings.flatMap(({ code, address, span }) => {
    if (code !== "id-becomes-stale" || span === undefined) return [];
    const made = report.steps.find(({ id, changes }) => id !== null && changes[0] === address);
    if (made === undefined) return [];
    return [`${address} was made anew and has a new id: write \`id: ${made.id}\` at ${place(span)}`];
  });
}

/** The keys of the changes that were not begun only because the run was interrupted. They are counted, not listed. */
export function notBegun(report: Report): ReadonlySet<string> {
  const begun = new Set(
    report.steps.flatMap(({ outcome, because, changes }) =>
      outcome === "skipped" && because.length === 0 ? [] : changes,
    ),
  );
  return new Set(report.changes.flatMap(({ key, outcome }) => (outcome === "skipped" && !begun.has(key) ? [key] : [])));
}

export function notBegunHeading({ size }: ReadonlySet<string>): string {
  return `${count(size, "change was", "changes were")} not begun when the run was interrupted:`;
}

function sortedChanges(report: Report): Report["changes"] {
  return [...report.changes].sort((left, right) => compareText(left.key, right.key));
}

function stepsByChange(steps: readonly StepReport[]): Map<string, StepReport[]> {
  const byChange = new Map<string, StepReport[]>();
  for (const step of steps) {
    for (const key of step.changes) {
      const known = byChange.get(key);
      if (known === undefined) byChange.set(key, [step]);
      else known.push(step);
    }
  }
  return byChange;
}

function paintOutcome(paint: Paint, outcome: ChangeOutcome): string {
  switch (outcome) {
    case "done":
      return paint.good("done");
    case "skipped":
    case "blocked":
      return paint.warn(outcome);
    case "failed":
    case "unknown":
      return paint.bad(outcome);
    case "partial":
      return paint.bad("done in part");
  }
}

/** Why each change is not done, by its key: escaped lines of about `columns` columns. */
export function reasonsOf(report: Report, plan: Plan, columns: number): (key: string) => string[] {
  const stepsOf = stepsByChange(report.steps);
  const changeOf = new Map(plan.changes.map((change) => [change.key, change]));
  return (key) => reasons(stepsOf.get(key) ?? [], changeOf.get(key), columns + INDENT);
}

/** Why a change is not done: the failures of its steps, the failed steps that these waited for, or what blocks it. */
function reasons(steps: readonly StepReport[], change: Change | undefined, width: number): string[] {
  if (change !== undefined && change.blocked !== null) {
    const { reason, items, fix } = blockText(change.blocked, width - INDENT);
    return [reason, ...items, ...(fix === "" ? [] : [fix])];
  }
  // The failure of the change itself is printed already.
  const own = new Set(steps.flatMap(({ step, failure }) => (failure === null ? [] : [step])));
  return steps.flatMap((step) => {
    if (step.failure !== null) return [`${escapeText(step.step)}: ${failureText(step.failure)}`];
    if (step.outcome !== "skipped") return [];
    if (step.because.length === 0) return ["not begun when the run was interrupted"];
    const others = step.because.filter((id) => !own.has(id)).map(escapeText);
    return others.length === 0 ? [] : [`needs what failed: ${others.join(", ")}`];
  });
}

/** The failure's message, with the service's own words if there were any. One line, escaped. */
export function failureText(failure: Failure): string {
  const maintenance = failure.maintenance ? " (the service is in maintenance: try again later)" : "";
  const attempts = failure.attempts > 1 ? ` (after ${failure.attempts} attempts)` : "";
  return escapeText(`${failure.message}${maintenance}${attempts}`);
}

function closing(report: Report, plan: Plan, paint: Paint, width: number): string[] {
  const resources = `Resources: ${report.added} added, ${report.changed} changed, ${report.destroyed} destroyed.`;
  const goal = GOAL_WORDS[plan.goal];
  const left = leftovers(report);
  if (left === "" && !report.interrupted) return [`${paint.good(`${goal} complete!`)} ${resources}`];
  const state = report.interrupted ? "interrupted" : "incomplete";
  const verdict = `${goal} ${state}:${left === "" ? "" : ` ${left}.`}`;
  const fits = verdict.length + 1 + resources.length <= width;
  const painted = verdict.replace(/^[^:]*:/, (head) => paint.bad(head));
  return [...wrap(adviceText(report), width, 0), ...(fits ? [`${painted} ${resources}`] : [painted, resources])];
}

/** What to do about an incomplete run. A run that was only interrupted has no cause to be mended. */
export function adviceText({ failed, interrupted }: Report): string {
  const when = interrupted && failed === 0 ? "" : " when the cause is mended";
  return `Run it again${when}: what is done is not done twice.`;
}

/** `1 failed, 2 skipped`: without the counts that are 0. */
export function leftovers({ failed, skipped, unknown, blocked, duplicates }: Report): string {
  const parts = [
    count(failed, "failed", "failed"),
    count(skipped, "skipped", "skipped"),
    count(unknown, "unknown", "unknown"),
    count(blocked, "blocked", "blocked"),
    count(duplicates, "there twice", "there twice"),
  ];
  return parts.filter((part) => !part.startsWith("0 ")).join(", ");
}

/** The id of the object that a change made, or else of the object that it changed; null if neither is known. */
function idsOf({ steps }: Report, plan: Plan): (key: string) => ObjectId | null {
  const known = new Map(plan.changes.map(({ key, id }) => [key, id]));
  const made = new Map(steps.map(({ step, id }) => [step, id]));
  for (const step of plan.steps) {
    const id = step.type === "request" && step.produces !== null ? made.get(step.id) : null;
    if (step.type === "request" && step.produces !== null && id !== null && id !== undefined)
      known.set(step.produces.ref, id);
  }
  // A record's POST produces nothing that other steps refer to.
  const single = plan.steps.filter(
    (step) => step.type === "request" && step.method === "POST" && step.changes.length === 1,
  );
  for (const { id: step, changes } of single) {
    const id = made.get(step);
    if (id !== null && id !== undefined) for (const key of changes) known.set(key, id);
  }
  for (const { parts = {} } of steps) for (const [key, id] of Object.entries(parts)) known.set(key, id);
  return (key) => known.get(key) ?? null;
}

/**
 * The report as one line of JSON, newline-terminated: schemas/report.schema.json.
 * @param verification what nameservers answered afterwards; null: they were not asked
 * @param undone what was undone because of that; null: nothing had to be
 */
export function renderReportJson(
  report: Report,
  plan: Plan,
  verification: Verification | null = null,
  undone: Undone | null = null,
): string {
  return `${jsonText(reportJson(report, plan, verification, undone))}\n`;
}

/** What `--undo-on-failure` did. */
export interface Undone {
  /** All that the run had changed is as it was before, and is served so. */
  readonly isComplete: boolean;
  /** What was not undone, and why: sentences. */
  readonly problems: readonly string[];
  /** null: it was not begun. */
  readonly done: { readonly plan: Plan; readonly report: Report } | null;
  readonly verification: Verification | null;
}

function undoneJson({ isComplete, problems, done, verification }: Undone): JsonObject {
  return {
    complete: isComplete,
    problems: [...problems],
    report: done === null ? null : reportJson(done.report, done.plan, null, null),
    verification: verification === null ? null : verificationJson(verification),
  };
}

function reportJson(report: Report, plan: Plan, verification: Verification | null, undone: Undone | null): JsonObject {
  const idOf = idsOf(report, plan);
  return {
    type: "report",
    format_version: REPORT_FORMAT_VERSION,
    goal: plan.goal,
    resources: { added: report.added, changed: report.changed, destroyed: report.destroyed },
    failed: report.failed,
    skipped: report.skipped,
    unknown: report.unknown,
    blocked: report.blocked,
    duplicates: report.duplicates,
    requests: report.requestCount,
    interrupted: report.interrupted,
    changes: sortedChanges(report).map(({ key, outcome }) => ({ address: key, outcome, id: idOf(key) })),
    steps: report.steps.map((step) => sortKeys(step as unknown as Json) as JsonObject),
    notices: [...report.notices],
    ...(verification === null ? {} : { verification: verificationJson(verification) }),
    ...(undone === null ? {} : { undo: undoneJson(undone) }),
  };
}

// Two events of an apply, each as one line of JSON: the plan before it begins, and the reason why it was refused.

/**
 * - `identity`: an object is ambiguous or another owner's, or the account is another one.
 * - `file`: a file that would be uploaded cannot be an image.
 * - `consent`: a guard has no consent.
 * - `unreviewed`: the reviewed plan does not show all changes.
 * - `blocked`: a change is blocked, and the run must not go on with blocked changes.
 */
export type RefusalReason = "identity" | "file" | "consent" | "unreviewed" | "blocked";

/**
 * The plan, as the first event of an apply. Newline-terminated: `plan` in schemas/event.schema.json.
 * @param nowMilliseconds since the epoch
 */
export function renderPlanEventJson(plan: Plan, nowMilliseconds: number): string {
  const { goal, inputs, requestCount, steps } = plan;
  const { environment, targets, excludes, changedSince } = inputs;
  const narrowing = { targets, excludes, ...(changedSince === null ? {} : { changed_since: changedSince }) };
  const asked = { goal, environment, ...narrowing };
  const counts = { summary: summarise(plan.changes), steps: steps.length, requests: requestCount };
  return `${jsonText({ type: "plan", time: new Date(nowMilliseconds).toISOString(), ...asked, ...counts })}\n`;
}

/**
 * Newline-terminated: `refused` in schemas/event.schema.json.
 * @param unreviewed changes that the reviewed plan does not show
 */
export function renderRefusalJson(plan: Plan, reason: RefusalReason, unreviewed: readonly Change[] = []): string {
  const json = {
    type: "refused",
    goal: plan.goal,
    reason,
    refusals: plan.refusals.map(({ code, summary, detail, fix }) => ({ code, summary, detail, fix: fix ?? "" })),
    guards: plan.guards.filter(({ consent }) => consent !== "given").map(savedGuard),
    missing_consent: missingConsents(plan),
    unreviewed: unreviewed.map(({ key, action }) => ({ address: key, action })),
    blocked: plan.changes.flatMap(({ key, blocked }) => (blocked === null ? [] : [{ address: key, by: blocked.type }])),
  };
  return `${jsonText(sortKeys(json as unknown as Json))}\n`;
}

// The diagnostics of `validate` as JSON for programs: counted as by Terraform's `validate -json`, with Tenon's codes and fixes.

const VALIDATION_FORMAT_VERSION = "1.0";

export { diagnosticsJson };

/** Newline-terminated: schemas/validation.schema.json. */
export function renderValidationJson(diagnostics: readonly Diagnostic[], sources: Sources): string {
  return `${jsonText(validationJson(diagnosticsJson(diagnostics, sources)), 2)}\n`;
}

/**
 * The diagnostics of a command that failed, instead of its result. Newline-terminated.
 * @param diagnostics of `diagnosticsJson`
 * @param isEvent as one line of a stream, with a `type`: `error` in schemas/event.schema.json
 */
export function renderErrorsJson(diagnostics: readonly JsonObject[], isEvent: boolean): string {
  const json = validationJson(diagnostics);
  return `${isEvent ? jsonText({ type: "error", ...json }) : jsonText(json, 2)}\n`;
}

function validationJson(diagnostics: readonly JsonObject[]): JsonObject {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  return {
    format_version: VALIDATION_FORMAT_VERSION,
    valid: errors === 0,
    error_count: errors,
    warning_count: diagnostics.length - errors,
    diagnostics: [...diagnostics],
  };
}
