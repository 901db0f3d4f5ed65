/** Values in a page: whole as long as there is room, and where one becomes another, with the part that differs marked. */

import type { Json } from "../../model/resource.ts";
import { type BeforeAfter, beforeAfterOf, valueText } from "../change-lines.ts";
import type { ChangeView, FieldDiff } from "../view.ts";
import { type Html, html, NOTHING } from "./markup.ts";

/** A longer value gets a box that scrolls, so that it does not push all else out of sight. */
const MAX_INLINE_CHARACTERS = 400;

/** What differs within a word of so many characters marks the word. */
const MAX_WORD_CHARACTERS = 12;

/** Characters of all values of a page, of which markup can make six times as many. A string has at most 500 million. */
const MAX_VALUES_CHARACTERS = 8_000_000;

/** How many characters of each value a page shows that has values in so many lines. */
export function roomPerValue(lines: number): number {
  return Math.max(MAX_INLINE_CHARACTERS, Math.floor(MAX_VALUES_CHARACTERS / Math.max(lines, 1)));
}

/** @param text escaped @param room from `roomPerValue` */
export function valueHtml(text: string, room: number): Html {
  const shown = part(text, 0, room);
  return html`<span class="${classOf("value", shown)}"${focusable(shown)}>${shown}</span>${lengthText(text, room)}`;
}

/** One value, or the earlier struck out and the later after it. The texts are escaped. @param room from `roomPerValue` */
export function diffHtml([wholeBefore, wholeAfter]: BeforeAfter<string>, room: number): Html {
  if (wholeBefore === undefined || wholeAfter === undefined) {
    const text = wholeAfter ?? wholeBefore;
    return text === undefined || text === "" ? NOTHING : valueHtml(text, room);
  }
  const isLong = wholeBefore.length > room || wholeAfter.length > room;
  const from = isLong ? Math.max(sharedStart(wholeBefore, wholeAfter) - SHARED_CHARACTERS, 0) : 0;
  const [before, after] = [part(wholeBefore, from, room), part(wholeAfter, from, room)];
  const { start, end } = sharedEnds(before, after);
  return html`<del class="${classOf("value", before)}"${focusable(before)}>${marked(before, start, end)}</del>${lengthText(wholeBefore, room)} <span class="arrow">→</span> <ins class="${classOf("value", after)}"${focusable(after)}>${marked(after, start, end)}</ins>${lengthText(wholeAfter, room)}`;
}

/** Of what two long values share, so much is shown before what differs. */
const SHARED_CHARACTERS = 80;

/** What of a text has room, from a place in it on. No surrogate pair is divided. */
function part(text: string, from: number, room: number): string {
  const start = isSecondUnit(text[from]) ? from + 1 : from;
  const end = start + room - (isSecondUnit(text[start + room]) ? 1 : 0);
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}

/** Behind a text of which a part is shown. */
function lengthText(text: string, room: number): string {
  return text.length <= room ? "" : ` (${text.length.toLocaleString("en")} characters)`;
}

function classOf(name: string, { length }: string): string {
  return length > MAX_INLINE_CHARACTERS ? `${name} long` : name;
}

/** What scrolls must be reached by the keyboard, too. */
function focusable({ length }: string): Html | null {
  return length > MAX_INLINE_CHARACTERS ? html` tabindex="0"` : null;
}

/** If nothing is shared, all of it differs, and a mark would say nothing. */
function marked(text: string, start: number, end: number): Html {
  if (start + end === 0 || start + end >= text.length) return html`${text}`;
  const middle = text.slice(start, text.length - end);
  return html`${text.slice(0, start)}<mark>${middle}</mark>${text.slice(text.length - end)}`;
}

/** How many characters both begin with, and end with after those. No word is divided that is short, and no surrogate pair. */
function sharedEnds(before: string, after: string): { start: number; end: number } {
  const first = sharedStart(before, after);
  const start = isSecondUnit(before[first]) || isSecondUnit(after[first]) ? first - 1 : first;
  const last = sharedStart(reversed(before.slice(start)), reversed(after.slice(start)));
  const end = last > 0 && isSecondUnit(before[before.length - last]) ? last - 1 : last;
  return { start, end };
}

function sharedStart(one: string, other: string): number {
  const least = Math.min(one.length, other.length);
  let shared = 0;
  while (shared < least && one[shared] === other[shared]) shared += 1;
  if (!isInWord(one[shared]) && !isInWord(other[shared])) return shared;
  for (let length = shared; shared - length <= MAX_WORD_CHARACTERS; length -= 1) {
    if (length === 0 || !isInWord(one[length - 1])) return length;
  }
  return shared;
}

/** By UTF-16 code units, of which only their number and equality matter here. */
function reversed(text: string): string {
  return text.split("").reverse().join("");
}

function isInWord(unit: string | undefined): boolean {
  return unit !== undefined && /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(unit);
}

/** Of a surrogate pair. */
function isSecondUnit(unit: string | undefined): boolean {
  return unit !== undefined && /[\udc00-\udfff]/.test(unit);
}

// Fields below a heading or a line.

/** @param room from `roomPerValue` */
export function fieldsHtml(view: ChangeView, fields: readonly FieldDiff[], room: number): Html {
  if (fields.length === 0) return NOTHING;
  return html`<dl class="fields">${fields.map((field) => fieldHtml(field, view, room))}</dl>`;
}

function fieldHtml(field: FieldDiff, view: ChangeView, room: number): Html {
  const forces = field.forcesReplacement && html` <span class="label">forces replacement</span>`;
  return html`<div><dt>${field.name}</dt><dd>${changedValue(beforeAfterOf(field, view), room)}${forces}</dd></div>`;
}

/** Of two lists what goes and what comes; of other values both. */
function changedValue({ before, after }: { before: Json | undefined; after: Json | undefined }, room: number): Html {
  if (!Array.isArray(before) || !Array.isArray(after)) {
    const textOf = (value: Json | undefined): string | undefined =>
      value === undefined ? undefined : valueText(value);
    return diffHtml([textOf(before), textOf(after)], room);
  }
  const [had, has] = [new Set(before.map(valueText)), new Set(after.map(valueText))];
  const gone = [...had].filter((item) => !has.has(item));
  const come = [...has].filter((item) => !had.has(item));
  // The same items in another order, or another number of times.
  if (gone.length + come.length === 0) return diffHtml([valueText(before), valueText(after)], room);
  const stay = before.length - gone.length;
  const each = Math.max(MAX_INLINE_CHARACTERS, Math.floor(room / (gone.length + come.length)));
  return html`<ul class="items">${gone.map((item) => html`<li><del class="value">${part(item, 0, each)}</del>${lengthText(item, each)}</li>`)}${come.map((item) => html`<li><ins class="value">${part(item, 0, each)}</ins>${lengthText(item, each)}</li>`)}${stay > 0 && html`<li class="muted">${stay} more as before</li>`}</ul>`;
}
