/** Plan, report and drift as markdown, within the size of a comment on a pull request. Text from others has no effect in it. */

import { type Change, type Drift, type DriftStatus, hasDrift } from "../../model/change.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Kinds } from "../../model/kind.ts";
import { type Plan, type Summary, summarise } from "../../model/plan.ts";
import type { ChangeOutcome, Report } from "../../model/report.ts";
import { compareText, groupBy } from "../../model/text.ts";
import type { Verification } from "../../model/verification.ts";
import { freeSpaceText, rangeText } from "../address-space.ts";
import { blockedAlike, blockedNames, blockText } from "../blocks.ts";
import { type Asked, askedOf, consentLines, consentTexts } from "../consent.ts";
import { warningMarks } from "../diagnostics.ts";
import { driftSummary, type Folded, foldedObjects, noDriftText, objectLines, unadoptedText } from "../drift.ts";
import { foldContext } from "../folding.ts";
import { adviceText, GOAL_WORDS, leftovers, notBegun, notBegunHeading, reasonsOf, type Undone } from "../report.ts";
import { escapeText, shorten, wrap } from "../terminal.ts";
import { renderVerificationText } from "../verification.ts";
import {
  type Alike,
  actionEntries,
  changedSinceText,
  count,
  familyTexts,
  GAPS_HEADING,
  gapText,
  groupAlike,
  leftAloneText,
  noChangesText,
  type PlanView,
  requestsText,
  shownSources,
  someRootCounts,
  strategyText,
  viewPlan,
  withdrawnEntries,
  withheldEntries,
  withheldHeading,
} from "../view.ts";
import { composeWithin, type List, MAX_BODY_CHARACTERS, type Section } from "./comment.ts";
import { codeSpan, summaryText, wholeSummaryText } from "./parts.ts";
import { CODE_COLUMNS } from "./unit.ts";

const MAX_NAME_COLUMNS = 200;
/** Characters of changes that are compared to find what is alike: the zones of a large account, and no more of a hostile plan. */
const MAX_COMPARED_CHARACTERS: number = 16 * 1024 * 1024;
const WHOLE_PLAN = "All of it: `tenon show PLAN`, or `--format json`.";

/**
 * The plan for a GitHub comment or a GitLab note, newline-terminated, in at most so many UTF-16 code units. Changes for which there is no
 * room are counted, and the text says so. Linear in the number of changes.
 */
export function renderPlanMarkdown(plan: Plan, kinds: Kinds, maxCharacters: number = MAX_BODY_CHARACTERS): string {
  const view = viewPlan(plan, kinds);
  return composeWithin({
    maxCharacters,
    head: planHead(plan, view),
    before: listsBefore(plan, view, kinds),
    sections: sectionsOf(plan),
    frame: {
      fold: foldContext(kinds, shownSources(plan), { plan, maxCharacters: MAX_COMPARED_CHARACTERS }),
      tense: "ahead",
      whole: WHOLE_PLAN,
    },
    after: listsAfter(plan, view, kinds),
    foot: planFoot(plan, view, kinds),
  });
}

function planHead(plan: Plan, view: PlanView): string[] {
  return [`## ${planTitle(plan, view)}`, ...baseBlock(plan)];
}

/** `Plan: 3 to add, 1 to change, 0 to destroy.` */
export function planTitle(plan: Plan, view: PlanView): string {
  const name = { apply: "Plan", destroy: "Destroy plan", undo: "Undo plan" }[plan.goal];
  const goal = plan.refusals.length > 0 ? `${name} refused` : name;
  return view.empty && plan.refusals.length === 0
    ? noChangesText(plan)
    : `${goal}: ${wholeSummaryText(view.summary, "ahead")}`;
}

/** As code, so that nothing of it has an effect. */
function baseName(name: string): string {
  return codeSpan(shorten(escapeText(name), MAX_NAME_COLUMNS, Buffer.byteLength(name)));
}

function baseBlock({ base, changes }: Plan): string[] {
  if (base === null) return [];
  const shown = baseName(base.name);
  const own = summaryText(summarise(changes.filter(isProposed)), "ahead");
  const pending = summaryText(summarise(changes.filter((change) => !isProposed(change))), "ahead");
  return [
    `Compared with ${shown}, this change brings: ${own || "nothing"}. Pending without it: ${pending || "nothing"}.`,
  ];
}

function isProposed({ origin }: Change): boolean {
  return origin !== "already-pending";
}

function sectionsOf({ base, changes }: Plan): Section[] {
  const real = changes.filter(({ action }) => action !== "no-op");
  if (base === null) return [{ heading: null, weight: 0, changes: real }];
  return [
    { heading: "This change", weight: 1, isOpen: true, changes: real.filter(isProposed) },
    { heading: "Already pending", weight: 0, changes: real.filter((change) => !isProposed(change)) },
  ];
}

function planFoot(plan: Plan, view: PlanView, kinds: Kinds): string[] {
  const texts = [changedSinceText(plan.inputs, kinds, baseName), leftAloneText(plan.leftAlone, kinds)];
  const lines = [...texts.filter((text) => text !== ""), ...(view.empty ? [] : [requestsText(plan)])];
  return lines.length === 0 ? [] : [lines.join(" ")];
}

// The lists of a plan: guards that apply would refuse, blocked changes, and what else a reviewer should know.

const INDENT = 2;
/** The most globs that are shown of one guard: an entry longer than its list's share would be left out. */
const MAX_SHOWN_GLOBS = 20;
/** The most images that are shown of one family, for the same reason. */
const MAX_SHOWN_MEMBERS = 30;

/** Before the changes, the gravest first: what a reviewer must not miss. */
function listsBefore(plan: Plan, view: PlanView, kinds: Kinds): List[] {
  const blocked = plan.changes.flatMap(({ key, blocked: block }) => (block === null ? [] : [{ key, block }]));
  return [
    list(
      "Refused",
      groupAlike(plan.refusals, () => "").flatMap((alike) => alikeEntries(alike)),
      10_000,
      "never",
    ),
    list("Apply would refuse this plan:", askedOf(view.refusing, plan, kinds).map(askedLines), 10_000, "never"),
    list(
      "The base was not used:",
      groupAlike(plan.warnings.filter(isOfBase), () => "").flatMap(alikeEntries),
      2_000,
      "never",
    ),
    list("Blocked:", blockedAlike(blocked).map(blockLines), 8_000, "never"),
    list(
      GAPS_HEADING,
      plan.gaps.map((gap) => wrap(gapText(gap), CODE_COLUMNS, 0)),
      4_000,
    ),
  ];
}

/** Without its base a plan says nothing of what a change brings. */
function isOfBase({ code }: Diagnostic): boolean {
  return code === "base-invalid";
}

/** After the changes. Warnings are many and much alike: folded, so that they bury nothing. */
function listsAfter(plan: Plan, view: PlanView, kinds: Kinds): List[] {
  const others = plan.warnings.filter((warning) => !isOfBase(warning));
  const warnings = groupAlike(others, warningMarks(plan));
  return [
    list("Image families:", familyTexts(plan).map(familyLines), 6_000),
    list(
      "Pending without the proposed change, and withdrawn or done otherwise by it:",
      plan.base === null ? [] : withdrawnEntries(plan.base),
      4_000,
    ),
    list(
      `${plan.withheld.length === 0 ? "" : withheldHeading(plan.withheld)}:`,
      withheldEntries(plan.withheld, true),
      4_000,
    ),
    list(
      "Consent is given to:",
      consentTexts(view.consented, plan, kinds).map((text) => wrap(text, CODE_COLUMNS, 0)),
      3_000,
    ),
    list(
      "Clones:",
      plan.strategies.map((strategy) => wrap(strategyText(strategy), CODE_COLUMNS, 0)),
      3_000,
    ),
    list("Address space:", addressSpace(plan), 3_000),
    list("Warnings:", warnings.flatMap(alikeEntries), 6_000, "always"),
  ];
}

/** The newest come first; where there are too many, what comes and goes does. */
function familyLines({ heading, lines }: ReturnType<typeof familyTexts>[number]): string[] {
  const indent = " ".repeat(INDENT);
  const rest = lines.length - MAX_SHOWN_MEMBERS;
  if (rest <= 0) return [heading, ...lines.map((line) => indent + line)];
  const shown = lines.toSorted((a, b) => Number(a.startsWith(" ")) - Number(b.startsWith(" ")));
  const more = `and ${rest} more, which tenon plan shows`;
  return [heading, ...[...shown.slice(0, MAX_SHOWN_MEMBERS), more].map((line) => indent + line)];
}

/** What new ranges mean for what is attached, and what is free beside them. */
function addressSpace({ changes, freeSpace }: Plan): string[][] {
  const ranges = changes
    .filter(({ range }) => range !== undefined)
    .map((change) => `${escapeText(change.key)}: ${rangeText(change)}`);
  return [...ranges, ...freeSpace.map(freeSpaceText)].map((text) => wrap(text, CODE_COLUMNS, 0));
}

function list(
  heading: string,
  entries: List["entries"],
  shareCharacters: number,
  folding: List["folding"] = "if-long",
): List {
  return { heading, entries, shareCharacters, folding };
}

/** An entry for each summary, so that one without room is counted. The last entry has the advice for all of them. */
function alikeEntries({ summaries, advice }: Alike): string[][] {
  const below = advice.flatMap((text) => wrap(text, CODE_COLUMNS, INDENT));
  return summaries.map((summary, index) => [
    ...wrap(summary, CODE_COLUMNS, 0),
    ...(index === summaries.length - 1 ? below : []),
  ]);
}

function askedLines({ text, advice, words }: Asked): string[] {
  const rest = words.length - MAX_SHOWN_GLOBS;
  const more = rest > 0 ? [`    and ${rest} more, which tenon plan shows`] : [];
  const better = wrap(advice, CODE_COLUMNS, INDENT + INDENT);
  return [...wrap(text, CODE_COLUMNS, 0), ...better, ...consentLines(words.slice(0, MAX_SHOWN_GLOBS), 4), ...more];
}

function blockLines(alike: ReturnType<typeof blockedAlike>[number]): string[] {
  const { reason, items, fix } = blockText(alike.block, CODE_COLUMNS - INDENT);
  const below = [reason, ...items, ...(fix === "" ? [] : [fix])];
  return [...wrap(blockedNames(alike), CODE_COLUMNS, 0), ...below.flatMap((text) => wrap(text, CODE_COLUMNS, INDENT))];
}

// The report of an apply as markdown: changes that were made, and the others with the reasons, within the size of a comment.

const WHOLE_REPORT = "All of it: `--format json`, and the journal of the run.";

export const OUTCOME_HEADINGS: Readonly<Record<Exclude<ChangeOutcome, "done">, string>> = {
  failed: "Failed:",
  partial: "Done in part:",
  unknown: "Unknown, whether it was done:",
  skipped: "Skipped:",
  blocked: "Blocked:",
};
/** The gravest first. */
export const NOT_DONE = ["failed", "partial", "unknown", "skipped", "blocked"] as const;

/**
 * Newline-terminated, at most so many UTF-16 code units.
 * @param plan the one that was applied
 * @param verification what nameservers answered afterwards; null: they were not asked
 * @param undone what was undone because of that; null: nothing had to be
 */
export function renderReportMarkdown(
  report: Report,
  plan: Plan,
  verification: Verification | null,
  undone: Undone | null,
  kinds: Kinds,
  maxCharacters: number = MAX_BODY_CHARACTERS,
): string {
  const left = leftovers(report);
  return composeWithin({
    maxCharacters,
    head: reportHead(report, plan, left),
    before: [...outcomeLists(report, plan), notBegunList(report), noticeList(report)],
    sections: [{ heading: "Done", weight: 0, changes: doneChanges(report, plan) }],
    frame: {
      fold: foldContext(kinds, shownSources(plan), { maxCharacters: MAX_COMPARED_CHARACTERS }),
      tense: "done",
      whole: WHOLE_REPORT,
    },
    after: [
      ...(verification === null ? [] : [verificationList(verification, "Asked of nameservers:")]),
      ...(undone === null ? [] : undoneLists(undone)),
    ],
    foot: reportFoot(report, plan, left),
    // What was not done is what a person must look at.
    listsFirst: true,
  });
}

function reportHead(report: Report, plan: Plan, left: string): string[] {
  return [`## ${reportTitle(report, plan, left)}`];
}

/** `Apply incomplete: 2 added, 0 changed, 0 destroyed. 1 failed.` */
export function reportTitle(report: Report, plan: Plan, left: string): string {
  if (isIdle(report)) return noChangesText(plan);
  const goal = GOAL_WORDS[plan.goal];
  const state = report.interrupted ? "interrupted" : left === "" ? "complete" : "incomplete";
  const lost = left === "" ? "" : ` ${left}.`;
  return `${goal} ${state}: ${wholeSummaryText(summaryOf(report), "done")}${lost}`;
}

function isIdle({ changes, interrupted, notices }: Report): boolean {
  return changes.length === 0 && !interrupted && notices.length === 0;
}

/** Blocked changes are counted by `leftovers`, so they are not counted here. */
function summaryOf({ added, changed, destroyed }: Report): Summary {
  return { add: added, change: changed, destroy: destroyed, blocked: 0 };
}

function doneChanges(report: Report, plan: Plan): Change[] {
  const done = new Set(report.changes.flatMap(({ key, outcome }) => (outcome === "done" ? [key] : [])));
  return plan.changes.filter(({ key }) => done.has(key));
}

function outcomeLists(report: Report, plan: Plan): List[] {
  const reasons = reasonsOf(report, plan, CODE_COLUMNS - INDENT);
  const untouched = notBegun(report);
  const begun = report.changes.filter(({ key }) => !untouched.has(key));
  const byOutcome = groupBy(begun, ({ outcome }) => outcome);
  return NOT_DONE.map((outcome) => ({
    heading: OUTCOME_HEADINGS[outcome],
    entries: (byOutcome.get(outcome) ?? [])
      .map(({ key }) => key)
      .sort(compareText)
      .map((key) => [
        ...wrap(escapeText(key), CODE_COLUMNS, 0),
        ...reasons(key).flatMap((reason) => wrap(reason, CODE_COLUMNS, INDENT)),
      ]),
    folding: "never",
    shareCharacters: 7_000,
  }));
}

function notBegunList(report: Report): List {
  const untouched = notBegun(report);
  const lines = someRootCounts([...untouched]);
  const entries = lines.map((line) => wrap(line, CODE_COLUMNS, 0));
  return { heading: notBegunHeading(untouched), entries, folding: "never", shareCharacters: 4_000 };
}

function noticeList({ notices }: Report): List {
  const entries = notices.map((notice) => wrap(escapeText(notice), CODE_COLUMNS, 0));
  return { heading: "To be known:", entries, folding: "never", shareCharacters: 5_000 };
}

/** The verdict is the last paragraph of the text, but the first entry here. */
function undoneLists({ isComplete, problems, done, verification }: Undone): List[] {
  const verdict = isComplete
    ? "All of it is as it was before, and is served so."
    : "Not all of it is as it was before.";
  const changes = done === null ? [] : done.report.changes.map(({ key, outcome }) => [escapeText(`${outcome} ${key}`)]);
  const entries = [[verdict], ...problems.map((problem) => [escapeText(`not undone: ${problem}`)]), ...changes];
  return [
    {
      heading: "Undone, as nameservers did not answer as declared:",
      entries,
      folding: "if-long",
      shareCharacters: 8_000,
    },
    ...(verification === null ? [] : [verificationList(verification, "Asked of nameservers after the undo:")]),
  ];
}

function verificationList(verification: Verification, heading: string): List {
  const text = renderVerificationText(verification, { colour: false, width: CODE_COLUMNS }).trimEnd();
  const cut = text.lastIndexOf("\n\n");
  const found = cut === -1 ? [] : text.slice(0, cut).split("\n");
  const verdict = text
    .slice(cut + 1)
    .trimStart()
    .split("\n");
  const entries = [verdict, ...found.map((line) => [line])];
  return { heading, entries, folding: "if-long", shareCharacters: 8_000 };
}

function reportFoot(report: Report, plan: Plan, left: string): string[] {
  const { requestCount, interrupted } = report;
  const advice = left !== "" || interrupted ? [adviceText(report)] : [];
  const total = plan.requestCount === 0 ? [] : [`${count(requestCount, "request was", "requests were")} sent.`];
  return [...advice, ...total].length === 0 ? [] : [[...advice, ...total].join(" ")];
}

// Drift as markdown, for an issue or the page of a nightly run: within the size of a comment.

const WHOLE_DRIFT = "All of it: `tenon drift`, or `--format json`.";

export const DRIFT_HEADINGS: Readonly<Record<DriftStatus, string>> = {
  changed: "Changed in the account:",
  missing: "Missing in the account:",
  unexpected: "Not expected in the account:",
  unadopted: "As declared, but not adopted:",
};
/** The gravest first. */
const STATUSES = ["missing", "unexpected", "changed", "unadopted"] as const;
/** Characters for each list where there is not room for all. */
const SHARE_CHARACTERS = 14_000;

/** Newline-terminated, at most so many UTF-16 code units. Objects for which there is no room are counted. */
export function renderDriftMarkdown(drift: Drift, kinds: Kinds, maxCharacters: number = MAX_BODY_CHARACTERS): string {
  const folded = foldedObjects(drift);
  const isFound = hasDrift(drift);
  const unadopted = unadoptedText(drift);
  return composeWithin({
    maxCharacters,
    head: [`## ${isFound ? driftSummary(drift) : noDriftText(drift)}`],
    before: STATUSES.map((status) => listOf(status, folded, kinds)),
    sections: [],
    frame: { fold: foldContext(kinds, new Map()), tense: "ahead", whole: WHOLE_DRIFT },
    after: [],
    foot: [
      ...[changedSinceText(drift, kinds, baseName), unadopted].filter((text) => text !== ""),
      ...(isFound ? [WHOLE_DRIFT] : []),
    ],
  });
}

function listOf(status: DriftStatus, folded: readonly Folded[], kinds: Kinds): List {
  const entries = folded
    .filter(({ object }) => object.status === status)
    .map(({ object, within }) => objectLines(object, within, CODE_COLUMNS, kinds));
  return { heading: DRIFT_HEADINGS[status], entries, folding: "if-long", shareCharacters: SHARE_CHARACTERS };
}

// The refusal of an apply as markdown: the account or the manifests have changed since the review.

const ADVICE = "Nothing was done. Review a new plan: `tenon plan --out FILE`.";

/**
 * Newline-terminated, at most so many UTF-16 code units.
 * @param extra changes that the reviewed plan does not show
 */
export function renderUnreviewedMarkdown(
  extra: readonly Change[],
  kinds: Kinds,
  maxCharacters: number = MAX_BODY_CHARACTERS,
): string {
  return composeWithin({
    maxCharacters,
    head: ["## Refused: the plan is not within the reviewed one."],
    before: [
      {
        heading: "The reviewed plan does not cover:",
        entries: actionEntries(extra),
        folding: "never",
        shareCharacters: 40_000,
      },
    ],
    sections: [],
    frame: { fold: foldContext(kinds, new Map()), tense: "ahead", whole: "" },
    after: [],
    foot: [ADVICE],
  });
}
