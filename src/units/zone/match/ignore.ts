/** Ignore patterns of a domain: which records Tenon does not look at. */

import { isAcmeName } from "../../../dns/acme.ts";
import type { IgnorePattern, IgnorePreset } from "../../../model/desired.ts";
import { globMatches } from "../../../model/glob.ts";
import { isRegistryText, registeredNames } from "./external-dns.ts";

export interface IgnorableRecord {
  /** Relative, lower-case ASCII, `""` the apex. */
  readonly name: string;
  readonly type: string;
  /** Canonical, as in RecordSpec. */
  readonly target: string;
}

/** The patterns of a zone, with what a look at its records tells them. */
export interface Ignoring<Entry> {
  has(record: IgnorableRecord): boolean;
  /** Live registry records that make `record` somebody else's; none if a pattern alone decides. */
  claimants(record: IgnorableRecord): readonly Entry[];
}

/** Names that a registry in the zone stands for, with the entries that say so. */
type Registry<Entry> = ReadonlyMap<string, readonly Entry[]>;

/**
 * Takes one pass over the live records for each pattern with the preset external-dns.
 * @param live all records of the zone
 */
export function ignoring<Entry>(
  patterns: readonly IgnorePattern[],
  live: readonly Entry[],
  recordOf: (entry: Entry) => IgnorableRecord,
): Ignoring<Entry> {
  const rules = patterns.map((pattern) => ({ pattern, registry: registryOf(pattern, live, recordOf) }));
  return {
    has: (record) => rules.some(({ pattern, registry }) => matches(record, pattern, registry)),
    claimants: (record) =>
      rules.flatMap(({ pattern, registry }) =>
        matches(record, pattern, registry) ? (registry.get(record.name.toLowerCase()) ?? []) : [],
      ),
  };
}

/** What can be told without the live records. */
export function isIgnored(record: IgnorableRecord, patterns: readonly IgnorePattern[]): boolean {
  return patterns.some((pattern) => matches(record, pattern, NO_REGISTRY));
}

const NO_REGISTRY: Registry<never> = new Map();

function registryOf<Entry>(
  pattern: IgnorePattern,
  live: readonly Entry[],
  recordOf: (entry: Entry) => IgnorableRecord,
): Registry<Entry> {
  if (pattern.preset !== "external-dns") return NO_REGISTRY;
  const registry = new Map<string, Entry[]>();
  for (const entry of live) {
    const record = recordOf(entry);
    if (record.type !== "TXT" || !isRegistryText(record.target)) continue;
    for (const name of registeredNames(record.name.toLowerCase(), pattern.txt_prefix ?? "", pattern.txt_suffix ?? "")) {
      const known = registry.get(name);
      if (known === undefined) registry.set(name, [entry]);
      else known.push(entry);
    }
  }
  return registry;
}

/** Types and names compare without regard to case, so do targets other than text. */
function matches(record: IgnorableRecord, pattern: IgnorePattern, registry: Registry<unknown>): boolean {
  if (pattern.preset !== undefined && !isOfPreset(record, pattern.preset, registry)) return false;
  if (pattern.name !== undefined && !globMatches(namePattern(pattern.name), record.name.toLowerCase())) return false;
  if (pattern.type !== undefined && !globMatches(pattern.type.toUpperCase(), record.type)) return false;
  if (pattern.target === undefined) return true;
  const isText = record.type === "TXT" || record.type === "CAA";
  return isText
    ? globMatches(pattern.target, record.target)
    : globMatches(withoutDot(pattern.target.toLowerCase()), record.target.toLowerCase());
}

function isOfPreset(record: IgnorableRecord, preset: IgnorePreset, registry: Registry<unknown>): boolean {
  switch (preset) {
    case "acme":
      // A CNAME there hands the challenge on for good, and is declared like any other.
      return record.type === "TXT" && isAcmeName(record.name);
    case "external-dns":
      return (record.type === "TXT" && isRegistryText(record.target)) || registry.has(record.name.toLowerCase());
  }
}

function namePattern(name: string): string {
  return name === "@" ? "" : name.toLowerCase();
}

function withoutDot(pattern: string): string {
  return pattern.length > 1 && pattern.endsWith(".") ? pattern.slice(0, -1) : pattern;
}
