/** The fields and the contents of one object, three ways: what the run has made of them and nobody has changed since is taken back. */

import isEqual from "fast-deep-equal";
import type { JournalledChange } from "../model/journal.ts";
import { factsOf } from "../model/kind.ts";
import { mapKey, valuesKey } from "../model/map-key.ts";
import type { Json, Kind, ObjectId, Values } from "../model/resource.ts";
import { groupBy } from "../model/text.ts";
import type { LiveValues, Unit } from "../model/unit.ts";

/** @returns the fields to set; empty if all are already as they were */
export function mergeFields(change: JournalledChange, live: Values, unit: Unit): Values | "conflict" {
  const { before, after } = change;
  const fields: Record<string, Json> = {};
  for (const field of new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])) {
    const [was, made, is] = [before?.[field] ?? EMPTY, after?.[field] ?? EMPTY, live[field] ?? EMPTY];
    const isBetween = isLeftBetween(change, field, live, unit);
    if (isSame(is, was) || (isSame(was, made) && !isBetween)) continue;
    if (!isSame(is, made) && !isBetween) return "conflict";
    fields[field] = field === "owner" ? (before?.[field] ?? null) : was === EMPTY ? [] : was;
  }
  return fields;
}

/**
 * A run that ended half-way leaves what it had set for a moment: a name while names are exchanged, a status while a zone is converted. So
 * does an undo of it, by which other fields are back already. Otherwise somebody has set it since.
 */
export function isLeftBetween(change: JournalledChange, field: string, live: Values, unit: Unit): boolean {
  const { kind, id, before, after, sent, isDone } = change;
  const is = live[field] ?? EMPTY;
  const { nameField, temporaryName } = factsOf(unit, kind);
  if (field === nameField && id !== null && is === temporaryName?.(id)) return true;
  if (!sent.some((values) => values[field] !== undefined && isSame(values[field], is))) return false;
  const isBack = (other: string, was: Json) =>
    !isSame(was, after?.[other] ?? EMPTY) && isSame(live[other] ?? EMPTY, was);
  return !isDone || Object.entries(before ?? {}).some(([other, was]) => other !== field && isBack(other, was));
}

/** Of a field that only one side has. */
const EMPTY: Json = null;

export function differingFields(stated: Values | null, live: Values): string[] {
  return Object.entries(stated ?? {})
    .filter(([field, value]) => live[field] !== undefined && !isSame(value, live[field] ?? EMPTY))
    .map(([field]) => field);
}

/** Whether a field that nobody has stated has a value: a new object has none there. */
export function isFilledSince(stated: Values, live: Values): boolean {
  return Object.entries(live).some(([field, value]) => stated[field] === undefined && !UNFILLED.has(comparable(value)));
}

/** Lists are sets, and tags compare without regard to case. */
function isSame(one: Json, other: Json): boolean {
  return comparable(one) === comparable(other);
}

const UNFILLED: ReadonlySet<string> = new Set(["[]", '""', "0", "false"]);

function comparable(value: Json): string {
  if (!Array.isArray(value)) return value === EMPTY ? "[]" : JSON.stringify(value);
  const entries = (value as readonly Json[]).map((entry) => mapKey(String(entry).toLowerCase()));
  return JSON.stringify([...new Set(entries)].sort());
}

export type Within = LiveValues["within"][number];

interface MergedContents {
  readonly restored: readonly Values[];
  readonly staying: readonly Values[];
  readonly conflicts: readonly { readonly kind: Kind; readonly id: ObjectId; readonly after: Values | null }[];
  /** Keys of what the run changed, and somebody has deleted since. */
  readonly gone: readonly string[];
}

/** First all that is as the run made it is found, by its id where that is known; then what is as it was before; the rest was changed since. */
export function mergeContents(
  live: readonly Within[],
  changes: readonly JournalledChange[],
  unit: Unit,
): MergedContents {
  const rest = new Set(live);
  const byId = new Map(live.map((item) => [item.id, item]));
  // The first of them is the last of its list, from which what is taken is dropped.
  const byValues = groupBy(live.toReversed(), ({ values }) => valuesKey(values));
  const take = (item: Within | undefined): boolean => item !== undefined && rest.delete(item);
  const equal = (values: Values): Within | undefined => {
    const same = byValues.get(valuesKey(values)) ?? [];
    for (let item = same.at(-1); item !== undefined && !rest.has(item); item = same.at(-1)) same.pop();
    return same.at(-1);
  };
  const idOf = ({ action, id, madeId }: JournalledChange) => (action === "update" ? id : madeId);
  const restored: Values[] = [];
  // A run that made what another record has become since goes on with that one: it is the same object, and was changed, not made.
  const ordered = [
    ...changes.filter(({ action }) => action !== "create"),
    ...changes.filter(({ action }) => action === "create"),
  ];
  const untaken = ordered.filter((change) => {
    const { before, after } = change;
    const id = idOf(change);
    if (after === null || (id === null && !change.mayBeMade)) return true;
    const item = id === null ? equal(after) : byId.get(id);
    if (item === undefined || !isAsMade(item.values, change, unit) || !take(item)) return true;
    if (before !== null) restored.push(before);
    return false;
  });
  const settled: Within[] = [];
  const open = untaken.filter(({ before }) => {
    const item = before === null ? undefined : equal(before);
    if (!take(item)) return true;
    settled.push(item as Within);
    return false;
  });
  const conflicts: { kind: Kind; id: ObjectId; after: Values | null }[] = [];
  const missing: JournalledChange[] = [];
  for (const change of open) {
    const { kind, before, after } = change;
    if (after === null) {
      if (before !== null) restored.push(before);
      continue;
    }
    const id = idOf(change) ?? change.id;
    const item = id === null ? undefined : byId.get(id);
    if (item !== undefined && rest.has(item)) conflicts.push({ kind, id: item.id, after: before });
    else if (before === null) continue;
    // The run deleted it: what it or an undo was to make in its place is not there.
    else if (change.action === "replace") restored.push(before);
    else missing.push(change);
  }
  const staying = [...rest, ...settled].map(({ values }) => values);
  // Of equal ones that the run changed or deleted one comes back: a second would be a duplicate.
  const known = new Set(staying.map(valuesKey));
  const distinct = restored.filter((values) => {
    const isNew = !known.has(valuesKey(values));
    known.add(valuesKey(values));
    return isNew;
  });
  const gone = missing.flatMap(({ key, before }) => (before !== null && known.has(valuesKey(before)) ? [] : [key]));
  return { restored: distinct, staying, conflicts, gone };
}

/** As the run made it, or left it between two of its requests. */
function isAsMade(values: Values, change: JournalledChange, unit: Unit): boolean {
  const { after } = change;
  if (isEqual(values, after)) return true;
  const fields = new Set([...Object.keys(values), ...Object.keys(after ?? {})]);
  return [...fields].every((field) => {
    return isSame(values[field] ?? EMPTY, after?.[field] ?? EMPTY) || isLeftBetween(change, field, values, unit);
  });
}

export function isWhole({ values, within }: LiveValues, before: Values, wanted: readonly Values[]): boolean {
  return differingFields(before, values).length === 0 && within.length === wanted.length && isAmong(within, wanted);
}

/** As a run that was cut off leaves it: without some of what is to be in it, and not served yet. @param wanted null: anything may be in it */
export function isPart({ values, within }: LiveValues, before: Values, wanted: readonly Values[] | null): boolean {
  return (
    differingFields(before, values).every((field) => field === "status") && (wanted === null || isAmong(within, wanted))
  );
}

function isAmong(within: LiveValues["within"], wanted: readonly Values[]): boolean {
  const keys = new Set(wanted.map(valuesKey));
  return within.every(({ values }) => keys.has(valuesKey(values)));
}
