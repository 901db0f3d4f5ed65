/** Execute: the one loop that starts steps, hears how they ended, and owns what is known about them. */

import type { Api, Failure } from "../model/api.ts";
import type { Change } from "../model/change.ts";
import type { Clock } from "../model/clock.ts";
import type { JournalEntry, Youngest } from "../model/journal.ts";
import type { Live } from "../model/live.ts";
import { isLook, type Plan, type RequestStep, type Step } from "../model/plan.ts";
import type { Report, StepReport } from "../model/report.ts";
import type { Kind, ObjectId, Values } from "../model/resource.ts";
import { compareIds } from "../model/text.ts";
import type { Unit } from "../model/unit.ts";
import type { ApplyEvent } from "./events.ts";
import { Stop, timestamp } from "./interrupt.ts";
import type { Journal } from "./journal.ts";
import { LateCommits } from "./late-commits.ts";
import { perform, unitOf } from "./perform.ts";
import { buildReport } from "./report.ts";
import { Schedule, type Skip } from "./schedule.ts";
import {
  type Context,
  failureResult,
  localFailure,
  Made,
  type ProducedFields,
  resolvePath,
  type StepResult,
} from "./step.ts";

export interface ApplyOptions extends ApplyRequest {
  readonly units: readonly Unit[];
}

export interface ApplyRequest {
  readonly plan: Plan;
  /**
   * What the plan was made from: the journal keeps what goes with a deleted object, and what was there is not taken for what this run or one
   * beside it has made. Absent: neither is so.
   */
  readonly live?: Live;
  readonly api: Api;
  /** Whether the plan is within one that somebody has reviewed. Default: false. */
  readonly isReviewed?: boolean;
  /** Absolute path of the project folder: uploads are files below it. */
  readonly root: string;
  /** How many steps may run at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  /** Opened by the caller, who closes it too; null for none. */
  readonly journal: Journal | null;
  /** The first signal: what is in flight is finished, within DRAIN_LIMIT_SECONDS; nothing new is started. */
  readonly signal?: AbortSignal;
  /** The second: requests in flight are aborted at once. */
  readonly abort?: AbortSignal;
  emit?(event: ApplyEvent): void;
  /** Hears, many times a second, how much of an upload has been handed to the network. */
  uploading?(step: string, sentBytes: number, totalBytes: number): void;
}

/**
 * Carries the plan out, as far as it can be. What goes wrong on the way is in the report.
 * @throws Error if the plan is malformed (a reference or edge that leads nowhere, a cycle) or a unit is missing: bugs
 */
export async function applyPlan(options: ApplyOptions): Promise<Report> {
  return new Execution(options).run();
}

type Message =
  | { readonly type: "ended"; readonly step: Step; readonly result: StepResult }
  | { readonly type: "crashed"; readonly step: Step; readonly error: unknown }
  /** The run was stopped before the step sent anything. */
  | { readonly type: "not-begun"; readonly step: Step }
  | { readonly type: "stop" };

/** Names of the fields that hold a signed URL for an upload, by the key of the product that they are in. */
function secretFields(steps: readonly Step[]): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, readonly string[]>();
  for (const step of steps) {
    if (step.type === "upload") fields.set(step.to.ref, [...(fields.get(step.to.ref) ?? []), step.to.field]);
  }
  return fields;
}

function withParts(parts: StepResult["parts"]): Pick<StepReport, "parts"> {
  return parts === undefined ? {} : { parts };
}

class Execution {
  readonly #options: ApplyOptions;
  readonly #steps: ReadonlyMap<string, Step>;
  readonly #schedule: Schedule;
  readonly #mailbox: Mailbox<Message> = new Mailbox();
  readonly #stop: Stop;
  readonly #context: Context;
  readonly #products: Map<string, ProducedFields> = new Map();
  readonly #producedAt: Map<string, number> = new Map();
  readonly #secretFields: ReadonlyMap<string, readonly string[]>;
  readonly #made: Made = new Made();
  readonly #reports: Map<string, StepReport> = new Map();
  readonly #lateCommits: LateCommits;
  readonly #notices: string[] = [];
  /** Live objects of the unit whose deleted objects take others with them, by id. */
  #liveById: Map<ObjectId, unknown> | null = null;
  readonly #youngest: Youngest;
  /** Requests that the client had sent before this run. */
  readonly #sentBefore: number;

  constructor(options: ApplyOptions) {
    const { plan, clock } = options;
    this.#options = options;
    this.#sentBefore = options.api.requestCount;
    this.#steps = new Map(plan.steps.map((step) => [step.id, step]));
    this.#schedule = new Schedule(plan.steps, plan.barriers, plan.gaps);
    this.#secretFields = secretFields(plan.steps);
    this.#stop = new Stop(clock, (reason) => {
      this.#emit({ type: "stopping", time: this.#now(), reason });
      this.#mailbox.post({ type: "stop" });
    });
    this.#youngest = youngestOf(options);
    this.#context = this.#createContext();
    this.#lateCommits = new LateCommits({
      steps: plan.steps,
      context: this.#context,
      concurrency: options.concurrency,
      report: (notice) => this.#notices.push(notice),
      goOnWith: ({ id: step }, id, parts) => {
        const report = this.#reports.get(step);
        if (report === undefined) return;
        const { parts: _own, ...rest } = report;
        this.#record({ ...rest, id, ...withParts(parts) });
      },
    });
    // Throws now, rather than in mid-run, if a unit is missing.
    for (const step of plan.steps) unitOf(step, this.#context);
  }

  async run(): Promise<Report> {
    const { signal, abort, plan } = this.#options;
    const release = this.#stop.watch(signal, abort);
    try {
      await this.#recordChanges();
      await this.#loop();
      await this.#lateCommits.resolveAtEnd();
    } finally {
      release();
    }
    const requestCount = this.#options.api.requestCount - this.#sentBefore;
    await this.#recordEnd(requestCount);
    const facts = {
      requestCount,
      interrupted: this.#stop.isInterrupted,
      notices: this.#notices,
      duplicates: this.#lateCommits.duplicates,
    };
    return buildReport(plan, this.#reports, facts);
  }

  async #loop(): Promise<void> {
    while (!this.#schedule.finished) {
      this.#startReady();
      this.#hear(await this.#mailbox.take());
    }
  }

  #startReady(): void {
    const limit = Math.max(1, this.#options.concurrency);
    while (this.#schedule.running < limit && !this.#stop.stopping.aborted) {
      const id = this.#schedule.start();
      if (id === null) return;
      const step = this.#steps.get(id) as Step;
      this.#perform(step).then(
        (message) => this.#mailbox.post(message),
        (error: unknown) => this.#mailbox.post({ type: "crashed", step, error }),
      );
    }
  }

  /**
   * Before a step that copies an object, `LateCommits` resolves duplicates in the original. If the run is stopped meanwhile, the step has
   * not begun.
   */
  async #perform(step: Step): Promise<Message> {
    const resolution = this.#lateCommits.resolveBefore(step);
    if (resolution !== null) {
      await resolution;
      if (this.#stop.stopping.aborted) return { type: "not-begun", step };
    }
    this.#emit({ type: "step-started", time: this.#now(), step: step.id, changes: step.changes });
    return { type: "ended", step, result: await perform(step, this.#context) };
  }

  #hear(message: Message): void {
    switch (message.type) {
      case "ended":
        this.#end(message.step, message.result);
        return;
      case "crashed":
        this.#endCrashed(message.step, message.error);
        return;
      case "not-begun":
        this.#skip(this.#schedule.skipStarted(message.step.id));
        return;
      case "stop":
        this.#skip(this.#schedule.stop([]));
        return;
    }
  }

  #end(step: Step, result: StepResult): void {
    this.#learn(step, result);
    const { outcome, id, recovered, failure } = result;
    const what = { step: step.id, changes: step.changes, outcome, id, ...withParts(result.parts) };
    this.#record({ ...what, recovered, failure, because: [] });
    const about = { time: this.#now(), step: step.id, changes: step.changes };
    if (outcome === "done") this.#emit({ type: "step-done", ...about, id, recovered });
    else this.#emit({ type: "step-failed", ...about, outcome, failure });
    // Steps that the stop skips are reported with the same reason as those that wait for this one: this step.
    if (result.halts !== null) {
      this.#stop.halt(result.halts);
      this.#skip(this.#schedule.stop([step.id]));
    }
    this.#skip(this.#schedule.end(step.id, outcome, failure?.type === "aborted"));
  }

  /** Remembers what later steps, and the checks at the end of the run, need to know of this step. */
  #learn(step: Step, result: StepResult): void {
    this.#notices.push(...result.notices);
    if (step.type !== "request") return;
    const { produces, lookup } = step;
    if (produces !== null && result.products !== null) {
      this.#producedAt.set(produces.ref, this.#options.clock.now());
      this.#products.set(produces.ref, new Map([...(this.#products.get(produces.ref) ?? []), ...result.products]));
      for (const field of this.#secretFields.get(produces.ref) ?? []) {
        const secret = result.products.get(field);
        if (typeof secret === "string") this.#options.journal?.conceal(secret);
      }
    }
    if (lookup !== null && result.id !== null) {
      const path = resolvePath(lookup.path, this.#products);
      if (path.ok) this.#made.add(lookup, path.value, result.id);
    }
    this.#lateCommits.learn(step, result, unitOf(step, this.#context));
  }

  /** Handles a bug of Tenon: nothing new starts, the running steps still end, and all of them are reported. */
  #endCrashed(step: Step, error: unknown): void {
    this.#stop.halt("internal-error");
    this.#skip(this.#schedule.stop([step.id]));
    const message = `an error of Tenon, please report it: ${error instanceof Error ? error.message : String(error)}`;
    this.#end(step, failureResult("unknown", localFailure("malformed", "unknown", message)));
  }

  #skip(skips: readonly Skip[]): void {
    for (const { id, because } of skips) {
      const changes = this.#steps.get(id)?.changes ?? [];
      this.#record({ step: id, changes, outcome: "skipped", id: null, recovered: false, failure: null, because });
      this.#emit({ type: "step-skipped", time: this.#now(), step: id, changes, because });
    }
  }

  #record(report: StepReport): void {
    this.#reports.set(report.step, report);
    // The journal keeps a problem: the next intent, or the end, reports it.
    void this.#write({ type: "outcome", time: this.#now(), ...report });
  }

  /** What was there before the run, and what it is to become, is on disk before the first request. */
  async #recordChanges(): Promise<void> {
    const { plan } = this.#options;
    const isCarriedOut = ({ action, blocked }: Change): boolean => action !== "no-op" && blocked === null;
    const concerned = new Set(plan.changes.filter(isCarriedOut).map(({ root }) => root));
    let [changes, contents] = [0, 0];
    for (const change of plan.changes) {
      const { key, kind, root, id, before, after, unit } = change;
      const isDone = isCarriedOut(change);
      const isRoot = this.#context.units.get(unit)?.kinds[0].kind === kind;
      if (!isDone && (!isRoot || before === null || !concerned.has(root))) continue;
      const action = isDone ? change.action : "no-op";
      void this.#write({ type: "change", key, kind, root, action, id, before, after: isDone ? after : before });
      changes += 1;
      if (action !== "delete") continue;
      for (const content of this.#contentsOf(change)) {
        void this.#write({ type: "content", of: key, ...content });
        contents += 1;
      }
    }
    const begin = { type: "begin", time: this.#now(), changes, contents, youngest: this.#youngest } as const;
    const problem = await this.#write(begin);
    if (problem !== null) this.#stop.halt("journal");
  }

  /** What goes with a deleted object, as the plan's read of the account has it. */
  #contentsOf({ unit: name, id }: Change): readonly { readonly kind: Kind; readonly before: Values }[] {
    const unit = this.#context.units.get(name);
    if (unit?.kinds.some(({ takesContents }) => takesContents) !== true) return [];
    this.#liveById ??= new Map(
      (this.#options.live?.units[name]?.items ?? []).map((item) => [unit.identify(item).id, item]),
    );
    const item = id === null ? undefined : this.#liveById.get(id);
    return item === undefined ? [] : unit.valuesOf(item).within.map(({ kind, values }) => ({ kind, before: values }));
  }

  async #recordEnd(requestCount: number): Promise<void> {
    const { isInterrupted: interrupted } = this.#stop;
    const end = { requestCount, interrupted, notices: this.#notices };
    const problem = await this.#write({ type: "end", time: this.#now(), ...end });
    if (problem !== null) this.#notices.push(`the journal is incomplete: ${problem}`);
  }

  #write(entry: JournalEntry): Promise<string | null> {
    return this.#options.journal?.record(entry) ?? Promise.resolve(null);
  }

  /** A look may itself come after another one. */
  #looksBefore({ after }: Step): RequestStep[] {
    const looks = after.flatMap((id) => {
      const step = this.#steps.get(id);
      return step?.type === "request" && isLook(step) ? [...this.#looksBefore(step), step] : [];
    });
    return [...new Set(looks)];
  }

  #createContext(): Context {
    const { plan, units, root, clock, api } = this.#options;
    return {
      api,
      clock,
      units: new Map(units.map((unit) => [unit.name, unit])),
      root,
      products: this.#products,
      producedAt: this.#producedAt,
      changes: new Map(plan.changes.map((change) => [change.key, change])),
      made: this.#made,
      isReviewed: this.#options.isReviewed === true,
      wasThere: (kind, id) => {
        const youngest = this.#youngest[kind];
        return youngest !== undefined && compareIds(id, youngest) <= 0;
      },
      looksBefore: (step) => this.#looksBefore(step),
      lookedAt: new Map(),
      aborting: this.#stop.aborting,
      stopping: this.#stop.stopping,
      intent: async (intent): Promise<Failure | null> => {
        const changes = this.#steps.get(intent.step)?.changes ?? [];
        const problem = await this.#write({ type: "intent", time: this.#now(), changes, ...intent });
        return problem === null ? null : localFailure("aborted", "none", `the journal cannot be written: ${problem}`);
      },
      uploading: (step, sent, total) => this.#options.uploading?.(step, sent, total),
      note: (step, note, detail, waitSeconds) => {
        this.#emit({ type: "step-note", time: this.#now(), step, note, detail, waitSeconds: waitSeconds ?? null });
      },
    };
  }

  #emit(event: ApplyEvent): void {
    this.#options.emit?.(event);
  }

  #now(): string {
    return timestamp(this.#options.clock);
  }
}

function youngestOf({ units, live }: ApplyOptions): Youngest {
  return Object.fromEntries(
    units.flatMap((unit) => {
      const ids = (live?.units[unit.name]?.items ?? []).map((item) => unit.identify(item).id);
      const youngest = ids.sort(compareIds).at(-1);
      return youngest === undefined ? [] : [[unit.kinds[0].kind, youngest]];
    }),
  );
}

// Mailbox: concurrent work sends its messages to one loop, which takes them one after the other.

class Mailbox<Message> {
  readonly #messages: Message[] = [];
  #wake: (() => void) | null = null;

  post(message: Message): void {
    this.#messages.push(message);
    this.#wake?.();
    this.#wake = null;
  }

  /** Waits for the next message. For one reader only. */
  async take(): Promise<Message> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
