/** A model of how the zones of an account answer, made from the RFCs alone: it shares nothing with what plans them. */

/** Absolute names, lower-case, without a final dot. */
export interface ModelRecord {
  readonly name: string;
  readonly type: string;
  /** A name for types that point, `""` the root; text for the others. */
  readonly target: string;
}

export interface ModelZone {
  readonly name: string;
  readonly active: boolean;
  /** null: nobody here knows what is in it, so that it counts as answering whatever is asked. */
  readonly records: readonly ModelRecord[] | null;
}

/** `elsewhere`: other servers answer, or a zone of unknown content. */
export type Outcome = "answer" | "elsewhere" | "none";

export interface Answer {
  readonly outcome: Outcome;
  /** Whatever it came by: names asked for, wildcards, delegations, zones. */
  readonly trail: readonly string[];
  /** For each name that was asked for, the zone and the owner that answered. */
  readonly places: ReadonlyMap<string, string>;
  readonly aliased: boolean;
}

/** What `name` was asked for to find where a host is: any address. */
export const ADDRESS = "address";

const POINTERS: readonly string[] = ["CNAME", "MX", "NS", "SRV"];
const MAX_CHAIN_LENGTH = 16;

export class Resolver {
  readonly #zones: readonly Indexed[];
  readonly #hosted: readonly string[];

  /** @param hosted names of the zones that are in the account at any time, served or not: a delegation to one leads nowhere else */
  constructor(zones: readonly ModelZone[], hosted: readonly string[]) {
    this.#zones = zones
      .filter((zone) => zone.active)
      .map((zone) => new Indexed(zone))
      .sort((a, b) => b.name.length - a.name.length);
    this.#hosted = hosted;
  }

  resolve(name: string, type: string): Answer {
    const trail: string[] = [];
    const places = new Map<string, string>();
    let asked = name;
    for (let hop = 0; hop < MAX_CHAIN_LENGTH; hop += 1) {
      const here: string[] = [];
      const found = this.#lookUp(asked, type, here);
      trail.push(asked, ...here);
      places.set(asked, here.join(" "));
      if (typeof found === "string") return { outcome: found, trail, places, aliased: hop > 0 };
      asked = found.alias;
    }
    return { outcome: "none", trail, places, aliased: true };
  }

  /** All servers serve all zones, so that of those that enclose the name the deepest answers, delegated or not. */
  #lookUp(name: string, type: string, trail: string[]): Outcome | { readonly alias: string } {
    const zone = this.#zones.find((candidate) => isWithin(name, candidate.name));
    if (zone === undefined) return this.#hosted.some((hosted) => isWithin(name, hosted)) ? "none" : "elsewhere";
    trail.push(zone.name);
    if (zone.opaque) return "elsewhere";
    const cut = zone.cutAbove(name);
    if (cut !== null) {
      trail.push(cut);
      if (cut === name && type === "NS") return "answer";
      // One of our own zones, not served: had it been, it would be the deepest.
      return this.#hosted.some((hosted) => isWithin(name, hosted) && isWithin(hosted, cut)) ? "none" : "elsewhere";
    }
    const owner = zone.ownerFor(name);
    if (owner === null) return "none";
    trail.push(owner);
    const records = zone.at(owner);
    if (records.some((record) => matches(record.type, type))) return "answer";
    const alias = records.find((record) => record.type === "CNAME");
    return alias === undefined ? "none" : { alias: alias.target };
  }

  answers(name: string, type: string): boolean {
    return isAnswer(this.resolve(name, type), type);
  }
}

/** Where others are to answer, an address is expected; an alias is not expected to lead to anything else. */
export function isAnswer({ outcome, aliased }: Answer, type: string): boolean {
  if (outcome !== "elsewhere") return outcome === "answer";
  return ["A", "AAAA", ADDRESS].includes(type) || (!aliased && type !== "CNAME");
}

/** A zone with its existing names, empty non-terminals among them (RFC 4592, 2.2.2). */
class Indexed {
  readonly name: string;
  readonly opaque: boolean;
  readonly #owners = new Map<string, ModelRecord[]>();
  readonly #existing = new Set<string>();

  constructor({ name, records }: ModelZone) {
    this.name = name;
    this.opaque = records === null;
    this.#existing.add(name);
    for (const record of records ?? []) {
      this.#owners.set(record.name, [...(this.#owners.get(record.name) ?? []), record]);
      for (let above = record.name; above !== name; above = parentOf(above)) this.#existing.add(above);
    }
  }

  at(owner: string): readonly ModelRecord[] {
    return this.#owners.get(owner) ?? [];
  }

  /** The topmost delegation at or above the name, beneath the apex (RFC 1034, 4.3.2, step 3b). */
  cutAbove(name: string): string | null {
    let cut: string | null = null;
    for (let above = name; above !== this.name; above = parentOf(above)) {
      if (this.at(above).some((record) => record.type === "NS")) cut = above;
    }
    return cut;
  }

  /** The name itself if it exists, or else the wildcard of its closest encloser (RFC 4592, 3.3.1). */
  ownerFor(name: string): string | null {
    let encloser = name;
    while (!this.#existing.has(encloser)) encloser = parentOf(encloser);
    if (encloser === name) return name;
    return this.#owners.has(`*.${encloser}`) ? `*.${encloser}` : null;
  }
}

function matches(type: string, asked: string): boolean {
  return asked === ADDRESS ? type === "A" || type === "AAAA" : type === asked;
}

/** The name that a record points at; null if it points nowhere. */
export function targetOf({ type, target }: ModelRecord): string | null {
  return POINTERS.includes(type) && target !== "" ? target : null;
}

export function isWithin(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}

export function parentOf(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}
