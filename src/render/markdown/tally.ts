/** Changes as counts, for a plan and for a report. */

import { type Summary, summarise } from "../../model/plan.ts";
import type { Kind } from "../../model/resource.ts";
import { count } from "../wording.ts";
import type { ChangeView } from "../view.ts";
import { KIND_WORDS } from "../wording.ts";

/** `ahead`: what is to be done. `done`: what was. */
export type Tense = "ahead" | "done";

const WORDS: Readonly<Record<Tense, Readonly<Record<"add" | "change" | "destroy", string>>>> = {
  ahead: { add: "to add", change: "to change", destroy: "to destroy" },
  done: { add: "added", change: "changed", destroy: "destroyed" },
};

/** `2 to add, 1 to destroy, 1 blocked`: of what there is any. */
export function summaryText({ add, change, destroy, blocked }: Summary, tense: Tense): string {
  const words = WORDS[tense];
  const parts = [
    [add, words.add],
    [change, words.change],
    [destroy, words.destroy],
    [blocked, "blocked"],
  ] as const;
  return parts
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number} ${word}`)
    .join(", ");
}

/** All three, as the last line of the text has them. */
export function wholeSummaryText({ add, change, destroy, blocked }: Summary, tense: Tense): string {
  const words = WORDS[tense];
  const counts = `${add} ${words.add}, ${change} ${words.change}, ${destroy} ${words.destroy}.`;
  return blocked === 0 ? counts : `${counts} ${blocked} blocked.`;
}

export function tallyText(views: readonly ChangeView[], tense: Tense): string {
  return summaryText(summarise(views.map(({ change }) => change)), tense);
}

/** A line for each kind there is any of, in the order of the five kinds: `120 records: 100 to add, 20 to destroy`. */
export function tallyByKind(views: readonly ChangeView[], tense: Tense): string[] {
  const byKind = new Map<Kind, ChangeView[]>();
  for (const kind of Object.keys(KIND_WORDS) as Kind[]) byKind.set(kind, []);
  for (const view of views) byKind.get(view.change.kind)?.push(view);
  return [...byKind].flatMap(([kind, of]) =>
    of.length === 0 ? [] : [`${count(of.length, ...KIND_WORDS[kind])}: ${tallyText(of, tense)}`],
  );
}
