/** Look: lists what a lost POST may have made, and lets the unit recognise it. */

import type { ListAnswer } from "../model/exchange.ts";
import type { Failure } from "../model/failure.ts";
import type { JsonObject, ObjectId } from "../model/resource.ts";
import type { Lookup } from "../model/step.ts";
import type { Recognition, Unit } from "../model/unit.ts";
import type { Context } from "./context.ts";

/** `items` are there so that one of several equal ones can be taken. */
export type Look =
  | (Recognition & { readonly items: readonly JsonObject[] })
  | { readonly type: "failed"; readonly failure: Failure };

/** A lookup whose path is known. */
export interface Place {
  readonly lookup: Lookup;
  readonly path: readonly string[];
}

export async function look(place: Place, unit: Unit, context: Context): Promise<Look> {
  const listed = await list(place, context);
  return listed.ok ? recogniseIn(listed, place, unit) : { type: "failed", failure: listed.failure };
}

/** What is there, but for what steps of this run are known to have made: none of it can be what was lost. */
export async function list(place: Place, context: Context): Promise<ListAnswer> {
  const { lookup, path } = place;
  const { filter } = lookup;
  const answer = await context.api.list({ path, ...(filter === null ? {} : { filter }) }, context.inFlight);
  if (!answer.ok) return answer;
  const made = context.made.in(lookup, path);
  return { ...answer, items: answer.items.filter((item) => !made.has(item["id"] as ObjectId)) };
}

/** How old something is, is judged by the time of the service that listed it. */
export function recogniseIn(
  { items, servedMilliseconds }: Extract<ListAnswer, { ok: true }>,
  { lookup, path }: Place,
  unit: Unit,
): Look {
  return { ...unit.recognise({ ...lookup, path }, items, servedMilliseconds ?? null), items };
}

export function itemWithId(items: readonly JsonObject[], id: ObjectId): JsonObject {
  return items.find((item) => item["id"] === id) ?? { id };
}
