/** Reading entries of a manifest that fit the schema, and putting defaults under them. */

import type { Json, JsonObject } from "../../model/resource.ts";
import { isJsonObject } from "../../model/resource.ts";
import type { Places } from "../places.ts";

/** Keys of `entry` win; both stand in the same file. */
export function withDefaults(entry: JsonObject, defaults: JsonObject, places: Places): JsonObject {
  const missing = Object.keys(defaults).filter((key) => !Object.hasOwn(entry, key));
  if (missing.length === 0) return entry;
  const merged: Record<string, Json> = Object.assign(Object.create(null), entry);
  for (const key of missing) merged[key] = defaults[key] as Json;
  places.merge(merged, entry, defaults);
  return merged;
}

export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isJsonObject(value) ? value : {};
}

export function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : [];
}

export function textAt(object: JsonObject, key: string): string | null {
  const value = object[key];
  return typeof value === "string" ? value : null;
}
