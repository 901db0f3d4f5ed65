/** `tenon lsp`: serves editors over stdin and stdout, by the language server protocol. */

import { type Command, Option } from "commander";
import { isStandalone, readPackageFile } from "../../files/package-files.ts";
import { allowedSeconds, lintRules } from "../../index.ts";
import type { JsonObject } from "../../model/resource.ts";
import { needDialect } from "../connection.ts";
import { checkEnvironments } from "../environments.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { addDialectFlags, addProjectFlags, type ProjectFlags } from "../flags.ts";
import { readVersion, type Terminal } from "../terminal.ts";

interface LspFlags extends ProjectFlags {
  readonly dialect?: string;
  /** The process is the analyst of a language server. */
  readonly analyst?: true;
}

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description(
      "Serve an editor over stdin and stdout, by the language server protocol: what\n`tenon validate` finds, while you type; completion, hover, quick fixes; go to\ndefinition and rename; formatting as `tenon fmt` does it. No connection is made.",
    )
    .option("--stdio", "use stdin and stdout, as is done without it")
    .addOption(new Option("--analyst").hideHelp())
    .addHelpText(
      "after",
      `
Editors start it; see docs/how-to/use-in-an-editor.md. What is given here holds for
all projects. Without --env each environment is checked, as by tenon validate.

Examples:
  tenon lsp
  tenon lsp --service linode --var-file dev.yaml`,
    )
    .action(async (flags: LspFlags) => {
      finish(await (flags.analyst === true ? analyse(terminal, flags) : lsp(terminal, flags)));
    });
  addDialectFlags(addProjectFlags(command));
}

async function lsp(terminal: Terminal, flags: LspFlags): Promise<ExitCode> {
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return EXIT.error;
  if (process.stdin.isTTY === true) {
    terminal.say("The language server waits for an editor: see docs/how-to/use-in-an-editor.md. Ctrl-C ends it.\n");
  }
  const { serve } = await import("../../lsp/index.ts");
  return serve({
    input: process.stdin,
    output: process.stdout,
    say: (text) => terminal.say(text),
    version: readVersion(),
    analyst: { file: process.execPath, args: [...programArgs(), ...process.argv.slice(2), "--analyst"] },
    schema: JSON.parse(readPackageFile("schemas/manifest.schema.json")) as JsonObject,
    allowedSeconds: allowedSeconds(dialect),
    lintCodes: async () => (await lintRules()).map(({ code }) => code),
  });
}

/** What Node is to run, as it runs this; the standalone executable runs nothing else. */
function programArgs(): string[] {
  const [, program = ""] = process.argv;
  return isStandalone ? [] : [...process.execArgv, program];
}

async function analyse(terminal: Terminal, flags: LspFlags): Promise<ExitCode> {
  const dialect = needDialect(terminal, flags);
  if (dialect === null || process.send === undefined) return EXIT.error;
  const { runAnalyst } = await import("../../lsp/index.ts");
  await runAnalyst({
    check: (directory, more) => checkEnvironments(directory, flags, dialect, more),
    variableFiles: flags.varFile ?? [],
  });
  return EXIT.done;
}
