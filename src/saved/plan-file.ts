/** Reads a plan file back. A file that cannot be used has a diagnostic code for each cause. */

import isEqual from "fast-deep-equal";
import type { Change } from "../model/change.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Plan, PlanInputs } from "../model/plan.ts";
import {
  type Address,
  addressOfValues,
  isJsonObject,
  type Json,
  type JsonObject,
  type ObjectId,
  rootOf,
  type Values,
} from "../model/resource.ts";
import {
  type ChangeExtra,
  digestOf,
  PLAN_FORMAT_VERSION,
  type PlanAction,
  type PlanFile,
  type ResourceChange,
  type SavedGuard,
  type SavedInputs,
  toFamily,
} from "../render/plan-json.ts";
import { LIVE_KIND } from "./live-file.ts";
import { damaged, newer, older, parseSavedJson, type SavedKind, schemaProblems } from "./read-json.ts";

const SCHEMA = "schemas/plan.schema.json";
const KIND: SavedKind = { noun: "plan file", code: "plan-file", command: "tenon plan --out FILE" };

/** A plan as a plan file holds it: everything but the origins of its guards, which follow from its changes. */
export interface SavedPlan extends Omit<Plan, "guards"> {
  readonly guards: readonly SavedGuard[];
}

export type SavedPlanResult =
  | { readonly ok: true; readonly plan: SavedPlan }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/**
 * @returns the plan, or a diagnostic: `plan-file-truncated`, `-damaged`, `-newer`, `-older` or `-foreign`
 * @throws if the schema that is shipped with the package cannot be read
 */
export async function parsePlanFile(text: string): Promise<SavedPlanResult> {
  const parsed = parseSavedJson(text, KIND);
  if (!parsed.ok) return parsed;
  const foreign = recogniseOthers(parsed.value);
  if (foreign !== null) return { ok: false, diagnostic: foreign };
  const problems = await schemaProblems(parsed.value, SCHEMA);
  if (problems.length > 0) return { ok: false, diagnostic: damaged(KIND, problems) };
  const file = parsed.value as unknown as PlanFile;
  const strangers = file.resource_changes.filter(({ address }) => !Object.hasOwn(file.tenon.changes, address));
  if (strangers.length > 0) {
    return {
      ok: false,
      diagnostic: damaged(
        KIND,
        strangers.map(({ address }) => `${address} is missing under tenon.changes`),
      ),
    };
  }
  if (file.tenon.digest !== digestOf(file)) {
    return { ok: false, diagnostic: damaged(KIND, ["something in it was changed after it was written"]) };
  }
  const plan = toPlan(file);
  const contradictions = contradictionsIn(plan.changes);
  for (const [key, { blocked, wanted }] of Object.entries(file.tenon.changes))
    if ((blocked === null) !== (wanted === null))
      contradictions.push(`${key} says what is wanted and not what blocks it, or the other way round`);
  return contradictions.length > 0 ? { ok: false, diagnostic: damaged(KIND, contradictions) } : { ok: true, plan };
}

/** What of the changes says something else than the rest of them. */
function contradictionsIn(changes: readonly Change[]): string[] {
  const roots = new Map<Address, Change>();
  const found: string[] = [];
  for (const change of changes) {
    if (change.address !== change.root || change.action === "no-op") continue;
    if (roots.has(change.root)) found.push(`${change.key} is there twice`);
    roots.set(change.root, change);
  }
  for (const change of changes) {
    const { key, root, previousAddress } = change;
    const contradiction = contradictionIn(change);
    if (contradiction !== null) found.push(contradiction);
    if (previousAddress === null || change.address === root) continue;
    // What is within an object moves with it alone.
    const formerRoot = rootOf(previousAddress);
    if (formerRoot !== root && formerRoot !== roots.get(root)?.previousAddress) {
      found.push(`${key} was not within ${formerRoot}`);
    }
  }
  return found;
}

/**
 * What of a change says something else than the rest of it; null if nothing does. An apply goes by the values of a change, and a reader by its place,
 * its name and its sign: a forged file might show another change than it allows.
 */
function contradictionIn(change: Change): string | null {
  const { key, address, previousAddress, root, kind, action, id, before, after } = change;
  // What stays as it is is not shown.
  if (action === "no-op") return null;
  if (root !== rootOf(address)) return `${key} is not within ${root}`;
  const isOf = (named: Address, values: Values | null): boolean => {
    if (values === null) return true;
    const own = addressOfValues(kind, rootOf(named), values);
    if (named === own) return true;
    // One of several of its name has its id behind that; one that is made again, the id that it had.
    const suffix = named.startsWith(`${own}:`) ? named.slice(own.length + 1) : "/";
    return id === null ? !suffix.includes("/") : suffix === encodeURIComponent(String(id));
  };
  if (!isOf(previousAddress ?? address, before) || !isOf(address, after)) return `${key} has values of another address`;
  const isOfAction = {
    create: before === null && after !== null && previousAddress === null,
    delete: before !== null && after === null,
    update: before !== null && after !== null && !isEqual(before, after),
    replace: before !== null && after !== null,
  }[action];
  return isOfAction ? null : `${key} has values that no ${action} has`;
}

function recogniseOthers(value: Json): Diagnostic | null {
  const tenon = isJsonObject(value) ? value["tenon"] : undefined;
  const version = isJsonObject(tenon) ? tenon["format_version"] : undefined;
  if (typeof version === "number" && version > PLAN_FORMAT_VERSION) {
    return newer(KIND, version, PLAN_FORMAT_VERSION, "Use the same version of tenon for plan and apply.");
  }
  if (typeof version === "number" && version < PLAN_FORMAT_VERSION) return older(KIND, version, PLAN_FORMAT_VERSION);
  if (isJsonObject(value) && value["kind"] === LIVE_KIND) {
    return {
      code: "plan-file-foreign",
      severity: "error",
      summary: "the file is a snapshot of an account, not a plan",
      detail: "It is what tenon live writes.",
      fix: "Make a plan of it with tenon plan --live SNAPSHOT --out FILE.",
    };
  }
  if (isJsonObject(value) && value["format_version"] !== undefined && tenon === undefined) {
    return {
      code: "plan-file-foreign",
      severity: "error",
      summary: "the file is a plan, but not one of tenon",
      detail: "It has a format_version, and nothing under tenon.",
      fix: "Write one with tenon plan --out FILE.",
    };
  }
  return null;
}

function toPlan(file: PlanFile): SavedPlan {
  const { tenon } = file;
  return {
    goal: tenon.goal,
    owner: tenon.owner,
    inputs: toInputs(tenon.inputs),
    changes: file.resource_changes.map((change) => toChange(change, tenon.changes[change.address] as ChangeExtra)),
    steps: tenon.steps,
    barriers: tenon.barriers,
    guards: tenon.guards,
    refusals: tenon.refusals,
    gaps: tenon.gaps,
    strategies: tenon.strategies,
    warnings: tenon.warnings,
    freeSpace: tenon.free_space ?? [],
    leftAlone: tenon.left_alone,
    families: (tenon.families ?? []).map(toFamily),
    requestCount: tenon.requests,
    pace: tenon.pace,
    base: tenon.base,
    withheld: tenon.withheld ?? [],
  };
}

function toInputs(inputs: SavedInputs): PlanInputs {
  const { skip_unsupported, take_ownership_from, clone, changed_since, never_destroy, ...others } = inputs;
  return {
    ...others,
    skipUnsupported: skip_unsupported ?? false,
    takeOwnershipFrom: take_ownership_from ?? [],
    clone: clone ?? true,
    changedSince: changed_since ?? null,
    neverDestroy: never_destroy ?? false,
  };
}

function toChange(resource: ResourceChange, extra: ChangeExtra): Change {
  const { address: key, index, type } = resource;
  const { wanted } = extra;
  const change = wanted ?? resource.change;
  const suffix = index === undefined ? "" : `[${index}]`;
  return {
    key,
    address: suffix !== "" && key.endsWith(suffix) ? key.slice(0, -suffix.length) : key,
    previousAddress: (wanted ?? resource).previous_address ?? null,
    unit: extra.unit,
    root: extra.root,
    kind: type,
    action: toAction(change.actions),
    labels: extra.labels,
    id: (change.before?.["id"] ?? null) as ObjectId | null,
    before: withoutId(change.before),
    after: withoutId(change.after),
    replaceFields: extra.replace_fields,
    blocked: extra.blocked,
    note: extra.note,
    ...(extra.annotations === undefined ? {} : { annotations: extra.annotations }),
    span: extra.span,
    origin: extra.origin,
    ...(extra.holds === undefined ? {} : { holds: extra.holds }),
    ...(extra.range === undefined ? {} : { range: extra.range }),
    ...(extra.part === undefined ? {} : { part: extra.part }),
    ...(extra.replaced_by === undefined ? {} : { replacedBy: extra.replaced_by }),
  };
}

function toAction(actions: readonly PlanAction[]): Change["action"] {
  return actions.length > 1 ? "replace" : (actions[0] ?? "no-op");
}

function withoutId(values: JsonObject | null): JsonObject | null {
  if (values === null) return null;
  const { id: _, ...rest } = values;
  return rest;
}
