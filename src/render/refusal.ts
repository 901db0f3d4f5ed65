/** What is to be done, and why nothing was done, each as one line of JSON: for what reads the events of an apply. */

import type { Change } from "../model/change.ts";
import { jsonText } from "../model/json-text.ts";
import { type Plan, summarise } from "../model/plan.ts";
import type { Json } from "../model/resource.ts";
import { missingConsents } from "./plan-file.ts";
import { sortKeys } from "./view.ts";

/**
 * - `identity`: what is ambiguous, another owner's, or of another account.
 * - `consent`: a guard stands in the way.
 * - `unreviewed`: the reviewed plan does not show all of it.
 * - `blocked`: something is blocked, and was not to be.
 */
export type RefusalReason = "identity" | "consent" | "unreviewed" | "blocked";

/**
 * What is about to be done, as the first line of the events of an apply. Newline-terminated: `plan` in schemas/event.schema.json.
 * @param nowMilliseconds since the epoch
 */
export function renderPlanEventJson(plan: Plan, nowMilliseconds: number): string {
  const { goal, inputs, requestCount, steps } = plan;
  const { environment, targets, excludes } = inputs;
  const asked = { goal, environment, targets, excludes };
  const counts = { summary: summarise(plan.changes), steps: steps.length, requests: requestCount };
  return `${jsonText({ type: "plan", time: new Date(nowMilliseconds).toISOString(), ...asked, ...counts })}\n`;
}

/** Newline-terminated: `refused` in schemas/event.schema.json. @param unreviewed what the reviewed plan does not show */
export function renderRefusalJson(plan: Plan, reason: RefusalReason, unreviewed: readonly Change[] = []): string {
  const json = {
    type: "refused",
    goal: plan.goal,
    reason,
    refusals: plan.refusals.map(({ code, summary, detail, fix }) => ({ code, summary, detail, fix: fix ?? "" })),
    guards: plan.guards.filter(({ consent }) => consent !== "given"),
    missing_consent: missingConsents(plan),
    unreviewed: unreviewed.map(({ key, action }) => ({ address: key, action })),
    blocked: plan.changes.flatMap(({ key, blocked }) => (blocked === null ? [] : [{ address: key, by: blocked.type }])),
  };
  return `${jsonText(sortKeys(json as unknown as Json))}\n`;
}
