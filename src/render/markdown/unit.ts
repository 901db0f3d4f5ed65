/** One network, zone or image in markdown, in as much detail as there is room for. */

import type { Address } from "../../model/address.ts";
import { count } from "../wording.ts";
import { escapeText } from "../escape.ts";
import { fieldLines } from "../field.ts";
import { headline, headlineOfMany, isInHeadline, labelText } from "../heading.ts";
import { childLine, isBeyondLine, isRow, type Table, tableOf } from "../record.ts";
import type { ChangeView, GroupView, Mark } from "../view.ts";
import { codeBlock, codeSpan, fold, htmlCode } from "./code.ts";
import { type Tense, tallyText } from "./tally.ts";

/** Of a line in a code block: about what a comment shows without scrolling. */
export const CODE_COLUMNS = 120;

/** Of many that go, so many have a line where not all can. */
const MAX_SHOWN_LOSSES = 200;

/**
 * How much is shown of a unit, from least to most.
 * - `counts`: numbers only.
 * - `losses`: a line for what goes, is made anew or is blocked; the rest as numbers.
 * - `lines`: a line for each change; of further fields their number.
 * - `full`: everything.
 */
export const LEVELS = ["counts", "losses", "lines", "full"] as const;
export type Level = (typeof LEVELS)[number];

export interface Rendering {
  readonly text: string;
  /** Changes that are there as numbers only. */
  readonly counted: number;
}

export interface UnitFrame {
  readonly group: GroupView;
  /** The unit it is a copy of: its records are those of that one, word for word. */
  readonly source: Address | null;
  readonly tense: Tense;
}

/** What GitHub colours: green, red, orange; grey is what will not be done. A replacement is red, as it deletes first. */
const DIFF_SIGNS: Readonly<Record<Mark, string>> = {
  create: "+",
  update: "!",
  delete: "-",
  replace: "-/+",
  none: " ",
};
const BLOCKED_SIGN = "#";
const VALUE_INDENT = "      ";

export function isLoss({ mark, change }: ChangeView): boolean {
  return mark === "delete" || mark === "replace" || change.blocked !== null;
}

export function viewsOf({ own, children }: GroupView): ChangeView[] {
  return own === null ? [...children] : [own, ...children];
}

export function renderUnit(frame: UnitFrame, level: Level): Rendering {
  const { group, tense } = frame;
  const views = viewsOf(group);
  const counts = countsText(views, tense);
  const isPlain = level === "counts" || (level === "losses" && !views.some(isLoss));
  if (isPlain) return { text: `- ${codeSpan(headline(group))}: ${counts}`, counted: views.length };
  const shown = level === "losses" ? views.filter(isLoss) : views;
  const lines = unitLines(frame, shown, level === "full");
  const missing = views.length - shown.length;
  if (missing > 0)
    lines.push(
      `  and ${tallyText(
        views.filter((view) => !isLoss(view)),
        tense,
      )}, not shown here`,
    );
  return { text: fold(`${htmlCode(headline(group))}: ${counts}`, codeBlock(lines, "diff")), counted: missing };
}

/** Many that only go, and for one reason, which is said once. Where there is little room the first of them have a line. */
export function renderGoing(groups: readonly GroupView[], tense: Tense, level: Level): Rendering {
  const views = groups.flatMap(viewsOf);
  const own = groups[0]?.own;
  const head = headlineOfMany(groups) + (own == null ? "" : labelText(own));
  const counts = countsText(views, tense);
  if (level === "counts") return { text: `- ${codeSpan(head)}: ${counts}`, counted: views.length };
  const shown = level === "losses" ? groups.slice(0, MAX_SHOWN_LOSSES) : groups;
  const lines = shown.flatMap((group) => [
    `${DIFF_SIGNS.delete} ${headline(group)}`,
    ...childrenLines(group.children, level === "full"),
  ]);
  const counted = views.length - shown.flatMap(viewsOf).length;
  if (counted > 0) lines.push(`  and ${tallyText(groups.slice(shown.length).flatMap(viewsOf), tense)}, not shown here`);
  return { text: fold(`${htmlCode(head)}: ${counts}`, codeBlock(lines, "diff")), counted };
}

/** `84 changed`, or `3 changes: 2 to add, 1 to change`. */
function countsText(views: readonly ChangeView[], tense: Tense): string {
  const tally = tallyText(views, tense);
  return tally.startsWith(`${views.length} `) && !tally.includes(",")
    ? tally
    : `${count(views.length, "change", "changes")}: ${tally}`;
}

function unitLines({ group, source }: UnitFrame, views: readonly ChangeView[], isFull: boolean): string[] {
  const children = views.filter((view) => view !== group.own);
  const lines: string[] = [];
  if (group.own !== null && views.includes(group.own)) lines.push(...ownLines(group, group.own, isFull));
  if (source !== null && children.length > 0) {
    const alike = count(children.length, "record", "records");
    return [...lines, `+   ${alike} as in ${escapeText(source.replace("/", " "))}`];
  }
  for (const line of childrenLines(children, isFull)) lines.push(line);
  return lines;
}

function childrenLines(children: readonly ChangeView[], isFull: boolean): string[] {
  const table = tableOf(children);
  return children.flatMap((child) => childLines(child, table, isFull));
}

function ownLines(group: GroupView, own: ChangeView, isFull: boolean): string[] {
  const fields = own.fields.filter(({ name }) => !isInHeadline(own, name));
  const below = isFull ? fieldLines(own, fields, CODE_COLUMNS - VALUE_INDENT.length) : [];
  const hint = isFull ? "" : hiddenHint(own, fields.length, false);
  return [
    `${signOf(own)} ${headline(group)}${labelText(own)}${hint}`,
    ...valueLines(own, below),
    ...noteLines(own, isFull),
  ];
}

function childLines(view: ChangeView, table: Table, isFull: boolean): string[] {
  const labels = labelText(view);
  const sign = signOf(view);
  const columns = CODE_COLUMNS - sign.length - 1 - labels.length;
  const room = { line: columns, below: CODE_COLUMNS - VALUE_INDENT.length, oneLine: !isFull };
  const line = isRow(view)
    ? childLine(view, table, room)
    : { text: escapeText(view.change.address), below: [], cut: false };
  const rest = isRow(view) ? view.fields.filter(({ name }) => isBeyondLine(view, name)) : view.fields;
  const fields = isFull ? fieldLines(view, rest, room.below) : [];
  const hint = isFull ? "" : hiddenHint(view, rest.length, line.cut);
  return [
    `${sign} ${line.text}${labels}${hint}`,
    ...valueLines(view, [...line.below, ...fields]),
    ...noteLines(view, isFull),
  ];
}

function signOf({ mark, change }: ChangeView): string {
  return change.blocked === null ? DIFF_SIGNS[mark] : `${BLOCKED_SIGN} ${DIFF_SIGNS[mark]}`;
}

function hiddenHint({ change }: ChangeView, fields: number, isCut: boolean): string {
  const parts = [
    ...(isCut ? ["part of the value"] : []),
    ...(fields === 0 ? [] : [count(fields, "field", "fields")]),
    ...(change.note === null ? [] : ["a note"]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(" and ")} not shown)`;
}

/** A sign goes to the front, where it is coloured; but of an update only: elsewhere it is part of a value. */
function valueLines({ change }: ChangeView, lines: readonly string[]): string[] {
  const isUpdate = change.before !== null && change.after !== null && change.blocked === null;
  return lines.map((line) => {
    const signed = isUpdate ? /^( *)([-+]) (.*)$/.exec(line) : null;
    if (signed === null) return `${VALUE_INDENT}${line}`;
    return `${signed[2] ?? ""}${VALUE_INDENT}${signed[1] ?? ""}${signed[3] ?? ""}`;
  });
}

/** Why a change is blocked is told in a section of its own. */
function noteLines({ change }: ChangeView, isFull: boolean): string[] {
  return isFull && change.note !== null ? [`${VALUE_INDENT}note: ${escapeText(change.note)}`] : [];
}
