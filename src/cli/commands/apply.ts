/** `tenon apply` and `tenon destroy`: make a plan, ask, carry the plan out, report. */

import { type Command, Option } from "commander";
import {
  asBound,
  type ClientApi,
  type Diagnostic,
  isUploadProblem,
  type Plan,
  type Report,
  rootsHeldByInterfaces,
  systemClock,
} from "../../index.ts";
import { isVerified } from "../../model/verification.ts";
import { renderPlanHtml, renderReportHtml, renderReportMarkdown } from "../../render/index.ts";
import { renderPlanEventJson, renderRefusalJson, renderReportJson, type Undone } from "../../render/report.ts";
import { escapeText } from "../../render/terminal.ts";
import type { Verification, VerificationServers } from "../../verify/index.ts";
import { carryOutPlan, type Made, type Writing } from "../carry-out.ts";
import { confirm } from "../confirm.ts";
import type { WithClient } from "../connection.ts";
import { EXIT, type ExitCode, exitCodeOf, type Finish } from "../exit.ts";
import {
  ALL_FORMATS,
  addConnectionFlags,
  addPlanFlags,
  addProjectFlags,
  addVerifyFlags,
  CHANGED_SINCE,
  type ChangedSinceFlags,
  CONFLICT,
  DIRECTORY,
  type FailOn,
  failOnFlag,
  formatFlag,
  htmlIntoFlag,
  jsonIntoFlag,
  neverDestroyFlag,
  type PlanFlags,
  parseDuration,
  parseJournal,
  runFlag,
  type UndoFlags,
  type VerifyFlags,
} from "../flags.ts";
import { type CommandError, sayDiagnostics, sayError } from "../messages.ts";
import {
  givePage,
  type Markdown,
  markdownOf,
  pageLook,
  printJson,
  printMarkdown,
  withJsonErrors,
  withPage,
} from "../output.ts";
import { Progress } from "../progress.ts";
import { asPlanned, differsFromPlan, narrowingDiffers, readPlanFile, variablesDiffer } from "../reviewed-plan.ts";
import { inSession, nameOtherEnvironments, type Planned, planIn, type Session } from "../session.ts";
import { folding, type Terminal } from "../terminal.ts";
import { judgeRun, printRunVerdict } from "../verdict.ts";
import { prepareVerificationServers, printVerification, timeoutOf, verifiedCode, watched } from "../verification.ts";

export function defineApply(command: Command, terminal: Terminal, finish: Finish, connect: Connect): void {
  addRunFlags(command)
    .description("Make the account fit the manifests. Shows the plan and asks first.")
    .option("--changed-since <ref|dir>", CHANGED_SINCE)
    .addOption(neverDestroyFlag())
    .addOption(new Option("--undo <journal>", "take back what the run of this journal did").conflicts("changedSince"))
    .addOption(runFlag())
    .option("--verify", "then ask nameservers for the changed records")
    .option("--undo-on-failure", "with --verify: take the run back if they do not answer so")
    .addHelpText(
      "after",
      `
Examples:
  tenon apply
  tenon apply --yes --plan production.plan
  tenon apply --yes --pin --plan production.plan --env production
  tenon apply --allow delete=vpc/legacy
  tenon apply --allow 'bulk=domain/*.example' --max-changes 50
  tenon apply --wait-detached 10m
  tenon apply --yes --verify --delegation
  tenon apply --yes --verify --undo-on-failure
  tenon apply --undo .tenon/journal/2026-11-22T10-00-00.000Z.jsonl

A saved plan knows its goal, environment, variables, targets and flags: what is
given beside it must be the same. With --pin nothing is taken from it: a plan of
another goal, or made with flags that are not given here, is an error.

Run again, it goes on where it was interrupted.`,
    )
    .action(async (directory, flags) => {
      finish(await apply(folding(terminal, flags), directory, flags, connect));
    });
  addPlanFlags(addConnectionFlags(addProjectFlags(addVerifyFlags(command, "default: 5m"))));
}

export function defineDestroy(command: Command, terminal: Terminal, finish: Finish, connect: Connect): void {
  addRunFlags(command)
    .addOption(neverDestroyFlag().hideHelp())
    .description("Delete what is declared; with an owner, only what carries its tag.\nShows the plan and asks first.")
    .addHelpText(
      "after",
      `
Examples:
  tenon destroy --env staging
  tenon destroy --target image/golden --yes
  tenon destroy --yes --plan destroy.plan

--plan takes a plan of tenon plan --destroy only.`,
    )
    .action(async (directory, flags) => {
      if (flags.neverDestroy === true) {
        command.error("error: destroy and --never-destroy contradict each other", { code: CONFLICT });
      }
      finish(await destroy(folding(terminal, flags), directory, flags, connect));
    });
  addPlanFlags(addConnectionFlags(addProjectFlags(command)));
}

/** The flags that apply and destroy share. */
function addRunFlags(command: Command): Command {
  return command
    .argument("[dir]", DIRECTORY)
    .option("--yes", "do not ask")
    .option("--plan <file>", "carry out this saved plan, and nothing that it does not show")
    .option("--pin", "require the same goal and flags as the plan file")
    .addOption(
      formatFlag(
        "text is for people, json streams events and the report, markdown is for a comment, html a page of the report",
        ALL_FORMATS,
      ),
    )
    .addOption(jsonIntoFlag())
    .addOption(htmlIntoFlag())
    .addOption(failOnFlag("do nothing and exit with 4 if a change is: refused, blocked, or either (refused,blocked)"))
    .option("--journal <file>", "append the evidence to it (default: a new one in .tenon/journal)", parseJournal)
    .option("--wait-detached <time>", "how long to wait until interfaces are detached: 10m", parseDuration);
}

/** Opens a client that writes. The program passes it to no command that only reads. */
type Connect = WithClient<ClientApi>;

interface ApplyFlags extends PlanFlags, VerifyFlags, ChangedSinceFlags, UndoFlags {
  /** The flag is the consent to delete what the run made, if the nameservers do not answer as declared. */
  readonly undoOnFailure?: boolean;
  readonly yes?: boolean;
  readonly verify?: boolean;
  readonly plan?: string;
  /** Nothing is taken from the plan file: a flag that is not given must be absent there, too. */
  readonly pin?: boolean;
  readonly journal?: string;
  readonly failOn?: readonly FailOn[];
  /** Seconds. */
  readonly waitDetached?: number;
}

const DETACH_POLL_SECONDS = 10;
/** If the answer takes longer than this, the plan is made anew. */
const MAX_QUESTION_SECONDS = 10;

export function apply(
  terminal: Terminal,
  directory: string | undefined,
  flags: ApplyFlags,
  connect: Connect,
): Promise<ExitCode> {
  return withEvents(terminal, flags, (inner) => run(inner, directory, flags, "apply", connect));
}

export function destroy(
  terminal: Terminal,
  directory: string | undefined,
  flags: ApplyFlags,
  connect: Connect,
): Promise<ExitCode> {
  return withEvents(terminal, flags, (inner) => run(inner, directory, flags, "destroy", connect));
}

function withEvents(
  terminal: Terminal,
  flags: ApplyFlags,
  work: (terminal: Terminal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { format, jsonInto } = flags;
  return withJsonErrors(terminal, { format, stream: true, jsonInto }, (inner) => withPage(inner, flags, work));
}

async function run(
  terminal: Terminal,
  directory: string | undefined,
  given: ApplyFlags,
  command: "apply" | "destroy",
  connect: Connect,
): Promise<ExitCode> {
  const pin = given.pin === true;
  if (pin && given.plan === undefined) {
    sayError(terminal, { code: "conflicting-options", summary: "--pin is for --plan", fix: "Give --plan, too." });
    return EXIT.error;
  }
  const conflict = conflictOf(given);
  if (conflict !== null) {
    sayError(terminal, conflict);
    return EXIT.error;
  }
  const prepared = await prepareVerificationServers(terminal, given, {
    flag: "--verify",
    given: given.verify === true,
  });
  if (!prepared.ok) return prepared.code;
  const reviewed = await readPlanFile(terminal, given.plan);
  if (!reviewed.ok) return reviewed.code;
  const bound = reviewed.plan;
  const asked = given.undo === undefined ? command : "undo";
  const difference = bound === null ? null : differsFromPlan(given, asked, bound);
  if (difference !== null) return refuseDifferent(terminal, difference);
  const flags = bound === null || pin ? given : asPlanned(given, bound);
  const goal = bound?.goal ?? asked;
  return inSession(terminal, directory, flags, goal, connect, async (opened) => {
    const other = bound === null ? null : variablesDiffer(opened.project.inputs.variables, bound, pin);
    if (other !== null) return refuseDifferent(terminal, other);
    const elsewhere = bound === null || !pin ? null : narrowingDiffers(opened.changedSince, bound);
    if (elsewhere !== null) {
      sayDiagnostics(terminal, [elsewhere]);
      return EXIT.unreviewed;
    }
    const session = { ...opened, checkSelection: bound === null };
    const { token } = session.connection;
    const planned = await nameOtherEnvironments({ ...session, flags }, await planUntilDetached(session, flags));
    if (!planned.ok) {
      if (planned.code === EXIT.refused && planned.refused !== null) {
        const { refused } = planned;
        if (flags.format === "json") terminal.print(renderPlanEventJson(refused, Date.now()));
        const reason = refused.refusals.every(isUploadProblem) ? "file" : "identity";
        printJson(terminal, flags.format, () => renderRefusalJson(refused, reason), token);
        await givePage(terminal, () => renderPlanHtml(refused, pageLook(terminal)), token);
      }
      return planned.code;
    }
    const { plan } = planned;
    const bounds = bound === null ? [] : [bound];
    const verdict = judgeRun(plan, bounds, flags.failOn ?? []);
    const code = await printRunVerdict(terminal, plan, verdict, { ...flags, token });
    if (code !== null) return code;
    const askedMilliseconds = Date.now();
    const consent = await isConsented(terminal, plan, { ...flags, token });
    if (typeof consent === "number") return consent;
    const isOld = Date.now() - askedMilliseconds > MAX_QUESTION_SECONDS * 1000 || !(await listsHold(session, planned));
    const areFilesOld = !(await session.uploads.areUnchanged());
    const changed = areFilesOld ? "A file to upload" : "The account";
    const current = isOld || areFilesOld ? await planWithinShown(session, plan, bounds, flags, changed) : planned;
    if (typeof current === "number") return current;
    return terminal.interrupt.whileApplying(() => carryOut(session, current, flags, prepared.servers));
  });
}

function conflictOf({ undo, run: started, plan, verify, undoOnFailure }: ApplyFlags): CommandError | null {
  if (undoOnFailure === true && verify !== true)
    return conflictText("--undo-on-failure is for --verify", "Give --verify, too.");
  if (started !== undefined && undo === undefined && plan === undefined)
    return conflictText("--run is for --undo", "Give --undo, too.");
  return null;
}

function conflictText(summary: string, fix: string): CommandError {
  return { code: "conflicting-options", summary, fix };
}

function refuseDifferent(terminal: Terminal, diagnostic: Diagnostic): ExitCode {
  sayDiagnostics(terminal, [diagnostic]);
  return EXIT.error;
}

/**
 * Asks for consent to the plan that was shown.
 * @returns true, or the exit code
 */
async function isConsented(
  terminal: Terminal,
  plan: Plan,
  { yes, format, token }: ApplyFlags & { readonly token: string },
): Promise<true | ExitCode> {
  if (yes === true) return true;
  if (terminal.canAsk) return (await confirm(terminal, plan.goal)) || (terminal.interrupt.code() ?? EXIT.error);
  const fix = `Give --yes to ${plan.goal} without being asked.`;
  sayError(terminal, {
    code: "consent-not-asked",
    summary: "there is no terminal to ask on; nothing was done",
    fix,
  });
  await printMarkdown(terminal, format, markdownOf(plan), token);
  await givePage(terminal, () => renderPlanHtml(plan, pageLook(terminal)), token);
  return EXIT.error;
}

/** Whether the lists of several pages that the plan was made from are as they were read, as far as something is made or deleted in them. */
async function listsHold({ terminal }: Session, { plan, longLists }: Extract<Planned, { ok: true }>): Promise<boolean> {
  const { whileHandlingSignals, first } = terminal.interrupt;
  return whileHandlingSignals(() => longLists.hold(plan.steps, first));
}

/**
 * Plans again, because the plan was shown some time ago, or a list changed while it was read, or a file since it was checked. A change that was shown as blocked has no consent: the run was not to make it.
 * @returns the new plan, if it does nothing that was not shown; or the exit code
 */
async function planWithinShown(
  session: Session,
  shown: Plan,
  bounds: readonly Plan[],
  flags: ApplyFlags,
  changed: string,
): Promise<Made | ExitCode> {
  const { terminal } = session;
  const planned = await planIn(session);
  if (!planned.ok) return planned.code;
  const verdict = judgeRun(planned.plan, [...bounds, asBound(shown)], flags.failOn ?? []);
  if (verdict.type === "go") return planned;
  terminal.say(`${changed} has changed since the plan was shown. Now the plan is:\n\n`);
  return (
    (await printRunVerdict(terminal, planned.plan, verdict, { ...flags, token: session.connection.token })) ?? planned
  );
}

/** `--wait-detached`: plans again until no attached interface blocks a change, or the time is over. */
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
    const { whileHandlingSignals, first } = terminal.interrupt;
    await whileHandlingSignals(() => systemClock.sleep(DETACH_POLL_SECONDS * 1000, first));
    progress.end();
  }
}

async function carryOut(
  session: Writing,
  made: Made,
  flags: ApplyFlags,
  servers: VerificationServers | null,
): Promise<ExitCode> {
  const { terminal, connection } = session;
  const { format } = flags;
  const { plan } = made;
  const isUndoneOnFailure = flags.undoOnFailure === true;
  const isReviewed = flags.plan !== undefined;
  const carried = await carryOutPlan(session, made, flags, { isReviewed, keepsEntries: isUndoneOnFailure });
  if (carried === null) return EXIT.error;
  const { report } = carried;
  let verification: Verification | null = null;
  let undone: Undone | null = null;
  try {
    verification = await verifyReport(session, made, report, flags, servers);
    if (format === "text" && verification !== null) printVerification(terminal, verification);
    if (isUndoneOnFailure && verification !== null && !isVerified(verification) && !verification.interrupted) {
      const { undoUnverified } = await import("../undo-on-failure.ts");
      undone = await undoUnverified(session, carried, flags, (done, undo) =>
        verifyReport(session, undo, done.report, flags, servers),
      );
    }
  } finally {
    // The report is printed even if the verification fails.
    printJson(terminal, format, () => renderReportJson(report, plan, verification, undone), connection.token);
    const markdown: Markdown = (hide, maxCharacters) =>
      renderReportMarkdown(hide(report), hide(plan), hide(verification), hide(undone), maxCharacters);
    await printMarkdown(terminal, format, markdown, connection.token);
    const page = () => renderReportHtml(report, plan, verification, { ...pageLook(terminal), undone });
    await givePage(terminal, page, connection.token);
  }
  const signalled = terminal.interrupt.code();
  // A signal during the undo leaves a run that is whole, and an undo that is not.
  if (undone !== null && !undone.isComplete && signalled !== null) return signalled;
  const code = exitCodeOf(report, signalled);
  if (code !== EXIT.done || verification === null) return code;
  return verifiedCode(terminal, verification, EXIT.partial);
}

/** `--verify`: asks nameservers for the changes that were made, even if others failed. An interrupt ends it. */
async function verifyReport(
  { terminal }: Session,
  { plan, desired }: Made,
  report: Report,
  flags: ApplyFlags,
  servers: VerificationServers | null,
): Promise<Verification | null> {
  if (servers === null || report.interrupted) return null;
  return watched(terminal, flags.format === "json", timeoutOf(flags), (tools, watch) =>
    tools.verifyApplied({ desired, plan, report }, servers, watch),
  );
}
