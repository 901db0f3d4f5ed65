/** What resolvers ask for, and what an answer to it depends on. */

import type { RecordType } from "../../../api/wire/index.ts";

/** `address`: either kind. */
export type Question = RecordType | "address";

/** What an alias may lead to. */
export const ASKED_OF_ALIASES: readonly Question[] = [
  "address",
  "A",
  "AAAA",
  "TXT",
  "MX",
  "NS",
  "SRV",
  "CAA",
  "PTR",
  "CNAME",
];

/** How far aliases are followed, as resolvers do. */
export const MAX_CHAIN_LENGTH = 16;

export function isAddress(question: string): boolean {
  return question === "A" || question === "AAAA" || question === "address";
}

/**
 * Something that comes or goes, and on which answers depend.
 * - `answer`: what an owner answers the question with. - `zone`: a zone that is served. - `cut`: a delegation.
 * - `open`: no delegation at a name, or no deeper zone. - `wildcard`: no name at or beneath one, so that a wildcard above it answers.
 */
export type Thing =
  | { readonly type: "answer"; readonly zone: string; readonly owner: string; readonly question: Question }
  | { readonly type: "zone" | "cut" | "open" | "wildcard"; readonly zone: string; readonly owner: string };

/** In the words of a gap. */
export function wordsOf(thing: Thing): string {
  switch (thing.type) {
    case "answer":
      return thing.question === "address" ? `${thing.owner} address` : `${thing.owner} ${thing.question}`;
    case "zone":
      return `zone ${thing.owner}`;
    case "cut":
      return `delegation ${thing.owner}`;
    case "open":
      return thing.zone === thing.owner ? `outside ${thing.owner}` : `beneath ${thing.owner}`;
    case "wildcard":
      return `wildcard ${thing.owner}`;
  }
}
