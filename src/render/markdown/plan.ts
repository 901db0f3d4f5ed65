/** The plan as markdown, for a comment on a pull request: within the size of one, and with nothing in it that others could steer. */

import type { Change } from "../../model/change.ts";
import { type Plan, summarise } from "../../model/plan.ts";
import { escapeText } from "../escape.ts";
import { requestsText } from "../pace.ts";
import { type PlanView, viewPlan } from "../view.ts";
import { shorten } from "../width.ts";
import { leftAloneText, noChangesText } from "../wording.ts";
import type { Section } from "./changes.ts";
import { codeSpan } from "./code.ts";
import { composeWithin } from "./compose.ts";
import { listsAfter, listsBefore } from "./plan-lists.ts";
import { summaryText, wholeSummaryText } from "./tally.ts";

const MAX_NAME_COLUMNS = 200;
const WHOLE = "All of it: `tenon show PLAN`, or `--format json`.";

/**
 * The plan for a GitHub comment or a GitLab note, newline-terminated, in at most `MAX_BODY_CHARACTERS` UTF-16 code units.
 * What has no room is there as numbers, and the text says so. Linear in the number of changes.
 */
export function renderPlanMarkdown(plan: Plan): string {
  const view = viewPlan(plan);
  return composeWithin({
    head: headBlocks(plan, view),
    before: listsBefore(plan, view),
    sections: sectionsOf(plan),
    frame: { strategies: plan.strategies, tense: "ahead", whole: WHOLE },
    after: listsAfter(plan, view),
    foot: footBlocks(plan, view),
  });
}

function headBlocks(plan: Plan, view: PlanView): string[] {
  const name = plan.goal === "destroy" ? "Destroy plan" : "Plan";
  const goal = plan.refusals.length > 0 ? `${name} refused` : name;
  const heading =
    view.empty && plan.refusals.length === 0
      ? noChangesText(plan)
      : `${goal}: ${wholeSummaryText(view.summary, "ahead")}`;
  return [`## ${heading}`, ...baseBlock(plan)];
}

function baseBlock({ base, changes }: Plan): string[] {
  if (base === null) return [];
  const name = escapeText(base.name);
  const shown = codeSpan(shorten(name, MAX_NAME_COLUMNS, Buffer.byteLength(base.name)));
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
    { heading: "This change", weight: 1, changes: real.filter(isProposed) },
    { heading: "Already pending", weight: 0, changes: real.filter((change) => !isProposed(change)) },
  ];
}

function footBlocks(plan: Plan, view: PlanView): string[] {
  const leftAlone = leftAloneText(plan.leftAlone);
  const lines = [...(leftAlone === "" ? [] : [leftAlone]), ...(view.empty ? [] : [requestsText(plan)])];
  return lines.length === 0 ? [] : [lines.join(" ")];
}
