/** What each change of a plan waits for and what waits for it, gathered name by name before it is told to the order. */

import { type Facts, NO_FACTS, type Turn } from "../../../model/unit.ts";
import { type Thing, wordsOf } from "./question.ts";

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
