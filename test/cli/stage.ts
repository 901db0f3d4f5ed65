/** A command in the test's own process: what it prints and says is kept, and a signal can come at a chosen moment. */

import type { Terminal } from "../../src/cli/terminal.ts";
import { parseFault } from "../../src/emulator/faults.ts";
import type { EmulatorOptions } from "../../src/emulator/index.ts";

export interface Stage {
  readonly terminal: Terminal;
  printed(): string;
  said(): string;
}

export interface Signals {
  /** Told each print; may raise the signal, more than once. */
  readonly watch?: (text: string, raise: () => void) => void;
}

export function stage(environment: Readonly<Record<string, string>>, { watch }: Signals = {}): Stage {
  const [first, second] = [new AbortController(), new AbortController()];
  const texts = { printed: "", said: "" };
  const raise = (): void => (first.signal.aborted ? second : first).abort();
  const look = { colour: false, width: 80, isTerminal: false };
  const terminal: Terminal = {
    environment,
    interrupt: {
      first: first.signal,
      second: second.signal,
      code: () => (first.signal.aborted ? 130 : null),
      raise,
      end: () => {},
      whileHandlingSignals: (work) => work(),
      whileApplying: (work) => work(),
      whileManyRun: (work) => work(),
    },
    results: look,
    messages: look,
    canAsk: false,
    print: (text) => {
      texts.printed += text;
      watch?.(text, raise);
    },
    say: (text) => {
      texts.said += text;
    },
  };
  return { terminal, printed: () => texts.printed, said: () => texts.said };
}

export function faults(...specs: readonly string[]): Pick<EmulatorOptions, "faults"> {
  return {
    faults: specs.map((spec) => {
      const parsed = parseFault(spec);
      if (!parsed.ok) throw new Error(parsed.problem);
      return parsed.fault;
    }),
  };
}
