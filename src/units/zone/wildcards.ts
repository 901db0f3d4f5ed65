/**
 * Where names come to stand beneath a wildcard, or leave it: the first record at or beneath a name hides the wildcard from it and from
 * all beneath it, whatever its type (RFC 4592, 2.2.1), and the last one uncovers it. So the one that answers goes first, or last; of
 * several that answer only one can, and the others are left without an answer meanwhile.
 */

import { isAtOrBelow, parentOf } from "../../dns/name.ts";
import { compareText } from "../../model/text.ts";
import { type CutoverPart, type Facts, NO_FACTS } from "../../model/unit.ts";
import {
  childTowards,
  isAddress,
  isCut,
  type QType,
  type ResolutionEvent,
  type SideRecord,
  type Source,
  wordsOf,
} from "./resolution.ts";
import { moversOf, type Transition } from "./transitions.ts";

type Cutover = "hide" | "uncover";

/** Records of one type at one owner, which answer where the wildcard did, or will. */
interface Entry {
  readonly owner: string;
  readonly type: string;
  readonly questions: Set<QType>;
}

interface Group {
  readonly cutover: Cutover;
  readonly zone: string;
  /** The name that comes to exist, or ceases to. */
  readonly pivot: string;
  readonly entries: Map<string, Entry>;
}

export class WildcardCutovers {
  readonly #groups = new Map<string, Group>();
  readonly #transition: Transition;
  readonly #facts: FactBuilder;

  constructor(transition: Transition, facts: FactBuilder) {
    this.#transition = transition;
    this.#facts = facts;
  }

  /** @param source what answers at or beneath the pivot while the wildcard does not */
  add(cutover: Cutover, pivot: string, source: Source, questions: readonly QType[]): void {
    const zone = source.zone as string;
    const key = `${cutover} ${zone} ${pivot}`;
    const group = this.#groups.get(key) ?? { cutover, zone, pivot, entries: new Map() };
    this.#groups.set(key, group);
    for (const question of questions) {
      const type = this.#typeOf(cutover, source, question);
      const id = `${source.owner} ${type}`;
      const entry = group.entries.get(id) ?? { owner: source.owner, type, questions: new Set() };
      group.entries.set(id, entry);
      entry.questions.add(question);
    }
  }

  #typeOf(cutover: Cutover, source: Source, question: QType): string {
    if (isCut(source)) return "NS";
    const { zone, owner } = source;
    return this.#side(cutover).carriers(zone as string, owner, question)[0]?.values.type ?? "";
  }

  #side(cutover: Cutover) {
    return cutover === "hide" ? this.#transition.after : this.#transition.before;
  }

  order(): void {
    const moving = this.#movingBeneath();
    for (const [key, { cutover, zone, pivot, entries }] of this.#groups) {
      const nested = [...entries.values()];
      this.#orderGroup(cutover, zone, pivot, nested, moving.get(key) ?? []);
    }
  }

  /** The changed records at or beneath each pivot. */
  #movingBeneath(): Map<string, SideRecord[]> {
    const moving = new Map<string, SideRecord[]>([...this.#groups.keys()].map((key) => [key, []]));
    const zones = new Set([...this.#groups.values()].map(({ cutover, zone }) => `${cutover} ${zone}`));
    for (const id of zones) {
      const [cutover, zone] = id.split(" ") as [Cutover, string];
      for (const record of this.#side(cutover).records(zone)) {
        for (let above = record.name; above !== zone; above = parentOf(above))
          moving.get(`${id} ${above}`)?.push(record);
      }
    }
    return moving;
  }

  #orderGroup(
    cutover: Cutover,
    zone: string,
    pivot: string,
    entries: readonly Entry[],
    moving: readonly SideRecord[],
  ): void {
    const [chosen, ...others] = [...entries].sort(
      (a, b) => rank(a, pivot) - rank(b, pivot) || compareText(a.owner, b.owner) || compareText(a.type, b.type),
    );
    if (chosen === undefined) return;
    const event = thingOf(chosen, zone);
    const own = this.#stepsOf(cutover, zone, chosen);
    for (const { change } of moving) {
      if (change === null || own.includes(change.key)) continue;
      if (cutover === "hide") this.#facts.awaits(change.key, event);
      else this.#facts.precedes(change.key, event);
    }
    const isCovered = (entry: Entry) =>
      chosen.owner === `*.${pivot}` && this.#covers(cutover, zone, chosen, entry, pivot);
    const apart = others.flatMap(questionsApart);
    this.#takeParts(cutover, zone, pivot, [chosen, ...apart.filter((other) => !isCovered(other))], moving);
    const below = new Map<string, Entry[]>();
    for (const entry of apart.filter(isCovered)) {
      const child = childTowards(pivot, entry.owner);
      below.set(child, [...(below.get(child) ?? []), entry]);
    }
    for (const [child, list] of below) {
      this.#orderGroup(
        cutover,
        zone,
        child,
        list,
        moving.filter(({ name }) => isAtOrBelow(name, child)),
      );
    }
  }

  /** Whether the wildcard at the pivot answers, meanwhile, what the entry does. */
  #covers(cutover: Cutover, zone: string, chosen: Entry, entry: Entry, pivot: string): boolean {
    if (entry.owner === pivot || entry.owner === chosen.owner) return false;
    const side = this.#side(cutover);
    const gives = (owner: string, question: QType) => side.carriers(zone, owner, question);
    const kinds = (["A", "AAAA"] as const).filter((kind) => gives(entry.owner, kind).length > 0);
    return [...entry.questions]
      .flatMap((question) => (question === "address" && entry.type !== "NS" ? kinds : [question]))
      .every((question) => gives(chosen.owner, question).some(({ values }) => values.type === chosen.type));
  }

  #takeParts(
    cutover: Cutover,
    zone: string,
    pivot: string,
    entries: readonly Entry[],
    moving: readonly SideRecord[],
  ): void {
    const keeps = new Map<string, string[]>();
    for (const { change } of moving) if (change !== null) keeps.set(change.key, []);
    for (const entry of entries) {
      // One kind of address keeps the name's address, and not the other kind.
      const isDistinct = entries.some(
        ({ owner, type }) => owner === entry.owner && type !== entry.type && isAddress(type),
      );
      const words = [...entry.questions].map((question) => {
        return wordsOf({
          type: "answer",
          zone,
          owner: entry.owner,
          question: isAddress(question) && !isDistinct ? "address" : question,
        });
      });
      for (const key of this.#stepsOf(cutover, zone, entry)) keeps.get(key)?.push(...words);
    }
    const group = `${cutover} ${zone} ${pivot}`;
    for (const [key, words] of keeps) {
      this.#facts.takesPart(key, { group, at: cutover === "hide" ? "first" : "last", keeps: [...new Set(words)] });
    }
  }

  #stepsOf(cutover: Cutover, zone: string, entry: Entry): string[] {
    const question = entry.type === "NS" ? "NS" : ([...entry.questions][0] as QType);
    const way = cutover === "hide" ? "comes" : "goes";
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

function thingOf(entry: Entry, zone: string): ResolutionEvent {
  const { owner, questions } = entry;
  if (leadsOn(entry)) return { type: "cut", zone, owner };
  return { type: "answer", zone, owner, question: [...questions][0] as QType };
}

// What each change of a plan waits for and what waits for it, collected name by name before the order sees it.

interface StepFacts {
  readonly adds: Set<string>;
  readonly removes: Set<string>;
  readonly needs: Set<string>;
  readonly unneeds: Set<string>;
  readonly cutovers: CutoverPart[];
  readonly grows: Set<string>;
  readonly shrinks: Set<string>;
}

/** Changes are named by their keys. */
export class FactBuilder {
  readonly #facts = new Map<string, StepFacts>();
  readonly #comings = new Map<string, ResolutionEvent>();
  readonly #goings = new Map<string, ResolutionEvent>();
  readonly #places = new Set<string>();

  /** `change` waits until everything that brings the event about is done. */
  awaits(change: string, event: ResolutionEvent): void {
    const key = keyOf(event);
    this.#comings.set(key, event);
    this.#of(change).needs.add(key);
  }

  /** `change` comes before everything that ends it. */
  precedes(change: string, event: ResolutionEvent): void {
    const key = keyOf(event);
    this.#goings.set(key, event);
    this.#of(change).unneeds.add(key);
  }

  /**
   * What a name's new place says is there before its old place says something else: in between, an answer would be neither the one
   * from before nor the one from after. Nothing is without an answer, so that breaking it leaves no gap.
   * @param shared which of the two is the same for every name of the place: it is taken once
   */
  growsBefore(
    place: string,
    shared: "growing" | "shrinking",
    growing: readonly string[],
    shrinking: readonly string[],
  ): void {
    if (growing.length === 0 || shrinking.length === 0) return;
    const isNew = this.#isNew(place);
    if (isNew || shared !== "growing") for (const change of growing) this.#of(change).grows.add(place);
    if (isNew || shared !== "shrinking") for (const change of shrinking) this.#of(change).shrinks.add(place);
  }

  /** The same for one change after or before all those of a place, which are the same whoever speaks of them: they are taken once. */
  allGrowBefore(place: string, changes: readonly string[], change: string): void {
    if (changes.length === 0) return;
    if (this.#isNew(place)) for (const other of changes) this.#of(other).grows.add(place);
    this.#of(change).shrinks.add(place);
  }

  growsBeforeAll(place: string, change: string, changes: readonly string[]): void {
    if (changes.length === 0) return;
    if (this.#isNew(place)) for (const other of changes) this.#of(other).shrinks.add(place);
    this.#of(change).grows.add(place);
  }

  takesPart(change: string, cutover: CutoverPart): void {
    this.#of(change).cutovers.push(cutover);
  }

  /** Zone and name of every wildcard that is spoken of. */
  wildcards(): Set<string> {
    const events = [...this.#comings.values(), ...this.#goings.values()];
    return new Set(events.filter(({ type }) => type === "wildcard").map(({ zone, owner }) => `${zone} ${owner}`));
  }

  /** What is spoken of is brought and taken by these. */
  assign(
    bringing: (event: ResolutionEvent) => readonly string[],
    taking: (event: ResolutionEvent) => readonly string[],
  ): void {
    for (const [key, event] of this.#comings) {
      for (const change of this.#enough(event, bringing(event), "needs")) this.#of(change).adds.add(key);
    }
    for (const [key, event] of this.#goings) {
      for (const change of this.#enough(event, taking(event), "unneeds")) {
        const stepFacts = this.#of(change);
        stepFacts.removes.add(key);
        // What replaces an event by itself waits for the others that need it.
        stepFacts.unneeds.delete(key);
      }
    }
  }

  /** Any of several answers is one: those that are free to come first, or to go last, are enough. */
  #enough(event: ResolutionEvent, changes: readonly string[], bound: "needs" | "unneeds"): readonly string[] {
    if (event.type !== "answer" && event.type !== "cut") return changes;
    const free = changes.filter((change) => (this.#facts.get(change)?.[bound].size ?? 0) === 0);
    return free.length > 0 ? free : changes.slice(0, 1);
  }

  factsOf(change: string): Facts {
    const stepFacts = this.#facts.get(change);
    if (stepFacts === undefined) return NO_FACTS;
    const { adds, removes, needs, unneeds, cutovers, grows, shrinks } = stepFacts;
    const shrunk = [...shrinks].filter((place) => !grows.has(place));
    return {
      ...NO_FACTS,
      resolution: { adds: [...adds], removes: [...removes], needs: [...needs], unneeds: [...unneeds] },
      rrsets: {
        grow: [...grows].map((set) => ({ set, persists: true })),
        shrink: shrunk.map((set) => ({ set, persists: true })),
      },
      cutovers,
    };
  }

  #isNew(place: string): boolean {
    const isNew = !this.#places.has(place);
    this.#places.add(place);
    return isNew;
  }

  #of(change: string): StepFacts {
    const found = this.#facts.get(change);
    if (found !== undefined) return found;
    const stepFacts: StepFacts = {
      adds: new Set(),
      removes: new Set(),
      needs: new Set(),
      unneeds: new Set(),
      cutovers: [],
      grows: new Set(),
      shrinks: new Set(),
    };
    this.#facts.set(change, stepFacts);
    return stepFacts;
  }
}

function keyOf(event: ResolutionEvent): string {
  return wordsOf(event);
}
