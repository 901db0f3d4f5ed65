/** What the changes of zones mean to resolvers: the data by which the order keeps every name answering. */

import { wildcardsAbove } from "../../dns/name.ts";
import type { Address } from "../../model/address.ts";
import type { Change } from "../../model/change.ts";
import { type Facts, type Membership, NO_FACTS } from "../../model/unit.ts";
import { claimsBeyond, claimsOf } from "./claims.ts";
import { answersAddress, pointerTarget, type RecordValues, recordFqdn } from "./values.ts";

type Side = "before" | "after";

/** Which zones of the plan are served, which begin or cease to be, and which names in them answer throughout. */
export class ZoneOrder {
  /** Zones whose being served changes: pointers at names in them wait for that. */
  readonly #turning: ReadonlySet<string>;
  /** Of the zones that are served throughout, by name. */
  readonly #censuses: ReadonlyMap<string, Census>;

  constructor(domains: readonly Change[], records: ReadonlyMap<Address, readonly Change[]>) {
    const turning = domains.filter((domain) => isActive(domain, "before") !== isActive(domain, "after"));
    this.#turning = new Set(turning.map(zoneOf));
    const served = domains.filter((domain) => isActive(domain, "before") && isActive(domain, "after"));
    this.#censuses = new Map(
      served.map((domain) => [zoneOf(domain), new Census(records.get(domain.root) ?? [], zoneOf(domain))]),
    );
  }

  /** null if the zone is not served throughout. */
  census(zone: string): Census | null {
    return this.#censuses.get(zone) ?? null;
  }

  /** The keys under which something may provide what answers for `target`: itself, its wildcards, its zone. */
  keysOf(target: string): string[] {
    if (this.#answersThroughout(target)) return [];
    const keys = [nameKey(target), ...wildcardsAbove(target).map(nameKey)];
    for (let zone = target; zone !== ""; zone = parentOf(zone)) if (this.#turning.has(zone)) keys.push(zoneKey(zone));
    return keys;
  }

  #answersThroughout(target: string): boolean {
    for (let zone = target; zone !== ""; zone = parentOf(zone)) {
      const census = this.#censuses.get(zone);
      if (census !== undefined) return census.answersThroughout(target);
    }
    return false;
  }

  /** A zone ceases to be served: pointers at it from elsewhere go first. */
  withdrawal(domain: Change, records: readonly Change[]): Facts {
    return { ...NO_FACTS, withdraws: [zoneKey(zoneOf(domain))], releases: this.pointers(domain, records, "before") };
  }

  /** The keys of everything outside the zone that its records point at. */
  pointers(domain: Change, records: readonly Change[], side: Side): string[] {
    const own = zoneOf(domain);
    const keys = new Set<string>();
    for (const record of records) {
      const target = pointerOf(record[side]);
      if (target === null || isBeneath(target, own)) continue;
      for (const key of this.keysOf(target)) keys.add(key);
    }
    return [...keys];
  }
}

/** A zone begins to be served, all its names at once; what it points at elsewhere had better be there. */
export function servedFacts(domain: Change, records: readonly Change[], order: ZoneOrder): Facts {
  return { ...NO_FACTS, provides: [zoneKey(zoneOf(domain))], pointsAt: order.pointers(domain, records, "after") };
}

/** Nobody resolves anything by it. */
export function unservedFacts(): Facts {
  return NO_FACTS;
}

/** The facts of each record's change. In a zone that is not served throughout only what the service refuses matters. */
export function recordFacts(domain: Change, order: ZoneOrder): (record: Change) => Facts {
  const zone = zoneOf(domain);
  const census = order.census(zone);
  return (record) => {
    const before = record.before as RecordValues | null;
    const after = record.after as RecordValues | null;
    const had = before === null ? [] : claimsOf(before, zone);
    const has = after === null ? [] : claimsOf(after, zone);
    const hard = { ...NO_FACTS, takes: claimsBeyond(has, had), frees: claimsBeyond(had, has) };
    return census === null ? hard : { ...hard, ...softFacts(before, after, zone, census, order) };
  };
}

function softFacts(
  before: RecordValues | null,
  after: RecordValues | null,
  zone: string,
  census: Census,
  order: ZoneOrder,
): Partial<Facts> {
  const oldTarget = pointerOf(before);
  const newTarget = pointerOf(after);
  const moved = before?.name !== after?.name || oldTarget !== newTarget;
  const left = before === null ? [] : setsOf(before, zone);
  const joined = after === null ? [] : setsOf(after, zone);
  return {
    provides: after !== null && census.appears(after) ? [nameKey(recordFqdn(after, zone))] : [],
    withdraws: before !== null && census.vanishes(before) ? [nameKey(recordFqdn(before, zone))] : [],
    pointsAt: newTarget !== null && moved ? order.keysOf(newTarget) : [],
    releases: oldTarget !== null && moved ? order.keysOf(oldTarget) : [],
    grows: joined.map((set) => census.membership(set)),
    shrinks: left.filter((set) => !joined.includes(set)).map((set) => census.membership(set)),
  };
}

/** Counts the members of each set before and after, and those that stay. */
class Census {
  readonly #before = new Map<string, number>();
  readonly #after = new Map<string, number>();
  readonly #persists = new Set<string>();
  readonly #zone: string;

  constructor(records: readonly Change[], zone: string) {
    this.#zone = zone;
    for (const { before, after } of records) {
      const left = before === null ? [] : setsOf(before as RecordValues, zone);
      const joined = after === null ? [] : setsOf(after as RecordValues, zone);
      for (const set of left) this.#before.set(set, (this.#before.get(set) ?? 0) + 1);
      for (const set of joined) this.#after.set(set, (this.#after.get(set) ?? 0) + 1);
      for (const set of left) if (joined.includes(set)) this.#persists.add(set);
    }
  }

  membership(set: string): Membership {
    // A set that is empty on one side has no moment at which it could be missing.
    return { set, persists: this.#persists.has(set) || !this.#before.has(set) || !this.#after.has(set) };
  }

  /** Something answers for an address of the name on both sides. */
  answersThroughout(name: string): boolean {
    return this.#before.has(addressSet(name)) && this.#after.has(addressSet(name));
  }

  /** The name had no address before, and this record gives it one. */
  appears(values: RecordValues): boolean {
    return answersAddress(values) && !this.#before.has(answerSet(values, this.#zone));
  }

  vanishes(values: RecordValues): boolean {
    return answersAddress(values) && !this.#after.has(answerSet(values, this.#zone));
  }
}

/** The sets a record is a member of: its name and type, and whatever answers for an address of its name. */
function setsOf(values: RecordValues, zone: string): string[] {
  const set = `${recordFqdn(values, zone)} ${values.type}`;
  return answersAddress(values) ? [set, answerSet(values, zone)] : [set];
}

function answerSet(values: RecordValues, zone: string): string {
  return addressSet(recordFqdn(values, zone));
}

function addressSet(name: string): string {
  return `${name} address`;
}

function pointerOf(values: Change["before"]): string | null {
  return values === null ? null : pointerTarget(values as RecordValues);
}

function isActive(domain: Change, side: Side): boolean {
  const values = domain[side];
  return values !== null && (values["status"] ?? "active") === "active";
}

function zoneOf(domain: Change): string {
  return String((domain.after ?? domain.before)?.["domain"]);
}

function nameKey(name: string): string {
  return `name ${name}`;
}

function zoneKey(zone: string): string {
  return `zone ${zone}`;
}

function parentOf(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}

function isBeneath(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}
