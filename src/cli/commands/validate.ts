/** `tenon validate`: checks the manifests without any connection. */

import type { Command } from "commander";
import { hasErrors, lintProject } from "../../index.ts";
import { renderValidationJson } from "../../render/report.ts";
import { needDialect } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import {
  addDialectFlags,
  addProjectFlags,
  DIRECTORY,
  formatFlag,
  fullFlag,
  jsonIntoFlag,
  type ProjectFlags,
} from "../flags.ts";
import { sayDiagnostics, sayStrict } from "../messages.ts";
import { printJson, withJsonErrors } from "../output.ts";
import { exitOf, load } from "../project.ts";
import { folding, type Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("Check the manifests of a project, without a connection.")
    .argument("[dir]", DIRECTORY)
    .option("--strict", "warnings are errors")
    .addOption(formatFlag("how to show what was found"))
    .addOption(jsonIntoFlag())
    .addOption(fullFlag())
    .addHelpText(
      "after",
      `
Examples:
  tenon validate
  tenon validate infra --env staging
  tenon validate --strict --format json`,
    )
    .action(async (directory, flags) => {
      finish(await validate(folding(terminal, flags), directory, flags));
    });
  addDialectFlags(addProjectFlags(command));
}

interface ValidateFlags extends ProjectFlags {
  readonly strict?: boolean;
  readonly format: "text" | "json";
  readonly jsonInto?: string;
  readonly dialect?: string;
}

function validate(terminal: Terminal, directory: string | undefined, flags: ValidateFlags): Promise<ExitCode> {
  const { format, jsonInto } = flags;
  return withJsonErrors(terminal, { format, stream: false, jsonInto }, (inner) => check(inner, directory, flags));
}

async function check(terminal: Terminal, directory: string | undefined, flags: ValidateFlags): Promise<ExitCode> {
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return EXIT.error;
  const { project, fault, diagnostics: found, sources } = await load(directory, flags, dialect);
  const diagnostics = project === null ? found : await lintProject(project, found);
  const isValid = project !== null && !hasErrors(diagnostics) && !(flags.strict === true && diagnostics.length > 0);
  printJson(terminal, flags.format, () => renderValidationJson(diagnostics, sources));
  if (flags.format === "text") {
    sayDiagnostics(terminal, diagnostics, sources);
    if (!isValid && !hasErrors(diagnostics)) sayStrict(terminal);
    if (isValid) terminal.print(verdict(project.desired.declared.length, diagnostics.length));
  }
  return isValid ? EXIT.done : exitOf(fault);
}

function verdict(declared: number, warnings: number): string {
  const suffix = warnings === 0 ? "" : `, ${warnings} ${warnings === 1 ? "warning" : "warnings"}`;
  return `The manifest is valid: ${declared} declared${suffix}.\n`;
}
