/** `tenon validate`: checks the manifests without any connection. */

import type { Command } from "commander";
import {
  CHECKED_ITEM_CHARACTERS,
  type Diagnostic,
  hasErrors,
  MAX_CHECKED_CHARACTERS,
  MAX_CHECKED_ENVIRONMENTS,
} from "../../index.ts";
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
  const checked = await checkEnvironments(directory, flags, dialect);
  const { sources, declared, where, unchecked } = checked;
  const diagnostics = unchecked === 0 ? checked.diagnostics : [...checked.diagnostics, tooMany(unchecked)];
  const exitCode = hasErrors(checked.diagnostics) || unchecked === 0 ? checked.exitCode : EXIT.error;
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

/** What was not checked must not pass for valid. */
function tooMany(unchecked: number): Diagnostic {
  const left = `${unchecked.toLocaleString("en")} ${unchecked === 1 ? "environment was" : "environments were"}`;
  return {
    code: "too-many-environments",
    severity: "error",
    summary: `${left} not checked`,
    detail: `All environments are too much for one check: there may be ${MAX_CHECKED_ENVIRONMENTS}, with ${MAX_CHECKED_CHARACTERS / 1024 ** 2} Mi characters together once they are expanded. Each record and each finding counts as ${CHECKED_ITEM_CHARACTERS}.`,
    fix: "Check each environment by itself, with --env NAME.",
  };
}

/** @param declared for each environment */
function verdict(declared: readonly number[], warnings: number, where: string): string {
  const ascending = [...declared].sort((a, b) => a - b);
  const [least = 0, most = least] = [ascending[0], ascending.at(-1)];
  const suffix = warnings === 0 ? "" : `, ${warnings} ${warnings === 1 ? "warning" : "warnings"}`;
  const checked = where === "" ? "" : `\nChecked ${escapeText(where)}.`;
  return `The manifest is valid: ${least === most ? least : `${least} to ${most}`} declared${suffix}.${checked}\n`;
}
