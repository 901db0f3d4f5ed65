/** Ignore patterns of a domain: which records Tenon does not look at. */

import type { IgnorePattern } from "../../model/desired.ts";

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

/** `*` matches any text, `\*` is a star. Greedy with one point to return to, so that no pattern is slow. */
export function globMatches(pattern: string, text: string): boolean {
  const parts = tokens(pattern);
  let [p, t, star, mark] = [0, 0, -1, 0];
  while (t < text.length) {
    const part = parts[p];
    if (part === ANY) {
      star = p;
      mark = t;
      p += 1;
    } else if (part !== undefined && part === text[t]) {
      p += 1;
      t += 1;
    } else if (star !== -1) {
      p = star + 1;
      mark += 1;
      t = mark;
    } else return false;
  }
  while (parts[p] === ANY) p += 1;
  return p === parts.length;
}

const ANY = Symbol("any text");

function tokens(pattern: string): (string | typeof ANY)[] {
  const parts: (string | typeof ANY)[] = [];
  for (let index = 0; index < pattern.length; index += 1) {
    const character = pattern[index] as string;
    if (character === "\\" && pattern[index + 1] === "*") {
      parts.push("*");
      index += 1;
    } else parts.push(character === "*" ? ANY : character);
  }
  return parts;
}
