/** Records as manifest entries, written as people do: relative where that can be read at a glance. */

import { relativeName } from "../dns/name.ts";
import type { PlainRecord } from "../dns/plain-record.ts";
import type { JsonObject } from "../model/resource.ts";

const NAMED_TYPES: ReadonlySet<string> = new Set(["CNAME", "MX", "NS", "PTR", "SRV"]);

export function recordEntry({ type, name, target, ttl_sec, ...extra }: PlainRecord): JsonObject {
  return {
    type,
    ...(name === "" ? {} : { name }),
    ...(extra.tag === undefined ? {} : { tag: extra.tag }),
    target: NAMED_TYPES.has(type) ? `${target}.` : target,
    ...(extra.priority === undefined ? {} : { priority: extra.priority }),
    ...(extra.weight === undefined ? {} : { weight: extra.weight }),
    ...(extra.port === undefined ? {} : { port: extra.port }),
    ...(ttl_sec === 0 ? {} : { ttl_sec }),
  };
}

/** `mx1.example.com.` in its own zone is `mx1`, the zone `@`; a name with more dots stays absolute. */
export function withReadableTarget(entry: JsonObject, zone: string): JsonObject {
  const { type, target } = entry;
  if (!NAMED_TYPES.has(String(type)) || typeof target !== "string" || !target.endsWith(".")) return entry;
  const relative = relativeName(target.slice(0, -1), zone);
  if (relative === null || relative.includes(".")) return entry;
  return { ...entry, target: relative === "" ? "@" : relative };
}
