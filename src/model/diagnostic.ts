/** Diagnostics: expected problems as values, with a stable code and a place in the source. */

import type { Address } from "./resource.ts";
import { listSuggested, nearest } from "./text.ts";

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
  /** What would settle it, as changes of the text: one, or several to choose from. `fix` says the same to people. */
  readonly corrections?: readonly Correction[];
  readonly related?: readonly Related[];
  readonly address?: Address;
}

/** One word in the place of another. */
export interface Correction {
  /** As the value has it: where the text has it otherwise, as a variable does, there is nothing to be replaced. */
  readonly from: string;
  readonly to: string;
  /** Default: that of the diagnostic. */
  readonly span?: Span;
  /** `to` is no text, such as a number: quotes around `from` go, too. */
  readonly unquotes?: boolean;
}

/** What to write in place of a word that is not known: the nearest of the known ones, or a list of them. The fix is empty if none are. */
export function suggest(
  word: string,
  known: readonly string[],
): { readonly fix: string; readonly corrections?: readonly Correction[] } {
  const best = nearest(word, known);
  return best === null
    ? { fix: listSuggested(known) }
    : { fix: `Did you mean \`${best}\`?`, corrections: [{ from: word, to: best }] };
}

/** A second place that matters, for example the first of two duplicates. */
export interface Related {
  readonly message: string;
  readonly span: Span;
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === "error");
}

// Source texts of a project, with lines and columns worked out only when something is shown.

/** One-based; columns count UTF-16 code units, as editors and the language server protocol do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** File (relative to the project, forward slashes) → text. Offsets are UTF-16 offsets into the text without its BOM. */
export class Sources {
  readonly #texts: Map<string, string> = new Map();
  readonly #lineStarts: Map<string, number[]> = new Map();
  #characters = 0;

  /** The length of all texts together. */
  get characters(): number {
    return this.#characters;
  }

  add(file: string, text: string): void {
    this.#characters += text.length - (this.#texts.get(file)?.length ?? 0);
    this.#texts.set(file, text);
    this.#lineStarts.delete(file);
  }

  text(file: string): string | undefined {
    return this.#texts.get(file);
  }

  /** In the order in which they were added: the root file first. */
  files(): readonly string[] {
    return [...this.#texts.keys()];
  }

  /** Line 1, column 1 for a file that is not known. */
  position(file: string, offset: number): Position {
    const starts = this.#starts(file);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }

  /** The text of a line, without its end. */
  line(file: string, line: number): string {
    const starts = this.#starts(file);
    const text = this.#texts.get(file) ?? "";
    return text.slice(starts[line - 1] ?? text.length, starts[line] ?? text.length).replace(/\r?\n$/, "");
  }

  #starts(file: string): number[] {
    const known = this.#lineStarts.get(file);
    if (known !== undefined) return known;
    const text = this.#texts.get(file) ?? "";
    const starts = [0];
    for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) starts.push(index + 1);
    this.#lineStarts.set(file, starts);
    return starts;
  }
}
