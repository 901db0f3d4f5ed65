/** Many crash points, a few at a time, and what became of them. */

import { type Baseline, type CrashPoint, crashAt } from "./crash-point.ts";

/** One core for each process that runs, and one more process that waits. */
const AT_ONCE = 3;

export interface Survey {
  readonly tried: readonly CrashPoint[];
  readonly survived: number;
  /** Points after which more was sent than the uninterrupted run sends in all. */
  readonly repeated: number;
  /** What went wrong, each with its point, so that it can be tried alone. */
  readonly problems: readonly string[];
}

export async function survey(baseline: Baseline, points: readonly CrashPoint[]): Promise<Survey> {
  const tried: CrashPoint[] = [];
  const problems: string[] = [];
  let repeated = 0;
  const left = [...points];
  const work = async (): Promise<void> => {
    for (let at = left.shift(); at !== undefined; at = left.shift()) {
      tried.push(at);
      try {
        if ((await crashAt(baseline, at)) > 0) repeated += 1;
      } catch (error) {
        problems.push(`${nameOf(baseline, at)}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { tried, survived: tried.length - problems.length, repeated, problems: problems.sort() };
}

function nameOf({ scenario, concurrency }: Baseline, { step, point }: CrashPoint): string {
  return `${scenario.name}, concurrency ${concurrency}, ${point} ${step}`;
}
