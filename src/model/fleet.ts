/** What came of a command for each account of a fleet. */

export type FleetCommand = "validate" | "plan" | "apply" | "drift";

/** The longest time between two runs of a command that workers run again and again: 31 days. */
export const MAX_SCHEDULE_SECONDS = 2_678_400;

/** Why an account's turn never came: the canary or another account failed, or the run was interrupted. */
export type NotRunReason = "canary" | "failures" | "guard" | "interrupted";

/** What a command came to for an account. */
export interface Ran {
  readonly type: "ran";
  /** The exit code of the command for this account alone. */
  readonly code: number;
  /** One line of plain text, for example `2 to add, 1 to change`. */
  readonly headline: string;
  /** What the command printed for people, results and messages in their order; may be empty. */
  readonly text: string;
  /** `markdown`: what others wrote stands in `text` within code only. `plain`: it stands anywhere. */
  readonly markup: "plain" | "markdown";
  /** Forms of `text` for where there is not room for all of it, in the same markup, the longest first. Absent: there are none. */
  readonly shorter?: readonly string[];
  /** The JSON document of the command; null if it made none. */
  readonly document: string | null;
}

/** UTF-16 code units that the shorter forms of a text in markdown may have: many accounts share the room of a comment. */
export const SHORTER_CHARACTERS: readonly number[] = [16_000, 5_000];

export type AccountOutcome = Ran | { readonly type: "not-run"; readonly reason: NotRunReason };

export interface AccountResult {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly outcome: AccountOutcome;
}

export interface FleetReport {
  readonly command: FleetCommand;
  /** By name. */
  readonly accounts: readonly AccountResult[];
}

// What workers do and did, for people and monitoring.

export interface RunningAccount {
  readonly command: FleetCommand;
  readonly worker: string;
  /** Milliseconds since the epoch, by the worker's clock. */
  readonly since: number;
}

/** The last run of an account that a worker has finished. */
export interface FinishedRun {
  readonly command: FleetCommand;
  readonly worker: string;
  /** When it ended: milliseconds since the epoch, by the worker's clock. */
  readonly at: number;
  readonly milliseconds: number;
  /** Exit code of the command for this account. */
  readonly code: number;
  readonly headline: string;
  readonly requests: number;
  /** Requests that the service answered with 429. */
  readonly throttled: number;
}

export interface AccountStatus {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Commands that were asked for and not begun. */
  readonly waiting: number;
  /** Since when the first of them waits, in milliseconds since the epoch; null: none does. */
  readonly waitingSince: number | null;
  /** `isSilent`: its worker has not been heard of for a while; it may have been killed. */
  readonly running: (RunningAccount & { readonly isSilent: boolean }) | null;
  /** null: none that is still known. */
  readonly last: FinishedRun | null;
}

/** Since it began. */
export interface WorkerTotals {
  readonly done: number;
  readonly failed: number;
  readonly seconds: number;
  readonly requests: number;
  readonly throttled: number;
}

export interface WorkerStatus extends WorkerTotals {
  readonly name: string;
  readonly since: number;
  /** Milliseconds since the epoch when it was last heard of. */
  readonly alive: number;
  readonly state: "serving" | "silent" | "ended";
}

export interface FleetStatus {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** By name. */
  readonly accounts: readonly AccountStatus[];
  /** Wake-ups. */
  readonly queue: { readonly waiting: number; readonly active: number; readonly delayed: number };
  /** Those that ran any of the accounts, by name. */
  readonly workers: readonly WorkerStatus[];
}

/** So long after a signal a queue may take to answer. */
export const UNANSWERED_MILLISECONDS = 1_200;

/** Whether an exit code of an account says that it needs nobody: what it was asked for is done, or found. */
export function didWell(code: number): boolean {
  return code === 0 || code === 2;
}
