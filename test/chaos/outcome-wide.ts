/** The same outcomes with many steps under way at once: which request meets one is a matter of who comes first. */

import type { Plan, Report } from "../../src/index.ts";
import { differences, FOREIGN_PATH, LEASE_SECONDS, PATIENCE_MILLISECONDS } from "./outcome-cell.ts";
import type { Reference } from "./outcome-run.ts";
import type { Outcome } from "./outcome-table.ts";
import { Trial } from "./outcome-trial.ts";

const CONCURRENCY = 8;

export interface WideCell {
  readonly reference: Reference;
  readonly outcome: Outcome;
  readonly method: string;
  /** Of the requests with that method, from 1. */
  readonly nth: number;
}

/** Late work is left out: what becomes of it depends on when it is done. */
export function wideCellsOf(reference: Reference, outcomes: readonly Outcome[]): WideCell[] {
  const counts = new Map<string, number>();
  const met = reference.requests.map(({ method }) => {
    const nth = (counts.get(method) ?? 0) + 1;
    counts.set(method, nth);
    return { method, nth };
  });
  const timely = outcomes.filter(({ late }) => late === undefined);
  return timely.flatMap((outcome) => met.map((request) => ({ reference, outcome, ...request })));
}

/** @returns what is wrong, as sentences */
export async function tryWideCell({ reference, outcome, method, nth }: WideCell): Promise<readonly string[]> {
  const patience = outcome.impatient === true ? { patience: PATIENCE_MILLISECONDS } : {};
  const trial = await Trial.open(reference.loaded, patience);
  try {
    const plan = await trial.plan();
    trial.emulator.setFaults([{ effect: outcome.effect, method, nth: [nth] }]);
    const report = await trial.apply(plan, { concurrency: CONCURRENCY });
    trial.emulator.setFaults([]);
    const problems = [...reportProblems(report, plan, outcome), ...(await convergeProblems(trial, reference))];
    const touched = trial.mutations().filter(({ path }) => FOREIGN_PATH.test(path));
    problems.push(...touched.map((request) => `touched what is foreign: ${request.method} ${request.path}`));
    const where = `${reference.loaded.world.name}, ${outcome.name}, ${method} ${nth}`;
    return problems.map((problem) => `${where}: ${problem}`);
  } finally {
    await trial.close();
  }
}

/** At most the one step did not get done, and whatever was skipped was so because of it. A wait ends when all else has to. */
function* reportProblems({ steps }: Report, plan: Plan, outcome: Outcome): Generator<string> {
  const ended = steps.filter((step) => step.outcome === "failed" || step.outcome === "unknown");
  const undone = ended.filter(({ failure }) => outcome.name !== "401" || failure?.type !== "aborted");
  const [first, second] = undone;
  if (steps.length !== plan.steps.length) yield "the report does not tell of every step";
  if (second !== undefined) yield `${undone.map(({ step, failure }) => `${step}: ${failure?.message}`).join("; ")}`;
  if (first?.failure && !outcome.words.test(first.failure.message)) yield `${first.step}: ${first.failure.message}`;
  const strange = steps.filter((step) => step.outcome === "skipped" && step.because.join() !== first?.step);
  yield* strange.map(({ step, because }) => `${step} is skipped because of [${because.join()}]`);
}

async function convergeProblems(trial: Trial, reference: Reference): Promise<string[]> {
  // Whatever upload was left is then nobody's.
  await trial.clock.advance(LEASE_SECONDS * 1000);
  const second = await trial.apply(await trial.plan(), { concurrency: CONCURRENCY });
  const undone = second.steps.filter((step) => step.outcome !== "done");
  const third = await trial.plan();
  return [
    ...undone.map(({ step, failure }) => `the second apply did not do ${step}: ${failure?.message}`),
    ...third.steps.map(({ id }) => `a third plan has ${id}`),
    ...differences(await trial.state(), reference.state),
  ];
}
