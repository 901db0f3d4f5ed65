import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellWord } from "../../src/model/text.ts";
import { folder } from "../cli/run.ts";
import { SHELLS, type Shell, typed } from "./shells.ts";

const MAKEFILE = "X := $(shell touch pwned)\nall:\n";

test("nothing of the name of a folder is carried out when a shell completes a path", async () => {
  const names = [
    "x:$[a[$(touch pwned)]]",
    "y'$[a[$(touch pwned)]]",
    "z\\$(touch pwned)",
    "q=`touch pwned`",
    "a;make x",
    "w(e:touch pwned:)",
  ];
  const complete = async (shell: Shell): Promise<void> => {
    for (const name of names) {
      const content = { [`${name}/sub/tenon.yaml`]: "tenon: 1\n", Makefile: MAKEFILE };
      const { words, files } = await typed(shell, `tenon validate ${name[0]}\t\t`, content);
      // zsh takes the last slash away as the line is sent.
      const [command, path, ...rest] = words;
      expect([command, ...rest]).toEqual(["validate"]);
      expect([name, `${name}/sub`]).toContain(path?.replace(/\/$/, ""));
      expect({ shell: shell.name, name, files }).toEqual({
        shell: shell.name,
        name,
        files: expect.not.arrayContaining(["pwned"]),
      });
    }
  };
  // Without its configuration fish has no completions of other commands, as that of make, which reads a Makefile.
  const shells = SHELLS.map((shell) => ({ ...shell, command: shell.command.replace("--no-config ", "") }));
  await Promise.all(shells.map(complete));
}, 240_000);

test("an environment that a shell completes within quotes is a word, or none", async () => {
  const name = "prod!#;touch pwned;# 'q' \\";
  const content = { "tenon.yaml": `tenon: 1\nenvironments: { ${JSON.stringify(name)}: {} }\n` };
  const complete = async (shell: Shell): Promise<void> => {
    for (const quote of ['"', "'", ""]) {
      // bash offers nothing there, so that the quote has to be closed: no way to write a `!` in it is safe.
      const isEmpty = shell.name === "bash" && quote === '"';
      const { words, files } = await typed(shell, `tenon plan --env ${quote}p\t${isEmpty ? quote : ""}`, content);
      expect({ shell: shell.name, quote, words, isRun: files.includes("pwned") }).toEqual({
        ...{ shell: shell.name, quote, isRun: false },
        words: ["plan", "--env", isEmpty ? "p" : name],
      });
    }
  };
  await Promise.all(SHELLS.map(complete));
}, 240_000);

test("a flag that a message proposes is one word in bash, zsh and fish", async () => {
  const unit = fc.constantFrom(..."ab *$`;#()!~'\"\\\u2018\u2019\u201c");
  const texts = fc.sample(fc.string({ unit, minLength: 1, maxLength: 14 }), { numRuns: 400, seed: 7 });
  texts.push("=ls", "x\\'; touch pwned; #", "\\", "\\\\", "'\\'\\\\'", "domain/\\*.a.example/A");
  const script = texts.map((text) => `printf '%s\\n' ${shellWord(text)}`).join("\n");
  const cwd = await folder({ script });
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout } = await promisify(execFile)(shell, ["script"], { cwd });
    expect([shell, stdout.split("\n").slice(0, -1)]).toEqual([shell, texts]);
    expect(await readdir(cwd)).toEqual(["script"]);
  }
});
