/** `tenon validate`: checks the manifests without any connection. */

import type { Command } from "commander";
import { hasErrors } from "../../index.ts";
import { renderValidationJson } from "../../render/report.ts";
import { escapeText } from "../../render/terminal.ts";
import { needDialect } from "../connection.ts";
import { checkEnvironments } from "../environments.ts";
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
Without --env a project that has environments is checked in each of them; each
problem is told once, with the environments in which it was found.

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

export function validate(terminal: Terminal, directory: string | undefined, flags: ValidateFlags): Promise<ExitCode> {
  const { format, jsonInto } = flags;
  return withJsonErrors(terminal, { format, stream: false, jsonInto }, (inner) => check(inner, directory, flags));
}

async function check(terminal: Terminal, directory: string | undefined, flags: ValidateFlags): Promise<ExitCode> {
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return EXIT.error;
  const { diagnostics, sources, exitCode, declared, where } = await checkEnvironments(directory, flags, dialect);
  const isValid = !hasErrors(diagnostics) && !(flags.strict === true && diagnostics.length > 0);
  printJson(terminal, flags.format, () => renderValidationJson(diagnostics, sources));
  if (flags.format === "text") {
    sayDiagnostics(terminal, diagnostics, sources);
    if (!isValid && !hasErrors(diagnostics)) sayStrict(terminal);
    if (isValid) terminal.print(verdict(declared, diagnostics.length, where));
    else if (where !== "") terminal.say(`Checked ${escapeText(where)}.\n`);
  }
  return isValid ? EXIT.done : exitCode;
}

/** @param declared for each environment */
function verdict(declared: readonly number[], warnings: number, where: string): string {
  const ascending = [...declared].sort((a, b) => a - b);
  const [least = 0, most = least] = [ascending[0], ascending.at(-1)];
  const suffix = warnings === 0 ? "" : `, ${warnings} ${warnings === 1 ? "warning" : "warnings"}`;
  const checked = where === "" ? "" : `\nChecked ${escapeText(where)}.`;
  return `The manifest is valid: ${least === most ? least : `${least} to ${most}`} declared${suffix}.${checked}\n`;
}
