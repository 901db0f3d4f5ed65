/** Limits of a manifest: generous for people, final for hostile input. */

import type { Diagnostic, Sources, Span } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { isPlain, UNSAFE } from "../model/text.ts";
import type { Places } from "./positions.ts";

/** One manifest's size, checked before it is read. 12,000 records take about 1.5 MiB. */
export const MAX_FILE_BYTES: number = 8 * 1024 * 1024;
/** All manifests of a project together. */
export const MAX_PROJECT_BYTES: number = 128 * 1024 * 1024;
export const MAX_FILES = 10_000;
/** The most patterns under `files:`, as many as naming each file would take. */
export const MAX_FILE_PATTERNS = 10_000;
/** Directory entries that may be looked at while `files:` patterns are resolved; each pattern counts them anew. */
export const MAX_DIRECTORY_ENTRIES = 200_000;
/** Collections inside collections; a manifest needs about seven. */
export const MAX_NESTING_DEPTH = 64;
/** Values that any file may have; more only with MIN_CHARACTERS_PER_VALUE for each. 12,000 records have about 75,000. */
export const MAX_SHORT_FILE_VALUES = 100_000;
/** The shortest record that is written out has five characters for each value. */
export const MIN_CHARACTERS_PER_VALUE = 4;
/** Nodes of one file that come from aliases, counted each time they are used: stops a "billion laughs" file. */
export const MAX_ALIAS_NODES = 100_000;
/** Records of all domains together. Record sets count for each domain that uses them, and each domain counts as two more. */
const MAX_PROJECT_RECORDS = 300_000;
/** A domain counts as two records beside its own: it takes as much room in a plan. */
export const RECORDS_PER_DOMAIN = 2;
/** Records that any project may have, however few characters its files have: a plan of that many takes less than 1 GiB. */
const MAX_SHORT_PROJECT_RECORDS = 120_000;
/** Characters that the files must have for each record of a project with more records than that. A record that is written out has more. */
const MIN_CHARACTERS_PER_RECORD = 8;
/**
 * Labels of the names of all records, the first label of each left out: a zone's tree has a name for each of them, whether it has records
 * or not. 300,000 records at names of three labels have 600,000; 50,000 addresses of IPv6 in the zone of a /64 have 750,000.
 */
export const MAX_INNER_LABELS = 800_000;
/**
 * Characters of a project once aliases, variables, defaults, record sets and zone files are put in, counted each time they are. 300,000
 * records have about thirty million characters. A plan writes each character several times, and must stay below 1 GiB.
 */
const MAX_EXPANDED_CHARACTERS: number = 32 * 1024 * 1024;
/**
 * Octets of zone files, with all that they include and generate. A file counts for each domain that names it: it is parsed for each.
 */
export const MAX_ZONE_FILE_OCTETS: number = 128 * 1024 * 1024;
/** Of the name of an environment: a plan names those that declare an object at each object that would be pruned. */
export const MAX_ENVIRONMENT_CHARACTERS = 100;
/** Environments that `validate` without `--env` checks: each is a project to load and to lint. */
export const MAX_CHECKED_ENVIRONMENTS = 100;
/**
 * What the check of all environments may cost together, in characters of projects once expanded; after this many, no further environment is
 * loaded. A record and a finding count for more than their characters, which may be few.
 */
export const MAX_CHECKED_CHARACTERS: number = 128 * 1024 * 1024;
/** Characters that each record, and each finding, of a checked environment counts as, beside its own. */
export const CHECKED_ITEM_CHARACTERS = 256;
/** Each entry of `allow` is compared with each change that needs a consent. */
export const MAX_CONSENTS = 5_000;
/** The most patterns under one `ignore`: each is compared with the domain's live records, up to 12,000, whose number no manifest states. */
export const MAX_IGNORE_PATTERNS = 1_000;
/** The most stars in all patterns of one `ignore`: each is one more search in each live record. */
const MAX_IGNORE_STARS = 10_000;
/** The most registries of external-dns under one `ignore`, told apart by prefix and suffix: the names of each are held for all live records. */
const MAX_REGISTRIES = 20;
/** Characters of records times the number of patterns under `ignore` that they are compared with. */
export const MAX_IGNORE_COMPARISONS = 1_000_000_000;
/** So many of these comparisons, of the slowest patterns, take as long as a character of a project takes to be read, expanded and checked. */
export const COMPARISONS_PER_CHARACTER = 12;
/** How many wrong references of one value are reported. */
export const MAX_REPORTED_REFERENCES = 20;
/** Image Upload, API.md, Limits: 5 GB compressed. */
export const MAX_UPLOAD_BYTES: number = 5 * 1024 ** 3;
/**
 * Bytes of a raw disk image in a file to upload. The API has no such limit; this one bounds the time of the check, for 5 GB of gzip can
 * hold 5 TB of zeros.
 */
export const MAX_RAW_BYTES: number = 64 * 1024 ** 3;
/** The same of all files that one run checks: a manifest of a megabyte may name thousands of files. A gigabyte takes about a second. */
export const MAX_RAW_BYTES_PER_RUN: number = 256 * 1024 ** 3;

// Counting the characters of the expanded project before they are made: a few lines can ask for more than any memory holds.

/** Characters that each value counts as; a text counts for its own characters, too. */
const VALUE_CHARACTERS = 8;
/** Characters that each copied value counts as: every alias and variable makes the value anew, with a place of its own. */
export const COPIED_VALUE_CHARACTERS = 128;

/** What a character that is not plainly visible counts as: a plan shows it as an escape. */
const ESCAPED_CHARACTERS = 8;

function lengthShown(text: string): number {
  if (isPlain(text)) return text.length;
  return text.length + (ESCAPED_CHARACTERS - 1) * (text.match(UNSAFE)?.length ?? 0);
}

/** The characters that the expansion of one project, or of a fleet file, may have. */
export class Budget {
  readonly #noun: "project" | "fleet";
  #left = MAX_EXPANDED_CHARACTERS;
  #read = 0;
  #records = 0;
  #isReported = false;
  readonly #copyCosts: WeakMap<object, number> = new WeakMap();

  constructor(noun: "project" | "fleet" = "project") {
    this.#noun = noun;
  }

  /** @returns false if there is no room for so much; that is reported once, at the first place */
  take(characters: number, span: () => Span, report: (diagnostic: Diagnostic) => void): boolean {
    this.#left -= characters;
    if (this.#left >= 0) return true;
    if (!this.#isReported) report(expandsTooFar(this.#noun, span()));
    this.#isReported = true;
    return false;
  }

  /** Counts text or work that has a limit of its own, such as zone files and comparisons, as spent, but does not take it from the budget. */
  noteRead(characters: number): void {
    this.#read += characters;
  }

  /** Counts records, which have a limit of their own, without taking anything from the budget. */
  noteRecords(count: number): void {
    this.#records += count;
  }

  /** Records noted so far. */
  get records(): number {
    return this.#records;
  }

  /** Characters read and taken so far. */
  get spent(): number {
    return MAX_EXPANDED_CHARACTERS - this.#left + this.#read;
  }

  /** What a copy of `value` in another place counts for. */
  copyCost(value: Json): number {
    // What there is no room for is not scanned: so all scans together read no more than the limit, however often a text is put in.
    if (typeof value === "string") return value.length > this.#left ? value.length : lengthShown(value);
    if (typeof value !== "object" || value === null) return 0;
    const known = this.#copyCosts.get(value);
    if (known !== undefined) return known;
    const cost = Object.values(value).reduce(
      (sum: number, item) => sum + COPIED_VALUE_CHARACTERS + this.copyCost(item as Json),
      COPIED_VALUE_CHARACTERS,
    );
    this.#copyCosts.set(value, cost);
    return cost;
  }
}

/** Counts the characters of values. The count of a list is remembered: lists are what many entries share. */
export class Scales {
  readonly #known: WeakMap<readonly Json[], number> = new WeakMap();

  /** What `value` counts for, with all that is in it; of what no project has room for, at least as much as the limit. */
  weigh(value: Json | undefined): number {
    if (typeof value === "string") return VALUE_CHARACTERS + lengthShown(value);
    if (typeof value !== "object" || value === null) return VALUE_CHARACTERS;
    if (!Array.isArray(value)) return this.#sum(Object.values(value));
    const known = this.#known.get(value) ?? this.#sum(value);
    this.#known.set(value, known);
    return known;
  }

  /** What an entry counts for without the values of the keys in `except`. */
  weighEntry(entry: object, except: ReadonlySet<string>): number {
    const keys = Object.keys(entry).filter((key) => !except.has(key));
    return this.#sum(keys.map((key) => (entry as Record<string, Json>)[key]));
  }

  /** By defaults, thousands of records may have one text of megabytes: what is too much already is not counted on. */
  #sum(items: readonly (Json | undefined)[]): number {
    let sum = VALUE_CHARACTERS;
    for (const item of items) {
      sum += this.weigh(item);
      if (sum > MAX_EXPANDED_CHARACTERS) break;
    }
    return sum;
  }
}

/** How many records a project may have: record sets and lists of domains can make hundreds of thousands from a few lines. */
export function recordLimit({ characters }: Pick<Sources, "characters">): number {
  const written = Math.floor(characters / MIN_CHARACTERS_PER_RECORD);
  return Math.min(MAX_PROJECT_RECORDS, Math.max(MAX_SHORT_PROJECT_RECORDS, written));
}

/** Why a project may not have more than `limit` records. */
export function explainRecordLimit(limit: number): string {
  const count = limit.toLocaleString("en");
  if (limit === MAX_PROJECT_RECORDS) return `A project may have ${count} records; each domain counts as two more.`;
  return `A project may have one record for each ${MIN_CHARACTERS_PER_RECORD} characters of its files, and ${MAX_SHORT_PROJECT_RECORDS.toLocaleString("en")} in any case: here ${count}. Each domain counts as two more.`;
}

function expandsTooFar(noun: "project" | "fleet", span: Span): Diagnostic {
  const inserted =
    noun === "fleet"
      ? "aliases and defaults insert"
      : "aliases, variables, defaults, record sets and zone files insert";
  return {
    code: "expands-too-far",
    severity: "error",
    summary: `the ${noun} becomes too large`,
    detail: `The expanded ${noun} is larger than ${MAX_EXPANDED_CHARACTERS / 1024 ** 2} Mi characters. Everything that ${inserted} counts each time it is inserted. The limit is exceeded here; the rest is not checked.`,
    fix: `Shorten what is inserted many times, or divide the ${noun}.`,
    span,
  };
}

// The limit of patterns under one `ignore`, checked before any record is compared with them.

/** @returns an error at the first pattern beyond the limit, or null */
export function tooLongIgnore(ignore: Json | undefined, places: Places): Diagnostic | null {
  if (!Array.isArray(ignore)) return null;
  const tooMany = (what: string, most: number, fix: string, index: number): Diagnostic => ({
    code: "too-many-patterns",
    severity: "error",
    summary: `too many ${what} under \`ignore\``,
    detail: `Each pattern is compared with each record of its domain, those in the account included. An \`ignore\` may have ${most.toLocaleString("en")} ${what}, and this one has more; the rest is not checked.`,
    fix,
    span: places.span(ignore, index),
  });
  if (ignore.length > MAX_IGNORE_PATTERNS)
    return tooMany("patterns", MAX_IGNORE_PATTERNS, "Join patterns with stars.", MAX_IGNORE_PATTERNS);
  let stars = 0;
  const registries = new Set<string>();
  for (const [index, pattern] of ignore.entries()) {
    const { preset, txt_prefix = "", txt_suffix = "" } = (pattern ?? {}) as JsonObject;
    if (preset === "external-dns") registries.add(JSON.stringify([txt_prefix, txt_suffix]));
    if (registries.size > MAX_REGISTRIES)
      return tooMany(
        "registries of external-dns",
        MAX_REGISTRIES,
        "Ignore the records of the others by `name`.",
        index,
      );
    for (const text of Object.values(pattern ?? {})) stars += typeof text === "string" ? text.split("*").length - 1 : 0;
    if (stars > MAX_IGNORE_STARS) return tooMany("stars", MAX_IGNORE_STARS, "Write patterns with fewer stars.", index);
  }
  return null;
}
