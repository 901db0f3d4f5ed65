/** Drift as markdown, for an issue or the page of a nightly run: within the size of a comment. */

import { type Drift, type DriftStatus, hasDrift } from "../../model/drift.ts";
import { driftSummary, type Folded, foldedObjects, noDriftText, objectLines, unadoptedText } from "../drift.ts";
import { composeWithin } from "./compose.ts";
import type { List } from "./list.ts";
import { CODE_COLUMNS } from "./unit.ts";

const WHOLE = "All of it: `tenon drift`, or `--format json`.";

const HEADINGS: Readonly<Record<DriftStatus, string>> = {
  changed: "Changed in the account:",
  missing: "Missing in the account:",
  unexpected: "Not expected in the account:",
  unadopted: "As declared, but not adopted:",
};
/** The gravest first. */
const STATUSES = ["missing", "unexpected", "changed", "unadopted"] as const;
/** Characters for each list where there is not room for all. */
const SHARE_CHARACTERS = 14_000;

/** Newline-terminated, at most `MAX_BODY_CHARACTERS` UTF-16 code units. What has no room is counted. */
export function renderDriftMarkdown(drift: Drift): string {
  const folded = foldedObjects(drift);
  const isFound = hasDrift(drift);
  const unadopted = unadoptedText(drift);
  return composeWithin({
    head: [`## ${isFound ? driftSummary(drift) : noDriftText(drift)}`],
    before: STATUSES.map((status) => listOf(status, folded)),
    sections: [],
    frame: { strategies: [], tense: "ahead", whole: WHOLE },
    after: [],
    foot: [...(unadopted === "" ? [] : [unadopted]), ...(isFound ? [WHOLE] : [])],
  });
}

function listOf(status: DriftStatus, folded: readonly Folded[]): List {
  const entries = folded
    .filter(({ object }) => object.status === status)
    .map(({ object, within }) => objectLines(object, within, CODE_COLUMNS));
  return { heading: HEADINGS[status], entries, folding: "if-long", shareCharacters: SHARE_CHARACTERS };
}
