/** Ignore patterns of a domain: which records Tenon does not look at. */

import type { IgnorePattern } from "../../model/desired.ts";
import { globMatches } from "../../model/glob.ts";

export interface IgnorableRecord {
  /** Relative, lower-case ASCII, `""` the apex. */
  readonly name: string;
  readonly type: string;
  /** Canonical, as in RecordSpec. */
  readonly target: string;
}

/** Types and names compare without regard to case, so do targets other than text. */
export function isIgnored(record: IgnorableRecord, patterns: readonly IgnorePattern[]): boolean {
  return patterns.some((pattern) => matches(record, pattern));
}

function matches(record: IgnorableRecord, pattern: IgnorePattern): boolean {
  if (pattern.name !== undefined && !globMatches(namePattern(pattern.name), record.name.toLowerCase())) return false;
  if (pattern.type !== undefined && !globMatches(pattern.type.toUpperCase(), record.type)) return false;
  if (pattern.target === undefined) return true;
  const isText = record.type === "TXT" || record.type === "CAA";
  return isText
    ? globMatches(pattern.target, record.target)
    : globMatches(withoutDot(pattern.target.toLowerCase()), record.target.toLowerCase());
}

function namePattern(name: string): string {
  return name === "@" ? "" : name.toLowerCase();
}

function withoutDot(pattern: string): string {
  return pattern.length > 1 && pattern.endsWith(".") ? pattern.slice(0, -1) : pattern;
}
