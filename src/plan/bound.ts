/** The reviewed plan as an upper bound: is every change that is still needed one that was shown? */

import isEqual from "fast-deep-equal";
import type { Action, Change } from "../model/change.ts";
import { compareText, groupBy } from "../model/group.ts";
import type { Kind, Values } from "../model/resource.ts";

/** A change as a plan file shows it. */
export interface ReviewedChange {
  readonly address: string;
  readonly kind: Kind;
  readonly action: Action;
  readonly before: Values | null;
  readonly after: Values | null;
}

/**
 * The changes outside the bound. They are compared by effect, not by step, so that a half-done apply can be resumed: what was
 * to be replaced may now only be created, what was to be created may now only be finished.
 */
export function outsideBound(changes: readonly Change[], reviewed: readonly ReviewedChange[]): Change[] {
  const shown = groupBy(reviewed, (change) => keyOf(change.kind, change.address));
  const records = new RecordEffects(reviewed);
  return changes.filter((change) => {
    if (change.action === "no-op" || change.blocked !== null) return false;
    if (change.kind === "domain_record") return !records.cover(change);
    const candidates = shown.get(keyOf(change.kind, change.address)) ?? [];
    return !candidates.some((candidate) => covers(candidate, change));
  });
}

/**
 * A record is what it says: all that counts is which values come to a zone and which leave it. So two changes may have become one,
 * or one two, but nothing comes or goes that was not shown to.
 */
class RecordEffects {
  readonly #come = new Set<string>();
  readonly #leave = new Set<string>();

  constructor(reviewed: readonly ReviewedChange[]) {
    for (const change of reviewed) {
      if (change.kind !== "domain_record" || change.action === "no-op") continue;
      if (change.after !== null) this.#come.add(effectOf(change.address, change.after));
      if (change.before !== null) this.#leave.add(effectOf(change.address, change.before));
    }
  }

  cover({ address, before, after }: ReviewedChange): boolean {
    const comes = after === null || this.#come.has(effectOf(address, after));
    return comes && (before === null || this.#leave.has(effectOf(address, before)));
  }
}

function effectOf(address: string, values: Values): string {
  const fields = Object.entries(values).sort(([a], [b]) => compareText(a, b));
  return JSON.stringify([...address.split("/", 2), fields]);
}

/** A VPC, subnet, domain or image stays itself while its fields change. */
function covers(reviewed: ReviewedChange, change: Change): boolean {
  switch (change.action) {
    case "no-op":
      return true;
    case "create":
      return makes(reviewed) && isEqual(reviewed.after, change.after);
    case "delete":
      return removes(reviewed);
    case "replace":
      // An upload that was begun and left is deleted only to be made again.
      return (
        (change.labels.includes("unfinished") ? makes(reviewed) : reviewed.action === "replace") &&
        isEqual(reviewed.after, change.after)
      );
    case "update":
      return reviewed.action !== "delete" && reviewed.action !== "no-op" && coversUpdate(reviewed, change);
  }
}

function makes(reviewed: ReviewedChange): boolean {
  return reviewed.action === "create" || reviewed.action === "replace";
}

function removes(reviewed: ReviewedChange): boolean {
  return reviewed.action === "delete" || reviewed.action === "replace";
}

/** Each field that would change now must have been shown to become just that. */
function coversUpdate(reviewed: ReviewedChange, change: Change): boolean {
  const before = change.before ?? {};
  const after = change.after ?? {};
  const shown = reviewed.after ?? {};
  const changed = Object.keys(after).filter((field) => !isEqual(before[field], after[field]));
  const sameEnd = changed.every((field) => isEqual(shown[field], after[field]));
  const wasToChange =
    reviewed.before === null || changed.every((field) => !isEqual(reviewed.before?.[field], reviewed.after?.[field]));
  return sameEnd && wasToChange;
}

function keyOf(kind: Kind, address: string): string {
  return `${kind} ${address}`;
}
