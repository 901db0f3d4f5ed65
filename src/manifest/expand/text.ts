/** Texts inside values, replaced wherever they stand. */

import type { Json } from "../../model/resource.ts";
import type { Places } from "../places.ts";

/** A copy whose texts with a `${` are replaced; what needs no change is shared, and places are kept. */
export function mapText(value: Json, places: Places, replace: (text: string) => string): Json {
  if (typeof value === "string") return value.includes("${") ? replace(value) : value;
  if (typeof value !== "object" || value === null) return value;
  let clone: Record<string, Json> | null = null;
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, Json>)[key] as Json;
    const replaced = mapText(item, places, replace);
    if (replaced === item) continue;
    clone ??= copyOf(value, places);
    clone[key] = replaced;
  }
  return (clone as Json | null) ?? value;
}

function copyOf(value: object, places: Places): Record<string, Json> {
  const clone = Array.isArray(value) ? [...value] : Object.assign(Object.create(null), value);
  places.copy(clone, value);
  return clone;
}
