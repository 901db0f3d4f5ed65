/**
 * Where names come to stand beneath a wildcard, or leave it: the first record at or beneath a name hides the wildcard from it and from
 * all beneath it, whatever its type (RFC 4592, 2.2.1), and the last one uncovers it. So the one that answers goes first, or last; of
 * several that answer only one can, and the others are left without an answer meanwhile.
 */

import { compareText } from "../../../model/group.ts";
import { childToward, isBeneath, isCut, parentOf, type Source } from "./answers.ts";
import type { Drafts } from "./drafts.ts";
import { isAddress, type Question, type Thing, wordsOf } from "./question.ts";
import type { SideRecord } from "./sides.ts";
import { moversOf, type Transition } from "./transition.ts";

export type Turn = "hide" | "uncover";

/** Records of one type at one owner, which answer where the wildcard did, or will. */
interface Entry {
  readonly owner: string;
  readonly type: string;
  readonly questions: Set<Question>;
}

interface Group {
  readonly turn: Turn;
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
  add(turn: Turn, pivot: string, source: Source, questions: readonly Question[]): void {
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

  #typeOf(turn: Turn, source: Source, question: Question): string {
    if (isCut(source)) return "NS";
    const { zone, owner } = source;
    return this.#side(turn).carriers(zone as string, owner, question)[0]?.values.type ?? "";
  }

  #side(turn: Turn) {
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
      const [turn, zone] = id.split(" ") as [Turn, string];
      for (const record of this.#side(turn).records(zone)) {
        for (let above = record.name; above !== zone; above = parentOf(above))
          moving.get(`${id} ${above}`)?.push(record);
      }
    }
    return moving;
  }

  #settleGroup(
    turn: Turn,
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
  #covers(turn: Turn, zone: string, chosen: Entry, entry: Entry, pivot: string): boolean {
    if (entry.owner === pivot || entry.owner === chosen.owner) return false;
    const side = this.#side(turn);
    const gives = (owner: string, question: Question) => side.carriers(zone, owner, question);
    const kinds = (["A", "AAAA"] as const).filter((kind) => gives(entry.owner, kind).length > 0);
    return [...entry.questions]
      .flatMap((question) => (question === "address" && entry.type !== "NS" ? kinds : [question]))
      .every((question) => gives(chosen.owner, question).some(({ values }) => values.type === chosen.type));
  }

  #takeParts(turn: Turn, zone: string, pivot: string, entries: readonly Entry[], moving: readonly SideRecord[]): void {
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

  #stepsOf(turn: Turn, zone: string, entry: Entry): string[] {
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
