/** Real shells at a terminal, with the completion of Tenon. Needs script (util-linux), bash, zsh and fish. */

import { type ChildProcess, spawn } from "node:child_process";
import { chmod, readdir, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { folder, MAIN } from "../cli/run.ts";

/** Keeps what it was called with, but for completion, which it hands on. */
const TENON = `#!/bin/sh
if [ "$1" = completion ]; then exec "${process.execPath}" "${MAIN}" "$@"; fi
printf '%s\\n' "$@" END >> "$RECORD"
`;

export interface Shell {
  readonly name: string;
  readonly command: string;
  readonly load: string;
}

export const SHELLS: readonly Shell[] = [
  { name: "bash", command: "bash --norc --noprofile -i", load: "source <(tenon completion bash)" },
  {
    name: "zsh",
    command: "zsh -f -i",
    load: "autoload -Uz compinit; compinit -u -D; source <(tenon completion zsh)",
  },
  { name: "fish", command: "fish --no-config -i", load: "tenon completion fish | source" },
];

const PROMPT_MILLISECONDS = 60_000;

/**
 * @param content files in the folder, by their paths
 * @returns the words that the completed line came to, the names of the files in the folder, and all that was shown
 */
export async function typed(
  { command, load }: Shell,
  keys: string,
  content: Readonly<Record<string, string>>,
): Promise<{ words: readonly string[]; files: readonly string[]; shown: string }> {
  // Where this folder exists, fish does not write completions of all manual pages, which it does in the background.
  const generated = { "bin/.local/share/fish/generated_completions/none.fish": "" };
  const cwd = await folder({ ...content, ...generated, "bin/tenon": TENON });
  await chmod(join(cwd, "bin/tenon"), 0o755);
  const record = join(cwd, "bin/record");
  const env = {
    ...process.env,
    ...{ PATH: `${join(cwd, "bin")}${delimiter}${process.env["PATH"]}`, RECORD: record, HOME: join(cwd, "bin") },
    ...{ TERM: "xterm", PS1: "> ", LC_ALL: "C.UTF-8", HISTFILE: "/dev/null", INPUTRC: "/dev/null" },
  };
  const child = spawn("script", ["--quiet", "--command", command, "/dev/null"], { cwd, env, stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const screen = watching(child);
  child.stdin.write(`${load}; echo rea''dy\n`);
  await expect.poll(screen, { timeout: PROMPT_MILLISECONDS }).toContain("ready");
  await delay(500);
  child.stdin.write(keys);
  // The answer to a key comes when it comes: the line is sent once nothing more is written.
  for (let before = -1; before !== screen().length; await delay(2_000)) before = screen().length;
  child.stdin.write("\r");
  const read = async () => readFile(record, "utf8").catch(() => "");
  await expect.poll(read, { timeout: PROMPT_MILLISECONDS }).toContain("END");
  child.stdin.write("exit\r");
  return { words: (await read()).split("\n").slice(0, -2), files: await readdir(cwd), shown: screen() };
}

/** What was written so far. */
function watching(child: ChildProcess): () => string {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  return () => text;
}
