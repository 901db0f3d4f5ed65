/** What an apply did as a page: what is not done and why first, then every change with its outcome, and the order as it went. */

import type { Kinds } from "../../model/kind.ts";
import type { Goal, Plan } from "../../model/plan.ts";
import type { ChangeOutcome, Report } from "../../model/report.ts";
import { compareText, groupBy } from "../../model/text.ts";
import { isVerified, type Verification } from "../../model/verification.ts";
import { foldContext } from "../folding.ts";
import { NOT_DONE, OUTCOME_HEADINGS, reportTitle } from "../markdown/documents.ts";
import { adviceText, leftovers, notBegun, notBegunHeading, reasonsOf, type Undone } from "../report.ts";
import { renderVerificationText } from "../verification.ts";
import { count, type GroupView, groupsOf, shownSources, someRootCounts } from "../view.ts";
import { changeTree, type TreeOptions } from "./change-tree.ts";
import { type Html, html } from "./markup.ts";
import { networkPictures, networksOfChanges } from "./network-picture.ts";
import { orderPicture } from "./order-picture.ts";
import { renderPage } from "./page.ts";
import { linkTo, type PlanPageOptions } from "./plan-page.ts";
import {
  type Choice,
  filterBar,
  frame,
  kindChoices,
  linesAsEntries,
  listSection,
  picture,
  type Section,
  type Tally,
  viewsIn,
} from "./sections.ts";
import { zoneMap, zonesOfChanges } from "./zone-map.ts";

/** Lines are not cut: the page wraps them. */
const COLUMNS = 100_000;
/** Of the text of a verification, which is shown as it is. */
const VERIFICATION_COLUMNS = 100;

const OUTCOMES: readonly ChangeOutcome[] = ["done", ...NOT_DONE];
const SIGNS: Readonly<Record<ChangeOutcome, string>> = {
  ...{ done: "✓", failed: "✗", partial: "✗", unknown: "?", skipped: "…", blocked: "!" },
};

export interface ReportPageOptions extends Pick<PlanPageOptions, "full"> {
  /** What was undone because nameservers did not answer as declared; null: nothing had to be. */
  readonly undone: Undone | null;
}

const MADE_BY: Readonly<Record<Goal, string>> = {
  ...{ apply: "tenon apply", destroy: "tenon destroy", undo: "tenon apply --undo" },
};

/**
 * Newline-terminated. Linear in the number of changes.
 * @param plan the one that was applied
 * @param verification what nameservers answered afterwards; null: they were not asked
 */
export function renderReportHtml(
  report: Report,
  plan: Plan,
  verification: Verification | null,
  { full, undone }: ReportPageOptions,
  kinds: Kinds,
): string {
  const left = leftovers(report);
  const title = reportTitle(report, plan, left);
  const outcomes = new Map(report.changes.map(({ key, outcome }) => [key, outcome]));
  const anchors = new Map(
    report.changes.flatMap(({ key, outcome }, index) => (outcome === "done" ? [] : [[key, `change-${index + 1}`]])),
  );
  const groups = groupsOf(plan.changes, kinds);
  const fold = foldContext(kinds, shownSources(plan), { full });
  const options: TreeOptions = {
    fold: { ...fold, marks: standingAlone(groups, outcomes) },
    anchors,
    outcomeOf: (key) => outcomes.get(key) ?? null,
  };
  const body = frame({
    made: MADE_BY[plan.goal],
    title,
    tallies: talliesOf(report),
    facts: factsOf(report, plan, left),
    sections: [
      ...attention(report, plan, anchors),
      verification === null ? null : verificationSection(verification, "verification", "Asked of nameservers"),
      ...(undone === null ? [] : undoneSections(undone)),
      changesSection(groups, report, options),
      picture("order", "Order", "Order: what waited for what", orderPicture(plan, kinds, report)),
      picture("networks", "Networks", "Networks", networkPictures(networksOfChanges(plan.changes))),
      picture("zones", "Zones", "Zones: who points at whom", zoneMap(zonesOfChanges(plan.changes, plan.leftAlone))),
    ],
  });
  return renderPage({ title, body });
}

/** Networks, zones and images of which something is not done are not folded with others. */
function standingAlone(
  groups: readonly GroupView[],
  outcomes: ReadonlyMap<string, ChangeOutcome>,
): ReadonlyMap<string, null> {
  const incomplete = groups.filter((group) => viewsIn(group).some(({ change }) => outcomes.get(change.key) !== "done"));
  return new Map(incomplete.map(({ root }) => [root, null]));
}

/** In the order of the title. */
function talliesOf(report: Report): Tally[] {
  const counts: readonly (readonly [number: number, word: string, state: string])[] = [
    ...([
      [report.added, "added", "create"],
      [report.changed, "changed", "update"],
      [report.destroyed, "destroyed", "delete"],
    ] as const),
    ...([
      [report.failed, "failed", "failed"],
      [report.skipped, "skipped", "skipped"],
      [report.unknown, "unknown", "unknown"],
      [report.blocked, "blocked", "blocked"],
    ] as const),
  ];
  return counts.flatMap(([number, word, state]) => (number === 0 ? [] : [{ text: `${number} ${word}`, state }]));
}

const OUTCOME_WORDS: Readonly<Record<ChangeOutcome, string>> = {
  ...{ done: "done", failed: "failed", partial: "done in part", unknown: "unknown", skipped: "skipped" },
  blocked: "blocked",
};

function factsOf(report: Report, plan: Plan, left: string): Html[] {
  const { environment } = plan.inputs;
  const sent = `${count(report.requestCount, "request was", "requests were")} sent.`;
  return [
    ...(environment === null ? [] : [html`<span class="pair">Environment <b>${environment}</b></span>`]),
    ...(left !== "" || report.interrupted ? [html`${adviceText(report)}`] : []),
    ...(plan.requestCount === 0 ? [] : [html`${sent}`]),
  ];
}

/** The gravest first. What was not begun as the run was interrupted is counted. */
function attention(report: Report, plan: Plan, anchors: ReadonlyMap<string, string>): (Section | null)[] {
  const reasons = reasonsOf(report, plan, COLUMNS);
  const untouched = notBegun(report);
  const begun = groupBy(
    report.changes.filter(({ key }) => !untouched.has(key)),
    ({ outcome }) => outcome,
  );
  const lists = NOT_DONE.map((outcome) => {
    const keys = (begun.get(outcome) ?? []).map(({ key }) => key).sort(compareText);
    const entries = keys.map(
      (key) => html`${linkTo(key, anchors)}${reasons(key).map((reason) => html`<p class="fix">${reason}</p>`)}`,
    );
    const heading = OUTCOME_HEADINGS[outcome];
    const weight = outcome === "skipped" || outcome === "blocked" ? "warn" : "bad";
    return listSection(outcome, heading.replace(/[:,].*/, ""), heading, weight, entries);
  });
  const counted = linesAsEntries(someRootCounts([...untouched]).map((line) => [line]));
  return [
    ...lists,
    untouched.size === 0
      ? null
      : { id: "not-begun", short: "Not begun", heading: notBegunHeading(untouched), weight: "warn", body: counted },
    listSection(
      "notices",
      "To be known",
      "To be known:",
      "warn",
      report.notices.map((notice) => html`${notice}`),
    ),
  ];
}

/** What `--undo-on-failure` did. */
function undoneSections({ isComplete, problems, done, verification }: Undone): (Section | null)[] {
  const verdict = isComplete
    ? "All of it is as it was before, and is served so."
    : "Not all of it is as it was before.";
  const changes = done === null ? [] : done.report.changes.map(({ key, outcome }) => html`${outcome} ${key}`);
  const entries = [html`${verdict}`, ...problems.map((problem) => html`not undone: ${problem}`), ...changes];
  const heading = "Undone, as nameservers did not answer as declared";
  return [
    listSection("undone", "Undone", heading, isComplete ? "warn" : "bad", entries),
    verification === null
      ? null
      : verificationSection(verification, "verification-after-undo", "Asked of nameservers after the undo"),
  ];
}

function verificationSection(verification: Verification, id: string, heading: string): Section {
  const text = renderVerificationText(verification, { colour: false, width: VERIFICATION_COLUMNS }).trimEnd();
  return {
    ...{ id, short: "Nameservers", heading },
    weight: isVerified(verification) ? "plain" : "bad",
    body: html`<pre tabindex="0">${text.split("\n").map((line) => html`${line}\n`)}</pre>`,
  };
}

function changesSection(groups: readonly GroupView[], report: Report, options: TreeOptions): Section | null {
  if (groups.length === 0) return null;
  const found = new Set(report.changes.map(({ outcome }) => outcome));
  const states = OUTCOMES.filter((outcome) => found.has(outcome)).map(
    (outcome): Choice => ({ value: outcome, text: OUTCOME_WORDS[outcome], sign: SIGNS[outcome] }),
  );
  const bar = filterBar({
    ...{
      nouns: ["change", "changes"] as const,
      isTree: true,
      states,
      roots: groups.length > 1 ? "All objects" : null,
    },
    kinds: kindChoices(
      groups.flatMap(viewsIn).map(({ kind }) => kind),
      options.fold.kinds.all,
    ),
  });
  return { id: "changes", short: "Changes", heading: "Changes", body: html`${bar}${changeTree(groups, options)}` };
}
