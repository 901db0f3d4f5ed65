/** The journal of a run that is to be undone: read, checked, and only of this service, account, environment and owner. */

import { basename } from "node:path";
import { readProblem, readRegular } from "../files/files.ts";
import { type Diagnostic, type Project, parseJournal } from "../index.ts";
import type { JournalledRun } from "../model/journal.ts";
import { escapeText } from "../render/terminal.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

/** The most octets of a journal: that of a run of 300,000 changes has less. */
const MAX_JOURNAL_BYTES = 384 * 1024 * 1024;

type OpenedRun = { readonly ok: true; readonly run: JournalledRun } | { readonly ok: false; readonly code: ExitCode };

/** Says what is wrong with the journal, at its line. Nothing is sent. */
export async function openRun(
  terminal: Terminal,
  which: { readonly file: string; readonly started: string | null },
  { desired, inputs, sources }: Project,
  here: { readonly baseUrl: string; readonly account: string | null },
): Promise<OpenedRun> {
  const { file } = which;
  let text: string;
  try {
    text = await readRegular(file, MAX_JOURNAL_BYTES);
  } catch (error) {
    const summary = `the journal cannot be read: ${readProblem(error, file)}`;
    sayError(terminal, { code: "journal-unreadable", summary });
    return { ok: false, code: EXIT.error };
  }
  const parsed = await parseJournal(text, which);
  if (!parsed.ok) {
    sayDiagnostics(terminal, [atItsLine(parsed.diagnostic, text, sources)], sources);
    return { ok: false, code: EXIT.error };
  }
  sources.add(file, text);
  const { run } = parsed;
  const host = new URL(here.baseUrl).host;
  const sides: readonly Side[] = [
    { what: "account", made: run.account, now: here.account, fix: "Set TENON_ACCOUNT, and the token of that account." },
    { what: "environment", made: run.environment, now: inputs.environment, fix: "Give the --env of that run." },
    { what: "owner", made: run.owner, now: desired.owner, fix: "Name the project's folder that the run was of." },
    { what: "service", made: run.host, now: host, fix: "Set the base URL of the service that the run was on." },
  ];
  const other = sides.find(({ made, now }) => made !== now);
  if (other === undefined) {
    if (!run.isEnded) sayDiagnostics(terminal, [unended(run)], sources);
    return parsed;
  }
  sayDiagnostics(terminal, [journalOfAnother(run, other)], sources);
  return { ok: false, code: EXIT.refused };
}

/** It may be any file that a forged plan names: its lines are counted, and not shown. */
function atItsLine(diagnostic: Diagnostic, text: string, sources: Project["sources"]): Diagnostic {
  const { span } = diagnostic;
  if (span === undefined) return diagnostic;
  const before = text.slice(0, span.start).split("\n").length - 1;
  sources.add(span.file, "\n".repeat(before));
  return { ...diagnostic, span: { ...span, start: before, end: before } };
}

interface Side {
  readonly what: string;
  readonly made: string | null;
  readonly now: string | null;
  readonly fix: string;
}

function journalOfAnother({ file, span }: JournalledRun, { what, made, now, fix }: Side): Diagnostic {
  const named = (name: string | null): string => (name === null ? `no ${what}` : `the ${what} ${JSON.stringify(name)}`);
  return {
    code: "journal-of-another",
    severity: "error",
    summary: `the journal is of another ${what}`,
    detail: `The run of ${escapeText(basename(file))} had ${escapeText(named(made))}, and this one has ${escapeText(named(now))}. Nothing was done.`,
    fix,
    span,
  };
}

function unended({ file, span }: JournalledRun): Diagnostic {
  return {
    code: "journal-unended",
    severity: "warning",
    summary: "the journal has no end: the run was killed, or lines are missing",
    detail: `What ${escapeText(basename(file))} tells of is looked up in the account. What it does not tell of is not undone.`,
    fix: "If the file is a copy, get the whole of it.",
    span,
  };
}
