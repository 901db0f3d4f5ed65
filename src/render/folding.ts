/** Folding: many networks, zones or images that would be shown alike are one entry, so that a plan shows what differs. */

import { createHash } from "node:crypto";
import type { Annotations } from "../model/annotations.ts";
import type { Block } from "../model/change.ts";
import type { Kinds } from "../model/kind.ts";
import type { Plan } from "../model/plan.ts";
import { type Address, type Json, rootOf, type Values } from "../model/resource.ts";
import { groupBy } from "../model/text.ts";
import type { ChangeView, FieldDiff, GroupView } from "./view.ts";

/**
 * What is shown under one heading.
 * - `one`: a network, zone or image by itself.
 * - `going`: many that are only deleted, for one reason, and have no more to show than their names and what is deleted with them.
 * - `alike`: many with exactly the same changes. `shown` is the first of them; where a value holds the name of its zone, it holds
 *   `ZONE_NAME` in its place.
 */
export type Entry =
  | { readonly type: "one"; readonly group: GroupView }
  | { readonly type: "going"; readonly groups: readonly GroupView[] }
  | { readonly type: "alike"; readonly groups: readonly GroupView[]; readonly shown: AlikeGroup };

export interface AlikeGroup extends GroupView {
  /** Whether `ZONE_NAME` stands in a value. */
  readonly isTemplate: boolean;
}

/** Stands for the name of each zone, as in a record set. */
export const ZONE_NAME = "${zone}";

/** What decides beside a group itself whether it may be folded, and with which others. */
export interface FoldContext {
  readonly kinds: Kinds;
  /** The root of each copy, with the root that it is cloned from: its records are counted, and not shown. */
  readonly sources: ReadonlyMap<Address, Address>;
  /** What of the plan speaks about a group, by its root: equal for groups that may be folded. `null`: it must stand by itself. */
  readonly marks: ReadonlyMap<Address, string | null>;
  /** Nothing is folded. */
  readonly full: boolean;
  /** So many characters are compared: what comes after them stands by itself. */
  readonly maxCharacters: number;
}

/** Of a report: nothing speaks about a group any more. */
export function foldContext(
  kinds: Kinds,
  sources: FoldContext["sources"],
  {
    plan = null,
    ...options
  }: Partial<Pick<FoldContext, "full" | "maxCharacters">> & {
    readonly plan?: Pick<Plan, "guards" | "gaps"> | null;
  } = {},
): FoldContext {
  const marks = plan === null ? new Map<Address, string>() : marksOf(plan);
  return { kinds, sources, marks, full: false, maxCharacters: Number.POSITIVE_INFINITY, ...options };
}

/** Groups with a gap stand by themselves; groups with guards are folded only with groups that have the same. */
function marksOf({ guards, gaps }: Pick<Plan, "guards" | "gaps">): Map<Address, string | null> {
  const marks = new Map<Address, string | null>();
  for (const [root, own] of groupBy(guards, ({ address }) => rootOf(address))) {
    const texts = own.map(({ rule, address, consent, count, of, origin }) =>
      JSON.stringify([rule, address.slice(root.length), consent, count, of, origin]),
    );
    marks.set(root, texts.join());
  }
  for (const { root } of gaps) marks.set(root, null);
  return marks;
}

/** Up to this many groups that could be one entry are shown one by one. */
const MAX_UNFOLDED_GROUPS = 3;

/** In the order of the first group of each entry. Linear in the size of the changes. */
export function entriesOf(groups: readonly GroupView[], context: FoldContext): Entry[] {
  if (context.full || groups.length <= MAX_UNFOLDED_GROUPS) return groups.map((group) => ({ type: "one", group }));
  const keys = new Map<GroupView, string | null>();
  let compared = 0;
  for (const group of groups) {
    const key = compared > context.maxCharacters ? null : foldKey(group, context);
    compared += key?.length ?? 0;
    // Of the texts of a large plan only digests are kept.
    keys.set(group, key === null ? null : createHash("sha256").update(key).digest("base64"));
  }
  const together = groupBy(groups, (group) => keys.get(group) ?? null);
  return groups.flatMap((group): Entry[] => {
    const key = keys.get(group) ?? null;
    const same = key === null ? [] : (together.get(key) ?? []);
    if (same.length <= MAX_UNFOLDED_GROUPS) return [{ type: "one", group }];
    if (same[0] !== group) return [];
    if (reasonToGo(group) !== null) return [{ type: "going", groups: same }];
    return [{ type: "alike", groups: same, shown: templateOf(group) }];
  });
}

/** Equal for groups that may share an entry; null: the group is shown by itself. */
function foldKey(group: GroupView, context: FoldContext): string | null {
  if (context.marks.get(group.root) === null) return null;
  const reason = reasonToGo(group);
  return reason === null ? alikeKey(group, context) : `going ${reason} ${context.marks.get(group.root)}`;
}

/** Why a group with nothing to show but its name goes; null: it has more to show, or stays. */
function reasonToGo({ own, contents, children }: GroupView): string | null {
  if (own === null || ![own, ...children].every(onlyGoes)) return null;
  // A second object of the same address is among the children, but is not part of the first.
  const part = own.kind.takesContents ? null : contents;
  if (children.some(({ kind, change }) => kind !== part || change.labels.length > 0)) return null;
  const { kind, labels, previousAddress } = own.change;
  // A line of names says of none that it is declared under another one.
  if (previousAddress !== null) return null;
  return labels.every((label) => label === "prune" || label === "retire" || label === "undo")
    ? `${kind} ${labels.join()}`
    : null;
}

function onlyGoes({ mark, change }: ChangeView): boolean {
  return mark === "delete" && change.blocked === null && change.note === null && change.annotations === undefined;
}

/**
 * All that would be shown of a group apart from its name: so equal keys hide nothing. What a reviewer has to look at by itself is never
 * folded: anything replaced, or blocked by what is its own, an object that goes as a whole, and one that is renamed.
 */
function alikeKey(group: GroupView, { kinds, sources, marks }: FoldContext): string | null {
  const { root, own, contents, children } = group;
  if (own !== null && !isFoldable(own)) return null;
  if (own?.mark === "delete" && own.change.blocked === null) return null;
  if (own !== null && own.change.previousAddress !== null) return null;
  if (!children.every((child) => isFoldable(child) && child.kind === contents && child.kind.line !== undefined)) {
    return null;
  }
  const source = sources.get(root);
  const { own: shownOwn, children: shown, isTemplate } = templateOf(group);
  return JSON.stringify([
    kinds.rootAt(root)?.kind,
    marks.get(root),
    isTemplate,
    shownOwn === null ? null : [aspectsOf(shownOwn), shownOwn.fields.filter((field) => !isName(shownOwn, field))],
    source === undefined ? null : [source, children.length],
    source === undefined ? shown.map((child) => [aspectsOf(child), child.change.before, child.change.after]) : null,
  ]);
}

function isFoldable({ mark, change }: ChangeView): boolean {
  return (
    mark !== "replace" && (change.blocked === null || isBlockedAlike(change.blocked)) && change.range === undefined
  );
}

/** Whether the block names nothing but the run that is undone: of a thousand zones that somebody has changed since, each would say the same. */
function isBlockedAlike({ type }: Block): boolean {
  return type === "changed-since";
}

/** Whether it is the name of a new object, which is in the heading. */
function isName({ change, kind }: ChangeView, { name }: FieldDiff): boolean {
  return name === kind.nameField && change.before === null;
}

/** What is shown of a change beside its values. */
function aspectsOf({ mark, change: { labels, note, annotations, before, origin, blocked } }: ChangeView): Json[] {
  // The label `take-over` is shown with the owner before.
  const owner = labels.includes("take-over") ? (before?.["owner"] ?? null) : null;
  return [
    mark,
    labels,
    note,
    { ...annotations },
    owner,
    origin,
    blocked?.type === "changed-since" ? blocked.run : null,
  ];
}

const DOMAIN = "domain/";

/** The name that a value may hold; empty if the group is no zone. */
function zoneNameOf({ root }: GroupView): string {
  return root.startsWith(DOMAIN) ? root.slice(DOMAIN.length) : "";
}

/**
 * The group with `ZONE_NAME` in place of its zone's name wherever that stands in a value. Only names of zones are put in: together with a
 * name the group says exactly what it said before. If a value holds `ZONE_NAME` itself, everything stays as it is.
 */
function templateOf(group: GroupView): AlikeGroup {
  const name = zoneNameOf(group);
  const { own, children } = group;
  const texts = JSON.stringify([
    own === null ? null : [own.change.note, own.change.annotations, own.fields.filter((field) => !isName(own, field))],
    children.map(({ change }) => [change.note, change.annotations, change.before, change.after]),
  ]);
  const isTemplate = name !== "" && !texts.includes(ZONE_NAME) && texts.includes(name);
  if (!isTemplate) return { ...group, isTemplate };
  const valuesOf = (values: Values | null): Values | null => withName(values, name) as Values | null;
  const viewOf = (view: ChangeView): ChangeView => ({
    ...view,
    fields: view.fields.map((field) => ({
      ...field,
      before: withName(field.before, name),
      after: withName(field.after, name),
    })),
    change: {
      ...view.change,
      note: view.change.note?.replaceAll(name, ZONE_NAME) ?? null,
      ...(view.change.annotations === undefined
        ? {}
        : { annotations: withName({ ...view.change.annotations }, name) as Annotations }),
      before: valuesOf(view.change.before),
      after: valuesOf(view.change.after),
    },
  });
  return {
    ...group,
    own: group.own === null ? null : viewOf(group.own),
    children: group.children.map(viewOf),
    isTemplate,
  };
}

function withName(value: Json | undefined, name: string): Json | undefined {
  if (typeof value === "string") return value.replaceAll(name, ZONE_NAME);
  if (Array.isArray(value)) return value.map((item: Json) => withName(item, name) as Json);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withName(item as Json, name) as Json]));
}
