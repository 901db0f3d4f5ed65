/** What a zone must answer: from its records, and from what was changed of them, to one question for each name and type. Pure. */

import type { RecordData } from "../dns/message.ts";
import { absoluteName, relativeName } from "../dns/name.ts";
import {
  type DnsRecord,
  isNamed,
  isRecordType,
  isText,
  type Rdata,
  type RecordType,
  writeRdata,
} from "../dns/record.ts";
import { ZoneTree } from "../dns/zone-tree.ts";
import type { Change } from "../model/change.ts";
import type { Address, Values } from "../model/resource.ts";
import { compareText, groupBy } from "../model/text.ts";

/** A zone as it is to be served, and which sets of its records are to be asked for. */
export interface ExpectedZone {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  /** Only a part of its names is: whether the zone is served, and how it is delegated, is its owner's matter. */
  readonly isPart?: boolean;
  /** All that is declared. */
  readonly records: readonly DnsRecord[];
  /** Which names and types to ask for; null: all that is declared. */
  readonly changed: readonly SetKey[] | null;
  /** What was deleted or changed into something else. */
  readonly gone: readonly DnsRecord[];
  /** Whether a record that is not declared may be there all the same. */
  tolerates(record: DnsRecord): boolean;
}

export interface ExpectedSet {
  readonly zone: string;
  /** Absolute. */
  readonly name: string;
  readonly type: RecordType | "SOA";
  readonly section: Section;
  /** Spelled as `recordValue` does, sorted, without duplicates. Empty: nothing may be there. */
  readonly values: readonly string[];
  /** The TTLs that the records state: the answer may have any of them. null: any TTL will do. */
  readonly ttls: readonly number[] | null;
  /** Where the set is empty: the targets of the aliases that answer in its place, absolute. */
  readonly aliases: readonly string[];
  /** Whether a record that is not among the values may be there, too. */
  allows(value: string, record: DnsRecord): boolean;
}

export interface Expectations {
  /** Sorted by name and type. */
  readonly sets: readonly ExpectedSet[];
  /** Declared, but below a delegation: no server may answer with it. Absolute names and types. */
  readonly hidden: readonly { readonly name: string; readonly type: RecordType }[];
}

type SetKey = Pick<DnsRecord, "name" | "type">;

function keyOf({ name, type }: SetKey): string {
  return `${name} ${type}`;
}

/** Linear in the number of records. */
export function expectations(wanted: ExpectedZone): Expectations {
  const { zone, records } = wanted;
  const declared = groupBy(records, keyOf);
  const gone = groupBy(wanted.gone, keyOf);
  const tree = new ZoneTree("", records, ({ type }) => type);
  const glue = glueOf(tree, zone);
  const asked = new Map((wanted.changed ?? records).map((key) => [keyOf(key), key]));
  for (const [key, [first]] of gone) if (first !== undefined) asked.set(key, first);
  const sets: ExpectedSet[] = [];
  const hidden: { name: string; type: RecordType }[] = [];
  for (const [key, { name, type }] of asked) {
    const section = sectionOf(tree, glue, { name, type });
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

/**
 * Where in an answer a set stands.
 * - `answer`: the zone's own data.
 * - `referral`: NS of a delegation: in the authority section, and without authority.
 * - `glue`: the address of a delegation's server: in the additional section.
 */
export type Section = "answer" | "referral" | "glue";

/** null: nowhere, as the name is another zone's. */
function sectionOf(tree: ZoneTree<DnsRecord>, glue: Glue, { name, type }: SetKey): Section | null {
  const cut = tree.cutAbove(name);
  if (cut === null) return "answer";
  if (name === cut && type === "NS") return "referral";
  const isAddress = type === "A" || type === "AAAA";
  return isAddress && glue.get(cut)?.has(name) ? "glue" : null;
}

/** Delegation → its servers that have a name within the zone. */
type Glue = ReadonlyMap<string, ReadonlySet<string | null>>;

function glueOf(tree: ZoneTree<DnsRecord>, zone: string): Glue {
  const delegating = (cut: string) => tree.at(cut).filter(({ type }) => type === "NS");
  return new Map(
    [...tree.cuts()].map((cut) => [cut, new Set(delegating(cut).map(({ target }) => relativeName(target, zone)))]),
  );
}

/** That the zone is served at all: its SOA, whatever it says. */
export function soaExpectation(zone: string): ExpectedSet {
  return { zone, name: zone, type: "SOA", section: "answer", values: [], ttls: null, aliases: [], allows: () => true };
}

/** The answers that a wildcard gives for a name whose own records were all deleted (RFC 4592, 3.3.1). */
function synthesised(
  tree: ZoneTree<DnsRecord>,
  declared: ReadonlyMap<string, readonly DnsRecord[]>,
  name: string,
  type: RecordType,
): readonly DnsRecord[] {
  const wildcard = tree.answeringName(name);
  return wildcard === null || wildcard === name ? [] : (declared.get(keyOf({ name: wildcard, type })) ?? []);
}

function expectedSet(
  wanted: ExpectedZone,
  { name, type }: SetKey,
  section: Section,
  { shown, aliases, gone }: Record<"shown" | "aliases" | "gone", readonly DnsRecord[]>,
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
    allows: (value, record) => !mustGo.has(value) && ((mayGrow && record.type === "NS") || wanted.tolerates(record)),
  };
}

export function byName(a: { name: string; type: string }, b: { name: string; type: string }): number {
  return compareText(a.name, b.name) || compareText(a.type, b.type);
}

// What an apply changed of each zone, as what its servers must answer now. Pure.

export interface ChangedZones {
  readonly zones: readonly ExpectedZone[];
  /** Full sentences: what was changed and cannot be asked for. */
  readonly notes: readonly string[];
  /** Whether a change of a domain itself is among them: it is asked for, but its fields are not compared. */
  readonly hasUncompared: boolean;
}

/** Whether a record that nobody declared may be in a zone. */
type Tolerates = (zone: Address, record: DnsRecord) => boolean;

/**
 * @param changes of a plan with its no-ops, because a set that changed also holds records that did not
 * @param done keys of the changes that were carried out
 */
export function changedZones(
  changes: readonly Change[],
  done: ReadonlySet<string>,
  tolerates: Tolerates,
): ChangedZones {
  const zones: ExpectedZone[] = [];
  const notes: string[] = [];
  let hasUncompared = false;
  for (const [root, ofZone] of groupBy(changes, ({ root }) => root)) {
    const isOut = (change: Change): boolean => change.action === "no-op" || done.has(change.key);
    const domain = ofZone.find(({ kind }) => kind === "domain");
    if (domain === undefined || !ofZone.some((change) => change.action !== "no-op" && done.has(change.key))) continue;
    const zone = String((domain.after ?? domain.before)?.["domain"] ?? "");
    const values = isOut(domain) ? domain.after : domain.before;
    if (values === null) {
      if (domain.after === null) notes.push(`${zone} is deleted; what its parent delegates to it has to go there.`);
      continue;
    }
    const whyNot = unservedWhy(values);
    if (whyNot !== null) {
      notes.push(`${zone} ${whyNot}: nothing of it is asked for.`);
      continue;
    }
    zones.push(wantedOf(zone, root, domain, ofZone, isOut, tolerates));
    const fields = isOut(domain) ? changedSoaFields(domain) : [];
    if (fields.length === 0) continue;
    hasUncompared = true;
    notes.push(
      `${zone} has another ${fields.join(", ")}: whether its servers answer with that is not compared, only that they answer with an SOA.`,
    );
  }
  return { zones, notes, hasUncompared };
}

/** What a zone's SOA is made of. How the service spells an address there, and which times it rounds, is not known well enough to compare it. */
const SOA_FIELDS = ["soa_email", "refresh_sec", "retry_sec", "expire_sec", "ttl_sec"] as const;

function changedSoaFields({ action, before, after }: Change): string[] {
  if (action === "no-op" || before === null || after === null) return [];
  return SOA_FIELDS.filter((field) => before[field] !== after[field]);
}

function unservedWhy(domain: Values): string | null {
  if (domain["type"] === "slave") return "is a copy of its master's zone";
  return domain["status"] === "disabled" ? "is disabled" : null;
}

function wantedOf(
  zone: string,
  root: Address,
  domain: Change,
  changes: readonly Change[],
  isOut: (change: Change) => boolean,
  tolerates: Tolerates,
): ExpectedZone {
  const records: DnsRecord[] = [];
  const gone: DnsRecord[] = [];
  const changed: DnsRecord[] = [];
  for (const change of changes) {
    if (change.kind !== "domain_record") continue;
    const [before, after] = [recordOf(change.before), recordOf(change.after)];
    const now = isOut(change) ? after : before;
    if (now !== null) records.push(now);
    if (change.action === "no-op" || !isOut(change)) continue;
    if (before !== null) gone.push(before);
    if (after !== null) changed.push(after);
  }
  // The zone is served only since this apply, so every set counts as changed.
  const isActivated = domain.action !== "no-op" && domain.before?.["status"] === "disabled";
  return {
    zone,
    isPart: domain.part === true,
    records,
    changed: isActivated ? null : changed,
    gone,
    tolerates: (record) => tolerates(root, record),
  };
}

/** A change of a record holds a record's fields, in the one form that plans have. */
function recordOf(values: Values | null): DnsRecord | null {
  return values === null ? null : (values as unknown as DnsRecord);
}

// The value of a record in one spelling, whether it was declared or answered, so that plain comparison is enough. Pure.

/** As a zone file has it, names with their final dot; texts as octets, one character each. */
function recordValue(record: DnsRecord): string {
  const { type, target, tag } = record;
  const rdata = tag === undefined ? record : { ...record, tag: tag.toLowerCase() };
  return valueText(isText(type) ? { ...rdata, target: Buffer.from(target).toString("latin1") } : rdata);
}

/** The same of what a server answered; null for a type that the service does not have. */
export function answeredValue(data: RecordData): string | null {
  if (data.type === "other") return null;
  return data.type === "SOA" ? `${data.mname}. ${data.rname}. ${data.serial}` : valueText(data);
}

function valueText(rdata: Rdata): string {
  return writeRdata(rdata, isNamed(rdata.type) ? `${rdata.target}.` : rdata.target);
}

/** An answer as a record of the zone, for those who judge records; null for a type that the service does not have. */
export function answeredRecord(data: RecordData, name: string, ttl_sec: number): DnsRecord | null {
  if (data.type === "SOA" || data.type === "other") return null;
  const { flags: _, target: octets, ...values } = data;
  return {
    ...{ name, ttl_sec, ...values },
    // Decoded by who looks at it: an answer may hold 64 KiB, and most zones tolerate nothing whatever it is.
    get target() {
      return shownValue(octets, data.type);
    },
  };
}

/** As people are to read it: octets as text. */
export function shownValue(value: string, type: string): string {
  return isRecordType(type) && isText(type) ? Buffer.from(value, "latin1").toString("utf8") : value;
}

const shownWantedOf: WeakMap<ExpectedSet, ReadonlyMap<string, string>> = new WeakMap();

/** Declared values as people read them: the same texts for all answers, as each server and transport has one. */
export function shownWanted(expected: ExpectedSet): ReadonlyMap<string, string> {
  const { values, type } = expected;
  const known = shownWantedOf.get(expected) ?? new Map(values.map((value) => [value, shownValue(value, type)]));
  shownWantedOf.set(expected, known);
  return known;
}
