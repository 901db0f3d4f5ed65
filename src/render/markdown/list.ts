/** A list of things that stand beside the changes: what is refused, blocked or to be known. */

import { codeBlock, fold } from "./code.ts";
import { fitList } from "./fit.ts";

/** A longer list is folded, unless it stops the plan. */
const MAX_OPEN_ENTRIES = 10;
/** The heading, the fences, and what is said of what is left out. */
const FRAME_CHARACTERS = 300;

export interface List {
  /** Without anything of others. */
  readonly heading: string;
  /** Each as lines, escaped. */
  readonly entries: readonly (readonly string[])[];
  /** It stays open however long it is. */
  readonly isUrgent: boolean;
  /** What it may take where there is not room for all. */
  readonly shareCharacters: number;
}

/** @param room characters; Infinity: all of it. @returns null if there is nothing to list */
export function renderList({ heading, entries, isUrgent }: List, room: number): string | null {
  if (entries.length === 0) return null;
  const { shown, left } = fitList(entries, room - FRAME_CHARACTERS);
  const isOpen = isUrgent || entries.length <= MAX_OPEN_ENTRIES;
  const blocks = shown.length === 0 ? [] : [codeBlock(shown.flat(), "text")];
  if (left > 0)
    blocks.push(
      `${shown.length === 0 ? "" : "And "}${left}${shown.length === 0 ? "" : " more"}, for which there is no room here.`,
    );
  const body = blocks.join("\n\n");
  return isOpen ? `**${heading}**\n\n${body}` : fold(`<b>${heading}</b> (${entries.length})`, body);
}
