/**
 * Orders changes of pointers, which are records whose target resolvers look up next (NS, CNAME, MX, SRV): a target answers before a pointer
 * leads to it, and goes on answering until no pointer does. The two sides are the account before and after the plan: `far` is the side on
 * which the pointer is there, `near` the other one.
 */

import { parentOf } from "../../dns/name.ts";
import type { Change } from "../../model/change.ts";
import type { FactBuilder } from "./fact-builder.ts";
import {
  type AccountResolver,
  ASKED_OF_ALIASES,
  afterValues,
  childTowards,
  isCut,
  MAX_CHAIN_LENGTH,
  type QType,
  type ResolutionEvent,
  type Source,
  wordsOf,
} from "./resolution.ts";
import { isPointerMoved, type Transition } from "./transitions.ts";
import { pointerTarget, type RecordValues, recordFqdn } from "./wire-record.ts";

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
  if (after !== null) facts.awaitsAll(record.key, neededBy(after, zone, transition, "comes"));
  if (before !== null) facts.precedesAll(record.key, neededBy(before, zone, transition, "goes"));
}

/**
 * A target that answers on both sides may fail to answer for a moment while it changes. So a pointer to it is made after the target's
 * changes, or removed before them. This is only a preference: to break it causes no gap by itself.
 * @param pointer the change by which a name begins to follow the pointer (`comes`), or no longer follows it (`goes`)
 */
export function preferUnchanging(
  pointer: string,
  target: string,
  transition: Transition,
  facts: FactBuilder,
  way: Way,
): void {
  for (const { id, changes } of transition.placesOf(target)) {
    if (way === "comes") facts.allGrowBefore(`pointing at ${id}`, changes, pointer);
    else facts.growsBeforeAll(`ceasing to point at ${id}`, pointer, changes);
  }
}

/** For a zone that begins or ceases to be served: one change, that of its domain, brings or takes away all its pointers. */
export function orderZonePointers(zone: string, transition: Transition, facts: FactBuilder): void {
  const key = transition.changeOf(zone);
  if (transition.begins(zone)) {
    for (const { values } of transition.after.records(zone)) {
      facts.awaitsAll(key, neededBy(values, zone, transition, "comes"));
    }
  } else {
    for (const { values } of transition.before.records(zone)) {
      facts.precedesAll(key, neededBy(values, zone, transition, "goes"));
    }
  }
}

/** The events that a pointer waits for before it is there (`comes`), or that wait until it is gone (`goes`). */
function neededBy(values: RecordValues, zone: string, transition: Transition, way: Way): readonly ResolutionEvent[] {
  const target = pointerTarget(values);
  if (target === null) return [];
  const [far, near] = snapshots(transition, way);
  const owner = recordFqdn(values, zone);
  if (values.type === "NS" && owner !== zone) {
    // If a deeper zone, or a delegation above the owner, answers for the owner, no resolver follows this NS record.
    if (far.source(owner).zone !== zone || far.cutAbove(zone, owner) !== owner) return [];
    // If the server's address is found on both sides, the changes at the server's own name are ordered there already. Glue in a zone that
    // begins or ceases to be served comes or goes with that zone.
    const server = far.source(target);
    const isWhole = server.zone === zone && !transition.isServedThroughout(zone);
    if (near.answers(target, "address") && (server.type === "node" || isWhole)) return [];
    const events = serverMovesOf(target, owner, transition, way);
    const other = near.source(owner).zone;
    // If a deeper zone answers for the owner on the other side, `orderTakeovers` (ordering.ts) orders the switch between the zones, and
    // only events of the type `answer` count here.
    const isHandedOver = other !== null && other.length > zone.length;
    return isHandedOver ? events.filter(({ type }) => type === "answer") : events;
  }
  const source = far.source(owner);
  // If another zone answers for the owner on the other side, `orderTakeovers` orders the switch, and only addresses count here.
  const isSeen = source.type === "node" && source.zone === zone && near.source(owner).zone === zone;
  const questions = (values.type === "CNAME" ? ASKED_OF_ALIASES : ASKED_OF_OTHERS).filter(
    (question) => question === "address" || (isSeen && near.answers(owner, question)),
  );
  return transition.targetMoves(targetId(target, transition, way), `${way} ${questions.join(" ")}`, values, () =>
    questions.flatMap((question) =>
      isMoved(target, question, transition, way) ? moves(target, question, transition, way) : [],
    ),
  );
}

/** Equal for targets with the same moves: all names that one wildcard, or one delegation, answers for, unless something keeps it from some. */
function targetId(target: string, transition: Transition, way: Way): string {
  const [there, here] = snapshots(transition, way).map((side) => side.source(target)) as [Source, Source];
  if (there.owner === target || here.owner === target) return target;
  const covers = there.zone === null ? [] : coversOf(target, there, transition, way);
  const places = [there, here].map(({ type, zone, owner }) => `${type} ${zone} ${owner}`);
  return [...places, ...covers.map(wordsOf)].join(", ");
}

/** `far`, the side on which the pointer is there and its target must answer, and `near`, the other one. */
function snapshots({ before, after }: Transition, way: Way) {
  return way === "comes" ? ([after, before] as const) : ([before, after] as const);
}

/**
 * The events that make the target answer (`comes`), or that end its answer (`goes`). None if the target answers on both sides, or does not
 * answer on the side on which the pointer is there.
 * @param pointer another one for each name or record that leads to the target
 * @param through an answer on the other side does not count if the target's aliases lead to this name there
 */
export function movesOf(
  target: string,
  question: QType,
  transition: Transition,
  way: Way,
  pointer: unknown,
  through: string,
): readonly ResolutionEvent[] {
  if (!isMoved(target, question, transition, way, through)) return [];
  return transition.targetMoves(targetId(target, transition, way), `${way} to ${question}`, pointer, () =>
    moves(target, question, transition, way),
  );
}

function isMoved(
  target: string,
  question: QType,
  transition: Transition,
  way: Way,
  through: string | null = null,
): boolean {
  const [far, near] = snapshots(transition, way);
  // A query for CNAME itself does not follow the alias (RFC 1034, 3.6.2). `1`: the pointer counts as a first alias on the way.
  if (question === "CNAME" || !far.answers(target, question, 1)) return false;
  return !near.answers(target, question, 1) || (through !== null && near.leadsThrough(target, through));
}

/** The events that make a target answer which does not on the other side. */
function moves(target: string, question: QType, transition: Transition, way: Way): ResolutionEvent[] {
  const [far, near] = snapshots(transition, way);
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

/**
 * The events that let one of a delegation's servers be asked (`comes`), or after which none can be (`goes`), apart from changes of the
 * delegation's own NS records.
 */
export function delegationMovesOf(
  zone: string,
  cut: string,
  transition: Transition,
  way: Way,
): readonly ResolutionEvent[] {
  return transition.delegationMoves(zone, cut, way, () => {
    const [far] = snapshots(transition, way);
    const reachable = far.serversAt(zone, cut).filter(({ values }) => far.wayToServer(values.target, cut) !== null);
    const staying = reachable.filter(({ change }) => change === null || !isPointerMoved(change));
    const moves = (staying.length > 0 ? staying : reachable).map(({ values }) => {
      return serverMovesOf(values.target, cut, transition, way);
    });
    // One server is enough, preferably one whose NS record stays: if any of them needs no event, nothing is waited for.
    return moves.find((events) => events.length === 0) ?? moves[0] ?? [];
  });
}

/** The events that let a delegation's server be asked (`comes`), or after which it cannot be (`goes`). */
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

/**
 * Whether the events beyond the alias at `owner` are ordered already. The change that makes it point elsewhere waits for its new target's
 * addresses, and for all that the alias's name answers on the other side (see `neededBy`).
 */
function isAwaited(owner: string, question: QType, near: AccountResolver): boolean {
  return question === "address" || near.answers(owner, question);
}

/**
 * One event for each thing that keeps `source` from answering for the name on the other side: a deeper zone, a delegation, or a name that
 * hides the wildcard.
 */
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

/** An `open` event for each zone beneath `zone` that answers for the name in its stead. */
function deeperZones(name: string, zone: string, near: AccountResolver): ResolutionEvent[] {
  const events: ResolutionEvent[] = [];
  const deepest = near.zoneAbove(name);
  // Most names have none, and a long one has many labels.
  if (deepest === null || deepest.length <= zone.length) return events;
  for (let above = deepest; above !== zone; above = parentOf(above)) {
    if (near.isServed(above)) events.push({ type: "open", zone: above, owner: above });
  }
  return events;
}

/** The name that must not exist for a wildcard to answer: one label nearer to `name` than the wildcard's encloser. */
export function nextCloserName(name: string, source: Source): string | null {
  if (source.type !== "node" || source.owner === name) return null;
  return childTowards(source.owner.slice("*.".length), name);
}
