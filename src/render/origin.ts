/** Whose changes they are, in words: what the proposed change brings, what was pending before, and what is withdrawn. */

import type { Change } from "../model/change.ts";
import { type Plan, type PlanBase, type Summary, summarise } from "../model/plan.ts";
import { actionEntries } from "./by-root.ts";
import { escapeText } from "./escape.ts";
import { shorten } from "./width.ts";

const MAX_NAME_COLUMNS = 40;
const MAX_TOLD_APART = 10;

export const PENDING_HEADING = "Already pending before this change (drift, or not yet applied):";

export interface ByOrigin {
  readonly own: readonly Change[];
  readonly pending: readonly Change[];
}

/** What stays as it is is in neither. Linear in the number of changes. */
export function byOrigin({ changes }: Pick<Plan, "changes">): ByOrigin {
  const [own, pending]: [Change[], Change[]] = [[], []];
  for (const change of changes) {
    if (change.action !== "no-op") (change.origin === "already-pending" ? pending : own).push(change);
  }
  return { own, pending };
}

export function ownHeading({ name }: PlanBase, { own }: ByOrigin): string {
  return `This change, compared with ${nameText(name)}:${own.length === 0 ? " nothing." : ""}`;
}

export function withdrawnHeading({ name }: PlanBase): string {
  return `Withdrawn: ${nameText(name)} would do this, and no longer with this change:`;
}

/** Each as lines, escaped; many are told by what they belong to. */
export function withdrawnEntries({ withdrawn }: PlanBase): string[][] {
  if (withdrawn.length > MAX_TOLD_APART) return actionEntries(withdrawn);
  return withdrawn.map(({ action, key }) => [`${action} ${escapeText(key)}`]);
}

/** `This change: 1 to add, …. Already pending: ….` */
export function splitText({ own, pending }: ByOrigin): string {
  return `This change: ${countsText(summarise(own))} Already pending: ${countsText(summarise(pending))}`;
}

function countsText({ add, change, destroy, blocked }: Summary): string {
  const counts = `${add} to add, ${change} to change, ${destroy} to destroy`;
  return blocked === 0 ? `${counts}.` : `${counts}, ${blocked} blocked.`;
}

function nameText(name: string): string {
  return shorten(escapeText(name), MAX_NAME_COLUMNS, Buffer.byteLength(name));
}
