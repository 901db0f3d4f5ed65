/** Record sets and defaults put into the domains that use them: what remains is one list of records for each domain. */

import { toAscii } from "../../dns/name.ts";
import { ownerName, serviceOwner } from "../../dns/owner.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import { isJsonObject } from "../../model/resource.ts";
import { MAX_PROJECT_RECORDS } from "../limits.ts";
import type { Places } from "../places.ts";
import { isOwnKey } from "../schema.ts";
import { suggestion } from "../suggest.ts";
import { withZone } from "./interpolate.ts";

/** Name → records, with the defaults of their file. */
export type RecordSets = ReadonlyMap<string, RecordSet>;

interface RecordSet {
  readonly records: readonly JsonObject[];
  readonly container: JsonObject;
}

export interface ExpandContext {
  readonly places: Places;
  /** False if something could not be read, so that a set may exist all the same. */
  readonly setsKnown: boolean;
  /** What lost a key to validation. */
  readonly incomplete: ReadonlySet<object>;
  report(diagnostic: Diagnostic): void;
}

/** One file after validation. */
export interface ExpandInput {
  readonly tree: JsonObject;
}

export function collectRecordSets(files: readonly ExpandInput[], context: ExpandContext): RecordSets {
  const sets = new Map<string, RecordSet>();
  for (const { tree } of files) {
    const own = objectAt(tree, "record_sets");
    const defaults = objectAt(objectAt(tree, "defaults"), "record");
    for (const name of Object.keys(own).filter((key) => !isOwnKey(key))) {
      const first = sets.get(name);
      if (first !== undefined) context.report(duplicateSet(name, own, first.container, context.places));
      else
        sets.set(name, {
          records: listOf(own[name]).map((record) => withDefaults(record, defaults, context.places)),
          container: own,
        });
    }
  }
  return sets;
}

function duplicateSet(name: string, container: JsonObject, first: JsonObject, places: Places): Diagnostic {
  return {
    code: "duplicate-record-set",
    severity: "error",
    summary: `record set \`${name}\` is there twice`,
    detail: "Record sets belong to the whole project, so their names must differ.",
    fix: "Rename one of them, or join the two.",
    span: places.keySpan(container, name),
    related: [{ message: "first here", span: places.keySpan(first, name) }],
  };
}

export interface ExpandedDomains {
  readonly entries: readonly JsonObject[];
  /** Those made of something that lost a key. */
  readonly incomplete: readonly JsonObject[];
}

/** Every domain of the project as an entry of its own: `domain` one name, `records` complete, no `use`. */
export function expandDomains(
  files: readonly ExpandInput[],
  sets: RecordSets,
  context: ExpandContext,
): ExpandedDomains {
  const entries: JsonObject[] = [];
  const incomplete: JsonObject[] = [];
  const everUsed = new Set<RecordSet>();
  let total = 0;
  for (const { tree } of files) {
    const defaults = objectAt(tree, "defaults");
    for (const written of listOf(tree["domains"])) {
      const records = listOf(written["records"]).map((record) =>
        withDefaults(record, objectAt(defaults, "record"), context.places),
      );
      const entry = withDefaults(written, objectAt(defaults, "domain"), context.places);
      const used = usedSets(entry, sets, context);
      for (const set of used) everUsed.add(set);
      for (const single of eachDomain(entry, context.places)) {
        total += records.length + used.reduce((sum, set) => sum + set.records.length, 0);
        if (total > MAX_PROJECT_RECORDS) {
          context.report(tooManyRecords(entry, context.places));
          return { entries, incomplete };
        }
        const expanded = complete(single, records, used, context.places);
        entries.push(expanded);
        if (context.incomplete.has(written) || context.incomplete.has(objectAt(defaults, "domain")))
          incomplete.push(expanded);
      }
    }
  }
  // Where something is missing, it may be just what uses the set.
  if (context.setsKnown && context.incomplete.size === 0) reportUnused(sets, everUsed, context);
  return { entries, incomplete };
}

function reportUnused(sets: RecordSets, used: ReadonlySet<RecordSet>, context: ExpandContext): void {
  for (const [name, set] of sets) {
    if (used.has(set)) continue;
    context.report({
      code: "unused-record-set",
      severity: "warning",
      summary: `record set \`${name}\` is not used`,
      detail: "No domain of the project names it under `use`.",
      fix: "Use it, or remove it.",
      span: context.places.keySpan(set.container, name),
    });
  }
}

function tooManyRecords(entry: JsonObject, places: Places): Diagnostic {
  return {
    code: "too-many-records",
    severity: "error",
    summary: "too many records in the project",
    detail: `With this domain, the domains of the project have more than ${MAX_PROJECT_RECORDS.toLocaleString("en")} records; what follows is not looked at.`,
    fix: "Divide the project.",
    span: places.span(entry, "domain"),
  };
}

/** Keys of `entry` win; both stand in the same file. */
function withDefaults(entry: JsonObject, defaults: JsonObject, places: Places): JsonObject {
  const missing = Object.keys(defaults).filter((key) => !Object.hasOwn(entry, key));
  if (missing.length === 0) return entry;
  const merged: Record<string, Json> = Object.assign(Object.create(null), entry);
  for (const key of missing) merged[key] = defaults[key] as Json;
  places.merge(merged, entry, defaults);
  return merged;
}

function usedSets(entry: JsonObject, sets: RecordSets, context: ExpandContext): RecordSet[] {
  const used: RecordSet[] = [];
  const names = entry["use"];
  if (!Array.isArray(names)) return used;
  const known = [...sets.keys()];
  for (const [index, name] of (names as readonly Json[]).entries()) {
    const set = sets.get(String(name));
    const span = context.places.span(names, index);
    if (set !== undefined && used.includes(set)) context.report(usedTwice(String(name), span));
    else if (set !== undefined) used.push(set);
    else if (context.setsKnown) context.report(unknownSet(String(name), known, span));
  }
  return used;
}

function usedTwice(name: string, span: NonNullable<Diagnostic["span"]>): Diagnostic {
  const detail = "A record set can be used once in a domain.";
  return {
    code: "duplicate-use",
    severity: "error",
    summary: `\`${name}\` is used twice`,
    detail,
    fix: "Remove one of the two.",
    span,
  };
}

function unknownSet(name: string, known: readonly string[], span: NonNullable<Diagnostic["span"]>): Diagnostic {
  return {
    code: "unknown-record-set",
    severity: "error",
    summary: `unknown record set \`${name}\``,
    detail: `No file of the project has \`${name}\` under \`record_sets\`.`,
    fix: suggestion(name, known) || "Add it to `record_sets`.",
    span,
  };
}

/** `domain: [a, b]` → an entry for each. */
function eachDomain(entry: JsonObject, places: Places): JsonObject[] {
  const names = entry["domain"];
  if (!Array.isArray(names)) return [entry];
  return (names as readonly Json[]).map((name, index) => {
    const single: Record<string, Json> = Object.assign(Object.create(null), entry, { domain: name });
    places.copy(single, entry);
    places.moveValue(single, "domain", places.span(names, index));
    return single;
  });
}

function complete(
  entry: JsonObject,
  own: readonly JsonObject[],
  used: readonly RecordSet[],
  places: Places,
): JsonObject {
  const managed = Object.hasOwn(entry, "records") || Object.hasOwn(entry, "use");
  const domain = entry["domain"];
  const zone = typeof domain === "string" ? zoneName(domain) : "";
  const { use: _use, records: _records, ...rest } = entry;
  const shell: Record<string, Json> = Object.assign(Object.create(null), rest);
  places.copy(shell, entry);
  const complete: Record<string, Json> = Object.assign(Object.create(null), withZone(shell, zone, places));
  places.copy(complete, shell);
  if (!managed) return complete;
  const ownRecords = own.map((record) => withZone(record, zone, places));
  const taken = new Set(used.length === 0 ? [] : ownRecords.map((record) => identity(record, zone)));
  const inherited = used.flatMap((set) => set.records.map((record) => withZone(record, zone, places)));
  const records = [...inherited.filter((record) => !taken.has(identity(record, zone))), ...ownRecords];
  places.put(records, places.span(entry).file, [places.span(entry).start, places.span(entry).end]);
  complete["records"] = records;
  return complete;
}

/** What `${zone}` stands for. */
function zoneName(domain: string): string {
  return (toAscii(domain) ?? domain).replace(/\.$/, "");
}

/** Name and type in one form, however they are written. */
function identity(record: JsonObject, zone: string): string {
  const type = String(record["type"]);
  const owner = ownerName(textAt(record, "name") ?? "", zone);
  const service =
    type === "SRV" && owner.ok
      ? serviceOwner(owner.name, textAt(record, "service"), textAt(record, "protocol"))
      : owner;
  return `${type} ${service.ok ? service.name : owner.name}`;
}

function textAt(object: JsonObject, key: string): string | null {
  const value = object[key];
  return typeof value === "string" ? value : null;
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isJsonObject(value) ? value : {};
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : [];
}
