/** Failures that apply itself finds, in the shape of those that the client returns. */

import type { Failure, FailureType } from "../model/failure.ts";
import type { Reference } from "../model/step.ts";

/** @param message one sentence without a full stop, safe to show */
export function localFailure(type: FailureType, effect: Failure["effect"], message: string): Failure {
  return { type, effect, status: null, errors: [], message, maintenance: false, attempts: 0 };
}

export function unresolved(missing: Reference): Failure {
  return localFailure("malformed", "none", `no earlier answer gave the ${missing.field} of ${missing.ref}`);
}
