/** Diagnostics that say the same of several things: what differs line by line, and what is the same once. */

import type { Diagnostic } from "../model/diagnostic.ts";
import { groupBy } from "../model/group.ts";
import { escapeText } from "./escape.ts";

export interface Alike {
  /** One for each; escaped. */
  readonly summaries: readonly string[];
  /** Why, and what to do, as far as it is said; escaped. */
  readonly advice: readonly string[];
}

/**
 * In the order of the first of each kind.
 * @param markOf what is said behind a summary: our own words
 */
export function groupAlike(diagnostics: readonly Diagnostic[], markOf: (diagnostic: Diagnostic) => string): Alike[] {
  const groups = groupBy(diagnostics, ({ code, detail, fix }) => JSON.stringify([code, detail, fix ?? null]));
  return [...groups.values()].map((same) => ({
    summaries: same.map((diagnostic) => escapeText(diagnostic.summary) + markOf(diagnostic)),
    advice: [same[0]?.detail ?? "", same[0]?.fix ?? ""].filter((text) => text !== "").map(escapeText),
  }));
}
