/** Recover: finds out what became of a POST whose outcome is unknown, then adopts what it made or sends it once more. */

import { type ApiRequest, LOOK_AGAIN_AFTER_SECONDS } from "../model/api.ts";
import { factsOf } from "../model/kind.ts";
import type { RequestStep } from "../model/plan.ts";
import type { JsonObject, ObjectId } from "../model/resource.ts";
import type { Unit } from "../model/unit.ts";
import { pause } from "./interrupt.ts";
import { itemWithId, type LookupResult, listAndRecognise, type Place } from "./recognise.ts";
import {
  type Context,
  DONE,
  failureResult,
  partsIn,
  readAdopted,
  resolvePath,
  resultOf,
  type StepResult,
  writeIntent,
} from "./step.ts";

/** What is known about a lost POST. */
interface Lost {
  readonly step: RequestStep;
  readonly request: ApiRequest;
  /** The result with the failure that left the outcome unknown. */
  readonly result: StepResult;
  readonly unit: Unit;
  readonly place: Place;
  readonly context: Context;
}

/** @param result of the POST: `unknown`, with its failure. It is what is returned if nothing can be found out. */
export async function recover(
  step: RequestStep,
  request: ApiRequest,
  result: StepResult,
  unit: Unit,
  context: Context,
): Promise<StepResult> {
  if (step.lookup === null) return result;
  const path = resolvePath(step.lookup.path, context.products);
  if (!path.ok) return result;
  const lost: Lost = { step, request, result, unit, place: { lookup: step.lookup, path: path.value }, context };
  context.note(step.id, "outcome-unknown", result.failure?.message ?? "");
  const seen = await listTwice(lost);
  switch (seen?.type) {
    case undefined:
      return result;
    case "failed":
      return { ...result, halts: seen.failure.status === 401 ? "unauthorised" : null };
    case "found":
      return adopt(lost, seen.item, seen.id);
    case "ambiguous":
      return resolveAmbiguous(lost, seen.ids, seen.items);
    case "useless":
      return context.stopping.aborted ? result : startOver(lost, seen.id);
    case "absent":
      return context.stopping.aborted ? result : repeat(lost);
  }
}

/** Lists immediately; if that finds nothing or fails, waits and lists again. null if the run was aborted meanwhile. */
async function listTwice(lost: Lost): Promise<LookupResult | null> {
  const { context, step, place, unit } = lost;
  const listing = `listing ${place.path.join("/")} to see whether it happened`;
  if (context.aborting.aborted) return null;
  context.note(step.id, "looking", listing);
  const seen = await listAndRecognise(place, unit, context);
  if (seen.type !== "absent" && seen.type !== "failed") return seen;
  context.note(step.id, "looking", listing, LOOK_AGAIN_AFTER_SECONDS);
  if (!(await pause(context.clock, LOOK_AGAIN_AFTER_SECONDS, context.aborting))) return null;
  return listAndRecognise(place, unit, context);
}

function adopt(lost: Lost, item: JsonObject, id: ObjectId): StepResult {
  const { step, unit, context } = lost;
  context.note(step.id, "adopted", `it had happened: ${String(id)}`);
  const products = step.produces === null ? null : readAdopted(step.produces, item, id);
  return { ...DONE, id, parts: partsIn(step, item, unit), products, recovered: true };
}

/**
 * If equal objects are interchangeable, as records are, the first is adopted. Nobody can tell which of several equal VPCs, domains or
 * images is ours.
 */
function resolveAmbiguous(lost: Lost, ids: readonly ObjectId[], items: readonly JsonObject[]): StepResult {
  const { step, place, result, unit } = lost;
  const { identifiedByValues, words } = factsOf(unit, place.lookup.kind);
  const [first] = ids;
  // `resolveConcurrentDuplicates`, at the end of the run, deals with the others.
  if (identifiedByValues && first !== undefined) return adopt(lost, itemWithId(items, first), first);
  const notice = `${step.id}: Tenon cannot tell whether this run made ${words[0]} ${ids.join(" or ")}, so it touches nothing`;
  return { ...result, notices: [notice] };
}

/** Deletes an object that cannot be finished, and sends the POST again. */
async function startOver(lost: Lost, id: ObjectId): Promise<StepResult> {
  const { step, place, context } = lost;
  context.note(step.id, "deleting-useless", `${String(id)} was made, but cannot be finished`);
  const path = [...place.path, String(id)];
  const journalFailure = await writeIntent(
    { step: step.id, reason: "useless", method: "DELETE", path, body: null },
    context,
  );
  if (journalFailure !== null) return journalFailure;
  const answer = await context.api.send({ method: "DELETE", path }, context.aborting);
  if (answer.ok || answer.failure.status === 404) return repeat(lost);
  const notice = `${step.id}: ${String(id)} was made, cannot be finished, and could not be deleted`;
  return { ...failureResult("failed", answer.failure), notices: [notice] };
}

/** Sends the POST a second and last time. */
async function repeat(lost: Lost): Promise<StepResult> {
  const { step, request, context, unit } = lost;
  const { method, path } = request;
  context.note(step.id, "repeating", "it had not happened and is sent once more");
  const journalFailure = await writeIntent({ step: step.id, reason: "repeat", method, path, body: step.body }, context);
  if (journalFailure !== null) return journalFailure;
  const result = resultOf(step, await context.api.send(request, context.aborting, context.stopping), unit);
  if (result.outcome === "done") return { ...result, repeated: true };
  return { ...(await listAfterRepeat(lost, result)), repeated: true };
}

/** The repeat may be refused because the first request was carried out after all, or its answer may be lost, too. */
async function listAfterRepeat(lost: Lost, result: StepResult): Promise<StepResult> {
  const { context, place, unit } = lost;
  const seconds = result.outcome === "unknown" ? LOOK_AGAIN_AFTER_SECONDS : 0;
  if (!(await pause(context.clock, seconds, context.aborting))) return result;
  const seen = await listAndRecognise(place, unit, context);
  switch (seen.type) {
    case "found":
      return adopt(lost, seen.item, seen.id);
    case "ambiguous":
      return resolveAmbiguous({ ...lost, result }, seen.ids, seen.items);
    case "useless":
      return { ...result, notices: [`${lost.step.id}: ${String(seen.id)} was made, but cannot be finished`] };
    case "absent":
    case "failed":
      return result;
  }
}
