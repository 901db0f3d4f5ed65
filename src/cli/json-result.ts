/** `--format json`: stdout holds JSON whatever happens, so that a program never has to read what is said on stderr. */

import { type Diagnostic, diagnosticsJson, renderErrorsJson, Sources } from "../index.ts";
import type { Format } from "./args.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
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
  const code = await work({
    ...terminal,
    print: (text) => {
      if (!stream || LAST_LINE.test(text)) isComplete = true;
      terminal.print(text);
    },
    record: (diagnostics, sources) => {
      for (const problem of diagnosticsJson(diagnostics, sources)) problems.push(problem);
    },
  });
  if (isComplete || code === EXIT.done) return code;
  terminal.print(
    renderErrorsJson(
      problems.some(isError) ? problems : [...problems, ...diagnosticsJson([ENDED], new Sources())],
      stream,
    ),
  );
  return code;
}

function isError({ severity }: Problems[number]): boolean {
  return severity === "error";
}
