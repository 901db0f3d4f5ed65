/**
 * Runs a command in this process: for many small situations, where starting a process for each would take most of the time.
 * What only a process shows (exit codes, streams, signals) is tested with `run`.
 */

import { runCommand } from "../../src/cli/program.ts";
import { openTerminal, type Terminal } from "../../src/cli/terminal.ts";
import type { Ended, RunOptions } from "./run.ts";

const whileHandlingSignals = <Result>(work: () => Promise<Result>): Promise<Result> => work();
const NEVER = new AbortController().signal;

export async function here(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const texts = { stdout: "", stderr: "" };
  const code = await perform(args, options, (stream, text) => {
    texts[stream] += text;
  });
  return { code, ...texts };
}

/** As it is read on a screen: results and messages in the order in which they were written. */
export async function shown(
  args: readonly string[],
  options: RunOptions = {},
): Promise<{ readonly code: number; readonly output: string }> {
  let output = "";
  const code = await perform(args, options, (_, text) => {
    output += text;
  });
  return { code, output };
}

type Write = (stream: "stdout" | "stderr", text: string) => void;

async function perform(
  args: readonly string[],
  { cwd = process.cwd(), env = {} }: RunOptions,
  write: Write,
): Promise<number> {
  const environment = { PATH: process.env["PATH"], ...env };
  const terminal = terminalOf(environment, write);
  const restore = goTo(cwd, environment);
  try {
    return await runCommand(terminal, args);
  } finally {
    restore();
  }
}

/** No terminal in truth: neither its input nor its output is one. */
export function terminalOf(environment: Readonly<Record<string, string | undefined>>, write: Write): Terminal {
  const into = (stream: "stdout" | "stderr") => ({
    isTTY: false,
    write: (text: string): boolean => {
      write(stream, text);
      return true;
    },
  });
  const about = { env: environment, stdout: into("stdout"), stderr: into("stderr"), stdin: { isTTY: false } };
  const interrupt = {
    first: NEVER,
    second: NEVER,
    code: () => null,
    raise: () => {},
    end: () => {},
    whileHandlingSignals,
    whileApplying: whileHandlingSignals,
    whileManyRun: whileHandlingSignals,
  };
  return openTerminal(about as unknown as NodeJS.Process, interrupt);
}

/** Flags have defaults in the environment, and paths are relative to the folder: both belong to the process. */
function goTo(cwd: string, environment: Readonly<Record<string, string | undefined>>): () => void {
  const [folder, before] = [process.cwd(), { ...process.env }];
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(cwd);
  return () => {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, before);
    process.chdir(folder);
  };
}
