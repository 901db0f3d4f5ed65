/** From before a plan to after it: which zones are served throughout, and which records carry an answer on both sides. */

import type { Change } from "../../model/change.ts";
import type { Address } from "../../model/resource.ts";
import type { LiveZone } from "./live.ts";
import {
  AccountResolver,
  afterValues,
  domainNameOf,
  type QType,
  type ResolutionEvent,
  type SideRecord,
  zoneSnapshotsOf,
} from "./resolution.ts";

export class Transition {
  readonly before: AccountResolver;
  readonly after: AccountResolver;
  /** Zones that are served before the plan, after it, or both. */
  readonly served: readonly string[];
  /** Keys of the changes of domains, by zone. */
  readonly #domains: ReadonlyMap<string, string>;
  readonly #movements = new Map<string, Movement>();
  readonly #delegations = new Map<string, Movement>();
  readonly #places = new Map<string, Place>();
  readonly #delegationMoves = new Map<string, readonly ResolutionEvent[]>();
  readonly #firstPointers = new Map<string, unknown>();
  readonly #targetMoves = new Map<string, Map<string, readonly ResolutionEvent[]>>();

  constructor(domains: readonly Change[], records: ReadonlyMap<Address, readonly Change[]>, live: readonly LiveZone[]) {
    const { before, after } = zoneSnapshotsOf(domains, records, live);
    const hosted = new Set([...before, ...after].map(({ name }) => name));
    this.before = new AccountResolver(before, hosted);
    this.after = new AccountResolver(after, hosted);
    this.served = [...hosted].filter((zone) => this.before.isServed(zone) || this.after.isServed(zone));
    this.#domains = new Map(domains.map((domain) => [domainNameOf(domain), domain.key]));
  }

  /** The key of the change of the zone's domain. The plan must have one. */
  changeOf(zone: string): string {
    return this.#domains.get(zone) as string;
  }

  isServedThroughout(zone: string): boolean {
    return this.before.isServed(zone) && this.after.isServed(zone);
  }

  begins(zone: string): boolean {
    return !this.before.isServed(zone) && this.after.isServed(zone);
  }

  ceases(zone: string): boolean {
    return this.before.isServed(zone) && !this.after.isServed(zone);
  }

  /** Whether a record that answers the question at the owner before the plan still does so after it. */
  persists(zone: string, owner: string, question: QType): boolean {
    return this.#movement(zone, owner, question).persists;
  }

  /** Changes after which the owner has more, or something else, to answer with. */
  gained(zone: string, owner: string, question: QType): readonly Change[] {
    return this.#movement(zone, owner, question).gained;
  }

  lost(zone: string, owner: string, question: QType): readonly Change[] {
    return this.#movement(zone, owner, question).lost;
  }

  /** Keys of the changes that affect the owner's answer: those in `gained` and `lost`, and those that give a record another target in place. */
  alteredKeys(zone: string, owner: string, question: QType): readonly string[] {
    return this.#movement(zone, owner, question).alteredKeys;
  }

  /** Changes of NS records that bring the delegation a server whose address can be found. */
  gainedServers(zone: string, cut: string): readonly Change[] {
    return this.#servers(zone, cut).gained;
  }

  /** Changes of NS records that take such a server away from the delegation. */
  lostServers(zone: string, cut: string): readonly Change[] {
    return this.#servers(zone, cut).lost;
  }

  /** Whether a server of the delegation can be asked before the plan and still after it. */
  keepsServer(zone: string, cut: string): boolean {
    return this.#servers(zone, cut).persists;
  }

  /**
   * Where the name's answers come from, before the plan and after it. Names with the same source, such as all names beneath one delegation,
   * get the same `Place`.
   */
  placesOf(name: string): readonly Place[] {
    return (["before", "after"] as const).flatMap((when): Place[] => {
      const { zone, owner } = this[when].source(name);
      if (zone === null) return [];
      const id = `${zone} ${owner} ${when}`;
      const place = this.#places.get(id) ?? { id, changes: this.#changesAt(zone, owner, this[when]) };
      this.#places.set(id, place);
      return [place];
    });
  }

  #changesAt(zone: string, owner: string, side: AccountResolver): string[] {
    if (!this.isServedThroughout(zone) && this.#domains.has(zone)) return [this.changeOf(zone)];
    const changes = changesOf(side.recordsAt(zone, owner)).filter(({ action }) => action !== "no-op");
    return [...new Set(changes.map(({ key }) => key))];
  }

  /** Calls `find` once for each delegation and direction, and keeps the result: every name beneath the delegation needs it. */
  delegationMoves(
    zone: string,
    cut: string,
    way: "comes" | "goes",
    find: () => readonly ResolutionEvent[],
  ): readonly ResolutionEvent[] {
    const key = `${way} ${zone} ${cut}`;
    const moves = this.#delegationMoves.get(key) ?? find();
    this.#delegationMoves.set(key, moves);
    return moves;
  }

  /**
   * As `delegationMoves`, for what pointers lead to. What the first pointer to a target asks for is not kept: most targets have one each.
   * @param id equal for all targets of which the same is found
   */
  targetMoves(
    id: string,
    asked: string,
    pointer: unknown,
    find: () => readonly ResolutionEvent[],
  ): readonly ResolutionEvent[] {
    const first = this.#firstPointers.get(id);
    if (first === undefined) this.#firstPointers.set(id, pointer);
    if (first === undefined || first === pointer) return find();
    const known = this.#targetMoves.get(id) ?? new Map<string, readonly ResolutionEvent[]>();
    this.#targetMoves.set(id, known);
    const moves = known.get(asked) ?? find();
    known.set(asked, moves);
    return moves;
  }

  #movement(zone: string, owner: string, question: QType): Movement {
    const key = `${zone} ${owner} ${question}`;
    const known = this.#movements.get(key);
    if (known !== undefined) return known;
    const had = this.before.answeringRecords(zone, owner, question);
    const movement = movementOf(had, this.after.answeringRecords(zone, owner, question), isAlias);
    this.#movements.set(key, movement);
    return movement;
  }

  #servers(zone: string, cut: string): Movement {
    const key = `${zone} ${cut}`;
    const known = this.#delegations.get(key);
    if (known !== undefined) return known;
    const [before, after] = [this.before, this.after].map((side) => {
      return side.serversAt(zone, cut).filter(({ values }) => side.wayToServer(values.target, cut) !== null);
    }) as [SideRecord[], SideRecord[]];
    const { persists, ...moved } = movementOf(before, after, () => true);
    // An NS record that stays can gain or lose the address of its server. Its own change, if it has one, is not the cause then.
    const movement = {
      ...{ persists, alteredKeys: moved.alteredKeys },
      gained: moved.gained.filter(isPointerMoved),
      lost: moved.lost.filter(isPointerMoved),
    };
    this.#delegations.set(key, movement);
    return movement;
  }
}

/**
 * Keys of the changes that bring an event about (`comes`) or end it (`goes`). None for a `wildcard` event: `ZoneFacts` in ordering.ts finds
 * those itself.
 */
export function moversOf(
  { type, zone, owner, ...event }: ResolutionEvent,
  transition: Transition,
  way: "comes" | "goes",
): string[] {
  const keys = (changes: readonly Change[]) => changes.map(({ key }) => key);
  switch (type) {
    case "answer": {
      const { question } = event as { question: QType };
      return keys(way === "comes" ? transition.gained(zone, owner, question) : transition.lost(zone, owner, question));
    }
    case "zone":
      return [transition.changeOf(zone)];
    case "cut":
      return keys(way === "comes" ? transition.gainedServers(zone, owner) : transition.lostServers(zone, owner));
    case "open":
      if (zone === owner) return [transition.changeOf(zone)];
      return keys(way === "comes" ? transition.lost(zone, owner, "NS") : transition.gained(zone, owner, "NS"));
    case "wildcard":
      return [];
  }
}

export interface Place {
  readonly id: string;
  /** Keys of all changes there. */
  readonly changes: readonly string[];
}

/** What becomes of the records that answer at one place. */
interface Movement {
  readonly persists: boolean;
  readonly gained: readonly Change[];
  readonly lost: readonly Change[];
  /** Without repeats. */
  readonly alteredKeys: readonly string[];
}

/** @param isPointer whether the record counts as another one once its target changes */
function movementOf(
  before: readonly SideRecord[],
  after: readonly SideRecord[],
  isPointer: (record: SideRecord) => boolean,
): Movement {
  const identify = (record: SideRecord) => identity(record, isPointer(record));
  const had = new Set(before.map(identify));
  const has = new Set(after.map(identify));
  const gained = changesOf(after.filter((record) => !had.has(identify(record))));
  const lost = changesOf(before.filter((record) => !has.has(identify(record))));
  const turned = changesOf(after).filter((change) => change.before !== null && isTurned(change));
  const alteredKeys = [...new Set([...gained, ...lost, ...turned].map(({ key }) => key))];
  return { persists: before.some((record) => has.has(identify(record))), gained, lost, alteredKeys };
}

function changesOf(records: readonly SideRecord[]): Change[] {
  return records.flatMap(({ change }) => change ?? []);
}

/**
 * Equal on both sides if the record is changed in place, unless it is a pointer whose target changes. A record without a change is
 * identified by its `values` object, which both sides share.
 */
function identity({ change, values }: SideRecord, isPointer: boolean): unknown {
  if (change === null) return values;
  return isPointer && isTurned(change) ? `${change.key} ${values.target}` : change.key;
}

function isTurned(change: Change): boolean {
  return change.before !== null && change.before["target"] !== afterValues(change)?.["target"];
}

/** Whether the record comes, goes, gets another name, or gets another target. */
export function isPointerMoved(change: Change): boolean {
  const after = afterValues(change);
  return change.before?.["target"] !== after?.["target"] || change.before?.["name"] !== after?.["name"];
}

function isAlias({ values }: SideRecord): boolean {
  return values.type === "CNAME";
}
