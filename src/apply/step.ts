/** What carrying out a step may use (one context for the whole run), and the result that execute.ts gets. */

import { type Answer, type Api, type Failure, type FailureType, isUnclear } from "../model/api.ts";
import type { Change } from "../model/change.ts";
import type { Clock } from "../model/clock.ts";
import type { Intent } from "../model/journal.ts";
import {
  isLook,
  isReference,
  type Lookup,
  type PathPart,
  type Produced,
  type Reference,
  type RequestStep,
  type Step,
} from "../model/plan.ts";
import type { StepReport } from "../model/report.ts";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type Kind,
  type ObjectId,
  type UnitName,
} from "../model/resource.ts";
import type { Unit } from "../model/unit.ts";
import type { NoteType } from "./events.ts";
import type { EndedOutcome } from "./schedule.ts";

export interface Context {
  readonly api: Api;
  readonly clock: Clock;
  readonly units: ReadonlyMap<UnitName, Unit>;
  /** Absolute path of the project folder. */
  readonly root: string;
  readonly products: Products;
  /** By the key of a product: when the answer that it was read from arrived, in milliseconds since the epoch. */
  readonly producedAt: ReadonlyMap<string, number>;
  /** The plan's changes by key. */
  readonly changes: ReadonlyMap<string, Change>;
  readonly made: Made;
  /** Somebody has reviewed what the run may do. */
  readonly isReviewed: boolean;
  /** Whether the plan has read the object, under whatever name: then no request of this run, or of one beside it, has made it. Roots only. */
  wasThere(kind: Kind, id: ObjectId): boolean;
  /** The steps that look at what this one deletes, in their order. */
  looksBefore(step: Step): readonly RequestStep[];
  /** When each look was answered last, by the id of its step and the clock. */
  readonly lookedAt: Map<string, number>;
  /** Aborted when requests that are under way must end. */
  readonly aborting: AbortSignal;
  /** Aborted when nothing new may start; always before or together with `aborting`. */
  readonly stopping: AbortSignal;
  /** Await it before sending the request. If it returns a failure, do not send. */
  intent(intent: Intent): Promise<Failure | null>;
  /** Tells how much of an upload has been handed to the network. */
  uploading(step: string, sentBytes: number, totalBytes: number): void;
  note(step: string, note: NoteType, detail: string, waitSeconds?: number): void;
}

export interface StepResult {
  readonly outcome: EndedOutcome;
  readonly id: ObjectId | null;
  /** As in the report. */
  readonly parts: StepReport["parts"];
  readonly products: ProducedFields | null;
  readonly recovered: boolean;
  /** A POST was sent again after an unknown outcome: the first may still be carried out. */
  readonly repeated: boolean;
  readonly failure: Failure | null;
  readonly halts: "unauthorised" | "journal" | null;
  readonly notices: readonly string[];
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
  notices: [],
};

/**
 * The ids of objects that were made along with the step's object: the subnets of a VPC.
 * @param object taken from the POST's answer, or from the list in which it (or the equal object used instead) was found
 */
export function partsIn(step: RequestStep, object: JsonObject, unit: Unit): StepResult["parts"] {
  const parts = unit.partsIn?.(step, object) ?? {};
  return Object.keys(parts).length === 0 ? undefined : parts;
}

/**
 * The result of a step that failed, or of which nobody knows whether it was done. A 401 from the service means that no later request can
 * succeed either.
 */
export function failureResult(outcome: "failed" | "unknown", failure: Failure): StepResult {
  return { ...DONE, outcome, failure, halts: failure.status === 401 ? "unauthorised" : null };
}

/** Writes an intent to the journal. Returns null if the request may now be sent, else the result of the step. */
export async function writeIntent(intent: Intent, context: Context): Promise<StepResult | null> {
  const journalFailure = await context.intent(intent);
  return journalFailure === null ? null : { ...failureResult("failed", journalFailure), halts: "journal" };
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

// Answer: what one answer to a step's request means for the step.

/** What became of a step's request. A POST of unknown outcome stays `unknown` here: recover.ts looks for what it made. */
export function resultOf(step: RequestStep, answer: Answer, unit: Unit): StepResult {
  if (!answer.ok) return failedResult(step, answer.failure);
  if (isLook(step)) return checkExpected(step, answer.body, unit);
  if (step.method === "POST" && !isJsonObject(answer.body)) return failureResult("unknown", malformed("not an object"));
  const products = step.produces === null ? null : readProducts(step.produces, answer.body, unit);
  if (step.produces !== null && products === null) {
    // The service said yes, so a POST may well have made something.
    return failureResult(
      step.method === "GET" ? "failed" : "unknown",
      malformed("without the fields that later steps need"),
    );
  }
  if (step.method !== "POST") return { ...DONE, products };
  const id = readId(step.produces, answer.body, unit);
  if (id === null && step.lookup !== null) return failureResult("unknown", malformed("without an id"));
  return { ...DONE, id, parts: partsIn(step, answer.body as JsonObject, unit), products };
}

function failedResult(step: RequestStep, failure: Failure): StepResult {
  if (failure.status === 404 && failure.type === "refused" && isDoneIfGone(step)) return DONE;
  return failureResult(isUnclear(step.method, failure) ? "unknown" : "failed", failure);
}

/** An object that is already gone needs neither the delete nor the check before it. */
function isDoneIfGone(step: RequestStep): boolean {
  return step.method === "DELETE" || isLook(step);
}

function checkExpected(step: RequestStep, body: Json, unit: Unit): StepResult {
  if (!isJsonObject(body))
    return failureResult("failed", localFailure("malformed", "none", "the answer is not an object"));
  const objection = unit.precondition(step, body);
  return objection === null ? DONE : failureResult("failed", localFailure("refused", "none", objection));
}

function malformed(how: string): Failure {
  return localFailure("malformed", "unknown", `the service accepted the request, but its answer is ${how}`);
}

// Failures that apply itself finds, in the shape of those that the client returns.

/** @param message one sentence without a full stop, safe to show */
export function localFailure(type: FailureType, effect: Failure["effect"], message: string): Failure {
  return { type, effect, status: null, errors: [], message, maintenance: false, attempts: 0 };
}

export function unresolved(missing: Reference): Failure {
  return localFailure("malformed", "none", `no earlier answer gave the ${missing.field} of ${missing.ref}`);
}

// Resolve: turns references to earlier answers into path segments and values. Percent-encoding is the client's matter.

/** Fields of earlier answers, by the `ref` of the references to them. */
type Products = ReadonlyMap<string, ProducedFields>;

export type ProducedFields = ReadonlyMap<string, Json>;

type Resolved<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly missing: Reference };

/** The value at a dotted path (`image.id`, `subnets.0.id`); undefined if there is none. */
export function readField(body: Json, path: string): Json | undefined {
  let value: Json | undefined = body;
  for (const name of path.split(".")) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, name)) return undefined;
    value = (value as { readonly [key: string]: Json })[name];
  }
  return value;
}

/** Segments with every reference replaced by what the earlier answer said. */
export function resolvePath(path: readonly PathPart[], products: Products): Resolved<readonly string[]> {
  const segments: string[] = [];
  for (const part of path) {
    if (!isReference(part)) {
      segments.push(part);
      continue;
    }
    const value = products.get(part.ref)?.get(part.field);
    if (!isSegment(value)) return { ok: false, missing: part };
    segments.push(String(value));
  }
  return { ok: true, value: segments };
}

/** A text that an earlier answer gave. */
export function resolveText(reference: Reference, products: Products): Resolved<string> {
  const value = products.get(reference.ref)?.get(reference.field);
  return typeof value === "string" && value !== "" ? { ok: true, value } : { ok: false, missing: reference };
}

/** `.` and `..` would change the path, even percent-encoded; beyond 2^53 a number is read as that of another object. */
function isSegment(value: Json | undefined): value is ObjectId {
  return (typeof value === "string" || Number.isSafeInteger(value)) && !["", ".", ".."].includes(String(value));
}

function isIdOf({ kinds: [{ hasTextIds }] }: Unit, value: Json | undefined): value is ObjectId {
  return hasTextIds === true ? typeof value === "string" : Number.isSafeInteger(value);
}

/** The produced fields of an answer; null if one is missing, or the `id` is none of the unit. */
export function readProducts(produced: Produced, body: Json, unit: Unit): ProducedFields | null {
  const fields = new Map<string, Json>();
  for (const [name, path] of Object.entries(produced.fields)) {
    const value = readField(body, path);
    if (value === undefined || value === null) return null;
    if (name === "id" && !isIdOf(unit, value)) return null;
    fields.set(name, value);
  }
  return fields;
}

/** The produced fields of a list's item; missing ones are left out. A produced `id` is never missing. */
export function readAdopted(produced: Produced, item: Json, id: ObjectId): ProducedFields {
  const fields = new Map<string, Json>();
  for (const [name, path] of Object.entries(produced.fields)) {
    const value = readField(item, path) ?? (name === "id" ? id : undefined);
    if (value !== undefined && value !== null) fields.set(name, value);
  }
  return fields;
}

/** The id in an answer: where `produced` says, else at its top. */
export function readId(produced: Produced | null, body: Json, unit: Unit): ObjectId | null {
  const path = produced === null ? "id" : (produced.fields["id"] ?? "id");
  const id = isJsonObject(body) ? readField(body, path) : undefined;
  return isIdOf(unit, id) ? id : null;
}
