/** The lists of a plan: what apply would refuse, what is blocked, and what else a reviewer should know. */

import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Guard, Plan } from "../../model/plan.ts";
import { blockText } from "../block.ts";
import { consentText, consentWords, guardText } from "../consent.ts";
import { escapeText } from "../escape.ts";
import type { PlanView } from "../view.ts";
import { wrap } from "../width.ts";
import { diagnosticTexts, GAPS_HEADING, gapText, strategyText } from "../wording.ts";
import type { List } from "./list.ts";
import { CODE_COLUMNS } from "./unit.ts";

const INDENT = 2;

/** Before the changes, the gravest first. */
export function listsBefore(plan: Plan, view: PlanView): List[] {
  const blocked = plan.changes.flatMap(({ key, blocked: block }) => (block === null ? [] : [{ key, block }]));
  return [
    list("Refused", plan.refusals.map(diagnosticLines), 10_000, true),
    list("Apply would refuse this plan:", view.refusing.map(guardLines), 10_000, true),
    list("Blocked:", blocked.map(blockLines), 8_000, true),
    list(
      GAPS_HEADING,
      plan.gaps.map((gap) => wrap(gapText(gap), CODE_COLUMNS, 0)),
      4_000,
    ),
    list("Warnings:", plan.warnings.map(diagnosticLines), 6_000),
  ];
}

/** After the changes. */
export function listsAfter(plan: Plan, view: PlanView): List[] {
  const withdrawn = plan.base?.withdrawn ?? [];
  return [
    list(
      "Withdrawn: pending without the proposed change, and not with it:",
      withdrawn.map(({ key, action }) => [`${action} ${escapeText(key)}`]),
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
  ];
}

function list(heading: string, entries: List["entries"], shareCharacters: number, isUrgent = false): List {
  return { heading, entries, shareCharacters, isUrgent };
}

function diagnosticLines(diagnostic: Diagnostic): string[] {
  const [summary = "", ...rest] = diagnosticTexts(diagnostic);
  return [...wrap(summary, CODE_COLUMNS, 0), ...rest.flatMap((text) => wrap(text, CODE_COLUMNS, INDENT))];
}

function guardLines(guard: Guard): string[] {
  const words = consentWords(guard);
  const lines = wrap(guardText(guard), CODE_COLUMNS, 0);
  if (words === null) return lines;
  return [...lines, `    ${words.flag}`, `    or under allow: in the root file:  ${words.entry}`];
}

function blockLines({ key, block }: { key: string; block: Parameters<typeof blockText>[0] }): string[] {
  const { reason, items, fix } = blockText(block, CODE_COLUMNS - INDENT);
  const below = [reason, ...items, ...(fix === "" ? [] : [fix])];
  return [...wrap(escapeText(key), CODE_COLUMNS, 0), ...below.flatMap((text) => wrap(text, CODE_COLUMNS, INDENT))];
}
