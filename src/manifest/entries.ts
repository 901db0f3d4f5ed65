/** The entries of the files, and what those who turn them into the desired state share. */

import type { Declared } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { isJsonObject } from "../model/resource.ts";
import type { Places } from "./places.ts";

export interface AssembleContext {
  readonly places: Places;
  readonly allowedSeconds: readonly number[];
  /** What lost a key to validation: not to be blamed for what is absent. */
  readonly incomplete: ReadonlySet<object>;
  report(diagnostic: Diagnostic): void;
}

/** A declared object with the entry it comes from. */
export interface Loaded {
  readonly declared: Declared;
  readonly entry: JsonObject;
}

/** The entries of a section in all files, unexpanded. */
export function sectionEntries(trees: readonly JsonObject[], section: string): JsonObject[] {
  return trees.flatMap((tree) => {
    const list = tree[section];
    return Array.isArray(list) ? (list as readonly Json[]).filter(isJsonObject) : [];
  });
}
