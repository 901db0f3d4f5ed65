/** Questions that a person answers at a terminal; the library that asks them is loaded with the first. */

import type { Option } from "@clack/prompts";
import type { Terminal } from "./terminal.ts";

/** Rows of a list that are shown at once, whatever the height of the terminal. */
const MAX_SHOWN_ROWS = 12;

/** Questions go to stderr, as all else that is no result. */
const STREAMS = { input: process.stdin, output: process.stderr } as const;

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** An answer; null: the person has left with Ctrl-C or Escape. */
type Answer<Value> = Promise<Value | null>;

/** @param check what is wrong with the answer, in a sentence; null: nothing */
export async function askText(
  terminal: Terminal,
  message: string,
  { initial, check }: { readonly initial: string; check(text: string): string | null },
): Answer<string> {
  const { text } = await import("@clack/prompts");
  const validate = (value: string | undefined): string | undefined => check((value ?? "").trim()) ?? undefined;
  return answered(terminal, () => text({ ...STREAMS, message, initialValue: initial, validate })).then(
    (value) => value?.trim() ?? null,
  );
}

export async function askOne(terminal: Terminal, message: string, choices: readonly Choice[]): Answer<string> {
  const { select } = await import("@clack/prompts");
  return answered(terminal, () => select({ ...STREAMS, message, options: optionsOf(choices) }));
}

/** A list to tick; typing searches it. */
export async function askSome(
  terminal: Terminal,
  message: string,
  choices: readonly Choice[],
): Answer<readonly string[]> {
  const { autocompleteMultiselect } = await import("@clack/prompts");
  return answered(terminal, () =>
    autocompleteMultiselect({
      ...STREAMS,
      message,
      options: optionsOf(choices),
      maxItems: MAX_SHOWN_ROWS,
      required: true,
    }),
  );
}

function optionsOf(choices: readonly Choice[]): Option<string>[] {
  return choices.map(({ value, label, hint }) => ({ value, label, ...(hint === undefined ? {} : { hint }) }));
}

/** The library reads Ctrl-C itself, so no signal comes. */
async function answered<Value>(terminal: Terminal, ask: () => Promise<Value>): Answer<Exclude<Value, symbol>> {
  const value = await terminal.interrupt.whileHandlingSignals(ask);
  if (typeof value !== "symbol") return value as Exclude<Value, symbol>;
  terminal.interrupt.raise("SIGINT");
  return null;
}
