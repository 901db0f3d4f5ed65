/** Diagnostics as they are handed out: in the order of the files, each problem once. */

import type { Diagnostic } from "../model/diagnostic.ts";

/** One place may be wrong for many domains, through a record set or a list of names: it is said once, and counted. */
export function arrange(diagnostics: readonly Diagnostic[], files: readonly string[]): Diagnostic[] {
  const groups = new Map<string, { first: Diagnostic; others: number }>();
  for (const [index, diagnostic] of diagnostics.entries()) {
    const { span, code, summary } = diagnostic;
    const key = span === undefined ? `${index}` : JSON.stringify([code, summary, span.file, span.start, span.end]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first: diagnostic, others: 0 });
    else group.others += 1;
  }
  const order = new Map(files.map((file, index) => [file, index]));
  const rank = ({ span }: Diagnostic): number => (span === undefined ? -1 : (order.get(span.file) ?? files.length));
  return [...groups.values()]
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
