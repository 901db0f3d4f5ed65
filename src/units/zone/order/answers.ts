/** How the zones of an account answer, before or after a plan: which records a name's answers come from (RFC 1034, RFC 4592). */

import { pointerTarget } from "../values.ts";
import { isAddress, MAX_CHAIN_LENGTH, type Question } from "./question.ts";
import type { SideRecord, SideZone } from "./sides.ts";

/**
 * Where the answers for a name come from.
 * - `outside`: no zone of the account. - `dark`: a zone of the account that is not served.
 * - `opaque`: a zone of unknown content. - `cut`: a delegation at `owner`; `lame`: one to a zone of the account that is not served.
 * - `node`: the name itself, or a wildcard. - `nothing`: neither is there.
 */
export type Source =
  | { readonly type: "outside" | "dark"; readonly zone: null; readonly owner: "" }
  | { readonly type: "opaque" | "nothing"; readonly zone: string; readonly owner: "" }
  | { readonly type: "cut" | "lame" | "node"; readonly zone: string; readonly owner: string };

/** A zone with its names, those without records among them (RFC 4592, 2.2.2). */
class Zone {
  readonly opaque: boolean;
  readonly owners = new Map<string, SideRecord[]>();
  readonly names: Set<string>;
  readonly apex: string;

  constructor({ name, records }: SideZone) {
    this.apex = name;
    this.opaque = records === null;
    this.names = new Set([name]);
    for (const record of records ?? []) {
      const found = this.owners.get(record.name);
      if (found === undefined) this.owners.set(record.name, [record]);
      else found.push(record);
      for (let above = record.name; !this.names.has(above); above = parentOf(above)) this.names.add(above);
    }
  }

  cutAbove(name: string): string | null {
    let cut: string | null = null;
    for (let above = name; above !== this.apex; above = parentOf(above)) {
      if (this.owners.get(above)?.some(({ values }) => values.type === "NS")) cut = above;
    }
    return cut;
  }

  encloserOf(name: string): string {
    let encloser = name;
    while (!this.names.has(encloser)) encloser = parentOf(encloser);
    return encloser;
  }
}

/** One side of a plan. */
export class Answers {
  readonly #zones = new Map<string, Zone>();
  readonly #active = new Set<string>();
  readonly #hosted: ReadonlySet<string>;

  /** @param hosted the zones of either side: what is delegated to one of them is answered by it or not at all */
  constructor(zones: readonly SideZone[], hosted: ReadonlySet<string>) {
    this.#hosted = hosted;
    for (const zone of zones) {
      this.#zones.set(zone.name, new Zone(zone));
      if (zone.active) this.#active.add(zone.name);
    }
  }

  isServed(zone: string): boolean {
    return this.#active.has(zone);
  }

  isOpaque(zone: string): boolean {
    return this.#zones.get(zone)?.opaque ?? false;
  }

  /** Names with records in the zone, and those between them and its apex. */
  names(zone: string): Iterable<string> {
    return this.#zones.get(zone)?.names ?? [];
  }

  exists(zone: string, name: string): boolean {
    return this.#zones.get(zone)?.names.has(name) ?? false;
  }

  *records(zone: string): Generator<SideRecord> {
    for (const records of this.#zones.get(zone)?.owners.values() ?? []) yield* records;
  }

  recordsAt(zone: string, owner: string): readonly SideRecord[] {
    return this.#zones.get(zone)?.owners.get(owner) ?? [];
  }

  /** The topmost delegation at or above the name, within the zone. */
  cutAbove(zone: string, name: string): string | null {
    return this.#zones.get(zone)?.cutAbove(name) ?? null;
  }

  source(name: string): Source {
    const zone = this.#zoneOf(name);
    if (zone === null) return { type: this.#isHosted(name, "") ? "dark" : "outside", zone: null, owner: "" };
    if (zone.opaque) return { type: "opaque", zone: zone.apex, owner: "" };
    const cut = zone.cutAbove(name);
    if (cut !== null) {
      return { type: this.#isHosted(name, parentOf(cut)) ? "lame" : "cut", zone: zone.apex, owner: cut };
    }
    const encloser = zone.encloserOf(name);
    const owner = encloser === name ? name : `*.${encloser}`;
    if (encloser !== name && !zone.owners.has(owner)) return { type: "nothing", zone: zone.apex, owner: "" };
    return { type: "node", zone: zone.apex, owner };
  }

  /**
   * Whether something answers: where others do, an address is taken for granted, and so is all but an
   * alias where no alias led there.
   * @param hops aliases that led here
   */
  answers(name: string, question: Question, hops = 0): boolean {
    let asked = name;
    for (let hop = hops; hop < MAX_CHAIN_LENGTH; hop += 1) {
      const source = this.source(asked);
      if (source.type === "dark" || source.type === "nothing") return false;
      if (isCut(source) && question === "NS" && asked === source.owner) return true;
      if (source.type === "lame") return false;
      if (source.type !== "node") return isAddress(question) || (hop === 0 && question !== "CNAME");
      const records = this.recordsAt(source.zone, source.owner);
      if (records.some(({ values }) => matches(values.type, question))) return true;
      const alias = records.find(({ values }) => values.type === "CNAME");
      if (alias === undefined) return false;
      asked = pointerTarget(alias.values) ?? "";
    }
    return false;
  }

  /** Whether the aliases that begin at the name lead to, or past, the other. */
  leadsThrough(name: string, other: string): boolean {
    let asked = name;
    for (let hop = 0; hop < MAX_CHAIN_LENGTH; hop += 1) {
      if (asked === other) return true;
      const source = this.source(asked);
      if (source.type !== "node") return false;
      const alias = this.recordsAt(source.zone, source.owner).find(({ values }) => values.type === "CNAME");
      if (alias === undefined) return false;
      asked = alias.values.target;
    }
    return false;
  }

  /** Whether both kinds of address are there, at the end of whatever aliases lead to them. */
  hasBothKinds(name: string): boolean {
    let asked = name;
    for (let hop = 0; hop < MAX_CHAIN_LENGTH; hop += 1) {
      const source = this.source(asked);
      if (source.type !== "node") return false;
      const records = this.recordsAt(source.zone, source.owner);
      const alias = records.find(({ values }) => values.type === "CNAME");
      const has = (type: string) => records.some(({ values }) => values.type === type);
      if (alias === undefined) return has("A") && has("AAAA");
      asked = alias.values.target;
    }
    return false;
  }

  /** The records of an owner that give an answer to the question, its alias if that leads to one. */
  carriers(zone: string, owner: string, question: Question): SideRecord[] {
    const records = this.recordsAt(zone, owner);
    const direct = records.filter(({ values }) => matches(values.type, question));
    if (direct.length > 0) return direct;
    return records.filter(({ values }) => values.type === "CNAME" && this.answers(values.target, question, 1));
  }

  #zoneOf(name: string): Zone | null {
    for (let zone = name; zone !== ""; zone = parentOf(zone)) {
      if (this.#active.has(zone)) return this.#zones.get(zone) ?? null;
    }
    return null;
  }

  /** Whether a zone of the account, beneath `above`, holds the name. */
  #isHosted(name: string, above: string): boolean {
    for (let zone = name; zone !== above && zone !== ""; zone = parentOf(zone)) if (this.#hosted.has(zone)) return true;
    return false;
  }
}

export function matches(type: string, question: Question): boolean {
  return type === question || (question === "address" && (type === "A" || type === "AAAA"));
}

export function parentOf(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}

/** The name one label longer than `encloser`, on the way down to `name`. */
export function childToward(encloser: string, name: string): string {
  const labels = name.slice(0, name.length - encloser.length - 1);
  return name.slice(labels.lastIndexOf(".") + 1);
}

export function isBeneath(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}

export function isCut({ type }: Source): boolean {
  return type === "cut" || type === "lame";
}
