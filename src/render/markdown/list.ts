/** A list of things that stand beside the changes: what is refused, blocked or to be known. */

import { codeBlock, fold } from "./code.ts";
import { fitList } from "./fit.ts";

/** Of what is folded if it is long. */
const MAX_OPEN_ENTRIES = 10;
/** The heading, the fences, and what is said of what is left out. */
const FRAME_CHARACTERS = 300;

/** `never`: it stops the plan. `always`: it is good to know, and hides nothing that matters more. */
export type Folding = "never" | "if-long" | "always";

export interface List {
  /** Without anything of others. */
  readonly heading: string;
  /** Each as lines, escaped. */
  readonly entries: readonly (readonly string[])[];
  readonly folding: Folding;
  /** What it may take where there is not room for all. */
  readonly shareCharacters: number;
}

/** @param room characters; Infinity: all of it. @returns null if there is nothing to list */
export function renderList({ heading, entries, folding }: List, room: number): string | null {
  if (entries.length === 0) return null;
  const { shown, left } = fitList(entries, room - FRAME_CHARACTERS);
  const isOpen = folding === "never" || (folding === "if-long" && entries.length <= MAX_OPEN_ENTRIES);
  const blocks = shown.length === 0 ? [] : [codeBlock(shown.flat(), "text")];
  if (left > 0)
    blocks.push(
      `${shown.length === 0 ? "" : "And "}${left}${shown.length === 0 ? "" : " more"}, for which there is no room here.`,
    );
  const body = blocks.join("\n\n");
  return isOpen ? `**${heading}**\n\n${body}` : fold(`<b>${heading.replace(/:$/, "")}</b> (${entries.length})`, body);
}
