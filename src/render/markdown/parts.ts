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

const REST_NOT_SHOWN = "… the rest is not shown here";

/** A text as a fenced code block of at most so many characters, some hundreds at least: its first lines, where there is not room for all. */
export function codeBlockWithin(text: string, maxCharacters: number): string {
  const empty = codeBlock([], "text").length;
  const whole = text.trimEnd();
  if (whole.length + empty <= maxCharacters) {
    const block = codeBlock(whole.split("\n"), "text");
    if (block.length <= maxCharacters) return block;
  }
  const room = maxCharacters - empty - REST_NOT_SHOWN.length;
  const lines: string[] = [];
  let [used, fence] = [0, 0];
  for (const line of headOf(whole, room).split("\n")) {
    used += line.length + 1;
    fence = Math.max(fence, fenceCost([line]));
    if (used + fence > room) break;
    lines.push(line);
  }
  if (lines.length === 0) {
    const [line = ""] = headOf(whole, room - 1).split("\n", 1);
    // Each backtick of a line may cost one more at either end.
    lines.push(line.length + 1 + fenceCost([line]) <= room ? line : headOf(line, Math.floor(room / 3) - 1));
  }
  return codeBlock([...lines, REST_NOT_SHOWN], "text");
}

function headOf(text: string, characters: number): string {
  return text.slice(0, Math.max(characters, 0)).replace(/[\ud800-\udbff]$/, "");
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

/** A line of text outside of code, with its code spans taken out: words, and the signs that are written here. */
const PROSE = /^(?!\/)(?!.*(?:[#!%]\d|\/\/|www\.))[\w .,:;()'"…→+*#=?!–—/-]*$/i;
/** GitHub looks for mentions and links in the text of a heading, too, but not in its code. */
const HEADING = /^<summary>(?:<b>[\w .,:;()'"…→+–—-]*<\/b>|<code>[^<]*<\/code>|[\w .,:;()'"…→+–—-])*<\/summary>$/;

/**
 * Whether a text is markdown in the forms that are written here: fences at the start of a line, folds whose lines stand alone, and prose in
 * which nothing but a code span has an effect. Whatever else markdown may know is not accepted, so that it need not be known.
 */
export function isInertMarkdown(text: string): boolean {
  const lines = text.split("\n");
  let fence = "";
  let folds = 0;
  for (const [index, line] of lines.entries()) {
    const isLast = (lines[index + 1] ?? "") === "";
    if (fence !== "") {
      if (line === fence) fence = "";
      // A shorter line of a list or a quote closes no fence; a longer one of blanks and backticks does.
      else if (/^ {0,3}`{3,}\s*$/.test(line) && line.trim().length >= fence.length) return false;
    } else if (/^`{3,}(?:diff|text)$/.test(line)) fence = line.replace(/\w+$/, "");
    else if (/^<details(?: open)?>$/.test(line)) {
      folds += 1;
      if (!HEADING.test(lines[index + 1] ?? "")) return false;
    } else if (line === "</details>") {
      folds -= 1;
      if (folds < 0 || !isLast) return false;
    } else if (HEADING.test(line)) {
      if (!isLast || !/^<details(?: open)?>$/.test(lines[index - 1] ?? "")) return false;
    } else if (!PROSE.test(withoutSpans(line)) || mayDelimitTable(line)) return false;
  }
  return fence === "" && folds === 0;
}

/**
 * Whether a line could be the one below the head of a table (GFM 0.29, 4.10), be it in a list: a table needs no other sign, and divides its
 * lines at each `|`, also within a code span, whose end is text then.
 */
function mayDelimitTable(line: string): boolean {
  return /^[\s|:+*-]+$/.test(line) && line.includes("-");
}

function withoutSpans(line: string): string {
  return line.replace(/(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)/g, "");
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
