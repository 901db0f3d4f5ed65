/** The journal of a run that is to be undone, on the command line: what is wrong with it is said at its line. */

import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { type JournalledRun, openRun as open, type Project } from "../index.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

type OpenedRun = { readonly ok: true; readonly run: JournalledRun } | { readonly ok: false; readonly code: ExitCode };

/** Says what is wrong with the journal. Nothing is sent. */
export async function openRun(
  terminal: Terminal,
  which: { readonly file: string; readonly started: string | null },
  { root, desired, inputs, sources }: Project,
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
  if (code === "journal-unreadable") sayError(terminal, { code, summary, fix: whichJournal(root) });
  else sayDiagnostics(terminal, [opened.diagnostic], sources);
  return { ok: false, code: code === "journal-of-another" ? EXIT.refused : EXIT.error };
}

/** A sentence that names the run that an operator most likely means. @param root the project's folder */
function whichJournal(root: string): string {
  const [newest] = journalsBelow(relative(process.cwd(), root));
  return newest === undefined
    ? "An apply keeps its journal in .tenon/journal of the project; none is there."
    : `The newest journal of the project is ${newest}`;
}

const JOURNAL_FOLDER = join(".tenon", "journal");
/** More could not be chosen from. */
const MAX_JOURNALS = 100;

/** The files of an apply's journals in the project's folder, the newest first; their names begin with the time. */
export function journalsBelow(directory: string): string[] {
  const folder = join(directory, JOURNAL_FOLDER);
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    return names
      .sort()
      .reverse()
      .slice(0, MAX_JOURNALS)
      .map((name) => join(folder, name));
  } catch {
    // There has been no apply, or the folder cannot be read: then there is nothing to name.
    return [];
  }
}
