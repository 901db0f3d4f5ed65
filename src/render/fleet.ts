/** What came of a command for a fleet, as text, markdown and JSON: a line for each account, equal ones as one, and the details below. */

import { type AccountResult, type FleetReport, type NotRunReason, SHORTER_CHARACTERS } from "../model/fleet.ts";
import { mapKey } from "../model/map-key.ts";
import { compareNatural, groupBy, jsonText } from "../model/text.ts";
import { codeBlock, codeBlockWithin, codeSpan, fold, htmlCode, isInertMarkdown } from "./markdown/parts.ts";
import { columnsOf, escapeText, hang, padded, usableWidth, wrap } from "./terminal.ts";
import { count } from "./view.ts";

/** So many accounts with the same result have a line each; more are one line. */
export const MAX_LINES_ALIKE = 3;
/** Of accounts that are one line so many are named: the first ones, and the last. */
const MAX_NAMES_SHOWN = 8;

const NOT_RUN: Readonly<Record<NotRunReason, string>> = {
  canary: "not run: the canary did not do well",
  failures: "not run: too many accounts failed",
  guard: "not run: a guard refused another account",
  interrupted: "not run: interrupted",
};

export function headlineOf({ outcome }: AccountResult): string {
  return outcome.type === "ran" ? outcome.headline : NOT_RUN[outcome.reason];
}

/** Accounts with the same result, in natural order. */
interface Alike {
  readonly names: readonly string[];
  readonly headline: string;
}

/** In natural order of the first names. */
function folded(accounts: readonly AccountResult[], full: boolean): Alike[] {
  const sorted = accounts.toSorted((a, b) => compareNatural(a.name, b.name));
  const rows = [...groupBy(sorted, headlineOf)].flatMap(([headline, group]): Alike[] => {
    const names = group.map(({ name }) => name);
    const isFolded = !full && names.length > MAX_LINES_ALIKE;
    return isFolded ? [{ names, headline }] : names.map((name) => ({ names: [name], headline }));
  });
  return rows.sort((a, b) => compareNatural(a.names[0] ?? "", b.names[0] ?? ""));
}

function namesOf(names: readonly string[], full: boolean): string {
  if (full || names.length <= MAX_NAMES_SHOWN) return names.join(", ");
  return `${names.slice(0, MAX_NAMES_SHOWN - 1).join(", ")}, … ${names.at(-1)}`;
}

interface FleetTextOptions {
  readonly width: number;
  /** Whether each account has a line, however many are alike. */
  readonly full?: boolean;
}

/** As parts, since what the accounts printed may be long. Newline-terminated. The last line counts the accounts. */
export function* renderFleetTextParts(
  report: FleetReport,
  { width, full = false }: FleetTextOptions,
): Generator<string> {
  for (const { names, text } of detailsOf(report)) {
    yield `${wrap(`== ${namesOf(names, full)}`, usableWidth(width), 0).join("\n")}\n\n`;
    yield text.trimEnd();
    yield "\n\n";
  }
  const rows = folded(report.accounts, full);
  const subjects = rows.map(({ names }) => (names.length === 1 ? (names[0] ?? "") : `${names.length} accounts`));
  const column = subjects.reduce((most, subject) => Math.max(most, columnsOf(subject)), 0);
  const lines = rows.map(({ names, headline }, index) => {
    const list = names.length === 1 ? "" : `: ${namesOf(names, full)}`;
    const lead = padded(subjects[index] ?? "", column + 2);
    return `${hang(lead, `${escapeText(headline)}${list}`, usableWidth(width)).join("\n")}\n`;
  });
  yield `${lines.join("")}\n${fleetTally(report)}\n`;
}

/** Of accounts that printed the same, one. */
interface Detail {
  readonly names: readonly string[];
  readonly text: string;
  /** Shorter forms of the text, the longest first. */
  readonly shorter: readonly string[];
  readonly markup: "plain" | "markdown";
}

/** Nothing of accounts for which there is nothing to say beyond their line. */
function detailsOf({ accounts }: FleetReport): Detail[] {
  const saying = accounts.flatMap(({ name, outcome }) =>
    outcome.type === "ran" && outcome.text !== "" ? [{ name, ...outcome }] : [],
  );
  const sorted = saying.toSorted((a, b) => compareNatural(a.name, b.name));
  // A forged report with the text of another account must not bring its own shorter forms.
  const same = groupBy(sorted, ({ text, shorter = [] }) =>
    mapKey(shorter.length === 0 ? text : [text, ...shorter].join("\0")),
  );
  return [...same.values()].map((group) => {
    const isMarkdown = group.every(({ markup }) => markup === "markdown");
    const { text = "", shorter = [] } = group[0] ?? {};
    return { names: group.map(({ name }) => name), text, shorter, markup: isMarkdown ? "markdown" : "plain" };
  });
}

/** What it printed. */
export function textOf({ outcome }: AccountResult): string {
  return outcome.type === "ran" ? outcome.text : "";
}

/** `Fleet: 60 accounts: 57 done, 2 failed, 1 not run.` */
export function fleetTally({ accounts }: FleetReport): string {
  const counts = Object.entries(countOutcomes(accounts)).filter(([, number]) => number > 0);
  const words = counts.map(([name, number]) => `${number} ${name.replaceAll("_", " ")}`).join(", ");
  return `Fleet: ${count(accounts.length, "account", "accounts")}: ${words}.`;
}

/** What an account counts as. */
export type FleetState = "done" | "pending" | "refused" | "failed" | "interrupted" | "not_run";

/** By exit code; any other one is a failure. */
const COUNTED: Readonly<Record<number, FleetState>> = {
  0: "done",
  2: "pending",
  4: "refused",
  5: "refused",
  ...{ 129: "interrupted", 130: "interrupted", 143: "interrupted" },
};

export function stateOf({ outcome }: AccountResult): FleetState {
  return outcome.type === "not-run" ? "not_run" : (COUNTED[outcome.code] ?? "failed");
}

function countOutcomes(accounts: readonly AccountResult[]) {
  const counts: Record<FleetState, number> = {
    ...{ done: 0, pending: 0, refused: 0, failed: 0, interrupted: 0, not_run: 0 },
  };
  for (const account of accounts) counts[stateOf(account)] += 1;
  return counts;
}

/** The version of `schemas/fleet-report.schema.json`. */
const REPORT_FORMAT_VERSION = 1;

/** As parts, for a fleet's documents together may be longer than a string can be. Newline-terminated. */
export function* renderFleetJsonParts({ command, accounts }: FleetReport): Generator<string> {
  yield `{\n  "format_version": ${REPORT_FORMAT_VERSION},\n  "command": ${jsonText(command)},\n  "summary": ${jsonText(countOutcomes(accounts))},\n`;
  yield `  "accounts": [`;
  for (const [index, { name, labels, outcome }] of accounts.entries()) {
    yield `${index === 0 ? "" : ","}\n    { "name": ${jsonText(name)}, "labels": ${jsonText(labels)}, `;
    if (outcome.type === "not-run") {
      yield `"outcome": "not-run", "reason": ${jsonText(outcome.reason)} }`;
    } else {
      yield `"outcome": "ran", "exit_code": ${outcome.code}, "headline": ${jsonText(outcome.headline)}, "document": `;
      yield `${outcome.document?.trim() ?? "null"} }`;
    }
  }
  yield `${accounts.length === 0 ? "" : "\n  "}]\n}\n`;
}

/** Of a comment: GitHub and GitLab take more, and text that a service escapes grows. */
const MAX_COMMENT_CHARACTERS = 60_000;
/** Characters that may be laid out in vain: beyond this, no further detail is. */
const MAX_WASTED_CHARACTERS: number = 4 * MAX_COMMENT_CHARACTERS;
/** Around a text, at least: what cannot fit with it need not be laid out. */
const LEAST_FOLD_CHARACTERS = 50;

/** A list, and what each account printed folded below it: of each the longest form for which a comment has room. Newline-terminated. */
export function renderFleetMarkdown(report: FleetReport): string {
  const named = (names: readonly string[]): string => codeSpan(escapeText(namesOf(names, false)));
  const rows = folded(report.accounts, false).map(({ names, headline }) => {
    const subject = names.length === 1 ? named(names) : `${names.length} accounts (${named(names)})`;
    return `- ${subject}: ${codeSpan(escapeText(headline))}\n`;
  });
  const blocks = [`**${fleetTally(report)}**\n`, cutRows(rows).join("")];
  const details = detailsOf(report);
  const fitted = fitDetails(details, MAX_COMMENT_CHARACTERS - blocks.reduce((sum, block) => sum + block.length + 1, 0));
  for (const block of details.flatMap((detail) => fitted.get(detail) ?? [])) blocks.push(block);
  const left = details.reduce((sum, detail) => sum + (fitted.has(detail) ? 0 : detail.names.length), 0);
  if (left > 0) blocks.push(`There is no room for the details of ${left} further accounts.\n`);
  return blocks.join("\n");
}

interface Form {
  /** Of its text. */
  readonly characters: number;
  render(): string;
}

/** The longest first. What has no shorter form of its own is cut, as code. */
function formsOf({ text, shorter, markup }: Detail): Form[] {
  const own = [text, ...shorter].map((form) => ({ characters: form.length, render: () => bodyOf(form, markup) }));
  const cuts = SHORTER_CHARACTERS.filter((most) => own.every(({ characters }) => characters > most));
  return [...own, ...cuts.map((most) => ({ characters: most, render: () => codeBlockWithin(text, most) }))];
}

/** What came through a queue may say that it is markdown, and be anybody's. */
function bodyOf(text: string, markup: Detail["markup"]): string {
  const isOurs = markup === "markdown" && isInertMarkdown(text);
  return isOurs ? text.trimEnd() : codeBlock(text.trimEnd().split("\n"), "text");
}

/**
 * The shortest form of each, the shortest of all first, and then longer ones in the room that is left. Takes time in proportion to the room,
 * and to the number of accounts. @returns blocks; what there is no room for is missing
 */
function fitDetails(details: readonly Detail[], room: number): Map<Detail, string> {
  const fitted = new Map<Detail, string>();
  const forms = new Map(details.map((detail) => [detail, formsOf(detail)]));
  let left = room;
  let wasted = 0;
  // From the end: 1 is the shortest form.
  for (let step = 1; step <= SHORTER_CHARACTERS.length + 1; step += 1) {
    const candidates = details.flatMap((detail) => {
      const form = forms.get(detail)?.at(-step);
      return form !== undefined && (step === 1 || fitted.has(detail)) ? [{ detail, form }] : [];
    });
    candidates.sort((a, b) => a.form.characters - b.form.characters);
    for (const { detail, form } of candidates) {
      const present = fitted.get(detail) ?? null;
      // Blocks are joined by a line break.
      const most = left + (present === null ? -1 : present.length);
      if (wasted > MAX_WASTED_CHARACTERS) break;
      if (form.characters + LEAST_FOLD_CHARACTERS > most) continue;
      const block = `${fold(htmlCode(escapeText(namesOf(detail.names, false))), form.render())}\n`;
      if (block.length > most) wasted += block.length;
      else {
        left = most - block.length;
        fitted.set(detail, block);
      }
    }
  }
  return fitted;
}

/** Rows differ in each account at worst: half of the comment is theirs. */
function cutRows(rows: readonly string[]): string[] {
  let room = MAX_COMMENT_CHARACTERS / 2;
  const shown = rows.filter((row) => {
    room -= row.length;
    return room >= 0;
  });
  const rest = rows.length - shown.length;
  return rest === 0 ? shown : [...shown, `- and ${rest} further lines\n`];
}
