/** With `--base`: which changes and guards come from this proposal, and which were pending before it. */

import type { Change, ChangeOrigin } from "../model/change.ts";
import type { Kinds } from "../model/kind.ts";
import type { Guard, Plan, WithdrawnChange } from "../model/plan.ts";
import type { Json } from "../model/resource.ts";
import { compareText } from "../model/text.ts";
import { guardKey, guardKeysOf } from "./guards.ts";

/**
 * The plan with the origin of each of its changes and guards, and with the changes of the base that it takes back. Two changes are the
 * same if they have the same effect; of several such changes as many are pending already as the base would make. Linear in the changes.
 * @param before the plan of the base, made against the same live state
 * @param name of the base, as it was given
 */
export function attributeOrigins(plan: Plan, before: Plan, name: string, kinds: Kinds): Plan {
  const pending = new Map<string, Change[]>();
  for (const change of before.changes) {
    if (change.action === "no-op") continue;
    const effect = effectOf(change);
    const same = pending.get(effect);
    if (same === undefined) pending.set(effect, [change]);
    else same.push(change);
  }
  const changes = plan.changes.map((change): Change => ({ ...change, origin: claimOrigin(change, pending) }));
  const withdrawn = [...pending.values()].flat().map(({ key, action }): WithdrawnChange => ({ key, action }));
  const base = { name, withdrawn: withdrawn.sort((a, b) => compareText(a.key, b.key)) };
  return attributeGuards({ ...plan, changes, base }, kinds);
}

/** A plan whose guards have no origin yet. */
type Unattributed = Omit<Plan, "guards"> & { readonly guards: readonly Omit<Guard, "origin">[] };

/** The plan with the origin of each of its guards: that of the changes that belong to the guard. Linear in the number of changes. */
export function attributeGuards(plan: Unattributed, kinds: Kinds): Plan {
  const { base, changes } = plan;
  if (base === null) return { ...plan, guards: plan.guards.map((guard) => ({ ...guard, origin: null })) };
  const origins = new Map<string, ChangeOrigin>();
  for (const change of changes) {
    for (const key of guardKeysOf(change, kinds)) {
      if (origins.get(key) !== "this-change") origins.set(key, change.origin ?? "this-change");
    }
  }
  const originOf = (guard: Omit<Guard, "origin">): ChangeOrigin => origins.get(guardKey(guard)) ?? "this-change";
  return { ...plan, guards: plan.guards.map((guard) => ({ ...guard, origin: originOf(guard) })) };
}

/** A no-op has no origin. */
function claimOrigin(change: Change, pending: ReadonlyMap<string, Change[]>): ChangeOrigin | null {
  if (change.action === "no-op") return null;
  return pending.get(effectOf(change))?.pop() === undefined ? "this-change" : "already-pending";
}

function effectOf({ kind, address, previousAddress, id, action, before, after }: Change): string {
  return JSON.stringify([kind, address, previousAddress, id, action, ordered(before), ordered(after)]);
}

/** The value with its keys sorted: their order is no difference. */
function ordered(value: Json | undefined): Json {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map(ordered);
  const entries = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return entries.map(([key, item]) => [key, ordered(item as Json)]);
}
