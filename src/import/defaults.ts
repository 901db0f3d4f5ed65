/** Values that repeat throughout a file → its `defaults`. */

import type { Json, JsonObject } from "../model/resource.ts";

/** A default must save more than the line it takes. */
const MIN_SAVED = 2;

export interface WithDefaults {
  /** Empty if nothing repeats. */
  readonly defaults: JsonObject;
  readonly domains: readonly JsonObject[];
  /** Those of record sets and of domains are rewritten alike. */
  record(record: JsonObject): JsonObject;
}

/** Fields that may be shared. What only one domain of a file has says more beside its name. */
const SHARED_FIELDS = [
  ...["type", "soa_email", "group", "master_ips", "axfr_ips", "refresh_sec", "retry_sec", "expire_sec", "ttl_sec"],
  "tags",
] as const;

/**
 * @param domains entries without their records
 * @param records all records of the file
 */
export function withDefaults(domains: readonly JsonObject[], records: readonly JsonObject[]): WithDefaults {
  const shared = Object.fromEntries(
    SHARED_FIELDS.flatMap((field) => {
      const value = sharedValue(domains.map((domain) => domain[field]));
      return value === undefined ? [] : [[field, value] as const];
    }),
  );
  const ttl = sharedTtl(records);
  const defaults = {
    ...(Object.keys(shared).length === 0 ? {} : { domain: shared }),
    ...(ttl === null ? {} : { record: { ttl_sec: ttl } }),
  };
  return {
    defaults,
    domains: domains.map((domain) => without(domain, shared)),
    record: (record) => (ttl === null ? record : withTtl(record, ttl)),
  };
}

/** A default holds for every domain of the file, so all must state the field: absent means left alone. */
function sharedValue(values: readonly (Json | undefined)[]): Json | undefined {
  const counts = new Map<string, number>();
  for (const value of values) {
    if (value === undefined) return undefined;
    const key = JSON.stringify(value);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const [best] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return best === undefined || best[1] < MIN_SAVED ? undefined : (JSON.parse(best[0]) as Json);
}

/** Where it is the default, records without a TTL of their own must say so; that is taken off what it saves. */
function sharedTtl(records: readonly JsonObject[]): number | null {
  const counts = new Map<number, number>();
  for (const record of records) {
    const ttl = Number(record["ttl_sec"] ?? 0);
    counts.set(ttl, (counts.get(ttl) ?? 0) + 1);
  }
  const unstated = counts.get(0) ?? 0;
  counts.delete(0);
  const [best] = [...counts].sort(([a, m], [b, n]) => n - m || a - b);
  return best === undefined || best[1] - unstated < MIN_SAVED ? null : best[0];
}

function without(domain: JsonObject, shared: JsonObject): JsonObject {
  const differs = ([field, value]: [string, Json]): boolean => JSON.stringify(shared[field]) !== JSON.stringify(value);
  return Object.fromEntries(Object.entries(domain).filter(differs));
}

function withTtl(record: JsonObject, ttl: number): JsonObject {
  const { ttl_sec = 0, ...rest } = record;
  return ttl_sec === ttl ? rest : { ...rest, ttl_sec };
}
