/** The names of a zone as a tree: which exist, which are delegated away, and which a wildcard stands for (RFC 1034, 4.3.2). */

import { absoluteName, relativeName } from "./name.ts";
import type { DnsRecord } from "./record.ts";

/**
 * Where in an answer it stands.
 * - `answer`: the zone's own data.
 * - `referral`: NS of a delegation: in the authority section, and without authority.
 * - `glue`: the address of a delegation's server: in the additional section.
 */
export type Section = "answer" | "referral" | "glue";

export class ZoneTree {
  readonly #zone: string;
  /** Relative. Names that have nothing but names below them exist, too (RFC 4592, 2.2.2). */
  readonly #names: Set<string> = new Set([""]);
  /** Relative names with an address of their own. */
  readonly #addressed: Set<string> = new Set();
  /** Name of a delegation → its servers, absolute. */
  readonly #cuts: Map<string, Set<string>> = new Map();

  /** @param zone lower-case ASCII without a final dot */
  constructor(records: readonly Pick<DnsRecord, "name" | "type" | "target">[], zone: string) {
    this.#zone = zone;
    for (const { name, type, target } of records) {
      for (let known = name; !this.#names.has(known); known = parentOf(known)) this.#names.add(known);
      if (type === "A" || type === "AAAA") this.#addressed.add(name);
      if (type !== "NS" || name === "") continue;
      const servers = this.#cuts.get(name);
      if (servers === undefined) this.#cuts.set(name, new Set([target]));
      else servers.add(target);
    }
  }

  /** Where the zone's servers tell of a name and type; null: nowhere, as it is another zone's. */
  sectionOf(name: string, type: string): Section | null {
    const cut = this.#cutAbove(name);
    if (cut === null) return "answer";
    if (name === cut && type === "NS") return "referral";
    const isAddress = type === "A" || type === "AAAA";
    return isAddress && this.#cuts.get(cut)?.has(absoluteName(name, this.#zone)) ? "glue" : null;
  }

  /** The wildcard that answers for a name that does not exist: the one below the nearest name that does. */
  wildcardFor(name: string): string | null {
    if (this.#names.has(name)) return null;
    let encloser = name;
    while (!this.#names.has(encloser)) encloser = parentOf(encloser);
    const wildcard = encloser === "" ? "*" : `*.${encloser}`;
    return this.#names.has(wildcard) ? wildcard : null;
  }

  /**
   * Whether a server of the zone can be found: its host lies elsewhere, or has an address here, or is delegated away. Of a server
   * without, strict nameservers load nothing of the zone.
   * @param host absolute
   */
  hasServerAddress(host: string): boolean {
    const name = relativeName(host, this.#zone);
    if (name === null || this.#cutAbove(name) !== null) return true;
    return this.#addressed.has(this.wildcardFor(name) ?? name);
  }

  /** The delegation nearest to the apex: what is at and below it is another zone's (RFC 1034, 4.2.1). */
  #cutAbove(name: string): string | null {
    let found: string | null = null;
    for (let above = name; above !== ""; above = parentOf(above)) if (this.#cuts.has(above)) found = above;
    return found;
  }
}

function parentOf(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}
