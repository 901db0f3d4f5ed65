/**
 * Ignore patterns of a domain: which records Tenon does not look at. With the preset `external-dns` they depend on the zone's own records:
 * external-dns marks each name that it manages by a TXT record, and the whole of these is its TXT registry.
 */

import { canonicalIpv6 } from "../../dns/ip.ts";
import { absoluteName } from "../../dns/name.ts";
import { isAcmeName, isRecordType, isText } from "../../dns/record.ts";
import { compileNameGlob, isUnfitLabel } from "../../dns/unicode.ts";
import type { IgnorePattern, IgnorePreset } from "../../model/desired.ts";
import { compileGlob, literalOf } from "../../model/text.ts";
import type { ZoneContext } from "./spec.ts";

export interface IgnorableRecord {
  /** Relative, lower-case ASCII, `""` the apex. */
  readonly name: string;
  readonly type: string;
  /** Canonical, as in RecordSpec. */
  readonly target: string;
}

/** The patterns of a zone, with what is known from its records. */
export interface Ignoring<Entry> {
  ignores(record: IgnorableRecord): boolean;
  /** The live registry records that mark the name of `record` as managed by external-dns; none if a pattern ignores it without them. */
  claimants(record: IgnorableRecord): Claimants<Entry>;
}

/** Registry records that claim one record. Thousands may claim each of thousands of records, so only the first of them are listed. */
export interface Claimants<Entry> {
  /** In the order in which they were given, `MAX_LISTED` at most. */
  readonly first: readonly Entry[];
  /** Of all. */
  readonly count: number;
}

/** Records that are listed at one that they keep from being made; external-dns has one or two for each. */
export const MAX_LISTED = 3;

/** A record's name → the registry records that claim it, as lists that are not empty. Names may share a list. */
type RegistryLookup<Entry> = (name: string) => readonly (readonly Entry[])[];

/** A record with its names and target in lower case, written once for all patterns. */
interface Folded extends IgnorableRecord {
  readonly foldedName: string;
  /** With the zone, without a final dot. */
  readonly absolute: string;
  readonly foldedTarget: string;
}

/** Whether a record fits one pattern. */
type Rule = (record: Folded, registry: RegistryLookup<unknown>) => boolean;

/**
 * Goes through the live records once. Goes through the registry records once more for each pair of `txt_prefix` and `txt_suffix` that the
 * patterns have.
 * @param zone lower-case ASCII without a final dot
 * @param live all records of the zone, in the order in which claimants are listed
 */
export function ignoring<Entry>(
  patterns: readonly IgnorePattern[],
  zone: string,
  live: readonly Entry[],
  recordOf: (entry: Entry) => IgnorableRecord,
): Ignoring<Entry> {
  const hasRegistry = patterns.some(({ preset }) => preset === "external-dns");
  const registryRecords = hasRegistry ? new RegistryRecords(live, recordOf) : null;
  const rules = rulesOf(patterns).map((matches, index) => ({
    matches,
    registry: registryRecords?.of(patterns[index] ?? {}) ?? NO_REGISTRY,
  }));
  return {
    ignores: (record) => {
      const folded = fold(record, zone);
      return rules.some(({ matches, registry }) => matches(folded, registry));
    },
    claimants: (record) => {
      if (registryRecords === null) return NO_CLAIMANTS;
      const folded = fold(record, zone);
      const lists = new Set<readonly Entry[]>();
      for (const { matches, registry } of rules) {
        if (matches(folded, registry)) for (const list of registry(folded.foldedName)) lists.add(list);
      }
      return registryRecords.join(lists);
    },
  };
}

/** Characters of live names and targets, times the patterns that they are compared with, of one plan or undo. No manifest says what is live. */
export const MAX_LIVE_COMPARISONS = 2_000_000_000;
/** Characters that each live record counts as, beside its own: to call a pattern takes as long. */
export const LIVE_RECORD_CHARACTERS = 100;

/** What `ignoring` costs at worst. @param zone as in `ignoring` */
export function countComparisons(
  patterns: readonly IgnorePattern[],
  zone: string,
  records: readonly Pick<IgnorableRecord, "name" | "target">[],
): number {
  const characters = records.reduce((sum, { name, target }) => sum + name.length + target.length, 0);
  // An absolute pattern is compared with the name and the zone.
  const absolute = patterns.filter(({ name }) => name?.endsWith(".") === true).length;
  return (
    patterns.length * (characters + records.length * LIVE_RECORD_CHARACTERS) + absolute * records.length * zone.length
  );
}

const NO_CLAIMANTS: Claimants<never> = { first: [], count: 0 };

/** Whether a pattern ignores the record, judged without the live records: names claimed in the external-dns registry are not seen. */
export function isIgnored(record: IgnorableRecord, patterns: readonly IgnorePattern[], zone: string): boolean {
  if (patterns.length === 0) return false;
  const folded = fold(record, zone);
  return rulesOf(patterns).some((matches) => matches(folded, NO_REGISTRY));
}

/** Reports patterns that fit no name. One without a star may stand for a name that the service holds and DNS has not: `import` writes such. */
export function checkIgnore(patterns: readonly IgnorePattern[], context: ZoneContext): void {
  for (const pattern of patterns) {
    const { name = "" } = pattern;
    if (literalOf(name) !== null || !name.split(".").some(isUnfitLabel)) continue;
    context.error({
      code: "bad-name",
      summary: "bad name",
      detail: `\`${name}\` fits no name: beside letters outside ASCII a label has only letters, digits, hyphens, underscores and stars.`,
      fix: "Correct the name.",
      span: context.span(pattern, "name"),
    });
  }
}

const NO_REGISTRY: RegistryLookup<never> = () => [];

/** The registry records of external-dns in one zone. Each installation of it has its own prefix and suffix. */
class RegistryRecords<Entry> {
  /** `ownName` is that of the TXT record, not the name that it marks. */
  readonly #texts: readonly { readonly ownName: string; readonly entry: Entry }[];
  readonly #position: ReadonlyMap<Entry, number>;
  /** Indexed by the names that they mark if no prefix and no suffix is set. Built once, as hundreds of patterns may use it. */
  readonly #bare: ReadonlyMap<string, readonly Entry[]>;
  readonly #known: Map<string, RegistryLookup<Entry>> = new Map();

  constructor(live: readonly Entry[], recordOf: (entry: Entry) => IgnorableRecord) {
    this.#texts = live.flatMap((entry) => {
      const { type, name, target } = recordOf(entry);
      return type === "TXT" && isRegistryText(target) ? [{ ownName: name.toLowerCase(), entry }] : [];
    });
    this.#position = new Map(this.#texts.map(({ entry }, index) => [entry, index]));
    this.#bare = this.#namesWith(NO_AFFIXES, null);
  }

  of({ preset, txt_prefix = "", txt_suffix = "" }: IgnorePattern): RegistryLookup<Entry> {
    if (preset !== "external-dns") return NO_REGISTRY;
    const key = JSON.stringify([txt_prefix, txt_suffix]);
    const known = this.#known.get(key) ?? this.#read(affixesOf(txt_prefix, txt_suffix));
    this.#known.set(key, known);
    return known;
  }

  #read(affixes: Affixes): RegistryLookup<Entry> {
    const affixed = this.#namesWith(affixes, NO_AFFIXES);
    return (name) => [this.#bare.get(name) ?? [], affixed.get(name) ?? []].filter(({ length }) => length > 0);
  }

  readonly #joined: Map<string, Claimants<Entry>> = new Map();
  readonly #numbers: Map<readonly Entry[], number> = new Map();

  /** All entries of the lists, each once. Records of one name mostly have the same lists: they are joined once. */
  join(lists: ReadonlySet<readonly Entry[]>): Claimants<Entry> {
    const key = [...lists].map((list) => this.#numberOf(list)).join(" ");
    const known = this.#joined.get(key) ?? this.#join([...lists]);
    this.#joined.set(key, known);
    return known;
  }

  #numberOf(list: readonly Entry[]): number {
    const known = this.#numbers.get(list) ?? this.#numbers.size;
    this.#numbers.set(list, known);
    return known;
  }

  #join(lists: readonly (readonly Entry[])[]): Claimants<Entry> {
    const place = (entry: Entry): number => this.#position.get(entry) ?? 0;
    const starts = [...new Set(lists.flatMap((list) => list.slice(0, MAX_LISTED)))];
    const first = starts.sort((a, b) => place(a) - place(b)).slice(0, MAX_LISTED);
    const [only, ...others] = lists;
    const count = others.length === 0 ? (only?.length ?? 0) : new Set(lists.flat()).size;
    return { first, count };
  }

  /** @param except a name that a record marks with these affixes, too, is left out */
  #namesWith(affixes: Affixes, except: Affixes | null): Map<string, Entry[]> {
    const entries = new Map<string, Entry[]>();
    for (const { ownName, entry } of this.#texts) {
      const names = registeredNames(ownName, affixes);
      const others = names.size === 0 || except === null ? null : registeredNames(ownName, except);
      for (const name of names) {
        if (others?.has(name) === true) continue;
        const known = entries.get(name);
        if (known === undefined) entries.set(name, [entry]);
        else known.push(entry);
      }
    }
    return entries;
  }
}

const compiled: WeakMap<readonly IgnorePattern[], readonly Rule[]> = new WeakMap();

/** Each list of patterns is compiled once, not for each record. */
function rulesOf(patterns: readonly IgnorePattern[]): readonly Rule[] {
  const rules = compiled.get(patterns) ?? patterns.map(compile);
  compiled.set(patterns, rules);
  return rules;
}

function fold({ name, type, target }: IgnorableRecord, zone: string): Folded {
  const foldedName = name.toLowerCase();
  return {
    name,
    type,
    target,
    foldedName,
    absolute: absoluteName(foldedName, zone),
    // The root, as manifests write it. Texts are compared as they are.
    foldedTarget: isTextType(type) ? target : target === "" ? "." : target.toLowerCase(),
  };
}

/** Types and names compare without regard to case, so do targets other than text. A name with a final dot is absolute. */
function compile({ preset, name, type, target }: IgnorePattern): Rule {
  const isAbsolute = name !== undefined && name.length > 1 && name.endsWith(".");
  const fitsName = name === undefined ? fitsAll : compileNameGlob(name === "@" ? "" : name);
  const fitsType = type === undefined ? fitsAll : compileGlob(type.toUpperCase());
  const fitsText = target === undefined ? fitsAll : compileGlob(target);
  const fitsTarget = target === undefined ? fitsAll : compileNameGlob(canonicalIpv6(target) ?? target);
  // What the service holds may be no name at all, and is then the same only as it is written: `import` writes such patterns.
  const [wholeName, wholeTarget] = [name, target].map((glob) => (glob === undefined ? null : literalOf(glob)));
  const undotted = wholeTarget?.replace(/\.$/, "");
  return (record, registry) => {
    if (preset !== undefined && !isOfPreset(record, preset, registry)) return false;
    if (!fitsType(record.type)) return false;
    if (record.name !== wholeName && !fitsName(isAbsolute ? record.absolute : record.foldedName)) return false;
    if (record.target === wholeTarget) return true;
    if (isTextType(record.type)) return fitsText(record.target);
    return record.target === undotted || fitsTarget(record.foldedTarget);
  };
}

function isTextType(type: string): boolean {
  return isRecordType(type) && isText(type);
}

function fitsAll(): boolean {
  return true;
}

function isOfPreset(record: Folded, preset: IgnorePreset, registry: RegistryLookup<unknown>): boolean {
  switch (preset) {
    case "acme":
      // A CNAME there delegates the challenge permanently, and is declared like any other record.
      return record.type === "TXT" && isAcmeName(record.name);
    case "external-dns":
      return (record.type === "TXT" && isRegistryText(record.target)) || registry(record.foldedName).length > 0;
  }
}

// The TXT registry of external-dns: which names its records stand for (its documentation, "The TXT registry").

/** What can stand in a registry name for the type of the record it is for. */
const TYPES = ["a", "aaaa", "cname", "mx", "naptr", "ns", "ptr", "srv", "txt"] as const;

const TYPE_TEMPLATE = "%{record_type}";
const TYPE_BEFORE_NAME: RegExp = new RegExp(`^(?:${TYPES.join("|")})-`);

/** It writes the text in quotes, which some services keep. */
function isRegistryText(text: string): boolean {
  return /^"?heritage=external-dns([,"]|$)/.test(text);
}

/** What `--txt-prefix` and `--txt-suffix` put around names. */
type Affixes = readonly (readonly [prefix: string, suffix: string])[];

/** Records that were written before a prefix or suffix was configured have neither, so names without them are always looked up, too. */
const NO_AFFIXES: Affixes = [["", ""]];

/**
 * The pattern with each type in place of the template, and without any.
 * @param prefix --txt-prefix, where `%{record_type}` stands for the type; may end in a dot
 * @param suffix --txt-suffix, at the end of the first label
 */
export function affixesOf(prefix: string, suffix: string): Affixes {
  const written = [prefix.toLowerCase(), suffix.toLowerCase()] as const;
  if (!written.some((text) => text.includes(TYPE_TEMPLATE))) return [written];
  const fill = (type: string): readonly [string, string] => [
    written[0].replaceAll(TYPE_TEMPLATE, type),
    written[1].replaceAll(TYPE_TEMPLATE, type),
  ];
  return [fill(""), ...TYPES.map(fill)];
}

/**
 * The names that a registry record at `name` may be for: its own (the format without a type), and what follows a type
 * (`a-www`, `cname-www`). Which of them it is cannot be known, so it is all of them. Ignoring too many is safe: each stays as it is.
 * @param name relative, lower-case, `""` the apex
 */
export function registeredNames(name: string, affixes: Affixes): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [prefix, suffix] of affixes) {
    const bare = withoutAffixes(name, prefix, suffix);
    if (bare === null) continue;
    names.add(bare);
    names.add(withoutType(bare));
  }
  return names;
}

/** @returns null if the name does not have them */
function withoutAffixes(name: string, prefix: string, suffix: string): string | null {
  // At the apex the dot that the prefix ends in is the one before the zone.
  if (prefix.endsWith(".") && name === prefix.slice(0, -1)) return "";
  if (name.length < prefix.length + suffix.length || !name.startsWith(prefix)) return null;
  const rest = name.slice(prefix.length);
  if (suffix === "") return rest;
  const labels = rest.split(".");
  const length = suffix.split(".").length;
  const head = labels.slice(0, length).join(".");
  if (!head.endsWith(suffix)) return null;
  return [head.slice(0, -suffix.length), ...labels.slice(length)].join(".");
}

function withoutType(name: string): string {
  return name.replace(TYPE_BEFORE_NAME, "").replace(/^\./, "");
}
