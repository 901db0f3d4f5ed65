/** Expands domains: defaults, record sets, builders and zone files are put in, so that each domain is one entry with plain records. */

import {
  type BuildProblem,
  type Built,
  type BuiltRecord,
  buildCaa,
  buildDkim,
  buildDmarc,
  buildPtr,
  buildSpf,
  type CaaParts,
  type DkimParts,
  type DmarcParts,
  type PartPath,
  type PtrParts,
  type SpfParts,
} from "../dns/builders.ts";
import { type ReverseZone, reverseZone } from "../dns/ip.ts";
import type { SourceRecord } from "../dns/record.ts";
import { toAscii } from "../dns/unicode.ts";
import { ANNOTATION_KEYS, isPast } from "../model/annotations.ts";
import type { Diagnostic, Sources, Span } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { withZone } from "./interpolate.ts";
import {
  type Budget,
  COMPARISONS_PER_CHARACTER,
  explainRecordLimit,
  MAX_IGNORE_COMPARISONS,
  MAX_INNER_LABELS,
  RECORDS_PER_DOMAIN,
  recordLimit,
  Scales,
  tooLongIgnore,
} from "./limits.ts";
import { newMapping, type Places } from "./positions.ts";
import {
  comingBack,
  type Layer,
  type LayerRecord,
  listOf,
  objectAt,
  overlay,
  type RecordSet,
  type RecordSetContext,
  type RecordSets,
  reportUnused,
  textAt,
  UsedSets,
  withDefaults,
  withDomainDefaults,
} from "./record-sets.ts";
import { isOwnKey } from "./schema.ts";

export interface ExpandContext extends RecordSetContext {
  readonly budget: Budget;
  /** See Desired. */
  readonly today: string | undefined;
  /** Everything read so far. */
  readonly sources: Sources;
  /** Objects without a required key, or from which validation removed a wrong one; the entries that are made from one are added. */
  readonly incomplete: Set<object>;
  /**
   * Reads the zone file that a domain names. `stated`: the records that the manifest itself has for the domain. `sharing`: how many domains
   * of the same entry read this file, this one included.
   */
  zoneFile(
    domain: JsonObject,
    zone: string,
    stated: readonly LayerRecord[],
    sharing: number,
  ): Promise<readonly SourceRecord[]>;
}

/** One file after validation. */
interface ExpandInput {
  readonly tree: JsonObject;
}

/**
 * Every domain of the project as an entry of its own: `domain` is one name, `records` is complete and plain, `expired` holds the records
 * whose entries have expired, `later` those that come back as others expire, and there is no `use`. An entry
 * has its records until the next one is asked for, and those of the tree that it comes from are gone then: what a large project says takes
 * more memory than what is made of it.
 */
export async function* expandDomains(
  files: readonly ExpandInput[],
  sets: RecordSets,
  context: ExpandContext,
): AsyncGenerator<JsonObject> {
  const everUsed = new Set<RecordSet>();
  const excess = firstTooMany(files, sets, context);
  if (excess !== null) {
    context.report(tooManyRecords(excess, context));
    return;
  }
  const limits = new ExpansionLimits(context);
  const setsOf = new UsedSets(sets, context);
  let total = 0;
  for (const { tree } of files) {
    const defaults = objectAt(tree, "defaults");
    for (const written of listOf(tree["domains"])) {
      const own = listOf(written["records"]).map((record) =>
        withDefaults(record, objectAt(defaults, "record"), context.places),
      );
      const entry = withDomainDefaults(written, objectAt(defaults, "domain"), context.places);
      if (!limits.takeFields(entry)) return;
      const used = setsOf.of(entry);
      for (const set of used) everUsed.add(set);
      if (!limits.takeRecords(entry, [own, ...used.map(({ records }) => records)])) return;
      const singles = eachDomain(entry, context);
      for (const single of singles) {
        const origins = { own, used, left: recordLimit(context.sources) - total, domains: singles.length, limits };
        const expanded = await expandDomain(single, origins, context);
        if (expanded === "too-many-records") context.report(tooManyRecords(entry, context));
        if (typeof expanded === "string") return;
        total += expanded.count + RECORDS_PER_DOMAIN;
        context.budget.noteRecords(expanded.count + RECORDS_PER_DOMAIN);
        if (context.incomplete.has(written) || context.incomplete.has(objectAt(defaults, "domain")))
          context.incomplete.add(expanded.entry);
        yield expanded.entry;
        forgetRecords(expanded.entry);
      }
      forgetRecords(written);
    }
  }
  // An incomplete object may be the one that uses the set.
  if (context.setsKnown && context.incomplete.size === 0) reportUnused(sets, everUsed, context);
}

function forgetRecords(entry: JsonObject): void {
  for (const key of ["records", "expired", "later"]) {
    if (Object.hasOwn(entry, key)) (entry as Record<string, Json>)[key] = null;
  }
}

/**
 * The first entry with which the project surely has too many records. Records are counted as they are written: expanding a million of them
 * only to refuse them would take minutes.
 */
function firstTooMany(
  files: readonly ExpandInput[],
  sets: RecordSets,
  { places, sources }: Pick<ExpandContext, "places" | "sources">,
): JsonObject | null {
  let total = 0;
  const limit = recordLimit(sources);
  // Through defaults, many entries share one `use` list.
  const known = new Map<Json, number>();
  for (const { tree } of files) {
    const defaults = objectAt(objectAt(tree, "defaults"), "domain");
    for (const written of listOf(tree["domains"])) {
      const entry = withDomainDefaults(written, defaults, places);
      const [names, use] = [entry["domain"], entry["use"] ?? null];
      const used = known.get(use) ?? usedRecords(use, sets);
      known.set(use, used);
      // A domain's own records may replace those of its sets. So the records of its sets are counted only if it has no records of its own.
      const least = recordCount(listOf(entry["records"])) || used;
      total += (Array.isArray(names) ? names.length : 1) * (least + RECORDS_PER_DOMAIN);
      if (total > limit) return entry;
    }
  }
  return null;
}

/** The number of records in the sets that one domain names under `use`. */
function usedRecords(names: Json, sets: RecordSets): number {
  if (!Array.isArray(names)) return 0;
  const used = new Set((names as readonly Json[]).flatMap((name) => sets.get(String(name)) ?? []));
  return [...used].reduce((sum, { records }) => sum + recordCount(records), 0);
}

function recordCount(records: readonly JsonObject[]): number {
  return records.reduce((sum, { targets }) => sum + (Array.isArray(targets) ? targets.length : 1), 0);
}

function tooManyRecords(entry: JsonObject, { places, sources }: Pick<ExpandContext, "places" | "sources">): Diagnostic {
  return {
    code: "too-many-records",
    severity: "error",
    summary: "too many records in the project",
    detail: `With this domain, the project has more records than a project may have. ${explainRecordLimit(recordLimit(sources))} The rest is not checked.`,
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
    const single = newMapping(rest);
    if (domain !== undefined) single["domain"] = domain;
    places.copy(single, entry);
    if (key === "reverse") places.renameKey(single, "reverse", "domain");
    places.moveValue(single, "domain", span);
    return [single];
  });
}

/** @returns null if the network has no reverse zone, which is reported; undefined if `network` is not text */
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
  /** How many more records the project may have. */
  readonly left: number;
  readonly limits: ExpansionLimits;
  /** How many domains the entry is for. */
  readonly domains: number;
}

/**
 * @returns the expanded entry, or why there is no room: `too-many-records` is left to the caller to report, `reported` is reported already
 */
async function expandDomain(
  entry: JsonObject,
  { own, used, left, domains, limits }: Origins,
  context: ExpandContext,
): Promise<{ entry: JsonObject; count: number } | "too-many-records" | "reported"> {
  const { places } = context;
  if (own.length + used.reduce((sum, set) => sum + set.records.length, 0) > left) return "too-many-records";
  const domain = entry["domain"];
  const zone = typeof domain === "string" ? zoneName(domain) : "";
  const { use: _use, records: _records, ...rest } = entry;
  const shell = newMapping(rest);
  places.copy(shell, entry);
  const expanded = newMapping(withZone(shell, zone, places));
  places.copy(expanded, shell);
  const hasFile = typeof expanded["zone_file"] === "string";
  if (!hasFile && !Object.hasOwn(entry, "records") && !Object.hasOwn(entry, "use")) {
    return { entry: expanded, count: 0 };
  }
  const built: JsonObject[] = [];
  // No longer declared, so that a record set is no longer overridden by them, and nothing conflicts with them.
  const expired: JsonObject[] = [];
  const plain = (list: readonly JsonObject[]): JsonObject[] => {
    const entries = list.flatMap((record) =>
      lacksParts(record, context.incomplete) ? [] : [withZone(record, zone, places)],
    );
    const records = expandBuilders(entries, zone, context);
    const written = new Set(entries);
    for (const record of records) if (!written.has(record)) built.push(record);
    return records.filter((record) => {
      if (!isPast(textAt(record, "expires") ?? undefined, context.today)) return true;
      expired.push(record);
      return false;
    });
  };
  const stated: Layer[] = [
    ...used.map((set): Layer => ({ origin: { type: "set", name: set.name }, records: plain(set.records) })),
    { origin: { type: "own" }, records: plain(own) },
  ];
  const statedRecords = stated.flatMap((layer) => layer.records);
  if (!limits.takeCopies(expanded, [...(statedRecords as readonly JsonObject[]), ...expired], built)) return "reported";
  const sharing = expanded["zone_file"] === entry["zone_file"] ? domains : 1;
  const fromFile = hasFile ? await context.zoneFile(expanded, zone, statedRecords, sharing) : [];
  if (!limits.takeZoneFile(expanded, fromFile)) return "reported";
  const layers: Layer[] = [{ origin: { type: "zone-file" }, records: fromFile }, ...stated];
  const records = [...overlay(layers, zone, context)];
  const later = comingBack(layers, records, zone);
  const count = records.length + expired.length + later.length;
  if (count > left) return "too-many-records";
  if (!limits.takeLabels(expanded, records)) return "reported";
  places.make(records, places.span(entry));
  // Records of the zone file stay as they were read; the zone's unit takes both forms.
  expanded["records"] = records as readonly object[] as readonly JsonObject[];
  if (expired.length > 0) expanded["expired"] = expired;
  if (later.length > 0) expanded["later"] = later as readonly object[] as readonly JsonObject[];
  return { entry: expanded, count };
}

/** What `${zone}` stands for. */
function zoneName(domain: string): string {
  return (toAscii(domain) ?? domain).replace(/\.$/, "");
}

// Checks, before a domain's entry is expanded, whether the result stays within the project's limits; an entry that does not is reported.

interface LimitsContext {
  readonly places: Places;
  readonly budget: Budget;
  report(diagnostic: Diagnostic): void;
}

/** Keys that `takeFields` leaves out: `takeRecords` counts the records, and `domain` and `reverse` are not repeated in each domain. */
const COUNTED_APART: ReadonlySet<string> = new Set(["domain", "reverse", "records"]);

const ZONE_REFERENCE = "${zone}";

const TARGETS: ReadonlySet<string> = new Set(["targets"]);

/** What the limits still leave. Each method takes from it, and returns false if there is not enough, which is reported. */
class ExpansionLimits {
  readonly #context: LimitsContext;
  readonly #scales: Scales = new Scales();
  #comparisons = 0;
  #innerLabels = 0;

  constructor(context: LimitsContext) {
    this.#context = context;
  }

  /** Takes room for the entry's fields, counted once for each domain that it names. */
  takeFields(entry: JsonObject): boolean {
    return this.#take(entry, domainCount(entry) * this.#scales.weighEntry(entry, COUNTED_APART));
  }

  /** Takes room for the entry's own records and those of its sets, counted once for each domain that it names. */
  takeRecords(entry: JsonObject, lists: readonly (readonly JsonObject[])[]): boolean {
    const weight = lists.reduce((sum, list) => sum + this.#scales.weigh(list as Json), 0);
    if (!this.#take(entry, domainCount(entry) * weight)) return false;
    // Each `${zone}` will become the name of the zone. Counting the references scans the text, so it waits until its length was accepted.
    const references = lists.reduce((sum, list) => sum + this.#references(list as Json), this.#references(entry));
    if (!this.#take(entry, references * namesLength(entry))) return false;
    return this.#takeComparisons(entry, domainCount(entry) * weight);
  }

  /** Takes room for the fields that several records get from one entry, which has a list of targets or is a builder. */
  takeCopies(entry: JsonObject, records: readonly JsonObject[], built: readonly JsonObject[]): boolean {
    const copied = records.reduce((sum, record) => {
      const { targets } = record;
      const more = Array.isArray(targets) ? Math.max(0, targets.length - 1) : 0;
      return more === 0 ? sum : sum + more * this.#scales.weighEntry(record, TARGETS);
    }, 0);
    return this.#take(
      entry,
      built.reduce((sum, record) => sum + this.#scales.weigh(record), copied),
    );
  }

  /** Takes room for the records of one domain's zone file. */
  takeZoneFile(entry: JsonObject, records: readonly SourceRecord[]): boolean {
    const weight = records.reduce((sum, { span: _, ...values }) => sum + this.#scales.weigh(values), 0);
    return this.#take(entry, weight) && this.#takeComparisons(entry, weight);
  }

  /**
   * Takes room for the names that lie between the records of one domain and the domain: a record `a.b.c` of `example.org` has two,
   * `b.c.example.org` and `c.example.org`.
   */
  takeLabels(entry: JsonObject, records: readonly LayerRecord[]): boolean {
    this.#innerLabels += records.reduce((sum, { name }) => sum + String(name ?? "").split(".").length - 1, 0);
    if (this.#innerLabels <= MAX_INNER_LABELS) return true;
    this.#context.report(tooManyLabels(domainSpan(entry, this.#context.places)));
    return false;
  }

  #take(entry: JsonObject, characters: number): boolean {
    const { budget, places, report } = this.#context;
    return budget.take(characters, () => domainSpan(entry, places), report);
  }

  /** Each pattern under `ignore`, and each name that is shared or in the part, is compared with each record. */
  #takeComparisons(entry: JsonObject, weight: number): boolean {
    const { ignore } = entry;
    const tooLong = tooLongIgnore(ignore, this.#context.places);
    if (tooLong !== null) {
      this.#context.report(tooLong);
      return false;
    }
    const patterns = (Array.isArray(ignore) ? ignore.length : 0) + namesInDivision(entry);
    this.#comparisons += weight * patterns;
    this.#context.budget.noteRead(Math.ceil((weight * patterns) / COMPARISONS_PER_CHARACTER));
    if (this.#comparisons <= MAX_IGNORE_COMPARISONS) return true;
    const { places } = this.#context;
    this.#context.report(tooManyPatterns(Array.isArray(ignore) ? places.span(ignore) : domainSpan(entry, places)));
    return false;
  }

  readonly #referencesIn: WeakMap<readonly Json[], number> = new WeakMap();

  #references(value: Json | undefined): number {
    if (typeof value === "string") return value.includes(ZONE_REFERENCE) ? value.split(ZONE_REFERENCE).length - 1 : 0;
    if (typeof value !== "object" || value === null) return 0;
    // Lists are what many domains share.
    const known = Array.isArray(value) ? this.#referencesIn.get(value) : undefined;
    if (known !== undefined) return known;
    const items = Array.isArray(value) ? value : Object.values(value);
    const count = items.reduce((sum: number, item) => sum + this.#references(item as Json), 0);
    if (Array.isArray(value)) this.#referencesIn.set(value, count);
    return count;
  }
}

/** How many names stand under `shared_with` and `part`. */
function namesInDivision(entry: JsonObject): number {
  const lists = [...listOf(entry["shared_with"]), objectAt(entry, "part")].map(({ names }) => names);
  return lists.reduce((sum: number, names) => sum + (Array.isArray(names) ? names.length : 0), 0);
}

/** How many domains the entry is for. */
function domainCount({ domain }: JsonObject): number {
  return Array.isArray(domain) ? domain.length : 1;
}

/** Total length of the names of the entry's domains. */
function namesLength({ domain, reverse }: JsonObject): number {
  const names = Array.isArray(domain) ? domain : [domain ?? reverse];
  return names.reduce((sum: number, name) => sum + String(name).length, 0);
}

function domainSpan(entry: JsonObject, places: Places): NonNullable<Diagnostic["span"]> {
  return places.span(entry, Object.hasOwn(entry, "domain") ? "domain" : "reverse");
}

function tooManyLabels(span: NonNullable<Diagnostic["span"]>): Diagnostic {
  return {
    code: "too-many-labels",
    severity: "error",
    summary: "too many long names in the project",
    detail: `A name of several labels makes a name for each label after the first: a.b.c also makes b.c and c. With this domain, the records of the project make more than ${MAX_INNER_LABELS.toLocaleString("en")} such names; the rest is not checked.`,
    fix: "Give records names of fewer labels, or divide the project.",
    span,
  };
}

function tooManyPatterns(span: NonNullable<Diagnostic["span"]>): Diagnostic {
  return {
    code: "too-many-patterns",
    severity: "error",
    summary: "too many patterns under `ignore`, `shared_with` or `part`",
    detail: `Each pattern is compared with each record of its domain. In this project, the characters of the records times the number of patterns are more than ${MAX_IGNORE_COMPARISONS.toLocaleString("en")}; the rest is not checked.`,
    fix: "Join patterns with stars, or divide the project.",
    span,
  };
}

// Entries that are builders (spf, dmarc, dkim, caa, ptr) → the plain records that they come down to.

interface BuilderContext {
  readonly places: Places;
  report(diagnostic: Diagnostic): void;
}

const BUILDERS = ["spf", "dmarc", "dkim", "caa", "ptr"] as const;

type Builder = (typeof BUILDERS)[number];

/** Keys that a builder's entry passes on to its records. */
const PASSED_ON = ["ttl_sec", "override", "note", ...ANNOTATION_KEYS, "lint"] as const;

/**
 * Replaces each builder in the list by its records. The span of such a record is that of the part it comes from.
 * @param zone lower-case ASCII without a final dot
 */
function expandBuilders(entries: readonly JsonObject[], zone: string, context: BuilderContext): JsonObject[] {
  return entries.flatMap((entry) => {
    const builder = BUILDERS.find((key) => Object.hasOwn(entry, key));
    return builder === undefined ? [entry] : expandBuilder(entry, builder, zone, context);
  });
}

/** Whether validation took a part out of a builder, so that the rest means nothing. */
function lacksParts(entry: JsonObject, incomplete: ReadonlySet<object>): boolean {
  const builder = BUILDERS.find((key) => Object.hasOwn(entry, key));
  return builder !== undefined && incomplete.has(entry[builder] as object);
}

function expandBuilder(entry: JsonObject, builder: Builder, zone: string, context: BuilderContext): JsonObject[] {
  checkFields(entry, builder, context);
  const parts = entry[builder] as JsonObject;
  const { records, problems } = build(builder, parts, textAt(entry, "name") ?? "", zone);
  for (const { path, ...problem } of problems) {
    context.report({ ...problem, span: partSpan(entry, builder, path, context.places) });
  }
  return problems.some(isFatal) ? [] : records.map((record) => plainRecord(record, entry, builder, context.places));
}

/** A builder with an error makes no records: they would say something that its author did not mean. */
function isFatal({ severity }: BuildProblem): boolean {
  return severity === "error";
}

function build(builder: Builder, written: JsonObject, name: string, zone: string): Built {
  const parts: unknown = Object.fromEntries(Object.entries(written).filter(([key]) => !isOwnKey(key)));
  switch (builder) {
    case "spf":
      return buildSpf(parts as SpfParts, name, zone);
    case "dmarc":
      return buildDmarc(parts as DmarcParts, name);
    case "dkim":
      return buildDkim(parts as DkimParts, name);
    case "caa":
      return buildCaa(parts as CaaParts, name);
    case "ptr":
      return buildPtr(parts as PtrParts, zone);
  }
}

function checkFields(entry: JsonObject, builder: Builder, context: BuilderContext): void {
  const allowed: readonly string[] = [builder, ...PASSED_ON, ...(builder === "ptr" ? [] : ["name"])];
  for (const key of Object.keys(entry).filter((name) => !allowed.includes(name) && !isOwnKey(name))) {
    const detail = `\`${key}\` belongs to plain records; beside \`${builder}\` there may be: ${allowed.slice(1).join(", ")}.`;
    context.report({
      code: "wrong-field",
      severity: "error",
      summary: `\`${key}\` has no meaning here`,
      detail,
      fix: "Remove it.",
      span: context.places.keySpan(entry, key),
    });
  }
}

function plainRecord(built: BuiltRecord, entry: JsonObject, builder: Builder, places: Places): JsonObject {
  const record = newMapping();
  record["type"] = built.type;
  record["name"] = built.name;
  if (built.tag !== undefined) record["tag"] = built.tag;
  record["target"] = built.target;
  const passed = PASSED_ON.filter((key) => Object.hasOwn(entry, key));
  for (const key of passed) record[key] = entry[key] as Json;
  const part = partSpan(entry, builder, built.path ?? [], places);
  places.make(record, built.path === undefined ? places.span(entry) : part, {
    type: places.keySpan(entry, builder),
    name: Object.hasOwn(entry, "name") ? places.span(entry, "name") : part,
    target: part,
    ...Object.fromEntries(passed.map((key) => [key, places.span(entry, key)])),
  });
  return record;
}

/** The span of the part at `path`, or of the deepest step towards it that exists; for an empty path, that of the builder's key. */
function partSpan(entry: JsonObject, builder: Builder, path: PartPath, places: Places): Span {
  if (path.length === 0) return places.keySpan(entry, builder);
  let container = entry[builder] as object;
  for (const step of path.slice(0, -1)) {
    const next = (container as Record<string | number, unknown>)[step];
    if (typeof next !== "object" || next === null) return places.span(container, step);
    container = next;
  }
  return places.span(container, path.at(-1));
}

// Messages about a network under `reverse` that has no reverse zone.

function badReverse(
  network: string,
  zone: Extract<ReverseZone, { readonly ok: false }>,
): Pick<Diagnostic, "code" | "summary" | "detail" | "fix"> {
  const problem = { code: "bad-network", summary: "bad `reverse`" };
  switch (zone.problem) {
    case "no-network": {
      const detail = `\`${network}\` is not a network: an address, a slash and a prefix length.`;
      return { ...problem, detail, fix: "For example: 192.0.2.0/24 or 2001:db8::/32." };
    }
    case "host-bits":
      return {
        ...problem,
        detail: `\`${network}\` has bits beyond its prefix.`,
        fix: `Write ${zone.network}.`,
      };
    case "between-labels": {
      const detail = `\`${network}\` is not exactly one reverse zone: reverse zones end after 8, 16, 24 or 32 bits of an IPv4 address, and after every fourth bit of an IPv6 address.`;
      const fix =
        "Write a list of networks that end after one of these. For a part of a /24 that is delegated to you (RFC 2317), write the zone's name under `domain`, without a slash: for example 0-25.2.0.192.in-addr.arpa.";
      return { ...problem, detail, fix };
    }
  }
}
