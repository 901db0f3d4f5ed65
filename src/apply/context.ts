/** Context: what carrying out one step may use, and how its result is told to the loop. */

import type { Change } from "../model/change.ts";
import type { Api, Method } from "../model/exchange.ts";
import type { Failure } from "../model/failure.ts";
import type { StepReport } from "../model/report.ts";
import type { Json, JsonObject, ObjectId, UnitName } from "../model/resource.ts";
import type { Lookup, RequestStep } from "../model/step.ts";
import type { Unit } from "../model/unit.ts";
import type { Clock } from "./clock.ts";
import type { NoteType } from "./events.ts";
import type { ProducedFields, Products } from "./resolve.ts";
import type { Settled } from "./schedule.ts";

export interface Context {
  readonly api: Api;
  readonly clock: Clock;
  readonly units: ReadonlyMap<UnitName, Unit>;
  /** Absolute path of the project folder. */
  readonly root: string;
  readonly products: Products;
  /** When the answer came that each product was read from, by its key: milliseconds since the epoch. */
  readonly producedAt: ReadonlyMap<string, number>;
  /** Of the plan, by key. */
  readonly changes: ReadonlyMap<string, Change>;
  readonly made: Made;
  /** Aborted when requests that are under way must end. */
  readonly inFlight: AbortSignal;
  /** Aborted when nothing new may start; always before or together with `inFlight`. */
  readonly stopping: AbortSignal;
  /** Must be awaited before the request is sent; a failure means that it must not be. */
  intent(intent: Intent): Promise<Failure | null>;
  note(step: string, note: NoteType, detail: string, waitSeconds?: number): void;
}

/** What is about to be done, for the journal. `to` of an upload is not part of it: it is a secret. */
export interface Intent {
  readonly step: string;
  readonly reason: "step" | "repeat" | "useless" | "duplicate";
  readonly method: Method | "upload" | "wait";
  readonly path: readonly string[];
  readonly body: JsonObject | null;
}

export interface StepResult {
  readonly outcome: Settled;
  readonly id: ObjectId | null;
  /** As in the report. */
  readonly parts: StepReport["parts"];
  readonly products: ProducedFields | null;
  readonly recovered: boolean;
  /** A POST was sent again after an unknown outcome: the first may still come true. */
  readonly repeated: boolean;
  readonly failure: Failure | null;
  readonly halts: "unauthorised" | "journal" | null;
  readonly surprises: readonly string[];
}

export const DONE: StepResult = {
  outcome: "done",
  id: null,
  parts: undefined,
  products: null,
  recovered: false,
  repeated: false,
  failure: null,
  halts: null,
  surprises: [],
};

/** What came with the object that a POST made, or with an equal one that is used in its place. */
export function partsIn(step: RequestStep, object: JsonObject, unit: Unit): StepResult["parts"] {
  const parts = unit.partsIn?.(step, object) ?? {};
  return Object.keys(parts).length === 0 ? undefined : parts;
}

/** The step did not get done. A 401 from the service means that no later request can succeed either. */
export function notDone(outcome: "failed" | "unknown", failure: Failure): StepResult {
  return { ...DONE, outcome, failure, halts: failure.status === 401 ? "unauthorised" : null };
}

/** Writes an intent down; null if the request may now be sent, else the result of the step. */
export async function announce(intent: Intent, context: Context): Promise<StepResult | null> {
  const unwritten = await context.intent(intent);
  return unwritten === null ? null : { ...notDone("failed", unwritten), halts: "journal" };
}

const NO_IDS: ReadonlySet<ObjectId> = new Set();

/** Ids that steps of this run made, by list: none of them can be what another step's lost POST made. */
export class Made {
  readonly #ids = new Map<string, Set<ObjectId>>();

  add(lookup: Lookup, path: readonly string[], id: ObjectId): void {
    const key = listKey(lookup, path);
    const ids = this.#ids.get(key);
    if (ids === undefined) this.#ids.set(key, new Set([id]));
    else ids.add(id);
  }

  in(lookup: Lookup, path: readonly string[]): ReadonlySet<ObjectId> {
    return this.#ids.get(listKey(lookup, path)) ?? NO_IDS;
  }
}

function listKey(lookup: Lookup, path: readonly string[]): string {
  const key: Json = [lookup.kind, ...path];
  return JSON.stringify(key);
}
