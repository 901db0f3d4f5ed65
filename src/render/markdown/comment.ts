/** Composes a whole comment: lists and changes share its room, and room that one part does not need goes to the others. */

import { annotationText } from "../../model/annotations.ts";
import type { Change } from "../../model/change.ts";
import type { Address } from "../../model/resource.ts";
import { childLine, fieldLines, isBeyondLine, isRow, type Table, tableOf } from "../change-lines.ts";
import { type Entry, entriesOf, type FoldContext, groupsIn, ZONE_NAME } from "../folding.ts";
import { headline, headlineOfAlike, headlineOfMany, isInHeadline, labelText, shownName } from "../headline.ts";
import { escapeText, HANGING_COLUMNS, wrapItems } from "../terminal.ts";
import { type ChangeView, count, type FieldDiff, type GroupView, groupsOf, type Mark } from "../view.ts";
import { codeBlock, codeSpan, fenceCost, fold, htmlCode, type Tense, tallyByKind, tallyText } from "./parts.ts";

interface Comment {
  /** Blocks that are known to be small. */
  readonly head: readonly string[];
  readonly before: readonly List[];
  readonly sections: readonly Section[];
  readonly frame: ChangesFrame;
  readonly after: readonly List[];
  readonly foot: readonly string[];
}

/** Newline-terminated, at most `MAX_BODY_CHARACTERS` UTF-16 code units. */
export function composeWithin(comment: Comment): string {
  const whole = compose(comment, Number.POSITIVE_INFINITY);
  if (whole !== null && whole.length <= MAX_BODY_CHARACTERS) return whole;
  return compose(comment, MAX_BODY_CHARACTERS) ?? "";
}

/** @param room Infinity: everything is shown. @returns null if everything is known to take more than MAX_BODY_CHARACTERS */
function compose({ head, before, sections, frame, after, foot }: Comment, room: number): string | null {
  const isBounded = room !== Number.POSITIVE_INFINITY;
  const lists = [...before, ...after];
  const texts = lists.map((list) => renderList(list, isBounded ? list.shareCharacters : room));
  const taken = lengthOf([...head, ...foot, ...present(texts)]);
  const changes = renderChanges(sections, frame, room - taken);
  if (changes === null) return null;
  if (isBounded) growLists(lists, texts, room - taken - lengthOf(changes));
  const [lead, tail] = [texts.slice(0, before.length), texts.slice(before.length)];
  return `${[...head, ...present(lead), ...changes, ...present(tail), ...foot].join(BLOCK_SEPARATOR)}\n`;
}

/** Gives the remaining room to the lists, one after the other. */
function growLists(lists: readonly List[], texts: (string | null)[], room: number): void {
  let left = room;
  for (const [index, list] of lists.entries()) {
    const text = texts[index] ?? null;
    if (text === null) continue;
    const larger = renderList(list, text.length + left);
    if (larger === null || larger.length - text.length > left) continue;
    left -= Math.max(0, larger.length - text.length);
    if (larger.length > text.length) texts[index] = larger;
  }
}

function present(texts: readonly (string | null)[]): string[] {
  return texts.filter((text) => text !== null);
}

function lengthOf(blocks: readonly string[]): number {
  return blocks.reduce((sum, block) => sum + block.length + BLOCK_SEPARATOR.length, 0);
}

// Changes in markdown, object by object, within the available room.

/** Room for the headings, and for the text that counts the changes without a line. */
const CHANGES_FRAME_CHARACTERS = 1_500;

/** Changes that belong together, under one heading. */
export interface Section {
  /** Our own words, without text from manifests or the service; null: no heading. */
  readonly heading: string | null;
  /** Heavier sections come first if there is not room for all. */
  readonly weight: number;
  /** What a reviewer came for: its changes are unfolded, unless they are of many objects. */
  readonly isOpen?: true;
  readonly changes: readonly Change[];
}

/** Networks, zones and images that are unfolded at once. */
const MAX_OPEN_UNITS = 10;

interface ChangesFrame {
  readonly fold: FoldContext;
  readonly tense: Tense;
  /** Where the whole plan or report can be seen: our own words. */
  readonly whole: string;
}

interface UnitItem extends Fittable {
  readonly section: Section;
  /** One network, zone or image, or many of one entry. */
  readonly groups: readonly GroupView[];
}

/** @param room characters; Infinity: everything is shown. @returns blocks of markdown; null if everything does not fit into a comment */
function renderChanges(sections: readonly Section[], frame: ChangesFrame, room: number): string[] | null {
  const items = sections.flatMap((section) => itemsOf(section, frame));
  const fitted = room === Number.POSITIVE_INFINITY ? showAll(items) : fitAll(items, room - CHANGES_FRAME_CHARACTERS);
  if (fitted === null) return null;
  const { shown, left } = fitted;
  const blocks = sections.flatMap((section) => {
    const texts = items.filter((item) => item.section === section).flatMap((item) => shown.get(item)?.text ?? []);
    const rest = left.filter((item) => item.section === section);
    if (texts.length + rest.length === 0) return [];
    return [...headingOf(section, frame), ...joined(texts), ...restBlocks(rest, frame)];
  });
  const counted = [...shown.values()].reduce((sum, rendering) => sum + rendering.counted, 0);
  const uncounted = left.reduce((sum, { groups }) => sum + groups.flatMap(viewsOf).length, 0);
  const isCut = [...shown.values()].some((rendering) => rendering.isCut);
  return [...blocks, ...missingBlock(counted + uncounted, isCut, frame)];
}

function itemsOf(section: Section, { fold: context, tense }: ChangesFrame): UnitItem[] {
  // The section's heading shows the origin of its changes.
  const own = section.changes.map((change) => ({ ...change, origin: null }));
  const entries = entriesOf(groupsOf(own, context.kinds), context);
  const isOpen = section.isOpen === true && entries.length <= MAX_OPEN_UNITS;
  return entries.map((entry) => {
    const groups = groupsIn(entry);
    const weight = section.weight * 2 + (groups.flatMap(viewsOf).some(isLoss) ? 1 : 0);
    return { section, groups, weight, render: rendererOf(entry, context, tense, isOpen) };
  });
}

function rendererOf(
  entry: Entry,
  { kinds, sources }: FoldContext,
  tense: Tense,
  isOpen: boolean,
): (level: Level) => Rendering {
  switch (entry.type) {
    case "going":
      return (level) => renderGoing(entry.groups, tense, level, isOpen);
    case "one": {
      const { group } = entry;
      const source = sources.get(group.root) ?? null;
      const frame = { group, all: [group], head: headline(group), source, tense, isOpen };
      return (level) => renderUnit(frame, level);
    }
    case "alike": {
      const { groups, shown } = entry;
      const { what, names } = headlineOfAlike(groups, kinds);
      const frame = {
        group: shown,
        all: groups,
        head: `${what} ${names}`,
        source: sources.get(shown.root) ?? null,
        tense,
        isOpen,
      };
      return (level) => renderUnit({ ...frame, isTemplate: shown.isTemplate }, level);
    }
  }
}

function headingOf({ heading, changes }: Section, { fold: { kinds }, tense }: ChangesFrame): string[] {
  if (heading === null) return [];
  const views = groupsOf(changes, kinds).flatMap(viewsOf);
  return [`### ${heading}: ${tallyText(views, tense)}`];
}

/** Joins consecutive lines of counts to one list. */
function joined(texts: readonly string[]): string[] {
  const blocks: string[] = [];
  for (const text of texts) {
    const last = blocks.at(-1);
    if (last?.startsWith("- ") && text.startsWith("- ")) blocks[blocks.length - 1] = `${last}\n${text}`;
    else blocks.push(text);
  }
  return blocks;
}

function restBlocks(rest: readonly UnitItem[], { fold: { kinds }, tense }: ChangesFrame): string[] {
  if (rest.length === 0) return [];
  const views = rest.flatMap(({ groups }) => groups.flatMap(viewsOf));
  const tallies = tallyByKind(views, kinds, tense);
  const number = rest.reduce((sum, { groups }) => sum + groups.length, 0);
  const units = count(number, "further network, zone or image", "further networks, zones and images");
  return [[`${units}:`, "", ...tallies.map((line) => `- ${line}`)].join("\n")];
}

function missingBlock(counted: number, isCut: boolean, { whole }: ChangesFrame): string[] {
  if (counted === 0 && !isCut) return [];
  const are = count(counted, "change is", "changes are");
  const what = counted === 0 ? "Not everything is shown" : `${are} shown as numbers only`;
  return [`**${what}**, as a comment holds no more than ${MAX_MARKDOWN_CHARACTERS} characters. ${whole}`];
}

// A list beside the changes: refusals, blocked changes, notes.

/** A list of more entries is folded if its `folding` allows that. */
const MAX_OPEN_ENTRIES = 10;
/** Room for the heading, the fences, and the text that counts the entries left out. */
const LIST_FRAME_CHARACTERS = 300;

/** `never`: the list stops the plan. `always`: the list is only good to know, and must not hide anything more important. */
type Folding = "never" | "if-long" | "always";

export interface List {
  /** Our own words, without text from manifests or the service. */
  readonly heading: string;
  /** Each entry as lines, escaped. */
  readonly entries: readonly (readonly string[])[];
  readonly folding: Folding;
  /** Characters that the list may take if there is not room for everything. */
  readonly shareCharacters: number;
}

/** @param room characters; Infinity: all of it. @returns null if there is nothing to list */
function renderList({ heading, entries, folding }: List, room: number): string | null {
  if (entries.length === 0) return null;
  const { shown, left } = fitList(entries, room - LIST_FRAME_CHARACTERS);
  const isOpen = folding === "never" || (folding === "if-long" && entries.length <= MAX_OPEN_ENTRIES);
  const blocks = shown.length === 0 ? [] : [codeBlock(shown.flat(), "text")];
  if (left > 0)
    blocks.push(
      `${shown.length === 0 ? "" : "And "}${left}${shown.length === 0 ? "" : " more"}, for which there is no room here.`,
    );
  const body = blocks.join("\n\n");
  return isOpen ? `**${heading}**\n\n${body}` : fold(`<b>${heading.replace(/:$/, "")}</b> (${entries.length})`, body);
}

// What fits: lists and units share the room of a comment. Anything without room is counted, never left out silently.

/**
 * GitHub accepts at most this many characters in a comment, and up to four bytes for each. UTF-16 code units are counted here: there are at
 * least as many of them as characters, and each takes at most three bytes in UTF-8.
 */
const MAX_MARKDOWN_CHARACTERS = 65_536;
/** Room for what a pipeline adds: a hidden line by which it finds its comment again, and a link to the run. */
const MARKER_ROOM_CHARACTERS = 500;
/** UTF-16 code units that a rendering may take. */
export const MAX_BODY_CHARACTERS: number = MAX_MARKDOWN_CHARACTERS - MARKER_ROOM_CHARACTERS;

/** Between two blocks: an empty line. */
const BLOCK_SEPARATOR = "\n\n";

/** Something that can be shown in more or less detail. */
interface Fittable {
  /** Heavier items come first if there is not room for all. */
  readonly weight: number;
  render(level: Level): Rendering;
}

interface Fitted<Item> {
  readonly shown: ReadonlyMap<Item, Rendering>;
  /** Items without room even for a line of counts, in the order given. */
  readonly left: readonly Item[];
}

/** Renders every item in full; null as soon as the text is too long for a comment, without rendering the rest. */
function showAll<Item extends Fittable>(items: readonly Item[]): Fitted<Item> | null {
  const shown = new Map<Item, Rendering>();
  let used = 0;
  for (const item of items) {
    const whole = item.render("full");
    used += whole.text.length;
    if (used > MAX_BODY_CHARACTERS) return null;
    shown.set(item, whole);
  }
  return { shown, left: [] };
}

/** Characters that may be rendered in vain at one level: beyond this, no further item is tried at that level. */
const MAX_WASTED_CHARACTERS: number = 16 * MAX_MARKDOWN_CHARACTERS;

/**
 * Gives each item as much detail as fits into `room`: first a line of counts to each, then more detail to one after the other, the heaviest
 * first. Takes time in proportion to the room, and to the text of the largest detail.
 */
function fitAll<Item extends Fittable>(items: readonly Item[], room: number): Fitted<Item> {
  const chosen = new Map<Item, Rendering>();
  const order = items.map((item, index) => ({ item, index }));
  order.sort((a, b) => b.item.weight - a.item.weight || a.index - b.index);
  let used = 0;
  for (const level of LEVELS) {
    let wasted = 0;
    for (const { item } of order) {
      const present = chosen.get(item);
      if (present === undefined && level !== LEVELS[0]) continue;
      const wanted = item.render(level);
      const cost = wanted.text.length - (present?.text.length ?? -BLOCK_SEPARATOR.length);
      if (used + cost > room) {
        wasted += wanted.text.length;
        if (wasted > MAX_WASTED_CHARACTERS) break;
        continue;
      }
      used += cost;
      chosen.set(item, wanted);
    }
  }
  return { shown: chosen, left: items.filter((item) => !chosen.has(item)) };
}

/** As many entries of a list as fit into `room`, in order; a large one does not keep out the small ones after it. */
function fitList(entries: readonly (readonly string[])[], room: number): { shown: string[][]; left: number } {
  const shown: string[][] = [];
  let used = 0;
  for (const entry of entries) {
    const cost = entry.reduce((sum, line) => sum + line.length + 1, fenceCost(entry));
    if (used + cost > room) continue;
    used += cost;
    shown.push([...entry]);
  }
  return { shown, left: entries.length - shown.length };
}

// One network, zone or image in markdown, in as much detail as there is room for.

/** Columns of a line in a code block: about what a comment shows without scrolling. */
export const CODE_COLUMNS = 120;

/** At most this many deleted objects have a line each if not all of them can. */
const MAX_SHOWN_LOSSES = 200;

/**
 * How much is shown of a network, zone or image, from least to most.
 * - `counts`: numbers only.
 * - `losses`: a line for each object that is deleted, replaced or blocked, or answers otherwise as a whole, and the short fields of a network,
 *   zone or image that is; the rest as numbers.
 * - `names`: also the names of those that are alike.
 * - `existing`: also a line for each other change of what is there; what is made as numbers.
 * - `lines`: a line for each change; other fields by name, or by their number.
 * - `fields`: also the fields of the network, zone or image itself that have short values.
 * - `full`: everything.
 */
const LEVELS = ["counts", "losses", "names", "existing", "lines", "fields", "full"] as const;
type Level = (typeof LEVELS)[number];

function isAtLeast(level: Level, least: Level): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

interface Rendering {
  readonly text: string;
  /** Changes that are shown as numbers only. */
  readonly counted: number;
  /** A value, a field or a note of a change that has a line is not shown, or is cut; or so is a name of several that are alike. */
  readonly isCut: boolean;
}

interface UnitFrame {
  /** What is shown. */
  readonly group: GroupView;
  /** What it is shown for: the group itself, or all that are alike. */
  readonly all: readonly GroupView[];
  readonly head: string;
  /** Whether `ZONE_NAME` stands in a value. */
  readonly isTemplate?: boolean;
  /** The domain that it is a clone of, with exactly the same records; null if it is none. */
  readonly source: Address | null;
  readonly tense: Tense;
  readonly isOpen: boolean;
}

/**
 * The signs that GitHub colours: `+` green, `-` red, `!` orange; `#` is grey, for a change that will not be made. A replacement is red, as
 * it deletes first.
 */
const DIFF_SIGNS: Readonly<Record<Mark, string>> = {
  create: "+",
  update: "!",
  delete: "-",
  replace: "-/+",
  none: " ",
};
const BLOCKED_SIGN = "#";
const VALUE_INDENT = "      ";

function isLoss(view: ChangeView): boolean {
  return view.mark === "delete" || view.mark === "replace" || view.change.blocked !== null || isTakenAway(view);
}

/** Whether the update changes a field by which the whole zone answers differently, or not at all. */
function isTakenAway({ mark, kind: { servingFields = [] }, fields }: ChangeView): boolean {
  return mark === "update" && fields.some(({ name }) => servingFields.includes(name));
}

function hasLine(view: ChangeView, level: Level): boolean {
  if (level === "counts") return false;
  return isAtLeast(level, "lines") || isLoss(view) || (isAtLeast(level, "existing") && view.mark !== "create");
}

function viewsOf({ own, children }: GroupView): ChangeView[] {
  return own === null ? [...children] : [own, ...children];
}

function renderUnit(frame: UnitFrame, level: Level): Rendering {
  const { group, all, head, tense, isOpen } = frame;
  const views = viewsOf(group);
  const counts = countsText(all.flatMap(viewsOf), tense);
  const shown = views.filter((view) => hasLine(view, level));
  const isPlain = shown.length === 0 && (all.length === 1 || !isAtLeast(level, "names"));
  if (isPlain) return { text: `- ${codeSpan(head)}: ${counts}`, counted: views.length * all.length, isCut: false };
  const { lines, isCut } = unitLines(frame, shown, level);
  const members = memberLines(frame, level);
  const missing = views.length - shown.length;
  if (missing > 0)
    lines.push(
      `  and ${tallyText(
        views.filter((view) => !hasLine(view, level)),
        tense,
      )}${all.length > 1 ? " each" : ""}, not shown here`,
    );
  return {
    text: fold(`${htmlCode(head)}: ${counts}`, codeBlock([...lines, ...members.lines], "diff"), isOpen),
    counted: missing * all.length,
    isCut: isCut || members.isCut,
  };
}

/** If there is not room for everything, the names of those that are alike take no more: about half of a comment. */
const MAX_NAMES_CHARACTERS = 30_000;

/** Which networks, zones or images are alike, and how many of them are not named. */
function memberLines({ all, isTemplate }: UnitFrame, level: Level): Lines {
  if (all.length === 1) return { lines: [], isCut: false };
  const names: string[] = [];
  let room = level === "full" ? Number.POSITIVE_INFINITY : isAtLeast(level, "names") ? MAX_NAMES_CHARACTERS : 0;
  for (const { root } of all) {
    const name = shownName(root);
    room -= name.length;
    if (room < 0) break;
    names.push(name);
  }
  const left = all.length - names.length;
  const lines = [
    ...(isTemplate === true ? [`  ${ZONE_NAME} is the name of each`] : []),
    ...wrapItems(names, CODE_COLUMNS, HANGING_COLUMNS),
    ...(left > 0 ? [`  ${count(left, "name is", "names are")} not shown here`] : []),
  ];
  return { lines, isCut: left > 0 };
}

/**
 * Many objects that are only deleted, for one reason, which is stated once. If there is little room, only the first of them have a line.
 */
function renderGoing(groups: readonly GroupView[], tense: Tense, level: Level, isOpen: boolean): Rendering {
  const views = groups.flatMap(viewsOf);
  const own = groups[0]?.own;
  const head = headlineOfMany(groups) + (own == null ? "" : labelText(own));
  const counts = countsText(views, tense);
  if (level === "counts") return { text: `- ${codeSpan(head)}: ${counts}`, counted: views.length, isCut: false };
  const shown = level === "losses" ? groups.slice(0, MAX_SHOWN_LOSSES) : groups;
  const parts = shown.map((group) => {
    const children = childrenLines(group.children, level);
    return { lines: [`${DIFF_SIGNS.delete} ${headline(group)}`, ...children.lines], isCut: children.isCut };
  });
  const { lines, isCut } = joinLines(parts);
  const counted = views.length - shown.flatMap(viewsOf).length;
  if (counted > 0) lines.push(`  and ${tallyText(groups.slice(shown.length).flatMap(viewsOf), tense)}, not shown here`);
  return { text: fold(`${htmlCode(head)}: ${counts}`, codeBlock(lines, "diff"), isOpen), counted, isCut };
}

/** `84 changed`, or `3 changes: 2 to add, 1 to change`. */
function countsText(views: readonly ChangeView[], tense: Tense): string {
  const tally = tallyText(views, tense);
  return tally.startsWith(`${views.length} `) && !tally.includes(",")
    ? tally
    : `${count(views.length, "change", "changes")}: ${tally}`;
}

interface Lines {
  readonly lines: string[];
  readonly isCut: boolean;
}

function joinLines(parts: readonly Lines[]): Lines {
  return { lines: parts.flatMap(({ lines }) => lines), isCut: parts.some(({ isCut }) => isCut) };
}

function unitLines({ group, head, source }: UnitFrame, views: readonly ChangeView[], level: Level): Lines {
  const children = views.filter((view) => view !== group.own);
  const own = group.own !== null && views.includes(group.own) ? [ownLines(head, group.own, level)] : [];
  if (source !== null && children.length > 0) {
    const alike = `+   ${count(children.length, "record", "records")} as in ${escapeText(source.replace("/", " "))}`;
    return joinLines([...own, { lines: [alike], isCut: false }]);
  }
  return joinLines([...own, childrenLines(children, level)]);
}

function childrenLines(children: readonly ChangeView[], level: Level): Lines {
  const table = tableOf(children);
  return joinLines(children.map((child) => childLines(child, table, level === "full")));
}

/** If there is not room for everything, a field of up to this many characters is short. */
const MAX_SHORT_FIELD_CHARACTERS = 200;

function isShortField({ change }: ChangeView, { name }: FieldDiff): boolean {
  const texts = [change.before?.[name], change.after?.[name]].map((value) => JSON.stringify(value ?? null));
  return texts.every((text) => text.length <= MAX_SHORT_FIELD_CHARACTERS);
}

function ownLines(head: string, own: ChangeView, level: Level): Lines {
  const isFull = level === "full";
  const fields = own.fields.filter(({ name }) => !isInHeadline(own, name));
  const shown =
    !isAtLeast(level, "fields") && !isLoss(own) ? [] : fields.filter((field) => isFull || isShortField(own, field));
  const hidden = fields.filter((field) => !shown.includes(field)).map(({ name }) => name);
  const note = noteLines(own, isFull);
  return {
    lines: [
      `${signOf(own)} ${head}${labelText(own)}${hiddenHint(own, hidden, false, isFull)}`,
      ...valueLines(own, fieldLines(own, shown, CODE_COLUMNS - VALUE_INDENT.length)),
      ...note.lines,
    ],
    isCut: hidden.length > 0 || note.isCut,
  };
}

function childLines(view: ChangeView, table: Table, isFull: boolean): Lines {
  const labels = labelText(view);
  const sign = signOf(view);
  const columns = CODE_COLUMNS - sign.length - 1 - labels.length;
  const room = { lineColumns: columns, belowColumns: CODE_COLUMNS - VALUE_INDENT.length, oneLine: !isFull };
  const line = isRow(view)
    ? childLine(view, table, room)
    : { text: escapeText(view.change.address), below: [], cut: false };
  const rest = isRow(view) ? view.fields.filter(({ name }) => isBeyondLine(view, name)) : view.fields;
  const fields = isFull ? fieldLines(view, rest, room.belowColumns) : [];
  const hidden = isFull ? [] : rest.map(({ name }) => name);
  const note = noteLines(view, isFull);
  return {
    lines: [
      `${sign} ${line.text}${labels}${hiddenHint(view, hidden, line.cut, isFull)}`,
      ...valueLines(view, [...line.below, ...fields]),
      ...note.lines,
    ],
    isCut: hidden.length > 0 || (line.cut && !isFull) || note.isCut,
  };
}

function signOf({ mark, change }: ChangeView): string {
  return change.blocked === null ? DIFF_SIGNS[mark] : `${BLOCKED_SIGN} ${DIFF_SIGNS[mark]}`;
}

/** Up to this many hidden fields are named in the line. */
const MAX_NAMED_FIELDS = 4;

function hiddenHint({ change }: ChangeView, fields: readonly string[], isCut: boolean, isFull: boolean): string {
  if (isFull) return "";
  const parts = [
    ...(isCut ? ["part of the value"] : []),
    ...(fields.length <= MAX_NAMED_FIELDS ? fields : [count(fields.length, "field", "fields")]),
    ...(change.note === null ? [] : ["a note"]),
    ...Object.keys(change.annotations ?? {}),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(" and ")} not shown)`;
}

/** Moves a line's sign to the front, where GitHub colours it. Only for an update: in other changes a leading sign is part of a value. */
function valueLines({ change }: ChangeView, lines: readonly string[]): string[] {
  const isUpdate = change.before !== null && change.after !== null && change.blocked === null;
  return lines.map((line) => {
    const signed = isUpdate ? /^( *)([-+]) (.*)$/.exec(line) : null;
    if (signed === null) return `${VALUE_INDENT}${line}`;
    return `${signed[2] ?? ""}${VALUE_INDENT}${signed[1] ?? ""}${signed[3] ?? ""}`;
  });
}

/** A longer note would take the room of the change itself. */
const MAX_NOTE_CHARACTERS = 1_000;

/** Only what the entry says for people: another section shows why a change is blocked. */
function noteLines({ change }: ChangeView, isFull: boolean): Lines {
  const { note, annotations } = change;
  if (!isFull) return { lines: [], isCut: note !== null || annotations !== undefined };
  const said = annotations === undefined ? [] : [`${VALUE_INDENT}${escapeText(annotationText(annotations))}`];
  if (note === null) return { lines: said, isCut: false };
  const isCut = note.length > MAX_NOTE_CHARACTERS;
  const text = isCut
    ? `${escapeText(note.slice(0, MAX_NOTE_CHARACTERS))}… (${note.length} characters)`
    : escapeText(note);
  return { lines: [`${VALUE_INDENT}note: ${text}`, ...said], isCut };
}
