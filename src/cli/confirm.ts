/** The question before anything is changed: only a person at a terminal is asked. */

import { createInterface } from "node:readline/promises";
import type { Goal } from "../index.ts";
import type { Terminal } from "./terminal.ts";

const QUESTIONS: Readonly<Record<Goal, string>> = {
  apply: "Apply these changes?",
  destroy: "Destroy these resources?",
  undo: "Undo that run by these changes?",
};

/** @returns whether the answer was `yes`; anything else, an interrupt included, is a no */
export async function confirm(terminal: Terminal, goal: Goal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // readline handles Ctrl-C itself, so no signal comes.
  lines.on("SIGINT", () => terminal.interrupt.raise("SIGINT"));
  const question = QUESTIONS[goal];
  try {
    const answer = await terminal.interrupt.whileHandlingSignals(() =>
      lines.question(`\n${question} Only "yes" is accepted: `, { signal: terminal.interrupt.first }),
    );
    if (answer.trim() === "yes") return true;
    terminal.say("Nothing was done.\n");
    return false;
  } catch (error) {
    if (!terminal.interrupt.first.aborted) throw error;
    terminal.say("\nNothing was done.\n");
    return false;
  } finally {
    lines.close();
  }
}
