/** The live state: what was read of the account, unit by unit. */

import type { UnitName } from "./resource.ts";

export interface LiveUnit {
  /** Of the unit's own type. */
  readonly items: readonly unknown[];
  /** How many there are in the account: more than `items.length` if only the wanted were read. */
  readonly total: number;
  /** When it was read, by the service's clock; absent if that does not matter, or is not known. */
  readonly servedMilliseconds?: number;
}

export interface Live {
  /** A unit that was not read is absent. */
  readonly units: Readonly<Partial<Record<UnitName, LiveUnit>>>;
}
