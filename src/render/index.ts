/** Render (`tenon/render`): plans, reports, drift, diagnostics and verifications as text, JSON and markdown. */

import type { Change, Drift } from "../model/change.ts";
import { Kinds } from "../model/kind.ts";
import type { Plan } from "../model/plan.ts";
import type { Report } from "../model/report.ts";
import type { Verification } from "../model/verification.ts";
import { units } from "../units/index.ts";
import * as drifts from "./drift.ts";
import * as documents from "./markdown/documents.ts";
import * as texts from "./plan-text.ts";

export { type DiagnosticStyle, renderDiagnostics } from "./diagnostics.ts";
export { renderDriftJson } from "./drift.ts";
export { renderPlanJson, renderPlanJsonParts } from "./plan-json.ts";
export { renderUnreviewedText, type TextOptions } from "./plan-text.ts";
export { renderReportJson, renderReportText, renderValidationJson } from "./report.ts";
export { renderVerificationJson, renderVerificationText } from "./verification.ts";

/** Texts for people name kinds by the words of the units. */
const KINDS = new Kinds(units);

/**
 * The whole plan, newline-terminated. Its last line is `Plan: N to add, N to change, N to destroy.` (with ` N blocked.` after
 * it, if any are), or `No changes. …`. Linear in the number of changes.
 */
export function renderPlanText(plan: Plan, options: texts.TextOptions): string {
  return texts.renderPlanText(plan, options, KINDS);
}

/** Only what apply would refuse, with the words of consent: for where the plan itself is not shown. */
export function renderGuardsText(plan: Plan, options: texts.TextOptions): string {
  return texts.renderGuardsText(plan, options, KINDS);
}

/** Newline-terminated. Linear in the number of objects. */
export function renderDriftText(drift: Drift, options: texts.TextOptions): string {
  return drifts.renderDriftText(drift, options, KINDS);
}

/** The plan for a GitHub comment or a GitLab note, newline-terminated. What has no room in one is there as numbers, and the text says so. */
export function renderPlanMarkdown(plan: Plan): string {
  return documents.renderPlanMarkdown(plan, KINDS);
}

/**
 * The report of an apply, within the size of a comment.
 * @param plan the one that was applied
 * @param verification what nameservers were asked afterwards; null: they were not
 */
export function renderReportMarkdown(report: Report, plan: Plan, verification: Verification | null): string {
  return documents.renderReportMarkdown(report, plan, verification, KINDS);
}

/** Within the size of a comment. What has no room is counted. */
export function renderDriftMarkdown(drift: Drift): string {
  return documents.renderDriftMarkdown(drift, KINDS);
}

/** That an apply was refused, as the plan is not within the reviewed one. @param extra what the reviewed plan does not show */
export function renderUnreviewedMarkdown(extra: readonly Change[]): string {
  return documents.renderUnreviewedMarkdown(extra, KINDS);
}
