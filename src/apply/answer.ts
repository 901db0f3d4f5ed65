/** Answer: what one answer to a step's request means for the step. */

import type { Answer, Method } from "../model/exchange.ts";
import type { Failure } from "../model/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import type { RequestStep } from "../model/step.ts";
import type { Unit } from "../model/unit.ts";
import { DONE, notDone, partsIn, type StepResult } from "./context.ts";
import { localFailure } from "./failures.ts";
import { readId, readProducts } from "./resolve.ts";

/** The result of a step whose request was answered, but for the looking up of a POST of unknown outcome. */
export function judge(step: RequestStep, answer: Answer, unit: Unit): StepResult {
  if (!answer.ok) return judgeFailure(step, answer.failure);
  if (step.method === "GET" && step.expect !== null) return judgeExpected(step, answer.body, unit);
  if (step.method === "POST" && !isJsonObject(answer.body)) return notDone("unknown", malformed("not an object"));
  const products = step.produces === null ? null : readProducts(step.produces, answer.body);
  if (step.produces !== null && products === null) {
    // The service said yes, so a POST may well have made something.
    return notDone(step.method === "GET" ? "failed" : "unknown", malformed("without the fields that later steps need"));
  }
  if (step.method !== "POST") return { ...DONE, products };
  const parts = partsIn(step, answer.body as JsonObject, unit);
  return { ...DONE, id: readId(step.produces, answer.body), parts, products };
}

/** Whether a request that failed may have had an effect all the same. */
export function isUnclear(method: Method, failure: Failure): boolean {
  if (method === "GET") return false;
  const accepted = failure.status !== null && failure.status >= 200 && failure.status < 300;
  return failure.effect === "unknown" || (failure.type === "malformed" && accepted);
}

function judgeFailure(step: RequestStep, failure: Failure): StepResult {
  if (failure.status === 404 && failure.type === "refused" && isGone(step)) return DONE;
  return notDone(isUnclear(step.method, failure) ? "unknown" : "failed", failure);
}

/** What is to be deleted and is not there needs no deleting, and nothing is left to look at before it. */
function isGone(step: RequestStep): boolean {
  return step.method === "DELETE" || (step.method === "GET" && step.expect !== null);
}

function judgeExpected(step: RequestStep, body: Json, unit: Unit): StepResult {
  if (!isJsonObject(body)) return notDone("failed", localFailure("malformed", "none", "the answer is not an object"));
  const objection = unit.permits(step, body);
  return objection === null ? DONE : notDone("failed", localFailure("refused", "none", objection));
}

function malformed(how: string): Failure {
  return localFailure("malformed", "unknown", `the service accepted the request, but its answer is ${how}`);
}
