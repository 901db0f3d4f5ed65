/** `tenon validate`: checks the manifests without any connection. */

import { hasErrors, lintProject, renderValidationJson } from "../../index.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import type { ProjectFlags } from "../flags.ts";
import { withJsonErrors } from "../output.ts";
import { exitOf, load, needDialect } from "../project.ts";
import { sayDiagnostics, sayStrict, type Terminal } from "../terminal.ts";

export interface ValidateFlags extends ProjectFlags {
  readonly strict?: boolean;
  readonly format: "text" | "json";
  readonly dialect?: string;
}

export function validate(terminal: Terminal, directory: string | undefined, flags: ValidateFlags): Promise<ExitCode> {
  const { format } = flags;
  return withJsonErrors(terminal, { format, stream: false }, (inner) => check(inner, directory, flags));
}

async function check(terminal: Terminal, directory: string | undefined, flags: ValidateFlags): Promise<ExitCode> {
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return EXIT.error;
  const { project, fault, diagnostics: found, sources } = await load(directory, flags, dialect);
  const diagnostics = project === null ? found : await lintProject(project, found);
  const isValid = project !== null && !hasErrors(diagnostics) && !(flags.strict === true && diagnostics.length > 0);
  if (flags.format === "json") {
    terminal.print(renderValidationJson(diagnostics, sources));
  } else {
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
