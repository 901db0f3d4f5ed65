/** `apply --verify --undo-on-failure`: takes back what the run has done, because the nameservers do not answer as declared. */

import { type Consent, type Guard, type Plan, runOfEntries } from "../index.ts";
import { LEFT_BY_UNDO } from "../model/journal.ts";
import { escapeGlob, shellWord } from "../model/text.ts";
import { isVerified, type Verification } from "../model/verification.ts";
import { renderPlanText } from "../render/index.ts";
import { renderPlanEventJson, type Undone } from "../render/report.ts";
import { escapeText } from "../render/terminal.ts";
import { type CarriedOut, carryOutPlan, type Made, type Writing } from "./carry-out.ts";
import type { PlanFlags } from "./flags.ts";
import { sayDiagnostics } from "./messages.ts";
import { sayLine } from "./say-line.ts";
import { planIn } from "./session.ts";
import { printVerification } from "./verification.ts";

interface UndoOnFailureFlags extends PlanFlags {
  readonly journal?: string;
}

/**
 * The flag is the consent to delete what the run made. What needs any other consent is left as it is, and said.
 * @param verify asks the nameservers for what the undo has changed
 */
export async function undoUnverified(
  session: Writing,
  carried: CarriedOut,
  flags: UndoOnFailureFlags,
  verify: (done: CarriedOut, made: Made) => Promise<Verification | null>,
): Promise<Undone> {
  const { terminal } = session;
  terminal.say("\nThe nameservers do not answer as declared. What this run did is to be undone.\n");
  // The account is changed already: a bug must neither hide what was done nor how to go on.
  const undone = await undo(session, carried, flags, verify).catch((error: unknown): Undone => {
    const where = `Look at: tenon undo ${journalOf(carried, flags)}`;
    return notBegun(`an error of Tenon, please report it: ${messageOf(error)}. ${where}`);
  });
  for (const problem of undone.problems) sayLine(terminal, `error: not undone: ${escapeText(problem)}`);
  if (undone.problems.length === 0) terminal.say("What this run did is undone.\n");
  return undone;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What names the run in a command. A file that the flag names has the lines of the undo behind those of the run. */
function journalOf({ journal, entries }: CarriedOut, flags: UndoOnFailureFlags): string {
  const [first] = entries;
  const which = flags.journal === undefined || first?.type !== "run" ? "" : ` --run ${shellWord(first.started)}`;
  return `${shellWord(journal)}${which}`;
}

async function undo(
  session: Writing,
  carried: CarriedOut,
  flags: UndoOnFailureFlags,
  verify: (done: CarriedOut, made: Made) => Promise<Verification | null>,
): Promise<Undone> {
  const { terminal } = session;
  const read = await runOfEntries(carried.entries, carried.journal);
  if (!read.ok) {
    sayDiagnostics(terminal, [read.diagnostic]);
    return notBegun("the run's own journal cannot be undone");
  }
  // What narrowed the run counts for what it was to do. All that it has done is to be taken back.
  const { maxChanges: _max, target: _target, exclude: _exclude, ...kept } = flags;
  const undoing: Writing = { ...session, flags: kept, goal: "undo", changedSince: null, run: read.run };
  const journal = journalOf(carried, flags);
  const rest = `tenon apply --undo ${journal}`;
  const notPlanned = (): string =>
    terminal.interrupt.first.aborted
      ? `it was interrupted before it began. Go on with: ${rest}`
      : `it cannot be planned. Look at: tenon undo ${journal}`;
  const first = await planIn(undoing);
  if (!first.ok) return notBegun(notPlanned());
  const { consents, roots, problems } = consentsTo(first.plan);
  const allow = [...(flags.allow ?? []), ...consents];
  const exclude = roots.map(escapeGlob);
  const made = await planIn({ ...undoing, flags: { ...kept, allow, exclude }, checkSelection: false });
  if (!made.ok) return notBegun(notPlanned(), problems);
  const { plan } = made;
  if (flags.format === "text") terminal.print(`\n${renderPlanText(plan, terminal.results)}`);
  if (flags.format === "json") terminal.print(renderPlanEventJson(plan, Date.now()));
  if (plan.guards.some(isMissing)) return notBegun("it needs a consent that nobody gave", problems);
  const blocked = plan.changes.flatMap((change) =>
    change.blocked === null ? [] : [`${change.key} is blocked, as the plan of the undo says`],
  );
  const left = plan.warnings.flatMap(({ code, summary }) => (LEFT_BY_UNDO.has(code) ? [summary] : []));
  const withheld = plan.withheld.map(({ key }) => `${key} stays: --never-destroy leaves out deletions`);
  const all = [...problems, ...blocked, ...left, ...withheld];
  if (plan.steps.length === 0) return { isComplete: all.length === 0, problems: all, done: null, verification: null };
  const done = await carryOutPlan(undoing, made, flags, { isReviewed: false, keepsEntries: false });
  if (done === null) return notBegun("it has no journal", all);
  const { failed, skipped, unknown, interrupted } = done.report;
  const open = failed + skipped + unknown;
  if (open > 0 || interrupted) all.push(`${open} of its changes failed, or were not begun. Go on with: ${rest}`);
  // What was done is told, whatever becomes of the look at the nameservers.
  const verification = await verify(done, made).catch((error: unknown) => {
    all.push(`an error of Tenon, please report it: ${messageOf(error)}`);
    return null;
  });
  if (flags.format === "text" && verification !== null) printVerification(terminal, verification);
  const isServed = verification !== null && isVerified(verification);
  return { isComplete: all.length === 0 && isServed, problems: all, done, verification };
}

function notBegun(problem: string, others: readonly string[] = []): Undone {
  return { isComplete: false, problems: [...others, problem], done: null, verification: null };
}

function isMissing({ consent }: Guard): boolean {
  return consent !== "given";
}

/** All that an undo deletes was made by the run, so that to delete it, and many of it, has the flag's consent. */
function consentsTo({ guards, changes }: Plan): {
  readonly consents: readonly Consent[];
  /** What stays as it is, as something of it has no consent. */
  readonly roots: readonly string[];
  readonly problems: readonly string[];
} {
  const consents: Consent[] = [];
  const roots = new Set<string>();
  const problems: string[] = [];
  for (const { rule, address } of guards.filter(isMissing)) {
    const change = changes.find((one) => one.address === address || one.previousAddress === address);
    // Where a sharing ends, what is left undeclared was made by others.
    const endsSharing = change?.undeclared !== undefined;
    if (rule === "delete" || (rule === "bulk" && !endsSharing)) {
      consents.push({ rule, address: escapeGlob(address), until: null, reason: null, span: null });
      continue;
    }
    roots.add(change?.root ?? address);
    const why = rule === "protect" ? "it is protected" : `it needs the consent ${rule}=${address}`;
    problems.push(`${address} stays as it is: ${why}`);
  }
  return { consents, roots: [...roots], problems };
}
