/** Rules about the dates of entries: what is to be reviewed, and what has expired. */

import { type Annotations, isPast } from "../../model/annotations.ts";
import type { Diagnostic, Span } from "../../model/diagnostic.ts";
import type { Address } from "../../model/resource.ts";
import type { RuleText } from "../rule.ts";

/** An entry that says something for people. */
export interface DatedEntry {
  readonly annotations: Annotations;
  readonly span: Span;
  /** Of the network, zone or image. */
  readonly address: Address;
  /** Its record is no longer declared once it has expired. */
  readonly isRecord: boolean;
  /** Codes that are switched off for it. */
  readonly off: readonly string[];
}

export const REVIEW_DUE: RuleText = {
  code: "review-due",
  severity: "warning",
  finds: "an entry whose `review_by` is past",
  why: "Whoever wrote it asked for another look by then.",
  fix: "Look whether it is still right, and move its `review_by`, or remove the entry.",
};

export const EXPIRED_ENTRY: RuleText = {
  code: "expired-entry",
  severity: "warning",
  finds: "an entry whose `expires` is past",
  why: "A record is no longer declared from the day after it: its deletion is planned, with the consent `delete`, or what it had overridden is there again. A VPC, subnet, domain or image stays until its entry is removed.",
  fix: "Remove the entry once it is applied, or move its `expires` if it is still needed.",
};

/** @param today YYYY-MM-DD, UTC */
export function lintDates(
  entries: Iterable<DatedEntry>,
  projectOff: readonly string[],
  today: string | undefined,
): Diagnostic[] {
  const found: Diagnostic[] = [];
  // The records of one entry share what it says: it is reported once.
  const seen = new Set<Annotations>();
  for (const { annotations, span, address, isRecord, off } of entries) {
    if (seen.has(annotations)) continue;
    seen.add(annotations);
    const { owner, review_by, expires } = annotations;
    const whose = owner === undefined ? "" : ` (owner: ${owner})`;
    const isOn = ({ code }: RuleText): boolean => !projectOff.includes(code) && !off.includes(code);
    const place = { span, address };
    if (isPast(expires, today) && isOn(EXPIRED_ENTRY)) {
      const { code, severity, fix } = EXPIRED_ENTRY;
      const detail = isRecord
        ? "The record is no longer declared. A plan deletes it, with the consent `delete`, or makes it what the entry had overridden, without one."
        : "It stays as it is: only records go when they expire.";
      found.push({ code, severity, summary: `the entry expired on ${expires}${whose}`, detail, fix, ...place });
    } else if (isPast(review_by, today) && isOn(REVIEW_DUE)) {
      const { code, severity, why, fix } = REVIEW_DUE;
      const summary = `the entry was to be reviewed by ${review_by}${whose}`;
      found.push({ code, severity, summary, detail: why, fix, ...place });
    }
  }
  return found;
}
