/** What the changes of zones mean to resolvers: the data by which the order keeps every name answering. */

import type { Address } from "../../../model/address.ts";
import type { Change } from "../../../model/change.ts";
import { type Facts, type Membership, NO_FACTS } from "../../../model/unit.ts";
import type { LiveZone } from "../live.ts";
import { claimsBeyond, claimsOf } from "../match/claims.ts";
import { answersAddress, type RecordValues, recordFqdn } from "../values.ts";
import { isCut, parentOf } from "./answers.ts";
import { Drafts } from "./drafts.ts";
import { orderHandovers } from "./handover.ts";
import { orderPointer, orderZonePointers } from "./pointers.ts";
import { isAddress, type Question, type Thing } from "./question.ts";
import { afterValues, planName } from "./sides.ts";
import { moversOf, Transition } from "./transition.ts";

/** The facts of all steps of a plan's zones, found by looking at both of its sides. */
export class ZoneOrder {
  readonly #transition: Transition;
  readonly #drafts = new Drafts();
  readonly #records: ReadonlyMap<Address, readonly Change[]>;
  readonly #domains: readonly Change[];

  /** @param live what was read of the account, planned or not */
  constructor(domains: readonly Change[], records: ReadonlyMap<Address, readonly Change[]>, live: readonly LiveZone[]) {
    this.#domains = domains;
    this.#records = records;
    this.#transition = new Transition(domains, records, live);
    this.#orderPointers();
    orderHandovers(this.#transition, this.#drafts);
    this.#settle();
  }

  /** Of the step that begins to serve the zone, or ceases to. */
  factsOfZone(domain: Change): Facts {
    return this.#drafts.factsOf(domain.key);
  }

  /** Of a record's step. While its zone is not served only what the service refuses matters. */
  factsOfRecord(domain: Change, record: Change): Facts {
    const zone = planName(domain);
    const before = record.before as RecordValues | null;
    const after = record.after as RecordValues | null;
    const had = before === null ? [] : claimsOf(before, zone);
    const has = after === null ? [] : claimsOf(after, zone);
    const hard = { takes: claimsBeyond(has, had), frees: claimsBeyond(had, has) };
    if (!this.#transition.isServedThroughout(zone)) return { ...NO_FACTS, ...hard };
    const left = before === null ? [] : this.#setsOf(before, zone, "before");
    const joined = after === null ? [] : this.#setsOf(after, zone, "after");
    const isJoined = (set: string) => joined.some(([question, owner]) => `${owner} ${question}` === set);
    const soft = this.#drafts.factsOf(record.key);
    return {
      ...soft,
      ...hard,
      grows: [...soft.grows, ...this.#memberships(zone, joined)],
      shrinks: [...soft.shrinks, ...this.#memberships(zone, left).filter(({ set }) => !isJoined(set))],
    };
  }

  /** Only where it is this name, in this zone, that answers on both sides. */
  #memberships(zone: string, sets: readonly [Question, string][]): Membership[] {
    return sets
      .filter(([question, owner]) => this.#answersBoth(zone, owner, question))
      .map(([question, owner]) => {
        return { set: `${owner} ${question}`, persists: this.#transition.persists(zone, owner, question) };
      });
  }

  /** What a record is a member of: its name and type, and whatever else it answers at its name that others answer on the other side. */
  #setsOf(values: RecordValues, zone: string, side: "before" | "after"): [Question, string][] {
    const owner = recordFqdn(values, zone);
    const sets: [Question, string][] = [[values.type, owner]];
    if (values.type !== "CNAME") return answersAddress(values) ? [...sets, ["address", owner]] : sets;
    const other = side === "before" ? this.#transition.after : this.#transition.before;
    const asked = new Set<Question>(["address"]);
    for (const { values: theirs } of other.recordsAt(zone, owner)) if (!answersAddress(theirs)) asked.add(theirs.type);
    for (const question of asked) {
      if (this.#transition[side].carriers(zone, owner, question).length > 0) sets.push([question, owner]);
    }
    return sets;
  }

  #answersBoth(zone: string, owner: string, question: Question): boolean {
    const { before, after } = this.#transition;
    return [before, after].every((side) => {
      const source = side.source(owner);
      const isAsked = source.type === "node" || (isCut(source) && question === "NS");
      const isGlue = isCut(source) && isAddress(question) && side.isServer(zone, owner);
      const isHere = source.zone === zone && ((source.owner === owner && isAsked) || isGlue);
      const carriers = isHere ? side.carriers(zone, owner, question) : [];
      // Nobody follows an alias to the server of a delegation above it.
      return carriers.some(({ values }) => !isGlue || values.type !== "CNAME");
    });
  }

  #orderPointers(): void {
    const transition = this.#transition;
    for (const domain of this.#domains) {
      const zone = planName(domain);
      if (transition.begins(zone) || transition.ceases(zone)) orderZonePointers(zone, transition, this.#drafts);
      if (!transition.isServedThroughout(zone)) continue;
      for (const record of this.#records.get(domain.root) ?? []) orderPointer(record, zone, transition, this.#drafts);
    }
  }

  #settle(): void {
    const transition = this.#transition;
    const names = { comes: new Map<string, string[]>(), goes: new Map<string, string[]>() };
    const wanted = this.#drafts.wildcards();
    for (const domain of wanted.size === 0 ? [] : this.#domains) {
      const zone = planName(domain);
      if (!transition.isServedThroughout(zone)) continue;
      for (const record of this.#records.get(domain.root) ?? []) {
        const from = record.before === null ? null : recordFqdn(record.before as RecordValues, zone);
        const values = afterValues(record);
        const to = values === null ? null : recordFqdn(values as RecordValues, zone);
        if (from === to) continue;
        for (const [name, index] of [[from, names.comes] as const, [to, names.goes] as const]) {
          for (let above = name ?? zone; above !== zone; above = parentOf(above)) {
            const key = `${zone} ${above}`;
            if (!wanted.has(key)) continue;
            const list = index.get(key);
            if (list === undefined) index.set(key, [record.key]);
            else list.push(record.key);
          }
        }
      }
    }
    const movers = (thing: Thing, way: "comes" | "goes"): readonly string[] => {
      if (thing.type !== "wildcard") return moversOf(thing, transition, way);
      return names[way].get(`${thing.zone} ${thing.owner}`) ?? [];
    };
    this.#drafts.settle(
      (thing) => movers(thing, "comes"),
      (thing) => movers(thing, "goes"),
    );
  }
}
