/** Planning, as plan, drift, apply and destroy share it: load, check the account, connect, read, plan. */

import { lstat, mkdir, mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { isWithin } from "../files/paths.ts";
import {
  type Base,
  type Connection,
  checkAccount,
  contentInside,
  type Desired,
  type Diagnostic,
  deletedInDoubt,
  type FileContent,
  type Goal,
  hasErrors,
  isUnmatched,
  type LoadResult,
  type LongLists,
  NEUTRAL_DIALECT,
  type OtherEnvironment,
  type Plan,
  type Project,
  planProject,
  type ReadClient,
  type Sources,
  withEnvironments,
} from "../index.ts";
import type { Snapshot } from "../model/live.ts";
import { renderPlanMarkdown } from "../render/index.ts";
import { needDialect, resolveDialect, type WithClient, withReader } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { PlanFlags, ProjectFlags } from "./flags.ts";
import { type Checkout, checkOut, contentAt, type Environment, fileAt, isTracked, refsOf, unknownRef } from "./git.ts";
import { sayDiagnostics, sayError, sayFailure } from "./messages.ts";
import { printMarkdown } from "./output.ts";
import { Progress } from "./progress.ts";
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
}

/** What planning needs of a session, and what `plan` and `drift` may add. */
export interface PlanSession extends Omit<Session, "connection"> {
  /** The base that the changes are compared with. */
  readonly base?: Base;
  /** false: nothing will be uploaded, so the content of files does not matter. */
  readonly readsFiles?: false;
  /** Diagnostics from before planning, printed with the plan. */
  readonly warnings?: readonly Diagnostic[];
  /** undefined: there is no token, as nothing is sent. */
  readonly token?: string;
  /** The time and account of a snapshot; if absent, the current time and TENON_ACCOUNT. */
  readonly moment?: Moment;
}

interface Moment {
  readonly nowMilliseconds: number;
  readonly account: string | null;
}

export type Planned =
  | { readonly ok: true; readonly plan: Plan; readonly longLists: LongLists }
  /** `refused`: the plan that was refused, if there is one. */
  | { readonly ok: false; readonly code: ExitCode; readonly refused: Plan | null };

/**
 * Opens project and connection, hands them to `work`, and closes the connection whatever happens.
 * @param connect `withReader`, or the `connect` that the program passes to a command that writes
 */
export async function inSession<Client extends ReadClient>(
  terminal: Terminal,
  directory: string | undefined,
  flags: PlanFlags,
  goal: Goal,
  connect: WithClient<Client>,
  work: (session: Session<Client>) => Promise<ExitCode>,
): Promise<ExitCode> {
  const opened = await openProject(terminal, directory, flags, resolveDialect(flags) ?? undefined);
  if (!opened.ok) return opened.code;
  const { project } = opened;
  const refusal = checkAccount(project.desired, accountOf(terminal));
  if (refusal !== null) {
    sayDiagnostics(terminal, [refusal], project.sources);
    return EXIT.refused;
  }
  return connect(terminal, flags, (api, connection) => work({ project, connection, api, terminal, flags, goal }));
}

/** Reads the account and plans. A refused plan is reported, and is no success. */
export async function planIn(session: PlanSession): Promise<Planned> {
  const { terminal, project, flags, goal, api, base } = session;
  const moment = session.moment ?? { nowMilliseconds: Date.now(), account: accountOf(terminal) };
  const progress = new Progress(terminal);
  progress.show("Reading the account");
  const result = await planProject({
    desired: project.desired,
    api,
    goal,
    ...moment,
    ...(session.readsFiles === false
      ? {}
      : { contentOf: (file) => contentInside(project.root, file, terminal.interrupt.first) }),
    ...(base === undefined ? {} : { base }),
    targets: flags.target ?? [],
    excludes: flags.exclude ?? [],
    checkSelection: session.checkSelection ?? true,
    inputs: project.inputs,
    consents: flags.allow ?? [],
    maxChanges: flags.maxChanges ?? null,
    takeOwnershipFrom: flags.takeOwnershipFrom ?? [],
    clone: flags.clone,
    ...(flags.uploadTimeout === undefined ? {} : { uploadTimeoutSeconds: flags.uploadTimeout }),
    watch: {
      signal: terminal.interrupt.first,
      progress: (done, total) => progress.show(`Reading the account: ${done} of ${total} lists`),
    },
  }).finally(() => progress.end());
  const interrupted = terminal.interrupt.code();
  if (interrupted !== null) return { ok: false, code: interrupted, refused: null };
  if (!result.ok) {
    sayFailure(terminal, `cannot read ${result.what}`, result.failure);
    return { ok: false, code: EXIT.error, refused: null };
  }
  const plan = { ...result.plan, warnings: [...(session.warnings ?? []), ...result.plan.warnings] };
  if (plan.refusals.length === 0) return { ok: true, plan, longLists: result.longLists };
  sayDiagnostics(terminal, plan.refusals, project.sources);
  await printMarkdown(terminal, flags.format, () => renderPlanMarkdown(plan));
  return { ok: false, code: plan.refusals.some(isUnmatched) ? EXIT.error : EXIT.refused, refused: plan };
}

/** At most this many other environments are searched for the objects that a plan deletes without consent: each is a project to load. */
export const MAX_LOOKED_AT_ENVIRONMENTS = 20;
/** Characters of those environments once expanded: after this many, no further environment is loaded. */
const MAX_LOOKED_AT_CHARACTERS: number = 32 * 1024 * 1024;

/**
 * Names, at each deletion that lacks consent, the other environments that declare the object. An environment that the project cannot be
 * loaded with is skipped silently, as it was not asked for. Each environment is a project to load: those beyond the limits are only
 * counted, and of each loaded one only the addresses in question are kept.
 */
export async function nameOtherEnvironments({ project, flags }: PlanSession, plan: Plan): Promise<Plan> {
  const inDoubt = deletedInDoubt(plan);
  if (inDoubt.size === 0) return plan;
  const dialect = resolveDialect(flags) ?? NEUTRAL_DIALECT;
  const names = nearestEnvironments(project);
  const others: OtherEnvironment[] = [];
  let looked = 0;
  let characters = 0;
  for (const name of names.slice(0, MAX_LOOKED_AT_ENVIRONMENTS)) {
    if (characters > MAX_LOOKED_AT_CHARACTERS) break;
    const loaded = await load(project.root, { ...flags, env: name }, dialect, { past: true });
    looked += 1;
    characters += loaded.characters;
    if (loaded.project === null) continue;
    const { owner, account, declared } = loaded.project.desired;
    const addresses = new Set(declared.map(({ address }) => address));
    const both = [...inDoubt].filter((address) => addresses.has(address)).map((address) => ({ address }));
    others.push({ name, desired: { owner, account, declared: both } });
  }
  return withEnvironments(plan, project.desired, others, names.length - looked);
}

/** All environments but the project's own, ordered by their distance from it in the root file. */
function nearestEnvironments({ environments, inputs }: Project): string[] {
  const own = inputs.environment === null ? 0 : environments.indexOf(inputs.environment);
  const distances = environments.map((name, index) => ({ name, distance: Math.abs(index - own) }));
  const others = distances.filter(({ name }) => name !== inputs.environment);
  return others.sort((a, b) => a.distance - b.distance).map(({ name }) => name);
}

/** TENON_ACCOUNT; null if it is not set. */
export function accountOf({ environment }: Terminal): string | null {
  return environment["TENON_ACCOUNT"] || null;
}

// The sessions of `plan` and `drift`, which change nothing: they may use a snapshot in place of the service, and compare with a base.

export interface ReadingFlags extends PlanFlags {
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
  const loaded = await openProject(terminal, directory, flags, dialect);
  if (!loaded.ok) return loaded.code;
  const { project } = loaded;
  const refusal = checkAccount(project.desired, moment === null ? accountOf(terminal) : moment.account);
  if (refusal !== null) return refuse(terminal, refusal, project);
  const base =
    flags.base === undefined
      ? null
      : await openBase(terminal, { name: flags.base, directory, project, flags, dialect });
  if (base?.ok === false) return base.code;
  const session = {
    project,
    terminal,
    flags,
    goal: flags.destroy === true ? ("destroy" as const) : ("apply" as const),
    ...(base === null || base.base === null ? {} : { base: base.base }),
    warnings: base?.base === null ? [base.warning] : [],
    ...(moment === null ? {} : { moment }),
  };
  if (snapshot === null) return withReader(terminal, flags, (api, { token }) => work({ ...session, api, token }));
  const { openSnapshot } = await import("../live/index.ts");
  return work({ ...session, api: openSnapshot(snapshot) });
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

// `plan --base`: the manifests that the proposed change is compared with, from a folder or a git ref.

type OpenedBase =
  | { readonly ok: true; readonly base: Base }
  /** The base exists, but is invalid. The proposed change may mend it, so the plan is made without a base. */
  | { readonly ok: true; readonly base: null; readonly warning: Diagnostic }
  | { readonly ok: false; readonly code: ExitCode };

interface BaseRequest {
  /** A path of a folder with a project in it, or a git ref. */
  readonly name: string;
  /** The project's folder or root file, as it was given. */
  readonly directory: string | undefined;
  readonly project: Project;
  readonly flags: ProjectFlags;
  readonly dialect: string;
}

/** At most this many errors of an invalid base are shown; the rest is counted. */
const MAX_ERRORS_SHOWN = 3;

/** The base if there was no project before: then the proposed change brings everything. */
const NOTHING: Desired = { owner: null, account: null, declared: [], removed: [], allow: [], lintOff: [] };

async function openBase(terminal: Terminal, request: BaseRequest): Promise<OpenedBase> {
  const link = await changeableLink(terminal, request);
  if (link !== null) {
    sayDiagnostics(terminal, [throughLink(link)]);
    return { ok: false, code: EXIT.error };
  }
  if (isPath(request.name)) return baseInFolder(terminal, request);
  if (request.name === "" || request.name.startsWith("-")) {
    sayBaseUnknown(terminal, `--base ${request.name} is neither a project folder nor a git ref`);
    return { ok: false, code: EXIT.error };
  }
  const folder = await mkdtemp(join(tmpdir(), "tenon-base-"));
  try {
    return await baseAtRef(terminal, folder, request);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const summary = `the project at ${request.name} cannot be written to a folder: ${message}`;
    sayError(terminal, { code: "base-unreadable", summary });
    return { ok: false, code: EXIT.error };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A symbolic link of the repository or the project in the path of the project's folder or of a file of variables: the proposed change may
 * have brought it, and then the base would be read in another place than the one that was named.
 */
async function changeableLink(
  { environment }: Terminal,
  { directory, project, flags }: BaseRequest,
): Promise<string | null> {
  const here = await workingFolder(environment);
  const folder = await folderOf(resolve(here, directory ?? "."));
  for (const path of [folder, ...(flags.varFile ?? []).map((file) => dirname(resolve(here, file)))]) {
    for (const link of await linksIn(path)) {
      const isOfProject = isWithin(await realpath(dirname(link)), project.root);
      if (isOfProject || (await isTracked(link, dirname(link), environment))) return link;
    }
  }
  return null;
}

/** The working folder as the shell names it, with its links. */
async function workingFolder({ PWD }: Environment): Promise<string> {
  const isHere = PWD !== undefined && isAbsolute(PWD) && (await realpath(PWD).catch(() => null)) === process.cwd();
  return isHere ? PWD : process.cwd();
}

/** The symbolic links among a folder and those above it. */
async function linksIn(path: string): Promise<string[]> {
  const above = dirname(path) === path ? [] : await linksIn(dirname(path));
  const status = await lstat(path).catch(() => null);
  return status?.isSymbolicLink() === true ? [...above, path] : above;
}

function throughLink(link: string): Diagnostic {
  const shown = relative(process.cwd(), link);
  return {
    code: "base-unreadable",
    severity: "error",
    summary: `${shown} is a symbolic link`,
    detail: "A commit can change where it leads, so what lies behind it cannot be compared with a base.",
    fix: "Name the folder that it leads to.",
  };
}

function sayBaseUnknown(terminal: Terminal, summary: string): void {
  sayError(terminal, { code: "base-unknown", summary, fix: NAME_IT });
}

const NAME_IT =
  "For example --base refs/remotes/origin/main, or the folder of another checkout as a path: --base ../main.";

/**
 * A folder must be written as a path (`./main`). Otherwise a proposed change could bring a folder called `origin/main`, and would be
 * compared with itself.
 */
function isPath(name: string): boolean {
  return isAbsolute(name) || /^\.{1,2}([/\\]|$)/.test(name);
}

async function baseInFolder(terminal: Terminal, request: BaseRequest): Promise<OpenedBase> {
  if (await isProject(request.name)) {
    const former = await withFormerVariables(request, (file) => variablesIn(file, request));
    const loaded = await loadBase(request.name, former);
    const root = await realpath(await folderOf(request.name));
    const contentOf = (file: string) => contentInside(root, file, terminal.interrupt.first);
    return loaded.ok && loaded.base !== null ? { ok: true, base: { ...loaded.base, contentOf } } : loaded;
  }
  sayBaseUnknown(terminal, `--base ${request.name} is no folder with a tenon.yaml in it`);
  return { ok: false, code: EXIT.error };
}

async function isProject(path: string): Promise<boolean> {
  const status = await stat(path).catch(() => null);
  if (status === null) return false;
  const root = status.isDirectory() ? join(path, "tenon.yaml") : path;
  return basename(root) === "tenon.yaml" && (await stat(root).catch(() => null)) !== null;
}

/** @param temporary an empty folder of our own */
async function baseAtRef(terminal: Terminal, temporary: string, request: BaseRequest): Promise<OpenedBase> {
  const { name, project } = request;
  const folder = join(temporary, "project");
  const found = await checkOut(project.root, name, folder, terminal.environment);
  if (!found.ok) {
    sayDiagnostics(terminal, [await refusal(request, found, terminal.environment)]);
    return { ok: false, code: EXIT.error };
  }
  const isThere = found.exists && (await isProject(folder));
  if (!isThere) return { ok: true, base: { name, desired: NOTHING } };
  const former = (file: string, index: number): Promise<string | null> =>
    variablesAtRef(file, join(temporary, `variables-${index}`), request, terminal.environment);
  const loaded = await loadBase(folder, await withFormerVariables(request, former));
  const contentOf = (file: string) => contentAtRef(file, request, terminal);
  return loaded.ok && loaded.base !== null ? { ok: true, base: { ...loaded.base, contentOf } } : loaded;
}

/** A file that the repository never tracked, such as an image that a build makes, is the same for base and project. */
async function contentAtRef(
  file: string,
  { name, project }: BaseRequest,
  terminal: Terminal,
): Promise<FileContent | null> {
  const signal = terminal.interrupt.first;
  const real = await realpath(join(project.root, file)).catch(() => join(project.root, file));
  const found = await contentAt(file, real, project.root, name, terminal.environment, signal).catch(() => null);
  return found === "untracked" ? contentInside(project.root, file, signal) : found;
}

/**
 * A file of variables that the proposed change may alter is read as it was at the base. Otherwise the base would be planned with the new
 * values, and what they change would be shown as pending before this change.
 * @param was gives the path of the former file; null: it did not exist
 */
async function withFormerVariables(
  request: BaseRequest,
  was: (file: string, index: number) => Promise<string | null>,
): Promise<BaseRequest> {
  const former = await Promise.all((request.flags.varFile ?? []).map(was));
  return { ...request, flags: { ...request.flags, varFile: former.filter((file) => file !== null) } };
}

/** The file's path with links resolved in its folder only, not in its own name: since the base the file may have become a link. */
async function placeOf(file: string): Promise<string> {
  const folder = dirname(resolve(file));
  return join(await realpath(folder).catch(() => folder), basename(file));
}

/** @param project a folder, or a root file in one */
async function folderOf(project: string): Promise<string> {
  return (await stat(project)).isDirectory() ? project : dirname(project);
}

/** The same file in the base's folder; the file itself if it lies outside the project. */
async function variablesIn(file: string, { name, project }: BaseRequest): Promise<string | null> {
  const own = await placeOf(file);
  if (!isWithin(own, project.root)) return file;
  const former = join(await folderOf(name), relative(project.root, own));
  return (await stat(former).catch(() => null)) === null ? null : former;
}

/** A file that the repository does not track is used as it is: no commit of it can alter the file. */
async function variablesAtRef(
  file: string,
  into: string,
  { name, project }: BaseRequest,
  environment: Environment,
): Promise<string | null> {
  const found = await fileAt(await placeOf(file), project.root, name, environment);
  if (found.type === "apart") return file;
  if (found.type === "unknown") throw new Error(`${file} lies in a submodule, whose commit at the base is not there`);
  if (found.type === "absent") return null;
  const former = join(into, basename(file));
  await mkdir(into, { recursive: true });
  await writeFile(former, found.content);
  return former;
}

async function refusal(
  { name, project }: BaseRequest,
  { problem, detail }: Extract<Checkout, { ok: false }>,
  environment: Environment,
): Promise<Diagnostic> {
  const said = detail === "" ? "" : `${detail}.`;
  const error = (code: string, summary: string, text: string, fix: string): Diagnostic => ({
    code,
    severity: "error",
    summary,
    detail: text,
    fix,
  });
  switch (problem) {
    case "no-git":
      return error("base-unreadable", "git cannot be asked for the base", said, "Install git, or give a folder.");
    case "no-repository":
      return error("base-unreadable", "git cannot read the base", said, "Run it in a checkout, or give a folder.");
    case "no-commit":
      return unknownRef(name, await refsOf(project.root, environment));
    case "ambiguous":
      return error(
        "base-ambiguous",
        `${name} is the name of several refs`,
        `It may mean ${detail}. Git would take the first of them without a word, and a pull request can bring a tag.`,
        `Write the one that is meant in full: --base ${detail.split(", ").find((ref) => ref.startsWith("refs/remotes/")) ?? "refs/remotes/origin/main"}.`,
      );
    case "unusable":
      return error("base-unreadable", `the folder at ${name} cannot be used`, said, "Give a folder instead of a ref.");
  }
}

/** Loads the base with the same flags as far as they apply to it. A base without the requested environment declares no objects. */
async function loadBase(directory: string, request: BaseRequest): Promise<OpenedBase> {
  const { name, flags, dialect } = request;
  const loaded = await load(directory, flags, dialect, { past: true });
  if (loaded.project !== null) return { ok: true, base: { name, desired: loaded.project.desired } };
  const errors = errorsOf(loaded);
  if (loaded.fault === "request" && errors.some(({ code }) => code === "unknown-environment")) {
    return { ok: true, base: { name, desired: NOTHING } };
  }
  return { ok: true, base: null, warning: invalidBase(name, errors, loaded.sources) };
}

/** A diagnostic without a span, as the base's files have the same names as those of the project. */
function invalidBase(name: string, errors: readonly Diagnostic[], sources: Sources): Diagnostic {
  const shown = errors.slice(0, MAX_ERRORS_SHOWN).map(({ summary, span }) => {
    if (span === undefined) return `${name}: ${summary}`;
    const { line, column } = sources.position(span.file, span.start);
    return `${name}:${span.file}:${line}:${column}: ${summary}`;
  });
  if (errors.length > shown.length) shown.push(`and ${errors.length - shown.length} more`);
  return {
    code: "base-invalid",
    severity: "warning",
    summary: `the base ${name} is invalid, so that changes cannot be told apart`,
    detail: shown.join("; "),
    fix: "If this change mends it, nothing is to be done. Else mend it there.",
  };
}

function errorsOf({ diagnostics }: LoadResult): Diagnostic[] {
  return diagnostics.filter((diagnostic) => hasErrors([diagnostic]));
}
