/**
 * Signals: during work that must end in order, the first SIGINT, SIGTERM or SIGHUP asks for that end, and the second ends the process. At
 * any other time the system ends the process, since code that only computes would not notice a signal before it is done.
 */

import { setMaxListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { EXIT, type ExitCode } from "./exit.ts";

/** The time after the second signal for closing connections and writing the report. */
const HARD_EXIT_MILLISECONDS = 500;

export interface Interrupt {
  /** Handles signals as long as `work` takes. May be nested. */
  whileHandlingSignals<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Aborted by the first signal: start nothing new. */
  readonly first: AbortSignal;
  /** Aborted by the second signal: give up requests under way. */
  readonly second: AbortSignal;
  /** The code to end with, once there was a signal. */
  code(): ExitCode | null;
  /** Acts as if the signal had come: for a prompt that reads Ctrl-C itself. */
  raise(signal: NodeJS.Signals): void;
  /** Ends the process after a signal, once all is written: connections that are still made would keep it. Without one it does nothing. */
  end(code: ExitCode): void;
}

/** SIGHUP comes when a terminal closes, or a CI runner's session ends: work under way must still end in order. */
const CODES: Readonly<Partial<Record<NodeJS.Signals, ExitCode>>> = {
  SIGHUP: EXIT.hungUp,
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
};

const SIGNALS = Object.keys(CODES) as NodeJS.Signals[];

/** Listens to no signal until `whileHandlingSignals` is called. */
export function interruptOf(process: NodeJS.Process): Interrupt {
  const first = new AbortController();
  const second = new AbortController();
  setMaxListeners(0, first.signal, second.signal);
  let code: ExitCode | null = null;
  let firstSignal: NodeJS.Signals = "SIGINT";
  const raise = (signal: NodeJS.Signals): void => {
    if (code === null) firstSignal = signal;
    code ??= CODES[signal] ?? EXIT.interrupted;
    if (!first.signal.aborted) {
      first.abort();
      return;
    }
    second.abort();
    setTimeout(() => exit(process, firstSignal), HARD_EXIT_MILLISECONDS).unref();
  };
  const end = (last: ExitCode): void => {
    if (code === null) return;
    const leave = (): void => (last === code ? exit(process, firstSignal) : process.exit(last));
    process.stdout.write("", () => process.stderr.write("", leave));
  };
  let nesting = 0;
  const whileHandlingSignals = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (nesting === 0) for (const signal of SIGNALS) process.on(signal, raise);
    nesting += 1;
    try {
      return await work();
    } finally {
      // A signal that came during a computation is delivered in the next turn of the event loop at the latest. Two are waited for, as the
      // present one may be half over.
      for (let turns = 0; turns < 2; turns += 1) await setImmediate();
      nesting -= 1;
      if (nesting === 0) for (const signal of SIGNALS) process.off(signal, raise);
    }
  };
  return { first: first.signal, second: second.signal, code: () => code, raise, end, whileHandlingSignals };
}

/** https://nodejs.org/docs/latest-v20.x/api/process.html#processgetactiveresourcesinfo */
const ADDRESS_LOOKUP = "GetAddrInfoReqWrap";

/**
 * An address that the system is looking for keeps even `process.exit` for as long as that takes: then the signal itself ends the process,
 * which a shell shows as the same code.
 */
function exit(process: NodeJS.Process, signal: NodeJS.Signals): void {
  if (process.getActiveResourcesInfo().includes(ADDRESS_LOOKUP)) {
    for (const name of SIGNALS) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  }
  process.exit(CODES[signal] ?? EXIT.interrupted);
}
