/** Interrupts: the first SIGINT, SIGTERM or SIGHUP asks for an orderly end, the second ends at once. */

import { setMaxListeners } from "node:events";
import { EXIT, type ExitCode } from "./exit-codes.ts";

/** After the second signal, for connections to be torn down and the report to be written. */
const HARD_EXIT_MILLISECONDS = 500;

export interface Interrupt {
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

/** Listens until the process ends. */
export function listenForInterrupts(process: NodeJS.Process): Interrupt {
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
  for (const signal of Object.keys(CODES)) process.on(signal as NodeJS.Signals, raise);
  return { first: first.signal, second: second.signal, code: () => code, raise };
}
