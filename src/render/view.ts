/** The view: a plan as people look at it, unit by unit, before any format is chosen. */

import isEqual from "fast-deep-equal";
import type { Address } from "../model/address.ts";
import type { Change } from "../model/change.ts";
import { groupBy } from "../model/group.ts";
import { type Guard, type Plan, type Summary, summarise } from "../model/plan.ts";
import type { Json, Kind, Values } from "../model/resource.ts";

/** What happens to a resource, as Terraform marks it. `none`: only something within it changes. */
export type Mark = "create" | "update" | "delete" | "replace" | "none";

export interface PlanView {
  readonly groups: readonly GroupView[];
  /** Guards that apply would refuse for, and those that consent was given for. */
  readonly refusing: readonly Guard[];
  readonly consented: readonly Guard[];
  readonly summary: Summary;
  /** Nothing is to be done, and nothing is blocked. */
  readonly empty: boolean;
}

/** One network, zone or image. */
export interface GroupView {
  readonly root: Address;
  /** The root itself, if it is in the plan. */
  readonly own: ChangeView | null;
  readonly children: readonly ChangeView[];
}

export interface ChangeView {
  readonly change: Change;
  readonly mark: Mark;
  readonly fields: readonly FieldDiff[];
}

export interface FieldDiff {
  readonly name: string;
  /** undefined: there was nothing, or there will be nothing. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly forcesReplacement: boolean;
}

/** Groups and what is in them are in the order of the plan's changes. Linear in their number. */
export function viewPlan(plan: Plan): PlanView {
  const summary = summarise(plan.changes);
  return {
    groups: groupsOf(plan.changes),
    refusing: plan.guards.filter((guard) => guard.consent !== "given"),
    consented: plan.guards.filter((guard) => guard.consent === "given"),
    summary,
    empty: summary.add + summary.change + summary.destroy + summary.blocked === 0,
  };
}

/** Groups and what is in them are in the order given. */
export function groupsOf(changes: readonly Change[]): GroupView[] {
  const groups = new Map<Address, { own: ChangeView | null; children: ChangeView[] }>();
  for (const change of changes) {
    // What stays as it is would only hide what does not.
    if (change.action === "no-op") continue;
    const group = groups.get(change.root) ?? { own: null, children: [] };
    groups.set(change.root, group);
    if (ROOT_KINDS.has(change.kind) && group.own === null) group.own = viewChange(change);
    else group.children.push(viewChange(change));
  }
  return [...groups].map(([root, group]) => ({ root, ...group }));
}

/** So many of a kind that only go are shown one by one; more of them as one entry. */
const MAX_UNFOLDED_GROUPS = 3;

/**
 * Groups as they are shown, in the order of the first of each entry: by themselves, or together where many of a kind only go, and there
 * is no more to say of each than its name and what goes with it.
 */
export function entriesOf(groups: readonly GroupView[]): (readonly GroupView[])[] {
  const alike = groupBy(groups, reasonToGo);
  return groups.flatMap((group) => {
    const reason = reasonToGo(group);
    const together = reason === null ? [] : (alike.get(reason) ?? []);
    if (together.length <= MAX_UNFOLDED_GROUPS) return [[group]];
    return together[0] === group ? [together] : [];
  });
}

/** What those have in common that are shown as one; null: it is shown by itself. */
function reasonToGo({ own, children }: GroupView): string | null {
  if (own === null || ![own, ...children].every(onlyGoes)) return null;
  // A second object of the same address is among the children, and no part of the first.
  if (children.some(({ change }) => change.kind !== "vpc_subnet" || change.labels.length > 0)) return null;
  const { kind, labels } = own.change;
  return labels.every((label) => label === "prune") ? `${kind} ${labels.join()}` : null;
}

function onlyGoes({ mark, change }: ChangeView): boolean {
  return mark === "delete" && change.blocked === null && change.note === null;
}

const ROOT_KINDS: ReadonlySet<Kind> = new Set<Kind>(["vpc", "domain", "image"]);

function viewChange(change: Change): ChangeView {
  return { change, mark: markOf(change), fields: diffFields(change) };
}

export function markOf(change: Change): Mark {
  return change.action === "no-op" ? "none" : change.action;
}

/**
 * The fields that differ, or, of a resource that comes, those that nobody would expect as they are. Of one that goes there are
 * none: what it was is of no use any more. Sorted by name.
 */
export function diffFields(change: Change): FieldDiff[] {
  const before: Values = change.before ?? {};
  const after: Values = change.after ?? {};
  const forcing = new Set(change.replaceFields);
  const diffs: FieldDiff[] = [];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const diff = { name, before: before[name], after: after[name], forcesReplacement: forcing.has(name) };
    if (isWorthShowing(diff, change)) diffs.push(diff);
  }
  return diffs.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function isWorthShowing({ name, before, after }: FieldDiff, change: Change): boolean {
  if (change.after === null) return false;
  if (change.before === null) return !isUnset(after) && EXPECTED[change.kind]?.[name] !== after && name !== "owner";
  return !isEqual(before, after);
}

/** What a new object of a kind has unless its manifest says otherwise. The owner is always the plan's. */
const EXPECTED: Readonly<Partial<Record<Kind, Values>>> = { domain: { type: "master", status: "active" } };

/** What a service shows for a field that nobody set (`""`, `[]`, 0, false, null). */
function isUnset(value: Json | undefined): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

/** The same value with the keys of every object in order: same input, same bytes. */
export function sortKeys(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => sortKeys(item) as Json);
  if (typeof value !== "object" || value === null) return value;
  const object = value as Values;
  const keys = Object.keys(object).sort();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(object[key]) as Json]));
}
