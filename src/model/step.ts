/** Steps: what apply will do, as data that can be saved, counted, reviewed, journalled and recognised. */

import type { Address } from "./address.ts";
import type { Method } from "./exchange.ts";
import type { Json, JsonObject, Kind, ObjectId, UnitName } from "./resource.ts";

/** A field of the answer of the step that produces `ref`. */
export interface Reference {
  readonly ref: string;
  readonly field: string;
}

/** A path segment, or the place of one that is known only when an earlier step is done. */
export type PathPart = string | Reference;

interface StepBase {
  /** Unique and stable: the same plan has the same ids. */
  readonly id: string;
  readonly unit: UnitName;
  readonly root: Address;
  /** Keys of the changes that this step carries out, wholly or in part. */
  readonly changes: readonly string[];
  /** Ids of steps and barriers that must be done first. Sorted. */
  readonly after: readonly string[];
  /** Ids of steps that must have ended first, however they ended. Sorted; absent if there are none. */
  readonly afterEnd?: readonly string[];
}

export interface RequestStep extends StepBase {
  readonly type: "request";
  readonly method: Method;
  readonly path: readonly PathPart[];
  readonly body: JsonObject | null;
  /** The key of an earlier product whose fields the unit works into the body, because they are not known before. */
  readonly amends?: string;
  /** What later steps can refer to; the fields they may read are looked up in the answer by dotted path. */
  readonly produces: Produced | null;
  /** For POST: how to find out whether it happened. */
  readonly lookup: Lookup | null;
  /** For the GET before a delete: what the answer must still show, judged by the unit's `permits`. */
  readonly expect: JsonObject | null;
}

export interface Produced {
  /** The key under which references find it: the change's key. */
  readonly ref: string;
  /** Field name → dotted path in the answer, for example `{id: "image.id", upload_to: "upload_to"}`. */
  readonly fields: Readonly<Record<string, string>>;
}

/** How to find an object that a POST of unknown outcome may have made. */
export interface Lookup {
  readonly kind: Kind;
  readonly path: readonly PathPart[];
  readonly filter: JsonObject | null;
  /** The normalised values it would have, compared by the unit's `recognise`. */
  readonly match: Json;
  /** Ids that were there before and cannot be it. */
  readonly known: readonly ObjectId[];
  /** Others may keep an equal object beside it: it is never removed for being a duplicate. Absent: they may not. */
  readonly additive?: true;
}

/** Other runs take an upload for alive until it must have been given up. */
export const DEFAULT_UPLOAD_TIMEOUT_SECONDS = 3_600;

export interface UploadStep extends StepBase {
  readonly type: "upload";
  /** Where to: the signed URL, known only when the step before it is done, never saved. */
  readonly to: Reference;
  /** Path of the file relative to the project folder. */
  readonly file: string;
  /** It is given up so long after the answer that gave `to`. */
  readonly limitSeconds: number;
}

export interface WaitStep extends StepBase {
  readonly type: "wait";
  readonly path: readonly PathPart[];
  readonly field: string;
  /** Done as soon as the field is one of these. */
  readonly until: readonly string[];
  readonly limitSeconds: number;
}

export type Step = RequestStep | UploadStep | WaitStep;

/** A point in the order that is reached when all before it are done: keeps the number of edges linear. */
export interface Barrier {
  readonly id: string;
  readonly after: readonly string[];
}

export function isReference(part: PathPart): part is Reference {
  return typeof part !== "string";
}

/** Whether two runs can both make one: names of domains are unique, and subnets of one VPC do not overlap. */
export function canBeDuplicated(kind: Kind): boolean {
  switch (kind) {
    case "vpc":
    case "image":
    case "domain_record":
      return true;
    case "vpc_subnet":
    case "domain":
      return false;
  }
}

/** How many lists an apply reads at its end, to see whether another run has made the same: one for each list that it adds to. */
export function countLastLooks(steps: readonly Step[]): number {
  const lists = steps.flatMap((step) => {
    if (step.type !== "request" || step.method !== "POST" || step.lookup === null) return [];
    return canBeDuplicated(step.lookup.kind) ? [JSON.stringify(step.lookup.path)] : [];
  });
  return new Set(lists).size;
}
