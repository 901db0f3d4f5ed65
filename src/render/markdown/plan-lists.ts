/** The lists of a plan: what apply would refuse, what is blocked, and what else a reviewer should know. */

import type { Plan } from "../../model/plan.ts";
import { type Alike, groupAlike } from "../alike.ts";
import { blockText } from "../block.ts";
import { type Asked, askedOf, consentLines, consentText } from "../consent.ts";
import { escapeText } from "../escape.ts";
import { withdrawnEntries } from "../origin.ts";
import { pendingMarks } from "../pending.ts";
import type { PlanView } from "../view.ts";
import { hang, wrap } from "../width.ts";
import { GAPS_HEADING, gapText, strategyText } from "../wording.ts";
import type { List } from "./list.ts";
import { CODE_COLUMNS } from "./unit.ts";

const INDENT = 2;
/** Of a refusal that no one glob covers: an entry that is longer than its list's share would not be there at all. */
const MAX_SHOWN_GLOBS = 20;

/** Before the changes, the gravest first: what a reviewer must not miss. */
export function listsBefore(plan: Plan, view: PlanView): List[] {
  const marks = pendingMarks(plan);
  const blocked = plan.changes.flatMap(({ key, blocked: block }) => (block === null ? [] : [{ key, block }]));
  return [
    list(
      "Refused",
      groupAlike(plan.refusals, () => "").flatMap((alike) => alikeEntries(alike)),
      10_000,
      "never",
    ),
    list("Apply would refuse this plan:", askedOf(view.refusing, plan, marks.guard).map(askedLines), 10_000, "never"),
    list("Blocked:", blocked.map(blockLines), 8_000, "never"),
    list(
      GAPS_HEADING,
      plan.gaps.map((gap) => wrap(gapText(gap), CODE_COLUMNS, 0)),
      4_000,
    ),
  ];
}

/** After the changes. Warnings are many and much alike: folded, so that they bury nothing. */
export function listsAfter(plan: Plan, view: PlanView): List[] {
  const warnings = groupAlike(plan.warnings, pendingMarks(plan).warning);
  return [
    list(
      "Withdrawn: pending without the proposed change, and not with it:",
      plan.base === null ? [] : withdrawnEntries(plan.base),
      4_000,
    ),
    list(
      "Consent is given to:",
      view.consented.map((guard) => wrap(consentText(guard), CODE_COLUMNS, 0)),
      3_000,
    ),
    list(
      "Clones:",
      plan.strategies.map((strategy) => wrap(strategyText(strategy), CODE_COLUMNS, 0)),
      3_000,
    ),
    list("Warnings:", warnings.flatMap(alikeEntries), 6_000, "always"),
  ];
}

function list(
  heading: string,
  entries: List["entries"],
  shareCharacters: number,
  folding: List["folding"] = "if-long",
): List {
  return { heading, entries, shareCharacters, folding };
}

/** An entry for each, so that what has no room is counted; the last of them says what holds for all. */
function alikeEntries({ summaries, advice }: Alike): string[][] {
  const below = advice.flatMap((text) => wrap(text, CODE_COLUMNS, INDENT));
  return summaries.map((summary, index) => [
    ...hang(summary, CODE_COLUMNS, INDENT + INDENT),
    ...(index === summaries.length - 1 ? below : []),
  ]);
}

function askedLines({ text, advice, words }: Asked): string[] {
  const rest = words.length - MAX_SHOWN_GLOBS;
  const more = rest > 0 ? [`    and ${rest} more, which tenon plan shows`] : [];
  const better = wrap(advice, CODE_COLUMNS, INDENT + INDENT);
  return [...wrap(text, CODE_COLUMNS, 0), ...better, ...consentLines(words.slice(0, MAX_SHOWN_GLOBS), 4), ...more];
}

function blockLines({ key, block }: { key: string; block: Parameters<typeof blockText>[0] }): string[] {
  const { reason, items, fix } = blockText(block, CODE_COLUMNS - INDENT);
  const below = [reason, ...items, ...(fix === "" ? [] : [fix])];
  return [...wrap(escapeText(key), CODE_COLUMNS, 0), ...below.flatMap((text) => wrap(text, CODE_COLUMNS, INDENT))];
}
