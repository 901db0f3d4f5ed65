/** Record sets: collected from all files, used by the domains that name them under `use`, and laid over each other. */

import { ownerName, serviceOwner } from "../dns/name.ts";
import type { SourceRecord } from "../dns/record.ts";
import { ANNOTATION_KEYS } from "../model/annotations.ts";
import { type Diagnostic, type Span, suggest } from "../model/diagnostic.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { newMapping, type Places } from "./positions.ts";
import { isOwnKey } from "./schema.ts";

/** Name → records, with the defaults of their file. */
export type RecordSets = ReadonlyMap<string, RecordSet>;

export interface RecordSet {
  readonly name: string;
  readonly records: readonly JsonObject[];
  readonly container: JsonObject;
}

export interface RecordSetContext {
  readonly places: Places;
  /** False if not all record sets could be read: an unknown name is then not reported. */
  readonly setsKnown: boolean;
  report(diagnostic: Diagnostic): void;
}

export function collectRecordSets(
  files: readonly { readonly tree: JsonObject }[],
  context: RecordSetContext,
): RecordSets {
  const sets = new Map<string, RecordSet>();
  for (const { tree } of files) {
    const own = objectAt(tree, "record_sets");
    const defaults = objectAt(objectAt(tree, "defaults"), "record");
    for (const name of Object.keys(own).filter((key) => !isOwnKey(key))) {
      const first = sets.get(name);
      if (first !== undefined) context.report(duplicateSet(name, own, first.container, context.places));
      else
        sets.set(name, {
          name,
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

export function reportUnused(sets: RecordSets, used: ReadonlySet<RecordSet>, context: RecordSetContext): void {
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

/** The record sets that entries name under `use`. Each list is looked up once: through defaults, many entries may share one. */
export class UsedSets {
  readonly #sets: RecordSets;
  readonly #names: readonly string[];
  readonly #context: RecordSetContext;
  readonly #known: Map<Json, { readonly used: readonly RecordSet[]; readonly problems: readonly Diagnostic[] }> =
    new Map();

  constructor(sets: RecordSets, context: RecordSetContext) {
    this.#sets = sets;
    this.#names = [...sets.keys()];
    this.#context = context;
  }

  of({ use: names }: JsonObject): readonly RecordSet[] {
    if (!Array.isArray(names)) return [];
    const found = this.#known.get(names) ?? this.#look(names);
    this.#known.set(names, found);
    for (const problem of found.problems) this.#context.report(problem);
    return found.used;
  }

  #look(names: readonly Json[]): { used: RecordSet[]; problems: Diagnostic[] } {
    const used = new Set<RecordSet>();
    const problems: Diagnostic[] = [];
    for (const [index, name] of names.entries()) {
      const set = this.#sets.get(String(name));
      const span = this.#context.places.span(names, index);
      if (set !== undefined && used.has(set)) problems.push(usedTwice(String(name), span));
      else if (set !== undefined) used.add(set);
      else if (this.#context.setsKnown) problems.push(unknownSet(String(name), this.#names, span));
    }
    return { used: [...used], problems };
  }
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
  const { fix, ...rest } = suggest(name, known);
  return {
    code: "unknown-record-set",
    severity: "error",
    summary: `unknown record set \`${name}\``,
    detail: `No file of the project has \`${name}\` under \`record_sets\`.`,
    fix: fix || "Add it to `record_sets`.",
    ...rest,
    span,
  };
}

/** One source of a domain's records. Records of a later layer may replace those of an earlier one. */
export interface Layer {
  readonly origin: { readonly type: "zone-file" | "own" } | { readonly type: "set"; readonly name: string };
  readonly records: readonly LayerRecord[];
}

/** An entry of the manifest, or a record of a zone file as it was read. */
export type LayerRecord = JsonObject | SourceRecord;

/** The records of one layer with one name and type. */
interface Rrset {
  readonly origin: Layer["origin"];
  readonly records: LayerRecord[];
}

/**
 * The records that remain, in the order of the layers. If two layers have records of one name and type, `override` of the later ones
 * decides whether they replace the earlier (true) or add to them (false). Without an `override`, an error shows both places.
 * @param zone lower-case ASCII without a final dot
 */
export function overlay(
  layers: readonly Layer[],
  zone: string,
  context: Pick<RecordSetContext, "places" | "report">,
): readonly LayerRecord[] {
  const filled = layers.filter(({ records }) => records.length > 0);
  if (filled.length < 2) return filled.flatMap(({ records }) => records);
  const divided = filled.map((layer) => rrsetsOf(layer, zone));
  const replacedAt = new Map<string, number>();
  for (const [index, rrsets] of divided.entries()) {
    // Those that expire cannot say it for others that stay: the project would be invalid from the next day on.
    for (const [key, rrset] of rrsets)
      if (verdictOf(rrset, context) === true && overridesForGood(rrset.records)) replacedAt.set(key, index);
  }
  const remaining = new Map<string, Rrset[]>();
  for (const [index, rrsets] of divided.entries()) {
    for (const [key, rrset] of rrsets) {
      const before = remaining.get(key) ?? [];
      const verdict = statedOverrides(rrset)[0];
      const isReplacedLater = index < (replacedAt.get(key) ?? -1);
      const lasting = { ...rrset, records: lastingLongest(rrset.records) };
      if (before.length > 0 && statedOverrides(lasting)[0] === undefined && !isReplacedLater) {
        context.report(unsaidOverride(key, lasting, before, context.places));
      }
      remaining.set(key, verdict === false ? [...before, rrset] : [rrset]);
    }
  }
  const kept = new Set([...remaining.values()].flatMap((rrsets) => rrsets.flatMap(({ records }) => records)));
  return filled.flatMap(({ records }) => records.filter((record) => kept.has(record)));
}

function lastingLongest(records: readonly LayerRecord[]): LayerRecord[] {
  const last = records.reduce((latest, record) => later(latest, expiryOf(record) ?? LATEST), "");
  return records.filter((record) => (expiryOf(record) ?? LATEST) === last);
}

/** A record that comes back when what overrides it expires, and the last day of that. */
export interface LaterRecord {
  readonly record: LayerRecord;
  readonly after: string;
}

/**
 * The records that come back as others expire: those that these override, layer by layer up to an override that stays. One that expires no
 * later than what overrides it is not among them.
 * @param remaining what `overlay` has left of the layers
 */
export function comingBack(layers: readonly Layer[], remaining: readonly LayerRecord[], zone: string): LaterRecord[] {
  const dated = new Set(remaining.flatMap((record) => (expiryOf(record) === null ? [] : [identity(record, zone)])));
  if (dated.size === 0) return [];
  const kept = new Set(remaining);
  const latestFirst = layers.map((layer) => rrsetsOf(layer, zone)).reverse();
  return [...dated].flatMap((key) => {
    const found: LaterRecord[] = [];
    let after = "";
    for (const rrsets of latestFirst) {
      const records = rrsets.get(key)?.records ?? [];
      const lasting = records.filter((record) => (expiryOf(record) ?? LATEST) > after);
      for (const record of lasting) if (!kept.has(record)) found.push({ record, after });
      if (overridesForGood(records)) break;
      for (const record of lasting) if (overrideOf(record) === true) after = later(after, expiryOf(record) ?? after);
    }
    return found;
  });
}

/** Behind all days. */
const LATEST = "~";

function later(one: string, other: string): string {
  return one > other ? one : other;
}

function overridesForGood(records: readonly LayerRecord[]): boolean {
  return records.some((record) => overrideOf(record) === true && expiryOf(record) === null);
}

/** YYYY-MM-DD. */
function expiryOf(record: LayerRecord): string | null {
  const { expires } = record as { readonly expires?: unknown };
  return typeof expires === "string" ? expires : null;
}

function rrsetsOf({ origin, records }: Layer, zone: string): Map<string, Rrset> {
  const rrsets = new Map<string, Rrset>();
  for (const record of records) {
    const key = identity(record, zone);
    const known = rrsets.get(key);
    if (known === undefined) rrsets.set(key, { origin, records: [record] });
    else known.records.push(record);
  }
  return rrsets;
}

function statedOverrides({ records }: Rrset): boolean[] {
  return records.flatMap((record) => (typeof overrideOf(record) === "boolean" ? [overrideOf(record) === true] : []));
}

function overrideOf(record: LayerRecord): Json | undefined {
  return (record as JsonObject)["override"];
}

/** The `override` of all records of one name and type: it is enough if one of them has it. */
function verdictOf(rrset: Rrset, { places, report }: Pick<RecordSetContext, "places" | "report">): boolean | undefined {
  const [first, ...others] = statedOverrides(rrset);
  if (others.every((other) => other === first)) return first;
  const [one, other] = [true, false].map((value) => rrset.records.find((record) => overrideOf(record) === value));
  report({
    code: "conflicting-override",
    severity: "error",
    summary: "`override` is both true and false",
    detail: "Records of one name and type replace those of a record set or a zone file together, or stand beside them.",
    fix: "Give all of them the same `override`.",
    span: places.span(other as JsonObject, "override"),
    related: [{ message: "the other one", span: places.span(one as JsonObject, "override") }],
  });
  return first;
}

function unsaidOverride(key: string, rrset: Rrset, before: readonly Rrset[], places: Places): Diagnostic {
  const [type = "", name = ""] = key.split(" ");
  const where = name === "" ? "the apex" : `\`${name}\``;
  const last = (before.at(-1) as Rrset).origin;
  const isFile = before.every(({ origin }) => origin.type === "zone-file");
  const whose = isFile ? "the zone file's" : "the record set's";
  const mine = rrset.origin.type === "set" ? ` to the record of \`${rrset.origin.name}\`` : "";
  return {
    code: isFile ? "overrides-zone-file" : "overrides-record-set",
    severity: "error",
    summary: `\`override\` is missing: ${isFile ? "the zone file" : "the record set"} has ${type} records at this name, too`,
    detail: `There are also ${type} records at ${where} in ${originName(last)}. Without \`override\`, Tenon cannot tell whether to replace them or to add to them.`,
    fix: `Add \`override: true\`${mine} to replace ${whose}, or \`override: false\` to have both.`,
    span: spanOf(rrset.records[0] as LayerRecord, places),
    related: before.map(({ origin, records }) => ({
      message: `in ${originName(origin)}`,
      span: spanOf(records[0] as LayerRecord, places),
    })),
  };
}

function spanOf(record: LayerRecord, places: Places): Span {
  return isFromZoneFile(record) ? record.span : places.span(record);
}

/** No entry has a key `span`: the schema knows none. */
function isFromZoneFile(record: LayerRecord): record is SourceRecord {
  return "span" in record;
}

function originName(origin: Layer["origin"]): string {
  switch (origin.type) {
    case "zone-file":
      return "the zone file";
    case "set":
      return `record set \`${origin.name}\``;
    case "own":
      return "the domain itself";
  }
}

// Type and name of a record in one form, however they are written: records of one identity are one RRset.

/** @param zone lower-case ASCII without a final dot */
export function identity(record: LayerRecord, zone: string): string {
  if (isFromZoneFile(record)) return `${record.type} ${record.name}`;
  const type = String(record["type"]);
  const owner = ownerName(textAt(record, "name") ?? "", zone);
  const service =
    type === "SRV" && owner.ok
      ? serviceOwner(owner.name, textAt(record, "service"), textAt(record, "protocol"))
      : owner;
  return `${type} ${service.ok ? service.name : owner.name}`;
}

// Reading entries of a manifest that fit the schema, and filling in their defaults.

/**
 * The keys of each object of defaults, listed once. The author's own `x-` keys are left out: they mean nothing, and there may be thousands.
 */
const defaultKeys: WeakMap<JsonObject, readonly string[]> = new WeakMap();

function keysOfDefaults(defaults: JsonObject): readonly string[] {
  const keys = defaultKeys.get(defaults) ?? Object.keys(defaults).filter((key) => !isOwnKey(key));
  defaultKeys.set(defaults, keys);
  return keys;
}

/**
 * Keys of `entry` win; both stand in the same file.
 * @param taken the keys of the defaults that hold for the entry; absent: all
 */
export function withDefaults(
  entry: JsonObject,
  defaults: JsonObject,
  places: Places,
  taken?: ReadonlySet<string>,
): JsonObject {
  const isTaken = (key: string) => !Object.hasOwn(entry, key) && (taken === undefined || taken.has(key));
  const keys = keysOfDefaults(defaults);
  const missing = keys.every(isTaken) ? keys : keys.filter(isTaken);
  if (missing.length === 0) return entry;
  const merged = newMapping(entry);
  for (const key of missing) merged[key] = defaults[key] as Json;
  places.merge(merged, entry, defaults, missing);
  return merged;
}

/** What defaults say of domains themselves does not hold for a part, whose domain is another project's. */
const DEFAULTS_OF_PARTS: ReadonlySet<string> = new Set([
  "use",
  "zone_file",
  "ignore",
  "records_policy",
  "lint",
  "note",
  ...ANNOTATION_KEYS,
]);

export function withDomainDefaults(entry: JsonObject, defaults: JsonObject, places: Places): JsonObject {
  if (!Object.hasOwn(entry, "part")) return withDefaults(entry, defaults, places);
  return withDefaults(entry, defaults, places, DEFAULTS_OF_PARTS);
}

export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isJsonObject(value) ? value : {};
}

export function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : [];
}

export function textAt(object: JsonObject, key: string): string | null {
  const value = object[key];
  return typeof value === "string" ? value : null;
}
