/** Exit codes, by which a shell or a CI job sees how a command ended. */

import type { Report } from "../index.ts";

export const EXIT = {
  /** Done, or nothing to do. */
  done: 0,
  /** An error; nothing is known to be wrong with the manifest. */
  error: 1,
  /** Changes are pending (`plan --detailed-exitcode`), `drift` found drift, or nameservers answer differently (`zone check --live`). */
  pending: 2,
  /** The manifest, or what is imported, is invalid. */
  invalid: 3,
  /** Refused, and nothing was done: guards, ownership, ambiguous identity, account. */
  refused: 4,
  /** Not within the reviewed plan. */
  unreviewed: 5,
  /** Applied in part: a change failed, was skipped or is blocked, or is not served in time (`--verify`). */
  partial: 6,
  /** The codes with which shells report a process that SIGHUP, SIGINT or SIGTERM ended. */
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** @param signalCode the code of the signal that interrupted the run; null: there was none */
export function exitCodeOf(report: Report, signalCode: ExitCode | null): ExitCode {
  if (report.interrupted) return signalCode ?? EXIT.interrupted;
  const { failed, skipped, unknown, blocked, duplicates } = report;
  return failed + skipped + unknown + blocked + duplicates > 0 ? EXIT.partial : EXIT.done;
}

/** Called with the exit code of the command. */
export type Finish = (code: ExitCode) => void;

/** For `--help`. */
export const EXIT_CODES_HELP = `Exit codes:
  0  done, or no changes
  1  error; nothing is known to be wrong with the manifest
  2  changes are pending (plan --detailed-exitcode, drift, zone check --live)
  3  the manifest, or what is imported, is invalid
  4  refused, nothing done: guards, ownership, ambiguous identity, account
  5  not within the reviewed plan
  6  applied in part: something failed, was skipped, or is blocked; or --verify
     found something missing, undone or not
  129, 130, 143  interrupted`;
