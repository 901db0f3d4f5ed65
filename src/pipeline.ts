/** The pipeline with its units: load, connect, plan, apply. Heavy parts are loaded when they are used. */

import type { ClientApi, Connection, ReadClient } from "./api/index.ts";
import type { ApplyRequest } from "./apply/execute.ts";
import type { JournalOptions, OpenedJournal } from "./apply/journal.ts";
import { filterFor, type ParsedAddress, takeInventory } from "./inventory.ts";
import { lintPlanned } from "./lint/index.ts";
import { LongLists } from "./live/long-lists.ts";
import { type LiveResult, type ReadOptions, readDetail, readLive, readOwned, unionOf } from "./live/read.ts";
import { Recording } from "./live/snapshot.ts";
import type { LoadOptions, LoadResult, Project } from "./manifest/load.ts";
import { dateOf } from "./model/annotations.ts";
import type { Failure, FileContent, ReadApi } from "./model/api.ts";
import type { Change } from "./model/change.ts";
import type { Consent, Desired } from "./model/desired.ts";
import { type Diagnostic, Sources, type Span } from "./model/diagnostic.ts";
import type { InspectedContents, Inspection, InventoryItem } from "./model/inventory.ts";
import type { JournalEntry, JournalledRun } from "./model/journal.ts";
import { Kinds } from "./model/kind.ts";
import type { Live } from "./model/live.ts";
import { DEFAULT_IMAGE_TIMEOUT_SECONDS, DEFAULT_UPLOAD_TIMEOUT_SECONDS, type Goal, type Plan } from "./model/plan.ts";
import type { Report } from "./model/report.ts";
import { type Address, rootAddress } from "./model/resource.ts";
import { escapeGlob, groupBy } from "./model/text.ts";
import type { LiveIdentity, ReadWatch } from "./model/unit.ts";
import { type ChangedEntries, findChangedSince, withAffected } from "./plan/changed-since.ts";
import { attributeGuards, attributeOrigins } from "./plan/compare-base.ts";
import { driftOf } from "./plan/drift.ts";
import {
  declaredElsewhere,
  isRetired,
  mayGoByMistake,
  nameOtherEnvironments,
  type OtherEnvironment,
  refuseRetiredElsewhere,
} from "./plan/environments.ts";
import { wrongAccount } from "./plan/match-problems.ts";
import { rateOf } from "./plan/pace.ts";
import { completeInterfaces, makePlan, type PlanOptions } from "./plan/plan.ts";
import { exceedsReviewedPlan } from "./plan/review.ts";
import { isUnmatched } from "./plan/select.ts";
import { escapeText } from "./render/terminal.ts";
import type { JournalResult } from "./saved/journal-file.ts";
import type { OpenedRun, UndoPlace } from "./saved/undo-run.ts";
import { units } from "./units/index.ts";

/**
 * Reads and checks the manifests of a project. Problems are in `diagnostics`; the project is null if there are errors. The day of `today`
 * is that of the system's clock if none is given.
 */
export async function loadProject(options: LoadOptions): Promise<LoadResult> {
  const { loadProject: load } = await import("./manifest/load.ts");
  return load({ today: dateOf(Date.now()), ...options }, units);
}

/** One connection, as two objects: what only reads has no method that writes. Sends nothing yet. To be closed by either. */
export async function createClients(
  connection: Connection,
): Promise<{ readonly reading: ReadClient; readonly writing: ClientApi }> {
  const [{ createApi: create, withReading }, { checkingShapes }] = await Promise.all([
    import("./api/index.ts"),
    import("./api/shape.ts"),
  ]);
  const api = await create(connection);
  const reading = checkingShapes(api);
  return { reading, writing: withReading(api, reading) };
}

/**
 * Opens a client that can read, and has no method that writes. Sends nothing yet. Close it when done.
 * @throws if `checkBaseUrl` refuses the base URL
 */
export async function createReadApi(connection: Connection): Promise<ReadClient> {
  return (await createClients(connection)).reading;
}

/**
 * Opens a client that can write, too: for `applyPlan`. Sends nothing yet. Close it when done.
 * @throws if `checkBaseUrl` refuses the base URL
 */
export async function createApi(connection: Connection): Promise<ClientApi> {
  return (await createClients(connection)).writing;
}

/**
 * Whether the project may be used with this account: null, or why not. To be asked before anything is sent.
 * @param account TENON_ACCOUNT; null if it is not set
 */
export function checkAccount(desired: Desired, account: string | null): Diagnostic | null {
  return desired.account === null || desired.account === account ? null : wrongAccount(desired.account, account);
}

export interface PlanRequest {
  readonly desired: Desired;
  readonly api: ReadApi;
  readonly goal: Goal;
  /** Milliseconds since the epoch. */
  readonly nowMilliseconds: number;
  /** Address globs. */
  readonly targets?: readonly string[];
  readonly excludes?: readonly string[];
  /** false: they are those of a saved plan, and may match nothing any more. */
  readonly checkSelection?: boolean;
  /** What the project was loaded with: the plan keeps it. */
  readonly inputs?: Project["inputs"];
  /** Beside those of the manifest. */
  readonly consents?: readonly Consent[];
  readonly maxChanges?: number | null;
  readonly takeOwnershipFrom?: readonly string[];
  /** TENON_ACCOUNT; null if it is not set. */
  readonly account?: string | null;
  /** false: every object is made by itself, even where copies would take fewer requests. */
  readonly clone?: boolean;
  /** After so long an upload ends, done or given up; default an hour. */
  readonly uploadTimeoutSeconds?: number;
  /** An upload of another run is left alone for no shorter than this; default 0: `uploadTimeoutSeconds` decides alone. */
  readonly leastLeaseSeconds?: number;
  readonly watch?: ReadWatch;
  /**
   * What a file of the project holds, by its path relative to the root file's folder; null if that cannot be known. Asked of files that
   * would be uploaded: the plan is then bound to what they hold now. Absent: it is not.
   */
  readonly contentOf?: ContentOf;
  /** Why `contentOf` gave null for a file, without a span: a plan that would upload it, or compares it with an object, is refused. */
  readonly problemOf?: (file: string) => Diagnostic | null;
  /** After so long an image that is not available yet is not waited for any more; default an hour. */
  readonly imageTimeoutSeconds?: number;
  /** Narrows the plan to what `findChangedSince` found: nothing else is read. */
  readonly changedSince?: ChangedEntries | null;
  /** true: whatever would delete or replace an object is left out, with what depends on it. Default: false. */
  readonly neverDestroy?: boolean;
  /** The manifests without the proposed change: each change of the plan is then attributed to it, or not. */
  readonly base?: Base;
  /** For the goal `undo`: the run that is taken back. */
  readonly run?: JournalledRun;
}

export interface Base {
  /** As it was given: a git ref or a folder. */
  readonly name: string;
  readonly desired: Desired;
  /** The names of its `environments:`; default: none. */
  readonly environments?: readonly string[];
  /** As of the project itself: what the files held there. */
  readonly contentOf?: ContentOf;
}

export type ContentOf = (file: string) => Promise<FileContent | null>;

export type PlanResult =
  /** `desired`: what the plan leads to; for an undo, what it has touched. */
  | {
      readonly ok: true;
      readonly plan: Plan;
      readonly desired: Desired;
      readonly live: Live;
      readonly longLists: LongLists;
    }
  /** `what` could not be read. */
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

/** Reads the account with list calls only, and plans. What blocks a change is then looked at more closely. */
export async function planProject(request: PlanRequest): Promise<PlanResult> {
  const { base, run } = request;
  const longLists = new LongLists(request.api);
  const read = { ...request, api: longLists };
  const planned = await (run !== undefined
    ? planUndo(read, run)
    : base === undefined
      ? planAlone(read)
      : planBeside(read, base));
  if (!planned.ok) return planned;
  const pace = rateOf(longLists.limits(), planned.plan.steps);
  return { ...planned, plan: { ...planned.plan, pace }, longLists };
}

/** Reads once what both plans need; each then sees of it what it would have seen alone. */
async function planBeside(request: PlanRequest, base: Base): Promise<PlannedAlone> {
  const { name, desired, contentOf } = base;
  const api = new Recording(request.api);
  const read = await readFor({ ...request, api, desired: unionOf(request.desired, desired) });
  if (!read.ok) return read;
  const planned = await planAlone({ ...request, api });
  if (!planned.ok) return planned;
  // What only the proposed change has need not be there without it.
  const { contentOf: _, problemOf: _problemOf, ...rest } = request;
  const { changedSince } = planned.plan.inputs;
  const former = { ...rest, changedSince, ...(contentOf === undefined ? {} : { contentOf }) };
  const before = await planAlone({ ...former, api, desired, checkSelection: false });
  if (!before.ok) return before;
  const changed = new Set(findChangedSince(name, request.desired, desired).addresses);
  const environments = (base.environments ?? []).filter((one) => one !== request.inputs?.environment);
  const context = { changed, hasOtherEnvironments: environments.length > 0 };
  return { ...planned, plan: attributeOrigins(planned.plan, before.plan, name, new Kinds(units), context) };
}

function readFor(request: PlanRequest): Promise<LiveResult> {
  return readLive(readOptions(request));
}

function readOptions({ desired, api, goal, targets = [], changedSince = null, watch }: PlanRequest): ReadOptions {
  const destroy = goal === "destroy";
  return { desired, units, api, destroy, targets, changedSince, ...(watch === undefined ? {} : { watch }) };
}

type PlannedAlone =
  | { readonly ok: true; readonly plan: Plan; readonly desired: Desired; readonly live: Live }
  | Extract<PlanResult, { ok: false }>;

async function planAlone(request: PlanRequest): Promise<PlannedAlone> {
  const read = await readFor(request);
  return read.ok ? planOf(request, read.live) : read;
}

/** All of what the run has touched is read, however the plan is narrowed: what was not read would seem to be gone. */
async function planUndo(request: PlanRequest, run: JournalledRun): Promise<PlannedAlone> {
  const { readForUndo, undoRun } = await import("./plan/undo.ts");
  const { desired: project, targets: _, ...rest } = request;
  const read = await readFor({ ...rest, desired: readForUndo(run, units, project) });
  if (!read.ok) return read;
  const { desired, conflicts, warnings } = undoRun(run, read.live, units, project);
  const planned = await planOf({ ...request, desired }, read.live, {
    journal: { file: run.file, started: run.started },
    conflicts,
  });
  if (!planned.ok) return planned;
  const { plan } = planned;
  return { ...planned, plan: { ...plan, warnings: [...warnings, ...plan.warnings] } };
}

async function planOf(whole: PlanRequest, live: Live, undo?: PlanOptions["undo"]): Promise<PlannedAlone> {
  const { desired, api, changedSince = null } = whole;
  const request =
    changedSince === null
      ? whole
      : { ...whole, changedSince: withAffected(changedSince, desired, live, units, planOptions(whole, [])) };
  const contents = new Contents();
  const planWith = (owned: readonly string[] = []): Plan => {
    const options = { ...planOptions(request, owned), contentOf: contents.of, ...(undo === undefined ? {} : { undo }) };
    const plan = makePlan(desired, live, units, options);
    return { ...plan, warnings: [...plan.warnings, ...lintPlanned(plan, desired, request.nowMilliseconds)] };
  };
  const first = planWith();
  const plan = refuseFiles((await contents.read(request.contentOf)) ? planWith() : first, request);
  if (plan.refusals.some(isUnmatched)) {
    return { ok: true, plan: planWith(await readOwned(readOptions(request))), desired, live };
  }
  if (rootsHeldByInterfaces(plan).size === 0) return { ok: true, plan, desired, live };
  const details = await readDetail(live, heldByInterfaces(plan), units, api);
  return { ok: true, plan: completeInterfaces(plan, details), desired, live };
}

/**
 * Refuses to upload a file that cannot be an image, before anything is written, and to take an object for unchanged whose file cannot be read. A
 * file is reported once, where it is named first.
 */
function refuseFiles(plan: Plan, { desired, problemOf }: PlanRequest): Plan {
  const { files = [], declared } = desired;
  const planned = new Set(plan.changes.map(({ root }) => root));
  const compared = new Set(
    declared.flatMap(({ address, followsFile }) => (followsFile && planned.has(address) ? [address] : [])),
  );
  const needed = [
    ...plan.steps.flatMap((step) => (step.type === "upload" ? [{ file: step.file, root: step.root }] : [])),
    ...files.flatMap(({ file, address }) => (compared.has(address) ? [{ file, root: address }] : [])),
  ];
  const refusals = [...groupBy(needed, ({ file }) => file)].flatMap(([file, users]): Diagnostic[] => {
    const problem = problemOf?.(file) ?? null;
    if (problem === null) return [];
    const roots = new Set(users.map(({ root }) => root));
    const all = files.filter((named) => named.file === file);
    const named = all.find(({ address }) => roots.has(address)) ?? all[0];
    return [named === undefined ? problem : { ...problem, address: named.address, span: named.span }];
  });
  return refusals.length === 0 ? plan : { ...plan, refusals: [...plan.refusals, ...refusals] };
}

/** What the files hold that a plan uploads. Only a plan knows which they are, so it is made again once they are read. */
class Contents {
  readonly #known = new Map<string, FileContent | null>();

  readonly of = (file: string): FileContent | null => {
    const known = this.#known.get(file) ?? null;
    this.#known.set(file, known);
    return known;
  };

  /** @returns whether anything is known now that was not before */
  async read(contentOf: ContentOf | undefined): Promise<boolean> {
    if (contentOf === undefined) return false;
    for (const file of this.#known.keys()) this.#known.set(file, await contentOf(file));
    return this.#known.size > 0;
  }
}

function planOptions(request: PlanRequest, owned: readonly string[]): PlanOptions {
  return {
    goal: request.goal,
    nowMilliseconds: request.nowMilliseconds,
    targets: request.targets ?? [],
    excludes: request.excludes ?? [],
    checkSelection: request.checkSelection ?? true,
    owned,
    environment: request.inputs?.environment ?? null,
    variables: request.inputs?.variables ?? {},
    skipUnsupported: request.inputs?.skipUnsupported ?? false,
    consents: request.consents ?? [],
    maxChanges: request.maxChanges ?? null,
    takeOwnershipFrom: request.takeOwnershipFrom ?? [],
    account: request.account ?? null,
    clone: request.clone ?? true,
    uploadTimeoutSeconds: request.uploadTimeoutSeconds ?? DEFAULT_UPLOAD_TIMEOUT_SECONDS,
    leastLeaseSeconds: request.leastLeaseSeconds ?? 0,
    imageTimeoutSeconds: request.imageTimeoutSeconds ?? DEFAULT_IMAGE_TIMEOUT_SECONDS,
    former: request.base?.desired.declared ?? [],
    changedSince: request.changedSince ?? null,
    neverDestroy: request.neverDestroy ?? false,
  };
}

/** Addresses of the networks in which interfaces hold something. Empty if none do. */
export function rootsHeldByInterfaces(plan: Plan): ReadonlySet<string> {
  return new Set(plan.changes.filter(({ blocked }) => blocked?.type === "interfaces").map(({ root }) => root));
}

/** Objects that change are named by id, as they may be renamed or share a label; all others by address. */
function heldByInterfaces(plan: Plan): (live: LiveIdentity) => boolean {
  const roots = rootsHeldByInterfaces(plan);
  const ids = new Map(plan.changes.flatMap(({ address, id }) => (roots.has(address) ? [[address, id] as const] : [])));
  const held = new Set(ids.values());
  return ({ id, address }) => held.has(id) || (roots.has(address) && !ids.has(address));
}

/** The plan as the bound of one that is made anew: what it shows as blocked, the run was not to do. */
export function asBound(plan: Plan): Plan {
  return { ...plan, changes: plan.changes.filter(({ blocked }) => blocked === null) };
}

/** The changes of `plan` that the reviewed plan does not show: empty if it is within it. */
export function findUnreviewed(plan: Plan, reviewed: Plan): readonly Change[] {
  return exceedsReviewedPlan(plan.changes, reviewed.changes, new Kinds(units));
}

/** At most this many other environments are searched for the objects that a plan would prune without consent: each is a project to load. */
export const MAX_LOOKED_AT_ENVIRONMENTS = 20;
/** Characters of those environments once expanded: after this many, no further environment is loaded. */
const MAX_LOOKED_AT_CHARACTERS: number = 32 * 1024 * 1024;

/**
 * The plan with, on each deletion that lacks consent, the other environments that declare what would go. It is refused if one of them declares what
 * would be retired, or if the project has errors there, so that nobody knows. Each environment is a project to load: those beyond the limits are
 * only counted, and of each loaded one only the addresses in question are kept.
 * @param load the project with that environment, null for none, as it was at the time of the plan. What the run gives to variables fills only
 * those that have no value there: it is said of the run's own environment
 */
export async function judgeByEnvironments(
  plan: Plan,
  project: Project,
  load: (environment: string | null) => Promise<LoadResult>,
): Promise<Plan> {
  // An undo deletes what its run has made, whoever declares it.
  if (plan.goal === "undo") return plan;
  const inDoubt = mayGoByMistake(plan);
  if (inDoubt.length === 0) return plan;
  const { desired } = project;
  const names = nearestEnvironments(project);
  // Who names an object in a consent may overlook an environment; what is retired goes without one, so that each is looked at.
  const most = inDoubt.some(isRetired) ? names.length : MAX_LOOKED_AT_ENVIRONMENTS;
  const others: OtherEnvironment[] = [];
  let [characters, lookedAt] = [0, 0];
  for (const name of names.slice(0, most)) {
    if (characters > MAX_LOOKED_AT_CHARACTERS) {
      others.push({ name, declares: null });
      continue;
    }
    const loaded = await load(name);
    characters += loaded.characters;
    lookedAt += 1;
    // A project whose variables have values in environments alone is not meant to be run without one.
    if (name === null && loaded.diagnostics.some(({ code }) => code === "missing-variable")) continue;
    const there = loaded.project?.desired;
    others.push({ name, declares: there === undefined ? null : declaredElsewhere(inDoubt, desired, there) });
  }
  const refusals = [...plan.refusals, ...refuseRetiredElsewhere(plan.changes, others)];
  const guards = nameOtherEnvironments(plan.guards, others, names.length - lookedAt);
  return { ...plan, refusals, guards };
}

/** The project without an environment, and all environments, but its own: ordered by their distance from it in the root file. */
function nearestEnvironments({ environments, inputs }: Project): (string | null)[] {
  const own = inputs.environment === null ? 0 : environments.indexOf(inputs.environment);
  const distances = environments.map((name, index) => ({ name, distance: Math.abs(index - own) }));
  const sorted = distances.sort((a, b) => a.distance - b.distance).map(({ name }) => name);
  return [null, ...sorted].filter((name) => name !== inputs.environment);
}

export interface InspectRequest extends Pick<PlanRequest, "api" | "nowMilliseconds" | "inputs" | "account" | "watch"> {
  /** null: there is no project. */
  readonly desired: Desired | null;
  readonly address: ParsedAddress;
}

export type InspectResult =
  /** null: neither the account nor the project has the address; `known` are those that they have, of the same kind. */
  | { readonly ok: true; readonly inspection: Inspection | null; readonly known: readonly Address[] }
  /** `what` could not be read. */
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

/** What has an address, in the account and in the project. Reads, once, what a plan of its network, zone or image reads. */
export async function inspectAddress({ desired, address, ...request }: InspectRequest): Promise<InspectResult> {
  const { root, rootKind, kind } = address;
  const api = new Recording(request.api);
  const kinds = units.find((unit) => unit.kinds[0].kind === rootKind)?.kinds.map((facts) => facts.kind) ?? [];
  const taken = await takeInventory({ ...request, api, desired, kinds, filter: filterFor(address) });
  if (!taken.ok) return taken;
  const stated = desired === null ? [] : [...desired.declared, ...desired.removed];
  let plan: Plan | null = null;
  if (desired !== null && stated.some((entry) => entry.address === root)) {
    const targets = [escapeGlob(root)];
    const planned = await planProject({ ...request, api, desired, goal: "apply", targets, checkSelection: false });
    if (!planned.ok) return planned;
    plan = planned.plan;
  }
  const changes = (plan?.changes ?? []).filter((change) => change.address === address.address);
  const live = taken.items.filter((item) => item.address === address.address);
  const others = [
    ...taken.items.map((item) => item.address),
    ...taken.missing,
    ...stated.map((entry) => entry.address),
  ];
  const known = new Set([...others, ...taken.roots.map((name) => rootAddress(rootKind, name))]);
  if (live.length === 0 && changes.length === 0) return { ok: true, inspection: null, known: [...known].sort() };
  const isUnclaimed = live.every(({ declared, owner }) => declared === false && owner === desired?.owner);
  const inspection = {
    ...{ address: address.address, kind, root, live, changes, plan },
    isProtected: desired?.declared.some((entry) => entry.address === root && entry.protect) ?? false,
    mayBePruned: live.length > 0 && isUnclaimed && changes.length === 0 && desired?.owner !== null,
    contents: address.address === root ? contentsOf(root, taken.items, plan) : null,
  };
  return { ok: true, inspection, known: [] };
}

function contentsOf(root: Address, items: readonly InventoryItem[], plan: Plan | null): InspectedContents | null {
  const kind = new Kinds(units).contentsAt(root)?.kind;
  if (kind === undefined) return null;
  const within = (plan?.changes ?? []).filter((change) => change.root === root && change.kind === kind);
  const differing = plan === null ? [] : driftOf({ ...plan, changes: within }).objects;
  return {
    kind,
    live: items.filter((item) => item.root === root && item.kind === kind).length,
    declared: within.filter(({ after }) => after !== null).length,
    differing,
  };
}

export type PlanFileResult =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/**
 * Reads back what `renderPlanJson` wrote; says by name what is wrong with it. The file may be anybody's: it is there to be shown, and as the
 * bound of `findUnreviewed`. What is carried out is a plan that was made anew.
 */
export async function parsePlanFile(text: string): Promise<PlanFileResult> {
  const { parsePlanFile: parse } = await import("./saved/plan-file.ts");
  const read = await parse(text);
  return read.ok ? { ok: true, plan: attributeGuards(read.plan, new Kinds(units)) } : read;
}

/** Reads back a journal, for the goal `undo`. The file may be anybody's: what it leads to is a plan like any other, within the account as it is. */
export async function parseJournal(
  text: string,
  which: { readonly file: string; readonly started: string | null },
): Promise<JournalResult> {
  const { parseJournal: parse } = await import("./saved/journal-file.ts");
  return parse(text, new Kinds(units), which);
}

/** Reads the journal of a run that is to be undone, and refuses it if the run was of another service, account, environment or owner. */
export async function openRun(
  which: { readonly file: string; readonly started: string | null },
  here: UndoPlace,
  sources: Sources,
): Promise<OpenedRun> {
  const { openRun: open } = await import("./saved/undo-run.ts");
  return open(which, here, sources, new Kinds(units));
}

/** The run that this process has just written into a journal. @param file the journal's name, for messages */
export async function runOfEntries(entries: readonly JournalEntry[], file: string): Promise<JournalResult> {
  const { runOfEntries: read } = await import("./saved/journal-file.ts");
  return read(entries, file, new Kinds(units));
}

/**
 * The only writer. It carries out the steps of the plan as they are: whether its refusals and guards allow that, and whether it is within a
 * reviewed one, is for the caller to see first. Never hand it a plan that was read from a file. What goes wrong on the way is in the report.
 */
export async function applyPlan(options: ApplyRequest): Promise<Report> {
  const { applyPlan: apply } = await import("./apply/execute.ts");
  return apply({ ...options, units });
}

/** An apply must not begin without its journal. */
export async function openJournal(options: JournalOptions): Promise<OpenedJournal> {
  const { openJournal: open } = await import("./apply/journal.ts");
  return open(options);
}

/** Why a project cannot be opened, planned or applied. Its message names each problem, with its place. */
export class TenonError extends Error {
  override readonly name: string = "TenonError";
  /** At least one error, with a stable code. */
  readonly diagnostics: readonly Diagnostic[];
  /** The service's failure, if it was one. */
  readonly failure: Failure | null;

  constructor(diagnostics: readonly Diagnostic[], sources: Sources = new Sources(), failure: Failure | null = null) {
    super(diagnostics.map((diagnostic) => line(diagnostic, sources)).join("\n"));
    this.diagnostics = diagnostics;
    this.failure = failure;
  }
}

function line({ code, severity, summary, span }: Diagnostic, sources: Sources): string {
  const place = span === undefined ? "" : `${placeOf(span, sources)}: `;
  return escapeText(`${place}${severity}[${code}]: ${summary}`);
}

function placeOf({ file, start }: Span, sources: Sources): string {
  const { line: number, column } = sources.position(file, start);
  return `${file}:${number}:${column}`;
}
