/** All declared zones together: what a resolver would find in them, and what cannot be known. */

import { isAcmeName } from "../dns/acme.ts";
import { absoluteName, relativeName } from "../dns/name.ts";
import type { PlainType } from "../dns/plain-record.ts";
import { globMatches } from "../model/glob.ts";
import { groupBy } from "../model/group.ts";
import type { Sources } from "../model/source.ts";
import type { LintRecord, LintZone } from "./zone.ts";

export type Lookup =
  /**
   * Surely what a resolver gets. `records` is empty for a name that has only names below it, or if there is no such name.
   * `view` is the zone that answers.
   */
  | { readonly type: "known"; readonly view: ZoneView; readonly records: readonly LintRecord[] }
  /** Outside the declared zones, delegated, not managed, or possibly among what is not declared. */
  | { readonly type: "unknown" };

const UNKNOWN: Lookup = { type: "unknown" };

/** One zone, with its records by name. Names are relative, `""` the apex. */
export class ZoneView {
  readonly zone: LintZone;
  readonly records: readonly LintRecord[];
  readonly #byName: ReadonlyMap<string, readonly LintRecord[]>;
  /** Names that exist because there are names below them. */
  readonly #parents: Set<string> = new Set();
  readonly #cuts: Set<string> = new Set();

  constructor(zone: LintZone) {
    this.zone = zone;
    this.records = zone.records ?? [];
    this.#byName = groupBy(this.records, ({ name }) => name);
    for (const [name, records] of this.#byName) {
      for (let parent = parentOf(name); parent !== "" && !this.#parents.has(parent); parent = parentOf(parent))
        this.#parents.add(parent);
      if (name !== "" && records.some(({ type }) => type === "NS")) this.#cuts.add(name);
    }
  }

  /** Every name that has records, in the order of their first ones. */
  names(): Iterable<readonly [string, readonly LintRecord[]]> {
    return this.#byName;
  }

  at(name: string): readonly LintRecord[] {
    return this.#byName.get(name) ?? [];
  }

  ofType(name: string, type: PlainType): readonly LintRecord[] {
    return this.at(name).filter((record) => record.type === type);
  }

  /** There are records at the name or below it. */
  exists(name: string): boolean {
    return name === "" || this.#byName.has(name) || this.#parents.has(name);
  }

  /** The highest delegated name at or above this one; null within the zone. */
  cutAbove(name: string): string | null {
    let highest: string | null = null;
    for (let at = name; at !== ""; at = parentOf(at)) if (this.#cuts.has(at)) highest = at;
    return highest;
  }

  /** Records of one of the types may be there beside what is declared. */
  mayHold(name: string, types: readonly PlainType[]): boolean {
    const { records, policy, ignore, type } = this.zone;
    if (records === null || type === "slave" || policy === "additive") return true;
    return ignore.some(
      (pattern) =>
        (pattern.preset !== "acme" || (isAcmeName(name) && types.includes("TXT"))) &&
        (pattern.name === undefined || globMatches(namePattern(pattern.name), name)) &&
        (pattern.type === undefined || types.some((one) => globMatches(pattern.type?.toUpperCase() ?? "*", one))),
    );
  }

  /** The records that answer for a name within the zone: its own, or those of the wildcard that stands for it (RFC 4592, 3.3.1). */
  answers(name: string): readonly LintRecord[] {
    if (this.exists(name)) return this.at(name);
    let encloser = parentOf(name);
    while (!this.exists(encloser)) encloser = parentOf(encloser);
    return this.at(encloser === "" ? "*" : `*.${encloser}`);
  }
}

export class World {
  readonly views: readonly ZoneView[];
  /** For the few rules that look at how something is written; without it they are silent. */
  readonly sources: Sources | null;
  readonly #byZone: ReadonlyMap<string, ZoneView>;
  readonly #lookups: Map<string, Lookup> = new Map();
  readonly #memories: Map<unknown, unknown> = new Map();

  constructor(zones: readonly LintZone[], sources: Sources | null) {
    this.views = zones.map((zone) => new ZoneView(zone));
    this.#byZone = new Map(this.views.map((view) => [view.zone.zone, view]));
    this.sources = sources;
  }

  /** The deepest declared zone that a name lies in. Absolute names are without their final dot. */
  zoneOf(absolute: string): ZoneView | null {
    for (let at = absolute; at !== ""; at = parentOf(at)) {
      const view = this.#byZone.get(at);
      if (view !== undefined) return view;
    }
    return null;
  }

  /** A declared zone at the name, or between it and the zone: what the zone itself says there is never asked for. */
  zoneBetween(view: ZoneView, name: string): ZoneView | null {
    const found = this.zoneOf(absoluteName(name, view.zone.zone));
    return found === view ? null : found;
  }

  /**
   * What is at a name.
   * @param types those that are wanted: what is not declared may still be known not to be of these
   */
  lookup(absolute: string, types: readonly PlainType[]): Lookup {
    const key = `${types.join()} ${absolute}`;
    const known = this.#lookups.get(key);
    if (known !== undefined) return known;
    const lookup = this.#lookUp(absolute, types);
    this.#lookups.set(key, lookup);
    return lookup;
  }

  #lookUp(absolute: string, types: readonly PlainType[]): Lookup {
    const view = this.zoneOf(absolute);
    const name = view === null ? null : relativeName(absolute, view.zone.zone);
    if (view === null || name === null || view.zone.records === null || view.cutAbove(name) !== null) return UNKNOWN;
    const records = view.answers(name);
    if (!records.some(({ type }) => types.includes(type)) && view.mayHold(name, types)) return UNKNOWN;
    return { type: "known", view, records };
  }

  /** Whether a name has a record of the types that passes the test, or may have one that is not declared, or an alias to it. */
  mayHave(absolute: string, types: readonly PlainType[], test: (record: LintRecord) => boolean): boolean {
    const found = this.lookup(absolute, [...types, "CNAME"]);
    if (found.type === "unknown" || found.records.some((record) => record.type === "CNAME")) return true;
    if (found.records.some((record) => types.includes(record.type) && test(record))) return true;
    return found.view.mayHold(relativeName(absolute, found.view.zone.zone) ?? "", types);
  }

  /** What is worked out once for all zones, by whoever works it out. */
  remember<Value>(key: (world: World) => Value): Value {
    if (!this.#memories.has(key)) this.#memories.set(key, key(this));
    return this.#memories.get(key) as Value;
  }
}

export function parentOf(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}

/** A name in words, for details: backquoted, or the apex. */
export function shownName(name: string): string {
  return name === "" ? "the apex" : `\`${name}\``;
}

function namePattern(name: string): string {
  return name === "@" ? "" : name.toLowerCase();
}
