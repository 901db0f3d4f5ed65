/** What the rules look at: declared zones, as plain data. */

import type { PlainRecord } from "../dns/plain-record.ts";
import type { Address } from "../model/address.ts";
import type { IgnorePattern } from "../model/desired.ts";
import type { Span } from "../model/diagnostic.ts";

/** What a TTL of 0 comes to if the domain's own is 0, too (OBSERVED: Zone file). */
export const SERVICE_DEFAULT_TTL_SECONDS = 86_400;

export interface LintZone {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  readonly address: Address;
  readonly span: Span;
  readonly type: "master" | "slave";
  readonly status: string;
  /** The domain's own `ttl_sec`; 0 or null (not stated) is the service's default. */
  readonly ttl_sec: number | null;
  /** null: not managed, so that nothing is known about them. */
  readonly records: readonly LintRecord[] | null;
  /** Additive: there may be more records than are declared. */
  readonly policy: "authoritative" | "additive";
  /** What may be there although it is not declared. */
  readonly ignore: readonly IgnorePattern[];
  /** Codes that do not hold for the zone. */
  readonly off: readonly string[];
}

export interface LintRecord extends PlainRecord {
  readonly span: Span;
  /** Codes that do not hold for the record. */
  readonly off: readonly string[];
}

/** Seconds for which an answer is really kept. */
export function effectiveTtlSeconds(recordTtl: number, zoneTtl: number | null): number {
  return recordTtl || zoneTtl || SERVICE_DEFAULT_TTL_SECONDS;
}
