/** The report: what an apply did, step by step and change by change. */

import type { Failure } from "./api.ts";
import type { ObjectId } from "./resource.ts";

/** Terminal states of a step. `unknown`: it may have had an effect and could not be looked up. */
export type StepOutcome = "done" | "failed" | "skipped" | "unknown";

export interface StepReport {
  readonly step: string;
  readonly changes: readonly string[];
  readonly outcome: StepOutcome;
  /** The id of what a POST made or was recognised as. */
  readonly id: ObjectId | null;
  /** The ids of what that object came with, by the keys of their changes: of a VPC its subnets. Absent if nothing did. */
  readonly parts?: Readonly<Record<string, ObjectId>>;
  /** It was found done after an unknown outcome. */
  readonly recovered: boolean;
  readonly failure: Failure | null;
  /** `skipped`: the ids of the steps that failed before it; empty when the run was interrupted. */
  readonly because: readonly string[];
}

/** `partial`: some of its steps are done. */
export type ChangeOutcome = StepOutcome | "partial" | "blocked";

export interface ChangeReport {
  readonly key: string;
  readonly outcome: ChangeOutcome;
}

export interface Report {
  readonly steps: readonly StepReport[];
  readonly changes: readonly ChangeReport[];
  /** Resources, counted by what was done. */
  readonly added: number;
  readonly changed: number;
  readonly destroyed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
  readonly blocked: number;
  /** Steps of which all is done, and more than one object of what they made is left: another run made the same. */
  readonly duplicates: number;
  /** Requests that were sent meanwhile: every attempt, every page of a look, every upload. */
  readonly requestCount: number;
  readonly interrupted: boolean;
  /** What this run noticed and a person should know: what others did meanwhile, duplicates found, late commits. */
  readonly notices: readonly string[];
}
