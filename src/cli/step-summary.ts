/** The summary of a GitHub Actions step: markdown that a job shows on its page, appended to the file it names. */

import { appendFile } from "node:fs/promises";
import { escapeText } from "../index.ts";
import type { Format } from "./args.ts";
import type { Terminal } from "./terminal.ts";

const VARIABLE = "GITHUB_STEP_SUMMARY";

/**
 * Does nothing where there is no such file. A failure is a warning: what was done is done.
 * @param markdown makes it, newline-terminated, if there is such a file; an empty line keeps it apart from what the step says before and after
 */
export async function writeStepSummary({ environment, say }: Terminal, markdown: () => string): Promise<void> {
  const file = environment[VARIABLE] ?? "";
  if (file === "") return;
  try {
    await appendFile(file, `${markdown()}\n`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    say(`warning: the summary of the step cannot be written: ${escapeText(why)}\n`);
  }
}

/** To stdout if that is the format, and to the summary of the step if there is one. */
export async function tellMarkdown(terminal: Terminal, format: Format, markdown: () => string): Promise<void> {
  if (format === "markdown") terminal.print(markdown());
  await writeStepSummary(terminal, markdown);
}
