/** Many interleavings, each of another order of requests, and what is counted of them. */

import { type Counts, report } from "./counts.ts";
import { type Outcome, play } from "./interleave.ts";
import { Projects } from "./interleave-projects.ts";

export interface Tally {
  readonly tried: number;
  readonly survived: number;
  /** Orders of (run, method, path template), all different. */
  readonly distinct: number;
  /** Orders of what changes something, all different, in which each run writes between two writes of the other. */
  readonly alternating: number;
  /** Of those that did not survive, with the seed that shows it again. */
  readonly problems: readonly string[];
  readonly notices: ReadonlySet<string>;
  readonly applied: number;
  readonly duplicates: number;
  readonly yielded: number;
  readonly imagesGone: number;
}

/** A line of a sequence begins with the run: `0 ` or `1 `. */
const RUN_PREFIX_LENGTH = 2;
/** One run's writes, then the other's, is one change: the second run could just as well have come later. */
const MIN_CHANGES_OF_RUN = 2;

/** TENON_CHAOS_SEED: this one interleaving only. */
export function chosenSeed(): number | null {
  const text = process.env["TENON_CHAOS_SEED"] ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** @param count of different interleavings; a seed that gives an order that was there before is tried, and not counted */
export async function playMany(suite: string, count: number): Promise<Tally> {
  const chosen = chosenSeed();
  const projects = new Projects();
  const sequences = new Set<string>();
  const outcomes: Outcome[] = [];
  const limit = 2 * count;
  try {
    for (let seed = 1; seed <= limit && sequences.size < count && chosen === null; seed += 1) {
      const outcome = await survive(seed, projects);
      outcomes.push(outcome);
      sequences.add(outcome.sequence.join("\n"));
    }
    if (chosen !== null) outcomes.push(await survive(chosen, projects));
  } finally {
    await projects.close();
  }
  const tally = tallyOf(outcomes, chosen === null ? sequences.size : 1);
  report(countsOf(suite, tally));
  return tally;
}

/** What stops the harness itself names its seed, too. */
async function survive(seed: number, projects: Projects): Promise<Outcome> {
  try {
    return await play(seed, projects);
  } catch (error) {
    throw new Error(`TENON_CHAOS_SEED=${seed} shows it again`, { cause: error });
  }
}

function tallyOf(outcomes: readonly Outcome[], distinct: number): Tally {
  const sum = (field: "applied" | "duplicates" | "yielded" | "imagesGone") =>
    outcomes.reduce((total, outcome) => total + outcome[field], 0);
  return {
    tried: outcomes.length,
    survived: outcomes.filter(({ problems }) => problems.length === 0).length,
    distinct,
    alternating: new Set(
      outcomes
        .map(writesOf)
        .filter(alternates)
        .map((writes) => writes.join("\n")),
    ).size,
    problems: outcomes.flatMap(({ seed, pair, problems }) =>
      problems.map((problem) => `TENON_CHAOS_SEED=${seed} (${pair}): ${problem}`),
    ),
    notices: new Set(outcomes.flatMap(({ notices }) => notices.map(sentenceOf))),
    applied: sum("applied"),
    duplicates: sum("duplicates"),
    yielded: sum("yielded"),
    imagesGone: sum("imagesGone"),
  };
}

/** Only reads in another order may come to the same: what was done in what order is told by these lines alone. */
function writesOf({ sequence }: Outcome): readonly string[] {
  return sequence.filter((line) => !line.slice(RUN_PREFIX_LENGTH).startsWith("GET "));
}

function alternates(writes: readonly string[]): boolean {
  const changes = writes.filter((line, index) => index > 0 && line.at(0) !== writes[index - 1]?.at(0));
  return changes.length >= MIN_CHANGES_OF_RUN;
}

/** Without the step and what differs from one account to the next. */
function sentenceOf(notice: string): string {
  return notice
    .replace(/^[^:]*(:[^: ]+)*: /, "")
    .replace(/"[^"]*"|\d+(\.\d+)*/g, "…")
    .replace(/private\/…/g, "…");
}

function countsOf(suite: string, { tried, survived, distinct, alternating, notices, ...rest }: Tally): Counts {
  const { applied, duplicates, yielded, imagesGone } = rest;
  const more = {
    distinct,
    "writes alternating": alternating,
    "applies carried out": applied,
    "kinds of notice": notices.size,
    duplicates,
    yielded,
    "images gone": imagesGone,
  };
  return { suite, tried, survived, more };
}
