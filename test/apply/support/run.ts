/** Runs apply in tests: the real client on a real connection, and a clock whose waits are over at once. */

import { createApi } from "../../../src/api/index.ts";
import type { ApplyEvent } from "../../../src/apply/events.ts";
import { type ApplyOptions, applyPlan } from "../../../src/apply/execute.ts";
import type { Api } from "../../../src/model/api.ts";
import type { Clock } from "../../../src/model/clock.ts";
import type { Lookup, Plan, RequestStep } from "../../../src/model/plan.ts";
import type { Report, StepOutcome } from "../../../src/model/report.ts";
import type { JsonObject } from "../../../src/model/resource.ts";
import type { Likeness, Recognition, Unit } from "../../../src/model/unit.ts";
import { recogniseOne } from "../../../src/units/common.ts";
import { units } from "../../../src/units/index.ts";
import type { Service } from "./service.ts";

export const TOKEN = "t0ken-that-must-not-leak";

/** Time passes only by sleeping. */
export class QuickClock implements Clock {
  readonly sleeps: number[] = [];
  #now = Date.UTC(2026, 10, 1);

  now(): number {
    return this.#now;
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(milliseconds);
    await new Promise((resolve) => setImmediate(resolve));
    if (signal?.aborted !== true) this.#now += milliseconds;
  }
}

/** Once interrupted, what is in flight has all the time it wants. */
export class DrainClock extends QuickClock {
  readonly #interrupt: AbortSignal;

  constructor(interrupt: AbortSignal) {
    super();
    this.#interrupt = interrupt;
  }

  override sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#interrupt.aborted ? new Promise(() => undefined) : super.sleep(milliseconds, signal);
  }
}

/** Of all kinds. Judges by `expect`, recognises by the fields of `match`: what the real units do, without their objects. */
function unit(name: Unit["name"]): Unit {
  const precondition = (step: RequestStep, answer: JsonObject): string | null =>
    answer["label"] === step.expect?.["label"] ? null : "it is no longer what was planned; plan again";
  const recognise = (lookup: Lookup, items: readonly JsonObject[]): Recognition => {
    const fields = Object.keys(lookup.match as JsonObject);
    const found = recogniseOne(lookup, items, (item) =>
      Object.fromEntries(fields.map((key) => [key, item[key] ?? null])),
    );
    const unfinished = found.type === "found" && found.item["status"] === "pending_upload";
    return unfinished ? { type: "useless", id: found.id } : found;
  };
  const duplicateKey = ({ match }: Lookup, item: JsonObject = match as JsonObject): string =>
    JSON.stringify(Object.keys(match as JsonObject).map((key) => item[key] ?? null));
  const likeness = (): Likeness => "equal";
  // Its own ones first: how the ids of a unit look is said of its root.
  const kinds = units
    .toSorted((one, other) => Number(other.name === name) - Number(one.name === name))
    .flatMap((one) => one.kinds);
  return { name, kinds, precondition, recognise, duplicateKey, likeness } as unknown as Unit;
}

const UNITS: readonly Unit[] = [unit("zone"), unit("network"), unit("image")];

export interface Ran {
  readonly report: Report;
  readonly events: readonly ApplyEvent[];
}

export async function applyTo(service: Service, plan: Plan, options: Partial<ApplyOptions> = {}): Promise<Ran> {
  const api = await createApi({ baseUrl: service.baseUrl, token: TOKEN, retryForSeconds: 0, concurrency: 64 });
  try {
    return await applyWith(api, plan, options);
  } finally {
    await api.close();
  }
}

export async function applyWith(api: Api, plan: Plan, options: Partial<ApplyOptions> = {}): Promise<Ran> {
  const events: ApplyEvent[] = [];
  const report = await applyPlan({
    plan,
    units: UNITS,
    api,
    root: import.meta.dirname,
    concurrency: 8,
    clock: new QuickClock(),
    journal: null,
    emit: (event) => events.push(event),
    ...options,
  });
  return { report, events };
}

export function outcomes(report: Report): Record<string, StepOutcome> {
  return Object.fromEntries(report.steps.map((step) => [step.step, step.outcome]));
}
