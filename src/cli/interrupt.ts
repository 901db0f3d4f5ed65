/**
 * Signals: during work that must end in order, the first SIGINT, SIGTERM or SIGHUP asks for that end, and the second ends the process. At
 * any other time the system ends the process, since code that only computes would not notice a signal before it is done. What runs
 * accounts beside each other computes at any time: there the second signal is handled only as long as a plan is carried out.
 */

import { setMaxListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { EXIT, type ExitCode } from "./exit.ts";

/** The time after the second signal for closing connections and writing the report. */
const HARD_EXIT_MILLISECONDS = 500;

export interface Interrupt {
  /** Handles signals as long as `work` takes. May be nested. */
  whileHandlingSignals<Result>(work: () => Promise<Result>): Promise<Result>;
  /** The same while a plan is carried out: from the opening of the journal to the report, so that every outcome is reported. */
  whileApplying<Result>(work: () => Promise<Result>): Promise<Result>;
  /** As long as `work` takes, the system ends the process at a second signal, unless a plan is being carried out. */
  whileManyRun<Result>(work: () => Promise<Result>): Promise<Result>;
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
      update();
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
  const counts = { any: 0, applying: 0, many: 0 };
  let isListening = false;
  const update = (): void => {
    // The system ends no first process of a container: there the second signal is handled, too, if only after a computation.
    const isSystems = first.signal.aborted && counts.many > 0 && counts.applying === 0 && process.pid !== FIRST_PROCESS;
    const listens = counts.any > 0 && !isSystems;
    if (listens === isListening) return;
    isListening = listens;
    for (const signal of SIGNALS) {
      if (listens) process.on(signal, raise);
      else process.off(signal, raise);
    }
  };
  const count = (name: keyof typeof counts, by: 1 | -1): void => {
    counts[name] += by;
    update();
  };
  const whileHandlingSignals = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    count("any", 1);
    try {
      return await work();
    } finally {
      await hearSignals();
      count("any", -1);
    }
  };
  const whileApplying = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    count("applying", 1);
    try {
      return await whileHandlingSignals(work);
    } finally {
      count("applying", -1);
    }
  };
  const whileManyRun = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    count("many", 1);
    try {
      return await work();
    } finally {
      count("many", -1);
    }
  };
  const whiles = { whileHandlingSignals, whileApplying, whileManyRun };
  return { first: first.signal, second: second.signal, code: () => code, raise, end, ...whiles };
}

/**
 * A signal that came during a computation is delivered in the next turn of the event loop at the latest. Two are waited for, as the present
 * one may be half over.
 */
export async function hearSignals(): Promise<void> {
  for (let turns = 0; turns < 2; turns += 1) await setImmediate();
}

/** What a container starts: the kernel gives it no signal that it does not handle. */
const FIRST_PROCESS = 1;

/**
 * For accounts that are run in this process: no signal is handled before the first plan is carried out, and then all are until `end` is called,
 * so that what was done is reported.
 */
export function handlingFromFirstApply(outer: Interrupt): { readonly interrupt: Interrupt; end(): Promise<void> } {
  let release: (() => void) | null = null;
  let held: Promise<void> = Promise.resolve();
  const whileApplying: Interrupt["whileApplying"] = (work) => {
    if (release === null) {
      const ended = new Promise<void>((resolve) => {
        release = resolve;
      });
      held = outer.whileHandlingSignals(() => ended);
    }
    return outer.whileApplying(work);
  };
  // One account's request under way would keep a signal from ending what another computes.
  const whileHandlingSignals: Interrupt["whileHandlingSignals"] = (work) =>
    release === null ? work() : outer.whileHandlingSignals(work);
  return {
    interrupt: { ...outer, whileApplying, whileHandlingSignals },
    end: () => {
      release?.();
      return held;
    },
  };
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
