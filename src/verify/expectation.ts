/** What a zone must answer: from its records, and from what was changed of them, to one question for each name and type. Pure. */

import { absoluteName } from "../dns/name.ts";
import type { PlainRecord, PlainType } from "../dns/plain-record.ts";
import { type Section, ZoneTree } from "../dns/zone-tree.ts";
import { compareText, groupBy } from "../model/group.ts";
import { recordValue } from "./value.ts";

/** A zone as it is to be served, and which sets of its records are to be asked for. */
export interface ZoneWanted {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  /** All that is declared. */
  readonly records: readonly PlainRecord[];
  /** Which names and types to ask for; null: all that is declared. */
  readonly changed: readonly Pick<PlainRecord, "name" | "type">[] | null;
  /** What was deleted or changed into something else. */
  readonly gone: readonly PlainRecord[];
  /** Whether a record that is not declared may be there all the same. */
  tolerates(record: PlainRecord): boolean;
}

export interface ExpectedSet {
  readonly zone: string;
  /** Absolute. */
  readonly name: string;
  readonly type: PlainType | "SOA";
  readonly section: Section;
  /** In the one spelling of value.ts, without duplicates, sorted. Empty: nothing may be there. */
  readonly values: readonly string[];
  /** The TTL of each that says one; of several, any may be the set's. null: it does not matter. */
  readonly ttls: readonly number[] | null;
  /** Where the set is empty: the targets of the aliases that answer in its place, absolute. */
  readonly aliases: readonly string[];
  /** Whether a record that is not among the values may be there, too. */
  allows(value: string, record: PlainRecord): boolean;
}

export interface Expectations {
  /** Sorted by name and type. */
  readonly sets: readonly ExpectedSet[];
  /** Declared, but below a delegation: no server may answer with it. Absolute names and types. */
  readonly hidden: readonly { readonly name: string; readonly type: PlainType }[];
}

function keyOf({ name, type }: Pick<PlainRecord, "name" | "type">): string {
  return `${name} ${type}`;
}

/** Linear in the number of records. */
export function expectations(wanted: ZoneWanted): Expectations {
  const { zone, records } = wanted;
  const declared = groupBy(records, keyOf);
  const gone = groupBy(wanted.gone, keyOf);
  const tree = new ZoneTree(records, zone);
  const asked = new Map((wanted.changed ?? records).map((key) => [keyOf(key), key]));
  for (const [key, [first]] of gone) if (first !== undefined) asked.set(key, first);
  const sets: ExpectedSet[] = [];
  const hidden: { name: string; type: PlainType }[] = [];
  for (const [key, { name, type }] of asked) {
    const section = tree.sectionOf(name, type);
    const own = declared.get(key) ?? [];
    if (section !== null) {
      const shown = own.length > 0 ? own : synthesised(tree, declared, name, type);
      const aliases =
        shown.length > 0
          ? []
          : (declared.get(keyOf({ name, type: "CNAME" })) ?? synthesised(tree, declared, name, "CNAME"));
      sets.push(expectedSet(wanted, { name, type }, section, { shown, aliases, gone: gone.get(key) ?? [] }));
    } else if (own.length > 0) {
      hidden.push({ name: absoluteName(name, zone), type });
    }
  }
  return { sets: sets.sort(byName), hidden: hidden.sort(byName) };
}

/** That the zone is served at all: its SOA, whatever it says. */
export function soaExpectation(zone: string): ExpectedSet {
  return { zone, name: zone, type: "SOA", section: "answer", values: [], ttls: null, aliases: [], allows: () => true };
}

/** What a wildcard puts in the place of a name that is not there any more (RFC 4592, 3.3.1). */
function synthesised(
  tree: ZoneTree,
  declared: ReadonlyMap<string, readonly PlainRecord[]>,
  name: string,
  type: PlainType,
): readonly PlainRecord[] {
  const wildcard = tree.wildcardFor(name);
  return wildcard === null ? [] : (declared.get(keyOf({ name: wildcard, type })) ?? []);
}

function expectedSet(
  wanted: ZoneWanted,
  { name, type }: Pick<PlainRecord, "name" | "type">,
  section: Section,
  { shown, aliases, gone }: Record<"shown" | "aliases" | "gone", readonly PlainRecord[]>,
): ExpectedSet {
  const values = new Set(shown.map(recordValue));
  const mustGo = new Set(gone.map(recordValue));
  const ttls = [...new Set(shown.map(({ ttl_sec }) => ttl_sec))];
  // The service adds its own servers to those of the apex (OBSERVED behaviour).
  const mayGrow = type === "NS" && name === "";
  return {
    zone: wanted.zone,
    name: absoluteName(name, wanted.zone),
    type,
    section,
    values: [...values].sort(compareText),
    aliases: aliases.map(({ target }) => target),
    ttls: ttls.includes(0) || ttls.length === 0 || mayGrow ? null : ttls,
    allows: (value, record) => !mustGo.has(value) && (mayGrow || wanted.tolerates(record)),
  };
}

function byName(a: { name: string; type: string }, b: { name: string; type: string }): number {
  return compareText(a.name, b.name) || compareText(a.type, b.type);
}
