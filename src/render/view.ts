/** The view of a plan that all formats for people share: its changes grouped by network, zone or image, and common sentences. */

import isEqual from "fast-deep-equal";
import type { Action, Change } from "../model/change.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { LEFT_BY_UNDO } from "../model/journal.ts";
import type { KindFacts, Kinds } from "../model/kind.ts";
import { mapKey, valuesKey } from "../model/map-key.ts";
import {
  type FamilyMember,
  type Gap,
  type Guard,
  isNarrowed,
  type LeftAlone,
  type Pace,
  type Plan,
  type PlanBase,
  type PlanInputs,
  type Strategy,
  type Summary,
  summarise,
  type WithheldChange,
} from "../model/plan.ts";
import type { Address, Json, Values } from "../model/resource.ts";
import { compareNatural, groupBy } from "../model/text.ts";
import { columnsOf, escapeText, shorten } from "./terminal.ts";

/** The action on an object, as Terraform marks it. `none`: only objects within it change. */
export type Mark = "create" | "update" | "delete" | "replace" | "none";

export interface PlanView {
  readonly groups: readonly GroupView[];
  /** Guards for which apply would refuse; `consented`: those that consent was given for. */
  readonly refusing: readonly Guard[];
  readonly consented: readonly Guard[];
  readonly summary: Summary;
  /** Whether there is nothing to do, and nothing is blocked. */
  readonly empty: boolean;
}

/** One network, zone or image. */
export interface GroupView {
  readonly root: Address;
  /** The kind of the objects within it; null if there can be none. */
  readonly contents: KindFacts | null;
  /** The root itself, if it is in the plan. */
  readonly own: ChangeView | null;
  readonly children: readonly ChangeView[];
}

export interface ChangeView {
  readonly change: Change;
  readonly kind: KindFacts;
  readonly mark: Mark;
  readonly fields: readonly FieldDiff[];
}

export interface FieldDiff {
  readonly name: string;
  /** undefined: the field was absent; in `after`: it will be absent. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly forcesReplacement: boolean;
}

export function viewPlan(plan: Plan, kinds: Kinds): PlanView {
  const summary = summarise(plan.changes);
  return {
    groups: groupsOf(plan.changes, kinds),
    refusing: plan.guards.filter((guard) => guard.consent !== "given"),
    consented: plan.guards.filter((guard) => guard.consent === "given"),
    summary,
    empty: summary.add + summary.change + summary.destroy + summary.blocked === 0,
  };
}

/** In the natural order of their addresses: `brand2` before `brand10`. A plan's own order is by text, in which numbers mean nothing. */
export function groupsOf(changes: readonly Change[], kinds: Kinds): GroupView[] {
  const groups = new Map<Address, { own: ChangeView | null; children: ChangeView[] }>();
  for (const change of changes) {
    // Objects that stay as they are would only hide the changes.
    if (change.action === "no-op") continue;
    const group = groups.get(change.root) ?? { own: null, children: [] };
    groups.set(change.root, group);
    const view = viewChange(change, kinds.of(change.kind));
    if (kinds.isRoot(change.kind) && group.own === null) group.own = view;
    else group.children.push(view);
  }
  return [...groups]
    .map(([root, { own, children }]) => ({ root, contents: kinds.contentsAt(root), own, children: inOrder(children) }))
    .sort((a, b) => compareNatural(a.root, b.root));
}

function inOrder(views: ChangeView[]): ChangeView[] {
  return views.sort((a, b) => compareNatural(a.change.key, b.change.key));
}

function viewChange(change: Change, kind: KindFacts): ChangeView {
  return { change, kind, mark: markOf(change), fields: diffFields(change, kind) };
}

function markOf(change: Change): Mark {
  return change.action === "no-op" ? "none" : change.action;
}

/**
 * The fields that differ, sorted by name. A created object shows only fields with values that are neither unset nor the expected ones. A
 * deleted object shows none: its values no longer matter.
 */
function diffFields(change: Change, kind: KindFacts): FieldDiff[] {
  const before: Values = change.before ?? {};
  const after: Values = change.after ?? {};
  const forcing = new Set(change.replaceFields);
  const diffs: FieldDiff[] = [];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const diff = { name, before: before[name], after: after[name], forcesReplacement: forcing.has(name) };
    if (isWorthShowing(diff, change, kind)) diffs.push(diff);
  }
  return diffs.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function isWorthShowing({ name, before, after }: FieldDiff, change: Change, { expected }: KindFacts): boolean {
  if (change.after === null) return false;
  // A created object always has the plan's owner.
  if (change.before === null) return !isUnset(after) && expected?.[name] !== after && name !== "owner";
  return !isEqual(before, after);
}

/** Whether a value is what the service shows for a field that was never set (`""`, `[]`, 0, false, null). */
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

// The origin of changes as text: brought by the proposed change, pending before it, or withdrawn by it.

const MAX_NAME_COLUMNS = 40;
const MAX_TOLD_APART = 10;

/** Follows a guard or a warning that the plan would have without the proposed change, too. */
export const PENDING_MARK = " (already pending before this change)";
export const PENDING_HEADING = "Already pending before this change (drift, or not yet applied):";

interface ByOrigin {
  readonly own: readonly Change[];
  readonly pending: readonly Change[];
}

/** A no-op is in neither list. Linear in the number of changes. */
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
  return `Withdrawn, or done otherwise: ${nameText(name)} would do this without this change:`;
}

/** Each entry as lines, escaped; many are grouped by the network, zone or image that they belong to. */
export function withdrawnEntries({ withdrawn }: PlanBase): string[][] {
  if (withdrawn.length > MAX_TOLD_APART) return actionEntries(withdrawn);
  return withdrawn.map(({ action, key }) => [`${action} ${escapeText(key)}`]);
}

/** `Left out by --never-destroy: 3 to delete, 1 to replace` */
export function withheldHeading(withheld: readonly WithheldChange[]): string {
  const byAction = groupBy(withheld, ({ action }) => action);
  const counts = (["delete", "replace", "create"] as const).flatMap((action) => {
    const some = byAction.get(action) ?? [];
    return some.length === 0 ? [] : [`${some.length} to ${action}`];
  });
  return `Left out by --never-destroy: ${counts.join(", ")}`;
}

/** Each entry as lines, escaped. If they are not shown in full, the networks, zones and images of many are counted. */
export function withheldEntries(withheld: readonly WithheldChange[], full: boolean): string[][] {
  const inOrderOfNames = withheld.toSorted((a, b) => compareNatural(a.key, b.key));
  if (withheld.length <= MAX_TOLD_APART || full) return actionEntries(inOrderOfNames);
  return someRootCounts(inOrderOfNames.map(({ key }) => key)).map((line) => [line]);
}

/** Whether `withheldEntries` counts some of them. */
export function isWithheldFolded({ length }: readonly WithheldChange[], full: boolean): boolean {
  return length > MAX_TOLD_APART && !full;
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

// Changes by the network, zone or image they belong to, for lists with too many of them.

/** At most this many are named; the rest is counted. */
const MAX_NAMED_ROOTS = 10;
const INDENT = "  ";

interface Keyed {
  /** The key of a change, which begins with the address of its root. */
  readonly key: string;
}

/** In the order of the first item of each root. */
function byRoot<Item extends Keyed>(items: readonly Item[]): ReadonlyMap<Address, readonly Item[]> {
  return groupBy(items, ({ key }) => key.split("/", 2).join("/"));
}

/** Each action below the network, zone or image that it belongs to; a single one needs no heading. Each entry as lines, escaped. */
export function actionEntries(items: readonly (Keyed & { readonly action: Action })[]): string[][] {
  return [...byRoot(items)].flatMap(([root, group]) => {
    const lines = group.map(({ action, key }) => `${action} ${escapeText(key)}`);
    if (lines.length === 1) return [lines];
    const heading = `${escapeText(root)}: ${lines.length} changes`;
    return lines.map((line, index) => [...(index === 0 ? [heading] : []), INDENT + line]);
  });
}

/** `domain/a.example (200)`, or the key of the change if there is only one; sorted. */
function rootCounts(keys: readonly string[]): string[] {
  const roots = [...byRoot(keys.map((key) => ({ key })))].sort(([a], [b]) => compareNatural(a, b));
  return roots.map(([root, group]) =>
    escapeText(group.length === 1 ? (group[0]?.key ?? root) : `${root} (${group.length})`),
  );
}

/** The first roots, a line each, and how many more there are. */
export function someRootCounts(keys: readonly string[]): string[] {
  const counts = rootCounts(keys);
  const rest = counts.length - MAX_NAMED_ROOTS;
  const further = `and in ${count(rest, "more network, zone or image", "more networks, zones or images")}`;
  return [...counts.slice(0, MAX_NAMED_ROOTS), ...(rest > 0 ? [further] : [])];
}

// Diagnostics of one kind: their summaries line by line, and the advice that they share once.

export interface Alike {
  /** One summary for each diagnostic; escaped. */
  readonly summaries: readonly string[];
  /** The shared detail and fix, if any; escaped. */
  readonly advice: readonly string[];
}

/**
 * In the order of the first of each kind.
 * @param markOf the text after a summary: our own words
 */
export function groupAlike(diagnostics: readonly Diagnostic[], markOf: (diagnostic: Diagnostic) => string): Alike[] {
  const groups = groupBy(diagnostics, ({ code, detail, fix }) => mapKey(JSON.stringify([code, detail, fix ?? null])));
  return [...groups.values()].map((same) => ({
    summaries: same.map((diagnostic) => escapeText(diagnostic.summary) + markOf(diagnostic)),
    advice: [same[0]?.detail ?? "", same[0]?.fix ?? ""].filter((text) => text !== "").map(escapeText),
  }));
}

// How long an apply takes at the rate limit that the service reported.

const SECONDS_PER_MINUTE = 60;
const SECONDS_PER_HOUR = 3600;

/** `Applying this takes 1000 requests: about 1 min 40 s, if …`, as one sentence or two. */
export function requestsText({ requestCount, pace }: Pick<Plan, "requestCount" | "pace">): string {
  const requests = `Applying this takes ${count(requestCount, "request", "requests")}`;
  if (pace === null || requestCount === 0) return `${requests}.`;
  const limit = `${count(pace.requests, "request", "requests")} per ${durationText(pace.seconds)}`;
  // What is left of the present window is not known by the time that somebody reads the plan.
  if (requestCount <= pace.requests)
    return `${requests}, within the limit that the service reported while reading: ${limit}.`;
  return `${requests}: about ${durationText(leastSeconds(requestCount, pace))}, if the limit is the one that the service reported while reading: ${limit}.`;
}

/** The time that the requests take if each window is filled. */
export function leastSeconds(requests: number, pace: Pace): number {
  return (requests / pace.requests) * pace.seconds;
}

/** `8 s`, `1 min 40 s`, `2 h 5 min`: the smaller unit rounded up. */
export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < SECONDS_PER_MINUTE) return `${whole} s`;
  if (whole < SECONDS_PER_HOUR)
    return joined(Math.floor(whole / SECONDS_PER_MINUTE), "min", whole % SECONDS_PER_MINUTE, "s");
  const minutes = Math.ceil(whole / SECONDS_PER_MINUTE);
  return joined(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

function joined(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

// Sentences about a plan that all formats for people share.

const NO_CHANGES = "No changes. Your infrastructure matches the configuration.";
const NO_CHANGES_KEPT = "No changes but what --never-destroy leaves out.";
const NO_CHANGES_WITHIN = "No changes within the targets.";
/** In Terraform's words. */
const NOTHING_TO_DESTROY = "No changes. No objects need to be destroyed.";
const NOTHING_TO_UNDO = "No changes. Nothing that the run did is left to undo.";
const NOTHING_ELSE_TO_UNDO = "No changes. Nothing else that the run did is left to undo.";
export const GAPS_HEADING = "Names that will have no answer for a moment; the change itself forces it:";

const REASONS: Readonly<Record<LeftAlone["reason"], string>> = {
  undeclared: "not declared",
  ignored: "ignored",
  unmanaged: "not managed here",
  shared: "of another project",
  untracked: "the file is not compared, without `track: content`",
  "content-unknown": "what it was made of is not known: it is older than `track: content`",
};

/**
 * Says what `--changed-since` narrowed the run to; empty if it was not given.
 * @param shown the name of the base in the format's own form
 */
export function changedSinceText(
  { changedSince }: Pick<PlanInputs, "changedSince">,
  kinds: Kinds,
  shown: (name: string) => string = nameText,
): string {
  if (changedSince === null) return "";
  const { name, addresses, affected = [] } = changedSince;
  const countsOf = (all: readonly Address[]): string =>
    kinds.all
      .flatMap(({ kind, words }) => {
        const number = all.filter((address) => kinds.rootAt(address)?.kind === kind).length;
        return number === 0 ? [] : [count(number, ...words)];
      })
      .join(", ");
  const also = affected.length === 0 ? "" : `; and what that concerns beside it: ${countsOf(affected)}`;
  return `Only what is declared otherwise than at ${shown(name)} was read: ${countsOf(addresses) || "nothing"}${also}.`;
}

/** The line of a plan without changes. A narrowed run has looked only at its targets. */
export function noChangesText({
  goal,
  inputs,
  withheld,
  warnings,
}: Pick<Plan, "goal" | "inputs" | "withheld" | "warnings">): string {
  if (withheld.length > 0) return NO_CHANGES_KEPT;
  if (isNarrowed(inputs)) return NO_CHANGES_WITHIN;
  if (warnings.some(({ code }) => LEFT_BY_UNDO.has(code))) return NOTHING_ELSE_TO_UNDO;
  return { apply: NO_CHANGES, destroy: NOTHING_TO_DESTROY, undo: NOTHING_TO_UNDO }[goal];
}

export function gapText({ what, root, before, wanted }: Gap): string {
  return escapeText(`${what} (${root}): from "${before}" until "${wanted}"`);
}

export function strategyText({ source, copies, requests, requestsWithout }: Strategy): string {
  const [first = "", second] = copies.map((copy) => escapeText(copy));
  const named =
    second === undefined ? first : `${first} and ${count(copies.length - 1, "other domain", "other domains")}`;
  return `${named} will be cloned from ${escapeText(source)} once that is filled, while it is disabled: ${requests} requests instead of ${requestsWithout} (--no-clone: each by itself).`;
}

/** `Left alone: 3 domains (not declared).`; empty if nothing is. */
export function leftAloneText(leftAlone: readonly LeftAlone[], kinds: Kinds): string {
  const parts = leftAlone
    .filter((entry) => entry.count > 0)
    .map(({ kind, count: number, reason }) => `${count(number, ...kinds.of(kind).words)} (${REASONS[reason]})`);
  return parts.length === 0 ? "" : `Left alone: ${parts.join(", ")}.`;
}

// Families: what stays of each, and what goes.

const MEGABYTES_PER_GIGABYTE = 1_000;

/** A longer label exceeds its column, so that it does not push all others to the right. */
const MAX_MEMBER_COLUMNS = 32;

interface FamilyText {
  readonly heading: string;
  /** Newest first, aligned. */
  readonly lines: readonly string[];
}

/** The families of which something comes or goes. What only stays would hide that. */
export function familyTexts({ families, changes }: Pick<Plan, "families" | "changes">): FamilyText[] {
  const going = new Set(
    changes.flatMap(({ id, action, blocked }) => (action === "delete" && blocked === null ? [id] : [])),
  );
  return families
    .filter(({ members }) => members.some(({ fate }) => fate === "new" || fate === "retired"))
    .map(({ name, keep, members }) => ({
      heading: `Family ${escapeText(name)}: the newest ${keep === 1 ? "one stays" : `${keep} stay`}.`,
      lines: alignedCells(members.map((member) => memberCells(member, going.has(member.id)))),
    }));
}

/** What becomes of it, how old it is, and how large. What is only kept needs no word. */
function memberCells({ label, fate, ageDays, sizeMegabytes }: FamilyMember, isGoing: boolean): string[] {
  const sign = fate === "new" ? "+" : isGoing ? "-" : " ";
  const age = ageDays === null ? "" : ageDays === 0 ? "today" : count(ageDays, "day", "days");
  const size = sizeMegabytes === null ? "" : sizeText(sizeMegabytes);
  return [`${sign} ${escapeText(label)}`, age, size, fate === "retired" && !isGoing ? "stays for now" : FATES[fate]];
}

const FATES: Readonly<Record<FamilyMember["fate"], string>> = {
  new: "to be made",
  declared: "declared",
  kept: "",
  retired: "retire",
  underway: "not there yet, not counted",
};

function sizeText(megabytes: number): string {
  return megabytes < MEGABYTES_PER_GIGABYTE
    ? `${megabytes} MB`
    : `${(megabytes / MEGABYTES_PER_GIGABYTE).toFixed(1)} GB`;
}

/** The first column begins on the left, the numbers after it end on the right. */
function alignedCells(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, index) =>
    rows.reduce((most, row) => {
      const columns = columnsOf(row[index] ?? "");
      return index === 0 && columns > MAX_MEMBER_COLUMNS ? most : Math.max(most, columns);
    }, 0),
  );
  return rows.map((row) =>
    row
      .map((cell, index) => {
        const blanks = " ".repeat(Math.max(0, (widths[index] ?? 0) - columnsOf(cell)));
        return index === 0 ? cell + blanks : index === row.length - 1 ? cell : blanks + cell;
      })
      .filter((_, index) => index === 0 || widths[index] !== 0)
      .join("  ")
      .trimEnd(),
  );
}

export function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}

/**
 * The root of each copy → the root that it is cloned from, where the plan makes both, with the same records: then those of the source stand in the
 * plan, and need not stand there again for each copy. A saved plan may be forged, so that its copies are looked at; no source is a copy itself.
 */
export function shownSources({ strategies, changes }: Pick<Plan, "strategies" | "changes">): Map<Address, Address> {
  if (strategies.length === 0) return new Map();
  const byRoot = groupBy(changes, ({ root }) => root);
  const sources = new Set(strategies.map(({ source }) => source));
  // A forged file may name a root any number of times.
  const named = new Set([...sources, ...strategies.flatMap(({ copies }) => copies)]);
  const contents = new Map([...named].map((root) => [root, contentOf(root, byRoot.get(root) ?? [])] as const));
  return new Map(
    strategies.flatMap(({ source, copies }) => {
      const content = contents.get(source) ?? null;
      const same = copies.filter((copy) => content !== null && !sources.has(copy) && contents.get(copy) === content);
      return same.map((copy) => [copy, source] as const);
    }),
  );
}

/** What is shown of the records of a domain that is made with all of them; null if it is not. */
function contentOf(root: Address, all: readonly Change[]): string | null {
  const isMade = all.every(({ action, blocked }) => action === "create" && blocked === null);
  if (!isMade || !all.some(({ address }) => address === root)) return null;
  const within = all.filter(({ address }) => address !== root);
  return mapKey(JSON.stringify(within.map(shownOf).sort()));
}

/** All that is shown of a record that is made. */
function shownOf({ after, note, annotations }: Change): string {
  return JSON.stringify([valuesKey(after ?? {}), note, annotations ?? null]);
}
