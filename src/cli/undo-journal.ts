/** The journal of a run that is to be undone, on the command line: what is wrong with it is said at its line. */

import { type JournalledRun, openRun as open, type Project } from "../index.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

type OpenedRun = { readonly ok: true; readonly run: JournalledRun } | { readonly ok: false; readonly code: ExitCode };

/** Says what is wrong with the journal. Nothing is sent. */
export async function openRun(
  terminal: Terminal,
  which: { readonly file: string; readonly started: string | null },
  { desired, inputs, sources }: Project,
  { baseUrl, account }: { readonly baseUrl: string; readonly account: string | null },
): Promise<OpenedRun> {
  const { host } = new URL(baseUrl);
  const here = { host, account, environment: inputs.environment, owner: desired.owner };
  const opened = await open(which, here, sources);
  if (opened.ok) {
    if (opened.warnings.length > 0) sayDiagnostics(terminal, opened.warnings, sources);
    return opened;
  }
  const { code, summary } = opened.diagnostic;
  if (code === "journal-unreadable") sayError(terminal, { code, summary });
  else sayDiagnostics(terminal, [opened.diagnostic], sources);
  return { ok: false, code: code === "journal-of-another" ? EXIT.refused : EXIT.error };
}
