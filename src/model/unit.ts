/** The unit: the interface through which the generic pipeline handles a network, a zone or an image. */

import { ANNOTATION_KEYS } from "./annotations.ts";
import type { Failure, FileContent, ReadApi } from "./api.ts";
import type { Block, Change, ComparedResource, InterfaceDetail } from "./change.ts";
import type { ConsentRule, Declared, Removed } from "./desired.ts";
import type { Diagnostic, Span } from "./diagnostic.ts";
import type { UnitKinds } from "./kind.ts";
import type { Family, FreeSpace, Guard, LeftAlone, Lookup, RequestStep, Step, Strategy } from "./plan.ts";
import type { Address, Json, JsonObject, Kind, ObjectId, Values } from "./resource.ts";

/**
 * The functions of one unit. All but `read` and `detail` are pure.
 * Methods, not properties, so that a unit of its own types fits a list of units of unknown types.
 */
export interface Unit<Spec = unknown, Live = unknown> extends UnitKinds {
  readonly spec: UnitSpec<Spec>;
  read(scope: Scope<Spec>, api: ReadApi, watch: ReadWatch): Promise<ReadResult<Live>>;
  /** Reads what only a blocked change needs to be explained. Missing rights make the message shorter, nothing else. */
  detail?(live: Live, api: ReadApi): Promise<readonly InterfaceDetail[]>;
  identify(live: Live): LiveIdentity;
  /** Whether the key of a live object may differ from that of the entry that has its id: it is then renamed. */
  readonly canBeRenamed: boolean;
  /** All that tells it from an equal object; null while something is attached to it. Absent: keys do not repeat. */
  content?(live: Live): Json;
  /** What a list of the account shows of the live object and, if that was read, of each that is in it. The object itself comes first. */
  list(live: Live): readonly ListedResource[];
  /** The way back: what would declare the live object, saying only what differs from the defaults; null if nothing can. */
  declare(live: Live): Declared<Spec> | null;
  /** The live object and what was read in it, with values in the form of those of changes. */
  valuesOf(live: Live): LiveValues;
  /** The way back from a change: what declares an object that has these values. */
  restate(values: RestatedValues, context: RestateContext<Spec>): Declared<Spec>;
  /**
   * By an undo: which of the contents an entry leaves to others now. Absent: none.
   * @param within all that the object holds
   * @param deleted what the run has deleted of it
   */
  leftToOthers?(
    own: Declared<Spec> | null,
    within: readonly Values[],
    deleted: readonly Values[],
    compared: Compared,
  ): (values: Values) => boolean;
  /** Those of `wanted` that the service would refuse beside `staying`, all in one object. Absent: nothing of it is in others. */
  clashing?(wanted: readonly Values[], staying: readonly Values[]): ReadonlySet<Values>;
  /** Of several live objects of an entry's key, those that it can mean; the others are left from before. Absent: all of them. */
  prefer?(declared: Declared<Spec>, live: readonly Live[], context: PairContext): readonly Live[];
  /**
   * What becomes of live objects with our tag that no entry means. Absent: each is pruned.
   * @param isThere whether the object of a match is there once the run has ended
   */
  retain?(
    matches: readonly Match<Spec, Live>[],
    unnamed: readonly Live[],
    context: PairContext,
    isThere: (match: Match) => boolean,
  ): Retention<Spec, Live>;
  /** Reshapes matches into pairs that plain comparison can diff: normalised, with what must be kept copied into desired. */
  normalise(matches: readonly Match<Spec, Live>[], context: PairContext): Paired;
  /** The steps of all changes of this unit, with the facts that order them. No-ops may be among the changes. */
  steps(changes: readonly Change[], context: StepContext): readonly PlannedStep[];
  /** Where those steps take a cheaper way than one request for each change. */
  strategies?(changes: readonly Change[], context: StepContext): readonly Strategy[];
  /** What is free around the address ranges that the changes bring. */
  freeSpace?(changes: readonly Change[], context: StepContext): readonly FreeSpace[];
  /**
   * What an object that stays may lose only with consent: the guards of it, by the changes of what is within it.
   * @param adopts nobody had a tag on it: what is in it was never declared
   */
  losses?(whole: Change, within: readonly Change[], adopts: boolean): readonly Loss[];
  /** The body of a step with `amends`: what depends on an earlier answer is worked in. */
  amend?(body: JsonObject, earlier: JsonObject): JsonObject;
  /** Judges the answer of a step with `expect`: null if what follows may go on. */
  precondition(step: RequestStep, answer: JsonObject): string | null;
  /** The changed object as the answer to a PUT shows it, in the form of the change's values; null if it shows nothing. */
  readBack?(change: Change, answer: JsonObject): Values | null;
  /** The ids of what came with the object that the step's POST made, by the keys of their changes. Absent: objects come alone. */
  partsIn?(step: RequestStep, made: JsonObject): Readonly<Record<string, ObjectId>>;
  /** What has come into the way of a request since it was planned, by the words that refuse it: a clause; null if nothing has. */
  explainConflict?(step: RequestStep, failure: Failure): string | null;
  /** Did the step of this lookup already happen? `servedMilliseconds` is when the items were listed, by the service's clock. */
  recognise(lookup: Lookup, items: readonly JsonObject[], servedMilliseconds: number | null): Recognition;
  /**
   * What an item of the lookup's list goes by; without an item, what the lookup's own step made. Two objects of one name are
   * duplicates: the next plan cannot tell which of them is meant, or removes one. null: nothing of the step's kind is.
   */
  duplicateKey?(lookup: Lookup, item?: JsonObject): string | null;
  /** How an item that goes by the same name stands to what the step sent. `own`: what the step made, as it is listed now. */
  likeness?(lookup: Lookup, item: JsonObject, own: JsonObject): Likeness;
}

export interface LiveValues {
  readonly values: Values;
  /** Only of kinds and types that can be declared. */
  readonly within: readonly { readonly kind: Kind; readonly id: ObjectId; readonly values: Values }[];
}

/** Values under the API's names, as a change has them. */
export interface RestatedValues {
  /** Of the object itself; a field that is absent is left alone. */
  readonly values: Values;
  /** Of all that is in it; null: that is not managed. */
  readonly within: readonly Values[] | null;
}

export interface RestateContext<Spec = unknown> {
  /** The project's own entry of the object: what it protects and ignores holds. null: there is none. */
  readonly own: Declared<Spec> | null;
  /** The object is another project's: only what the part that `own` declares has of it is this project's. */
  readonly part: boolean;
  readonly span: Span;
}

/** A live resource as lists show it. */
export interface ListedResource {
  readonly kind: Kind;
  /** By its name alone: several may have it. */
  readonly address: Address;
  readonly id: ObjectId;
  /** What a glob of names is compared with: a label, a domain's name, a record's name within its domain. */
  readonly name: string;
  /** Under the API's names, with what it is in: `vpc`, `vpc_id`. */
  readonly values: Values;
}

/** What is in none of the lists is pruned. */
export interface Retention<Spec = unknown, Live = unknown> {
  readonly kept: readonly Live[];
  readonly leaving: readonly Leaving<Spec, Live>[];
  /** With the entries that name the family. */
  readonly families: readonly { readonly family: Family; readonly by: readonly Declared<Spec>[] }[];
}

/** A live object that is deleted because of what entries say of others. */
export interface Leaving<Spec = unknown, Live = unknown> {
  readonly live: Live;
  readonly label: "retire" | "superseded";
  /** Those entries. */
  readonly by: readonly Declared<Spec>[];
  /** The entry whose object has taken its place; absent if none has. */
  readonly replacedBy?: Declared<Spec>;
}

/**
 * - `equal`: it says exactly what was sent, and nothing is attached to it or in it.
 * - `used`: it says what was sent, and something is attached to it.
 * - `unready`: it says what was sent, and is not there yet: an image that waits for its data.
 * - `different`: it goes by the same name and says something else.
 */
export type Likeness = "equal" | "used" | "unready" | "different";

/** A guard of an object, before it is known whether there is consent. */
export type Loss = Pick<Guard, "count" | "of"> & { readonly rule: ConsentRule };

/** How a unit appears in a manifest. */
export interface UnitSpec<Spec = unknown> {
  /** Its key in the manifest: `vpcs`, `domains`, `images`. */
  readonly section: string;
  /** The key that names it in `removed`: `vpc`, `domain`, `image`. */
  readonly removedKey: string;
  /** One of its ids, where they are text. Absent: they are whole numbers. */
  readonly textId?: string;
  /** An entry of `removed` may name what must not go with it, under `ignore`. */
  readonly ignores?: true;
  readonly layout: EntryLayout;
  /** JSON Schema (draft 2020-12) of one entry of the section. */
  readonly schema: JsonObject;
  /** Definitions that `schema` refers to as `#/$defs/…`; joined into the published schema. */
  readonly definitions: Readonly<Record<string, JsonObject>>;
  /** An entry that fits the schema, expanded (variables, defaults, record sets) → declared. Problems go to `context.report`. */
  load(entry: JsonObject, context: LoadContext): Declared<Spec> | null;
  /** Checks that need several entries. */
  check?(loaded: readonly WithEntry<Spec>[], context: LoadContext): void;
  /** The way back: the fields of an entry that comes down to the same spec, identifying ones apart from the others. */
  write(spec: Spec): WrittenEntry;
  /** A name in an entry of `removed` → its address and key. */
  removed(name: string): RemovedName;
  /** Files that the entry names: checked and read by the caller. */
  files?(declared: Declared<Spec>): readonly string[];
}

/** A declared object with the entry it comes from. */
export interface WithEntry<Spec = unknown> {
  readonly declared: Declared<Spec>;
  readonly entry: JsonObject;
}

/** Stands, in an order of keys, for those that have no place of their own. */
export const OTHER_KEYS = "*";

/** The keys that an entry of any section may have. */
export const COMMON_KEYS: readonly string[] = ["id", "moved_from", "protect", "note", ...ANNOTATION_KEYS];

/** How `tenon fmt` lays out an entry. */
export interface EntryLayout {
  /** The order of its keys. */
  readonly keys: readonly string[];
  /** Lists whose items take a line each: the order of the keys of an item. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** Lists and objects that are written on the line of their key. */
  readonly oneLine?: readonly string[];
}

export interface RemovedName {
  readonly address: Address;
  readonly key: string;
  /** Why nothing can have this name; null if something can. */
  readonly problem: NameProblem | null;
}

export type NameProblem = Pick<Diagnostic, "code" | "summary" | "detail" | "fix">;

/** What the schema of manifests says against an entry that no file holds yet. */
export interface EntryViolation {
  /** Without a span. */
  readonly diagnostic: Diagnostic;
  /** The place among the entry's records of the one that it is about; null: it is about the entry itself. */
  readonly record: number | null;
}

/** The parts of a manifest entry that are the unit's own; what every entry may have goes between them. */
export interface WrittenEntry {
  readonly head: JsonObject;
  readonly body: JsonObject;
}

export interface LoadContext {
  readonly owner: string | null;
  /** Seconds that the service keeps as they are, ascending, without 0; belongs to the dialect. */
  readonly allowedSeconds: readonly number[];
  /** Where `object` or its `key` stands in the source. */
  span(object: object, key?: string | number): Span;
  report(diagnostic: Diagnostic): void;
}

/** What is to be read. */
export interface Scope<Spec = unknown> {
  readonly declared: readonly Declared<Spec>[];
  readonly removed: readonly Removed[];
  /** Objects with this owner's tag matter although nothing names them. */
  readonly owner: string | null;
  /** Everything declared goes. */
  readonly destroy: boolean;
  /** For a destroy: only declared objects with this owner's tag are deleted. Absent: all of them. */
  readonly destroyOwner?: string;
  /** For an import: whether an object matters with its children although nothing names it. Asked before children are read. */
  wants?(identity: LiveIdentity): boolean;
  /** For a narrowed run: how many objects of the unit the whole project declares. */
  readonly declaredCount?: number;
  /** For a snapshot: every object with all that belongs to it, and what `detail` could ask for. */
  readonly whole?: true;
}

export interface ReadWatch {
  readonly signal?: AbortSignal;
  /** Called as lists arrive: how many of how many known so far. */
  progress?(done: number, total: number): void;
}

export type ReadResult<Live> =
  | {
      readonly ok: true;
      readonly items: readonly Live[];
      /** How many there are in the account; more than `items.length` if only a subset was read. */
      readonly total: number;
      /** When the list was read, by the service's clock; absent if that does not matter, or is not known. */
      readonly servedMilliseconds?: number;
    }
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

export interface LiveIdentity {
  readonly id: ObjectId;
  readonly key: string;
  readonly address: Address;
  /** The owner in its tag, if it carries one. Several are joined by commas, so that none of them is taken for it. */
  readonly owner: string | null;
  /** The owners whose projects may manage a part of it, as it says itself. Absent: none. */
  readonly sharedWith?: readonly string[];
  /** It was begun, and never became what it was to be. */
  readonly unfinished?: true;
  /** For a list of candidates: what tells this one from others of the same key, as values. */
  readonly shown: Values;
}

/**
 * What is to become of one object.
 * - `create`: make it. `manage`: make it as declared. `delete`: delete it.
 * - `release`: only take our owner's tag off it, as an entry under `removed` asks.
 */
export type Match<Spec = unknown, Live = unknown> =
  | { readonly intent: "create"; readonly declared: Declared<Spec>; readonly removed: null; readonly live: null }
  | {
      readonly intent: "manage";
      readonly declared: Declared<Spec>;
      readonly removed: null;
      readonly live: Live;
      /** Set for a part whose project is destroyed: all that is in the part goes, and the object stays. */
      readonly empties?: true;
    }
  | { readonly intent: "release"; readonly declared: null; readonly removed: Removed; readonly live: Live }
  | {
      readonly intent: "delete";
      /** Set if what is declared goes (`destroy`). */
      readonly declared: Declared<Spec> | null;
      readonly removed: Removed | null;
      readonly live: Live;
      readonly label: "prune" | "retire" | "superseded" | "undo" | null;
      /** Of an object that goes because of what entries say of others: see Leaving. */
      readonly by?: readonly Declared<Spec>[];
      readonly replacedBy?: Declared<Spec>;
      /** What declared it in the manifests that the plan is compared with; null if nothing did, or there are none. */
      readonly former: Declared<Spec> | null;
    };

/** How much of the account a plan or an undo has compared with patterns. Units that limit it add to it. */
export interface Compared {
  characters: number;
}

export interface PairContext {
  /** The owner whose tag managed objects shall carry. */
  readonly owner: string | null;
  /** When the live objects were read, by the service's clock, in milliseconds since the epoch; null if no answer had a Date. */
  readonly servedMilliseconds: number | null;
  /** After so long an upload of another run has ended, done or given up. */
  readonly uploadTimeoutSeconds: number;
  /** Whether somebody consented to delete what has this address, and named just it: no glob is meant for what is in use. */
  mayDelete(address: Address): boolean;
  /** All live objects that were read; of the unit's own type. */
  readonly live: readonly unknown[];
  readonly compared: Compared;
  /** The ids of all live objects of a key that were read. */
  idsOf(key: string): readonly ObjectId[];
  /** The owner in the tag of the live object of a key, if it carries one. */
  ownerOf(key: string): string | null;
  /** What a file of the project holds that is to be uploaded; null if it is not known. Ask only of what would be sent. */
  contentOf(file: string): FileContent | null;
}

export interface Paired {
  /** Parents before their children. */
  readonly pairs: readonly Pair[];
  readonly leftAlone: readonly LeftAlone[];
  /** What keeps the plan from being applied; absent: nothing. */
  readonly refusals?: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  /** Roots that hold more than their pairs say: a copy of one of them would not be what is declared. */
  readonly holdsUndeclared?: readonly Address[];
  /** Roots in which others may make what they like: nothing in them is ever removed. */
  readonly additive?: readonly Address[];
}

/** A resource that a unit hands to the planner, with the rules that say what its differences come to. */
export interface Pair {
  readonly resource: ComparedResource;
  readonly rules: DiffRules;
}

/** What only the comparison needs: no change of a plan has it. */
export interface DiffRules {
  /** The address of the resource it lives in: replaced and deleted together with it. */
  readonly parent: Address | null;
  /** Fields that cannot be changed in place. */
  readonly immutable: readonly string[];
  /** It must be made anew even if no field differs. */
  readonly renew: boolean;
  /** Why it cannot be changed at all. */
  readonly block: Block | null;
  /** Why it cannot be deleted or replaced. */
  readonly removalBlock: Block | null;
  readonly protect: boolean;
}

/** A resource in none other, of which any field can be changed, and that nothing stops. */
export const NO_RULES: DiffRules = {
  parent: null,
  immutable: [],
  renew: false,
  block: null,
  removalBlock: null,
  protect: false,
};

export interface StepContext {
  /** The owner whose tag managed objects carry. */
  readonly owner: string | null;
  /** The ids of all live objects that have a key, planned or not, or that the plan gives it: what a request makes is none of them. */
  idsOf(key: string): readonly ObjectId[];
  /** All that was read of the unit, planned or not; of the unit's own type. */
  readonly live: readonly unknown[];
  /** Whether new objects may be made as copies of others where that takes fewer requests. */
  readonly clone: boolean;
  /** After so long an upload ends, done or given up. */
  readonly uploadTimeoutSeconds: number;
  /** After so long an image that is not available yet is not waited for any more. */
  readonly imageTimeoutSeconds: number;
  /** Whether a root holds more than its changes say. */
  holdsUndeclared(root: Address): boolean;
  /** Whether others may make what they like in a root. */
  isAdditive(root: Address): boolean;
}

/** A step before it is ordered: without `after` and `afterEnd`, which the order fills in. */
export type UnorderedStep = Step extends infer S ? (S extends Step ? Omit<S, "after" | "afterEnd"> : never) : never;

export interface PlannedStep {
  readonly step: UnorderedStep;
  readonly facts: Facts;
}

/** Data for the order. Keys and slots are opaque to it. */
export interface Facts {
  /** Ids of steps that must be done first (hard): beyond references, which are found by themselves. */
  readonly requires: readonly string[];
  /** Ids of steps that must have ended first, however they ended. */
  readonly follows: readonly string[];
  /** Slots that it acquires or releases (hard): released before acquired. */
  readonly claims: { readonly acquire: readonly Claim[]; readonly release: readonly Claim[] };
  /** Points that are reached when all steps that name them here are done, and points that must be reached first (hard). */
  readonly reaches: readonly string[];
  readonly awaits: readonly string[];
  /** What resolvers are answered (soft). */
  readonly resolution: {
    /** What resolves once it is done. */
    readonly adds: readonly string[];
    /** What no longer resolves once it is done. */
    readonly removes: readonly string[];
    /** What must resolve before it is done: any of the alternatives. A step that creates a pointer needs its target. */
    readonly needs: readonly string[];
    /** What must resolve until it is done. A step that deletes a pointer no longer needs its target. */
    readonly unneeds: readonly string[];
  };
  /** Sets of records within which growth comes before shrinkage (soft). */
  readonly rrsets: { readonly grow: readonly Membership[]; readonly shrink: readonly Membership[] };
  /** In a cutover only one name can move without a gap: the first one, or the last one. */
  readonly cutovers: readonly CutoverPart[];
}

/** A part in something that several steps do, at the first of which (or the last) it all changes. */
export interface CutoverPart {
  readonly group: string;
  readonly at: "first" | "last";
  /** What has its answer throughout if this step is that one. */
  readonly keeps: readonly string[];
}

/** Two claims of one slot conflict unless both are shared. */
export interface Claim {
  readonly slot: string;
  readonly exclusive: boolean;
}

export interface Membership {
  readonly set: string;
  /** A member of the set stays throughout, so that breaking the order leaves no gap. */
  readonly persists: boolean;
}

export const NO_FACTS: Facts = {
  requires: [],
  follows: [],
  claims: { acquire: [], release: [] },
  reaches: [],
  awaits: [],
  resolution: { adds: [], removes: [], needs: [], unneeds: [] },
  rrsets: { grow: [], shrink: [] },
  cutovers: [],
};

/** `useless`: it is surely ours, but cannot be finished and must be deleted before the step is repeated. */
export type Recognition =
  | { readonly type: "absent" }
  | { readonly type: "found"; readonly item: JsonObject; readonly id: ObjectId }
  | { readonly type: "useless"; readonly id: ObjectId }
  | { readonly type: "ambiguous"; readonly ids: readonly ObjectId[] };
