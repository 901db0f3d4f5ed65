/** `tenon apply` and `tenon destroy`: plan, ask, carry it out, report. */

import {
  applyPlan,
  escapeText,
  findUnreviewed,
  openJournal,
  type Plan,
  type Report,
  renderGuardsText,
  renderPlanText,
  renderReportJson,
  renderReportText,
  rootsHeldByInterfaces,
  summarise,
  systemClock,
  type Verification,
  type Witnesses,
} from "../../index.ts";
import { ApplyProgress } from "../apply-progress.ts";
import type { FailOn, PlanFlags } from "../args.ts";
import { confirm } from "../confirm.ts";
import { gatherEvidence } from "../evidence.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { sayDiagnostics, sayError } from "../messages.ts";
import { inSession, type Planned, planIn, type Session } from "../planning.ts";
import { Progress } from "../progress.ts";
import { readPlanFile } from "../reviewed.ts";
import type { Terminal } from "../terminal.ts";
import { prepareWitnesses, printVerification, timeoutOf, verifiedCode, watched } from "../verification.ts";
import type { VerifyFlags } from "../verify-flags.ts";

export interface ApplyFlags extends PlanFlags, VerifyFlags {
  readonly yes?: boolean;
  readonly verify?: boolean;
  readonly plan?: string;
  readonly journal?: string;
  readonly failOn?: readonly FailOn[];
  /** Seconds. */
  readonly waitDetached?: number;
}

const DEFAULT_CONCURRENCY = 8;
const DETACH_POLL_SECONDS = 10;

export function apply(terminal: Terminal, directory: string | undefined, flags: ApplyFlags): Promise<ExitCode> {
  return run(terminal, directory, flags, "apply");
}

export function destroy(terminal: Terminal, directory: string | undefined, flags: ApplyFlags): Promise<ExitCode> {
  return run(terminal, directory, flags, "destroy");
}

async function run(
  terminal: Terminal,
  directory: string | undefined,
  flags: ApplyFlags,
  goal: "apply" | "destroy",
): Promise<ExitCode> {
  if (flags.yes !== true && !terminal.canAsk) {
    sayError(terminal, "there is no terminal to ask on", `Give --yes to ${goal} without being asked.`);
    return EXIT.error;
  }
  const prepared = await prepareWitnesses(terminal, flags, { flag: "--verify", given: flags.verify === true });
  if (!prepared.ok) return prepared.code;
  const reviewed = await readPlanFile(terminal, flags.plan);
  if (!reviewed.ok) return reviewed.code;
  return inSession(terminal, directory, flags, goal, async (session) => {
    const planned = await planUntilDetached(session, flags);
    if (!planned.ok) return planned.code;
    const verdict = judge(terminal, planned.plan, reviewed.plan, flags);
    if (verdict !== null) return verdict;
    const consent = flags.yes === true || (await confirm(terminal, goal));
    const { witnesses } = prepared;
    return consent ? carryOut(session, planned.plan, flags, witnesses) : (terminal.interrupt.code() ?? EXIT.error);
  });
}

/** `--wait-detached`: plans again until no interface holds anything, or the time is over. */
async function planUntilDetached(session: Session, flags: ApplyFlags): Promise<Planned> {
  const { terminal } = session;
  const end = Date.now() + (flags.waitDetached ?? 0) * 1000;
  for (;;) {
    const planned = await planIn(session);
    if (!planned.ok || Date.now() >= end) return planned;
    const held = rootsHeldByInterfaces(planned.plan);
    if (held.size === 0) return planned;
    const progress = new Progress(terminal);
    progress.show(`Waiting until interfaces are detached: ${[...held].map(escapeText).join(", ")}`);
    await systemClock.sleep(DETACH_POLL_SECONDS * 1000, terminal.interrupt.first);
    progress.end();
  }
}

/** Shows the plan, and ends here if there is nothing to do, or nothing that may be done. */
function judge(terminal: Terminal, plan: Plan, reviewed: Plan | null, flags: ApplyFlags): ExitCode | null {
  if (flags.format === "text") terminal.print(renderPlanText(plan, terminal.results));
  const extra = reviewed === null ? [] : findUnreviewed(plan, reviewed);
  if (extra.length > 0) {
    const changes = extra.map(({ action, key }) => ({ action, key }));
    sayUnreviewed(terminal, changes);
    return EXIT.unreviewed;
  }
  if (plan.guards.some((guard) => guard.consent !== "given")) {
    if (flags.format === "json") terminal.say(renderGuardsText(plan, terminal.messages));
    sayError(terminal, "refused; nothing was done");
    return EXIT.refused;
  }
  const { add, change, destroy, blocked } = summarise(plan.changes);
  if (blocked > 0 && flags.failOn?.includes("blocked")) {
    sayBlocked(terminal, plan);
    return EXIT.refused;
  }
  if (add + change + destroy > 0) return null;
  // Only then is there a report without a run: so that what reads reports finds one.
  if (flags.format === "json") terminal.print(renderReportJson(idleReport(plan), plan));
  return blocked > 0 ? EXIT.partial : EXIT.done;
}

function sayUnreviewed(terminal: Terminal, changes: readonly { action: string; key: string }[]): void {
  const lines = changes.map(({ action, key }) => `  ${action} ${escapeText(key)}\n`).join("");
  sayError(terminal, "this plan is not within the reviewed one; nothing was done. It does not show:");
  terminal.say(lines);
  terminal.say("  Review a new plan: tenon plan --out FILE\n");
}

function sayBlocked(terminal: Terminal, plan: Plan): void {
  sayError(terminal, "changes are blocked; nothing was done:");
  for (const { key, blocked } of plan.changes) if (blocked !== null) terminal.say(`  ${escapeText(key)}\n`);
}

function idleReport(plan: Plan): Report {
  const blocked = plan.changes.filter((change) => change.blocked !== null);
  return {
    steps: [],
    changes: blocked.map(({ key }) => ({ key, outcome: "blocked" })),
    added: 0,
    changed: 0,
    destroyed: 0,
    failed: 0,
    skipped: 0,
    unknown: 0,
    blocked: blocked.length,
    requestCount: 0,
    interrupted: false,
    surprises: [],
  };
}

async function carryOut(
  session: Session,
  plan: Plan,
  flags: ApplyFlags,
  witnesses: Witnesses | null,
): Promise<ExitCode> {
  const { terminal, project, api, connection } = session;
  const { root } = project;
  const header = await gatherEvidence(root, connection.baseUrl, terminal.environment);
  const opened = await openJournal({ root, path: flags.journal ?? null, startedMilliseconds: Date.now(), header });
  if (!opened.ok) {
    sayDiagnostics(terminal, [opened.diagnostic]);
    return EXIT.error;
  }
  const { journal } = opened;
  const progress = new ApplyProgress(terminal, plan, flags.format);
  try {
    const report = await applyPlan({
      plan,
      api,
      root,
      concurrency: flags.concurrency ?? DEFAULT_CONCURRENCY,
      clock: systemClock,
      journal,
      signal: terminal.interrupt.first,
      abort: terminal.interrupt.second,
      emit: (event) => progress.tell(event),
    });
    progress.end();
    if (flags.format === "text") terminal.print(`\n${renderReportText(report, plan, terminal.results)}`);
    terminal.say(`The journal of this run is ${journal.path}\n`);
    let verification: Verification | null = null;
    try {
      verification = await verifyReport(session, plan, report, flags, witnesses);
    } finally {
      // Whatever becomes of the verification, what was done is reported.
      if (flags.format === "json") terminal.print(renderReportJson(report, plan, verification));
    }
    if (flags.format === "text" && verification !== null) printVerification(terminal, verification);
    const code = exitCode(terminal, report);
    if (code !== EXIT.done || verification === null) return code;
    return verifiedCode(terminal, verification, EXIT.partial);
  } finally {
    progress.end();
    await journal.close();
  }
}

/** `--verify`: what was done may be there although something else failed. An interrupt ends this, too. */
async function verifyReport(
  { terminal, project }: Session,
  plan: Plan,
  report: Report,
  flags: ApplyFlags,
  witnesses: Witnesses | null,
): Promise<Verification | null> {
  if (witnesses === null || report.interrupted) return null;
  const applied = { desired: project.desired, plan, report };
  return watched(terminal, flags.format === "json", timeoutOf(flags), (tools, watch) =>
    tools.verifyApplied(applied, witnesses, watch),
  );
}

function exitCode(terminal: Terminal, report: Report): ExitCode {
  if (report.interrupted) return terminal.interrupt.code() ?? EXIT.interrupted;
  return report.failed + report.skipped + report.unknown + report.blocked > 0 ? EXIT.partial : EXIT.done;
}
