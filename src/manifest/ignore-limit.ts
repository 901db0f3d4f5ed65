/** How many patterns one `ignore` may have, asked before a record is compared with them. */

import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/resource.ts";
import { MAX_IGNORE_PATTERNS } from "./limits.ts";
import type { Places } from "./places.ts";

/** @returns what is wrong with it, at the first pattern that is too many, or null */
export function tooLongIgnore(ignore: Json | undefined, places: Places): Diagnostic | null {
  if (!Array.isArray(ignore) || ignore.length <= MAX_IGNORE_PATTERNS) return null;
  return {
    code: "too-many-patterns",
    severity: "error",
    summary: "too many patterns under `ignore`",
    detail: `Each pattern is compared with each record of its domain, those in the account included. An \`ignore\` may have ${MAX_IGNORE_PATTERNS.toLocaleString("en")} patterns, and this one has ${ignore.length.toLocaleString("en")}; what follows is not looked at.`,
    fix: "Join patterns with stars.",
    span: places.span(ignore, MAX_IGNORE_PATTERNS),
  };
}
