/** The one form of a request step, before it is ordered. */

import type { Change } from "../model/change.ts";
import type { JsonObject } from "../model/resource.ts";
import type { PathPart, RequestStep } from "../model/step.ts";

export type UnorderedRequest = Omit<RequestStep, "after" | "afterEnd">;

/** A request that carries out one change; what more it does is spread over it. */
export function request(
  change: Change,
  id: string,
  method: RequestStep["method"],
  path: readonly PathPart[],
  body: JsonObject | null,
): UnorderedRequest {
  return {
    id,
    type: "request",
    unit: change.unit,
    root: change.root,
    changes: [change.key],
    method,
    path,
    body,
    produces: null,
    lookup: null,
    expect: null,
  };
}
