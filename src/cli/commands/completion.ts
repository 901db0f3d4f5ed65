/** `tenon completion SHELL`: prints the script by which a shell completes commands, flags, and addresses of the project. */

import { type Command, Option } from "commander";
import { readScript, SHELLS, type Shell } from "../completion-scripts.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { sayError } from "../messages.ts";
import type { Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description(
      "Print a script by which a shell completes commands, flags and their values, and\naddresses and environments from the manifests. No request is sent.",
    )
    .argument("[shell]", "bash, zsh, fish or powershell")
    .addOption(new Option("--complete", "answers the scripts").hideHelp())
    .allowExcessArguments(true)
    .addHelpText(
      "after",
      `
Examples:
  tenon completion bash > ~/.local/share/bash-completion/completions/tenon
  tenon completion zsh > "\${fpath[1]}/_tenon"
  tenon completion fish > ~/.config/fish/completions/tenon.fish
  tenon completion powershell >> $PROFILE`,
    )
    .action(async (shell: string | undefined, flags: { readonly complete?: boolean }) => {
      finish(flags.complete === true ? await answer(command, terminal) : print(terminal, shell));
    });
}

function print(terminal: Terminal, shell: string | undefined): ExitCode {
  if (shell !== undefined && isShell(shell)) {
    terminal.print(readScript(shell));
    return EXIT.done;
  }
  const fix = `Name one of ${SHELLS.join(", ")}.`;
  sayError(
    terminal,
    shell === undefined
      ? { code: "missing-argument", summary: "no shell is named", fix }
      : { code: "invalid-argument", summary: `there is no script for ${shell}`, fix },
  );
  return EXIT.error;
}

function isShell(text: string): text is Shell {
  return (SHELLS as readonly string[]).includes(text);
}

/** Whatever goes wrong, nobody wants to read it while they type: then there is nothing to offer. */
async function answer(command: Command, terminal: Terminal): Promise<ExitCode> {
  const words = [...command.args];
  // The word that is being typed stands behind a sign, as no shell hands on an empty one for sure.
  const current = (words.pop() ?? "=").replace(/^=/, "");
  try {
    const { complete } = await import("../completion.ts");
    const { paths, candidates } = await complete(command.parent as Command, words, current);
    const lines = candidates.map(({ value, description }) => (description === "" ? value : `${value}\t${description}`));
    terminal.print([paths, ...lines, ""].join("\n"));
  } catch {
    terminal.print("none\n");
  }
  return EXIT.done;
}
