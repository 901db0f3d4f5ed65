/**
 * Runs a command in this process: for many small situations, where starting a process for each would take most of the time.
 * What only a process shows (exit codes, streams, signals) is tested with `run`.
 */

import { runCommand } from "../../src/cli/program.ts";
import { openTerminal } from "../../src/cli/terminal.ts";
import type { Ended, RunOptions } from "./run.ts";

const heed = <Result>(work: () => Promise<Result>): Promise<Result> => work();
const NEVER = new AbortController().signal;

export async function here(
  args: readonly string[],
  { cwd = process.cwd(), env = {} }: RunOptions = {},
): Promise<Ended> {
  const texts = { stdout: "", stderr: "" };
  const into = (stream: keyof typeof texts) => ({
    isTTY: false,
    write: (text: string): boolean => {
      texts[stream] += text;
      return true;
    },
  });
  const environment = { PATH: process.env["PATH"], ...env };
  const about = { env: environment, stdout: into("stdout"), stderr: into("stderr"), stdin: { isTTY: false } };
  const interrupt = { first: NEVER, second: NEVER, code: () => null, raise: () => {}, heed };
  const terminal = openTerminal(about as unknown as NodeJS.Process, interrupt);
  const restore = goTo(cwd, environment);
  try {
    const code = await runCommand(terminal, args);
    return { code, ...texts };
  } finally {
    restore();
  }
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
