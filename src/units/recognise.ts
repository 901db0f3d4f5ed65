/** Recognition by content: the one object that was not there before and says exactly what the request said. */

import isEqual from "fast-deep-equal";
import type { Json, JsonObject, ObjectId } from "../model/resource.ts";
import type { Lookup } from "../model/step.ts";
import type { Recognition } from "../model/unit.ts";

/** @param contentOf an item's content in the form of `lookup.match` */
export function recogniseOne(
  lookup: Lookup,
  items: readonly JsonObject[],
  contentOf: (item: JsonObject) => Json,
): Recognition {
  const known = new Set(lookup.known);
  const equal = items.filter((item) => !known.has(item["id"] as ObjectId) && isEqual(contentOf(item), lookup.match));
  const [first, second] = equal;
  if (first === undefined) return { type: "absent" };
  if (second === undefined) return { type: "found", item: first, id: first["id"] as ObjectId };
  return { type: "ambiguous", ids: equal.map((item) => item["id"] as ObjectId) };
}
