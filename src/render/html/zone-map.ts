/** Zones as a map of who points at whom. */

import type { Change } from "../../model/change.ts";
import type { InventoryItem } from "../../model/inventory.ts";
import type { Address } from "../../model/resource.ts";
import type { Mark } from "../view.ts";
import { type Html, NOTHING } from "./markup.ts";

export interface ZoneDrawing {
  readonly address: Address;
  /** In punycode, lower-case, without a final dot. */
  readonly domain: string;
  /** What becomes of the domain itself; `none`: it stays, or is only listed. */
  readonly mark: Mark;
  /** Whether all of its records are known: a name in it that has none is missing then. */
  readonly isComplete: boolean;
  readonly records: readonly RecordDrawing[];
}

export interface RecordDrawing {
  /** Relative to the zone; `@`: the apex. */
  readonly name: string;
  readonly type: string;
  /** A name is absolute, lower-case, without a final dot. */
  readonly target: string;
  readonly mark: Mark;
}

/** The zones of a plan with all of their records, no-ops included. A record whose target changes is two: one goes, the other one comes. */
export function zonesOfChanges(_changes: readonly Change[]): ZoneDrawing[] {
  return [];
}

/** The zones of an account's list. */
export function zonesOfInventory(_items: readonly InventoryItem[]): ZoneDrawing[] {
  return [];
}

/**
 * Static SVG within a `<div class="picture" data-picture>`: names, or of many zones the zones, and what they point at by name or address,
 * in the account, outside and missing.
 * @returns nothing if nothing points at anything
 */
export function zoneMap(_zones: readonly ZoneDrawing[]): Html {
  return NOTHING;
}
