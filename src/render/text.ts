/** The plan as text for a terminal, a log or a review: what changes, what stands against it, and the line that CI reads. */

import type { Address } from "../model/address.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { LeftAlone, Plan } from "../model/plan.ts";
import type { Kind } from "../model/resource.ts";
import { blockText, count } from "./block.ts";
import { consentText, consentWords, guardText } from "./consent.ts";
import { escapeText } from "./escape.ts";
import { fieldLines } from "./field.ts";
import { headline, labelText } from "./heading.ts";
import { BLOCKED_MARK, createPaint, type Paint, paintMark, signOf } from "./paint.ts";
import { childLine, isBeyondLine, isRow, type Table, tableOf } from "./record.ts";
import { type ChangeView, type GroupView, type PlanView, viewPlan } from "./view.ts";
import { columnsOf, DEFAULT_WIDTH_COLUMNS, usableWidth, wrap } from "./width.ts";

export interface TextOptions {
  /** Whether colours are wanted; nothing is looked up. */
  readonly colour: boolean;
  /** Columns; 80 if it is not known. */
  readonly width?: number;
}

const CHILD_INDENT = "  ";
const FIELD_INDENT = "    ";
const DETAIL_INDENT = 6;

export const NO_CHANGES = "No changes. Your infrastructure matches the configuration.";

/**
 * The whole plan, newline-terminated. Its last line is `Plan: N to add, N to change, N to destroy.` (with ` N blocked.` after
 * it, if any are), or `No changes. …`. Linear in the number of changes.
 */
export function renderPlanText(plan: Plan, options: TextOptions): string {
  const view = viewPlan(plan);
  const context = { ...contextOf(options), sources: sourcesOf(plan) };
  const sections = [
    ...view.groups.map((group) => groupLines(group, context)),
    gapLines(plan, context),
    strategyLines(plan, context),
    diagnosticLines("Refused", plan.refusals, context),
    diagnosticLines("Warning", plan.warnings, context),
    guardLines(view, context),
    footLines(plan, view, context.width),
    [lastLine(view, context.paint)],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

interface Context {
  readonly paint: Paint;
  readonly width: number;
  /** Root of a copy → the root it is cloned from. */
  readonly sources: ReadonlyMap<Address, Address>;
}

function contextOf({ colour, width = DEFAULT_WIDTH_COLUMNS }: TextOptions): Context {
  return { paint: createPaint(colour), width: usableWidth(width), sources: new Map() };
}

function sourcesOf({ strategies }: Plan): Map<Address, Address> {
  return new Map(strategies.flatMap(({ source, copies }) => copies.map((copy) => [copy, source] as const)));
}

/** The records of a copy are those of its source, word for word: they are counted, not shown again. */
function groupLines(group: GroupView, context: Context): string[] {
  const lines = group.own === null ? [context.paint.bold(`  ${headline(group)}`)] : ownLines(group, group.own, context);
  const source = context.sources.get(group.root);
  if (source !== undefined) {
    const alike = `${count(group.children.length, "record", "records")} as in ${escapeText(source.replace("/", " "))}`;
    return [...lines, ...wrap(alike, context.width, FIELD_INDENT.length)];
  }
  const table = tableOf(group.children);
  for (const child of group.children) for (const line of childLines(child, table, context)) lines.push(line);
  return lines;
}

function ownLines(group: GroupView, own: ChangeView, context: Context): string[] {
  const { paint, width } = context;
  const [head, labels] = [headline(group), labelText(own)];
  const mark = `${markText(own, paint)} `;
  const isWide = markColumns(own) + columnsOf(head) + columnsOf(labels) > width;
  const lines = [`${mark}${paint.bold(head)}${isWide ? "" : paintLabels(labels, paint)}`];
  if (isWide && labels !== "") lines.push(FIELD_INDENT + paint.warn(labels.trimStart()));
  const fields = own.fields.filter(({ name }) => !isHeadline(own, name));
  for (const line of fieldLines(own, fields, width - FIELD_INDENT.length)) lines.push(FIELD_INDENT + line);
  lines.push(...detailLines(own, context, FIELD_INDENT.length));
  return lines;
}

/** What the heading says already, unless it changes. */
function isHeadline(view: ChangeView, field: string): boolean {
  if (field !== (view.change.kind === "domain" ? "domain" : "label")) return false;
  return view.change.before === null || view.change.after === null;
}

function childLines(view: ChangeView, table: Table, context: Context): string[] {
  const { paint, width } = context;
  const mark = `${CHILD_INDENT}${markText(view, paint)} `;
  const labels = labelText(view);
  const room = {
    line: width - CHILD_INDENT.length - markColumns(view) - columnsOf(labels),
    below: width - DETAIL_INDENT,
  };
  const line = isRow(view) ? childLine(view, table, room) : { text: escapeText(view.change.address), below: [] };
  const rest = isRow(view) ? view.fields.filter(({ name }) => isBeyondLine(view, name)) : view.fields;
  return [
    `${mark}${line.text}${paintLabels(labels, paint)}`,
    ...below(line.below),
    ...below(fieldLines(view, rest, room.below)),
    ...detailLines(view, context, DETAIL_INDENT),
  ];
}

/** Colours around nothing would be noise in what a terminal records. */
function paintLabels(labels: string, paint: Paint): string {
  return labels === "" ? "" : paint.warn(labels);
}

function below(lines: readonly string[]): string[] {
  return lines.map((line) => `${" ".repeat(DETAIL_INDENT)}${line}`);
}

function markText(view: ChangeView, paint: Paint): string {
  return `${view.change.blocked === null ? "" : paint.bad(BLOCKED_MARK)}${paintMark(paint, view.mark)}`;
}

/** With the blank behind it. */
function markColumns(view: ChangeView): number {
  return signOf(view.mark).length + 1 + (view.change.blocked === null ? 0 : BLOCKED_MARK.length);
}

function detailLines(view: ChangeView, { paint, width }: Context, indent: number): string[] {
  const { note, blocked } = view.change;
  const lines = note === null ? [] : wrap(`note: ${escapeText(note)}`, width, indent).map(paint.dim);
  if (blocked === null) return lines;
  const { reason, items, fix } = blockText(blocked, width - indent - CHILD_INDENT.length);
  lines.push(...wrap(`blocked: ${reason}`, width, indent).map(paint.bad));
  for (const item of items) lines.push(...wrap(item, width, indent + CHILD_INDENT.length));
  if (fix !== "") lines.push(...wrap(fix, width, indent));
  return lines;
}

function gapLines(plan: Plan, { paint, width }: Context): string[] {
  if (plan.gaps.length === 0) return [];
  const lines = [paint.warn("Names that will have no answer for a moment; the change itself forces it:")];
  for (const { what, root, before, wanted } of plan.gaps) {
    const text = `${what} (${root}): from "${before}" until "${wanted}"`;
    lines.push(...wrap(escapeText(text), width, CHILD_INDENT.length));
  }
  return lines;
}

function strategyLines({ strategies }: Plan, { width }: Context): string[] {
  return strategies.flatMap(({ source, copies, requests, requestsWithout }) => {
    const [first = "", second] = copies.map((copy) => escapeText(copy));
    const named =
      second === undefined ? first : `${first} and ${count(copies.length - 1, "other domain", "other domains")}`;
    const text = `${named} will be cloned from ${escapeText(source)} once that is filled, while it is disabled: ${requests} requests instead of ${requestsWithout} (--no-clone: each by itself).`;
    return wrap(text, width, 0);
  });
}

function diagnosticLines(word: string, diagnostics: readonly Diagnostic[], { paint, width }: Context): string[] {
  const colour = word === "Warning" ? paint.warn : paint.bad;
  return diagnostics.flatMap(({ summary, detail, fix }) => [
    ...wrap(escapeText(`${word}: ${summary}`), width, 0).map(colour),
    ...wrap(escapeText(detail), width, CHILD_INDENT.length),
    ...wrap(escapeText(fix ?? ""), width, CHILD_INDENT.length),
  ]);
}

function guardLines(view: PlanView, { paint, width }: Context): string[] {
  const lines: string[] = [];
  if (view.refusing.length > 0) lines.push(paint.bad("Apply would refuse this plan:"));
  for (const guard of view.refusing) {
    lines.push(...wrap(guardText(guard), width, CHILD_INDENT.length));
    const words = consentWords(guard);
    if (words === null) continue;
    lines.push(`${" ".repeat(DETAIL_INDENT)}${words.flag}`);
    lines.push(`${" ".repeat(DETAIL_INDENT)}or under allow: in the root file:  ${words.entry}`);
  }
  if (view.consented.length > 0) lines.push("Consent is given to:");
  for (const guard of view.consented) lines.push(...wrap(consentText(guard), width, CHILD_INDENT.length));
  return lines;
}

/** Only what apply would refuse, with the words of consent: for where the plan itself is not shown. */
export function renderGuardsText(plan: Plan, options: TextOptions): string {
  const context = contextOf(options);
  const lines = guardLines({ ...viewPlan(plan), consented: [] }, context);
  return lines.map((line) => `${line}\n`).join("");
}

function footLines(plan: Plan, view: PlanView, width: number): string[] {
  const lines = leftAloneText(plan.leftAlone).flatMap((text) => wrap(text, width, 0));
  if (!view.empty) lines.push(`Applying this takes ${count(plan.requestCount, "request", "requests")}.`);
  return lines;
}

const PLURALS: Readonly<Record<Kind, readonly [one: string, many: string]>> = {
  vpc: ["VPC", "VPCs"],
  vpc_subnet: ["subnet", "subnets"],
  domain: ["domain", "domains"],
  domain_record: ["record", "records"],
  image: ["image", "images"],
};

const REASONS: Readonly<Record<LeftAlone["reason"], string>> = {
  undeclared: "not declared",
  ignored: "ignored",
  unmanaged: "not managed here",
};

function leftAloneText(leftAlone: readonly LeftAlone[]): string[] {
  const parts = leftAlone
    .filter((entry) => entry.count > 0)
    .map(({ kind, count: number, reason }) => `${count(number, ...PLURALS[kind])} (${REASONS[reason]})`);
  return parts.length === 0 ? [] : [`Left alone: ${parts.join(", ")}.`];
}

function lastLine(view: PlanView, paint: Paint): string {
  if (view.empty) return paint.good(NO_CHANGES);
  const { add, change, destroy, blocked } = view.summary;
  const counts = `${add} to add, ${change} to change, ${destroy} to destroy.`;
  return `${paint.bold("Plan:")} ${counts}${blocked === 0 ? "" : ` ${blocked} blocked.`}`;
}
