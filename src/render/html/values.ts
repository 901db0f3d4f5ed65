/** Values in a page: whole, and where one becomes another, with the part that differs marked. */

import type { Json } from "../../model/resource.ts";
import { type BeforeAfter, beforeAfterOf, valueText } from "../change-lines.ts";
import type { ChangeView, FieldDiff } from "../view.ts";
import { type Html, html, NOTHING } from "./markup.ts";

/** A longer value gets a box that scrolls, so that it does not push all else out of sight. */
const MAX_INLINE_CHARACTERS = 400;

/** What differs within a word of so many characters marks the word. */
const MAX_WORD_CHARACTERS = 12;

/** @param text escaped */
export function valueHtml(text: string): Html {
  return html`<span class="${classOf("value", text)}"${focusable(text)}>${text}</span>`;
}

/** One value, or the earlier struck out and the later after it. The texts are escaped. */
export function diffHtml([before, after]: BeforeAfter<string>): Html {
  if (before === undefined || after === undefined) {
    const text = after ?? before;
    return text === undefined || text === "" ? NOTHING : valueHtml(text);
  }
  const { start, end } = sharedEnds(before, after);
  return html`<del class="${classOf("value", before)}"${focusable(before)}>${marked(before, start, end)}</del> <span class="arrow">→</span> <ins class="${classOf("value", after)}"${focusable(after)}>${marked(after, start, end)}</ins>`;
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
  const start = sharedStart(before, after);
  const end = sharedStart(reversed(before.slice(start)), reversed(after.slice(start)));
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
  return isSurrogate(one[shared - 1]) ? shared - 1 : shared;
}

/** By UTF-16 code units, of which only their number and equality matter here. */
function reversed(text: string): string {
  return text.split("").reverse().join("");
}

function isInWord(unit: string | undefined): boolean {
  return unit !== undefined && /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(unit);
}

function isSurrogate(unit: string | undefined): boolean {
  return unit !== undefined && /\p{Cs}/u.test(unit);
}

// Fields below a heading or a line.

export function fieldsHtml(view: ChangeView, fields: readonly FieldDiff[]): Html {
  if (fields.length === 0) return NOTHING;
  return html`<dl class="fields">${fields.map((field) => fieldHtml(field, view))}</dl>`;
}

function fieldHtml(field: FieldDiff, view: ChangeView): Html {
  const forces = field.forcesReplacement && html` <span class="label">forces replacement</span>`;
  return html`<div><dt>${field.name}</dt><dd>${changedValue(beforeAfterOf(field, view))}${forces}</dd></div>`;
}

/** Of two lists what goes and what comes; of other values both. */
export function changedValue({ before, after }: { before: Json | undefined; after: Json | undefined }): Html {
  if (!Array.isArray(before) || !Array.isArray(after)) {
    const textOf = (value: Json | undefined): string | undefined =>
      value === undefined ? undefined : valueText(value);
    return diffHtml([textOf(before), textOf(after)]);
  }
  const [had, has] = [new Set(before.map(valueText)), new Set(after.map(valueText))];
  const gone = [...had].filter((item) => !has.has(item));
  const come = [...has].filter((item) => !had.has(item));
  // The same items in another order, or another number of times.
  if (gone.length + come.length === 0) return diffHtml([valueText(before), valueText(after)]);
  const stay = before.length - gone.length;
  return html`<ul class="items">${gone.map((item) => html`<li><del class="value">${item}</del></li>`)}${come.map((item) => html`<li><ins class="value">${item}</ins></li>`)}${stay > 0 && html`<li class="muted">${stay} more as before</li>`}</ul>`;
}
