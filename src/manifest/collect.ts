/** Diagnostics as they are handed out: in the order of the files, each problem once. */

import type { Diagnostic } from "../model/diagnostic.ts";

/** One place may be wrong for many domains, through a record set or a list of names: it is kept once, and counted. */
export class Findings {
  readonly #groups: Map<string, Group> = new Map();
  #hasErrors = false;

  add(diagnostic: Diagnostic): void {
    const { span, code, summary } = diagnostic;
    const key =
      span === undefined ? `${this.#groups.size}` : JSON.stringify([code, summary, span.file, span.start, span.end]);
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, { first: diagnostic, others: 0 });
    else group.others += 1;
    if (diagnostic.severity === "error") this.#hasErrors = true;
  }

  get hasErrors(): boolean {
    return this.#hasErrors;
  }

  groups(): readonly Group[] {
    return [...this.#groups.values()];
  }
}

interface Group {
  readonly first: Diagnostic;
  others: number;
}

export function arrange(diagnostics: readonly Diagnostic[], files: readonly string[]): Diagnostic[] {
  const found = new Findings();
  for (const diagnostic of diagnostics) found.add(diagnostic);
  return arrangeGroups(found.groups(), files);
}

export function arrangeGroups(groups: readonly Group[], files: readonly string[]): Diagnostic[] {
  const order = new Map(files.map((file, index) => [file, index]));
  const rank = ({ span }: Diagnostic): number => (span === undefined ? -1 : (order.get(span.file) ?? files.length));
  return groups
    .map(({ first, others }) =>
      others === 0 ? first : { ...first, detail: `${first.detail} ${repeated(others)}`.trim() },
    )
    .sort((a, b) => rank(a) - rank(b) || (a.span?.start ?? 0) - (b.span?.start ?? 0));
}

function repeated(others: number): string {
  return others === 1
    ? "The same is wrong in one more place that shares this line or value."
    : `The same is wrong in ${others} more places that share this line or value.`;
}
