/** Output in the requested format: a plan, the summary of a CI step, and JSON even when a command fails. */

import { appendFile } from "node:fs/promises";
import { type Diagnostic, type Plan, Sources } from "../index.ts";
import { renderPlanMarkdown, renderPlanText } from "../render/index.ts";
import { renderPlanJsonParts } from "../render/plan-json.ts";
import { diagnosticsJson, renderErrorsJson } from "../render/report.ts";
import { escapeText } from "../render/terminal.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { Format } from "./flags.ts";
import { asDiagnostic, type CommandError } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

// Showing a plan in the requested format.

export function showPlan(terminal: Terminal, plan: Plan, format: Format): void {
  for (const text of planText(terminal, plan, format)) terminal.print(text);
}

function planText(terminal: Terminal, plan: Plan, format: Format): Iterable<string> {
  switch (format) {
    case "text":
      return [renderPlanText(plan, terminal.results)];
    case "json":
      return renderPlanJsonParts(plan);
    case "markdown":
      return [renderPlanMarkdown(plan)];
  }
}

// The summary of a GitHub Actions step: markdown for the job's page, appended to the file that GITHUB_STEP_SUMMARY names.

const VARIABLE = "GITHUB_STEP_SUMMARY";

/**
 * Does nothing if the variable is not set. A failure is only a warning, as the command has done its work.
 * @param markdown makes the text, newline-terminated, if it is needed; an empty line separates it from other text of the step
 */
export async function writeGithubSummary({ environment, say }: Terminal, markdown: () => string): Promise<void> {
  const file = environment[VARIABLE] ?? "";
  if (file === "") return;
  try {
    await appendFile(file, `${markdown()}\n`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    say(`warning: the summary of the step cannot be written: ${escapeText(why)}\n`);
  }
}

/** Prints markdown to stdout if that is the format, and to the step summary if there is one. */
export async function printMarkdown(terminal: Terminal, format: Format, markdown: () => string): Promise<void> {
  if (format === "markdown") terminal.print(markdown());
  await writeGithubSummary(terminal, markdown);
}

// `--format json`: stdout holds JSON even after an error, so that a program never has to read stderr.

type Problems = ReturnType<typeof diagnosticsJson>;

/** The types of a stream's last line. */
const LAST_LINE = /"type":"(?:report|refused)"/;

/** No other message reports an interrupt. */
const ENDED: Diagnostic = {
  code: "interrupted",
  severity: "error",
  summary: "the command ended before it had a result",
  detail: "It was interrupted, or stopped.",
};

/**
 * Runs a command. If the command ends without printing its document (for a stream: its last line), the errors that it has reported are
 * printed instead, in the shape of `validate --format json`; for a stream as a last line of the type `error`.
 */
export async function withJsonErrors(
  terminal: Terminal,
  { format, stream }: { readonly format: Format; readonly stream: boolean },
  work: (terminal: Terminal) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (format !== "json") return work(terminal);
  const problems: Problems[number][] = [];
  let isComplete = false;
  const print = (diagnostics: readonly Problems[number][]): void =>
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
    if (!isComplete) print([...problems, ...diagnosticsJson([bugOf(error)], new Sources())]);
    throw error;
  }
  if (isComplete || code === EXIT.done) return code;
  print(problems.some(isError) ? problems : [...problems, ...diagnosticsJson([ENDED], new Sources())]);
  return code;
}

/** Prints the error of a command that could not begin. */
export function printError(terminal: Terminal, error: CommandError, stream: boolean): void {
  terminal.print(renderErrorsJson(diagnosticsJson([asDiagnostic(error)], new Sources()), stream));
}

/** The error is also thrown, so that stderr shows it. */
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
