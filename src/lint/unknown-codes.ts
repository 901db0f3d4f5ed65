/** Codes under `lint: { off: […] }` that no rule has. */

import type { Diagnostic, Span } from "../model/diagnostic.ts";
import { nearest } from "../model/suggest.ts";
import type { RuleText } from "./rule.ts";
import type { LintZone } from "./zone.ts";

export const UNKNOWN_LINT_CODE: RuleText = {
  code: "unknown-lint-code",
  severity: "warning",
  finds: "a code under `lint: { off: […] }` that no rule has",
  why: "It switches nothing off.",
  fix: "Use a code of the table in docs/dns.md, or remove it.",
};

/**
 * Each code once for each place: a record, a domain, the project.
 * @param projectSpans where the codes of the project stand
 */
export function unknownCodes(
  zones: readonly LintZone[],
  projectOff: readonly string[],
  known: readonly string[],
  projectSpans: ReadonlyMap<string, Span>,
): Diagnostic[] {
  const isKnown = new Set(known);
  if (projectOff.includes(UNKNOWN_LINT_CODE.code)) return [];
  const found: Diagnostic[] = [];
  const look = (off: readonly string[], place: { readonly span?: Span; readonly address?: string }): void => {
    if (off.includes(UNKNOWN_LINT_CODE.code)) return;
    for (const code of new Set(off)) if (!isKnown.has(code)) found.push({ ...unknown(code, known), ...place });
  };
  for (const code of new Set(projectOff)) {
    const span = projectSpans.get(code);
    look([code], span === undefined ? {} : { span });
  }
  for (const { off, span, address, records } of zones) {
    look(off, { span, address });
    if (off.includes(UNKNOWN_LINT_CODE.code)) continue;
    for (const record of records ?? []) look(record.off, { span: record.span, address });
  }
  return found;
}

function unknown(code: string, known: readonly string[]): Diagnostic {
  const { code: ours, severity, why, fix } = UNKNOWN_LINT_CODE;
  const meant = nearest(code, known);
  return {
    code: ours,
    severity,
    summary: `unknown lint code \`${code}\``,
    detail: `No lint rule has the code \`${code}\`. ${why}`,
    fix: meant === null ? fix : `Did you mean \`${meant}\`?`,
  };
}
