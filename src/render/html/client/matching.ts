/** What a search and its filters let through: pure, without the page. */

export interface Criteria {
  /** All of them must be there. Lower-case. */
  readonly words: readonly string[];
  /** Empty: all. */
  readonly states: ReadonlySet<string>;
  /** Empty: all. */
  readonly kind: string;
  /** Empty: all. */
  readonly label: string;
}

/** Something that can be found. */
export interface Candidate {
  readonly kind: string;
  readonly state: string;
  readonly labels: readonly string[];
  /** Lower-case, with that of what it is in. */
  text(): string;
}

/** Words of a search, lower-case, each once. */
export function wordsOf(search: string): string[] {
  return [
    ...new Set(
      search
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word !== ""),
    ),
  ];
}

export function isNarrowing({ words, states, kind, label }: Criteria): boolean {
  return words.length > 0 || states.size > 0 || kind !== "" || label !== "";
}

export function fits({ words, states, kind, label }: Criteria, candidate: Candidate): boolean {
  if (kind !== "" && candidate.kind !== kind) return false;
  if (label !== "" && !candidate.labels.includes(label)) return false;
  if (states.size > 0 && !states.has(candidate.state)) return false;
  if (words.length === 0) return true;
  const text = candidate.text();
  return words.every((word) => text.includes(word));
}
