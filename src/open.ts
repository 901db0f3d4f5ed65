/** Opens a project as a whole: the manifests of one folder and the account they are for, to be planned, applied and compared. */

import {
  type ApiEvent,
  allowedSeconds,
  type Clock,
  type Connection,
  checkBaseUrl,
  isDialect,
  NEUTRAL_DIALECT,
  serviceAt,
  systemClock,
} from "./api/index.ts";
import type { ApplyEvent } from "./apply/events.ts";
import { readPackageFile } from "./files/package-files.ts";
import type { LongLists } from "./live/long-lists.ts";
import type { LoadOptions, Project } from "./manifest/load.ts";
import { UploadFiles } from "./manifest/upload-file.ts";
import { dateOf } from "./model/annotations.ts";
import type { Drift } from "./model/change.ts";
import type { Consent } from "./model/desired.ts";
import { type Diagnostic, hasErrors } from "./model/diagnostic.ts";
import type { Live } from "./model/live.ts";
import type { Goal, Guard, Plan } from "./model/plan.ts";
import type { Report } from "./model/report.ts";
import type { ReadWatch } from "./model/unit.ts";
import {
  applyPlan,
  asBound,
  checkAccount,
  createClients,
  findUnreviewed,
  judgeByEnvironments,
  loadProject,
  openJournal,
  openRun,
  planProject,
  TenonError,
} from "./pipeline.ts";
import type { ChangedEntries } from "./plan/changed-since.ts";
import { driftOf } from "./plan/drift.ts";
import type { OpenedRun } from "./saved/undo-run.ts";

/** Where a project is, and the account that it is for. Nothing is read from the environment of the process. */
export interface OpenOptions {
  /** The project's folder, or the path of its root file. Default: the working folder. */
  readonly dir?: string;
  /** The service's address with its version: `https://api.example.com/v4`. */
  readonly baseUrl: string;
  /** The access token. It is sent to `baseUrl` alone, and is in nothing that is returned, thrown or written. */
  readonly token: string;
  /** The word the service uses where its specification says `node`. Default: that of a service that is known by its address, else `node`. */
  readonly dialect?: string;
  /** Which of the project's `environments:`. Default: none. */
  readonly env?: string;
  /** Values of the project's variables. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Paths of files with values of variables, in the order in which later ones win. */
  readonly variableFiles?: readonly string[];
  /** Records of zone files that the service cannot hold are left out, with a warning. Default: false, they are errors. */
  readonly skipUnsupported?: boolean;
  /** TTLs and other times that the service keeps as they are: seconds, ascending, without 0. Default: those of the dialect. */
  readonly allowedSeconds?: readonly number[];
  /** Which account the token is of, for projects that name theirs. Default: it is not known, and such a project is refused. */
  readonly account?: string;
  /** Given by the owner beside `allow:` of the manifest, to what an apply would refuse. Default: none. */
  readonly consents?: readonly Consent[];
  /** Requests, and steps of an apply, at a time. Default: 8. */
  readonly concurrency?: number;
  /** How long passing failures are retried, in seconds; null: 30 while nothing ever answered, 300 otherwise. Default: null. */
  readonly retryForSeconds?: number | null;
  /** HTTPS_PROXY and NO_PROXY are looked up here. Default: no proxy. */
  readonly proxyEnvironment?: Readonly<Record<string, string | undefined>>;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Told of each request, for progress and counting. */
  readonly observe?: (event: ApiEvent) => void;
}

/** What a plan is to be about. */
export interface PlanChoice extends ReadWatch {
  /** `destroy` deletes what is declared. Default: `apply`. */
  readonly goal?: Goal;
  /**
   * The journal of a run, absolute or relative to the working folder: what the run did is taken back, in place of a goal. What somebody has changed
   * since is blocked. It has to be of this service, account, environment and owner. Default: none.
   */
  readonly undo?: string;
  /** Which run, of a journal of several: when it began, as the journal has it. Default: the only one. */
  readonly run?: string;
  /** Address globs: only these, and what is beneath them. Default: all. */
  readonly targets?: readonly string[];
  /** Address globs: all but these. Default: none. */
  readonly excludes?: readonly string[];
  /** What `findChangedSince` found: nothing else is read. Default: null, all. */
  readonly changedSince?: ChangedEntries | null;
  /** true: whatever would delete or replace an object is left out, with what depends on it. Default: false. */
  readonly neverDestroy?: boolean;
  /** An apply refuses a plan of more changes. Default: null, any number. */
  readonly maxChanges?: number | null;
  /** Objects with the tag of these owners become this project's. Default: none. */
  readonly takeOwnershipFrom?: readonly string[];
  /** false: every object is made by itself, even where copies would take fewer requests. Default: true. */
  readonly clone?: boolean;
  /** After so long an upload ends, done or given up. Default: 3600. */
  readonly uploadTimeoutSeconds?: number;
  /** After so long an image that is not available yet is not waited for any more. Default: 3600. */
  readonly imageTimeoutSeconds?: number;
}

/** How a plan is to be carried out. What of `PlanChoice` a plan that is given was made with need not be said again. */
export interface ApplyChoice extends PlanChoice {
  /** The journal's file, absolute or relative to the working folder. Default: a new one below `.tenon/journal` of the project. */
  readonly journal?: string;
  /** Who is said to have run it, in the journal. Default: nobody. */
  readonly actor?: string;
  /** Aborts what is in flight at once; `signal` only starts nothing new. */
  readonly abort?: AbortSignal;
  /** Told what happens, as it happens. */
  readonly emit?: (event: ApplyEvent) => void;
}

/** A project and its account. One call at a time; close it when done. Dates of entries are past or not by the day on which it is opened. */
export interface OpenProject {
  readonly project: Project;
  /** What loading found that is no error. */
  readonly warnings: readonly Diagnostic[];
  /**
   * Reads the account, with list requests, and plans. Nothing is changed: what reads has no method that writes. What must not be is in
   * `refusals` and `guards` of the plan.
   * @throws TenonError if the account cannot be read, or the journal of `undo` is none of this project's
   */
  plan(choice?: PlanChoice): Promise<Plan>;
  /**
   * Plans anew, and carries that out. What goes wrong on the way is in the report.
   * @param reviewed the most that may be done: a change that it does not show is refused. It may be read from a file, for of it nothing is
   * carried out; then `choice` must be what it was made with.
   * @throws TenonError before anything is done, if the account cannot be read, if the plan is refused, lacks consent or is not within
   * `reviewed`, or if the journal cannot be written
   */
  apply(reviewed?: Plan, choice?: ApplyChoice): Promise<Report>;
  /**
   * Reads the account, and says what it has otherwise than declared.
   * @throws TenonError if the account cannot be read, or if what is declared cannot be found in it for certain
   */
  drift(choice?: Pick<PlanChoice, "targets" | "excludes" | "changedSince" | keyof ReadWatch>): Promise<Drift>;
  /** Ends the connection. May be called again. */
  close(): Promise<void>;
}

/** As the library's `open`, which loads this when it is called. */
export async function openProject(options: OpenOptions): Promise<OpenProject> {
  const base = checkBaseUrl(options.baseUrl);
  if (!base.ok) throw new TenonError([base.diagnostic]);
  const dialect = options.dialect ?? serviceAt(base.url)?.dialect ?? NEUTRAL_DIALECT;
  if (!isDialect(dialect)) throw problem("dialect-invalid", "the dialect is not a word", "Give one such as node.");
  const { concurrency = 1 } = options;
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw problem("concurrency-invalid", `concurrency is ${concurrency}`, "Give a whole number of at least 1.");
  }
  const { retryForSeconds = null } = options;
  if (retryForSeconds !== null && !(Number.isFinite(retryForSeconds) && retryForSeconds >= 0)) {
    throw problem("retry-invalid", `retryForSeconds is ${retryForSeconds}`, "Give seconds, 0 or more, or null.");
  }
  if (typeof options.token !== "string" || options.token === "")
    throw problem("no-token", "there is no token", "Give the access token of the account as `token`.");
  const toLoad: LoadOptions = {
    directory: options.dir ?? ".",
    ...(options.env === undefined ? {} : { environment: options.env }),
    variables: options.variables ?? {},
    variableFiles: options.variableFiles ?? [],
    skipUnsupported: options.skipUnsupported ?? false,
    allowedSeconds: options.allowedSeconds ?? allowedSeconds(dialect),
    today: dateOf((options.clock ?? systemClock).now()),
  };
  const { project, diagnostics, sources } = await loadProject(toLoad);
  if (project === null) throw new TenonError(diagnostics, sources);
  const otherAccount = checkAccount(project.desired, options.account ?? null);
  if (otherAccount !== null) throw new TenonError([otherAccount], sources);
  const connection: Connection = {
    baseUrl: base.url,
    token: options.token,
    dialect,
    retryForSeconds,
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    environment: options.proxyEnvironment ?? {},
    clock: options.clock ?? systemClock,
    ...(options.observe === undefined ? {} : { observe: options.observe }),
  };
  return new Opened({ project, warnings: diagnostics, toLoad }, options, connection, await createClients(connection));
}

const DEFAULT_CONCURRENCY = 8;

interface Reading {
  readonly live: Live;
  readonly longLists: LongLists;
}

class Opened implements OpenProject {
  readonly project: Project;
  readonly warnings: readonly Diagnostic[];
  readonly #toLoad: LoadOptions;
  readonly #options: OpenOptions;
  readonly #connection: Connection;
  readonly #clients: Awaited<ReturnType<typeof createClients>>;
  /** What each plan that was made here was asked for: a plan from elsewhere does not say whose objects are taken over. */
  readonly #choices: WeakMap<Plan, PlanChoice> = new WeakMap();
  /** What each plan that was made here was made from. */
  readonly #readings: WeakMap<Plan, Reading> = new WeakMap();
  readonly #uploads: UploadFiles;

  constructor(
    { project, warnings, toLoad }: Pick<OpenProject, "project" | "warnings"> & { readonly toLoad: LoadOptions },
    options: OpenOptions,
    connection: Connection,
    clients: Awaited<ReturnType<typeof createClients>>,
  ) {
    this.project = project;
    this.#uploads = new UploadFiles(project.root);
    this.warnings = warnings;
    this.#toLoad = toLoad;
    this.#options = options;
    this.#connection = connection;
    this.#clients = clients;
  }

  plan(choice: PlanChoice = {}): Promise<Plan> {
    return this.#plan(choice, true);
  }

  /**
   * @param checkSelection false: targets and excludes may match nothing any more
   * @param isToBeDone false: what must not be done is no matter, only what the account has otherwise
   */
  async #plan(choice: PlanChoice, checkSelection: boolean, isToBeDone = true): Promise<Plan> {
    checkChoice(choice);
    const { signal, progress } = choice;
    const { desired, inputs, sources } = this.project;
    const undoing = choice.undo === undefined ? null : await this.#openRun(choice.undo, choice.run ?? null);
    const planned = await planProject({
      desired,
      api: this.#clients.reading,
      goal: undoing === null ? (choice.goal ?? "apply") : "undo",
      ...(undoing === null ? {} : { run: undoing.run }),
      nowMilliseconds: this.#clock.now(),
      targets: choice.targets ?? [],
      excludes: choice.excludes ?? [],
      changedSince: choice.changedSince ?? null,
      neverDestroy: choice.neverDestroy ?? false,
      checkSelection,
      inputs,
      contentOf: (file) => this.#uploads.contentOf(file, signal === undefined ? {} : { signal }),
      problemOf: (file) => this.#uploads.problemOf(file),
      consents: this.#options.consents ?? [],
      maxChanges: choice.maxChanges ?? null,
      takeOwnershipFrom: choice.takeOwnershipFrom ?? [],
      account: this.#options.account ?? null,
      clone: choice.clone ?? true,
      ...(choice.uploadTimeoutSeconds === undefined ? {} : { uploadTimeoutSeconds: choice.uploadTimeoutSeconds }),
      ...(choice.imageTimeoutSeconds === undefined ? {} : { imageTimeoutSeconds: choice.imageTimeoutSeconds }),
      watch: { ...(signal === undefined ? {} : { signal }), ...(progress === undefined ? {} : { progress }) },
    });
    if (planned.ok) {
      const { environment: _, ...others } = this.#toLoad;
      const load = (environment: string | null) =>
        loadProject({ ...others, ...(environment === null ? {} : { environment }), past: true, fillsOnly: true });
      const judged = isToBeDone ? await judgeByEnvironments(planned.plan, this.project, load) : planned.plan;
      const plan = undoing === null ? judged : { ...judged, warnings: [...undoing.warnings, ...judged.warnings] };
      this.#choices.set(plan, choice);
      this.#readings.set(plan, planned);
      return plan;
    }
    const summary = `cannot read ${planned.what}: ${planned.failure.message}`;
    throw new TenonError(
      [{ code: "account-unreadable", severity: "error", summary, detail: "" }],
      sources,
      planned.failure,
    );
  }

  /** @throws TenonError if there is no such run that can be undone here */
  async #openRun(file: string, started: string | null): Promise<OpenedRun & { readonly ok: true }> {
    const { desired, inputs, sources } = this.project;
    const { host } = new URL(this.#connection.baseUrl);
    const account = this.#options.account ?? null;
    const here = { host, account, environment: inputs.environment, owner: desired.owner };
    const opened = await openRun({ file, started }, here, sources);
    if (!opened.ok) throw new TenonError([opened.diagnostic], sources);
    return opened;
  }

  /** @throws TenonError if the plan must not be carried out, or is not within one of the bounds */
  #refuse(plan: Plan, bounds: readonly Plan[]): void {
    const { sources } = this.project;
    const errors = bounds.flatMap((bound) => differences(plan, bound));
    if (plan.refusals.length > 0) throw new TenonError(plan.refusals, sources);
    if (errors.length > 0) throw new TenonError(errors, sources);
    const guards = plan.guards.filter(({ consent }) => consent !== "given");
    if (guards.length > 0) throw new TenonError(guards.map(lackOf), sources);
  }

  async apply(reviewed?: Plan, choice: ApplyChoice = {}): Promise<Report> {
    const made = reviewed === undefined ? {} : this.#choices.get(reviewed);
    const asked = { ...made, ...choice };
    const bounds = reviewed === undefined ? [] : [reviewed];
    const first = await this.#plan(asked, reviewed === undefined);
    this.#refuse(first, bounds);
    // A list that changed while it was read may have shown what is gone, or lacked what is there.
    const isSure = (await this.#readings.get(first)?.longLists.hold(first.steps, choice.signal)) ?? true;
    const plan = isSure ? first : await this.#plan(asked, false);
    if (!isSure) this.#refuse(plan, [...bounds, asBound(first)]);
    const { root, sources } = this.project;
    const { clock } = this.#connection;
    const opened = await openJournal({
      root,
      path: choice.journal ?? null,
      startedMilliseconds: this.#clock.now(),
      header: {
        version: version(),
        actor: choice.actor ?? null,
        commit: null,
        host: new URL(this.#connection.baseUrl).host,
        account: this.#options.account ?? null,
        environment: this.project.inputs.environment,
        owner: plan.owner,
        goal: plan.goal,
      },
    });
    if (!opened.ok) throw new TenonError([opened.diagnostic]);
    try {
      const { newIdNotes } = await import("./render/report.ts");
      const reading = this.#readings.get(plan);
      const report = await applyPlan({
        plan,
        ...(reading === undefined ? {} : { live: reading.live }),
        isReviewed: reviewed !== undefined,
        api: this.#clients.writing,
        root,
        concurrency: this.#options.concurrency ?? DEFAULT_CONCURRENCY,
        clock: clock ?? systemClock,
        journal: opened.journal,
        ...(choice.signal === undefined ? {} : { signal: choice.signal }),
        ...(choice.abort === undefined ? {} : { abort: choice.abort }),
        ...(choice.emit === undefined ? {} : { emit: choice.emit }),
      });
      const notes = newIdNotes(report, plan, ({ file, start }) => `${file}:${sources.position(file, start).line}`);
      return { ...report, notices: [...report.notices, ...notes] };
    } finally {
      await opened.journal.close();
    }
  }

  async drift(
    choice: Pick<PlanChoice, "targets" | "excludes" | "changedSince" | keyof ReadWatch> = {},
  ): Promise<Drift> {
    const plan = await this.#plan({ ...choice, goal: "apply" }, true, false);
    if (hasErrors(plan.refusals)) throw new TenonError(plan.refusals, this.project.sources);
    return driftOf(plan);
  }

  close(): Promise<void> {
    return this.#clients.writing.close();
  }

  get #clock(): Clock {
    return this.#options.clock ?? systemClock;
  }
}

/** @throws TenonError: what TypeScript forbids, a program without types may say all the same */
function checkChoice(choice: PlanChoice): void {
  const { goal, undo, run, changedSince, uploadTimeoutSeconds, imageTimeoutSeconds } = choice;
  if (undo !== undefined && (goal !== undefined || (changedSince ?? null) !== null))
    throw problem(
      "undo-conflicting",
      "undo is beside a goal or changedSince",
      "Give undo alone: the journal says what is taken back.",
    );
  if (run !== undefined && undo === undefined)
    throw problem("undo-conflicting", "run is given without undo", "Give the journal as undo, too.");
  if (goal !== undefined && goal !== "apply" && goal !== "destroy")
    throw problem("goal-invalid", `goal is ${JSON.stringify(goal)}`, "Give apply or destroy.");
  checkSeconds("upload-timeout-invalid", { uploadTimeoutSeconds });
  checkSeconds("image-timeout-invalid", { imageTimeoutSeconds });
}

function checkSeconds(code: string, given: Readonly<Record<string, number | undefined>>): void {
  for (const [name, seconds] of Object.entries(given)) {
    if (seconds !== undefined && !(Number.isFinite(seconds) && seconds > 0))
      throw problem(code, `${name} is ${seconds}`, "Give seconds, more than 0.");
  }
}

/** What keeps `plan` from being within the reviewed one: another question, or changes that it does not show. */

function differences(plan: Plan, reviewed: Plan): Diagnostic[] {
  const asked = ({ goal, inputs }: Plan): Readonly<Record<string, unknown>> => ({ goal, ...inputs });
  const [now, then] = [asked(plan), asked(reviewed)];
  const others = Object.keys(now).filter((name) => canonical(now[name]) !== canonical(then[name]));
  if (others.length > 0) {
    const summary = `the reviewed plan was made with other values of ${others.join(", ")}`;
    const fix = "Open the project, and apply, with what the plan was made with.";
    return [{ code: "plan-differs", severity: "error", summary, detail: "Nothing was done.", fix }];
  }
  return findUnreviewed(plan, reviewed).map(({ key, address }) => ({
    code: "not-reviewed",
    severity: "error",
    summary: `the reviewed plan does not cover the change of ${key}`,
    detail: "Nothing was done.",
    fix: "Review a new plan.",
    address,
  }));
}

/** The same text for the same values: of lists the order does not count, nor that of the members of an object. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (Array.isArray(inner)) return inner.toSorted();
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function lackOf({ rule, address, count, of }: Guard): Diagnostic {
  const error = (code: string, summary: string, fix: string): Diagnostic => {
    return { code, severity: "error", summary, detail: "Nothing was done.", fix, address };
  };
  if (rule === "max-changes")
    return error("too-many-changes", `the plan has ${count} changes, and may have ${of}`, "Allow more, or narrow it.");
  if (rule === "protect")
    return error("protected", `${address} is protected`, "Take `protect` out of the manifest first.");
  const fix = `Write it under \`allow:\` of the root file, or give it as a consent: { rule: "${rule}", address: "${address}" }.`;
  return error("consent-missing", `${address} needs consent to ${rule}`, fix);
}

function version(): string {
  return (JSON.parse(readPackageFile("package.json")) as { readonly version: string }).version;
}

function problem(code: string, summary: string, fix: string): TenonError {
  return new TenonError([{ code, severity: "error", summary, detail: "", fix }]);
}
