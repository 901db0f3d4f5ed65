/** The reviewed plan as an upper bound: is every change that is still needed one that was shown? */

import isEqual from "fast-deep-equal";
import type { Change } from "../model/change.ts";
import type { KindFacts, Kinds } from "../model/kind.ts";
import { mapKey } from "../model/map-key.ts";
import { type Address, domainAddress, isJsonObject, type Json, type Kind, type Values } from "../model/resource.ts";
import { compareText, groupBy } from "../model/text.ts";

/** A change as a plan file shows it. */
export type ReviewedChange = Pick<
  Change,
  | "address"
  | "previousAddress"
  | "root"
  | "kind"
  | "action"
  | "labels"
  | "id"
  | "before"
  | "after"
  | "holds"
  | "blocked"
>;

/**
 * The changes outside the bound. They are compared by effect, not by step, so that a half-done apply can be resumed: an object that was
 * to be replaced may only have to be created now, one that was to be created may only have to be finished. A change that the file shows
 * as blocked counts as reviewed: the apply may make it once nothing blocks it. If the file could not say which live object an entry means
 * (`ambiguous`, `stale-id`), no change of that root counts as reviewed.
 *
 * @param file changes of the plan file
 */
export function exceedsReviewedPlan(
  changes: readonly Change[],
  file: readonly ReviewedChange[],
  kinds: Kinds,
): Change[] {
  const unclear = new Set(file.filter(isUnclear).map(({ root }) => root));
  const reviewed = file.filter(({ root }) => !unclear.has(root));
  const shown = groupBy(reviewed, (change) => keyOf(change.kind, change.address));
  const idKeyOf = ({ kind, address, id }: ReviewedChange) => keyOf(kind, `${address} ${String(id)}`);
  const deleted = groupBy(
    reviewed.filter(({ action }) => action === "delete"),
    idKeyOf,
  );
  const hasNoIdentity = ({ kind }: ReviewedChange) => kinds.of(kind).identifiedByValues === true;
  const values = new ValueEffects(reviewed.filter(hasNoIdentity), changes.filter(hasNoIdentity));
  const mustStay = staysForMissing(file, changes, kinds);
  const elsewhere = otherRoots(reviewed, changes, kinds);
  return changes.filter((change) => {
    if (change.action === "no-op" || change.blocked !== null) return false;
    if (!kinds.isRoot(change.kind) && elsewhere.has(change.root)) return true;
    if (hasNoIdentity(change)) return !values.cover(change);
    if (isRestOf(shown.get(keyOf(change.kind, change.replacedBy ?? "")) ?? [], change)) return false;
    const candidates = shown.get(keyOf(change.kind, change.address)) ?? [];
    if (change.action === "delete" && mustStay(change)) return true;
    // A delete is covered by that of the same object alone, and thousands of objects may have one address.
    const same = change.action === "delete" ? (deleted.get(idKeyOf(change)) ?? []) : candidates;
    return !same.some((candidate) => covers(candidate, change, kinds.of(change.kind)));
  });
}

/**
 * Roots of which another object has the address now than the one that was shown, or that were shown under another name or owner, and that this run
 * does not make: what was shown to change within the one was not shown for the other. Of a root that was shown to be made, only a domain can be half
 * made: until it is filled it is disabled.
 */
function otherRoots(
  reviewed: readonly ReviewedChange[],
  changes: readonly Change[],
  kinds: Kinds,
): ReadonlySet<Address> {
  const isRoot = ({ kind }: ReviewedChange): boolean => kinds.isRoot(kind);
  const shown = groupBy(reviewed.filter(isRoot), ({ root }) => root);
  const isAnother = (then: ReviewedChange, now: Change): boolean =>
    now.id === then.id
      ? !isSameObject(then, now, kinds.of(now.kind))
      : !(makes(then) && now.kind === "domain" && now.before?.["status"] === "disabled");
  // A forged file may show several of one address.
  const others = changes.filter(
    (now) => isRoot(now) && now.before !== null && (shown.get(now.root) ?? []).some((then) => isAnother(then, now)),
  );
  return new Set(others.map(({ root }) => root));
}

function isUnclear({ blocked }: ReviewedChange): boolean {
  return blocked?.type === "ambiguous" || blocked?.type === "stale-id";
}

/**
 * Whether an object must stay because the file shows another one for it that this run does not make. One of that name may exist by now, but
 * somebody else may have made it, even if it has the project's tag. The source of a clone stays, as it would go without having been cloned,
 * and so does each object of a kind that cannot be remade: a plan deletes none of them before all new ones are there.
 *
 * @param file all changes of the plan file, those of unclear roots as well
 */
function staysForMissing(
  file: readonly ReviewedChange[],
  changes: readonly Change[],
  kinds: Kinds,
): (change: Change) => boolean {
  const made = new Set(
    changes.filter((change) => makes(change) && change.blocked === null).map(({ address }) => address),
  );
  const missing = file.filter((change) => isToBeMade(change) && !made.has(change.address));
  const sources = new Set(missing.flatMap(sourceOfClone));
  const irreplaceable = new Set(missing.flatMap(({ kind }) => (kinds.of(kind).cannotBeRemade ? [kind] : [])));
  return ({ kind, address }) => sources.has(address) || irreplaceable.has(kind);
}

/** What is blocked is not there yet either: it may wait for what somebody else has begun under its name. */
function isToBeMade(shown: ReviewedChange): boolean {
  return makes(shown) || (shown.blocked !== null && shown.after !== null);
}

function sourceOfClone({ action, after }: ReviewedChange): Address[] {
  const from = action === "create" ? after?.["create_from"] : undefined;
  const source = isJsonObject(from) ? from["clone"] : undefined;
  return typeof source === "string" ? [domainAddress(source)] : [];
}

/**
 * A record has no identity beside its values: what counts is which values a zone gets and which it loses. The number of changes may differ
 * from the reviewed one: two changes may have become one, or one change may have become two. But only values that were shown as added may
 * be added, and only values that were shown as removed may be removed. A value that was shown as changing into another may be removed only
 * if that other value is in the zone after this apply.
 */
class ValueEffects {
  readonly #mayBeAdded = new Set<string>();
  readonly #mayBeRemoved = new Set<string>();
  readonly #mayBecome = new Map<string, string[]>();
  /** What `#becomes` has answered. */
  readonly #answers = new Map<string, boolean>();
  readonly #presentAtEnd = new Set<string>();
  /** Values that were shown as present after the apply. One of two equal records may be deleted, but not both: the value must stay. */
  readonly #shownToStay = new Set<string>();

  constructor(reviewed: readonly ReviewedChange[], changes: readonly Change[]) {
    for (const change of reviewed) {
      const { action } = change;
      const { left, came } = effectsOf(change);
      if (came !== null) this.#shownToStay.add(came);
      if (action === "no-op") continue;
      if (came !== null) this.#mayBeAdded.add(came);
      if (left !== null && came === null) this.#mayBeRemoved.add(left);
      if (left === null || came === null) continue;
      const known = this.#mayBecome.get(left);
      if (known === undefined) this.#mayBecome.set(left, [came]);
      else known.push(came);
    }
    for (const change of changes) {
      const { came } = effectsOf(change);
      if (came !== null) this.#presentAtEnd.add(came);
    }
  }

  cover(change: ReviewedChange): boolean {
    const { left, came } = effectsOf(change);
    return (came === null || this.#mayBeAdded.has(came)) && (left === null || this.#mayLeave(left));
  }

  #mayLeave(value: string): boolean {
    if (this.#shownToStay.has(value) && !this.#presentAtEnd.has(value)) return false;
    return this.#mayBeRemoved.has(value) || this.#becomes(value);
  }

  /** Asked of one value by as many changes as a plan shows for it. */
  #becomes(value: string): boolean {
    const known = this.#answers.get(value);
    if (known !== undefined) return known;
    const answer = (this.#mayBecome.get(value) ?? []).some((other) => this.#presentAtEnd.has(other));
    this.#answers.set(value, answer);
    return answer;
  }
}

/** The value that goes and the one that comes, each with its own address: a forged file might show a value under another one. */
function effectsOf({
  address,
  previousAddress,
  before,
  after,
}: ReviewedChange): Record<"left" | "came", string | null> {
  return { left: effectOf(previousAddress ?? address, before), came: effectOf(address, after) };
}

function effectOf(address: Address, values: Values | null): string | null {
  if (values === null) return null;
  const fields = Object.entries(values).sort(([a], [b]) => compareText(a, b));
  return mapKey(JSON.stringify([address, fields]));
}

/**
 * Whether the shown change covers this one, for kinds whose objects have an identity beside their values: such an object stays the same one
 * while its fields change.
 */
function covers(reviewed: ReviewedChange, change: Change, facts: KindFacts): boolean {
  switch (change.action) {
    case "no-op":
      return true;
    case "create":
      return makes(reviewed) && isEqual(withoutLost(reviewed, change), change.after);
    case "delete":
      return removesShownObject(reviewed, change) && reviewed.action === "delete" && holdsAtMostShown(reviewed, change);
    case "replace":
      // An upload that was begun and given up is deleted only to be made again.
      return change.labels.includes("unfinished")
        ? makes(reviewed) && isEqual(reviewed.after, change.after)
        : removesShownObject(reviewed, change) &&
            reviewed.action === "replace" &&
            isEqual(reviewed.after, change.after) &&
            changedFields(change).every((field) => isShown(reviewed, field));
    case "update":
      return reviewed.action !== "delete" && reviewed.action !== "no-op" && coversUpdate(reviewed, change, facts);
  }
}

/** Whether the change only deletes what a killed run has begun, and not finished, of something that was shown to be made. */
function isRestOf(shown: readonly ReviewedChange[], { action, labels, before }: Change): boolean {
  if (action !== "delete" || !labels.includes("unfinished")) return false;
  const isBegunAs = ({ after }: ReviewedChange) =>
    Object.entries(before ?? {}).every(([field, value]) => isEqual(after?.[field], value));
  return shown.some((change) => makes(change) && isBegunAs(change));
}

/**
 * Whether the change deletes or replaces the very object that was shown, with the name and the owner's tag that were shown: somebody may have
 * taken it over, or have renamed it or taken the tag off to keep it. Region and range never change, so that a file with others is forged. If that was
 * an unfinished upload, it must still be one.
 */
function removesShownObject(reviewed: ReviewedChange, change: Change): boolean {
  const isAsShown = (field: string) => isEqual(reviewed.before?.[field] ?? null, change.before?.[field] ?? null);
  return reviewed.id === change.id && SHOWN_FIELDS.every(isAsShown) && !isFinishedSince(reviewed, change);
}

/** Who an object is to a reader, beside its id. */
const IDENTITY_FIELDS: readonly string[] = ["label", "domain", "owner"];
const SHOWN_FIELDS: readonly string[] = [...IDENTITY_FIELDS, "region", "ipv4"];

/** An upload that was shown as unfinished held no data that a reviewer would want to keep. Once it is finished, it holds an image. */
function isFinishedSince(reviewed: ReviewedChange, { labels }: Change): boolean {
  return reviewed.labels.includes("unfinished") && !labels.includes("unfinished");
}

/**
 * The file shows only how many records are deleted with a zone. If it shows no number, the deletion was shown for all records, however many
 * there are.
 */
function holdsAtMostShown({ holds: shown }: ReviewedChange, { holds: now }: Change): boolean {
  return shown === undefined || now === undefined || now.records <= shown.records;
}

/**
 * The values that the create half of a replace may have. A description that no manifest states is taken over from the old object; once that
 * one is deleted, the new object is made without a description.
 */
function withoutLost({ action, before, after }: ReviewedChange, change: Change): Values | null {
  const isLost = action === "replace" && change.after?.["description"] === "";
  return isLost && isEqual(before?.["description"], after?.["description"]) ? { ...after, description: "" } : after;
}

/** What is shown of a change that keeps an object, or makes it anew, is what differs. */
function isShown({ before, after }: ReviewedChange, field: string): boolean {
  return !isEqual(before?.[field], after?.[field]);
}

function makes(reviewed: ReviewedChange): boolean {
  return reviewed.action === "create" || reviewed.action === "replace";
}

/** Each field that would change now must have been shown to get just that value. */
function coversUpdate(reviewed: ReviewedChange, change: Change, facts: KindFacts): boolean {
  if (reviewed.before === null) return isBegun(reviewed, change) && endsAsShown(reviewed, change);
  if (reviewed.id !== change.id || !isSameObject(reviewed, change, facts)) return false;
  const wasShown = (field: string) => {
    // The owner's tag before the change must be the reviewed one: an object that had no tag then may have another project's by now.
    const isTaken = field === "owner" && !isEqual(reviewed.before?.["owner"], change.before?.["owner"]);
    return !isTaken && isShown(reviewed, field);
  };
  const changed = changedFields(change).filter((field) => !(field === "status" && isConverted(reviewed, change)));
  return endsAsShown(reviewed, change) && changed.every((field) => wasShown(field) && losesOnlyShown(field));

  /** Of a list, what goes must have been shown to go: somebody may have added to it since. */
  function losesOnlyShown(field: string): boolean {
    const shown = lostItems(reviewed, field);
    return [...lostItems(change, field)].every((item) => shown.has(item));
  }
}

/**
 * A file that shows the change under another name or owner is forged, or somebody has renamed the object since, or changed its owner's tag. A killed
 * run may have given it its new name and tag already, or the name for a moment.
 */
function isSameObject({ before, after, id }: ReviewedChange, change: Change, { temporaryName }: KindFacts): boolean {
  const forAMoment = id === null ? undefined : temporaryName?.(id);
  return IDENTITY_FIELDS.every((field) =>
    [before?.[field], after?.[field], forAMoment].some((value) => isEqual(value, change.before?.[field])),
  );
}

function jsonKey(item: Json): string {
  return mapKey(JSON.stringify(item));
}

/** The items of a list that the change takes out of it, as keys. */
function lostItems({ before, after }: ReviewedChange, field: string): ReadonlySet<string> {
  const [was, is] = [before?.[field], after?.[field]];
  const kept = new Set(Array.isArray(is) ? is.map(jsonKey) : []);
  const items = Array.isArray(was) ? was.map(jsonKey) : [];
  return new Set(items.filter((item) => !kept.has(item)));
}

/**
 * A slave that became a master stays disabled until it is filled: its later change of `status` is the rest of a conversion that was shown.
 */
function isConverted({ kind, before, after }: ReviewedChange, change: Change): boolean {
  if (kind !== "domain" || isEqual(before?.["type"], after?.["type"])) return false;
  return isEqual(change.before?.["type"], after?.["type"]) && change.before?.["status"] === "disabled";
}

/**
 * Whether the object may be what a killed run has left of a create that was shown. Only a domain can be left half made and be finished by
 * an update: an unfinished upload is replaced. Until the last request of its create a domain is disabled; with `create_from` it has the tag
 * and the status of its source until then. A domain that the change would adopt or take over was made by somebody else. With
 * `create_from`, an update that would turn off an active domain is not the rest of the create either.
 */
function isBegun({ kind, after }: ReviewedChange, change: Change): boolean {
  if (kind !== "domain" || change.labels.includes("adopt") || change.labels.includes("take-over")) return false;
  const { status, owner = null } = change.before ?? {};
  if (after?.["create_from"] === undefined) return status === "disabled";
  return owner !== null && (status !== "active" || change.after?.["status"] === "active");
}

function endsAsShown(reviewed: ReviewedChange, change: Change): boolean {
  return changedFields(change).every((field) => isEqual(reviewed.after?.[field], change.after?.[field]));
}

function changedFields({ before, after }: Change): string[] {
  return Object.keys(after ?? {}).filter((field) => !isEqual(before?.[field], after?.[field]));
}

function keyOf(kind: Kind, address: string): string {
  return `${kind} ${address}`;
}
