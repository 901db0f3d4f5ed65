/** What each change of a plan waits for and what waits for it, collected name by name before the order sees it. */

import { type CutoverPart, type Facts, NO_FACTS } from "../../model/unit.ts";
import { type ResolutionEvent, wordsOf } from "./resolution.ts";

/** Most changes have one or two of these: a hundred thousand changes would have half a million empty sets. */
type StepFacts = Partial<Record<SetName, Set<string>>> & { cutovers?: CutoverPart[]; shared?: Partial<SharedKeys> };

/** Lists that many changes have in common: a hundred thousand pointers may lead to one name, which dozens of events keep from answering. */
type SharedKeys = Record<"needs" | "unneeds", readonly string[]>;

type SetName = "adds" | "removes" | "needs" | "unneeds" | "grows" | "shrinks";

/** What changes at one place where a name's answers come from. */
interface Answers {
  readonly id: string;
  /** Of all changes there; the same in every call for this id. */
  readonly keys: readonly string[];
}

/** Changes are named by their keys. */
export class FactBuilder {
  readonly #facts = new Map<string, StepFacts>();
  readonly #arrivals = new Map<string, ResolutionEvent>();
  readonly #departures = new Map<string, ResolutionEvent>();
  readonly #places = new Set<string>();
  readonly #keys = new WeakMap<readonly ResolutionEvent[], readonly string[]>();

  /** `change` waits until everything that brings the event about is done. */
  awaits(change: string, event: ResolutionEvent): void {
    const key = keyOf(event);
    this.#arrivals.set(key, event);
    this.#add(change, "needs", key);
  }

  /** `change` comes before everything that ends it. */
  precedes(change: string, event: ResolutionEvent): void {
    const key = keyOf(event);
    this.#departures.set(key, event);
    this.#add(change, "unneeds", key);
  }

  /** `awaits` for each of the events. A list that several changes hand in is kept once; it is handed in here, or to `precedesAll`, but not to both. */
  awaitsAll(change: string, events: readonly ResolutionEvent[]): void {
    this.#share(change, "needs", this.#keysOf(events, this.#arrivals));
  }

  /** `precedes` for each of the events. A list that several changes hand in is kept once. */
  precedesAll(change: string, events: readonly ResolutionEvent[]): void {
    this.#share(change, "unneeds", this.#keysOf(events, this.#departures));
  }

  #keysOf(events: readonly ResolutionEvent[], named: Map<string, ResolutionEvent>): readonly string[] {
    const known = this.#keys.get(events);
    if (known !== undefined) return known;
    const keys = new Set<string>();
    for (const event of events) {
      const key = keyOf(event);
      named.set(key, event);
      keys.add(key);
    }
    const listed = [...keys];
    this.#keys.set(events, listed);
    return listed;
  }

  #share(change: string, name: keyof SharedKeys, keys: readonly string[]): void {
    if (keys.length === 0) return;
    const stepFacts = this.#of(change);
    stepFacts.shared ??= {};
    const known = stepFacts.shared[name];
    if (known === keys) return;
    if (known === undefined) stepFacts.shared[name] = keys;
    else for (const key of keys) this.#add(change, name, key);
  }

  /** `precedes` for each of the changes, which are the same in every call for this place: they are asked for once for each event. */
  allPrecede(place: string, changes: () => readonly string[], event: ResolutionEvent): void {
    if (!this.#isNew(`${place} ${keyOf(event)}`)) return;
    for (const change of changes()) this.precedes(change, event);
  }

  /**
   * Records at a name's new place are made before those at its old place change: otherwise an answer in between would match neither side.
   * Every name has an answer throughout, so that breaking this order leaves no gap. Each of the lists is recorded once for each place.
   */
  growsBefore(place: string, growing: Answers, shrinking: Answers): void {
    if (growing.keys.length === 0 || shrinking.keys.length === 0) return;
    for (const [name, { id, keys }] of [["grows", growing] as const, ["shrinks", shrinking] as const]) {
      if (this.#isNew(`${place} ${name} ${id}`)) for (const change of keys) this.#add(change, name, place);
    }
  }

  /** As `growsBefore`, with one change on one side. The other list is the same in every call for a place; the first call alone records it. */
  allGrowBefore(place: string, changes: readonly string[], change: string): void {
    if (changes.length === 0) return;
    if (this.#isNew(place)) for (const other of changes) this.#add(other, "grows", place);
    this.#add(change, "shrinks", place);
  }

  growsBeforeAll(place: string, change: string, changes: readonly string[]): void {
    if (changes.length === 0) return;
    if (this.#isNew(place)) for (const other of changes) this.#add(other, "shrinks", place);
    this.#add(change, "grows", place);
  }

  takesPart(change: string, cutover: CutoverPart): void {
    const stepFacts = this.#of(change);
    stepFacts.cutovers ??= [];
    stepFacts.cutovers.push(cutover);
  }

  /** Zone and name of every wildcard named so far. */
  wildcards(): Set<string> {
    const events = [...this.#arrivals.values(), ...this.#departures.values()];
    return new Set(events.filter(({ type }) => type === "wildcard").map(({ zone, owner }) => `${zone} ${owner}`));
  }

  /** Records for every event named so far which changes bring it about and which end it. */
  assign(
    bringing: (event: ResolutionEvent) => readonly string[],
    taking: (event: ResolutionEvent) => readonly string[],
  ): void {
    for (const [key, event] of this.#arrivals) {
      for (const change of this.#enough(event, bringing(event), "needs")) this.#add(change, "adds", key);
    }
    for (const [key, event] of this.#departures) {
      for (const change of this.#enough(event, taking(event), "unneeds")) {
        this.#add(change, "removes", key);
        // What replaces an event by itself waits for the others that need it.
        this.#of(change).unneeds?.delete(key);
        this.#unshare(change, key);
      }
    }
  }

  /** If several changes bring one answer about, or end it, it is enough to keep those that wait for nothing themselves. */
  #enough(event: ResolutionEvent, changes: readonly string[], bound: "needs" | "unneeds"): readonly string[] {
    if (event.type !== "answer" && event.type !== "cut") return changes;
    const free = changes.filter((change) => {
      const stepFacts = this.#facts.get(change);
      return (stepFacts?.[bound]?.size ?? 0) === 0 && (stepFacts?.shared?.[bound]?.length ?? 0) === 0;
    });
    return free.length > 0 ? free : changes.slice(0, 1);
  }

  #unshare(change: string, key: string): void {
    const { shared } = this.#of(change);
    if (shared?.unneeds?.includes(key) === true) shared.unneeds = shared.unneeds.filter((other) => other !== key);
  }

  factsOf(change: string): Facts {
    const stepFacts = this.#facts.get(change);
    if (stepFacts === undefined) return NO_FACTS;
    const listed = (name: SetName): string[] => [...(stepFacts[name] ?? [])];
    const bound = (name: keyof SharedKeys): readonly string[] => {
      const [shared, own] = [stepFacts.shared?.[name], stepFacts[name]];
      if (shared === undefined) return listed(name);
      return own === undefined || own.size === 0 ? shared : [...new Set([...shared, ...own])];
    };
    const shrunk = listed("shrinks").filter((place) => stepFacts.grows?.has(place) !== true);
    return {
      ...NO_FACTS,
      resolution: {
        adds: listed("adds"),
        removes: listed("removes"),
        needs: bound("needs"),
        unneeds: bound("unneeds"),
      },
      rrsets: {
        grow: listed("grows").map((set) => ({ set, persists: true })),
        shrink: shrunk.map((set) => ({ set, persists: true })),
      },
      cutovers: stepFacts.cutovers ?? [],
    };
  }

  #isNew(place: string): boolean {
    const isNew = !this.#places.has(place);
    this.#places.add(place);
    return isNew;
  }

  #add(change: string, name: SetName, key: string): void {
    const stepFacts = this.#of(change);
    const set = stepFacts[name] ?? new Set();
    stepFacts[name] = set;
    set.add(key);
  }

  #of(change: string): StepFacts {
    const found = this.#facts.get(change);
    if (found !== undefined) return found;
    const stepFacts: StepFacts = {};
    this.#facts.set(change, stepFacts);
    return stepFacts;
  }
}

function keyOf(event: ResolutionEvent): string {
  return wordsOf(event);
}
