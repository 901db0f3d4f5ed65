/**
 * Interrupts. While work is under way that wants an orderly end, the first SIGINT, SIGTERM or SIGHUP asks for that end, and the second ends
 * the process at once. At any other time the system ends the process: code that only computes would hear no signal until it is done.
 */

import { setMaxListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { EXIT, type ExitCode } from "./exit.ts";

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
