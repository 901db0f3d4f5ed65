/** Recognise: lists the collection that a lost POST may have added to, and lets the unit find what the POST made. */

import type { Failure, ListAnswer } from "../model/api.ts";
import type { Lookup } from "../model/plan.ts";
import type { JsonObject, ObjectId } from "../model/resource.ts";
import type { Recognition, Unit } from "../model/unit.ts";
import type { Context } from "./step.ts";

/** `items` is the whole list: `Recognition` holds only the ids of several equal objects, and `recover` adopts one of the objects. */
export type LookupResult =
  | (Recognition & { readonly items: readonly JsonObject[] })
  | { readonly type: "failed"; readonly failure: Failure };

/** A lookup with its path resolved. */
export interface Place {
  readonly lookup: Lookup;
  readonly path: readonly string[];
}

export async function listAndRecognise(place: Place, unit: Unit, context: Context): Promise<LookupResult> {
  const answer = await list(place, context);
  return answer.ok ? recogniseIn(answer, place, unit) : { type: "failed", failure: answer.failure };
}

/** Reads the list, and leaves out what was there before this run, and what its other steps made: none of it can come from the lost POST. */
export async function list(place: Place, context: Context): Promise<ListAnswer> {
  const { lookup, path } = place;
  const { filter } = lookup;
  const answer = await context.api.list({ path, ...(filter === null ? {} : { filter }) }, context.aborting);
  if (!answer.ok) return answer;
  const made = context.made.in(lookup, path);
  const mayBeOurs = (id: ObjectId): boolean => !made.has(id) && !context.wasThere(lookup.kind, id);
  return { ...answer, items: answer.items.filter((item) => mayBeOurs(item["id"] as ObjectId)) };
}

/** The age of an object is measured against the time at which the service gave the list. */
export function recogniseIn(
  { items, servedMilliseconds }: Extract<ListAnswer, { ok: true }>,
  { lookup, path }: Place,
  unit: Unit,
): LookupResult {
  return { ...unit.recognise({ ...lookup, path }, items, servedMilliseconds ?? null), items };
}

export function itemWithId(items: readonly JsonObject[], id: ObjectId): JsonObject {
  return items.find((item) => item["id"] === id) ?? { id };
}
