/** Whose change is it: this change's, or one that was pending before? */

import type { Change, ChangeOrigin } from "../model/change.ts";
import { compareText } from "../model/group.ts";
import type { Plan, WithdrawnChange } from "../model/plan.ts";
import type { Json } from "../model/resource.ts";

/**
 * The plan with the origin of each of its changes, and with what it takes back. Changes are the same if they have the same effect;
 * of several that do, as many are already pending as the base would make. Linear in the number of changes.
 * @param before the plan of the base, made against the same live state
 * @param name of the base, as it was given
 */
export function tellOrigins(plan: Plan, before: Plan, name: string): Plan {
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
  return { ...plan, changes, base: { name, withdrawn: withdrawn.sort((a, b) => compareText(a.key, b.key)) } };
}

/** What stays as it is is nobody's change. */
function claimOrigin(change: Change, pending: ReadonlyMap<string, Change[]>): ChangeOrigin | null {
  if (change.action === "no-op") return null;
  return pending.get(effectOf(change))?.pop() === undefined ? "this-change" : "already-pending";
}

function effectOf({ kind, address, previousAddress, id, action, before, after }: Change): string {
  return JSON.stringify([kind, address, previousAddress, id, action, ordered(before), ordered(after)]);
}

/** With the keys of every object in order: how they came to be is no difference. */
function ordered(value: Json | undefined): Json {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map(ordered);
  const entries = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return entries.map(([key, item]) => [key, ordered(item as Json)]);
}
