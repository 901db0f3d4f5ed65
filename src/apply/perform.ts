/** Perform: carries out one step, whatever its type. */

import type { ApiRequest } from "../model/exchange.ts";
import type { JsonObject } from "../model/resource.ts";
import type { RequestStep, Step } from "../model/step.ts";
import type { Unit } from "../model/unit.ts";
import { judge } from "./answer.ts";
import { announce, type Context, notDone, type StepResult } from "./context.ts";
import { unresolved } from "./failures.ts";
import { recover } from "./recover.ts";
import { resolvePath } from "./resolve.ts";
import { surpriseOf } from "./surprise.ts";
import { performUpload } from "./upload.ts";
import { performWait } from "./wait.ts";

/** Everything expected is in the result; throws for bugs only. */
export function perform(step: Step, context: Context): Promise<StepResult> {
  switch (step.type) {
    case "request":
      return performRequest(step, context);
    case "upload":
      return performUpload(step, context);
    case "wait":
      return performWait(step, context);
  }
}

async function performRequest(step: RequestStep, context: Context): Promise<StepResult> {
  const unit = unitOf(step, context);
  const path = resolvePath(step.path, context.products);
  if (!path.ok) return notDone("failed", unresolved(path.missing));
  const { method } = step;
  const body = bodyOf(step, unit, context);
  const unwritten = await announce({ step: step.id, reason: "step", method, path: path.value, body }, context);
  if (unwritten !== null) return unwritten;
  const request: ApiRequest = { method, path: path.value, ...(body === null ? {} : { body }) };
  const answer = await context.api.send(request, context.inFlight);
  const surprise = surpriseOf(step, context.changes.get(step.changes[0] ?? ""), answer, unit);
  const result = { ...judge(step, answer, unit), surprises: surprise === null ? [] : [surprise] };
  const lost = result.outcome === "unknown" && method === "POST" && result.failure?.type !== "aborted";
  return lost ? recover(step, request, result, unit, context) : result;
}

/** What depends on an earlier answer is known only now. Whatever it refers to is done, or the step would have been skipped. */
function bodyOf({ body, amends }: RequestStep, unit: Unit, context: Context): JsonObject | null {
  if (body === null || amends === undefined || unit.amend === undefined) return body;
  return unit.amend(body, Object.fromEntries(context.products.get(amends) ?? []));
}

/** The unit that a step belongs to. Throws if the caller did not hand it in. */
export function unitOf(step: Step, context: Context): Unit {
  const unit = context.units.get(step.unit);
  if (unit === undefined) throw new Error(`There is no unit ${step.unit} for step ${step.id}.`);
  return unit;
}
