/** Planning, as plan, drift, apply and destroy share it: load, check the account, connect, read, plan. */

import {
  type Base,
  type ChangedEntries,
  type Connection,
  checkAccount,
  type Desired,
  type Diagnostic,
  findChangedSince,
  type Goal,
  isUnmatched,
  judgeByEnvironments,
  type LongLists,
  NEUTRAL_DIALECT,
  type Plan,
  type PlanRequest,
  type Project,
  planProject,
  type ReadClient,
  UploadFiles,
} from "../index.ts";
import { dateOf } from "../model/annotations.ts";
import type { JournalledRun } from "../model/journal.ts";
import type { Live, Snapshot } from "../model/live.ts";
import { escapeText } from "../render/terminal.ts";
import type { BaseRequest, OpenedBase } from "./base.ts";
import { needDialect, resolveDialect, type WithClient, withReader } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { ChangedSinceFlags, PlanFlags, UndoFlags } from "./flags.ts";
import { hearSignals } from "./interrupt.ts";
import { sayDiagnostics, sayError, sayFailure } from "./messages.ts";
import { markdownOf, printMarkdown } from "./output.ts";
import { Meter, Progress } from "./progress.ts";
import { load, openProject } from "./project.ts";
import { openSnapshotFile } from "./reviewed-plan.ts";
import type { Terminal } from "./terminal.ts";

export interface Session<Client extends ReadClient = ReadClient> {
  readonly project: Project;
  readonly connection: Connection;
  readonly api: Client;
  readonly terminal: Terminal;
  readonly flags: PlanFlags;
  readonly goal: Goal;
  /** false: targets and excludes come from a saved plan, and need not match anything now. */
  readonly checkSelection?: boolean;
  /** null: the run is about the whole project. */
  readonly changedSince: ChangedEntries | null;
  /** undefined: there is no token, as nothing is sent. */
  readonly token?: string;
  /** The files that plans of this session want to upload: each is checked once. */
  readonly uploads: UploadFiles;
  /** For the goal `undo`: the run that is taken back. */
  readonly run?: JournalledRun;
}

/** What planning needs of a session, and what `plan` and `drift` may add. */
export interface PlanSession extends Omit<Session, "connection"> {
  /** The base that the changes are compared with. */
  readonly base?: Base;
  /** false: nothing will be uploaded, so of files that cannot be images only those are refused that are compared with the account. */
  readonly sendsFiles?: false;
  /** Diagnostics from before planning, printed with the plan. */
  readonly warnings?: readonly Diagnostic[];
  /** The time and account of a snapshot; if absent, the current time and TENON_ACCOUNT. */
  readonly moment?: Moment;
}

interface Moment {
  readonly nowMilliseconds: number;
  readonly account: string | null;
}

export type Planned =
  | {
      readonly ok: true;
      readonly plan: Plan;
      /** What the plan leads to: the project's or, for an undo, what the run has touched. */
      readonly desired: Desired;
      readonly live: Live;
      readonly longLists: LongLists;
    }
  /** `refused`: the plan that was refused, if there is one. */
  | { readonly ok: false; readonly code: ExitCode; readonly refused: Plan | null };

/**
 * Opens project and connection, hands them to `work`, and closes the connection whatever happens.
 * @param connect `withReader`, or the `connect` that the program passes to a command that writes
 */
export async function inSession<Client extends ReadClient>(
  terminal: Terminal,
  directory: string | undefined,
  flags: PlanFlags & ChangedSinceFlags & UndoFlags,
  goal: Goal,
  connect: WithClient<Client>,
  work: (session: Session<Client>) => Promise<ExitCode>,
): Promise<ExitCode> {
  const dialect = resolveDialect(flags) ?? NEUTRAL_DIALECT;
  const keepParsed = flags.changedSince !== undefined;
  const opened = await openProject(terminal, directory, flags, dialect, { keepParsed });
  if (!opened.ok) return opened.code;
  const { project } = opened;
  const refusal = accountRefused(terminal, project);
  if (refusal !== null) return refusal;
  const found = await changedSinceOf(terminal, { directory, project, flags, dialect });
  if (!found.ok) return found.code;
  const { changedSince } = found;
  return connect(terminal, flags, async (api, connection) => {
    const undoing = await runToUndo(terminal, flags, project, connection.baseUrl);
    if (!undoing.ok) return undoing.code;
    const uploads = new UploadFiles(project.root);
    const { token } = connection;
    return work({ project, connection, api, token, terminal, flags, goal, changedSince, uploads, ...undoing.session });
  });
}

type Undoing =
  | { readonly ok: true; readonly session: { readonly run: JournalledRun; readonly goal: "undo" } | object }
  | { readonly ok: false; readonly code: ExitCode };

/** Reads the journal of the run that is to be undone, before any request. */
async function runToUndo(
  terminal: Terminal,
  { undo, run: started }: UndoFlags,
  project: Project,
  baseUrl: string,
): Promise<Undoing> {
  if (undo === undefined) return { ok: true, session: {} };
  const { openRun } = await import("./undo-journal.ts");
  const opened = await openRun(terminal, { file: undo, started: started ?? null }, project, {
    baseUrl,
    account: accountOf(terminal),
  });
  return opened.ok ? { ok: true, session: { run: opened.run, goal: "undo" } } : opened;
}

/** An apply must know what it is narrowed to, so an invalid base is an error here. */
async function changedSinceOf(
  terminal: Terminal,
  {
    flags,
    ...request
  }: Omit<BaseRequest, "flag" | "name" | "flags"> & { readonly flags: PlanFlags & ChangedSinceFlags },
): Promise<
  { readonly ok: true; readonly changedSince: ChangedEntries | null } | { readonly ok: false; readonly code: ExitCode }
> {
  const { changedSince: name, savedChangedSince: saved } = flags;
  if (saved !== undefined || name === undefined) return { ok: true, changedSince: saved ?? null };
  const opened = await openedBase(terminal, { ...request, flags, flag: "--changed-since", name });
  if (!opened.ok) return opened;
  if (opened.base !== null)
    return { ok: true, changedSince: findChangedSince(name, request.project.desired, opened.base.desired) };
  const summary = `the base ${name} is invalid; an apply cannot tell what has changed since`;
  const fix = "Mend the errors there, or run without --changed-since.";
  sayDiagnostics(terminal, [{ ...opened.warning, severity: "error", summary, fix }]);
  return { ok: false, code: EXIT.error };
}

/** Reads the account and plans. A refused plan is reported, and is no success. */
export async function planIn(session: PlanSession): Promise<Planned> {
  const { terminal, project, flags, goal, api, base } = session;
  const moment = session.moment ?? { nowMilliseconds: Date.now(), account: accountOf(terminal) };
  const { declared, removed, owner } = project.desired;
  const asksNothing = declared.length + removed.length === 0 && owner === null;
  if (asksNothing && base === undefined && session.moment === undefined)
    terminal.say("The project declares nothing, so the service was not asked: neither address nor token was tried.\n");
  const progress = new Progress(terminal);
  const files = checkedFiles(session, progress);
  progress.show("Reading the account");
  const result = await planProject({
    desired: project.desired,
    api,
    goal,
    ...moment,
    ...(session.sendsFiles === false ? comparedFiles(project.desired, files) : files),
    ...(base === undefined ? {} : { base }),
    ...(session.run === undefined ? {} : { run: session.run }),
    targets: flags.target ?? [],
    excludes: flags.exclude ?? [],
    changedSince: session.changedSince,
    neverDestroy: flags.neverDestroy ?? false,
    checkSelection: session.checkSelection ?? true,
    inputs: project.inputs,
    consents: flags.allow ?? [],
    maxChanges: flags.maxChanges ?? null,
    takeOwnershipFrom: flags.takeOwnershipFrom ?? [],
    clone: flags.clone,
    ...(flags.uploadTimeout === undefined ? {} : { uploadTimeoutSeconds: flags.uploadTimeout }),
    ...(flags.leastLease === undefined ? {} : { leastLeaseSeconds: flags.leastLease }),
    ...(flags.imageTimeout === undefined ? {} : { imageTimeoutSeconds: flags.imageTimeout }),
    watch: {
      signal: terminal.interrupt.first,
      progress: (done, total) => progress.show(`Reading the account: ${done} of ${total} lists`),
    },
  }).finally(() => progress.end());
  // Of a fleet's account: what is shown of the plan may take as long as the plan, and a signal has not been heard meanwhile.
  if (terminal.isCaptured === true) await hearSignals();
  const interrupted = terminal.interrupt.code();
  if (interrupted !== null) return { ok: false, code: interrupted, refused: null };
  if (!result.ok) {
    sayFailure(terminal, `cannot read ${result.what}`, result.failure);
    return { ok: false, code: EXIT.error, refused: null };
  }
  const plan = { ...result.plan, warnings: [...(session.warnings ?? []), ...result.plan.warnings] };
  const { desired, live, longLists } = result;
  return plan.refusals.length === 0 ? { ok: true, plan, desired, live, longLists } : refused(session, plan);
}

async function refused({ terminal, project, flags, token }: PlanSession, plan: Plan): Promise<Planned> {
  sayDiagnostics(terminal, plan.refusals, project.sources);
  await printMarkdown(terminal, flags.format, markdownOf(plan), token);
  return { ok: false, code: plan.refusals.some(isUnmatched) ? EXIT.error : EXIT.refused, refused: plan };
}

type Files = Required<Pick<PlanRequest, "contentOf" | "problemOf">>;

/** Checks, whole, what the plan would upload. */
function checkedFiles({ uploads, terminal }: PlanSession, progress: Progress): Files {
  const meter = new Meter(() => performance.now());
  const watch = {
    signal: terminal.interrupt.first,
    progress: (file: string, done: number, total: number) =>
      progress.show(`Checking ${meter.text(done, total)}; ${escapeText(file)}`),
  };
  return { contentOf: (file) => uploads.contentOf(file, watch), problemOf: (file) => uploads.problemOf(file) };
}

function comparedFiles({ files = [], declared }: Desired, { contentOf, problemOf }: Files): Files {
  const following = new Set(declared.flatMap(({ address, followsFile }) => (followsFile ? [address] : [])));
  const compared = new Set(files.flatMap(({ file, address }) => (following.has(address) ? [file] : [])));
  return { contentOf, problemOf: (file) => (compared.has(file) ? problemOf(file) : null) };
}

/** Names, at each deletion that lacks consent, the other environments that declare the object, and refuses to retire what one of them may declare. */
export async function nameOtherEnvironments(session: PlanSession, planned: Planned): Promise<Planned> {
  if (!planned.ok) return planned;
  const { project, flags } = session;
  const dialect = resolveDialect(flags) ?? NEUTRAL_DIALECT;
  const { today } = project.desired;
  const more = { past: true, fillsOnly: true, ...(today === undefined ? {} : { today }) };
  const { env: _, ...others } = flags;
  const plan = await judgeByEnvironments(planned.plan, project, (env) =>
    load(project.root, env === null ? others : { ...others, env }, dialect, more),
  );
  return plan.refusals.length === 0 ? { ...planned, plan } : refused(session, plan);
}

/** @returns null if the project may be used with this account; why not is reported */
export function accountRefused(terminal: Terminal, { desired, sources }: Project): ExitCode | null {
  const refusal = checkAccount(desired, accountOf(terminal));
  if (refusal === null) return null;
  sayDiagnostics(terminal, [refusal], sources);
  return EXIT.refused;
}

/** TENON_ACCOUNT; null if it is not set. */
export function accountOf({ environment }: Terminal): string | null {
  return environment["TENON_ACCOUNT"] || null;
}

// The sessions of `plan` and `drift`, which change nothing: they may use a snapshot in place of the service, and compare with a base.

export interface ReadingFlags extends PlanFlags, UndoFlags {
  /** A git ref or a folder: only what is declared otherwise there is read. */
  readonly changedSince?: string;
  /** A snapshot to plan against. */
  readonly live?: string;
  /** A git ref or a folder to compare with. */
  readonly base?: string;
  /** Plan what `tenon destroy` would do. */
  readonly destroy?: boolean;
}

type Opened<T> = { readonly ok: true; readonly opened: T } | { readonly ok: false; readonly code: ExitCode };

/** What is known about the service before any request. */
interface Source {
  readonly snapshot: Snapshot | null;
  readonly dialect: string;
  readonly moment: Moment | null;
}

/** Opens snapshot, project, base and connection, in this order, and hands them to `work`. */
export async function inReading(
  terminal: Terminal,
  directory: string | undefined,
  flags: ReadingFlags,
  work: (session: PlanSession) => Promise<ExitCode>,
): Promise<ExitCode> {
  const found = await openSource(terminal, flags);
  if (!found.ok) return found.code;
  const { snapshot, dialect, moment } = found.opened;
  const compared = comparedWith(flags);
  const loaded = await openProject(terminal, directory, flags, dialect, {
    keepParsed: compared !== null,
    ...(moment === null ? {} : { today: dateOf(moment.nowMilliseconds) }),
  });
  if (!loaded.ok) return loaded.code;
  const { project } = loaded;
  const refusal = checkAccount(project.desired, moment === null ? accountOf(terminal) : moment.account);
  if (refusal !== null) return refuse(terminal, refusal, project);
  const base =
    compared === null ? null : await openedBase(terminal, { ...compared, directory, project, flags, dialect });
  if (base?.ok === false) return base.code;
  const isNarrowed = compared?.flag === "--changed-since" && base !== null && base.base !== null;
  const session = {
    project,
    terminal,
    flags,
    uploads: new UploadFiles(project.root),
    goal: flags.destroy === true ? ("destroy" as const) : ("apply" as const),
    ...(base === null || base.base === null ? {} : { base: base.base }),
    changedSince: isNarrowed ? findChangedSince(compared.name, project.desired, base.base.desired) : null,
    warnings: base?.base === null ? [base.warning] : [],
    ...(moment === null ? {} : { moment }),
  };
  if (snapshot === null) {
    return withReader(terminal, flags, async (api, { token, baseUrl }) => {
      const undoing = await runToUndo(terminal, flags, project, baseUrl);
      return undoing.ok ? work({ ...session, api, token, ...undoing.session }) : undoing.code;
    });
  }
  const { openSnapshot } = await import("../live/index.ts");
  return work({ ...session, api: openSnapshot(snapshot) });
}

/** git, and what reads a base, are loaded only when a plan is compared with one. */
async function openedBase(terminal: Terminal, request: BaseRequest): Promise<OpenedBase> {
  const { openBase } = await import("./base.ts");
  return openBase(terminal, request);
}

/** If the base is invalid, the whole project is read: the change may mend it. */
function comparedWith({ base, changedSince }: ReadingFlags): Pick<BaseRequest, "flag" | "name"> | null {
  if (changedSince !== undefined) return { flag: "--changed-since", name: changedSince };
  return base === undefined ? null : { flag: "--base", name: base };
}

async function openSource(terminal: Terminal, flags: ReadingFlags): Promise<Opened<Source>> {
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return { ok: false, code: EXIT.error };
  if (flags.live === undefined) return { ok: true, opened: { snapshot: null, dialect, moment: null } };
  const read = await openSnapshotFile(terminal, flags.live, Date.now());
  if (!read.ok) return read;
  const { snapshot } = read;
  if ((flags.dialect ?? "") !== "" && dialect !== snapshot.dialect) {
    const summary = `the snapshot is of a service that says ${snapshot.dialect}, and not ${dialect}`;
    const fix = "Leave --dialect and TENON_DIALECT out: the snapshot knows.";
    sayError(terminal, { code: "snapshot-of-others", summary, fix });
    return { ok: false, code: EXIT.error };
  }
  const account = accountOf(terminal);
  if (account !== null && snapshot.account !== null && account !== snapshot.account) {
    const summary = `the snapshot is of the account ${snapshot.account}, and TENON_ACCOUNT is ${account}`;
    sayError(terminal, { code: "snapshot-of-others", summary, fix: "Take the snapshot of the right account." });
    return { ok: false, code: EXIT.refused };
  }
  // The plan is made for the snapshot's time, so that anything that depends on time is the same whenever it is planned.
  const moment = { nowMilliseconds: Date.parse(snapshot.readAt), account: snapshot.account ?? account };
  return { ok: true, opened: { snapshot, dialect: snapshot.dialect, moment } };
}

function refuse(terminal: Terminal, diagnostic: Diagnostic, { sources }: Project): ExitCode {
  sayDiagnostics(terminal, [diagnostic], sources);
  return EXIT.refused;
}
