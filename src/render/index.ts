/** Render (`tenon/render`): plans, reports, drift, diagnostics and verifications as text, JSON, markdown and HTML. */

import type { Change, Drift, WatchNews } from "../model/change.ts";
import type { Inspection } from "../model/inventory.ts";
import { Kinds } from "../model/kind.ts";
import type { Plan } from "../model/plan.ts";
import type { Report } from "../model/report.ts";
import type { Verification } from "../model/verification.ts";
import { units } from "../units/index.ts";
import * as drifts from "./drift.ts";
import * as news from "./drift-news.ts";
import * as inspections from "./inspection.ts";
import * as documents from "./markdown/documents.ts";
import * as texts from "./plan-text.ts";
import type { Undone } from "./report.ts";

export { type DiagnosticStyle, renderDiagnostics } from "./diagnostics.ts";
export { renderDriftJson } from "./drift.ts";
export { renderNewsJson } from "./drift-news.ts";
export { renderInspectionJson } from "./inspection.ts";
export { renderPlanJson, renderPlanJsonParts } from "./plan-json.ts";
export { renderUnreviewedText, type TextOptions } from "./plan-text.ts";
export { renderReportJson, renderReportText, renderValidationJson, type Undone } from "./report.ts";
export { renderVerificationJson, renderVerificationText } from "./verification.ts";

/** Text for people names kinds in words, which the units define. */
const KINDS = new Kinds(units);

/**
 * The whole plan, newline-terminated. Its last line is `Plan: N to add, N to change, N to destroy.` (with ` N blocked.` after
 * it, if any are), or `No changes. …`. Linear in the number of changes.
 */
export function renderPlanText(plan: Plan, options: texts.TextOptions): string {
  return texts.renderPlanText(plan, options, KINDS);
}

/** Only the guards that apply would refuse, with the consent to write: for use where the plan itself is not shown. */
export function renderGuardsText(plan: Plan, options: texts.TextOptions): string {
  return texts.renderGuardsText(plan, options, KINDS);
}

/** Newline-terminated. Linear in the number of objects. */
export function renderDriftText(drift: Drift, options: texts.TextOptions): string {
  return drifts.renderDriftText(drift, options, KINDS);
}

/** News of a watch, newline-terminated. Linear in the number of objects. */
export function renderNewsText(found: WatchNews, at: string, options: texts.TextOptions): string {
  return news.renderNewsText(found, at, options, KINDS);
}

/** The body of a POST to a webhook of Slack, or of another chat that takes the same. */
export function renderNewsMessage(found: WatchNews): string {
  return news.renderNewsMessage(found, KINDS);
}

/**
 * The plan for a GitHub comment or a GitLab note, newline-terminated. Changes for which there is no room are counted, and the text says so.
 * @param maxCharacters UTF-16 code units, some thousands; absent: what a comment may have
 */
export function renderPlanMarkdown(plan: Plan, maxCharacters?: number): string {
  return documents.renderPlanMarkdown(plan, KINDS, maxCharacters);
}

/**
 * The report of an apply, within the size of a comment.
 * @param plan the one that was applied
 * @param verification what nameservers answered afterwards; null: they were not asked
 */
export function renderReportMarkdown(
  report: Report,
  plan: Plan,
  verification: Verification | null,
  undone: Undone | null = null,
  maxCharacters?: number,
): string {
  return documents.renderReportMarkdown(report, plan, verification, undone, KINDS, maxCharacters);
}

/** Within the size of a comment. Objects for which there is no room are counted. */
export function renderDriftMarkdown(drift: Drift, maxCharacters?: number): string {
  return documents.renderDriftMarkdown(drift, KINDS, maxCharacters);
}

/**
 * Reports that an apply was refused because its plan is not within the reviewed one.
 * @param extra changes that the reviewed plan does not show
 */
export function renderUnreviewedMarkdown(extra: readonly Change[], maxCharacters?: number): string {
  return documents.renderUnreviewedMarkdown(extra, KINDS, maxCharacters);
}

// Pages are asked for seldom: what makes them is loaded then.

/** How a page shows a plan or a report. */
export interface PageOptions {
  /** Whether each network, zone and image is shown by itself, however many are alike. Absent: they are one entry. */
  readonly full?: boolean;
  /** Changes that the plan which was reviewed does not show: nothing was done. Absent: there are none. */
  readonly unreviewed?: readonly Change[];
}

/** The whole plan as one HTML file that loads nothing, newline-terminated. Linear in the number of changes. */
export async function renderPlanHtml(plan: Plan, { full = false, unreviewed = [] }: PageOptions = {}): Promise<string> {
  const pages = await import("./html/plan-page.ts");
  return pages.renderPlanHtml(plan, { full, unreviewed }, KINDS);
}

export interface ReportPageOptions extends Pick<PageOptions, "full"> {
  /** What was undone because nameservers did not answer as declared. Absent or null: nothing had to be. */
  readonly undone?: Undone | null;
}

/**
 * The report of an apply in the same form.
 * @param plan the one that was applied
 * @param verification what nameservers answered afterwards; null: they were not asked
 */
export async function renderReportHtml(
  report: Report,
  plan: Plan,
  verification: Verification | null,
  { full = false, undone = null }: ReportPageOptions = {},
): Promise<string> {
  const pages = await import("./html/report-page.ts");
  return pages.renderReportHtml(report, plan, verification, { full, undone }, KINDS);
}

/** Drift in the same form. */
export async function renderDriftHtml(drift: Drift): Promise<string> {
  const pages = await import("./html/drift-page.ts");
  return pages.renderDriftHtml(drift, KINDS);
}

/** What has one address, in the account beside what the project makes of it. Newline-terminated. */
export function renderInspectionText(inspection: Inspection, options: texts.TextOptions): string {
  return inspections.renderInspectionText(inspection, options, KINDS);
}
