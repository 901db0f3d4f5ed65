/** What is said of a plan once it is made: what has drifted, whose each change is, what holds a subnet, how fast an apply may be. */

import isEqual from "fast-deep-equal";
import type { ObservedLimit } from "../model/api.ts";
import type {
  Change,
  ChangeOrigin,
  Drift,
  DriftField,
  DriftObject,
  DriftStatus,
  InterfaceDetail,
} from "../model/change.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Kinds } from "../model/kind.ts";
import type { Guard, Pace, Plan, Step, WithdrawnChange } from "../model/plan.ts";
import type { Json } from "../model/resource.ts";
import { compareText } from "../model/text.ts";
import { guardKey, guardKeysOf } from "./guards.ts";

/** Seen from the account, what an apply would change is what has drifted. Blocked changes are differences all the same. Linear in the number of changes. */
export function driftOf({ owner, inputs, changes }: Pick<Plan, "owner" | "inputs" | "changes">): Drift {
  const objects = changes.flatMap((change) => driftObject(change) ?? []).sort((a, b) => compareText(a.key, b.key));
  const summary = { changed: 0, missing: 0, unexpected: 0, unadopted: 0 };
  for (const { status } of objects) summary[status] += 1;
  return { owner, targets: inputs.targets, excludes: inputs.excludes, objects, summary };
}

/** Objects that nobody can tell from others of their label: what is said of them may be wrong. */
export function unclearIdentities({ changes }: Pick<Plan, "changes">): Diagnostic[] {
  return changes.flatMap(({ address, blocked, span }) => {
    if (blocked?.type !== "ambiguous") return [];
    const { candidates } = blocked;
    return [
      {
        code: "ambiguous-identity",
        severity: "warning",
        summary: `${address} could be any of ${candidates.length} live objects`,
        detail: `Several objects in the account carry its label: ${candidates.map(({ id }) => `id ${id}`).join(", ")}.`,
        fix: "Say which one is meant with `id:`, or rename or delete the others.",
        ...(span === null ? {} : { span }),
        address,
      },
    ];
  });
}

function driftObject(change: Change): DriftObject | null {
  if (change.action === "no-op") return null;
  const { key, address, previousAddress, root, kind, id, labels, note } = change;
  const differing = fieldsOf(change);
  const status = statusOf(change, differing);
  const fields = status === "changed" && labels.includes("adopt") ? withoutOwner(differing) : differing;
  return { key, address, liveAddress: previousAddress, root, kind, status, id, labels, fields, note };
}

function statusOf({ action, labels }: Change, fields: readonly DriftField[]): DriftStatus {
  switch (action) {
    case "create":
      return "missing";
    case "delete":
      return "unexpected";
    case "replace":
      return "changed";
    case "update":
    case "no-op":
      return labels.includes("adopt") && withoutOwner(fields).length === 0 ? "unadopted" : "changed";
  }
}

function fieldsOf({ before, after }: Change): DriftField[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].sort(compareText);
  return names.flatMap((name) => {
    const [live, declared] = [before?.[name], after?.[name]];
    return isEqual(live, declared) ? [] : [{ name, declared: declared ?? null, live: live ?? null }];
  });
}

function withoutOwner(fields: readonly DriftField[]): DriftField[] {
  return fields.filter(({ name }) => name !== "owner");
}

// Whose change is it: this change's, or one that was pending before?

/**
 * The plan with the origin of each of its changes and guards, and with what it takes back. Changes are the same if they have the same effect;
 * of several that do, as many are already pending as the base would make. Linear in the number of changes.
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

/** A plan whose guards do not say yet whose they are. */
type Unattributed = Omit<Plan, "guards"> & { readonly guards: readonly Omit<Guard, "origin">[] };

/** The plan with the origin of each of its guards, by that of the changes that have a part in it. Linear in the number of changes. */
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

/** What stays as it is is nobody's change. */
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

// What keeps a subnet from being deleted, as a closer look at it tells.

/** The plan with the profile and the address of each interface that blocks a change, as far as they are known. */
export function completeInterfaces(plan: Plan, details: readonly InterfaceDetail[]): Plan {
  const known = new Map(details.map((detail) => [interfaceKey(detail), detail]));
  const changes = plan.changes.map((change): Change => {
    if (change.blocked?.type !== "interfaces") return change;
    const interfaces = change.blocked.interfaces.map((one) => ({ ...one, ...known.get(interfaceKey(one)) }));
    return { ...change, blocked: { ...change.blocked, interfaces } };
  });
  return { ...plan, changes };
}

function interfaceKey({ subnet_id, interface_id }: Pick<InterfaceDetail, "subnet_id" | "interface_id">): string {
  return `${subnet_id} ${interface_id}`;
}

// Chooses, of the limits that the service's answers named, the one that an apply will meet.

/**
 * The tightest limit reported for what the steps are about, as far as reading met it: limits may be counted per endpoint, and of
 * those that only change something nothing is known before.
 * @returns null if no answer named a limit, or how long its window lasts
 */
export function rateOf(limits: readonly ObservedLimit[], steps: readonly Step[]): Pace | null {
  const touched = new Set(steps.flatMap((step) => (step.type === "upload" ? [] : [String(step.path[0])])));
  const known = limits.filter(({ windowSeconds }) => windowSeconds !== null);
  let pace: Pace | null = null;
  for (const { endpoint, limit, windowSeconds } of limits) {
    if (limit === null || limit === 0 || !touched.has(collectionOf(endpoint))) continue;
    // A common window is opened by one endpoint only, and that one learns its length.
    const seconds = windowSeconds ?? windowOf(limit, collectionOf(endpoint), known);
    if (seconds === null) continue;
    if (pace === null || limit / seconds < pace.requests / pace.seconds) pace = { requests: limit, seconds };
  }
  return pace;
}

/** The window of an equal limit of the same collection, else the shortest window of any. */
function windowOf(limit: number, collection: string, known: readonly ObservedLimit[]): number | null {
  const equal = known.filter((other) => other.limit === limit);
  const near = equal.filter(({ endpoint }) => collectionOf(endpoint) === collection);
  const seconds = (near.length > 0 ? near : equal).map(({ windowSeconds }) => windowSeconds ?? 0);
  return seconds.length === 0 ? null : seconds.reduce((least, one) => Math.min(least, one));
}

/** `GET /domains/*` → `domains` */
function collectionOf(endpoint: string): string {
  return endpoint.split("/", 2)[1] ?? "";
}
