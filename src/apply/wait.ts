/** Wait: polls a resource until a field has one of the wanted values. */

import type { Json } from "../model/resource.ts";
import type { WaitStep } from "../model/step.ts";
import { pause } from "./clock.ts";
import { announce, type Context, DONE, notDone, type StepResult } from "./context.ts";
import { localFailure, unresolved } from "./failures.ts";
import { readField, resolvePath } from "./resolve.ts";

/** An image is available after seconds or after many minutes: quick at first, then easy on the service. */
export const FIRST_POLL_INTERVAL_SECONDS = 1;
export const MAX_POLL_INTERVAL_SECONDS = 10;
const POLL_INTERVAL_GROWTH = 1.5;

/** Looks at once, then at growing intervals. An interrupt ends it: between two polls nothing is in flight. */
export async function performWait(step: WaitStep, context: Context): Promise<StepResult> {
  const path = resolvePath(step.path, context.products);
  if (!path.ok) return notDone("failed", unresolved(path.missing));
  const unwritten = await announce(
    { step: step.id, reason: "step", method: "wait", path: path.value, body: null },
    context,
  );
  if (unwritten !== null) return unwritten;

  const deadline = context.clock.now() + step.limitSeconds * 1000;
  let interval = FIRST_POLL_INTERVAL_SECONDS;
  for (;;) {
    const answer = await context.api.send({ method: "GET", path: path.value }, context.inFlight);
    if (!answer.ok) {
      const isGone = answer.failure.status === 404 && answer.failure.type === "refused";
      const gone = `${step.id}: what was waited for is gone, deleted by somebody else; plan again`;
      return { ...notDone("failed", answer.failure), surprises: isGone ? [gone] : [] };
    }
    const value = readField(answer.body, step.field);
    if (typeof value === "string" && step.until.includes(value)) return DONE;
    const secondsLeft = (deadline - context.clock.now()) / 1000;
    const state = `${step.field} is ${shown(value)}`;
    if (secondsLeft <= 0) {
      return notDone("failed", localFailure("unavailable", "none", `after ${step.limitSeconds} s, ${state}`));
    }
    const seconds = Math.min(interval, secondsLeft);
    context.note(step.id, "waiting", state, seconds);
    if (!(await pause(context.clock, seconds, context.stopping))) {
      return notDone("failed", localFailure("aborted", "none", `the wait was interrupted while ${state}`));
    }
    interval = Math.min(interval * POLL_INTERVAL_GROWTH, MAX_POLL_INTERVAL_SECONDS);
  }
}

function shown(value: Json | undefined): string {
  return value === undefined ? "missing" : `${JSON.stringify(value)}`;
}
