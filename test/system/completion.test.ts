/** Completion as a person has it: real shells at a terminal. Needs script (util-linux), bash, zsh and fish. */

import { type ChildProcess, spawn } from "node:child_process";
import { chmod, readdir, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { folder, MAIN } from "../cli/run.ts";

const HOSTILE = "evil $(touch pwned) `touch pwned` 'q' \"d\" ;&|<>* \\ ~ !!";

/** Begins with a letter that is newer than the C library's tables, which bash writes as an escape. */
const NEWER = "nu\u1c89$(touch pwned)`touch pwned`;touch pwned #";

const MANIFEST = `tenon: 1
environments: { staging: {}, production: {}, '${HOSTILE.replaceAll("'", "''")}': {}, "${NEWER}": {} }
vpcs: [{ label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.1.0/24 }] }]
domains: [{ domain: example.com, type: master, soa_email: a@example.com, records: [{ type: A, name: www, target: 192.0.2.1 }] }]
images: [{ label: "it's a, b?" }]
`;

/** Keeps what it was called with, but for completion, which it hands on. */
const TENON = `#!/bin/sh
if [ "$1" = completion ]; then exec "${process.execPath}" "${MAIN}" "$@"; fi
printf '%s\\n' "$@" END >> "$RECORD"
`;

interface Shell {
  readonly name: string;
  readonly command: string;
  readonly load: string;
}

const SHELLS: readonly Shell[] = [
  { name: "bash", command: "bash --norc --noprofile -i", load: "source <(tenon completion bash)" },
  {
    name: "zsh",
    command: "zsh -f -i",
    load: "autoload -Uz compinit; compinit -u -D; source <(tenon completion zsh)",
  },
  { name: "fish", command: "fish --no-config -i", load: "tenon completion fish | source" },
];

const PROMPT_MILLISECONDS = 60_000;

/** @returns the words that the completed line came to, the names of the files in the folder, and all that was shown */
async function typed(
  { command, load }: Shell,
  keys: string,
): Promise<{ words: readonly string[]; files: readonly string[]; shown: string }> {
  const cwd = await folder({ "tenon.yaml": MANIFEST, "bin/tenon": TENON, "a plan.txt": "" });
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

describe.each(SHELLS)("$name", (shell) => {
  const { command } = shell;

  it("completes a command, a flag, and an environment of the manifest", async () => {
    expect((await typed(shell, "tenon valid\t--strict")).words).toEqual(["validate", "--strict"]);
    expect((await typed(shell, "tenon plan --detailed\t--env sta\t")).words).toEqual([
      ...["plan", "--detailed-exitcode", "--env", "staging"],
    ]);
  });

  it("completes addresses, and what is in them", async () => {
    expect((await typed(shell, "tenon show vpc/p\t")).words).toEqual(["show", "vpc/prod"]);
    expect((await typed(shell, "tenon apply --target domain/example.com/\t")).words).toEqual([
      ...["apply", "--target", "domain/example.com/www/A"],
    ]);
  });

  it("completes behind = and :, where a shell may split words", async () => {
    expect((await typed(shell, "tenon apply --allow delete=vpc/p\t")).words).toEqual([
      "apply",
      "--allow",
      "delete=vpc/prod",
    ]);
    expect((await typed(shell, "tenon plan --env=prod\t")).words).toEqual(["plan", "--env=production"]);
  });

  it("hands on a hostile name as one word, and carries out nothing of it", async () => {
    const { words, files } = await typed(shell, "tenon plan --env ev\t");
    expect(words).toEqual(["plan", "--env", HOSTILE]);
    expect(files).not.toContain("pwned");
    expect((await typed(shell, "tenon show image/i\t")).words).toEqual(["show", "image/it's a, b?"]);
  });

  it("lists a value that has no description once", async () => {
    // bash lists at the second tab, at which fish opens a menu.
    const tabs = command.startsWith("bash") ? "\t\t" : "\t";
    const { words, shown } = await typed(shell, `tenon plan --format ${tabs}`);
    expect(words.slice(0, 2)).toEqual(["plan", "--format"]);
    expect(shown).toContain("markdown");
    expect(shown).not.toMatch(/markdown +-- +markdown/);
  });

  it("completes files where a file belongs", async () => {
    expect((await typed(shell, "tenon apply --plan a\t")).words).toEqual(["apply", "--plan", "a plan.txt"]);
  });
});

describe("bash, where a quote is open", () => {
  const [bash] = SHELLS as [Shell];

  it.each([
    ["within the word", 'tenon plan --env="nu\t"', ["plan", "--env=nu"]],
    ["within the word, a single one", "tenon plan --env='nu\t'", ["plan", "--env=nu"]],
    ["and closed", 'tenon plan "--env"=nu\t', ["plan", `--env=${NEWER}`]],
    ["around the word", 'tenon plan --env "nu\t', ["plan", "--env", NEWER]],
    ["around the word, a single one", "tenon plan --env 'nu\t", ["plan", "--env", NEWER]],
    ["behind a backslash", "tenon plan --env ev\\il\t", ["plan", "--env", HOSTILE]],
  ])("%s: a hostile name is one word, or none, and nothing of it is carried out", async (_where, keys, expected) => {
    const { words, files } = await typed(bash, keys);
    expect(files).not.toContain("pwned");
    expect(words).toEqual(expected);
  });
});

/** What was written so far. */
function watching(child: ChildProcess): () => string {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  return () => text;
}
