/** Carries out a plan with its journal and its progress, and says what came of it. */

import {
  applyPlan,
  type ClientApi,
  type Journal,
  type JournalEntry,
  openJournal,
  type Plan,
  type Report,
  type Span,
  systemClock,
} from "../index.ts";
import { DEFAULT_CONCURRENCY } from "../model/api.ts";
import { JOURNAL_FORMAT_VERSION } from "../model/journal.ts";
import { newIdNotes, renderReportText } from "../render/report.ts";
import { escapeText } from "../render/terminal.ts";
import type { PlanFlags } from "./flags.ts";
import { sayDiagnostics } from "./messages.ts";
import { ApplyProgress } from "./progress.ts";
import { accountOf, type Planned, type Session } from "./session.ts";

export type Writing = Session<ClientApi>;

export type Made = Extract<Planned, { ok: true }>;

export interface CarriedOut {
  readonly plan: Plan;
  readonly report: Report;
  /** Where its journal is. */
  readonly journal: string;
  /** What was written there, but for its first line only if it was to be kept. */
  readonly entries: readonly JournalEntry[];
}

interface CarryOutFlags extends Pick<PlanFlags, "format" | "concurrency"> {
  readonly journal?: string;
}

/**
 * The report is printed as text, if text is asked for.
 * @param isReviewed whether the plan is within one that somebody has reviewed
 * @param keepsEntries whether what is written into the journal is kept in memory, too
 * @returns null, with a message, if there can be no journal: then nothing was done
 */
export async function carryOutPlan(
  session: Writing,
  { plan, live }: Made,
  { format, concurrency, journal: path }: CarryOutFlags,
  { isReviewed, keepsEntries }: { readonly isReviewed: boolean; readonly keepsEntries: boolean },
): Promise<CarriedOut | null> {
  const { terminal, project, api, connection } = session;
  const { root } = project;
  const { runMetadata } = await import("./git.ts");
  const header = {
    ...(await runMetadata(root, connection.baseUrl, terminal.environment)),
    ...{ account: accountOf(terminal), environment: project.inputs.environment, owner: plan.owner, goal: plan.goal },
  };
  const startedMilliseconds = Date.now();
  const opened = await openJournal({ root, path: path ?? null, startedMilliseconds, header });
  if (!opened.ok) {
    sayDiagnostics(terminal, [opened.diagnostic]);
    return null;
  }
  const started = new Date(startedMilliseconds).toISOString();
  const entries: JournalEntry[] = [{ type: "run", format_version: JOURNAL_FORMAT_VERSION, started, ...header }];
  const progress = new ApplyProgress(terminal, plan, format);
  try {
    const applied = await applyPlan({
      plan,
      live,
      isReviewed,
      api,
      root,
      concurrency: concurrency ?? DEFAULT_CONCURRENCY,
      clock: systemClock,
      journal: keepsEntries ? keeping(opened.journal, entries) : opened.journal,
      signal: terminal.interrupt.first,
      abort: terminal.interrupt.second,
      emit: (event) => progress.report(event),
      uploading: (step, sent, total) => progress.upload(step, sent, total),
    });
    const place = ({ file, start }: Span): string => `${file}:${project.sources.position(file, start).line}`;
    const report = { ...applied, notices: [...applied.notices, ...newIdNotes(applied, plan, place)] };
    progress.end();
    if (format === "text") terminal.print(`\n${renderReportText(report, plan, terminal.results)}`);
    terminal.say(`The journal of this run is ${escapeText(opened.journal.path)}\n`);
    return { plan, report, journal: opened.journal.path, entries };
  } finally {
    progress.end();
    await opened.journal.close();
  }
}

/** The run's own lines, as an undo of this process needs them: the file may hold other runs, or be one that cannot be read. */
function keeping(journal: Journal, entries: JournalEntry[]): Journal {
  return {
    path: journal.path,
    conceal: (secret) => journal.conceal(secret),
    record: (entry) => {
      entries.push(entry);
      return journal.record(entry);
    },
    close: () => journal.close(),
  };
}
