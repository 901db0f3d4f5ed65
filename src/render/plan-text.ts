/** The plan as text for a terminal, a log or a review: its changes, its guards and warnings, and the summary line that CI reads. */

import { annotationText } from "../model/annotations.ts";
import type { Change } from "../model/change.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Kinds } from "../model/kind.ts";
import type { Plan, PlanBase } from "../model/plan.ts";
import { freeSpaceText, rangeText } from "./address-space.ts";
import { blockText } from "./blocks.ts";
import {
  BLOCKED_MARK,
  childLine,
  createPaint,
  fieldLines,
  folded,
  isBeyondLine,
  isRow,
  type Paint,
  paintMark,
  signOf,
  type Table,
  tableOf,
} from "./change-lines.ts";
import { askedOf, consentLines, consentTexts } from "./consent.ts";
import { foldedByCode, MAX_UNFOLDED_WARNINGS, warningMarks } from "./diagnostics.ts";
import { type AlikeGroup, type Entry, entriesOf, type FoldContext, foldContext, ZONE_NAME } from "./folding.ts";
import {
  headline,
  headlineOfAlike,
  headlineOfMany,
  isInHeadline,
  labelText,
  memberText,
  shownName,
} from "./headline.ts";
import {
  columnsOf,
  DEFAULT_WIDTH_COLUMNS,
  escapeText,
  HANGING_COLUMNS,
  usableWidth,
  wrap,
  wrapItems,
} from "./terminal.ts";
import {
  type Alike,
  actionEntries,
  byOrigin,
  type ChangeView,
  changedSinceText,
  count,
  familyTexts,
  GAPS_HEADING,
  type GroupView,
  gapText,
  groupAlike,
  groupsOf,
  isWithheldFolded,
  leftAloneText,
  noChangesText,
  ownHeading,
  PENDING_HEADING,
  type PlanView,
  requestsText,
  shownSources,
  splitText,
  strategyText,
  viewPlan,
  withdrawnEntries,
  withdrawnHeading,
  withheldEntries,
  withheldHeading,
} from "./view.ts";

export interface TextOptions {
  /** Whether to use colours: the caller decides, the environment is not looked at. */
  readonly colour: boolean;
  /** Columns; 80 if absent. */
  readonly width?: number;
  /** Whether each network, zone and image, and each warning, is shown by itself, however many are alike. Absent: they are folded. */
  readonly full?: boolean;
}

const CHILD_INDENT = "  ";
const FIELD_INDENT = "    ";
const DETAIL_INDENT = 6;
/** Lists of names go on with the heading. */
const NAMES_INDENT: number = FIELD_INDENT.length + HANGING_COLUMNS;

/**
 * The whole plan, newline-terminated. Its last line is `Plan: N to add, N to change, N to destroy.` (with ` N blocked.` after
 * it, if any are), or `No changes. …`. Linear in the number of changes.
 */
export function renderPlanText(plan: Plan, options: TextOptions, kinds: Kinds): string {
  const view = viewPlan(plan, kinds);
  const fold = foldContext(kinds, shownSources(plan), { full: options.full ?? false, plan });
  const context = { ...contextOf(options, kinds), fold };
  const { sections: changes, isFolded } = changeSections(plan, view, context);
  const warnings = warningSections(plan, context);
  const sections = [
    ...changes,
    withheldLines(plan, context),
    ...familyLines(plan, context),
    gapLines(plan, context),
    strategyLines(plan, context),
    freeSpaceLines(plan, context),
    ...groupAlike(plan.refusals, () => "").map((alike) => diagnosticLines("Refused", alike, context)),
    ...warnings.sections,
    guardLines(plan, view, context),
    [
      ...(isFolded || warnings.isFolded || isWithheldFolded(plan.withheld, fold.full)
        ? wrap(FOLDED, context.width, 0)
        : []),
      ...footLines(plan, view, context),
    ],
    [...splitLines(plan, view, context.width), lastLine(plan, view, context.paint)],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

interface Context {
  readonly kinds: Kinds;
  readonly paint: Paint;
  readonly width: number;
  readonly fold: FoldContext;
}

function contextOf({ colour, width = DEFAULT_WIDTH_COLUMNS }: TextOptions, kinds: Kinds): Context {
  return { kinds, paint: createPaint(colour), width: usableWidth(width), fold: foldContext(kinds, new Map()) };
}

const FOLDED = "What is alike is shown once; --full shows each.";

interface Sections {
  readonly sections: readonly string[][];
  /** Whether something is left out that `--full` shows. */
  readonly isFolded: boolean;
}

/** If there is a base, the changes that the proposal brings come first. */
function changeSections(plan: Plan, view: PlanView, context: Context): Sections {
  let isFolded = false;
  const linesOf = (groups: readonly GroupView[]): string[][] =>
    entriesOf(groups, context.fold).map((entry) => {
      isFolded ||= entry.type === "alike";
      return entryLines(entry, context);
    });
  if (plan.base === null) {
    const sections = linesOf(view.groups);
    return { sections, isFolded };
  }
  const { paint, width } = context;
  const origins = byOrigin(plan);
  const own = linesOf(groupsOf(origins.own, context.kinds));
  const pending = linesOf(groupsOf(origins.pending, context.kinds));
  const sections = [
    wrap(ownHeading(plan.base, origins), width, 0).map(paint.bold),
    ...own,
    ...(pending.length === 0 ? [] : [wrap(PENDING_HEADING, width, 0).map(paint.dim), ...pending]),
    withdrawnLines(plan.base, context),
  ];
  return { sections, isFolded };
}

function withdrawnLines(base: PlanBase, { paint, width }: Context): string[] {
  if (base.withdrawn.length === 0) return [];
  const lines = wrap(withdrawnHeading(base), width, 0).map(paint.dim);
  for (const line of withdrawnEntries(base).flat()) lines.push(CHILD_INDENT + line);
  return lines;
}

function entryLines(entry: Entry, context: Context): string[] {
  switch (entry.type) {
    case "one":
      return groupLines(entry.group, headline(entry.group), context);
    case "going":
      return goingLines(entry.groups, context);
    case "alike":
      return alikeLines(entry.groups, entry.shown, context);
  }
}

/** Up to so many that are alike are all named: who reads a plan wants to know whether one of them is among those. */
const MAX_NAMED_ALIKE = 12;

/** Many with the same changes: how many there are and their names, of many the first and the last, and what each of them gets. */
function alikeLines(groups: readonly GroupView[], shown: AlikeGroup, context: Context): string[] {
  const { width, kinds, paint } = context;
  const { what, names: range } = headlineOfAlike(groups, kinds);
  const names = groups.length <= MAX_NAMED_ALIKE ? groups.map(({ root }) => shownName(root)) : [range];
  const whole = `${what} ${names.join(", ")}`;
  const signs = shown.own === null ? CHILD_INDENT.length : markColumns(shown.own) + columnsOf(labelText(shown.own));
  const isWide = signs + columnsOf(whole) > width;
  const [first = "", ...rest] = groupLines(shown, isWide ? what : whole, context);
  const below = isWide ? wrapItems(names, width, NAMES_INDENT) : [];
  const note = shown.isTemplate ? [paint.dim(`${FIELD_INDENT}${ZONE_NAME} is the name of each`)] : [];
  return [first, ...below, ...note, ...rest];
}

/** Many objects that are only deleted share one heading; each of them is still named. */
function goingLines(groups: readonly GroupView[], context: Context): string[] {
  const own = groups[0]?.own ?? null;
  if (own === null) return [];
  const lines = headLines(own, headlineOfMany(groups), context);
  for (const line of wrapItems(groups.map(memberText), context.width, NAMES_INDENT)) lines.push(line);
  return lines;
}

/** A clone has exactly the records of its source: if the plan shows those, they are counted, not shown again. */
function groupLines(group: GroupView, head: string, context: Context): string[] {
  const lines = group.own === null ? [context.paint.bold(CHILD_INDENT + head)] : ownLines(group.own, head, context);
  const source = context.fold.sources.get(group.root);
  if (source !== undefined) {
    const alike = `${count(group.children.length, "record", "records")} as in ${escapeText(source.replace("/", " "))}`;
    return [...lines, ...wrap(alike, context.width, FIELD_INDENT.length)];
  }
  const table = tableOf(group.children);
  for (const child of group.children) for (const line of childLines(child, table, context)) lines.push(line);
  return lines;
}

function ownLines(own: ChangeView, head: string, context: Context): string[] {
  const lines = headLines(own, head, context);
  const fields = own.fields.filter(({ name }) => !isInHeadline(own, name));
  for (const line of fieldLines(own, fields, context.width - FIELD_INDENT.length)) lines.push(FIELD_INDENT + line);
  lines.push(...detailLines(own, context, FIELD_INDENT.length));
  return lines;
}

/** The labels stand after the heading, or below it if there is no room. */
function headLines(view: ChangeView, head: string, { paint, width }: Context): string[] {
  const labels = labelText(view);
  const isWide = markColumns(view) + columnsOf(head) + columnsOf(labels) > width;
  const lines = [`${markText(view, paint)} ${paint.bold(head)}${isWide ? "" : paintLabels(labels, paint)}`];
  if (isWide && labels !== "") lines.push(FIELD_INDENT + paint.warn(labels.trimStart()));
  return lines;
}

function childLines(view: ChangeView, table: Table, context: Context): string[] {
  const { paint, width } = context;
  const mark = `${CHILD_INDENT}${markText(view, paint)} `;
  const labels = labelText(view);
  const room = {
    lineColumns: width - CHILD_INDENT.length - markColumns(view) - columnsOf(labels),
    belowColumns: width - DETAIL_INDENT,
    oneLine: false,
  };
  const line = isRow(view) ? childLine(view, table, room) : { text: escapeText(view.change.address), below: [] };
  const rest = isRow(view) ? view.fields.filter(({ name }) => isBeyondLine(view, name)) : view.fields;
  return [
    `${mark}${line.text}${paintLabels(labels, paint)}`,
    ...below(line.below),
    ...below(fieldLines(view, rest, room.belowColumns)),
    ...detailLines(view, context, DETAIL_INDENT),
  ];
}

/** An empty text is not coloured: the escape sequences would be noise in a recorded terminal session. */
function paintLabels(labels: string, paint: Paint): string {
  return labels === "" ? "" : paint.warn(labels);
}

function below(lines: readonly string[]): string[] {
  return lines.map((line) => `${" ".repeat(DETAIL_INDENT)}${line}`);
}

function markText(view: ChangeView, paint: Paint): string {
  return `${view.change.blocked === null ? "" : paint.bad(BLOCKED_MARK)}${paintMark(paint, view.mark)}`;
}

/** Columns of the mark with the blank after it. */
function markColumns(view: ChangeView): number {
  return signOf(view.mark).length + 1 + (view.change.blocked === null ? 0 : BLOCKED_MARK.length);
}

function detailLines(view: ChangeView, { paint, width }: Context, indent: number): string[] {
  const { note, blocked } = view.change;
  const lines = note === null ? [] : wrap(`note: ${escapeText(note)}`, width, indent).map(paint.dim);
  lines.push(...wrap(escapeText(annotationText(view.change.annotations)), width, indent).map(paint.dim));
  lines.push(...wrap(rangeText(view.change), width, indent));
  if (blocked === null) return lines;
  const { reason, items, fix } = blockText(blocked, width - indent - CHILD_INDENT.length);
  lines.push(...wrap(`blocked: ${reason}`, width, indent).map(paint.bad));
  for (const item of items) lines.push(...wrap(item, width, indent + CHILD_INDENT.length));
  if (fix !== "") lines.push(...wrap(fix, width, indent));
  return lines;
}

/** What `--never-destroy` leaves out. */
function withheldLines({ withheld }: Plan, { paint, width, fold }: Context): string[] {
  if (withheld.length === 0) return [];
  const lines = wrap(`${withheldHeading(withheld)}:`, width, 0).map(paint.warn);
  for (const line of withheldEntries(withheld, fold.full).flat()) lines.push(CHILD_INDENT + line);
  return lines;
}

/** A section for each family. */
function familyLines(plan: Plan, { width }: Context): string[][] {
  return familyTexts(plan).map(({ heading, lines }) => [
    ...wrap(heading, width, 0),
    ...lines
      .flatMap((line) =>
        columnsOf(line) + CHILD_INDENT.length > width ? folded(line, width - CHILD_INDENT.length) : [line],
      )
      .map((line) => CHILD_INDENT + line),
  ]);
}

function gapLines(plan: Plan, { paint, width }: Context): string[] {
  if (plan.gaps.length === 0) return [];
  const lines = [paint.warn(GAPS_HEADING)];
  for (const gap of plan.gaps) lines.push(...wrap(gapText(gap), width, CHILD_INDENT.length));
  return lines;
}

function strategyLines({ strategies }: Plan, { width }: Context): string[] {
  return strategies.flatMap((strategy) => wrap(strategyText(strategy), width, 0));
}

function freeSpaceLines({ freeSpace }: Plan, { width }: Context): string[] {
  return freeSpace.flatMap((space) => wrap(freeSpaceText(space), width, 0));
}

/** Each summary begins with the word. */
function diagnosticLines(
  word: "Refused" | "Warning",
  { summaries, advice }: Alike,
  { paint, width }: Context,
): string[] {
  const colour = word === "Warning" ? paint.warn : paint.bad;
  return [
    ...summaries.flatMap((summary) => wrap(`${word}: ${summary}`, width, 0).map(colour)),
    ...advice.flatMap((text) => wrap(text, width, CHILD_INDENT.length)),
  ];
}

/** Of many warnings with one code the first, and how many more there are. */
function warningSections(plan: Plan, context: Context): Sections {
  const markOf = warningMarks(plan);
  const linesOf = (warnings: readonly Diagnostic[]): string[][] =>
    groupAlike(warnings, markOf).map((alike) => diagnosticLines("Warning", alike, context));
  const groups = context.fold.full ? [] : foldedByCode(plan.warnings).filter(({ length }) => length > 1);
  const folded = new Set(groups.flat());
  const sections = linesOf(plan.warnings.filter((warning) => !folded.has(warning)));
  for (const group of groups) {
    // What the proposed change brings comes first.
    const ordered = group.toSorted((a, b) => markOf(a).length - markOf(b).length);
    const more = [`Warning: and ${group.length - MAX_UNFOLDED_WARNINGS} more like these`];
    for (const lines of linesOf(ordered.slice(0, MAX_UNFOLDED_WARNINGS))) sections.push(lines);
    sections.push(more.map(context.paint.warn));
  }
  return { sections, isFolded: groups.length > 0 };
}

function guardLines(plan: Plan, view: PlanView, { kinds, paint, width, fold }: Context): string[] {
  const lines: string[] = [];
  if (view.refusing.length > 0) lines.push(paint.bad("Apply would refuse this plan:"));
  for (const { text, advice, words } of askedOf(view.refusing, plan, kinds)) {
    lines.push(...wrap(text, width, CHILD_INDENT.length), ...wrap(advice, width, DETAIL_INDENT));
    lines.push(...consentLines(words, DETAIL_INDENT));
  }
  if (view.consented.length > 0) lines.push("Consent is given to:");
  for (const text of consentTexts(view.consented, plan, kinds, fold))
    lines.push(...wrap(text, width, CHILD_INDENT.length));
  return lines;
}

/** Only the guards for which `apply` would refuse the plan, with the consent to write: for use where the plan itself is not shown. */
export function renderGuardsText(plan: Plan, options: TextOptions, kinds: Kinds): string {
  const context = contextOf(options, kinds);
  const lines = guardLines(plan, { ...viewPlan(plan, kinds), consented: [] }, context);
  return lines.map((line) => `${line}\n`).join("");
}

function footLines(plan: Plan, view: PlanView, { kinds, width }: Context): string[] {
  const lines = [
    ...wrap(changedSinceText(plan.inputs, kinds), width, 0),
    ...wrap(leftAloneText(plan.leftAlone, kinds), width, 0),
  ];
  if (!view.empty) lines.push(...wrap(requestsText(plan), width, 0));
  return lines;
}

function splitLines(plan: Plan, view: PlanView, width: number): string[] {
  return plan.base === null || view.empty ? [] : wrap(splitText(byOrigin(plan)), width, 0);
}

function lastLine(plan: Plan, view: PlanView, paint: Paint): string {
  if (view.empty) return paint.good(noChangesText(plan));
  const { add, change, destroy, blocked } = view.summary;
  const counts = `${add} to add, ${change} to change, ${destroy} to destroy.`;
  return `${paint.bold("Plan:")} ${counts}${blocked === 0 ? "" : ` ${blocked} blocked.`}`;
}

// The changes of an apply that the reviewed plan does not show, as text.

/** All of them, a line each, indented and newline-terminated. */
export function renderUnreviewedText(extra: readonly Change[]): string {
  return actionEntries(extra)
    .flat()
    .map((line) => `  ${line}\n`)
    .join("");
}
