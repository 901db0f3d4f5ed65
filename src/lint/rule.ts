/** What a rule is, what it finds, and how that becomes a diagnostic. */

import type { Diagnostic, Related, Severity, Span } from "../model/diagnostic.ts";
import type { World, ZoneView } from "./world.ts";
import type { LintRecord } from "./zone.ts";

/** A rule as the documentation tells it. */
export interface RuleText {
  /** Stable, kebab-case: what people write under `lint: { off: […] }`. */
  readonly code: string;
  /** An error is what cannot work at all. */
  readonly severity: Severity;
  /** What it finds, as a phrase. */
  readonly finds: string;
  /** Why it matters: full sentences, with the source. */
  readonly why: string;
  /** What to do, as a full sentence. */
  readonly fix: string;
}

/** A rule over one zone, in the light of all. */
export interface ZoneRule extends RuleText {
  /** In the order of the records; linear in their number. */
  check(view: ZoneView, world: World): Iterable<Finding>;
}

export interface Finding {
  /** Terse, without the zone's name, so that one line taken over by many domains is told once. */
  readonly summary: string;
  /** Full sentence: what is wrong here. */
  readonly detail: string;
  /** Whose place is shown, then whoever else has a part in it: any of them can switch the rule off. None: the zone itself. */
  readonly records: readonly LintRecord[];
  readonly related?: readonly Related[];
  /** Instead of the rule's. */
  readonly fix?: string;
}

/** @returns null if the rule is switched off for a record that has a part in it */
export function diagnose(rule: RuleText, finding: Finding, view: ZoneView): Diagnostic | null {
  const { zone } = view;
  if (finding.records.some(({ off }) => off.includes(rule.code))) return null;
  const span: Span = finding.records[0]?.span ?? zone.span;
  return {
    code: rule.code,
    severity: rule.severity,
    summary: finding.summary,
    detail: `${finding.detail} ${rule.why}`.trim(),
    fix: finding.fix ?? rule.fix,
    span,
    ...(finding.related === undefined || finding.related.length === 0 ? {} : { related: finding.related }),
    address: zone.address,
  };
}

export function related(message: string, record: LintRecord): Related {
  return { message, span: record.span };
}
