/** A domain that is deleted while one with the same records is made: its name was misspelt, or it was given another one. */

import type { Declared } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { mapKey } from "../../model/map-key.ts";
import { domainAddress } from "../../model/resource.ts";
import { groupBy } from "../../model/text.ts";
import type { Match } from "../../model/unit.ts";
import { type LiveZone, zoneName } from "./live.ts";
import type { ZoneSpec } from "./spec.ts";
import { contentKey, desiredRecord, isKnownRecord, liveRecord, type RecordValues } from "./wire-record.ts";

type ZoneMatch = Match<ZoneSpec, LiveZone>;

/**
 * A warning for each domain that is pruned while just one is made with its records, and no other domain of the project has the same ones, as
 * parked domains do. Linear in the records. What stands under `removed` goes because somebody said so.
 */
export function likelyRenames(matches: readonly ZoneMatch[]): Diagnostic[] {
  const made = matches.flatMap((match) => (match.intent === "create" ? [match.declared] : []));
  const pruned = matches.flatMap((match) => (match.intent === "delete" && match.label === "prune" ? [match.live] : []));
  if (made.length === 0 || pruned.length === 0) return [];
  const kept = matches.flatMap((match) => (match.intent === "manage" ? [contentOfDeclared(match.declared)] : []));
  const taken = new Set(kept);
  const gone = groupBy(pruned, contentOfLive);
  return [...groupBy(made, contentOfDeclared)].flatMap(([content, [declared, ...others]]) => {
    const [live, ...more] = gone.get(content) ?? [];
    if (content === EMPTY || live === undefined || declared === undefined || taken.has(content)) return [];
    return others.length + more.length === 0 ? [likelyRename(declared, zoneName(live.domain))] : [];
  });
}

/** Of a domain whose records are none, or are not known. */
const EMPTY = "";

function contentOfDeclared({ spec: { domain, records } }: Declared<ZoneSpec>): string {
  return contentOf((records ?? []).map(desiredRecord), domain);
}

function contentOfLive({ domain, records }: LiveZone): string {
  const zone = zoneName(domain);
  return contentOf(
    (records ?? []).filter(isKnownRecord).map((record) => liveRecord(record, zone)),
    zone,
  );
}

/** A target within the domain counts by its name there, so that records of a domain's own hosts are the same in each. */
function contentOf(records: readonly RecordValues[], zone: string): string {
  const keys = records.map((record) => {
    const { target } = record;
    const isWithin = target === zone || target.endsWith(`.${zone}`);
    return contentKey(isWithin ? { ...record, target: `${target.slice(0, -zone.length)}\0` } : record);
  });
  return mapKey(keys.sort().join("\n"));
}

function likelyRename({ address, span }: Declared<ZoneSpec>, former: string): Diagnostic {
  return {
    code: "likely-rename",
    severity: "warning",
    summary: `${address} is made with the records of ${domainAddress(former)}, which is deleted`,
    detail: "A domain cannot be renamed: once the old one is deleted, nobody finds anything under its name.",
    fix: "If the name is misspelt, correct it. If the domain is to have another name, keep the entry of the old one beside it until nobody asks for that.",
    span,
    address,
  };
}
