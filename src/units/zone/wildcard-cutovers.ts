/**
 * Where names come to stand beneath a wildcard, or leave it: the first record at or beneath a name hides the wildcard from it and from
 * all beneath it, whatever its type (RFC 4592, 2.2.1), and the last one uncovers it. So the record that answers in the wildcard's
 * place is created first, or deleted last. If several answer, only one of them can be; the others have a gap.
 */

import { parentOf } from "../../dns/name.ts";
import { compareText, groupBy } from "../../model/text.ts";
import type { FactBuilder } from "./fact-builder.ts";
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

/** Shared by the thousands that move beneath a pivot and answer for nothing. */
const NO_WORDS: readonly string[] = [];

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
    return this.#side(cutover).answeringRecords(zone as string, owner, question)[0]?.values.type ?? "";
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
    const own = new Set(this.#stepsOf(cutover, zone, chosen));
    for (const { change } of moving) {
      if (change === null || own.has(change.key)) continue;
      if (cutover === "hide") this.#facts.awaits(change.key, event);
      else this.#facts.precedes(change.key, event);
    }
    const isCovered = (entry: Entry) =>
      chosen.owner === `*.${pivot}` && this.#covers(cutover, zone, chosen, entry, pivot);
    const apart = others.flatMap(questionsApart);
    this.#takeParts(cutover, zone, pivot, [chosen, ...apart.filter((other) => !isCovered(other))], moving);
    const below = groupBy(apart.filter(isCovered), ({ owner }) => childTowards(pivot, owner));
    if (below.size === 0) return;
    const beneath = moving.filter(({ name }) => name !== pivot);
    const movingBelow = groupBy(beneath, ({ name }) => childTowards(pivot, name));
    for (const [child, list] of below) this.#orderGroup(cutover, zone, child, list, movingBelow.get(child) ?? []);
  }

  /** Whether the wildcard at the pivot answers, meanwhile, what the entry does. */
  #covers(cutover: Cutover, zone: string, chosen: Entry, entry: Entry, pivot: string): boolean {
    if (entry.owner === pivot || entry.owner === chosen.owner) return false;
    const side = this.#side(cutover);
    const gives = (owner: string, question: QType) => side.answeringRecords(zone, owner, question);
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
    const keeps = new Map<string, Set<string> | null>();
    for (const { change } of moving) if (change !== null) keeps.set(change.key, null);
    const byOwner = groupBy(entries, ({ owner }) => owner);
    for (const entry of entries) {
      // If the name has both A and AAAA, moving one of them first keeps only that type answered.
      const isDistinct = byOwner.get(entry.owner)?.some(({ type }) => type !== entry.type && isAddress(type)) === true;
      const words = [...entry.questions].map((question) => {
        return wordsOf({
          type: "answer",
          zone,
          owner: entry.owner,
          question: isAddress(question) && !isDistinct ? "address" : question,
        });
      });
      for (const key of this.#stepsOf(cutover, zone, entry)) {
        const kept = keeps.get(key);
        if (kept !== undefined) keeps.set(key, new Set([...(kept ?? []), ...words]));
      }
    }
    const group = `${cutover} ${zone} ${pivot}`;
    for (const [key, words] of keeps) {
      this.#facts.takesPart(key, {
        group,
        at: cutover === "hide" ? "first" : "last",
        keeps: words === null ? NO_WORDS : [...words],
      });
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

/** Splits a delegation into one entry per question, as a wildcard may answer some of them meanwhile. */
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
