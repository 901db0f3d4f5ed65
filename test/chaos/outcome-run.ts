/** One apply during which one request meets one outcome, and what was seen of it from outside. */

import type { LoggedRequest } from "../../src/emulator/index.ts";
import type { ApplyEvent, Plan, Report, Step } from "../../src/index.ts";
import type { Api } from "../../src/model/api.ts";
import { classOf, faultOf, methodOf, type Outcome, type RequestClass } from "./outcome-table.ts";
import { type Loaded, Trial } from "./outcome-trial.ts";

/** A step that sends a mutating request. */
export interface Target {
  readonly step: Exclude<Step, { type: "wait" }>;
  readonly class: RequestClass;
}

/** What becomes of a world when nothing goes wrong. */
export interface Reference {
  readonly loaded: Loaded;
  readonly plan: Plan;
  /** Ids of the steps as they were begun. */
  readonly order: readonly string[];
  /** In that order. */
  readonly targets: readonly Target[];
  /** The mutating requests, as the service logged them. */
  readonly requests: readonly LoggedRequest[];
  readonly state: readonly string[];
}

export async function runUndisturbed(loaded: Loaded): Promise<Reference> {
  const trial = await Trial.open(loaded);
  try {
    const plan = await trial.plan();
    const order: string[] = [];
    const emit = (event: ApplyEvent): void => {
      if (event.type === "step-started") order.push(event.step);
    };
    await trial.apply(plan, { emit });
    const requests = trial.mutations();
    const steps = new Map(plan.steps.map((step) => [step.id, step]));
    const targets = order.flatMap((id) => targetOf(steps.get(id)) ?? []);
    return { loaded, plan, order, targets, requests, state: await trial.state() };
  } finally {
    await trial.close();
  }
}

function targetOf(step: Step | undefined): Target | null {
  if (step === undefined || step.type === "wait") return null;
  const found = classOf(step);
  return found === null ? null : { step, class: found };
}

/** What was seen while the step of the outcome ran. */
export interface Seen {
  readonly plan: Plan;
  readonly report: Report;
  readonly reached: number;
  /** Lists that were read. */
  readonly looks: number;
  /** How often what is deleted was looked at again. */
  readonly confirmations: number;
  /** Of the jumping clock. */
  readonly seconds: number;
  /** The mutating requests of the whole run. */
  readonly mutations: readonly LoggedRequest[];
}

export async function runDisturbed(trial: Trial, target: Target, outcome: Outcome): Promise<Seen> {
  const plan = await trial.plan();
  const begun = trial.emulator.requests.length;
  const isGone = outcome.gone === true && target.class === "delete";
  const watch = new Watch(trial, target, outcome, isGone);
  const api = isGone ? overtaken(trial, watch) : trial.api;
  const report = await trial.apply(plan, { emit: (event) => watch.hear(event), api });
  await trial.clock.finishLate();
  return {
    plan,
    report,
    reached: watch.reached,
    looks: watch.looks,
    confirmations: watch.confirmations,
    seconds: watch.seconds,
    mutations: trial.mutations(begun),
  };
}

/** Arms the fault when the step begins, and disarms it when it has ended. */
class Watch {
  readonly #trial: Trial;
  readonly #target: Target;
  readonly #outcome: Outcome;
  readonly #isGone: boolean;
  #firstRequest = 0;
  #startedAt = 0;
  running = false;
  reached = 0;
  looks = 0;
  confirmations = 0;
  seconds = 0;

  constructor(trial: Trial, target: Target, outcome: Outcome, isGone: boolean) {
    this.#trial = trial;
    this.#target = target;
    this.#outcome = outcome;
    this.#isGone = isGone;
  }

  hear(event: ApplyEvent): void {
    if (!("step" in event) || event.step !== this.#target.step.id) return;
    if (event.type === "step-started") this.#begin();
    if (event.type === "step-done" || event.type === "step-failed") this.#end();
  }

  #begin(): void {
    this.running = true;
    this.#firstRequest = this.#trial.emulator.requests.length;
    this.#startedAt = this.#trial.clock.now();
    if (!this.#isGone) this.#trial.emulator.setFaults([faultOf(this.#outcome, methodOf(this.#target.step))]);
  }

  #end(): void {
    this.running = false;
    this.#trial.emulator.setFaults([]);
    this.seconds = (this.#trial.clock.now() - this.#startedAt) / 1000;
    const sent = this.#trial.emulator.requests.slice(this.#firstRequest);
    const own = sent.filter(({ method }) => method === methodOf(this.#target.step));
    const reads = sent.filter(({ method }) => method === "GET");
    const paths = own.flatMap(({ method, path }) => (method === "DELETE" ? [path, `${path}/records`] : []));
    this.confirmations = reads.filter(({ path }) => paths.includes(path)).length;
    this.looks = reads.length - this.confirmations;
    // The other client's was one of them.
    this.reached = own.length - (this.#isGone ? 1 : 0);
    if (this.#outcome.late === "after the step") this.#trial.clock.releaseLate();
  }
}

/** Another client sends each DELETE of the step a moment before. */
function overtaken(trial: Trial, watch: Watch): Api {
  const { api, other } = trial;
  return {
    get requestCount() {
      return api.requestCount;
    },
    send: async (request, signal) => {
      if (watch.running && request.method === "DELETE") await other.send(request);
      return api.send(request, signal);
    },
    get: (request, signal) => api.get(request, signal),
    list: (request, signal) => api.list(request, signal),
    upload: (request, signal) => api.upload(request, signal),
  };
}
