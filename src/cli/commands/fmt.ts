/** `tenon fmt`: brings the manifests of a project into one form, or lists those that are not in it. */

import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { ChangedMeanwhile, whyLinkRefused, writeProblem, writeWhole } from "../../files/files.ts";
import { allowedSeconds, NEUTRAL_DIALECT } from "../../index.ts";
import { escapeText } from "../../render/terminal.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { addProjectFlags, DIRECTORY, type ProjectFlags } from "../flags.ts";
import { sayDiagnostics, sayError } from "../messages.ts";
import { exitOf } from "../project.ts";
import type { Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description(
      "Bring all manifests of a project into one form: sections, keys and records in\na fixed order, a record a line. No comment is lost, and what the manifests say\nstays the same.",
    )
    .argument("[dir]", DIRECTORY)
    .option("--check", "write nothing; name what differs, and exit 1 if something does")
    .addHelpText(
      "after",
      `
Records are sorted within sections: blank lines and comment lines divide a list.

Examples:
  tenon fmt
  tenon fmt infra --check`,
    )
    .action(async (directory, flags) => {
      finish(await fmt(terminal, directory, flags));
    });
  addProjectFlags(command);
}

interface FmtFlags extends ProjectFlags {
  readonly check?: boolean;
}

/** The permission bits of a mode, without the file type. */
const PERMISSION_BITS = 0o7777;

async function fmt(terminal: Terminal, directory: string | undefined, flags: FmtFlags): Promise<ExitCode> {
  const elsewhere = flags.check === true ? null : await whyLinkRefused(directory ?? ".");
  if (elsewhere !== null) {
    sayError(terminal, { code: "file-unwritable", summary: elsewhere });
    return EXIT.error;
  }
  const { formatProject } = await import("../../format/index.ts");
  const { differing, fault, diagnostics, sources } = await formatProject({
    directory: directory ?? ".",
    ...(flags.env === undefined ? {} : { environment: flags.env }),
    variables: flags.var ?? {},
    variableFiles: flags.varFile ?? [],
    allowedSeconds: allowedSeconds(NEUTRAL_DIALECT),
  });
  sayDiagnostics(terminal, diagnostics, sources);
  if (differing === null) return exitOf(fault);
  let code: ExitCode = flags.check === true && differing.length > 0 ? EXIT.error : EXIT.done;
  for (const { file, path, text } of differing) {
    if (flags.check !== true) {
      try {
        await writeWhole(path, text, (await stat(path)).mode & PERMISSION_BITS, sources.text(file));
      } catch (error) {
        if (error instanceof ChangedMeanwhile) {
          // What an editor, or another command, has saved since is in no other place.
          const summary = `${file} was changed while it was formatted, and is left as it is`;
          sayError(terminal, { code: "file-unwritable", summary, fix: "Run tenon fmt again." });
          code = EXIT.error;
          continue;
        }
        const summary = `cannot write ${file}: ${writeProblem(error, file)}`;
        sayError(terminal, { code: "file-unwritable", summary, fix: "Check its permissions." });
        return EXIT.error;
      }
    }
    terminal.print(`${escapeText(file)}\n`);
  }
  return code;
}
