/** `--format json`: stdout holds JSON whatever happens, so that a program never has to read what is said on stderr. */

import { type Diagnostic, diagnosticsJson, renderErrorsJson, Sources } from "../index.ts";
import type { Format } from "./args.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { asDiagnostic, type CommandError } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

type Problems = ReturnType<typeof diagnosticsJson>;

/** Of a stream: after one of these lines comes no other. */
const LAST_LINE = /"type":"(?:report|refused)"/;

/** An interrupt is told by nobody. */
const ENDED: Diagnostic = {
  code: "interrupted",
  severity: "error",
  summary: "the command ended before it had a result",
  detail: "It was interrupted, or stopped.",
};

/**
 * Runs a command. If it ends without the document that it prints (of a stream: without its last line), the errors that it has told are
 * printed in its place, in the shape of `validate --format json`; of a stream as a last line of the type `error`.
 */
export async function withJsonErrors(
  terminal: Terminal,
  { format, stream }: { readonly format: Format; readonly stream: boolean },
  work: (terminal: Terminal) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (format !== "json") return work(terminal);
  const problems: Problems[number][] = [];
  let isComplete = false;
  const tell = (diagnostics: readonly Problems[number][]): void =>
    terminal.print(renderErrorsJson(diagnostics, stream));
  const inner: Terminal = {
    ...terminal,
    print: (text) => {
      if (!stream || LAST_LINE.test(text)) isComplete = true;
      terminal.print(text);
    },
    record: (diagnostics, sources) => {
      for (const problem of diagnosticsJson(diagnostics, sources)) problems.push(problem);
    },
  };
  let code: ExitCode;
  try {
    code = await work(inner);
  } catch (error) {
    if (!isComplete) tell([...problems, ...diagnosticsJson([bugOf(error)], new Sources())]);
    throw error;
  }
  if (isComplete || code === EXIT.done) return code;
  tell(problems.some(isError) ? problems : [...problems, ...diagnosticsJson([ENDED], new Sources())]);
  return code;
}

/** Of a command that could not even begin. */
export function printError(terminal: Terminal, error: CommandError, stream: boolean): void {
  terminal.print(renderErrorsJson(diagnosticsJson([asDiagnostic(error)], new Sources()), stream));
}

/** It is thrown all the same: where it comes from is told on stderr. */
function bugOf(error: unknown): Diagnostic {
  const [message = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  return asDiagnostic({
    code: "internal-error",
    summary: `an error of Tenon: ${message}`,
    fix: "TENON_DEBUG=1 shows where it comes from: please report it.",
  });
}

function isError({ severity }: Problems[number]): boolean {
  return severity === "error";
}
