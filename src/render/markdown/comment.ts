/** Composes a whole comment: lists and changes share its room, and room that one part does not need goes to the others. */

import type { Change } from "../../model/change.ts";
import { entriesOf, type FoldContext } from "../folding.ts";
import { count, groupsOf } from "../view.ts";
import { codeBlock, fenceCost, fold, type Tense, tallyByKind, tallyText } from "./parts.ts";
import { BLOCK_SEPARATOR, GRAVITIES, NEW, type Rendering, type Unit, unitOf, viewsOf } from "./unit.ts";

interface Comment {
  /** UTF-16 code units. */
  readonly maxCharacters: number;
  /** Blocks that are known to be small. */
  readonly head: readonly string[];
  readonly before: readonly List[];
  readonly sections: readonly Section[];
  readonly frame: ChangesFrame;
  readonly after: readonly List[];
  readonly foot: readonly string[];
  /** Whether the lists before the changes say what is graver than any change: all but a quarter of the room is theirs first. */
  readonly listsFirst?: true;
}

/** Newline-terminated. Longer than asked for only where that is too little for the headings and counts of all lists. */
export function composeWithin(comment: Comment): string {
  const whole = compose(comment, Number.POSITIVE_INFINITY);
  if (whole !== null && whole.length <= comment.maxCharacters) return whole;
  return compose(comment, comment.maxCharacters) ?? "";
}

/** @param room Infinity: everything is shown. @returns null if everything is known to take more than `maxCharacters` */
function compose(comment: Comment, room: number): string | null {
  const { maxCharacters, head, before, sections, frame, after, foot, listsFirst = false } = comment;
  const isBounded = room !== Number.POSITIVE_INFINITY;
  const lists = [...before, ...after];
  // A list states its share of a comment of the usual size.
  const part = maxCharacters / MAX_BODY_CHARACTERS;
  const texts = lists.map((list) => renderList(list, isBounded ? Math.floor(list.shareCharacters * part) : room));
  // One line break more ends the text.
  const fixed = lengthOf([...head, ...foot]) + 1;
  if (isBounded && listsFirst) growLists(before, texts, (room - fixed - lengthOf(present(texts))) * LISTS_PART);
  const taken = fixed + lengthOf(present(texts));
  const changes = renderChanges(sections, frame, room - taken, maxCharacters);
  if (changes === null) return null;
  if (isBounded) growLists(lists, texts, room - taken - lengthOf(changes));
  const [lead, tail] = [texts.slice(0, before.length), texts.slice(before.length)];
  return `${[...head, ...present(lead), ...changes, ...present(tail), ...foot].join(BLOCK_SEPARATOR)}\n`;
}

/** Of the room that is left, where lists come first. */
const LISTS_PART = 0.75;

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
  /** Of equally grave changes, those of heavier sections come first if there is not room for all. */
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

interface Item {
  readonly section: Section;
  readonly unit: Unit;
}

/**
 * @param room characters; Infinity: everything is shown
 * @returns blocks of markdown; null if everything does not fit into `maxCharacters`
 */
function renderChanges(
  sections: readonly Section[],
  frame: ChangesFrame,
  room: number,
  maxCharacters: number,
): string[] | null {
  const items = sections.flatMap((section) => itemsOf(section, frame));
  const shown =
    room === Number.POSITIVE_INFINITY
      ? showAll(items, maxCharacters)
      : new Fitting(items, room - CHANGES_FRAME_CHARACTERS).fit();
  if (shown === null) return null;
  const left = items.filter((item) => !shown.has(item));
  const blocks = sections.flatMap((section) => {
    const texts = items.filter((item) => item.section === section).flatMap((item) => shown.get(item)?.text ?? []);
    const rest = left.filter((item) => item.section === section);
    if (texts.length + rest.length === 0) return [];
    return [...headingOf(section, frame), ...joined(texts), ...restBlocks(rest, frame)];
  });
  const counted = [...shown.values()].reduce((sum, rendering) => sum + rendering.counted, 0);
  const uncounted = left.reduce((sum, { unit }) => sum + unit.changeCount, 0);
  const isCut = [...shown.values()].some((rendering) => rendering.isCut);
  return [...blocks, ...missingBlock(counted + uncounted, isCut, frame, maxCharacters)];
}

function itemsOf(section: Section, { fold: context, tense }: ChangesFrame): Item[] {
  // The section's heading shows the origin of its changes.
  const own = section.changes.map((change) => ({ ...change, origin: null }));
  const entries = entriesOf(groupsOf(own, context.kinds), context);
  const isOpen = section.isOpen === true && entries.length <= MAX_OPEN_UNITS;
  return entries.map((entry) => ({ section, unit: unitOf(entry, context, tense, isOpen) }));
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

function restBlocks(rest: readonly Item[], { fold: { kinds }, tense }: ChangesFrame): string[] {
  if (rest.length === 0) return [];
  const views = rest.flatMap(({ unit }) => unit.groups.flatMap(viewsOf));
  const tallies = tallyByKind(views, kinds, tense);
  const number = rest.reduce((sum, { unit }) => sum + unit.groups.length, 0);
  const units = count(number, "further network, zone or image", "further networks, zones and images");
  return [[`${units}:`, "", ...tallies.map((line) => `- ${line}`)].join("\n")];
}

function missingBlock(counted: number, isCut: boolean, { whole }: ChangesFrame, maxCharacters: number): string[] {
  if (counted === 0 && !isCut) return [];
  const are = count(counted, "change is", "changes are");
  const what = counted === 0 ? "Not everything is shown" : `${are} shown as numbers only`;
  const most =
    maxCharacters === MAX_BODY_CHARACTERS
      ? `a comment holds no more than ${MAX_MARKDOWN_CHARACTERS} characters`
      : `there is room for ${maxCharacters} characters here`;
  return [`**${what}**, as ${most}. ${whole}`];
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

// What fits. Anything without room is counted, never left out silently.

/**
 * GitHub accepts at most this many characters in a comment, and up to four bytes for each. UTF-16 code units are counted here: there are at
 * least as many of them as characters, and each takes at most three bytes in UTF-8.
 */
const MAX_MARKDOWN_CHARACTERS = 65_536;
/** Room for what a pipeline adds: a hidden line by which it finds its comment again, and a link to the run. */
const MARKER_ROOM_CHARACTERS = 500;
/** UTF-16 code units that a rendering may take. */
export const MAX_BODY_CHARACTERS: number = MAX_MARKDOWN_CHARACTERS - MARKER_ROOM_CHARACTERS;

/** Renders every unit in full; null as soon as the text is too long, without rendering the rest. */
function showAll(items: readonly Item[], maxCharacters: number): Map<Item, Rendering> | null {
  const shown = new Map<Item, Rendering>();
  let left = maxCharacters;
  for (const item of items) {
    const whole = item.unit.renderFull(left);
    if (whole === null) return null;
    left -= whole.text.length;
    shown.set(item, whole);
  }
  return shown;
}

/** Lines of numbers take no more than this part of the room before what is there has its lines. */
const COUNTS_PART = 0.5;
/** A longer line of numbers, which a long name makes, comes after the lines of what is there. */
const MAX_COUNTS_CHARACTERS = 1_000;
/** Shared among very many, the room would be enough for none of them. */
const LEAST_SHARE_CHARACTERS = 1_000;
/** Characters that may be rendered in vain in search of what there is room for in full: beyond this, no further unit is tried. */
const MAX_WASTED_CHARACTERS: number = 4 * MAX_MARKDOWN_CHARACTERS;

/**
 * Gives the room to the units: a line of numbers to each, then lines to the gravest changes of all of them, and so on to what is new; what is
 * left then, to fields and long values. Of equally grave changes those of heavier sections come first, and within a section each unit has an
 * equal share, of which it leaves to the others what it does not need. Takes time in proportion to the room, and to the number of changes.
 */
class Fitting {
  readonly #items: readonly Item[];
  /** The heaviest section first, then the gravest. */
  readonly #order: readonly Item[];
  /** The same by section. */
  readonly #bySection: readonly (readonly Item[])[];
  #left: number;

  constructor(items: readonly Item[], room: number) {
    this.#items = items;
    this.#left = room;
    this.#order = items.toSorted((a, b) => b.section.weight - a.section.weight || a.unit.gravity - b.unit.gravity);
    const sections = [...new Set(this.#order.map(({ section }) => section))];
    this.#bySection = sections.map((section) => this.#order.filter((item) => item.section === section));
  }

  /** What is shown of each unit; those without room even for a line of numbers are missing. */
  fit(): Map<Item, Rendering> {
    this.#count(this.#left * COUNTS_PART, MAX_COUNTS_CHARACTERS);
    for (const gravity of GRAVITIES) {
      // What is new has a line only where all units are counted.
      if (gravity === NEW) this.#count(this.#left, Number.POSITIVE_INFINITY);
      for (const items of this.#bySection) this.#share(items, gravity);
    }
    // What was held for each unit and is not needed is room for some lines more.
    for (const { unit } of this.#items) this.#left += unit.tighten();
    for (const gravity of GRAVITIES) for (const items of this.#bySection) this.#share(items, gravity);
    const shown = this.#settle();
    this.#raise(
      shown,
      ({ unit }) => unit.hasFields,
      ({ unit }, room) => unit.renderWithFields(room),
    );
    this.#raise(
      shown,
      ({ unit }) => unit.isListed,
      ({ unit }, room) => unit.renderFull(room),
    );
    return shown;
  }

  /** A line of numbers to each, as long as these take no more than `room` together. */
  #count(room: number, maxCharacters: number): void {
    let left = room;
    for (const { unit } of this.#order) {
      const used = unit.count(Math.min(left, maxCharacters));
      left -= used;
      this.#left -= used;
    }
  }

  /** Lines to the changes of a gravity, and then names to those that are alike and have no graver change. */
  #share(items: readonly Item[], gravity: number): void {
    const concerned = items.filter(({ unit }) => unit.waiting(gravity) > 0);
    // What needs little has it first, so that the others share what that leaves.
    concerned.sort((a, b) => a.unit.waiting(gravity) - b.unit.waiting(gravity));
    this.#divide(concerned, ({ unit }, room) => unit.grow(gravity, room));
    const alike = items.filter(({ unit }) => unit.gravity === gravity && unit.groups.length > 1);
    this.#divide(alike, ({ unit }, room) => unit.growNames(room));
  }

  #divide(items: readonly Item[], give: (item: Item, room: number) => number): void {
    for (const [index, item] of items.entries()) {
      const share = Math.max(this.#left / (items.length - index), LEAST_SHARE_CHARACTERS);
      this.#left -= give(item, Math.min(share, this.#left));
    }
    // What is left, as shares were too small for a line, or others did not need theirs.
    for (const item of items) this.#left -= give(item, this.#left);
  }

  #settle(): Map<Item, Rendering> {
    const shown = new Map<Item, Rendering>();
    for (const item of this.#items) {
      if (item.unit.isAbsent) continue;
      const rendering = item.unit.render();
      this.#left += item.unit.characters - rendering.text.length - BLOCK_SEPARATOR.length;
      shown.set(item, rendering);
    }
    return shown;
  }

  #raise(
    shown: Map<Item, Rendering>,
    canBe: (item: Item) => boolean,
    render: (item: Item, room: number) => Rendering | null,
  ): void {
    let wasted = 0;
    for (const item of this.#order) {
      const present = shown.get(item);
      if (present?.isCut !== true || !canBe(item)) continue;
      if (wasted > MAX_WASTED_CHARACTERS) break;
      const room = this.#left + present.text.length;
      const wanted = render(item, room);
      if (wanted === null) wasted += room;
      else {
        this.#left = room - wanted.text.length;
        shown.set(item, wanted);
      }
    }
  }
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
