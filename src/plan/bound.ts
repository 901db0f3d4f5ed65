/** The reviewed plan as an upper bound: is every change that is still needed one that was shown? */

import isEqual from "fast-deep-equal";
import type { Action, Change } from "../model/change.ts";
import { groupBy } from "../model/group.ts";
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
  return changes.filter((change) => {
    if (change.action === "no-op" || change.blocked !== null) return false;
    const candidates = shown.get(keyOf(change.kind, change.address)) ?? [];
    return !candidates.some((candidate) => covers(candidate, change));
  });
}

function covers(reviewed: ReviewedChange, change: Change): boolean {
  switch (change.action) {
    case "no-op":
      return true;
    case "create":
      return makes(reviewed) && isEqual(reviewed.after, change.after);
    case "delete":
      return removes(reviewed) && sameObject(change.kind, reviewed.before, change.before);
    case "replace":
      return reviewed.action === "replace" && isEqual(reviewed.after, change.after);
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

/** A record is what it says; a VPC, subnet, domain or image stays itself while its fields change. */
function sameObject(kind: Kind, reviewed: Values | null, now: Values | null): boolean {
  return kind !== "domain_record" || isEqual(reviewed, now);
}

/** Each field that would change now must have been shown to become just that, and a record must lose no more than was shown. */
function coversUpdate(reviewed: ReviewedChange, change: Change): boolean {
  const before = change.before ?? {};
  const after = change.after ?? {};
  const shown = reviewed.after ?? {};
  const changed = Object.keys(after).filter((field) => !isEqual(before[field], after[field]));
  const sameEnd = changed.every((field) => isEqual(shown[field], after[field]));
  const wasToChange =
    reviewed.before === null || changed.every((field) => !isEqual(reviewed.before?.[field], reviewed.after?.[field]));
  return (
    sameEnd && wasToChange && (reviewed.before === null || sameObject(change.kind, reviewed.before, change.before))
  );
}

function keyOf(kind: Kind, address: string): string {
  return `${kind} ${address}`;
}
