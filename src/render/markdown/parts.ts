/**
 * Text from others in markdown stands only inside code, where nothing is a link, an image, HTML, a mention, a reference to an issue or a
 * commit, or a command. All of it must have been through `escapeText`, so that it is one line without anything invisible.
 */

import type { Kinds } from "../../model/kind.ts";
import { type Summary, summarise } from "../../model/plan.ts";
import { groupBy } from "../../model/text.ts";
import { type ChangeView, count } from "../view.ts";

const LEAST_FENCE_LENGTH = 3;

/** A code span (CommonMark 0.31.2, 6.1): its delimiter is longer than any run of backticks within. */
export function codeSpan(text: string): string {
  if (text === "") return '`""`';
  const delimiter = "`".repeat(longestRun(text) + 1);
  // Markdown removes one blank on each side if both are there. The blanks keep backticks apart from the delimiter.
  const blank = /^`|`$/.test(text) || isBetweenBlanks(text) ? " " : "";
  return `${delimiter}${blank}${text}${blank}${delimiter}`;
}

function isBetweenBlanks(text: string): boolean {
  return text.startsWith(" ") && text.endsWith(" ") && /[^ ]/.test(text);
}

/**
 * A fenced code block (CommonMark 0.31.2, 4.5): its fence is longer than any run of backticks within.
 * @param language an info word of ours: `diff` colours lines by their first character
 */
export function codeBlock(lines: readonly string[], language: "diff" | "text"): string {
  const fence = "`".repeat(Math.max(LEAST_FENCE_LENGTH, longestOf(lines) + 1));
  return `${fence}${language}\n${lines.join("\n")}\n${fence}`;
}

/** Code inside HTML, where markdown's own signs mean nothing. */
export function htmlCode(text: string): string {
  return `<code>${text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)}</code>`;
}

/** The body needs blank lines around it, so that it is read as markdown. */
export function fold(summary: string, body: string, isOpen: boolean = false): string {
  return `<details${isOpen ? " open" : ""}>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`;
}

/** How many characters these lines may add to the two fences. */
export function fenceCost(lines: readonly string[]): number {
  return 2 * longestOf(lines);
}

function longestOf(lines: readonly string[]): number {
  return lines.reduce((longest, line) => Math.max(longest, longestRun(line)), 0);
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/** The tags that are written here, as a whole. */
const TAGS = /<(\/?)(details|summary|b|code)( open)?>/g;
/** What markdown would act on outside of code: other tags and comments, links and images, mentions, addresses. */
const ACTIVE = /[<>[\]@]|https?:|www\./i;

/** Whether a text may be markdown of Tenon's: nothing in it has an effect beyond itself, and nothing is left open that would take in what follows. */
export function isInertMarkdown(text: string): boolean {
  let fence = "";
  let folds = 0;
  for (const line of text.split("\n")) {
    const [, run = "", word = ""] = /^ {0,3}(`{3,})([^`]*)$/.exec(line) ?? [];
    if (fence !== "") {
      if (run.length >= fence.length && word.trim() === "") fence = "";
      continue;
    }
    fence = run;
    if (run !== "") continue;
    const prose = line.replace(/<code>[^<]*<\/code>/g, "").replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, "");
    for (const [tag, end, name] of prose.matchAll(TAGS)) if (name === "details" && tag) folds += end === "" ? 1 : -1;
    if (folds < 0 || ACTIVE.test(prose.replace(TAGS, ""))) return false;
  }
  return fence === "" && folds === 0;
}

// Changes as counts, for a plan or a report.

/** `ahead`: changes to be made (`to add`). `done`: changes that were made (`added`). */
export type Tense = "ahead" | "done";

const WORDS: Readonly<Record<Tense, Readonly<Record<"add" | "change" | "destroy", string>>>> = {
  ahead: { add: "to add", change: "to change", destroy: "to destroy" },
  done: { add: "added", change: "changed", destroy: "destroyed" },
};

/** `2 to add, 1 to destroy, 1 blocked`: without the counts that are 0. */
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

/** All three counts, as in the last line of the plan's text. */
export function wholeSummaryText({ add, change, destroy, blocked }: Summary, tense: Tense): string {
  const words = WORDS[tense];
  const counts = `${add} ${words.add}, ${change} ${words.change}, ${destroy} ${words.destroy}.`;
  return blocked === 0 ? counts : `${counts} ${blocked} blocked.`;
}

export function tallyText(views: readonly ChangeView[], tense: Tense): string {
  return summaryText(summarise(views.map(({ change }) => change)), tense);
}

/** A line for each kind that has changes, in the order of the kinds: `120 records: 100 to add, 20 to destroy`. */
export function tallyByKind(views: readonly ChangeView[], kinds: Kinds, tense: Tense): string[] {
  const byKind = groupBy(views, ({ kind }) => kind);
  return kinds.all.flatMap((kind) => {
    const of = byKind.get(kind) ?? [];
    return of.length === 0 ? [] : [`${count(of.length, ...kind.words)}: ${tallyText(of, tense)}`];
  });
}
