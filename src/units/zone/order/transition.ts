/** From one side of a plan to the other: which zones are served throughout, and what carries an answer on both. */

import type { Address } from "../../../model/address.ts";
import type { Change } from "../../../model/change.ts";
import type { LiveZone } from "../live.ts";
import type { RecordValues } from "../values.ts";
import { Answers } from "./answers.ts";
import type { Question } from "./question.ts";
import { planName, type SideRecord, sidesOf } from "./sides.ts";

export class Transition {
  readonly before: Answers;
  readonly after: Answers;
  /** All zones of either side that are served on it. */
  readonly served: readonly string[];
  /** Keys of the changes of domains, by zone. */
  readonly #domains: ReadonlyMap<string, string>;

  constructor(domains: readonly Change[], records: ReadonlyMap<Address, readonly Change[]>, live: readonly LiveZone[]) {
    const { before, after } = sidesOf(domains, records, live);
    const hosted = new Set([...before, ...after].map(({ name }) => name));
    this.before = new Answers(before, hosted);
    this.after = new Answers(after, hosted);
    this.served = [...hosted].filter((zone) => this.before.isServed(zone) || this.after.isServed(zone));
    this.#domains = new Map(domains.map((domain) => [planName(domain), domain.key]));
  }

  /** The key of the change that serves the zone, or ceases to. */
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

  /** Whether one record answers the question at the owner on both sides. */
  persists(zone: string, owner: string, question: Question): boolean {
    const later = new Set(this.after.carriers(zone, owner, question).map(identity));
    return this.before.carriers(zone, owner, question).some((record) => later.has(identity(record)));
  }

  /** Changes after which the owner has more, or something else, to answer with. */
  gained(zone: string, owner: string, question: Question): Change[] {
    const had = new Set(this.before.carriers(zone, owner, question).map(identity));
    return changesOf(this.after.carriers(zone, owner, question).filter((record) => !had.has(identity(record))));
  }

  lost(zone: string, owner: string, question: Question): Change[] {
    const has = new Set(this.after.carriers(zone, owner, question).map(identity));
    return changesOf(this.before.carriers(zone, owner, question).filter((record) => !has.has(identity(record))));
  }
}

function changesOf(records: readonly SideRecord[]): Change[] {
  return records.flatMap(({ change }) => change ?? []);
}

/** A record that is changed where it stands is the same; an alias that leads elsewhere is another. */
function identity(record: SideRecord): unknown {
  const { change, values } = record;
  if (change === null) return record.values;
  const isTurned =
    values.type === "CNAME" && change.before !== null && change.before["target"] !== change.after?.["target"];
  return isTurned ? `${change.key} ${(values as RecordValues).target}` : change.key;
}
