/**
 * Where names come to stand beneath a wildcard, or leave it: the first record at or beneath a name hides the wildcard from it and from
 * all beneath it, whatever its type (RFC 4592, 2.2.1), and the last one uncovers it. So the one that answers goes first, or last; of
 * several that answer only one can, and the others are left without an answer meanwhile.
 */

import { compareText } from "../../model/text.ts";
import { type Facts, NO_FACTS, type Turn } from "../../model/unit.ts";
import {
  childToward,
  isAddress,
  isBeneath,
  isCut,
  parentOf,
  type Question,
  type SideRecord,
  type Source,
  type Thing,
  wordsOf,
} from "./resolution.ts";
import { moversOf, type Transition } from "./transitions.ts";

type WildcardTurn = "hide" | "uncover";

/** Records of one type at one owner, which answer where the wildcard did, or will. */
interface Entry {
  readonly owner: string;
  readonly type: string;
  readonly questions: Set<Question>;
}

interface Group {
  readonly turn: WildcardTurn;
  readonly zone: string;
  /** The name that comes to exist, or ceases to. */
  readonly pivot: string;
  readonly entries: Map<string, Entry>;
}

export class WildcardTurns {
  readonly #groups = new Map<string, Group>();
  readonly #transition: Transition;
  readonly #drafts: Drafts;

  constructor(transition: Transition, drafts: Drafts) {
    this.#transition = transition;
    this.#drafts = drafts;
  }

  /** @param source what answers at or beneath the pivot while the wildcard does not */
  add(turn: WildcardTurn, pivot: string, source: Source, questions: readonly Question[]): void {
    const zone = source.zone as string;
    const key = `${turn} ${zone} ${pivot}`;
    const group = this.#groups.get(key) ?? { turn, zone, pivot, entries: new Map() };
    this.#groups.set(key, group);
    for (const question of questions) {
      const type = this.#typeOf(turn, source, question);
      const id = `${source.owner} ${type}`;
      const entry = group.entries.get(id) ?? { owner: source.owner, type, questions: new Set() };
      group.entries.set(id, entry);
      entry.questions.add(question);
    }
  }

  #typeOf(turn: WildcardTurn, source: Source, question: Question): string {
    if (isCut(source)) return "NS";
    const { zone, owner } = source;
    return this.#side(turn).carriers(zone as string, owner, question)[0]?.values.type ?? "";
  }

  #side(turn: WildcardTurn) {
    return turn === "hide" ? this.#transition.after : this.#transition.before;
  }

  settle(): void {
    const moving = this.#movingBeneath();
    for (const [key, { turn, zone, pivot, entries }] of this.#groups) {
      const nested = [...entries.values()];
      this.#settleGroup(turn, zone, pivot, nested, moving.get(key) ?? []);
    }
  }

  /** The changed records at or beneath each pivot. */
  #movingBeneath(): Map<string, SideRecord[]> {
    const moving = new Map<string, SideRecord[]>([...this.#groups.keys()].map((key) => [key, []]));
    const zones = new Set([...this.#groups.values()].map(({ turn, zone }) => `${turn} ${zone}`));
    for (const id of zones) {
      const [turn, zone] = id.split(" ") as [WildcardTurn, string];
      for (const record of this.#side(turn).records(zone)) {
        for (let above = record.name; above !== zone; above = parentOf(above))
          moving.get(`${id} ${above}`)?.push(record);
      }
    }
    return moving;
  }

  #settleGroup(
    turn: WildcardTurn,
    zone: string,
    pivot: string,
    entries: readonly Entry[],
    moving: readonly SideRecord[],
  ): void {
    const [chosen, ...others] = [...entries].sort(
      (a, b) => rank(a, pivot) - rank(b, pivot) || compareText(a.owner, b.owner) || compareText(a.type, b.type),
    );
    if (chosen === undefined) return;
    const thing = thingOf(chosen, zone);
    const own = this.#stepsOf(turn, zone, chosen);
    for (const { change } of moving) {
      if (change === null || own.includes(change.key)) continue;
      if (turn === "hide") this.#drafts.awaits(change.key, thing);
      else this.#drafts.precedes(change.key, thing);
    }
    const isCovered = (entry: Entry) => chosen.owner === `*.${pivot}` && this.#covers(turn, zone, chosen, entry, pivot);
    const apart = others.flatMap(questionsApart);
    this.#takeParts(turn, zone, pivot, [chosen, ...apart.filter((other) => !isCovered(other))], moving);
    const below = new Map<string, Entry[]>();
    for (const entry of apart.filter(isCovered)) {
      const child = childToward(pivot, entry.owner);
      below.set(child, [...(below.get(child) ?? []), entry]);
    }
    for (const [child, list] of below) {
      this.#settleGroup(
        turn,
        zone,
        child,
        list,
        moving.filter(({ name }) => isBeneath(name, child)),
      );
    }
  }

  /** Whether the wildcard at the pivot answers, meanwhile, what the entry does. */
  #covers(turn: WildcardTurn, zone: string, chosen: Entry, entry: Entry, pivot: string): boolean {
    if (entry.owner === pivot || entry.owner === chosen.owner) return false;
    const side = this.#side(turn);
    const gives = (owner: string, question: Question) => side.carriers(zone, owner, question);
    const kinds = (["A", "AAAA"] as const).filter((kind) => gives(entry.owner, kind).length > 0);
    return [...entry.questions]
      .flatMap((question) => (question === "address" && entry.type !== "NS" ? kinds : [question]))
      .every((question) => gives(chosen.owner, question).some(({ values }) => values.type === chosen.type));
  }

  #takeParts(
    turn: WildcardTurn,
    zone: string,
    pivot: string,
    entries: readonly Entry[],
    moving: readonly SideRecord[],
  ): void {
    const keeps = new Map<string, string[]>();
    for (const { change } of moving) if (change !== null) keeps.set(change.key, []);
    for (const entry of entries) {
      // One kind of address keeps the name's address, and not the other kind.
      const isTold = entries.some(({ owner, type }) => owner === entry.owner && type !== entry.type && isAddress(type));
      const words = [...entry.questions].map((question) => {
        return wordsOf({
          type: "answer",
          zone,
          owner: entry.owner,
          question: isAddress(question) && !isTold ? "address" : question,
        });
      });
      for (const key of this.#stepsOf(turn, zone, entry)) keeps.get(key)?.push(...words);
    }
    const group = `${turn} ${zone} ${pivot}`;
    for (const [key, words] of keeps) {
      this.#drafts.takesPart(key, { group, at: turn === "hide" ? "first" : "last", keeps: [...new Set(words)] });
    }
  }

  #stepsOf(turn: WildcardTurn, zone: string, entry: Entry): string[] {
    const question = entry.type === "NS" ? "NS" : ([...entry.questions][0] as Question);
    const way = turn === "hide" ? "comes" : "goes";
    if (leadsOn(entry)) return moversOf({ type: "cut", zone, owner: entry.owner }, this.#transition, way);
    return moversOf({ type: "answer", zone, owner: entry.owner, question }, this.#transition, way);
  }
}

/** Whether a delegation is asked for more than its own NS, so that one of its servers must be there. */
function leadsOn({ type, questions }: Entry): boolean {
  return type === "NS" && [...questions].some((question) => question !== "NS");
}

/** A delegation answers everything, of which a wildcard may answer a part meanwhile. */
function questionsApart(entry: Entry): Entry[] {
  if (entry.type !== "NS") return [entry];
  return [...entry.questions].map((question) => ({ ...entry, questions: new Set([question]) }));
}

/** A wildcard at the pivot answers for all beneath; addresses are asked for most. */
function rank({ owner, type }: Entry, pivot: string): number {
  const isWide = owner === `*.${pivot}`;
  const leads = isAddress(type) || type === "CNAME";
  return (isWide ? 0 : 2) + (leads ? 0 : 1);
}

function thingOf(entry: Entry, zone: string): Thing {
  const { owner, questions } = entry;
  if (leadsOn(entry)) return { type: "cut", zone, owner };
  return { type: "answer", zone, owner, question: [...questions][0] as Question };
}

// What each change of a plan waits for and what waits for it, gathered name by name before it is told to the order.

interface Draft {
  readonly provides: Set<string>;
  readonly withdraws: Set<string>;
  readonly pointsAt: Set<string>;
  readonly releases: Set<string>;
  readonly turns: Turn[];
  readonly settles: Set<string>;
  readonly unsettles: Set<string>;
}

/** Changes are told by their keys. */
export class Drafts {
  readonly #drafts = new Map<string, Draft>();
  readonly #comings = new Map<string, Thing>();
  readonly #goings = new Map<string, Thing>();
  readonly #places = new Set<string>();

  /** `change` waits until everything that brings the thing is done. */
  awaits(change: string, thing: Thing): void {
    const key = keyOf(thing);
    this.#comings.set(key, thing);
    this.#of(change).pointsAt.add(key);
  }

  /** `change` comes before everything that takes the thing away. */
  precedes(change: string, thing: Thing): void {
    const key = keyOf(thing);
    this.#goings.set(key, thing);
    this.#of(change).releases.add(key);
  }

  /**
   * What a name's new place says is settled before its old place says something else: in between, an answer would be neither the one
   * from before nor the one from after. Nothing is without an answer, so that breaking it leaves no gap.
   * @param shared which of the two is the same for every name of the place: it is taken once
   */
  settlesBefore(
    place: string,
    shared: "settling" | "unsettling",
    settling: readonly string[],
    unsettling: readonly string[],
  ): void {
    if (settling.length === 0 || unsettling.length === 0) return;
    const isNew = this.#isNew(place);
    if (isNew || shared !== "settling") for (const change of settling) this.#of(change).settles.add(place);
    if (isNew || shared !== "unsettling") for (const change of unsettling) this.#of(change).unsettles.add(place);
  }

  /** The same for one change after or before all those of a place, which are the same whoever speaks of them: they are taken once. */
  settlesAfterAll(place: string, changes: readonly string[], change: string): void {
    if (changes.length === 0) return;
    if (this.#isNew(place)) for (const other of changes) this.#of(other).settles.add(place);
    this.#of(change).unsettles.add(place);
  }

  settlesBeforeAll(place: string, change: string, changes: readonly string[]): void {
    if (changes.length === 0) return;
    if (this.#isNew(place)) for (const other of changes) this.#of(other).unsettles.add(place);
    this.#of(change).settles.add(place);
  }

  takesPart(change: string, turn: Turn): void {
    this.#of(change).turns.push(turn);
  }

  /** Zone and name of every wildcard that is spoken of. */
  wildcards(): Set<string> {
    const things = [...this.#comings.values(), ...this.#goings.values()];
    return new Set(things.filter(({ type }) => type === "wildcard").map(({ zone, owner }) => `${zone} ${owner}`));
  }

  /** What is spoken of is brought and taken by these. */
  settle(bringing: (thing: Thing) => readonly string[], taking: (thing: Thing) => readonly string[]): void {
    for (const [key, thing] of this.#comings) {
      for (const change of this.#enough(thing, bringing(thing), "pointsAt")) this.#of(change).provides.add(key);
    }
    for (const [key, thing] of this.#goings) {
      for (const change of this.#enough(thing, taking(thing), "releases")) {
        const draft = this.#of(change);
        draft.withdraws.add(key);
        // What replaces a thing by itself waits for the others that need it.
        draft.releases.delete(key);
      }
    }
  }

  /** Any of several answers is one: those that are free to come first, or to go last, are enough. */
  #enough(thing: Thing, changes: readonly string[], bound: "pointsAt" | "releases"): readonly string[] {
    if (thing.type !== "answer" && thing.type !== "cut") return changes;
    const free = changes.filter((change) => (this.#drafts.get(change)?.[bound].size ?? 0) === 0);
    return free.length > 0 ? free : changes.slice(0, 1);
  }

  factsOf(change: string): Facts {
    const draft = this.#drafts.get(change);
    if (draft === undefined) return NO_FACTS;
    const { provides, withdraws, pointsAt, releases, turns, settles, unsettles } = draft;
    const unsettled = [...unsettles].filter((place) => !settles.has(place));
    return {
      ...NO_FACTS,
      provides: [...provides],
      withdraws: [...withdraws],
      pointsAt: [...pointsAt],
      releases: [...releases],
      turns,
      grows: [...settles].map((set) => ({ set, persists: true })),
      shrinks: unsettled.map((set) => ({ set, persists: true })),
    };
  }

  #isNew(place: string): boolean {
    const isNew = !this.#places.has(place);
    this.#places.add(place);
    return isNew;
  }

  #of(change: string): Draft {
    const found = this.#drafts.get(change);
    if (found !== undefined) return found;
    const draft: Draft = {
      provides: new Set(),
      withdraws: new Set(),
      pointsAt: new Set(),
      releases: new Set(),
      turns: [],
      settles: new Set(),
      unsettles: new Set(),
    };
    this.#drafts.set(change, draft);
    return draft;
  }
}

function keyOf(thing: Thing): string {
  return wordsOf(thing);
}
