/** The live state: what was read of the account, unit by unit. */

import type { Failure } from "./api.ts";
import type { JsonObject, UnitName } from "./resource.ts";

export interface LiveUnit {
  /** In the unit's own type. */
  readonly items: readonly unknown[];
  /** How many there are in the account: more than `items.length` if only a subset was read. */
  readonly total: number;
  /** When it was read, by the service's clock; absent if that does not matter, or is not known. */
  readonly servedMilliseconds?: number;
}

export interface Live {
  /** A unit that was not read is absent. */
  readonly units: Readonly<Partial<Record<UnitName, LiveUnit>>>;
}

// The snapshot: what the service's lists said at one moment, so that plans can be made without it.

export interface Snapshot {
  /** When reading began: ISO 8601, UTC, with milliseconds. */
  readonly readAt: string;
  /** The same by the service's clock, from the first answer with a Date; null if none had one. To the second. */
  readonly servedAt: string | null;
  /** Host and port of the service; no path, no credentials. */
  readonly host: string;
  /** The word the service uses where API.md says `node`. The lists are in API.md's own words. */
  readonly dialect: string;
  /** TENON_ACCOUNT when it was read; null if it was not set. */
  readonly account: string | null;
  /** Path of a list below the base URL, as `domains/12/records` → its objects, in the service's order. */
  readonly lists: ReadonlyMap<string, readonly JsonObject[]>;
  /** Lists that could not be read. Sorted by path. */
  readonly unread: readonly UnreadList[];
}

export interface UnreadList {
  readonly path: string;
  readonly failure: Pick<Failure, "type" | "status" | "errors" | "message">;
}
