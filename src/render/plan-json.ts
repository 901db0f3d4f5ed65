/** The plan file: its shape is Terraform's plan JSON, with everything that is Tenon's own under `tenon`. */

import { createHash } from "node:crypto";
import type { Annotations } from "../model/annotations.ts";
import type { Block, Change, ChangedSince, ChangeLabel, ChangeOrigin, Holdings, RangeChange } from "../model/change.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import {
  type Barrier,
  type Family,
  type FamilyMember,
  type FreeSpace,
  type Gap,
  type Goal,
  type Guard,
  isNarrowed,
  type LeftAlone,
  type Pace,
  type Plan,
  type PlanBase,
  type PlanInputs,
  type Step,
  type Strategy,
  type Summary,
  summarise,
  type WithheldChange,
} from "../model/plan.ts";
import type { Address, Json, JsonObject, Kind, UnitName, Values } from "../model/resource.ts";
import { compareText, jsonText, visibleJson } from "../model/text.ts";
import { consentsOf, type MissingConsent } from "./consent.ts";

/** The version of Terraform's plan JSON, so that its readers accept the file. */
const TERRAFORM_FORMAT_VERSION = "1.2";
/**
 * The version of everything under `tenon`. A reader refuses a file of any other version: version 1 had no `inputs`, and showed blocked
 * changes as if they were made.
 */
export const PLAN_FORMAT_VERSION = 2;

export type PlanAction = "create" | "update" | "delete" | "no-op";

/** Terraform's reasons for deleting or replacing a resource; absent if Terraform has no word for the reason. */
type ActionReason = "replace_because_cannot_update" | "replace_because_tainted" | "delete_because_no_resource_config";

export interface PlanFile {
  readonly format_version: string;
  /** An apply would do something, and the plan has no refusals. Guards may still need consent. */
  readonly applyable: boolean;
  /** After this plan the account is as declared: nothing is blocked, and the plan covers the whole project. */
  readonly complete: boolean;
  /** The plan was refused, for the reasons in `tenon.refusals`. */
  readonly errored: boolean;
  readonly planned_values: { readonly root_module: { readonly resources: readonly PlannedResource[] } };
  readonly resource_changes: readonly ResourceChange[];
  readonly tenon: TenonPart;
}

interface PlannedResource {
  readonly address: string;
  readonly mode: "managed";
  readonly type: Kind;
  readonly name: string;
  readonly index?: number;
  readonly provider_name: "tenon";
  readonly schema_version: 0;
  readonly values: JsonObject;
}

export interface ResourceChange {
  /** Unique: with `[n]` where several changes share an address. */
  readonly address: string;
  readonly previous_address?: string;
  readonly mode: "managed";
  readonly type: Kind;
  readonly name: string;
  readonly index?: number;
  readonly provider_name: "tenon";
  readonly change: ChangeShape;
  readonly action_reason?: ActionReason;
}

interface ChangeShape {
  readonly actions: readonly PlanAction[];
  /** The values with the live object's `id`. */
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  readonly after_unknown: JsonObject;
  /** The fields that force a replace, each as a path. */
  readonly replace_paths?: readonly (readonly string[])[];
}

interface WantedChange extends ChangeShape {
  readonly previous_address: string | null;
}

/** Of the last five, what is absent was not given. */
export interface SavedInputs extends Pick<PlanInputs, "environment" | "variables" | "targets" | "excludes" | "fleet"> {
  readonly skip_unsupported?: boolean;
  readonly take_ownership_from?: readonly string[];
  readonly clone?: boolean;
  readonly changed_since?: ChangedSince;
  readonly never_destroy?: true;
}

interface TenonPart {
  readonly format_version: number;
  /** The digest of the rest of the file, which tells damage from another plan. */
  readonly digest: string;
  readonly goal: Goal;
  readonly owner: string | null;
  readonly inputs: SavedInputs;
  readonly summary: Summary;
  readonly requests: number;
  /** The rate limit that the service reported while the account was read; null if it reported none. */
  readonly pace: Pace | null;
  /** What the changes were compared with to find their `origin`; null: nothing. */
  readonly base: PlanBase | null;
  /** Everything about a change but its action, by its address in resource_changes. */
  readonly changes: Readonly<Record<string, ChangeExtra>>;
  readonly steps: readonly Step[];
  readonly barriers: readonly Barrier[];
  readonly guards: readonly SavedGuard[];
  /** The consents that are missing, in as few globs as possible that cover nothing else of the plan. */
  readonly missing_consent: readonly MissingConsent[];
  /** Addresses in resource_changes of blocked changes; the reason is under `changes`. */
  readonly blocked: readonly string[];
  readonly gaps: readonly Gap[];
  /** Clones that save requests. */
  readonly strategies: readonly Strategy[];
  readonly refusals: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  /** Absent if there is none. */
  readonly free_space?: readonly FreeSpace[];
  readonly left_alone: readonly LeftAlone[];
  /** What `--never-destroy` leaves out. Absent if there is nothing. */
  readonly withheld?: readonly WithheldChange[];
  /** Absent from files of versions that knew no families. */
  readonly families?: readonly SavedFamily[];
}

/** In the names that JSON has. */
interface SavedFamily extends Omit<Family, "members"> {
  readonly members: readonly SavedMember[];
}

interface SavedMember extends Omit<FamilyMember, "ageDays" | "sizeMegabytes"> {
  readonly age_days: number | null;
  readonly size_megabytes: number | null;
}

/** The origin of a guard follows from the changes, so the file does not hold it. */
export type SavedGuard = Omit<Guard, "origin">;

export function savedGuard({ origin: _, ...guard }: Guard): SavedGuard {
  return guard;
}

export interface ChangeExtra {
  readonly unit: UnitName;
  readonly root: Address;
  readonly labels: readonly ChangeLabel[];
  readonly replace_fields: readonly string[];
  readonly blocked: Block | null;
  /** The change as it would be made if nothing blocked it; null if nothing does. */
  readonly wanted: WantedChange | null;
  readonly note: string | null;
  /** Absent if its entry says none of them. */
  readonly annotations?: Annotations;
  readonly span: Span | null;
  readonly origin: ChangeOrigin | null;
  /** What is deleted with a domain; absent if the domain stays, or if its contents were not read. */
  readonly holds?: Holdings;
  /** What a new range of a subnet means; absent if it keeps its range. */
  readonly range?: RangeChange;
  readonly part?: true;
  /** Of what a killed replace has left, the address of what is declared in its place; absent of all else. */
  readonly replaced_by?: Address;
}

const ACTIONS: Readonly<Record<Change["action"], readonly PlanAction[]>> = {
  create: ["create"],
  update: ["update"],
  replace: ["delete", "create"],
  delete: ["delete"],
  "no-op": ["no-op"],
};

/**
 * The parts that grow with the plan are made while they are written.
 * @returns an object that is written as a `PlanFile`
 */
function toPlanFile(plan: Plan, summary: Summary): object {
  const changes = [...plan.changes].sort((left, right) => compareText(left.key, right.key));
  const errored = plan.refusals.length > 0;
  const file = {
    format_version: TERRAFORM_FORMAT_VERSION,
    applyable: !errored && summary.add + summary.change + summary.destroy > 0,
    complete: !errored && summary.blocked === 0 && plan.withheld.length === 0 && !isNarrowed(plan.inputs),
    errored,
    planned_values: { root_module: { resources: listOf(changes, plannedResource) } },
    resource_changes: listOf(changes, (change) => [resourceChange(change, plan.goal)]),
    tenon: tenonPart(plan, changes, summary),
  };
  return { ...file, tenon: { ...file.tenon, digest: digestOf(file) } };
}

function savedInputs({
  skipUnsupported,
  takeOwnershipFrom,
  changedSince,
  neverDestroy,
  ...others
}: PlanInputs): SavedInputs {
  const narrowing = {
    ...(changedSince === null ? {} : { changed_since: changedSince }),
    ...(neverDestroy ? { never_destroy: true as const } : {}),
  };
  return { ...others, skip_unsupported: skipUnsupported, take_ownership_from: takeOwnershipFrom, ...narrowing };
}

function listOf(changes: readonly Change[], write: (change: Change) => readonly object[]): Lazy {
  return new Lazy(true, function* () {
    for (const change of changes) for (const item of write(change)) yield ["", item as Json];
  });
}

function tenonPart(
  plan: Plan,
  changes: readonly Change[],
  summary: Summary,
): Omit<TenonPart, "digest" | "changes"> & { readonly changes: Lazy } {
  return {
    format_version: PLAN_FORMAT_VERSION,
    goal: plan.goal,
    owner: plan.owner,
    inputs: savedInputs(plan.inputs),
    summary,
    requests: plan.requestCount,
    pace: plan.pace,
    base: plan.base,
    changes: new Lazy(false, function* () {
      for (const change of changes) yield [change.key, changeExtra(change) as unknown as Json];
    }),
    steps: plan.steps,
    barriers: plan.barriers,
    guards: plan.guards.map(savedGuard),
    missing_consent: missingConsents(plan),
    blocked: changes.filter((change) => change.blocked !== null).map((change) => change.key),
    gaps: plan.gaps,
    strategies: plan.strategies,
    refusals: plan.refusals,
    warnings: plan.warnings,
    ...(plan.freeSpace.length === 0 ? {} : { free_space: plan.freeSpace }),
    left_alone: plan.leftAlone,
    ...(plan.withheld.length === 0 ? {} : { withheld: plan.withheld }),
    families: plan.families.map(savedFamily),
  };
}

/** For programs: the consents to give until no guard is left that consent can settle. */
export function missingConsents(plan: Plan): MissingConsent[] {
  const refusing = plan.guards.filter(({ consent }) => consent === "missing");
  return consentsOf(refusing, plan);
}

function savedFamily({ members, ...family }: Family): SavedFamily {
  return {
    ...family,
    members: members.map(({ ageDays, sizeMegabytes, ...member }) => ({
      ...member,
      age_days: ageDays,
      size_megabytes: sizeMegabytes,
    })),
  };
}

/** The way back. */
export function toFamily({ members, ...family }: SavedFamily): Family {
  return {
    ...family,
    members: members.map(({ age_days, size_megabytes, ...member }) => ({
      ...member,
      ageDays: age_days,
      sizeMegabytes: size_megabytes,
    })),
  };
}

function changeExtra(change: Change): ChangeExtra {
  const { unit, root, labels, replaceFields, blocked, note, span, origin, holds, range, part, replacedBy } = change;
  const { annotations } = change;
  const wanted = blocked === null ? null : { ...changeShape(change), previous_address: change.previousAddress };
  // JSON has no undefined values.
  const extra: { [Key in keyof ChangeExtra]: ChangeExtra[Key] | undefined } = {
    annotations,
    blocked,
    holds,
    labels,
    note,
    origin,
    part,
    range,
    replace_fields: replaceFields,
    replaced_by: replacedBy,
    root,
    span: span === null ? null : { end: span.end, file: span.file, start: span.start },
    unit,
    wanted,
  };
  return extra as ChangeExtra;
}

function resourceChange(change: Change, goal: Goal): ResourceChange {
  const { key, address, kind, blocked } = change;
  const previousAddress = blocked === null ? change.previousAddress : null;
  const reason = actionReason(change, goal);
  return {
    ...(reason === null ? {} : { action_reason: reason }),
    address: key,
    change: blocked === null ? changeShape(change) : unchanged(change),
    ...indexOf(key, address),
    mode: "managed",
    name: nameOf(change),
    ...(previousAddress === null ? {} : { previous_address: previousAddress }),
    provider_name: "tenon",
    type: kind,
  };
}

function changeShape(change: Change): ChangeShape {
  const { action, replaceFields } = change;
  return {
    actions: ACTIONS[action],
    after: valuesAfter(change),
    after_unknown: isMade(change) ? { id: true } : {},
    before: withId(change.before, change),
    ...(action === "replace" ? { replace_paths: replaceFields.map((field) => [field]) } : {}),
  };
}

/** A blocked change is shown as a no-op: a policy that counts or forbids deletions must not find a deletion that will not be made. */
function unchanged(change: Change): ChangeShape {
  const value = withId(change.before, change);
  return { actions: ["no-op"], after: value, after_unknown: {}, before: value };
}

/** Terraform gives no reason for the deletions of a destroy. */
function actionReason({ action, labels, blocked }: Change, goal: Goal): ActionReason | null {
  if (blocked !== null) return null;
  if (action === "replace")
    return labels.includes("unfinished") ? "replace_because_tainted" : "replace_because_cannot_update";
  return action === "delete" && goal === "apply" ? "delete_because_no_resource_config" : null;
}

/** Values at the end of the apply. */
function plannedResource(change: Change): PlannedResource[] {
  const values = change.blocked === null ? valuesAfter(change) : withId(change.before, change);
  if (values === null) return [];
  const resource: PlannedResource = {
    address: change.key,
    ...indexOf(change.key, change.address),
    mode: "managed",
    name: nameOf(change),
    provider_name: "tenon",
    schema_version: 0,
    type: change.kind,
    values,
  };
  return [resource];
}

function valuesAfter(change: Change): JsonObject | null {
  return isMade(change) ? change.after : withId(change.after, change);
}

/** Whether the object is made by the change: its id is known only then. */
function isMade(change: Change): boolean {
  return change.action === "create" || change.action === "replace";
}

function withId(values: Values | null, change: Change): JsonObject | null {
  return values === null || change.id === null ? values : { id: change.id, ...values };
}

/** The name of an object, depending on its kind: a label, a domain, a record's name. */
function nameOf(change: Change): string {
  const values = change.after ?? change.before ?? {};
  const name = values["label"] ?? values["domain"] ?? values["name"];
  if (name === "") return "@";
  return typeof name === "string" ? name : change.address;
}

/** `domain/example.com/www/A[1]` has index 1. */
function indexOf(key: string, address: string): { index?: number } {
  const match = /^\[(\d+)\]$/.exec(key.slice(address.length));
  return match === null ? {} : { index: Number(match[1]) };
}

// The plan as JSON, which is the plan file: the same plan always gives the same bytes.

/** The approximate length of a part: its pieces are in memory together, and the longer they are, the more often they are moved about there. */
const PART_CHARACTERS = 64 * 1024;
const LINES: Layout = { end: "\n", text: visibleJson };

/** Newline-terminated, one change a line, so that plan files can be compared line by line. */
export function renderPlanJson(plan: Plan): string {
  return [...renderPlanJsonParts(plan)].join("");
}

/** The same in parts of whole lines, each made when it is asked for. */
export function* renderPlanJsonParts(plan: Plan): Generator<string> {
  yield* joined(documentOf(plan), (last) => last.endsWith("\n"));
}

/** Pieces in parts of some length. @param mayEnd whether a part may end with this piece */
function* joined(pieces: Iterable<string>, mayEnd: (last: string) => boolean): Generator<string> {
  let part: string[] = [];
  let length = 0;
  let last = "";
  for (const piece of pieces) {
    if (length > PART_CHARACTERS && mayEnd(last)) {
      yield part.join("");
      part = [];
      length = 0;
    }
    part.push(piece);
    length += piece.length;
    last = piece;
  }
  yield part.join("");
}

/** Terraform's keys come first, in Terraform's order; within them keys are sorted. */
function* documentOf(plan: Plan): Generator<string> {
  const file: object = toPlanFile(plan, summarise(plan.changes));
  let start = "{\n";
  for (const [key, value] of Object.entries(file)) {
    yield `${start}${jsonText(key)}:`;
    yield* pieces(value as Written, 1, LINES);
    start = ",\n";
  }
  yield "\n}\n";
}

// The digest of a saved plan: shows that a byte was changed on the way, not who wrote it.

const COMPACT: Layout = { end: "", text: (text) => text };

/** @returns `sha256:` and 64 hexadecimal digits, of everything but `tenon.digest`; how the JSON is laid out does not matter */
export function digestOf(file: { readonly tenon: object }): string {
  const hash = createHash("sha256");
  const content = { ...file, tenon: { ...file.tenon, digest: undefined } };
  for (const part of joined(pieces(content as unknown as Written, 0, COMPACT), () => true)) hash.update(part);
  return `sha256:${hash.digest("hex")}`;
}

// JSON piece by piece: a plan of 300,000 records would take several times its own memory as one value, and as one text.

/** A list, or an object, whose entries are made when they are written. */
class Lazy {
  readonly isList: boolean;
  /** The keys of an object are sorted; for a list the keys are ignored. */
  readonly entries: () => Iterable<readonly [key: string, value: Json]>;

  constructor(isList: boolean, entries: () => Iterable<readonly [key: string, value: Json]>) {
    this.isList = isList;
    this.entries = entries;
  }
}

type Written = Json | Lazy | { readonly [key: string]: Written | undefined };

/** How JSON is laid out. */
interface Layout {
  /** The separator between entries: a line end, or nothing. */
  readonly end: "\n" | "";
  /** What becomes of a JSON text. */
  text(json: string): string;
}

/** Lists and objects down to here are written entry by entry, with line ends between them: one change, one step, one resource a line. */
const MAX_LINE_DEPTH = 3;

/** The value with the keys of all objects sorted. @param depth of the value in its document, from 0 */
function* pieces(value: Written, depth: number, layout: Layout): Generator<string> {
  if (typeof value !== "object" || value === null || depth > MAX_LINE_DEPTH) {
    yield layout.text(sortedJson(value as Json));
    return;
  }
  const isList = value instanceof Lazy ? value.isList : Array.isArray(value);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  let isEmpty = true;
  for (const [key, item] of entriesOf(value)) {
    yield (isEmpty ? open : ",") + layout.end;
    isEmpty = false;
    if (isList) yield layout.text(sortedJson(item as Json));
    else {
      yield `${layout.text(sortedJson(key))}:`;
      yield* pieces(item, depth + 1, layout);
    }
  }
  yield isEmpty ? open + close : layout.end + close;
}

/**
 * JSON with the keys of all objects sorted. V8 writes what is sorted already in a tenth of the time, so objects of which there is one for each
 * change are made with their keys in order. A copy with sorted keys would take twice as long as this.
 */
function sortedJson(value: Json | undefined): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (isSorted(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => sortedJson(item)).join(",")}]`;
  const object = value as JsonObject;
  let text = "";
  for (const key of sortedKeys(object)) {
    const item = object[key];
    if (item !== undefined) text += `${text === "" ? "" : ","}${keyJson(key)}:${sortedJson(item)}`;
  }
  return `{${text}}`;
}

/** Whether the keys of the object, and of all objects in it, are in order. Allocates nothing. */
function isSorted(value: Json): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isSorted);
  let last = "";
  for (const key in value) {
    if (key < last || !isSorted((value as JsonObject)[key] as Json)) return false;
    last = key;
  }
  return true;
}

/** Of the fields of units, which are few. */
const knownKeys: Map<string, string> = new Map();
const MAX_KNOWN_KEYS = 1_000;

function keyJson(key: string): string {
  const known = knownKeys.get(key);
  if (known !== undefined) return known;
  const json = JSON.stringify(key);
  if (knownKeys.size < MAX_KNOWN_KEYS) knownKeys.set(key, json);
  return json;
}

/** Most objects have them in order already. */
function sortedKeys(object: object): string[] {
  const keys = Object.keys(object);
  return keys.every((key, index) => index === 0 || (keys[index - 1] as string) < key) ? keys : keys.sort();
}

/** Without undefined values, as in JSON. */
function entriesOf(value: object): Iterable<readonly [string, Written]> {
  if (value instanceof Lazy) return value.entries();
  if (Array.isArray(value)) return value.map((item: Json) => ["", item] as const);
  const object = value as { readonly [key: string]: Written | undefined };
  return Object.keys(object)
    .sort()
    .flatMap((key) => (object[key] === undefined ? [] : [[key, object[key]] as const]));
}
