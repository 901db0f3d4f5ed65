/** Collects what an import reads, and turns it into manifest entries that are written as people write them. */

import { absoluteName, relativeName } from "../dns/name.ts";
import {
  type DnsRecord,
  isNamed,
  isRecordType,
  type RecordType,
  SIGNING_TYPES,
  type SkippedRecord,
  type SourceRecord,
} from "../dns/record.ts";
import type { Declared } from "../model/desired.ts";
import { type Diagnostic, Sources, type Span } from "../model/diagnostic.ts";
import type { KindFacts } from "../model/kind.ts";
import type { Address, Json, JsonObject } from "../model/resource.ts";
import { compareText } from "../model/text.ts";
import type { LoadContext, Unit } from "../model/unit.ts";

function recordEntry({ type, name, target, ttl_sec, ...extra }: DnsRecord): JsonObject {
  return {
    type,
    ...(name === "" ? {} : { name }),
    ...(extra.tag === undefined ? {} : { tag: extra.tag }),
    target: isNamed(type) ? `${target}.` : target,
    ...(extra.priority === undefined ? {} : { priority: extra.priority }),
    ...(extra.weight === undefined ? {} : { weight: extra.weight }),
    ...(extra.port === undefined ? {} : { port: extra.port }),
    ...(ttl_sec === 0 ? {} : { ttl_sec }),
  };
}

/** `mx1.example.com.` in its own zone is `mx1`, the zone `@`; a name with more dots stays absolute. */
function withReadableTarget(entry: JsonObject, zone: string): JsonObject {
  const { type, target } = entry;
  if (!isRecordType(String(type)) || !isNamed(type as RecordType)) return entry;
  if (typeof target !== "string" || !target.endsWith(".")) return entry;
  const relative = relativeName(target.slice(0, -1), zone);
  if (relative === null || relative.includes(".")) return entry;
  return { ...entry, target: relative === "" ? "@" : relative };
}

// The result of an import from files so far, file by file. A problem that many zones share is reported once.

interface ForeignZone {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  /** The file that the zone was read from, for messages. */
  readonly file: string;
  /** null: its source has no SOA. */
  readonly named: NamedEmail | null;
  readonly records: readonly SourceRecord[];
  readonly skipped: readonly SkippedRecord[];
  /** Records that take their TTL from the zone; absent: none does. */
  readonly inheriting?: ReadonlySet<SourceRecord>;
  /**
   * Seconds: the zone's default TTL, if its negative TTL (how long caches remember that a name does not exist) is the same; otherwise null.
   */
  readonly ttl?: number | null;
  /** What the tool of the source makes of a TTL before the service hears of it, in seconds; absent: nothing. */
  readonly sentTtl?: (seconds: number) => number;
  /** More keys of the entry, for example `ignore`. */
  readonly more?: JsonObject;
  /** Whether the file has more zones: records that are skipped are then named in full. */
  readonly isOneOfMany?: boolean;
}

export interface CollectOptions {
  readonly unit: ValidatingUnit;
  readonly allowedSeconds: readonly number[];
  /** The SOA address for sources that name none; null: none was given. */
  readonly soaEmail: string | null;
}

/** What any project may have: records, and two more for each domain. */
const MAX_RECORDS = 300_000;
const RECORDS_PER_DOMAIN = 2;
/** Entries of files that may be read for them, those that are left out or wrong included: a line of a zone file may generate thousands. */
const MAX_ENTRIES = 1_000_000;
/** What any `ignore` may have. */
export const MAX_IGNORE_PATTERNS = 1_000;
const MAX_IGNORE_STARS = 10_000;
/** Records times the patterns under `ignore` that they are compared with. */
const MAX_COMPARISONS = 30_000_000;

/** At most this many TTLs are named in a summary; the rest is counted. */
const MAX_NAMED_TTLS = 8;

export class Collected {
  readonly sources: Sources = new Sources();
  readonly #options: CollectOptions;
  readonly #domains: ImportedDomain[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  readonly #skipped: SkippedRecord[] = [];
  readonly #elsewhere: LeftElsewhere[] = [];
  readonly #remarks: Remark[] = [];
  readonly #filledIn: FilledIn[] = [];
  readonly #signed: string[] = [];
  readonly #rounded: RoundedTtls = new RoundedTtls();

  constructor(options: CollectOptions) {
    this.#options = options;
  }

  #records = 0;
  #entries = 0;
  #comparisons = 0;
  #isFull = false;

  /** There is more than any project may have, which is reported: what is not read yet need not be. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Counts entries of a file, whatever becomes of them. */
  count(entries: number, file: string): void {
    this.#entries += entries;
    if (this.#entries > MAX_ENTRIES) this.#fill(file);
  }

  get hasDiagnostics(): boolean {
    return this.#diagnostics.length > 0;
  }

  report(diagnostic: Diagnostic): void {
    this.#diagnostics.push(diagnostic);
  }

  remark(remark: Remark): void {
    this.#remarks.push(remark);
  }

  leave(left: LeftElsewhere): void {
    this.#elsewhere.push(left);
  }

  /** Adds the domain that declares the zone, and records all that cannot be imported. */
  take(foreign: ForeignZone): void {
    const { zone, file, named, records, skipped, inheriting = new Set(), ttl = null } = foreign;
    const { sentTtl = (seconds: number) => seconds, more = {}, isOneOfMany = false } = foreign;
    if (!this.#hasRoomFor(foreign)) return;
    for (const one of skipped) this.#skipped.push(one);
    if (skipped.some((one) => notMissed(one) === "signing")) this.#signed.push(zone);
    const { unit, allowedSeconds, soaEmail } = this.#options;
    const email = chooseEmail(zone, file, named, soaEmail, unit);
    if (!email.ok) {
      this.report(email.diagnostic);
      return;
    }
    if (email.filledIn !== null) this.#filledIn.push(email.filledIn);
    // The service has one time for both TTLs. A TTL that it would round is left to the records, where rounding is reported.
    const own = ttl !== null && ttl !== SERVICE_DEFAULT_TTL_SECONDS && allowedSeconds.includes(ttl) ? ttl : null;
    const stated = own === null ? {} : { ttl_sec: own };
    const head = { domain: zone, type: "master", soa_email: email.email, ...stated, ...more };
    const zoneTtl = own ?? SERVICE_DEFAULT_TTL_SECONDS;
    const isDefault = (record: SourceRecord) => record.ttl_sec === zoneTtl && inheriting.has(record);
    // To the service 0 means the zone's default. In a source it means "do not cache", to which 1 comes nearest.
    const kept = (record: SourceRecord) => (isDefault(record) ? 0 : Math.max(1, sentTtl(record.ttl_sec)));
    const entries = records.map((record) => recordEntry({ ...record, ttl_sec: kept(record) }));
    const ttls = records.map((record) => (isDefault(record) ? 0 : record.ttl_sec));
    const validated = validateImported(head, entries, unit, allowedSeconds, ttls);
    for (const { span: _, ...problem } of validated.problems) {
      this.report({ ...problem, summary: `${file}: ${problem.summary}` });
    }
    for (const [index, problem] of validated.refused) {
      const record = records[index] as SourceRecord;
      this.#refuse(record, isOneOfMany ? `${absoluteName(record.name, zone)}.` : record.name, problem);
    }
    this.#rounded.add(zone, validated.rounded);
    if (validated.domain !== null) this.#domains.push(validated.domain);
  }

  /** @returns false if there is none, which is reported: nothing may take hours to be refused */
  #hasRoomFor({ zone, file, records, skipped, more }: ForeignZone): boolean {
    const patterns = more?.["ignore"] ?? [];
    const ignore = Array.isArray(patterns) ? (patterns as readonly Json[]) : [];
    const stars = JSON.stringify(ignore).split("*").length - 1;
    if (ignore.length > MAX_IGNORE_PATTERNS || stars > MAX_IGNORE_STARS) {
      this.report(tooManyPatterns(zone));
      return false;
    }
    this.count(records.length + skipped.length, file);
    this.#records += records.length + RECORDS_PER_DOMAIN;
    this.#comparisons += records.length * ignore.length;
    if (this.#records > MAX_RECORDS || this.#comparisons > MAX_COMPARISONS) this.#fill(file);
    return !this.#isFull;
  }

  #fill(file: string): void {
    if (!this.#isFull) this.report(tooMany(file));
    this.#isFull = true;
  }

  result(): Import {
    const domains = this.#domains.sort((a, b) => compareText(a.name, b.name));
    const diagnostics = [
      ...this.#diagnostics,
      ...filledInWarnings(this.#filledIn, this.sources),
      ...this.#rounded.diagnostics(),
      ...(this.#signed.length === 0 ? [] : [signed(this.#signed)]),
    ];
    const imported = { owner: null, domains, others: {} };
    const [skipped, elsewhere, remarks, sources] = [this.#skipped, this.#elsewhere, this.#remarks, this.sources];
    return { taken: imported, diagnostics, skipped, elsewhere, remarks, sources };
  }

  #refuse(record: SourceRecord, name: string, problem: Diagnostic): void {
    if (problem.code === "duplicate-record") {
      this.report(duplicate(record));
      return;
    }
    const { type, span } = record;
    const detail = problem.detail === "" ? `${problem.summary}.` : problem.detail;
    this.#skipped.push({ reason: "not-holdable", type, name, detail, span });
  }
}

function tooMany(file: string): Diagnostic {
  return {
    code: "too-many-records",
    severity: "error",
    summary: `with ${file} there is more than one project may have`,
    detail: `A project may have ${MAX_RECORDS.toLocaleString("en")} records, each domain counting as ${RECORDS_PER_DOMAIN} more, and not too many patterns under \`ignore\` beside many records. What comes after this file is not read.`,
    fix: "Import in parts, into several projects.",
  };
}

function tooManyPatterns(zone: string): Diagnostic {
  const [most, few] = [MAX_IGNORE_PATTERNS.toLocaleString("en"), MAX_IGNORE_STARS.toLocaleString("en")];
  return {
    code: "too-many-patterns",
    severity: "error",
    summary: `${zone} has too many patterns of records to ignore`,
    detail: `An \`ignore\` may have ${most} patterns with ${few} stars, and this one has more.`,
    fix: "Join patterns with stars, and import again.",
  };
}

/** The TTL that the service serves if neither a record nor its domain states one (OBSERVED: Zone file). */
const SERVICE_DEFAULT_TTL_SECONDS = 86_400;

function duplicate({ type, span }: SourceRecord): Diagnostic {
  return {
    code: "duplicate-record",
    severity: "warning",
    summary: `the ${type} record is there twice`,
    detail: "A TTL does not tell two records apart, so the first one is taken.",
    fix: "Nothing, unless the other TTL was meant.",
    span,
  };
}

/** The TTLs of all zones that the service does not keep, for one warning. */
export class RoundedTtls {
  /** `600 → 300`, and how often. */
  readonly #changes: Map<string, number> = new Map();
  readonly #zones: string[] = [];

  add(zone: string, changes: ValidatedDomain["rounded"]): void {
    if (changes.size > 0) this.#zones.push(zone);
    for (const [change, count] of changes) this.#changes.set(change, (this.#changes.get(change) ?? 0) + count);
  }

  /** None, or the warning. */
  diagnostics(): Diagnostic[] {
    const total = [...this.#changes.values()].reduce((sum, count) => sum + count, 0);
    if (total === 0) return [];
    const named = [...this.#changes].sort(([, a], [, b]) => b - a).slice(0, MAX_NAMED_TTLS);
    const list = `${named.map(([change, count]) => `${change} s (${count})`).join(", ")}${this.#changes.size > MAX_NAMED_TTLS ? ", …" : ""}`;
    return [
      {
        code: "rounded-seconds",
        severity: "warning",
        summary: `${total === 1 ? "a TTL is" : `${total} TTLs are`} rounded`,
        detail: `The service keeps certain TTLs only: ${list}. In ${someOf(this.#zones)}.`,
        fix: "Change them in the manifest if another value fits better.",
      },
    ];
  }
}

function signed(zones: readonly string[]): Diagnostic {
  const isOne = zones.length === 1;
  return {
    code: "signed-zone",
    severity: "warning",
    summary: isOne ? `${zones[0]} was signed until now` : `${zones.length} domains were signed until now`,
    detail: `${isOne ? "" : `${someOf(zones)}. `}The service has no DNSSEC records. While the parent zone has a DS record, resolvers that validate refuse answers without signatures (RFC 4035, 5).`,
    fix: "Have the DS record removed at the registrar, and wait for its TTL, before you change the delegation.",
  };
}

// The address in the SOA of an imported zone: from its source, from --soa-email, or a guess.

/** The address that an SOA record names. */
export interface NamedEmail {
  /** `""` if its mailbox cannot be an address. */
  readonly email: string;
  readonly span: Span;
}

/** An SOA address that does not come from the zone's source. */
interface FilledIn {
  readonly zone: string;
  readonly email: string;
  /** The source's text that is no address; null: the source names none. */
  readonly named: NamedEmail | null;
  readonly isGuess: boolean;
}

type ChosenEmail =
  | { readonly ok: true; readonly email: string; readonly filledIn: FilledIn | null }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** The unit itself validates, so that an address that passes here passes when the manifest is loaded. */
export function isSoaEmail(email: string, unit: ValidatingUnit): boolean {
  const head = { domain: "example.com", type: "master", soa_email: email };
  return email !== "" && validateImported(head, null, unit, []).problems.length === 0;
}

/**
 * @param file where the zone was read
 * @param asked an address, or null
 */
function chooseEmail(
  zone: string,
  file: string,
  named: NamedEmail | null,
  asked: string | null,
  unit: ValidatingUnit,
): ChosenEmail {
  if (named !== null && isSoaEmail(named.email, unit)) return { ok: true, email: named.email, filledIn: null };
  const email = asked ?? `hostmaster@${zone}`;
  if (!isSoaEmail(email, unit)) return { ok: false, diagnostic: noEmail(zone, file, named, email) };
  const isKnown = asked !== null && named === null;
  return { ok: true, email, filledIn: isKnown ? null : { zone, email, named, isGuess: asked === null } };
}

function noEmail(zone: string, file: string, named: NamedEmail | null, guess: string): Diagnostic {
  const why = named === null ? `${file} does not say who is responsible for the zone` : `The SOA names ${shown(named)}`;
  return {
    code: "bad-email",
    severity: "error",
    summary: `${zone} needs an address for its SOA`,
    detail: `${why}, and the guess \`${guess}\` is no e-mail address.`,
    fix: "Give one with --soa-email ADDRESS.",
    ...(named === null ? {} : { span: named.span }),
  };
}

function shown({ email }: NamedEmail): string {
  return email === "" ? "no e-mail address" : `\`${email}\`, which is no e-mail address`;
}

/** One warning for all addresses that were filled in for the same reason. */
function filledInWarnings(all: readonly FilledIn[], sources: Sources): Diagnostic[] {
  const silent = all.filter(({ named }) => named === null);
  const guessed = all.filter(({ named, isGuess }) => named !== null && isGuess);
  const replaced = all.filter(({ named, isGuess }) => named !== null && !isGuess);
  return [
    ...warn("guessed-email", silent, silent.length === 1 ? "Its source names nobody." : "Their sources name nobody."),
    ...warn("guessed-email", guessed, soasOf(guessed, sources)),
    ...warn("replaced-email", replaced, soasOf(replaced, sources)),
  ];
}

function warn(code: string, all: readonly FilledIn[], why: string): Diagnostic[] {
  const [first] = all;
  if (first === undefined) return [];
  const { isGuess } = first;
  const which = isGuess ? "a guessed SOA address" : "the address of --soa-email";
  const summary =
    all.length === 1 ? `${first.zone} gets the SOA address ${first.email}` : `${all.length} domains get ${which}`;
  const list = someOf(all.map(({ zone, email }) => (isGuess ? email : zone)));
  const change = "change `soa_email` in the manifest";
  const fix = isGuess ? `Give --soa-email ADDRESS, or ${change}.` : `If that is not meant, ${change}.`;
  return [{ code, severity: "warning", summary, detail: all.length === 1 ? why : `${list}. ${why}`, fix }];
}

function soasOf(all: readonly FilledIn[], sources: Sources): string {
  const places = all.flatMap(({ named }) => {
    if (named === null) return [];
    const { file, start } = named.span;
    return [`${named.email === "" ? "" : `\`${named.email}\` in `}${file}:${sources.position(file, start).line}`];
  });
  return `${all.length === 1 ? "Its SOA names" : "Their SOA records name"} no e-mail address: ${someOf(places)}.`;
}

// A domain as its source has it → the manifest entry, without the records that the service would refuse.

/** The part of the zone unit that is needed here: it validates an entry and writes it. */
interface ValidatingUnit {
  readonly spec: Pick<Unit["spec"], "load" | "write">;
}

interface ValidatedDomain {
  /** null: the domain itself cannot be declared. */
  readonly domain: ImportedDomain | null;
  /** What is wrong with the domain itself. */
  readonly problems: readonly Diagnostic[];
  /** Records that cannot be declared: index among the given records → the first error of the record. */
  readonly refused: ReadonlyMap<number, Diagnostic>;
  /** TTLs that the service does not keep: as given → as written, and how often. */
  readonly rounded: ReadonlyMap<string, number>;
}

/** Once a record is refused, another that clashed with it may pass: validation is repeated at most so often. */
const MAX_ROUNDS = 8;

/**
 * The unit itself validates, so that a domain that passes here passes when the manifest is loaded.
 * @param records of one target each
 * @param ttls the TTL of each record in its source, where it is not that of the entry; one that comes out differently counts as rounded
 */
export function validateImported(
  head: JsonObject,
  records: readonly JsonObject[] | null,
  unit: ValidatingUnit,
  allowedSeconds: readonly number[],
  ttls: readonly number[] | null = null,
): ValidatedDomain {
  const refused = new Map<number, Diagnostic>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const kept = [...(records ?? []).entries()].filter(([index]) => !refused.has(index));
    const tried = validateOnce(head, records === null ? null : kept, unit, allowedSeconds);
    for (const [index, diagnostic] of tried.refused) refused.set(index, diagnostic);
    if (tried.problems.length > 0 || tried.declared === null) {
      return { domain: null, problems: tried.problems, refused, rounded: new Map() };
    }
    if (tried.refused.size > 0) continue;
    const given = kept.map(([index, entry]) => ttls?.[index] ?? entry["ttl_sec"] ?? 0);
    return { ...written(tried.declared, records === null ? null : given, unit), problems: [], refused };
  }
  return { domain: null, problems: [...refused.values()].slice(0, 1), refused, rounded: new Map() };
}

interface TriedEntries {
  readonly declared: Declared | null;
  readonly problems: readonly Diagnostic[];
  readonly refused: ReadonlyMap<number, Diagnostic>;
}

function validateOnce(
  head: JsonObject,
  records: readonly (readonly [index: number, entry: JsonObject])[] | null,
  unit: ValidatingUnit,
  allowedSeconds: readonly number[],
): TriedEntries {
  const places = new Map<object, number>((records ?? []).map(([index, entry]) => [entry, index]));
  const problems: Diagnostic[] = [];
  const refused = new Map<number, Diagnostic>();
  const context: LoadContext = {
    owner: null,
    allowedSeconds,
    // The index of a record serves as its span, so that an error leads back to the record.
    span: (object) => ({ file: places.has(object) ? "record" : "", start: places.get(object) ?? 0, end: 0 }),
    report: (diagnostic) => {
      if (diagnostic.severity !== "error") return;
      const index = diagnostic.span?.file === "record" ? diagnostic.span.start : null;
      if (index === null) problems.push(diagnostic);
      else if (!refused.has(index)) refused.set(index, diagnostic);
    },
  };
  const entry = records === null ? head : { ...head, records: records.map(([, record]) => record) };
  return { declared: unit.spec.load(entry, context), problems, refused };
}

function written(
  declared: Declared,
  given: readonly Json[] | null,
  unit: ValidatingUnit,
): Pick<ValidatedDomain, "domain" | "rounded"> {
  const { head, body } = unit.spec.write(declared.spec);
  const { records: _, ...rest } = body;
  const entries = (body["records"] as readonly JsonObject[] | undefined) ?? [];
  const rounded = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const [before, after] = [given?.[index] ?? 0, entry["ttl_sec"] ?? 0];
    const change = `${String(before)} → ${String(after)}`;
    if (before !== after) rounded.set(change, (rounded.get(change) ?? 0) + 1);
  }
  const records = given === null ? null : entries.map((entry) => withReadableTarget(entry, declared.key));
  const { status, ...stated } = rest as Readonly<Record<string, Json>>;
  const entry = { ...head, ...stated, ...(status === undefined || status === "active" ? {} : { status }) };
  return { domain: { name: declared.key, entry, records }, rounded };
}

// A list within a sentence: the first names, and how many more there are.

/** At most this many are named. */
const MAX_NAMED = 3;

/** `a, b, c and 9 more` */
export function someOf(names: readonly string[], most: number = MAX_NAMED): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

// The result of an import, whatever its source: entries of a manifest, not yet laid out.

/** One domain. Texts are plain: references are escaped when it is written. */
export interface ImportedDomain {
  /** Lower-case ASCII without a final dot. */
  readonly name: string;
  /** Its entry without `records`. */
  readonly entry: JsonObject;
  /** One entry for each record, with targets as people write them; null: not managed. */
  readonly records: readonly JsonObject[] | null;
}

export interface ImportedDomains {
  readonly owner: string | null;
  /** In the order of their names. */
  readonly domains: readonly ImportedDomain[];
  /** Entries of the other sections that have any: `vpcs`, `images`. */
  readonly others: Readonly<Record<string, readonly JsonObject[]>>;
}

/** How many objects of a kind were taken. */
export interface ImportedCount {
  /** The section of their entries (`domains`), or their key within an entry (`records`). */
  readonly list: string;
  readonly count: number;
  readonly words: KindFacts["words"];
}

/** In the order of the units. Of the objects within another, only records are counted. */
export function countImported({ domains, others }: ImportedDomains, units: readonly Unit[]): ImportedCount[] {
  return units.flatMap(({ kinds: [root, within], spec }): ImportedCount[] => {
    const list = spec.section;
    if (list !== "domains" || within === undefined) {
      return [{ list, count: others[list]?.length ?? 0, words: root.words }];
    }
    const records = domains.reduce((sum, domain) => sum + (domain.records?.length ?? 0), 0);
    return [
      { list, count: domains.length, words: root.words },
      { list: "records", count: records, words: within.words },
    ];
  });
}

export interface Import {
  readonly taken: ImportedDomains;
  /** If there are errors, nothing may be written. */
  readonly diagnostics: readonly Diagnostic[];
  /** Records that were read and skipped, in the order of their files. */
  readonly skipped: readonly SkippedRecord[];
  /** In the order of their files. */
  readonly elsewhere: readonly LeftElsewhere[];
  readonly remarks: readonly Remark[];
  /** The texts that the spans above refer to. */
  readonly sources: Sources;
  /** What was not read, as the project that it would be added to declares it. */
  readonly already?: readonly Address[];
}

/** An object of another tool that stays with that tool. */
export interface LeftElsewhere {
  /** As that tool calls it, for example `aws_instance`. */
  readonly type: string;
  /** As that tool writes it, for example `module.net.aws_instance.web[0]`. */
  readonly address: string;
  /** Why, in words without a full stop that fit one object and several. */
  readonly detail: string;
  readonly span: Span;
}

/** Something other than a record that was not imported. Equal remarks of a file are reported together. */
export interface Remark {
  readonly file: string;
  /** As its source calls it; empty: the file itself. */
  readonly what: string;
  /** A clause that goes on after `what` and its lines. */
  readonly detail: string;
  /** null: no line of the file. */
  readonly span: Span | null;
}

/**
 * Why nobody misses a skipped record; null: somebody would.
 * - `service`: SOA and apex NS, which belong to the service that served the zone until now.
 * - `signing`: made by that service's signer, and worth nothing without its keys.
 */
export function notMissed({ reason, type }: SkippedRecord): "service" | "signing" | null {
  switch (reason) {
    case "soa":
    case "apex-ns":
      return "service";
    case "unsupported-type":
      return SIGNING_TYPES.has(type) ? "signing" : null;
    case "not-holdable":
      return null;
  }
}
