/** X-Filter: how it is written, combined and cut into pieces that fit a header (API.md, Pagination and filtering). */

import type { Wanted } from "../model/exchange.ts";
import type { JsonObject } from "../model/resource.ts";

/** A header that is longer meets the limits of proxies and servers, 8 KiB for all headers at the lowest. */
export const MAX_FILTER_BYTES = 4_096;

/** JSON in printable ASCII, as a header must be. */
export function filterHeader(filter: JsonObject): string {
  return JSON.stringify(filter).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Both hold. */
export function both(filter: JsonObject | undefined, other: JsonObject): JsonObject {
  return filter === undefined ? other : { "+and": [filter, other] };
}

/**
 * Filters that together ask for all wanted values, each within `MAX_FILTER_BYTES` (a single value may exceed it).
 * Equal values, whatever their case, are asked for once each in every spelling given.
 */
export function wantedFilters(wanted: Wanted, filter: JsonObject | undefined): readonly JsonObject[] {
  const chunks: string[][] = [];
  const overhead = filterHeader(both(filter, { "+or": [] })).length;
  let bytes = Number.POSITIVE_INFINITY;
  for (const value of new Set(wanted.values)) {
    const more = filterHeader({ [wanted.field]: value }).length + 1;
    if (bytes + more > MAX_FILTER_BYTES) {
      chunks.push([]);
      bytes = overhead;
    }
    chunks.at(-1)?.push(value);
    bytes += more;
  }
  return chunks.map((values) => both(filter, { "+or": values.map((value) => ({ [wanted.field]: value })) }));
}
