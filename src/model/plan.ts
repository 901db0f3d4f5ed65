/** The plan: every change, the steps that carry them out, and what speaks against it. */

import type { FileContent, Method } from "./api.ts";
import type { Action, Change, ChangedSince, ChangeOrigin } from "./change.ts";
import type { ConsentRule } from "./desired.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { Kinds } from "./kind.ts";
import type { Address, Json, JsonObject, Kind, ObjectId, UnitName } from "./resource.ts";

/** `undo`: take back what a run of apply has done, as its journal says. */
export type Goal = "apply" | "destroy" | "undo";

export interface Plan {
  readonly goal: Goal;
  readonly owner: string | null;
  /** The project and these inputs make the same plan again. */
  readonly inputs: PlanInputs;
  /** Sorted by address; what is already as declared is there as `no-op`. */
  readonly changes: readonly Change[];
  /** In an order that respects every edge; without what is blocked. */
  readonly steps: readonly Step[];
  readonly barriers: readonly Barrier[];
  readonly guards: readonly Guard[];
  /** Ownership, identity: apply and plan end with exit code 4. A target or exclude that matches nothing: with 1. */
  readonly refusals: readonly Diagnostic[];
  readonly gaps: readonly Gap[];
  readonly strategies: readonly Strategy[];
  readonly warnings: readonly Diagnostic[];
  /** The address space of the live VPCs that get a subnet or another range for one. Sorted by address. */
  readonly freeSpace: readonly FreeSpace[];
  /** Live resources that are neither declared nor removed. */
  readonly leftAlone: readonly LeftAlone[];
  /** Sorted by name. Empty in a run that is narrowed to something else. */
  readonly families: readonly Family[];
  /** Requests that the steps send, uploads and the first look of each wait included; looks that answers make necessary are not. */
  readonly requestCount: number;
  /** The service's limit as reading the account met it; null if no answer named one. */
  readonly pace: Pace | null;
  /** What the changes were compared with to tell whose they are; null: nothing. */
  readonly base: PlanBase | null;
  /** What `--never-destroy` leaves out. Sorted by key. It stays as it is, and is a no-op among the changes if it is there. */
  readonly withheld: readonly WithheldChange[];
}

/** What a plan was asked for, beside the project itself. */
export interface PlanInputs {
  /** --env; null: none. */
  readonly environment: string | null;
  /** What --var and --var-file set, by name; what the project itself says is not repeated. */
  readonly variables: Readonly<Record<string, GivenValue>>;
  /** Address globs. */
  readonly targets: readonly string[];
  readonly excludes: readonly string[];
  /** --skip-unsupported: what the service cannot keep of zone files was left out. */
  readonly skipUnsupported: boolean;
  /** Owners of --take-ownership-from. */
  readonly takeOwnershipFrom: readonly string[];
  /** false: --no-clone. */
  readonly clone: boolean;
  /** --changed-since; null: the whole project. */
  readonly changedSince: ChangedSince | null;
  /** The journal whose run is undone; absent: the goal is another one. */
  readonly journal?: JournalInput;
  /** The account of a fleet that the plan was saved for; absent: none. */
  readonly fleet?: FleetInput;
  /** --never-destroy: whatever would delete or replace an object is left out. */
  readonly neverDestroy: boolean;
}

/** An account of a fleet, as the fleet file has it. */
export interface FleetInput {
  readonly name: string;
  /** The base URL of its service. */
  readonly service: string;
  /** null: the file does not say which account the token is of. */
  readonly account: string | null;
}

export interface JournalInput {
  /** As it was given: absolute, or relative to the working directory. */
  readonly file: string;
  /** When the run that is undone began: ISO 8601. A journal may hold several. */
  readonly started: string;
}

/** The value of a variable. */
export interface GivenValue {
  readonly value: Json;
  /** A number or boolean as it was written, for fields that are text. */
  readonly source: string | null;
}

/** Whether a plan is about a part of the project only: the rest was not looked at, and is not pruned. */
export function isNarrowed({ targets, excludes, changedSince }: Narrowing): boolean {
  return targets.length > 0 || excludes.length > 0 || changedSince !== null;
}

/** What narrows a run. */
export type Narrowing = Pick<PlanInputs, "targets" | "excludes" | "changedSince">;

/** At most so many requests in so many seconds. */
export interface Pace {
  readonly requests: number;
  readonly seconds: number;
}

/** The manifests as they are without the proposed change. Each change of the plan then has its `origin`. */
export interface PlanBase {
  /** As it was given: a git ref or a folder. */
  readonly name: string;
  /** Changes that the base would make and this plan does not: the proposed change takes them back. Sorted by key. */
  readonly withdrawn: readonly WithdrawnChange[];
}

export interface WithdrawnChange {
  readonly key: string;
  readonly action: Action;
}

/** A change that would delete or replace an object, or that is part of such a one. */
export interface WithheldChange {
  readonly key: string;
  readonly action: Action;
}

/** A cheaper way than one request for each change: several objects are made as copies of one. */
export interface Strategy {
  readonly type: "clone";
  readonly source: Address;
  /** Sorted. */
  readonly copies: readonly Address[];
  /** Requests for the source and its copies, and what they would be if each were made by itself. */
  readonly requests: number;
  readonly requestsWithout: number;
}

/** Something that needs consent, or can have none (`protect`, `max-changes`). */
export interface Guard {
  readonly rule: ConsentRule | "protect" | "max-changes";
  readonly address: Address;
  readonly consent: "given" | "missing" | "impossible";
  /** `bulk`: records or subnets that go; `max-changes`: changes in the plan. */
  readonly count: number | null;
  /** `bulk`: records or subnets that are there; `max-changes`: the limit. */
  readonly of: number | null;
  /** `already-pending`: all changes are that have a part in it. null if the plan was not compared with a base. */
  readonly origin: ChangeOrigin | null;
  /** `delete`, where consent is missing: the other environments of the project that declare the object, under the same owner. Absent: none. */
  readonly declaredUnder?: readonly string[];
  /** `delete`, where consent is missing: so many other environments were too many to look at, and may declare it as well. Absent: none. */
  readonly uncheckedEnvironments?: number;
}

/** A moment at which a name does not resolve, forced by the change itself. */
export interface Gap {
  /** What is without an answer: `name type` or a name. */
  readonly what: string;
  /** The step that ought to come first, and the one that comes before it all the same. */
  readonly wanted: string;
  readonly before: string;
  readonly root: Address;
}

export interface LeftAlone {
  readonly kind: Kind;
  readonly count: number;
  /**
   * `undeclared`: nothing names it; `ignored`: an ignore pattern does; `unmanaged`: its parent's children are not managed;
   * `shared`: another project manages them, or its owner's does. `untracked` and `content-unknown`: what it holds is not compared, as its
   * entry does not ask for it, or as it was made before its entry did.
   */
  readonly reason: "undeclared" | "ignored" | "unmanaged" | "shared" | "untracked" | "content-unknown";
}

/**
 * What is free around new subnets of a VPC once the plan is carried out, where a blocked change leaves what is there. One for each block of
 * RFC 1918 in which the VPC gets a range. All ranges are in CIDR form.
 */
export interface FreeSpace {
  /** Address of the VPC. */
  readonly root: Address;
  /** The smallest range that contains all subnets that the VPC has in the block. */
  readonly within: string;
  /** Addresses in it, and how many of them no subnet has. */
  readonly addresses: number;
  readonly free: number;
  /** The largest range in it that no subnet has; null if there is none. */
  readonly largest: string | null;
  /** For each size of the new ranges, the next ranges of this size in the block that no subnet has. */
  readonly next: readonly { readonly prefix: number; readonly ranges: readonly string[] }[];
}

/** Objects of one name's prefix, of which the newest stay and the others are retired. */
export interface Family {
  readonly kind: Kind;
  readonly name: string;
  /** How many stay. */
  readonly keep: number;
  /** Newest first: what is to be made, then by age. */
  readonly members: readonly FamilyMember[];
}

export interface FamilyMember {
  readonly label: string;
  /** null: it is to be made. */
  readonly id: ObjectId | null;
  /** `declared`: an entry means it, so it stays; `underway`: it is not there yet, so it is not counted. */
  readonly fate: "new" | "declared" | "kept" | "retired" | "underway";
  /** Whole days by the service's clock; null: not known. */
  readonly ageDays: number | null;
  /** null: not known yet. */
  readonly sizeMegabytes: number | null;
}

/** Counts of resources, as the last line of a plan says them. */
export interface Summary {
  readonly add: number;
  readonly change: number;
  readonly destroy: number;
  readonly blocked: number;
}

/** A replace is one to add and one to destroy; blocked changes count as blocked only. */
export function summarise(changes: readonly Change[]): Summary {
  const summary = { add: 0, change: 0, destroy: 0, blocked: 0 };
  for (const change of changes) {
    if (change.action === "no-op") continue;
    if (change.blocked) {
      summary.blocked += 1;
      continue;
    }
    switch (change.action) {
      case "create":
        summary.add += 1;
        break;
      case "update":
        summary.change += 1;
        break;
      case "delete":
        summary.destroy += 1;
        break;
      case "replace":
        summary.add += 1;
        summary.destroy += 1;
        break;
    }
  }
  return summary;
}

// Steps: what apply will do, as data that can be saved, counted, reviewed, journalled and recognised.

/** A field of the answer of the step that produces `ref`. */
export interface Reference {
  readonly ref: string;
  readonly field: string;
}

/** A path segment, or the place of one that is known only when an earlier step is done. */
export type PathPart = string | Reference;

export interface StepBase {
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
  /** For the GET before a delete: what the answer must still show, judged by the unit's `precondition`. */
  readonly expect: JsonObject | null;
}

/** Whether the step looks at what a later one deletes or changes, which is not done if it is not as expected. */
export function isLook(
  step: Pick<RequestStep, "type" | "method" | "expect"> | Pick<UploadStep | WaitStep, "type">,
): boolean {
  return step.type === "request" && step.method === "GET" && step.expect !== null;
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
/** How long an image may take to become available once its data is there, or its disk is captured. */
export const DEFAULT_IMAGE_TIMEOUT_SECONDS = 3_600;

export interface UploadStep extends StepBase {
  readonly type: "upload";
  /** Where to: the signed URL, known only when the step before it is done, never saved. */
  readonly to: Reference;
  /** Path of the file relative to the project folder. */
  readonly file: string;
  /** What the file must hold to be sent; null: that was not asked for when the plan was made. */
  readonly content: FileContent | null;
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

/** How many lists an apply reads at its end, to see whether another run has made the same: one for each list that it adds to. */
export function countLastLooks(steps: readonly Step[], kinds: Kinds): number {
  const lists = steps.flatMap((step) => {
    if (step.type !== "request" || step.method !== "POST" || step.lookup === null) return [];
    return kinds.of(step.lookup.kind).canBeDuplicated ? [JSON.stringify(step.lookup.path)] : [];
  });
  return new Set(lists).size;
}
