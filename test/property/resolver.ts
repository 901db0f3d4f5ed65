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

/** `assumed`: other servers are asked, and are taken to answer. `unknown`: an alias leads to where nobody here can look. */
export type Verdict = "yes" | "assumed" | "unknown" | "no";

export interface Answer {
  readonly outcome: Outcome;
  /** Whatever it came by: names asked for, wildcards, delegations, zones; `server NAME` where an address was needed to ask on. */
  readonly trail: readonly string[];
  /** For each name that was asked for, the zone and the owner that answered. */
  readonly places: ReadonlyMap<string, string>;
  readonly aliased: boolean;
  /** What the answer says, in the words of the records that it is made of, or where it is to be looked for. */
  readonly values: readonly string[];
  /** Of a delegation that it ends in: those that can be asked. */
  readonly servers: readonly string[];
}

interface Found {
  readonly outcome: Outcome;
  readonly values: readonly string[];
  readonly servers: readonly string[];
}

/** What `name` was asked for to find where a host is: any address. */
export const ADDRESS = "address";

const POINTERS: readonly string[] = ["CNAME", "MX", "NS", "SRV"];
const MAX_CHAIN_LENGTH = 16;

export class Resolver {
  readonly #zones: readonly Indexed[];
  readonly #hosted: readonly string[];

  /** @param hosted names of the zones that are in the account at any time: nobody else serves a name within one that is not delegated */
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
      const found = this.#lookUp(asked, type, here, trail);
      trail.push(asked, ...here);
      places.set(asked, here.join(" "));
      if ("outcome" in found) return { ...found, trail, places, aliased: hop > 0 };
      asked = found.alias;
    }
    return { outcome: "none", trail, places, aliased: true, values: [], servers: [] };
  }

  /**
   * All servers serve all zones, so that of those that enclose the name the deepest answers, delegated or not.
   * @param here what the name came by itself
   * @param trail takes what the servers of a delegation came by
   */
  #lookUp(name: string, type: string, here: string[], trail: string[]): Found | { readonly alias: string } {
    const zone = this.#zoneOf(name);
    if (zone === undefined) return this.#outside(name) ? elsewhere(name) : NONE;
    here.push(zone.name);
    if (zone.opaque) return elsewhere(`${zone.name} ${name}`);
    const cut = zone.cutAbove(name);
    if (cut !== null) {
      here.push(cut);
      const servers = zone.at(cut).filter((record) => record.type === "NS");
      if (cut === name && type === "NS")
        return { outcome: "answer", values: servers.map(({ target }) => target), servers: [] };
      // A referral without a server that has an address leads nowhere (RFC 1034, 4.2.1).
      const reached = servers.filter(({ target }) => this.#reaches(target, [cut], trail));
      const names = reached.map(({ target }) => target);
      return reached.length > 0 ? { ...elsewhere(`${cut} ${name}`), servers: names } : NONE;
    }
    const owner = zone.ownerFor(name);
    if (owner === null) return NONE;
    here.push(owner);
    const records = zone.at(owner);
    const values = records.filter((record) => matches(record.type, type)).map(({ target }) => target);
    if (values.length > 0) return { outcome: "answer", values, servers: [] };
    const alias = records.find((record) => record.type === "CNAME");
    return alias === undefined ? NONE : { alias: alias.target };
  }

  /** Whether the server of a delegation can be asked: by its glue, or because its name resolves without the delegation. */
  serves(server: string, cut: string): boolean {
    return this.#reaches(server, [cut], []);
  }

  /** What `serves` looks at. */
  serverTrail(server: string, cut: string): string[] {
    const trail: string[] = [];
    this.#reaches(server, [cut], trail);
    return trail;
  }

  /** @param cuts delegations that are being followed: none of them helps to find its own server */
  #reaches(server: string, cuts: readonly string[], trail: string[]): boolean {
    trail.push(server, `server ${server}`);
    const zone = this.#zoneOf(server);
    if (zone === undefined) return this.#outside(server);
    trail.push(zone.name);
    if (zone.opaque) return true;
    const cut = zone.cutAbove(server);
    if (cut === null) {
      const { outcome, trail: passed } = this.#alias(server, cuts);
      trail.push(...passed);
      return outcome !== "none";
    }
    trail.push(cut);
    if (zone.at(server).some((record) => matches(record.type, ADDRESS))) return true;
    if (cuts.includes(cut)) return false;
    const servers = zone.at(cut).filter((record) => record.type === "NS");
    return servers.some(({ target }) => this.#reaches(target, [...cuts, cut], trail));
  }

  /** Follows the aliases of a server to its address. What lies beneath a delegation that is being followed already does not help to find it. */
  #alias(server: string, cuts: readonly string[]): Pick<Answer, "outcome" | "trail"> {
    const trail: string[] = [];
    let asked = server;
    for (let hop = 0; hop < MAX_CHAIN_LENGTH; hop += 1) {
      const zone = this.#zoneOf(asked);
      const cut = zone?.cutAbove(asked) ?? null;
      if (cut !== null && cuts.length > 0) {
        return { outcome: this.#reaches(asked, cuts, trail) ? "elsewhere" : "none", trail };
      }
      const found = this.#lookUp(asked, ADDRESS, trail, trail);
      trail.push(asked, `server ${asked}`);
      if ("outcome" in found) return { outcome: found.outcome, trail };
      asked = found.alias;
    }
    return { outcome: "none", trail };
  }

  #zoneOf(name: string): Indexed | undefined {
    return this.#zones.find((candidate) => isWithin(name, candidate.name));
  }

  #outside(name: string): boolean {
    return !this.#hosted.some((hosted) => isWithin(name, hosted));
  }

  verdict(name: string, type: string): Verdict {
    return verdictOf(this.resolve(name, type), type);
  }
}

const NONE: Found = { outcome: "none", values: [], servers: [] };

function elsewhere(where: string): Found {
  return { outcome: "elsewhere", values: [`elsewhere: ${where}`], servers: [] };
}

/**
 * Where others are to answer, an address is expected, and whatever is asked where a delegation leads to them. What is behind an alias
 * to them nobody knows.
 */
export function verdictOf({ outcome, aliased }: Answer, type: string): Verdict {
  if (outcome !== "elsewhere") return outcome === "answer" ? "yes" : "no";
  if (isAddress(type)) return "yes";
  if (aliased) return "unknown";
  return type === "CNAME" ? "no" : "assumed";
}

export function isAddress(type: string): boolean {
  return type === "A" || type === "AAAA" || type === ADDRESS;
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
