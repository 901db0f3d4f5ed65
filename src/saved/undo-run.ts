/** The run that is to be undone: its journal is read, checked, and has to be of this service, account, environment and owner. */

import { basename } from "node:path";
import { readProblem, readSaved } from "../files/files.ts";
import type { Diagnostic, Sources } from "../model/diagnostic.ts";
import type { JournalledRun } from "../model/journal.ts";
import type { Kinds } from "../model/kind.ts";
import { escapeText } from "../render/terminal.ts";
import { parseJournal } from "./journal-file.ts";

/** The most octets of a journal: that of a run of 300,000 changes has less. */
const MAX_JOURNAL_BYTES = 384 * 1024 * 1024;

/** Where an undo is to be, of which the run has to be, too. */
export interface UndoPlace {
  /** With the port, as `URL` has it. */
  readonly host: string;
  readonly account: string | null;
  readonly environment: string | null;
  readonly owner: string | null;
}

export type OpenedRun =
  | { readonly ok: true; readonly run: JournalledRun; readonly warnings: readonly Diagnostic[] }
  /** `journal-of-another` is a refusal; all others say that there is no such journal. */
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/**
 * @param which `started`: which run of the file; null: the only one
 * @param sources gets what messages show of the file
 */
export async function openRun(
  which: { readonly file: string; readonly started: string | null },
  here: UndoPlace,
  sources: Sources,
  kinds: Kinds,
): Promise<OpenedRun> {
  const { file } = which;
  let text: string;
  try {
    text = await readSaved(file, MAX_JOURNAL_BYTES);
  } catch (error) {
    const summary = `the journal cannot be read: ${readProblem(error, file)}`;
    return { ok: false, diagnostic: { code: "journal-unreadable", severity: "error", summary, detail: "" } };
  }
  const parsed = await parseJournal(text, kinds, which);
  if (!parsed.ok) return { ok: false, diagnostic: atItsLine(parsed.diagnostic, text, sources) };
  sources.add(file, text);
  const { run } = parsed;
  const sides: readonly Side[] = [
    { what: "account", made: run.account, now: here.account, fix: "Set TENON_ACCOUNT, and the token of that account." },
    { what: "environment", made: run.environment, now: here.environment, fix: "Give the --env of that run." },
    { what: "owner", made: run.owner, now: here.owner, fix: "Name the project's folder that the run was of." },
    { what: "service", made: run.host, now: here.host, fix: "Set the base URL of the service that the run was on." },
  ];
  const other = sides.find(({ made, now }) => made !== now);
  if (other !== undefined) return { ok: false, diagnostic: journalOfAnother(run, other) };
  return { ok: true, run, warnings: run.isEnded ? [] : [unended(run)] };
}

/** It may be any file that a forged plan names: its lines are counted, and not shown. */
function atItsLine(diagnostic: Diagnostic, text: string, sources: Sources): Diagnostic {
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
