/** Exit codes: what a shell or a CI job can tell from how a command ended. */

import { setMaxListeners } from "node:events";
import { setImmediate } from "node:timers/promises";

export const EXIT = {
  /** Done, or nothing to do. */
  done: 0,
  /** An error; nothing is known to be wrong with the manifest. */
  error: 1,
  /** Changes are pending (`plan --detailed-exitcode`), `drift` found some, or nameservers answer otherwise (`zone check --live`). */
  pending: 2,
  /** The manifest, or what is imported, is invalid. */
  invalid: 3,
  /** Refused, and nothing was done: guards, ownership, ambiguous identity, account. */
  refused: 4,
  /** Not within the reviewed plan. */
  unreviewed: 5,
  /** Applied in part: something failed, was skipped, or is blocked, or is not served in time (`--verify`). */
  partial: 6,
  /** As shells report a process that SIGHUP, SIGINT or SIGTERM ended. */
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Called with how the command that was run ended. */
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
     found something missing
  129, 130, 143  interrupted`;

// Interrupts. While something is under way that wants an end, the first SIGINT, SIGTERM or SIGHUP asks for it, and the second ends at
// once. At any other time the system ends the process itself: who computes hears nothing, and would go on for as long as that takes.

/** After the second signal, for connections to be torn down and the report to be written. */
const HARD_EXIT_MILLISECONDS = 500;

export interface Interrupt {
  /** Listens for signals as long as `work` takes. May be nested. */
  heed<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Aborted by the first signal: start nothing new. */
  readonly first: AbortSignal;
  /** Aborted by the second: give up what is in flight. */
  readonly second: AbortSignal;
  /** The code to end with, once there was a signal. */
  code(): ExitCode | null;
  /** As if the signal had come: for a prompt that reads Ctrl-C itself. */
  raise(signal: NodeJS.Signals): void;
}

/** A terminal that closes, or a runner that goes away with its session, hangs up: what is under way still wants its end. */
const CODES: Readonly<Partial<Record<NodeJS.Signals, ExitCode>>> = {
  SIGHUP: EXIT.hungUp,
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
};

const SIGNALS = Object.keys(CODES) as NodeJS.Signals[];

/** Listens to nothing yet. */
export function interruptOf(process: NodeJS.Process): Interrupt {
  const first = new AbortController();
  const second = new AbortController();
  setMaxListeners(0, first.signal, second.signal);
  let code: ExitCode | null = null;
  const raise = (signal: NodeJS.Signals): void => {
    code ??= CODES[signal] ?? EXIT.interrupted;
    if (!first.signal.aborted) {
      first.abort();
      return;
    }
    second.abort();
    setTimeout(() => process.exit(code ?? EXIT.interrupted), HARD_EXIT_MILLISECONDS).unref();
  };
  let heeding = 0;
  const heed = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (heeding === 0) for (const signal of SIGNALS) process.on(signal, raise);
    heeding += 1;
    try {
      return await work();
    } finally {
      // A signal that came while this computed arrives with the next turn of the loop at the latest, and the present one may be half over.
      for (let turns = 0; turns < 2; turns += 1) await setImmediate();
      heeding -= 1;
      if (heeding === 0) for (const signal of SIGNALS) process.off(signal, raise);
    }
  };
  return { first: first.signal, second: second.signal, code: () => code, raise, heed };
}
