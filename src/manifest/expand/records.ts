/** Everything that gives a domain records put into it: what remains is one entry, with one list of plain records, for each domain. */

import { toAscii } from "../../dns/name.ts";
import { reverseZone } from "../../dns/reverse.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import type { Sources } from "../../model/source.ts";
import { type Budget, explainRecordLimit, recordLimit } from "../budget.ts";
import { RECORDS_PER_DOMAIN } from "../limits.ts";
import { expandBuilders, lacksParts } from "./builders.ts";
import { listOf, objectAt, withDefaults } from "./entry.ts";
import { withZone } from "./interpolate.ts";
import {
  type Layer,
  overlay,
  type RecordSet,
  type RecordSetContext,
  type RecordSets,
  reportUnused,
  usedSets,
} from "./record-sets.ts";
import { badReverse } from "./reverse.ts";
import { Room } from "./room.ts";

export interface ExpandContext extends RecordSetContext {
  readonly budget: Budget;
  /** Everything read so far. */
  readonly sources: Sources;
  /** What lost a key to validation. */
  readonly incomplete: ReadonlySet<object>;
  /** The records of the zone file that a domain names, beside those that the manifest states; `sharing` domains name it alike. */
  zoneFile(
    domain: JsonObject,
    zone: string,
    stated: readonly JsonObject[],
    sharing: number,
  ): Promise<readonly JsonObject[]>;
}

/** One file after validation. */
export interface ExpandInput {
  readonly tree: JsonObject;
}

export interface ExpandedDomains {
  readonly entries: readonly JsonObject[];
  /** Those made of something that lost a key. */
  readonly incomplete: readonly JsonObject[];
}

/** Every domain of the project as an entry of its own: `domain` one name, `records` complete and plain, no `use`. */
export async function expandDomains(
  files: readonly ExpandInput[],
  sets: RecordSets,
  context: ExpandContext,
): Promise<ExpandedDomains> {
  const entries: JsonObject[] = [];
  const incomplete: JsonObject[] = [];
  const everUsed = new Set<RecordSet>();
  const excess = firstTooMany(files, sets, context);
  if (excess !== null) {
    context.report(tooManyRecords(excess, context));
    return { entries, incomplete };
  }
  const room = new Room(context);
  let total = 0;
  for (const { tree } of files) {
    const defaults = objectAt(tree, "defaults");
    for (const written of listOf(tree["domains"])) {
      const own = listOf(written["records"]).map((record) =>
        withDefaults(record, objectAt(defaults, "record"), context.places),
      );
      const entry = withDefaults(written, objectAt(defaults, "domain"), context.places);
      if (!room.forFields(entry)) return { entries, incomplete };
      const used = usedSets(entry, sets, context);
      for (const set of used) everUsed.add(set);
      if (!room.forRecords(entry, [own, ...used.map(({ records }) => records)])) return { entries, incomplete };
      const singles = eachDomain(entry, context);
      for (const single of singles) {
        const origins = { own, used, left: recordLimit(context.sources) - total, domains: singles.length, room };
        const expanded = await complete(single, origins, context);
        if (expanded === "too-many") context.report(tooManyRecords(entry, context));
        if (typeof expanded === "string") return { entries, incomplete };
        total += expanded.count + RECORDS_PER_DOMAIN;
        entries.push(expanded.entry);
        if (context.incomplete.has(written) || context.incomplete.has(objectAt(defaults, "domain")))
          incomplete.push(expanded.entry);
      }
    }
  }
  // Where something is missing, it may be just what uses the set.
  if (context.setsKnown && context.incomplete.size === 0) reportUnused(sets, everUsed, context);
  return { entries, incomplete };
}

/**
 * The first entry with which there are surely too many records, counted as they are written: to expand a million of them
 * only to refuse them would take minutes.
 */
function firstTooMany(
  files: readonly ExpandInput[],
  sets: RecordSets,
  { places, sources }: Pick<ExpandContext, "places" | "sources">,
): JsonObject | null {
  let total = 0;
  const limit = recordLimit(sources);
  // Through defaults many entries share a list.
  const known = new Map<Json, number>();
  for (const { tree } of files) {
    const defaults = objectAt(objectAt(tree, "defaults"), "domain");
    for (const written of listOf(tree["domains"])) {
      const entry = withDefaults(written, defaults, places);
      const [names, use] = [entry["domain"], entry["use"] ?? null];
      const used = known.get(use) ?? usedRecords(use, sets);
      known.set(use, used);
      // Where a domain has its own, they may take the place of any of its sets.
      const least = countOf(listOf(entry["records"])) || used;
      total += (Array.isArray(names) ? names.length : 1) * (least + RECORDS_PER_DOMAIN);
      if (total > limit) return entry;
    }
  }
  return null;
}

/** Records of the sets that one domain names. */
function usedRecords(names: Json, sets: RecordSets): number {
  if (!Array.isArray(names)) return 0;
  const used = new Set((names as readonly Json[]).flatMap((name) => sets.get(String(name)) ?? []));
  return [...used].reduce((sum, { records }) => sum + countOf(records), 0);
}

function countOf(records: readonly JsonObject[]): number {
  return records.reduce((sum, { targets }) => sum + (Array.isArray(targets) ? targets.length : 1), 0);
}

function tooManyRecords(entry: JsonObject, { places, sources }: Pick<ExpandContext, "places" | "sources">): Diagnostic {
  return {
    code: "too-many-records",
    severity: "error",
    summary: "too many records in the project",
    detail: `With this domain, the domains of the project have more records than it may. ${explainRecordLimit(recordLimit(sources))} What follows is not looked at.`,
    fix: "Divide the project.",
    span: places.span(entry, Object.hasOwn(entry, "domain") ? "domain" : "reverse"),
  };
}

/** `domain: [a, b]` → an entry for each; `reverse: 192.0.2.0/24` → an entry with that domain. */
function eachDomain(entry: JsonObject, context: ExpandContext): JsonObject[] {
  const { places } = context;
  const key = Object.hasOwn(entry, "domain") ? "domain" : "reverse";
  const written = entry[key] as Json;
  const names = Array.isArray(written) ? (written as readonly Json[]) : [written];
  return names.flatMap((name, index) => {
    const span = names === written ? places.span(names, index) : places.span(entry, key);
    const domain = key === "domain" ? name : reverseDomain(name, span, context);
    if (domain === null) return [];
    const { reverse: _reverse, ...rest } = entry;
    const single: Record<string, Json> = Object.assign(Object.create(null), rest);
    if (domain !== undefined) single["domain"] = domain;
    places.copy(single, entry);
    if (key === "reverse") places.renameKey(single, "reverse", "domain");
    places.moveValue(single, "domain", span);
    return [single];
  });
}

/** @returns null if it is no such network; that is reported */
function reverseDomain(
  network: Json | undefined,
  span: NonNullable<Diagnostic["span"]>,
  context: ExpandContext,
): string | null | undefined {
  if (typeof network !== "string") return undefined;
  const zone = reverseZone(network);
  if (zone.ok) return zone.zone;
  context.report({ severity: "error", ...badReverse(network, zone), span });
  return null;
}

interface Origins {
  readonly own: readonly JsonObject[];
  readonly used: readonly RecordSet[];
  /** So many records may still come. */
  readonly left: number;
  readonly room: Room;
  /** How many domains the entry is for. */
  readonly domains: number;
}

/** @returns why there is no room for its records; that they take too much is reported */
async function complete(
  entry: JsonObject,
  { own, used, left, domains, room }: Origins,
  context: ExpandContext,
): Promise<{ entry: JsonObject; count: number } | "too-many" | "too-much"> {
  const { places } = context;
  if (own.length + used.reduce((sum, set) => sum + set.records.length, 0) > left) return "too-many";
  const domain = entry["domain"];
  const zone = typeof domain === "string" ? zoneName(domain) : "";
  const { use: _use, records: _records, ...rest } = entry;
  const shell: Record<string, Json> = Object.assign(Object.create(null), rest);
  places.copy(shell, entry);
  const complete: Record<string, Json> = Object.assign(Object.create(null), withZone(shell, zone, places));
  places.copy(complete, shell);
  const hasFile = typeof complete["zone_file"] === "string";
  if (!hasFile && !Object.hasOwn(entry, "records") && !Object.hasOwn(entry, "use")) {
    return { entry: complete, count: 0 };
  }
  const plain = (list: readonly JsonObject[]): JsonObject[] =>
    expandBuilders(
      list.flatMap((record) => (lacksParts(record, context.incomplete) ? [] : [withZone(record, zone, places)])),
      zone,
      context,
    );
  const stated: Layer[] = [
    ...used.map((set): Layer => ({ origin: { type: "set", name: set.name }, records: plain(set.records) })),
    { origin: { type: "own" }, records: plain(own) },
  ];
  const statedRecords = stated.flatMap((layer) => layer.records);
  const sharing = complete["zone_file"] === entry["zone_file"] ? domains : 1;
  const fromFile = hasFile ? await context.zoneFile(complete, zone, statedRecords, sharing) : [];
  if (!room.forZoneFile(complete, fromFile)) return "too-much";
  const layers: Layer[] = [{ origin: { type: "zone-file" }, records: fromFile }, ...stated];
  const records = [...overlay(layers, zone, context)];
  if (records.length > left) return "too-many";
  places.make(records, places.span(entry));
  complete["records"] = records;
  return { entry: complete, count: records.length };
}

/** What `${zone}` stands for. */
function zoneName(domain: string): string {
  return (toAscii(domain) ?? domain).replace(/\.$/, "");
}
