/** Which guards and warnings a plan would have without the proposed change just as well: all they are about was pending. */

import type { Address } from "../model/address.ts";
import type { Change } from "../model/change.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import type { Guard, Plan } from "../model/plan.ts";
import { byOrigin } from "./origin.ts";

const MARK = " (already pending before this change)";
/** Where a guard is about the plan as a whole. */
const WHOLE: Address = "*";

/** What is said behind a guard or a warning: nothing, or that the proposed change has no part in it. */
export interface PendingMarks {
  guard(guard: Guard): string;
  warning(warning: Diagnostic): string;
}

/** Without a base nothing is marked. Linear in the number of changes. */
export function pendingMarks(plan: Plan): PendingMarks {
  if (plan.base === null) return { guard: () => "", warning: () => "" };
  const guarded = pendingPlaces(plan, (change) => RULES.flatMap((rule) => guardKeys(rule, change)));
  const warned = pendingPlaces(plan, warningKeys);
  return {
    guard: ({ rule, address }) => (guarded(keyOf(rule, rule === "max-changes" ? WHOLE : address)) === true ? MARK : ""),
    warning: ({ address, span }) => {
      if (address === undefined) return "";
      const here = span === undefined ? undefined : warned(spanKey(span));
      return (here ?? warned(address)) === true ? MARK : "";
    },
  };
}

/** Whether all changes of a place were pending; undefined: it has none. */
function pendingPlaces(
  plan: Plan,
  keysOf: (change: Change) => readonly string[],
): (key: string) => boolean | undefined {
  const { own, pending } = byOrigin(plan);
  const found = new Map<string, boolean>();
  for (const change of pending) for (const key of keysOf(change)) found.set(key, true);
  for (const change of own) for (const key of keysOf(change)) found.set(key, false);
  return (key) => found.get(key);
}

const RULES = ["delete", "replace", "bulk", "ns", "protect", "max-changes"] as const satisfies readonly Guard["rule"][];

/** The guards that a change may have a part in. */
function guardKeys(rule: Guard["rule"], change: Change): string[] {
  const { kind, action, address, root, blocked, labels } = change;
  if (blocked !== null) return [];
  const goes = action === "delete" || action === "replace";
  const liveAddress = change.previousAddress ?? address;
  switch (rule) {
    case "delete":
    case "replace":
      return goes ? [keyOf(rule, liveAddress)] : [];
    case "protect":
      return goes ? [keyOf(rule, address), keyOf(rule, liveAddress)] : [];
    case "bulk":
      // To adopt a zone or a VPC is a reason of its own.
      return kind === "domain" || kind === "vpc" || action === "delete" || labels.includes("rename")
        ? [keyOf(rule, change.previousAddress === null ? root : rootOf(liveAddress))]
        : [];
    case "ns":
      return isApexNameserver(change) ? [keyOf(rule, root)] : [];
    case "max-changes":
      return [keyOf(rule, WHOLE)];
  }
}

/** A label's slash is escaped in an address. */
function rootOf(address: Address): Address {
  return address.split("/").slice(0, 2).join("/");
}

function isApexNameserver({ before, after }: Change): boolean {
  return [before, after].some((values) => values?.["type"] === "NS" && values["name"] === "");
}

function keyOf(rule: Guard["rule"], address: Address): string {
  return `${rule} ${address}`;
}

/** Where it is declared, its address, and all that is above. */
function warningKeys({ address, span }: Change): string[] {
  const keys = span === null ? [address] : [spanKey(span), address];
  for (let end = address.lastIndexOf("/"); end > 0; end = address.lastIndexOf("/", end - 1)) {
    keys.push(address.slice(0, end));
  }
  return keys;
}

function spanKey({ file, start, end }: Span): string {
  return `${start} ${end} ${file}`;
}
