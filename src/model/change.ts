/** Changes: a closed set of actions on one resource, as data. */

import type { Annotations } from "./annotations.ts";
import type { Span } from "./diagnostic.ts";
import type { Address, Json, JsonObject, Kind, ObjectId, UnitName, Values } from "./resource.ts";

export type Action = "create" | "update" | "replace" | "delete" | "no-op";

/**
 * Why a change is there, beyond its action.
 * - `adopt`: a live object without a tag gets the owner's tag.
 * - `take-over`: another owner's tag is replaced, with consent.
 * - `release`: the owner's tag is taken off.
 * - `rename`: the identifying name changes, the object stays.
 * - `undo`: the run that is undone made it.
 * - `prune`: it carries the owner's tag and is no longer declared.
 * - `retire`: it is not among the newest of its family, or its family's file has changed: `keep` is the consent.
 * - `superseded`: another one has taken its place, and the run that made that did not live to delete it.
 * - `unfinished`: an image whose upload was never completed.
 * - `expired`: a record whose entry has expired: it is no longer declared.
 * - `duplicate`: a record that goes while an equal one stays (the TTL aside): no answer changes.
 */
export type ChangeLabel =
  | "adopt"
  | "take-over"
  | "release"
  | "rename"
  | "undo"
  | "prune"
  | "retire"
  | "superseded"
  | "unfinished"
  | "expired"
  | "duplicate";

/**
 * Whose change it is, where a base is given to compare with.
 * - `this-change`: the base would not make it, or a block or a guard without consent keeps the base from it and not this project.
 * - `already-pending`: the base would make the very same; it is drift, or was never applied.
 */
export type ChangeOrigin = "this-change" | "already-pending";

/** One resource as it is and as it is to be: so much a unit says of it. `before` and `after` are not both null. */
export interface ComparedResource {
  readonly address: Address;
  /** Before a rename. */
  readonly previousAddress: Address | null;
  readonly unit: UnitName;
  /** Address of the network, zone or image it belongs to. */
  readonly root: Address;
  readonly kind: Kind;
  readonly labels: readonly ChangeLabel[];
  /** The live object's id; null when it is to be created. */
  readonly id: ObjectId | null;
  /** The live values; null when it is to be created. */
  readonly before: Values | null;
  /** The desired values; null when it is to be deleted. */
  readonly after: Values | null;
  readonly note: string | null;
  /** What its entry says for people. Absent: nothing. */
  readonly annotations?: Annotations;
  readonly span: Span | null;
  /** Set for a domain that is deleted as a whole, if its records were read. */
  readonly holds?: Holdings;
  /** Set for a subnet that gets another range. */
  readonly range?: RangeChange;
  /** Set for an object of another project of which a part is declared. It never changes itself. */
  readonly part?: true;
  /** Set for a domain of which a sharing ends, if the run is not narrowed: how many of its records nobody here declares with the value that they have; null: they were not read. */
  readonly undeclared?: number | null;
  /** Of what a killed replace has left, the address of what is declared in its place: consent to replace that one covers its deletion. */
  readonly replacedBy?: Address;
}

/** What becomes of a resource: the same, and what follows from comparing the two. */
export interface Change extends ComparedResource {
  /** Unique within a plan: the address, with `[n]` where several changes share it. */
  readonly key: string;
  readonly action: Action;
  /** The fields that cannot be changed in place: why an action is `replace`. */
  readonly replaceFields: readonly string[];
  /** Set if the change must not be carried out now. Its dependents are blocked by it in turn. */
  readonly blocked: Block | null;
  /** null if the plan was not compared with a base, or the resource stays as it is. */
  readonly origin: ChangeOrigin | null;
}

/** What goes with a domain, and has no change of its own. */
export interface Holdings {
  readonly records: number;
  /** How many of them were ignored; null if no known manifest says what to ignore of the domain. */
  readonly ignored: number | null;
}

/**
 * How a subnet's new range stands to its old one. Neither can be changed in place, so the subnet is made anew.
 * - `grows`: the new range contains the old one.
 * - `shrinks`: the new range is a part of the old one.
 * - `moves`: they have no address in common.
 */
export interface RangeChange {
  readonly becomes: "grows" | "shrinks" | "moves";
  /** Interfaces that are attached to the subnet: they must be detached first. */
  readonly attached: number;
}

/** What stops a change. */
export type Block =
  | { readonly type: "interfaces"; readonly interfaces: readonly AttachedInterface[] }
  /** `more`: so many beside those that are listed. `claimed`: they say that the declared record is somebody else's. */
  | {
      readonly type: "kept-records";
      readonly records: readonly JsonObject[];
      readonly more?: number;
      readonly claimed?: true;
    }
  /** Somebody may be sending the data, until then at the latest (ISO 8601, UTC, the service's clock; null if nothing says so). */
  | {
      readonly type: "upload-in-progress";
      readonly id: ObjectId;
      readonly until: string | null;
      /** What a consent to delete it names. */
      readonly address: Address;
    }
  /** Nobody knows when whoever began it gives it up. `address` as above; null: no consent takes it. */
  | { readonly type: "upload-of-others"; readonly id: ObjectId; readonly address: Address | null }
  /** An undo would take back what a run has made of it, and somebody has changed it since. */
  | { readonly type: "changed-since"; readonly run: string }
  /** It could be any of these, by id. */
  /** `more`: so many beside those that are listed. */
  | { readonly type: "ambiguous"; readonly candidates: readonly Candidate[]; readonly more?: number }
  /** Declared by an id that is gone, and only its label says that it is this one: too little to replace it, or to take anything from it. */
  | { readonly type: "stale-id"; readonly candidate: Candidate }
  /** An image that would have to be made, and nothing says how. */
  | { readonly type: "image-source-missing" }
  /** It would go, and could not come back: another live object keeps the label that it is to have. */
  | { readonly type: "label-taken"; readonly label: string; readonly id: ObjectId }
  /** What it is to be cloned from is not there. */
  | { readonly type: "clone-source-missing"; readonly domain: string }
  /** It would go with what the projects of these owners manage in it. */
  | { readonly type: "shared"; readonly owners: readonly string[] }
  /** `more`: so many beside those that are listed. `leftOut`: the run was told to leave these changes out. Absent: they are blocked themselves. */
  | { readonly type: "depends"; readonly on: readonly string[]; readonly more?: number; readonly leftOut?: true };

/** A live object that a declared one may be, with what tells it from others of its label. */
export interface Candidate {
  readonly id: ObjectId;
  readonly shown: Values;
}

/** A configuration profile interface that keeps a subnet from being deleted (API.md, VPCs, rules 1 and 2). */
export interface AttachedInterface {
  readonly subnet: Address;
  readonly subnet_id: number;
  readonly node_id: number;
  readonly interface_id: number;
  readonly active: boolean;
  /** null until it is looked at more closely, and where the address list could not be read. */
  readonly config_id: number | null;
  readonly address: string | null;
}

/** What a closer look tells of an attached interface. */
export type InterfaceDetail = Pick<AttachedInterface, "subnet_id" | "interface_id" | "config_id" | "address">;

// Drift: what the account holds otherwise than the manifests declare, object by object.

/**
 * - `changed`: it is there, with other values than declared.
 * - `missing`: it is declared, and not there.
 * - `unexpected`: it is there, and an apply would delete it: nobody declares it, or `removed` names it.
 * - `unadopted`: it is there as declared, without the owner's tag. Not counted as drift: it may never have had one.
 */
export type DriftStatus = "changed" | "missing" | "unexpected" | "unadopted";

export interface DriftObject {
  /** Unique: the address, with `[n]` where several objects share it. */
  readonly key: string;
  readonly address: Address;
  /** Where it is in the account, if it has another name there. */
  readonly liveAddress: Address | null;
  /** Address of the network, zone or image it belongs to. */
  readonly root: Address;
  readonly kind: Kind;
  readonly status: DriftStatus;
  /** The live object's id; null if there is none. */
  readonly id: ObjectId | null;
  readonly labels: readonly ChangeLabel[];
  /** Those that differ; all of what is missing or unexpected. Sorted by name. */
  readonly fields: readonly DriftField[];
  readonly note: string | null;
  readonly annotations?: Annotations;
}

export interface DriftField {
  readonly name: string;
  /** null: nothing is declared, or nothing is there. */
  readonly declared: Json;
  readonly live: Json;
}

/** What one who was told of an earlier comparison does not know yet. */
export type WatchNews =
  | {
      readonly type: "drift";
      readonly drift: Drift;
      /** Objects that have drifted since, or drifted otherwise. */
      readonly appeared: readonly DriftObject[];
      /** Objects whose drift is over. */
      readonly resolved: readonly DriftObject[];
      /** The last that was said is that there was no comparison. */
      readonly wasUnreadable: boolean;
    }
  | { readonly type: "unreadable"; readonly message: string };

/** Narrows a run to the networks, zones and images that a change of the manifests is about. Nothing else is read. */
export interface ChangedSince {
  /** The base that the manifests were compared with, as it was given: a git ref or a folder. */
  readonly name: string;
  /** Addresses of what the base declares or removes otherwise, or only one of the two does. Sorted. */
  readonly addresses: readonly Address[];
  /**
   * Sorted addresses of what else becomes of the account by that: objects that the entries meant at the base or mean now, under other names, and what
   * their families kept; and the entries that mean these objects. Absent: none.
   */
  readonly affected?: readonly Address[];
}

/** Addresses of all that the run is narrowed to. */
export function narrowedTo({ addresses, affected = [] }: ChangedSince): ReadonlySet<Address> {
  return new Set([...addresses, ...affected]);
}

export interface Drift {
  /** Address globs that it was narrowed to; the rest was not looked at. */
  readonly targets: readonly string[];
  readonly excludes: readonly string[];
  readonly changedSince: ChangedSince | null;
  readonly owner: string | null;
  /** Sorted by key. */
  readonly objects: readonly DriftObject[];
  readonly summary: Readonly<Record<DriftStatus, number>>;
}

/** Whether anything differs that counts. */
export function hasDrift({ summary }: Drift): boolean {
  return summary.changed + summary.missing + summary.unexpected > 0;
}

/** Whether an NS record at the apex changes. Only records have NS as their `type`, so the kind need not be checked. */
export function isApexNameserver({ action, before, after }: Change): boolean {
  return action !== "no-op" && [before, after].some((values) => values?.["type"] === "NS" && values["name"] === "");
}
