/** Rules, their findings and the diagnostics made of these; and the declared zones as the rules see them. */

import { absoluteName, parentOf, relativeName } from "../dns/name.ts";
import {
  type DnsRecord,
  isAcmeName,
  isNamed,
  MAX_SECONDS,
  type RecordType,
  ZONE_FILE_APEX_NS_CODE,
  ZONE_FILE_SIGNING_CODE,
  ZONE_FILE_SOA_CODE,
} from "../dns/record.ts";
import { compileNameGlob } from "../dns/unicode.ts";
import { ZoneTree } from "../dns/zone-tree.ts";
import type { IgnorePattern } from "../model/desired.ts";
import type { Diagnostic, Related, Severity, Sources, Span } from "../model/diagnostic.ts";
import type { Address } from "../model/resource.ts";
import { compileGlob, groupBy, nearest } from "../model/text.ts";

/** A rule as the documentation has it. */
export interface RuleText {
  /** Stable, kebab-case: what people write under `lint: { off: […] }`. */
  readonly code: string;
  /** "error" only for a record that cannot work at all. */
  readonly severity: Severity;
  /** What it finds, as a phrase. */
  readonly finds: string;
  /** Why it matters: full sentences, with the source. */
  readonly why: string;
  /** What to do, as a full sentence. */
  readonly fix: string;
}

/** A rule that checks one zone, and may look at all others. */
export interface ZoneRule extends RuleText {
  /** In the order of the records; linear in their number. */
  check(view: ZoneView, world: ProjectZones): Iterable<Finding>;
}

export interface Finding {
  /** Terse, without the zone's name, so that one line that many domains share is reported once. */
  readonly summary: string;
  /** Full sentence: what is wrong here. */
  readonly detail: string;
  /** The record whose span is shown, then the others that are involved: each of them can switch the rule off. Empty: the zone itself. */
  readonly records: readonly LintRecord[];
  readonly related?: readonly Related[];
  /** Instead of the rule's. */
  readonly fix?: string;
}

/** @returns null if the rule is switched off for one of the finding's records */
export function diagnose(rule: RuleText, finding: Finding, view: ZoneView): Diagnostic | null {
  const { zone } = view;
  if (finding.records.some(({ lintOff }) => lintOff.includes(rule.code))) return null;
  const span: Span = finding.records[0]?.span ?? zone.span;
  return {
    code: rule.code,
    severity: rule.severity,
    summary: finding.summary,
    detail: `${finding.detail} ${rule.why}`.trim(),
    fix: finding.fix ?? rule.fix,
    span,
    ...(finding.related === undefined || finding.related.length === 0 ? {} : { related: finding.related }),
    address: zone.address,
  };
}

export function related(message: string, record: LintRecord): Related {
  return { message, span: record.span };
}

// All declared zones together: what a resolver would find in them, or that this cannot be known.

type Lookup =
  /**
   * What a resolver is sure to get. `records` is empty for a name that has only names below it, or if there is no such name. `view` is the
   * zone that answers.
   */
  | ({ readonly type: "known"; readonly view: ZoneView } & Answer)
  /** The name is outside the declared zones, delegated or not managed, or undeclared records may be there. */
  | { readonly type: "unknown" };

const UNKNOWN: Lookup = { type: "unknown" };

/** A wildcard with thousands of records may answer for thousands of names: ask for `types`, or for the `first` of the records. */
interface Answer {
  readonly records: readonly LintRecord[];
  readonly types: ReadonlySet<RecordType>;
}

const NO_ANSWER: Answer = { records: [], types: new Set() };

/** A test is declared at the top of a module, as results are remembered by its identity. */
type Test = (record: LintRecord) => boolean;

export function isAlias({ type }: LintRecord): boolean {
  return type === "CNAME";
}

/** One zone, with its records by name. Names are relative, `""` the apex. */
export class ZoneView {
  readonly zone: LintZone;
  readonly records: readonly LintRecord[];
  /** The records whose targets are names, but for null targets. */
  readonly pointers: readonly LintRecord[];
  readonly #tree: ZoneTree<LintRecord>;
  readonly #byType: ReadonlyMap<RecordType, readonly LintRecord[]>;
  readonly #sets: Map<RecordType, ReadonlyMap<string, readonly LintRecord[]>> = new Map();

  constructor(zone: LintZone) {
    this.zone = zone;
    this.records = zone.records ?? [];
    this.#tree = new ZoneTree("", this.records, ({ type }) => type);
    this.#byType = groupBy(this.records, ({ type }) => type);
    this.pointers = this.records.filter(({ type, target }) => isNamed(type) && target !== "");
  }

  /** Every name that has records, in the order of their first ones. */
  names(): Iterable<readonly [string, readonly LintRecord[]]> {
    return this.#tree.sets();
  }

  at(name: string): readonly LintRecord[] {
    return this.#tree.at(name);
  }

  ofType(type: RecordType): readonly LintRecord[] {
    return this.#byType.get(type) ?? [];
  }

  /** The records of one type by name, in the order of their first ones. */
  sets(type: RecordType): ReadonlyMap<string, readonly LintRecord[]> {
    const sets = this.#sets.get(type) ?? groupBy(this.ofType(type), ({ name }) => name);
    this.#sets.set(type, sets);
    return sets;
  }

  /** Whether there are records at the name or below it. */
  exists(name: string): boolean {
    return this.#tree.exists(name);
  }

  /** The highest delegated name at or above this one; null within the zone. */
  cutAbove(name: string): string | null {
    return this.#tree.cutAbove(name);
  }

  /** Whether undeclared records of one of the types may be at the name. */
  mayHold(name: string, types: readonly RecordType[]): boolean {
    const { records, policy, ignore, type } = this.zone;
    if (records === null || type === "slave" || policy === "additive" || this.isOthers(name)) return true;
    return mayIgnore(ignore).some((fits) => fits(name, this.zone.zone, types));
  }

  /** Whether another project manages the name, so that a wildcard of this one may not be what answers there. */
  isOthers(name: string): boolean {
    return this.zone.isOthers?.(name) ?? false;
  }

  /** The records that answer for a name within the zone: its own, or those of the wildcard that stands for it (RFC 4592, 3.3.1). */
  answer(name: string): Answer {
    const answering = this.#tree.answeringName(name);
    if (answering === null) return NO_ANSWER;
    return { records: this.#tree.at(answering), types: this.#tree.typesAt(answering) };
  }
}

export class ProjectZones {
  readonly views: readonly ZoneView[];
  /** For the few rules that look at how something is written; without sources these rules report nothing. */
  readonly sources: Sources | null;
  readonly #byZone: ReadonlyMap<string, ZoneView>;
  /** Those that another zone of the project lies in. */
  readonly #parents: ReadonlySet<ZoneView>;
  readonly #lookups: Map<string, Lookup> = new Map();
  readonly #firsts: Map<Test, WeakMap<readonly LintRecord[], LintRecord | null>> = new Map();
  readonly #memories: Map<unknown, unknown> = new Map();

  constructor(zones: readonly LintZone[], sources: Sources | null) {
    this.views = zones.map((zone) => new ZoneView(zone));
    this.#byZone = new Map(this.views.map((view) => [view.zone.zone, view]));
    this.#parents = new Set(this.views.flatMap(({ zone: { zone } }) => this.zoneOf(parentOf(zone)) ?? []));
    this.sources = sources;
  }

  /** The deepest declared zone that a name lies in. Absolute names are without their final dot. */
  zoneOf(absolute: string): ZoneView | null {
    for (let at = absolute; at !== ""; at = parentOf(at)) {
      const view = this.#byZone.get(at);
      if (view !== undefined) return view;
    }
    return null;
  }

  /** A declared zone at the name, or between the name and the zone: resolvers never ask this zone about such a name. */
  zoneBetween(view: ZoneView, name: string): ZoneView | null {
    if (!this.#parents.has(view)) return null;
    const found = this.zoneOf(absoluteName(name, view.zone.zone));
    return found === view ? null : found;
  }

  /**
   * The records at a name.
   * @param types the wanted types: undeclared records may be known not to be of these types
   */
  lookup(absolute: string, types: readonly RecordType[]): Lookup {
    const key = `${types.join()} ${absolute}`;
    const known = this.#lookups.get(key);
    if (known !== undefined) return known;
    const lookup = this.#lookUp(absolute, types);
    this.#lookups.set(key, lookup);
    return lookup;
  }

  #lookUp(absolute: string, types: readonly RecordType[]): Lookup {
    const view = this.zoneOf(absolute);
    const name = view === null ? null : relativeName(absolute, view.zone.zone);
    if (view === null || name === null || view.zone.records === null || view.cutAbove(name) !== null) return UNKNOWN;
    if (view.isOthers(name)) return UNKNOWN;
    const answer = view.answer(name);
    if (!types.some((type) => answer.types.has(type)) && view.mayHold(name, types)) return UNKNOWN;
    return { type: "known", view, ...answer };
  }

  /** The first of the records that passes the test, or null. The result is remembered: one wildcard may answer for many names. */
  first(records: readonly LintRecord[], test: Test): LintRecord | null {
    const found = this.#firsts.get(test) ?? new WeakMap<readonly LintRecord[], LintRecord | null>();
    this.#firsts.set(test, found);
    const known = found.get(records);
    if (known !== undefined) return known;
    const first = records.find(test) ?? null;
    found.set(records, first);
    return first;
  }

  /**
   * Whether a name has a record that passes the test, or may have one: an undeclared record, or one behind an alias.
   * @param types the types of the records that can pass the test
   */
  mayHave(absolute: string, types: readonly RecordType[], test: Test): boolean {
    const found = this.lookup(absolute, [...types, "CNAME"]);
    if (found.type === "unknown" || found.types.has("CNAME")) return true;
    if (this.first(found.records, test) !== null) return true;
    return found.view.mayHold(relativeName(absolute, found.view.zone.zone) ?? "", types);
  }

  /** A value that is computed once for all zones. The function that computes it is its key. */
  remember<Value>(key: (world: ProjectZones) => Value): Value {
    if (!this.#memories.has(key)) this.#memories.set(key, key(this));
    return this.#memories.get(key) as Value;
  }
}

/** A name in words, for details: backquoted, or the apex. */
export function shownName(name: string): string {
  return name === "" ? "the apex" : `\`${name}\``;
}

/** Whether records of some types at a name may fit a pattern under `ignore`, which stands for records that are not declared. */
type MayIgnore = (name: string, zone: string, types: readonly RecordType[]) => boolean;

const compiled: WeakMap<readonly IgnorePattern[], readonly MayIgnore[]> = new WeakMap();

/** Each list of patterns is compiled once, not for each name. */
function mayIgnore(patterns: readonly IgnorePattern[]): readonly MayIgnore[] {
  const known = compiled.get(patterns) ?? patterns.map(compile);
  compiled.set(patterns, known);
  return known;
}

function compile({ preset, name, type }: IgnorePattern): MayIgnore {
  const isAbsolute = name?.endsWith(".") === true;
  const fitsName = name === undefined ? null : compileNameGlob(name === "@" ? "" : name);
  const fitsType = type === undefined ? null : compileGlob(type.toUpperCase());
  return (asked, zone, types) =>
    (preset !== "acme" || (isAcmeName(asked) && types.includes("TXT"))) &&
    (fitsName === null || fitsName(isAbsolute ? absoluteName(asked, zone) : asked)) &&
    (fitsType === null || types.some(fitsType));
}

// Codes under `lint: { off: […] }` that no rule has.

export const UNKNOWN_LINT_CODE: RuleText = {
  code: "unknown-lint-code",
  severity: "warning",
  finds: "a code under `lint: { off: […] }` that no rule has",
  why: "It switches nothing off.",
  fix: "Use a code of the table in docs/reference/lint-codes.md, or remove it.",
};

/** At most this many unknown codes of one place are reported. */
const MAX_REPORTED_CODES = 20;

/**
 * Each code once for each place: a record, a domain, the project. If many domains share one list of codes, the first of them is reported.
 * @param projectSpans where the codes of the project stand
 */
export function unknownCodes(
  zones: readonly LintZone[],
  projectOff: readonly string[],
  known: readonly string[],
  projectSpans: ReadonlyMap<string, Span>,
): Diagnostic[] {
  const isKnown = new Set(known);
  if (projectOff.includes(UNKNOWN_LINT_CODE.code)) return [];
  const found: Diagnostic[] = [];
  const lookedAt = new Set<readonly string[]>();
  const look = (off: readonly string[], place: { readonly span?: Span; readonly address?: string }): void => {
    if (off.length === 0 || lookedAt.has(off) || off.includes(UNKNOWN_LINT_CODE.code)) return;
    lookedAt.add(off);
    const codes = [...new Set(off)].filter((code) => !isKnown.has(code)).slice(0, MAX_REPORTED_CODES);
    for (const code of codes) found.push({ ...unknown(code, known), ...place });
  };
  for (const code of new Set(projectOff)) {
    const span = projectSpans.get(code);
    look([code], span === undefined ? {} : { span });
  }
  for (const { off, span, address, records } of zones) {
    look(off, { span, address });
    if (off.includes(UNKNOWN_LINT_CODE.code)) continue;
    for (const { lintOff, span: at } of records ?? []) if (lintOff.length > 0) look(lintOff, { span: at, address });
  }
  return found;
}

function unknown(code: string, known: readonly string[]): Diagnostic {
  const { code: ours, severity, why, fix } = UNKNOWN_LINT_CODE;
  const meant = nearest(code, known);
  const corrections = meant === null ? {} : { corrections: [{ from: code, to: meant }] };
  return {
    code: ours,
    severity,
    summary: `unknown lint code \`${code}\``,
    detail: `No lint rule has the code \`${code}\`. ${why}`,
    fix: meant === null ? fix : `Did you mean \`${meant}\`?`,
    ...corrections,
  };
}

// The input of the rules: declared zones, as plain data.

/** The TTL that is served if both the record's and the domain's are 0 (OBSERVED: Zone file). */
const SERVICE_DEFAULT_TTL_SECONDS = 86_400;

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
  /** Patterns for records that may be there although they are not declared. */
  readonly ignore: readonly IgnorePattern[];
  /** Whether another project manages the records of a name: nothing is known of them. Absent: it manages none. */
  readonly isOthers?: (name: string) => boolean;
  /** Codes that are switched off for the zone. */
  readonly off: readonly string[];
}

export interface LintRecord extends DnsRecord {
  readonly span: Span;
  /** Codes that are switched off for the record. */
  readonly lintOff: readonly string[];
}

/** Seconds for which caches keep an answer. An account may state a TTL that no answer can have, and no date can be made of. */
export function effectiveTtlSeconds(recordTtl: number, zoneTtl: number | null): number {
  return Math.min(recordTtl || zoneTtl || SERVICE_DEFAULT_TTL_SECONDS, MAX_SECONDS);
}

// Diagnostics of reading a zone file, not of a rule over zones; `lint.off` switches their codes off, too.

export const ZONE_FILE_SOA: RuleText = {
  code: ZONE_FILE_SOA_CODE,
  severity: "warning",
  finds: "an SOA record in a `zone_file`",
  why: "It says how the service that served the zone until now kept it; the service that serves it from now on writes its own.",
  fix: "Set `soa_email`, `refresh_sec` and the like at the domain, and remove the record or switch this off.",
};

export const ZONE_FILE_APEX_NS: RuleText = {
  code: ZONE_FILE_APEX_NS_CODE,
  severity: "warning",
  finds: "NS records at the apex in a `zone_file`, unless `records` or `use` declare such records",
  why: "They name the name servers of the service that served the zone until now; taken over, they would send resolvers back to it.",
  fix: "Declare name servers under `records` if you manage them, and remove the lines or switch this off.",
};

export const ZONE_FILE_SIGNING: RuleText = {
  code: ZONE_FILE_SIGNING_CODE,
  severity: "warning",
  finds: "records that signing adds (RRSIG, NSEC, NSEC3, NSEC3PARAM, DNSKEY, CDS, CDNSKEY) in a `zone_file`",
  why: "The service that serves the zone from now on has not the keys. While the parent has a DS record, resolvers that validate refuse unsigned answers.",
  fix: "Name the file that is not signed, and remove the DS record at the parent before the delegation changes.",
};
