/** Report: from what became of each step to what became of each change. */

import type { Change } from "../model/change.ts";
import type { Plan, Step } from "../model/plan.ts";
import type { ChangeOutcome, ChangeReport, Report, StepOutcome, StepReport } from "../model/report.ts";

export interface RunFacts {
  readonly requestCount: number;
  readonly interrupted: boolean;
  readonly notices: readonly string[];
  readonly duplicates: number;
}

/**
 * Counts are of changes, and each change is in one of them: done ones in `added`, `changed`, `destroyed` (a replace in two);
 * of the others, those with a failed step in `failed`, else those with an unknown one in `unknown`, else in `skipped`.
 */
export function buildReport(plan: Plan, steps: ReadonlyMap<string, StepReport>, facts: RunFacts): Report {
  const tallies = tallySteps(plan.steps, steps);
  const counts = { added: 0, changed: 0, destroyed: 0, failed: 0, skipped: 0, unknown: 0, blocked: 0 };
  const changes: ChangeReport[] = [];
  for (const change of plan.changes) {
    if (change.action === "no-op") continue;
    const tally = tallies.get(change.key) ?? NOTHING;
    const outcome = change.blocked === null ? outcomeOf(tally) : "blocked";
    changes.push({ key: change.key, outcome });
    count(change, outcome, tally, counts);
  }
  const reports = plan.steps.flatMap((step) => steps.get(step.id) ?? []);
  return { steps: reports, changes, ...counts, ...facts };
}

interface Tally {
  readonly outcomes: ReadonlySet<StepOutcome>;
  /** At least one step that is done changed something; the check before a delete does not. */
  readonly effect: boolean;
}

/** A change without a step was not carried out. */
const NOTHING: Tally = { outcomes: new Set(["skipped"]), effect: false };

function tallySteps(steps: readonly Step[], reports: ReadonlyMap<string, StepReport>): ReadonlyMap<string, Tally> {
  const tallies = new Map<string, { outcomes: Set<StepOutcome>; effect: boolean }>();
  for (const step of steps) {
    const outcome = reports.get(step.id)?.outcome ?? "skipped";
    for (const key of step.changes) {
      const tally = tallies.get(key) ?? { outcomes: new Set(), effect: false };
      tally.outcomes.add(outcome);
      if (outcome === "done" && hasEffect(step)) tally.effect = true;
      tallies.set(key, tally);
    }
  }
  return tallies;
}

function hasEffect(step: Step): boolean {
  return step.type === "upload" || (step.type === "request" && step.method !== "GET");
}

function outcomeOf({ outcomes, effect }: Tally): ChangeOutcome {
  if (outcomes.size === 1 && outcomes.has("done")) return "done";
  return effect ? "partial" : worst(outcomes);
}

function worst(outcomes: ReadonlySet<StepOutcome>): "failed" | "unknown" | "skipped" {
  if (outcomes.has("failed")) return "failed";
  return outcomes.has("unknown") ? "unknown" : "skipped";
}

type Counts = {
  -readonly [Name in "added" | "changed" | "destroyed" | "failed" | "skipped" | "unknown" | "blocked"]: number;
};

function count(change: Change, outcome: ChangeOutcome, tally: Tally, counts: Counts): void {
  switch (outcome) {
    case "done":
      countDone(change, counts);
      return;
    case "blocked":
      counts.blocked += 1;
      return;
    case "partial":
    case "failed":
    case "skipped":
    case "unknown":
      counts[worst(tally.outcomes)] += 1;
      return;
  }
}

function countDone(change: Change, counts: Counts): void {
  switch (change.action) {
    case "create":
      counts.added += 1;
      return;
    case "update":
      counts.changed += 1;
      return;
    case "delete":
      counts.destroyed += 1;
      return;
    case "replace":
      counts.added += 1;
      counts.destroyed += 1;
      return;
    case "no-op":
      return;
  }
}
