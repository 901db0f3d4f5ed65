/** What a pointer waits for: that its target answers before it points there, and as long as it does. */

import { parentOf } from "../../dns/name.ts";
import type { Change } from "../../model/change.ts";
import type { FactBuilder } from "./fact-builder.ts";
import { pointerTarget, type RecordValues, recordFqdn } from "./record.ts";
import {
  type Answers,
  ASKED_OF_ALIASES,
  afterValues,
  childTowards,
  isCut,
  MAX_CHAIN_LENGTH,
  type QType,
  type ResolutionEvent,
  type Source,
} from "./resolution.ts";
import { isPointerMoved, type Transition } from "./transitions.ts";

type Way = "comes" | "goes";

/** Pointers that are no aliases lead to addresses only. */
const ASKED_OF_OTHERS: readonly QType[] = ["address"];

/** For a record in a zone that is served throughout. */
export function orderPointer(record: Change, zone: string, transition: Transition, facts: FactBuilder): void {
  const before = record.before as RecordValues | null;
  const after = afterValues(record) as RecordValues | null;
  const from = before === null ? null : pointerTarget(before);
  const to = after === null ? null : pointerTarget(after);
  if (from === to && before?.name === after?.name) return;
  if (to !== null) preferUnchanging(record.key, to, transition, facts, "comes");
  if (from !== null) preferUnchanging(record.key, from, transition, facts, "goes");
  if (after !== null) for (const event of neededBy(after, zone, transition, "comes")) facts.awaits(record.key, event);
  if (before !== null)
    for (const event of neededBy(before, zone, transition, "goes")) facts.precedes(record.key, event);
}

/**
 * What answers on both sides may have a gap in between, of which a pointer that is not there yet, or not any more, has no part. Breaking
 * this leaves no gap of its own.
 */
function preferUnchanging(pointer: string, target: string, transition: Transition, facts: FactBuilder, way: Way): void {
  for (const { id, changes } of transition.placesOf(target)) {
    if (way === "comes") facts.allGrowBefore(`pointing at ${id}`, changes, pointer);
    else facts.growsBeforeAll(`ceasing to point at ${id}`, pointer, changes);
  }
}

/** All pointers of a zone that begins or ceases to be served, by one change. */
export function orderZonePointers(zone: string, transition: Transition, facts: FactBuilder): void {
  const key = transition.changeOf(zone);
  if (transition.begins(zone)) {
    for (const { values } of transition.after.records(zone)) {
      for (const event of neededBy(values, zone, transition, "comes")) facts.awaits(key, event);
    }
  } else {
    for (const { values } of transition.before.records(zone)) {
      for (const event of neededBy(values, zone, transition, "goes")) facts.precedes(key, event);
    }
  }
}

function neededBy(values: RecordValues, zone: string, transition: Transition, way: Way): ResolutionEvent[] {
  const target = pointerTarget(values);
  if (target === null) return [];
  const [far, near] = snapshots(transition, way);
  const owner = recordFqdn(values, zone);
  if (values.type === "NS" && owner !== zone) {
    // Beneath another delegation, or in a zone beneath, nobody is sent on by this one.
    if (far.source(owner).zone !== zone || far.cutAbove(zone, owner) !== owner) return [];
    // Where the server itself can be asked on both sides, its own name hands over; glue comes and goes with a whole zone.
    const server = far.source(target);
    const isWhole = server.zone === zone && !transition.isServedThroughout(zone);
    if (near.answers(target, "address") && (server.type === "node" || isWhole)) return [];
    const events = serverMovesOf(target, owner, transition, way);
    const other = near.source(owner).zone;
    // Where a zone beneath answers for the owner on the other side, it hands over by itself.
    const isHandedOver = other !== null && other.length > zone.length;
    return isHandedOver ? events.filter(({ type }) => type === "answer") : events;
  }
  const source = far.source(owner);
  // Where another zone answered for the owner, it hands over by itself.
  const isSeen = source.type === "node" && source.zone === zone && near.source(owner).zone === zone;
  return (values.type === "CNAME" ? ASKED_OF_ALIASES : ASKED_OF_OTHERS)
    .filter((question) => question === "address" || (isSeen && near.answers(owner, question)))
    .flatMap((question) => movesOf(target, question, transition, way));
}

/** The side on which the target answers, and the other one. */
function snapshots({ before, after }: Transition, way: Way) {
  return way === "comes" ? ([after, before] as const) : ([before, after] as const);
}

/**
 * All that must happen until the target answers (`comes`), or by which it ceases to (`goes`). Nothing if it does so on both sides, or
 * does not on the one that matters.
 */
export function movesOf(
  target: string,
  question: QType,
  transition: Transition,
  way: Way,
  through: string | null = null,
): ResolutionEvent[] {
  const [far, near] = snapshots(transition, way);
  // A query for CNAME itself does not follow the alias (RFC 1034, 3.6.2).
  if (question === "CNAME" || !far.answers(target, question, 1)) return [];
  if (near.answers(target, question, 1) && (through === null || !near.leadsThrough(target, through))) return [];
  const events: ResolutionEvent[] = [];
  let name = target;
  for (let hop = 0; hop < MAX_CHAIN_LENGTH; hop += 1) {
    const source = far.source(name);
    const { zone, owner } = source;
    if (zone === null) break;
    events.push(...coversOf(name, source, transition, way));
    if (!near.isServed(zone)) return [...events, { type: "zone", zone, owner: zone }];
    if (isCut(source)) events.push({ type: "cut", zone, owner }, ...delegationMovesOf(zone, owner, transition, way));
    if (source.type !== "node") break;
    const alias = far.aliasAt(zone, owner);
    const isChanged = !transition.persists(zone, owner, alias === null ? question : "CNAME");
    if (isChanged) events.push({ type: "answer", zone, owner, question });
    if (alias === null || (isChanged && isAwaited(owner, question, near))) break;
    name = alias.values.target;
  }
  return events;
}

/** All that must happen until one of a delegation's servers can be asked, or by which none can be any more, beside its NS records. */
export function delegationMovesOf(
  zone: string,
  cut: string,
  transition: Transition,
  way: Way,
): readonly ResolutionEvent[] {
  return transition.delegationMoves(zone, cut, way, () => {
    const [far] = snapshots(transition, way);
    const reached = far.serversAt(zone, cut).filter(({ values }) => far.wayToServer(values.target, cut) !== null);
    const staying = reached.filter(({ change }) => change === null || !isPointerMoved(change));
    const moves = (staying.length > 0 ? staying : reached).map(({ values }) => {
      return serverMovesOf(values.target, cut, transition, way);
    });
    // Any server is enough, so that one of which nothing changes is.
    return moves.find((events) => events.length === 0) ?? moves[0] ?? [];
  });
}

/** All that must happen until a delegation's server can be asked, or by which it cannot be any more. */
function serverMovesOf(server: string, cut: string, transition: Transition, way: Way): ResolutionEvent[] {
  const [far, near] = snapshots(transition, way);
  const hops = far.wayToServer(server, cut);
  if (hops === null) return [];
  const events: ResolutionEvent[] = [];
  for (const { name, source, asked } of hops) {
    const { zone, owner } = source;
    if (zone === null) break;
    if (asked === "glue") {
      events.push(...deeperZones(name, zone, near));
      if (!near.isServed(zone)) return [...events, { type: "zone", zone, owner: zone }];
      if (!transition.persists(zone, name, "address")) {
        events.push({ type: "answer", zone, owner: name, question: "address" });
      }
      continue;
    }
    events.push(...coversOf(name, source, transition, way));
    if (!near.isServed(zone)) return [...events, { type: "zone", zone, owner: zone }];
    if (isCut(source)) events.push({ type: "cut", zone, owner });
    if (source.type === "node" && !transition.persists(zone, owner, "address")) {
      events.push({ type: "answer", zone, owner, question: "address" });
    }
  }
  return events;
}

/** What turns an alias waits by itself for addresses, and for whatever else its name answers on the other side: see `neededBy`. */
function isAwaited(owner: string, question: QType, near: Answers): boolean {
  return question === "address" || near.answers(owner, question);
}

/** What stands, on the side on which the name does not answer, between it and its source on the other. */
export function coversOf(name: string, source: Source, transition: Transition, way: Way): ResolutionEvent[] {
  const [far, near] = snapshots(transition, way);
  const zone = source.zone as string;
  const events: ResolutionEvent[] = [];
  events.push(...deeperZones(name, zone, near));
  if (!near.isServed(zone) || far.isOpaque(zone) || near.isOpaque(zone)) return events;
  const cut = near.cutAbove(zone, name);
  if (cut !== null && cut !== far.cutAbove(zone, name)) events.push({ type: "open", zone, owner: cut });
  const pivot = nextCloserName(name, source);
  if (pivot !== null && near.exists(zone, pivot)) events.push({ type: "wildcard", zone, owner: pivot });
  return events;
}

/** Zones beneath `zone` that answer for the name in its stead. */
function deeperZones(name: string, zone: string, near: Answers): ResolutionEvent[] {
  const events: ResolutionEvent[] = [];
  for (let above = name; above !== zone; above = parentOf(above)) {
    if (near.isServed(above)) events.push({ type: "open", zone: above, owner: above });
  }
  return events;
}

/** The name that must not exist for a wildcard to answer: one label nearer to `name` than the wildcard's encloser. */
export function nextCloserName(name: string, source: Source): string | null {
  if (source.type !== "node" || source.owner === name) return null;
  return childTowards(source.owner.slice("*.".length), name);
}
