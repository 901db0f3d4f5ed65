/** As text, what an apply would do that the reviewed plan does not show. */

import type { Change } from "../model/change.ts";
import { actionEntries } from "./by-root.ts";

/** All of it, a line each, indented and newline-terminated. */
export function renderUnreviewedText(extra: readonly Change[]): string {
  return actionEntries(extra)
    .flat()
    .map((line) => `  ${line}\n`)
    .join("");
}
