/** Surprise: what an answer tells of others who were at work on the account after it was read for the plan. Pure. */

import type { Change } from "../model/change.ts";
import type { Answer } from "../model/exchange.ts";
import type { Failure } from "../model/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import type { RequestStep } from "../model/step.ts";
import type { Unit } from "../model/unit.ts";

/** Paths of things within another: shorter ones are there as long as the service is. */
const MIN_NESTED_SEGMENTS = 3;

/**
 * @param change the first that the step carries out, if the plan has it
 * @returns one sentence that names the step, without a full stop; null if the answer is what the plan led to expect
 */
export function surpriseOf(step: RequestStep, change: Change | undefined, answer: Answer, unit: Unit): string | null {
  const clause = answer.ok ? foundInAnswer(step, change, answer, unit) : foundInRefusal(step, answer.failure, unit);
  return clause === null ? null : `${step.id}: ${clause}`;
}

function foundInAnswer(
  step: RequestStep,
  change: Change | undefined,
  answer: Extract<Answer, { ok: true }>,
  unit: Unit,
): string | null {
  if (answer.alreadyGone === true) return "it was gone already, deleted by somebody else since the plan";
  if (step.method !== "PUT" || change === undefined || !isJsonObject(answer.body)) return null;
  const found = changedMeanwhile(step, change, answer.body, unit);
  return found === null ? null : `somebody else changed it since the plan: ${found}; plan again`;
}

function foundInRefusal(step: RequestStep, failure: Failure, unit: Unit): string | null {
  if (failure.type !== "refused") return null;
  if (failure.status === 400) {
    const clash = step.method === "POST" || step.method === "PUT" ? (unit.clash?.(step, failure) ?? null) : null;
    return clash === null ? null : `${clash}; plan again`;
  }
  if (failure.status !== 404) return null;
  switch (step.method) {
    case "PUT":
      return "what it was to change is gone, deleted by somebody else since the plan; plan again";
    case "POST":
      return step.path.length < MIN_NESTED_SEGMENTS
        ? null
        : "what it was to be made in, or from, is gone, deleted by somebody else since the plan; plan again";
    case "GET":
    case "DELETE":
      // The look before a delete is followed by the delete, which tells; a 404 to that is an answer, not a failure.
      return null;
  }
}

/** Fields that the step leaves alone, and that are no longer what they were. */
function changedMeanwhile(step: RequestStep, change: Change, body: JsonObject, unit: Unit): string | null {
  const { before, after } = change;
  const told = unit.told?.(change, body) ?? null;
  if (told === null || before === null || after === null) return null;
  const changed = Object.keys(told)
    .filter((field) => {
      const planned = before[field];
      const isLeftAlone = planned !== undefined && !(field in (step.body ?? {})) && isSame(planned, after[field]);
      return isLeftAlone && !isSame(planned, told[field]);
    })
    .sort();
  const texts = changed.map((field) => `${field} is ${shown(told[field])}, not ${shown(before[field])}`);
  return texts.length === 0 ? null : texts.join(", ");
}

/** Lists of the service are sets. */
function isSame(left: Json | undefined, right: Json | undefined): boolean {
  return shown(asSet(left)) === shown(asSet(right));
}

function asSet(value: Json | undefined): Json | undefined {
  return Array.isArray(value) ? (value as readonly Json[]).map(shown).sort() : value;
}

function shown(value: Json | undefined): string {
  return JSON.stringify(value ?? null);
}
