/** As markdown, that an apply was refused because the account or the manifests have moved on since the review. */

import type { Change } from "../../model/change.ts";
import { actionEntries } from "../by-root.ts";
import { composeWithin } from "./compose.ts";

const ADVICE = "Nothing was done. Review a new plan: `tenon plan --out FILE`.";

/** Newline-terminated, at most `MAX_BODY_CHARACTERS` UTF-16 code units. @param extra what the reviewed plan does not show */
export function renderUnreviewedMarkdown(extra: readonly Change[]): string {
  return composeWithin({
    head: ["## Refused: the plan is not within the reviewed one."],
    before: [
      {
        heading: "The reviewed plan does not show:",
        entries: actionEntries(extra),
        folding: "never",
        shareCharacters: 40_000,
      },
    ],
    sections: [],
    frame: { strategies: [], tense: "ahead", whole: "" },
    after: [],
    foot: [ADVICE],
  });
}
