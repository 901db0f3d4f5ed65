/** What a description of a VPC or image may hold. */

import type { JsonObject } from "../model/resource.ts";
import type { LoadContext } from "../model/unit.ts";
import { joinDescription } from "./ownership.ts";

/** @param maxCharacters with the owner's tag; the service counts characters (code points), not UTF-16 units */
export function checkDescription(entry: JsonObject, maxCharacters: number, context: LoadContext): void {
  const text = entry["description"];
  if (typeof text !== "string") return;
  const span = context.span(entry, "description");
  if (text.toLowerCase().includes("[tenon:")) {
    const detail = "`[tenon:…]` in a description is how Tenon marks what it owns, so your own text cannot hold it.";
    context.report({
      code: "reserved-tag",
      severity: "error",
      summary: "the description holds an ownership tag",
      detail,
      fix: "Remove it; set `owner` in the root file instead.",
      span,
    });
  }
  const length = characters(joinDescription(text, context.owner));
  if (length <= maxCharacters) return;
  const tag = length - characters(text);
  const counted = tag === 0 ? "" : `, ${tag} of them for the owner's tag`;
  context.report({
    code: "too-long",
    severity: "error",
    summary: "`description` is too long",
    detail: `It would have ${length} characters${counted}; the service takes ${maxCharacters}.`,
    fix: `Shorten it to ${maxCharacters - tag} characters.`,
    span,
  });
}

function characters(text: string): number {
  return [...text].length;
}
