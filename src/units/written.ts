/** What units share when they write a spec back as a manifest entry. */

import type { Json, JsonObject } from "../model/resource.ts";

/** Without the keys that are undefined; null stays, for it resets. */
export function stated(entry: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as JsonObject;
}

export function noteOf(note: string | null): JsonObject {
  return note === null ? {} : { note };
}
