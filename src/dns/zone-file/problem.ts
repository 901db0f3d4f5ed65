/** What is wrong with a zone file at one place. */

import type { Diagnostic } from "../../model/diagnostic.ts";

/** UTF-16 offsets within one file. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

export type Problem = Required<Pick<Diagnostic, "code" | "summary" | "detail" | "fix">>;

export interface PlacedProblem {
  readonly place: Place;
  readonly problem: Problem;
}

/** Carries a problem from wherever it is found within an entry to `readZoneFile`, which makes a value of it and goes on behind the entry. */
export class Misread extends Error implements PlacedProblem {
  readonly problem: Problem;
  readonly place: Place;

  constructor(place: Place, problem: Problem) {
    super(problem.summary);
    this.place = place;
    this.problem = problem;
  }
}

/** Longer words are cut: a file can consist of one. */
const MAX_SHOWN_LENGTH = 60;

/** A piece of the file as part of a sentence. */
export function shown(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `\`${text.slice(0, MAX_SHOWN_LENGTH)}…\`` : `\`${text}\``;
}
