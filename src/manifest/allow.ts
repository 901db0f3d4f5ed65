/** The `allow:` entries of the root file. */

import type { Consent, ConsentRule } from "../model/desired.ts";
import type { JsonObject } from "../model/resource.ts";
import { type AssembleContext, sectionEntries } from "./entries.ts";

const RULES: readonly ConsentRule[] = ["delete", "replace", "bulk", "ns"];

export function loadAllow(root: JsonObject, context: AssembleContext): Consent[] {
  return sectionEntries([root], "allow").flatMap((entry) => loadConsent(entry, context) ?? []);
}

function loadConsent(entry: JsonObject, context: AssembleContext): Consent | null {
  const named = RULES.filter((rule) => Object.hasOwn(entry, rule));
  const [rule] = named;
  const until = entry["until"];
  if (typeof until === "string" && !isDate(until)) {
    const detail = `\`${until}\` is not a date of the form YYYY-MM-DD.`;
    const span = context.places.span(entry, "until");
    context.report({
      code: "bad-date",
      severity: "error",
      summary: "bad date",
      detail,
      fix: "For example: 2026-12-31.",
      span,
    });
  }
  if (rule === undefined || named.length > 1) {
    if (rule === undefined && context.incomplete.has(entry)) return null;
    const summary = rule === undefined ? "what is allowed?" : "more than one consent in an entry";
    const detail = "An entry of `allow` has exactly one of `delete`, `replace`, `bulk` and `ns`.";
    const span =
      rule === undefined ? context.places.firstKeySpan(entry) : context.places.keySpan(entry, named[1] ?? "");
    context.report({ code: "bad-consent", severity: "error", summary, detail, fix: "Give each its own entry.", span });
    return null;
  }
  return {
    rule,
    address: String(entry[rule]),
    until: typeof until === "string" ? until : null,
    reason: typeof entry["reason"] === "string" ? entry["reason"] : null,
    span: context.places.span(entry, rule),
  };
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
