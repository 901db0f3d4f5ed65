/** Diagnostics: expected problems as values, with a stable code and a place in the source. */

import type { Address } from "./address.ts";

/** A place in a file as UTF-16 offsets; lines and columns are computed when it is shown. */
export interface Span {
  /** The file's path relative to the project folder, with forward slashes. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

export type Severity = "error" | "warning";

export interface Diagnostic {
  /** Stable kebab-case code, for example `unknown-key`. */
  readonly code: string;
  readonly severity: Severity;
  /** Terse: one line, no full stop. */
  readonly summary: string;
  /** Full sentences: what is wrong and why. May be empty. */
  readonly detail: string;
  /** What to do, as a full sentence. */
  readonly fix?: string;
  readonly span?: Span;
  readonly related?: readonly Related[];
  readonly address?: Address;
}

/** A second place that matters, for example the first of two duplicates. */
export interface Related {
  readonly message: string;
  readonly span: Span;
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === "error");
}
