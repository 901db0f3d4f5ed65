/** With `--base`: which changes and guards come from this proposal, and which were pending before it. */

import type { Change, ChangeOrigin } from "../model/change.ts";
import type { Kinds } from "../model/kind.ts";
import { mapKey } from "../model/map-key.ts";
import type { Guard, Plan, WithdrawnChange } from "../model/plan.ts";
import type { Address, Json, ObjectId } from "../model/resource.ts";
import { compareText, groupBy } from "../model/text.ts";
import { isRetired } from "./environments.ts";
import { guardKey, guardKeysOf } from "./guards.ts";

/** What the plan of a base does not say. */
interface BaseContext {
  /** Networks, zones and images that the project declares otherwise than the base does. */
  readonly changed: ReadonlySet<Address>;
  /** The base has environments beside that of the run: one of them may declare what its plan would retire. */
  readonly hasOtherEnvironments: boolean;
}

const UNCHANGED: BaseContext = { changed: new Set(), hasOtherEnvironments: false };

/**
 * Adds to the plan the origin of each change and guard, and the changes of the base plan that this plan no longer makes. If N changes
 * have the same effect and the base plan has M of them, M count as already pending. A change that the base plan blocks or guards, and
 * that this plan does not, counts as this plan's; so does all that an apply of the base might refuse. Linear in the changes.
 * @param before the plan of the base, made against the same live state
 * @param name of the base, as it was given
 */
export function attributeOrigins(
  plan: Plan,
  before: Plan,
  name: string,
  kinds: Kinds,
  { changed, hasOtherEnvironments }: BaseContext = UNCHANGED,
): Plan {
  // A plan that is refused does nothing, so a change that lifts the refusal brings all that follows.
  const isHeld = !isRefused(plan) && (isRefused(before) || mayBeRefused(before, plan, hasOtherEnvironments));
  const [idsBefore, idsNow] = [rootIdsOf(before.changes, kinds), rootIdsOf(plan.changes, kinds)];
  const pending = groupBy(
    before.changes.filter(({ action }) => action !== "no-op"),
    (change) => effectOf(change, idsBefore),
  );
  const obstaclesBefore = new Obstacles(before, kinds);
  const obstaclesNow = new Obstacles(plan, kinds);
  const originOf = (change: Change): ChangeOrigin | null => {
    if (change.action === "no-op") return null;
    const same = pending.get(effectOf(change, idsNow))?.pop();
    if (same === undefined) return "this-change";
    const now = obstaclesNow.of(change);
    if (changed.has(change.root) && isExchanged(change, same)) return "this-change";
    const isFreed =
      !now.includes(BLOCKED) && (isHeld || obstaclesBefore.of(same).some((obstacle) => !now.includes(obstacle)));
    return isFreed ? "this-change" : "already-pending";
  };
  const changes = plan.changes.map((change): Change => ({ ...change, origin: originOf(change) }));
  const left = isHeld ? [] : [...pending.values()].flat();
  const withdrawn = left.map(({ key, action }): WithdrawnChange => ({ key, action }));
  const base = { name, withdrawn: withdrawn.sort((a, b) => compareText(a.key, b.key)) };
  return attributeGuards({ ...plan, changes, base }, kinds);
}

/**
 * Whether a block stands where there was another one, or where it hid what needs consent or is protected: what is blocked has no guards. Then what
 * the project changed of the object may set it free, once the block is gone.
 */
function isExchanged({ blocked, action, labels }: Change, before: Change): boolean {
  if (blocked === null || before.blocked === null) return false;
  return (
    blocked.type !== before.blocked.type || action === "delete" || action === "replace" || labels.includes("rename")
  );
}

/**
 * What is looked into for the project alone: files that the base would upload and the project would not, and, where the base retires images, its
 * other environments.
 */
function mayBeRefused(before: Plan, plan: Plan, hasOtherEnvironments: boolean): boolean {
  if (hasOtherEnvironments && before.changes.some(isRetired)) return true;
  const checked = new Set(uploadsOf(plan));
  return uploadsOf(before).some((upload) => !checked.has(upload));
}

function uploadsOf({ steps }: Plan): string[] {
  return steps.flatMap((step) => (step.type === "upload" ? [JSON.stringify([step.file, step.content?.sha256])] : []));
}

/** An apply refuses a plan as a whole, be it for one guard. */
function isRefused({ refusals, guards }: Plan): boolean {
  return refusals.length > 0 || guards.some(({ consent }) => consent !== "given");
}

/** A plan whose guards have no origin yet. */
type Unattributed = Omit<Plan, "guards"> & { readonly guards: readonly Omit<Guard, "origin">[] };

/** Adds to the plan the origin of each guard, taken from the changes that belong to the guard. Linear in the number of changes. */
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

const BLOCKED = "blocked";

/** What keeps a plan from making a change: a block, or guards without consent. */
class Obstacles {
  readonly #refused: ReadonlySet<string>;
  readonly #kinds: Kinds;

  constructor({ guards }: Plan, kinds: Kinds) {
    this.#refused = new Set(guards.filter(({ consent }) => consent !== "given").map(guardKey));
    this.#kinds = kinds;
  }

  /** `blocked`, or the keys of the guards. */
  of(change: Change): readonly string[] {
    if (change.blocked !== null) return [BLOCKED];
    return [...guardKeysOf(change, this.#kinds), ...this.#keysOfRoot(change)].filter((key) => this.#refused.has(key));
  }

  /** A part that is lost with its root has no guard of its own. */
  #keysOfRoot({ kind, action, root }: Change): string[] {
    if (this.#kinds.isRoot(kind) || (action !== "delete" && action !== "replace")) return [];
    return (["delete", "replace", "protect"] as const).map((rule) => guardKey({ rule, address: root }));
  }
}

/** Which live object each address of a network, zone or image means; null: one that is to be made. */
function rootIdsOf(changes: readonly Change[], kinds: Kinds): ReadonlyMap<Address, ObjectId | null> {
  return new Map(changes.flatMap(({ kind, root, id }) => (kinds.isRoot(kind) ? [[root, id]] : [])));
}

/** What is made in one object is not what would be made in another of its name. */
function effectOf(
  { kind, address, root, previousAddress, id, action, before, after }: Change,
  rootIds: ReadonlyMap<Address, ObjectId | null>,
): string {
  const within = id === null ? (rootIds.get(root) ?? null) : null;
  return mapKey(JSON.stringify([kind, address, within, previousAddress, id, action, ordered(before), ordered(after)]));
}

/** The value with its keys sorted: their order is no difference. */
function ordered(value: Json | undefined): Json {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map(ordered);
  const entries = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return entries.map(([key, item]) => [key, ordered(item as Json)]);
}
