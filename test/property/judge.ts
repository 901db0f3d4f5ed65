/** What must hold of resolution at every moment of an apply, and which gap of a plan excuses that it does not. */

import { clashes } from "./replay.ts";
import {
  ADDRESS,
  type Answer,
  isAddress,
  isWithin,
  type ModelRecord,
  type ModelZone,
  parentOf,
  Resolver,
  targetOf,
  verdictOf,
} from "./resolver.ts";

export interface Violation {
  readonly text: string;
  /** What was asked for; null where nothing excuses it. */
  readonly asked: { readonly trail: ReadonlySet<string>; readonly types: readonly string[] } | null;
}

const TYPES = ["A", "AAAA", ADDRESS, "TXT", "MX", "NS", "SRV", "CAA", "PTR", "CNAME"] as const;

export class Judge {
  readonly #before: readonly ModelZone[];
  readonly #after: readonly ModelZone[];
  readonly #hosted: readonly string[];
  readonly #from: Resolver;
  readonly #to: Resolver;
  /** What answers before and after. */
  readonly #kept: readonly { readonly name: string; readonly type: string }[];

  constructor(before: readonly ModelZone[], after: readonly ModelZone[]) {
    this.#before = before;
    this.#after = after;
    this.#hosted = [...new Set([...before, ...after].map(({ name }) => name))];
    this.#from = new Resolver(before, this.#hosted);
    this.#to = new Resolver(after, this.#hosted);
    this.#kept = [...questions([...before, ...after])]
      .flatMap((name) => TYPES.map((type) => ({ name, type })))
      .filter(({ name, type }) => {
        const verdicts = [this.#from, this.#to].map((side) => side.verdict(name, type));
        return !verdicts.includes("no") && (!verdicts.includes("unknown") || verdicts.includes("yes"));
      });
  }

  /** @param strict an answer that comes neither from where it came before nor from where it will come is none */
  violations(zones: readonly ModelZone[], strict = false): Violation[] {
    const resolver = new Resolver(zones, this.#hosted);
    const now = (name: string, type: string) => {
      const answer = resolver.resolve(name, type);
      return verdictOf(answer, type) !== "no" && !(strict && this.#standsIn(answer, type));
    };
    const dark = this.#kept.filter(({ name, type }) => !now(name, type));
    return [
      ...dark.map(({ name, type }) => this.#asked(`${name} ${type} has no answer`, name, [type])),
      ...this.#dangling(zones, resolver, now, strict),
      ...zones.flatMap((zone) => [...besideAliases(zone), ...this.#halfFilled(zone)]),
    ];
  }

  /** From an old place it goes on the old way; a new place may still lead to an old one. */
  #standsIn({ places, servers }: Answer, type: string): boolean {
    const hops = [...places];
    const last = hops.at(-1)?.[0] ?? "";
    const known = [this.#from, this.#to].flatMap((side) => side.resolve(last, type).servers);
    if (servers.length > 0 && !servers.some((server) => known.includes(server))) return true;
    for (const [index, [name, place]] of hops.entries()) {
      if (this.#to.resolve(name, type).places.get(name) === place) continue;
      const old = this.#from.resolve(name, type);
      return verdictOf(old, type) === "no" || JSON.stringify([...old.places]) !== JSON.stringify(hops.slice(index));
    }
    return false;
  }

  /** Found by way of something that leads to it neither before nor after. */
  #serverStandsIn(server: string, cut: string, resolver: Resolver): boolean {
    const known = new Set([this.#from, this.#to].flatMap((side) => side.serverTrail(server, cut)));
    return resolver.serverTrail(server, cut).some((name) => !known.has(name));
  }

  /** A pointer's target resolves as long as the pointer is there, if it did when it was there before, and does if it is after. */
  #dangling(
    zones: readonly ModelZone[],
    resolver: Resolver,
    now: (name: string, type: string) => boolean,
    strict: boolean,
  ): Violation[] {
    const had = pointersOf(this.#before);
    const has = pointersOf(this.#after);
    const found: Violation[] = [];
    for (const [text, { owner, target, type, isDelegation, isOccluded }] of pointersOf(zones)) {
      if (isOccluded || had.get(text)?.isOccluded === true || has.get(text)?.isOccluded === true) continue;
      const leads = (side: Resolver) => {
        return isDelegation ? side.serves(target, owner) : side.verdict(target, ADDRESS) === "yes";
      };
      const isOwed = (side: ReadonlyMap<string, unknown>, there: Resolver) => !side.has(text) || leads(there);
      if (!isOwed(had, this.#from) || !isOwed(has, this.#to)) continue;
      const isThere = isDelegation
        ? leads(resolver) && !(strict && this.#serverStandsIn(target, owner, resolver))
        : now(target, ADDRESS);
      if (isThere) continue;
      const violation = this.#asked(`${text} points at nothing`, target, type === "CNAME" ? TYPES : [ADDRESS]);
      const servers = isDelegation ? [this.#from, this.#to].flatMap((side) => side.serverTrail(target, owner)) : [];
      found.push(withTrail(violation, servers));
    }
    return found;
  }

  #halfFilled(zone: ModelZone): Violation[] {
    const was = this.#before.find(({ name }) => name === zone.name);
    const becomes = this.#after.find(({ name }) => name === zone.name);
    if (!zone.active || zone.records === null || (was?.active && becomes?.active)) return [];
    const whole = was?.active ? was : becomes;
    const isWhole = contentOf(zone) === contentOf(whole);
    return isWhole ? [] : [{ text: `${zone.name} is served half-filled`, asked: null }];
  }

  #asked(text: string, name: string, types: readonly string[]): Violation {
    const trails = types.flatMap((type) => [this.#from, this.#to].flatMap((side) => side.resolve(name, type).trail));
    return { text, asked: { trail: new Set(trails), types } };
  }
}

/**
 * Names of records and zones, the names above them, one that nobody mentions beneath each (which wildcards answer for), and what is
 * pointed at.
 */
function questions(zones: readonly ModelZone[]): Set<string> {
  const names = new Set<string>();
  for (const zone of zones) {
    names.add(zone.name);
    for (const record of zone.records ?? []) {
      const target = targetOf(record);
      if (target !== null) names.add(target);
      for (let name = record.name; isWithin(name, zone.name); name = parentOf(name)) names.add(name);
    }
  }
  for (const name of [...names]) names.add(`unheard.${name}`);
  return names;
}

interface Pointer {
  readonly owner: string;
  readonly target: string;
  readonly type: string;
  readonly isDelegation: boolean;
  /** Nobody is sent on by it. */
  readonly isOccluded: boolean;
}

function withTrail({ text, asked }: Violation, more: readonly string[]): Violation {
  return { text, asked: asked === null ? null : { ...asked, trail: new Set([...asked.trail, ...more]) } };
}

function pointersOf(zones: readonly ModelZone[]): Map<string, Pointer> {
  const served = zones.filter(({ active }) => active);
  const pointers = new Map<string, Pointer>();
  for (const zone of served) {
    for (const record of zone.records ?? []) {
      const target = targetOf(record);
      if (target === null) continue;
      pointers.set(`${zone.name}: ${record.name} ${record.type} ${target}`, {
        ...{ owner: record.name, target, type: record.type },
        isDelegation: record.type === "NS" && record.name !== zone.name,
        isOccluded: record.type === "NS" && isOccluded(record.name, zone, served),
      });
    }
  }
  return pointers;
}

/** Beneath another delegation of its zone, or in a zone beneath, nobody is sent on by an NS. */
function isOccluded(owner: string, { name, records }: ModelZone, served: readonly ModelZone[]): boolean {
  const isAbove = (other: ModelRecord) => other.type === "NS" && other.name !== name && other.name !== owner;
  const isDeeper = (other: ModelZone) => other.name.length > name.length && isWithin(owner, other.name);
  return (records ?? []).some((other) => isAbove(other) && isWithin(owner, other.name)) || served.some(isDeeper);
}

function besideAliases({ name, records }: ModelZone): Violation[] {
  const groups = new Map<string, ModelRecord[]>();
  for (const record of records ?? []) groups.set(record.name, [...(groups.get(record.name) ?? []), record]);
  return [...groups.values()].some(clashes) ? [{ text: `${name} has a CNAME beside other data`, asked: null }] : [];
}

function contentOf(zone: ModelZone | undefined): string {
  return JSON.stringify((zone?.records ?? []).map(({ name, type, target }) => `${name} ${type} ${target}`).sort());
}

/** Whether a gap, by the words a plan has for it, is what the violation is about. */
export function excuses(what: string, { asked }: Violation): boolean {
  if (asked === null) return false;
  const [first = "", second = ""] = what.split(" ");
  if (first === "zone") return asked.trail.has(second);
  if (["beneath", "outside", "delegation", "wildcard"].includes(first)) {
    return [...asked.trail].some((name) => isWithin(name, second));
  }
  const isAbout = (type: string) => {
    return (
      type === second ||
      second === "CNAME" ||
      (isAddress(type) && second === ADDRESS) ||
      (isAddress(second) && type === ADDRESS)
    );
  };
  if (isAddress(second) && asked.trail.has(`server ${first}`)) return true;
  return asked.trail.has(first) && asked.types.some(isAbout);
}
