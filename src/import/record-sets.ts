/** Groups of records that several domains have in common → record sets that these domains use. */

import { escapeReferences } from "../format/write.ts";
import { mapKey } from "../model/map-key.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { compareText, groupBy } from "../model/text.ts";
import type { ImportedDomain } from "./collect.ts";
import type { KnownRecordSet } from "./into.ts";

/** The fewest domains that must have a group in common. */
const MIN_DOMAINS = 3;
/** A group of fewer records would save no line. */
const MIN_RECORDS = 2;

export interface DomainWithRecordSets {
  readonly name: string;
  /** As in a manifest: references are escaped. */
  readonly entry: JsonObject;
  readonly use: readonly string[];
  /** The records that are in no set; null: not managed. */
  readonly records: readonly JsonObject[] | null;
}

interface ExtractedRecordSets {
  /** Name → records, in the order of their names. */
  readonly sets: Readonly<Record<string, readonly JsonObject[]>>;
  readonly domains: readonly DomainWithRecordSets[];
}

/** Records of one name and type, which go into a set together or not at all: the rest would clash with the set's. */
interface Rrset {
  readonly records: readonly JsonObject[];
  /** Equal for all domains that have these records, apart from the domains' own names. */
  readonly signature: string;
}

interface Group {
  readonly category: SetCategory;
  readonly rrsets: Rrset[];
  readonly members: readonly number[];
}

/**
 * Linear in the number of records, and in that of the record sets that are there. The domains have the same records when the manifest is loaded.
 * @param known the record sets of the project that the domains are added to
 * @param makes whether new sets are made
 */
export function extractRecordSets(
  domains: readonly ImportedDomain[],
  known: readonly KnownRecordSet[] = [],
  makes = true,
): ExtractedRecordSets {
  const all = domains.map(rrsetsOf);
  const usable = new UsableSets(known);
  const found = all.map((rrsets) => usable.in(rrsets));
  const rrsets = all.map((list, index) => list.filter(({ signature }) => !found[index]?.signatures.has(signature)));
  const members = new Map<string, { rrset: Rrset; domains: number[] }>();
  for (const [index, list] of rrsets.entries()) {
    for (const rrset of list) {
      const known = members.get(rrset.signature);
      if (known === undefined) members.set(rrset.signature, { rrset, domains: [index] });
      else known.domains.push(index);
    }
  }
  const groups = makes ? worthwhile([...members.values()]) : [];
  const named = nameGroups(groups, new Set(known.map(({ name }) => name)));
  const uses = found.map(({ names }): string[] => [...names]);
  const extracted = new Set<string>();
  for (const [name, group] of named) {
    for (const index of group.members) uses[index]?.push(name);
    for (const { signature } of group.rrsets) extracted.add(signature);
  }
  return {
    sets: Object.fromEntries(named.map(([name, group]) => [name, group.rrsets.flatMap(({ records }) => records)])),
    domains: domains.map(({ name, entry, records }, index) => ({
      name,
      entry: escapeReferences(entry) as JsonObject,
      use: uses[index] ?? [],
      records:
        records === null ? null : ownRecords(records, [extracted, found[index]?.signatures ?? NONE], all[index] ?? []),
    })),
  };
}

interface KnownSetsFound {
  readonly names: readonly string[];
  /** Of the RRsets that they have. */
  readonly signatures: ReadonlySet<string>;
}

/** The record sets of the project, found by what is in them: there may be as many of them as of domains. */
class UsableSets {
  /** By the signature of its first RRset: sets with their ranks, the largest first. */
  readonly #byFirst: Map<string, { readonly rank: number; readonly name: string; readonly own: readonly string[] }[]> =
    new Map();

  constructor(known: readonly KnownRecordSet[]) {
    const usable = known.flatMap(({ name, records }) => {
      const own = records === null || records.length === 0 ? [] : signaturesOf(records);
      return own.length === 0 ? [] : [{ name, own }];
    });
    usable.sort((a, b) => b.own.length - a.own.length || compareText(a.name, b.name));
    const seen = new Set<string>();
    for (const [rank, { name, own }] of usable.entries()) {
      const [first = ""] = own;
      const content = mapKey(JSON.stringify([first, ...own.slice(1).sort()]));
      // Of sets of one content only the first can be used.
      if (seen.has(content)) continue;
      seen.add(content);
      const list = this.#byFirst.get(first);
      if (list === undefined) this.#byFirst.set(first, [{ rank, name, own }]);
      else list.push({ rank, name, own });
    }
  }

  /** The sets all of whose RRsets the domain has, the largest first; no two of one RRset. */
  in(rrsets: readonly Rrset[]): KnownSetsFound {
    const there = new Set(rrsets.map(({ signature }) => signature));
    const names: string[] = [];
    const signatures = new Set<string>();
    const candidates = [...there].flatMap((signature) => this.#byFirst.get(signature) ?? []);
    for (const { name, own } of candidates.sort((a, b) => a.rank - b.rank)) {
      if (!own.every((signature) => there.has(signature) && !signatures.has(signature))) continue;
      names.push(name);
      for (const signature of own) signatures.add(signature);
    }
    return { names, signatures };
  }
}

function signaturesOf(records: readonly JsonObject[]): string[] {
  return [...groupBy(records, ownerOf).values()].map(signatureOf);
}

function signatureOf(records: readonly JsonObject[]): string {
  const texts = records.map((record) => JSON.stringify(record));
  return mapKey(texts.sort().join("\n"));
}

function rrsetsOf({ name, records }: ImportedDomain): Rrset[] {
  const byOwner = new Map<string, JsonObject[]>();
  for (const record of records ?? []) {
    const owner = `${String(record["type"])} ${String(record["name"] ?? "")}`;
    const list = byOwner.get(owner);
    if (list === undefined) byOwner.set(owner, [record]);
    else list.push(record);
  }
  return [...byOwner.values()].map((list) => {
    const general = list.map((record) => generalise(record, name));
    return {
      records: general,
      signature: signatureOf(general),
    };
  });
}

/** The record with the zone's own name as `${zone}`, and everything else that would be a reference escaped. */
function generalise(record: JsonObject, zone: string): JsonObject {
  const escaped = escapeReferences(record) as JsonObject;
  const target = escaped["target"];
  if (typeof target !== "string" || !target.includes(zone)) return escaped;
  const general = target.replaceAll(zone, () => "${zone}");
  // A `$` before `${zone}` would turn it into an escape.
  return general.includes("$${zone}") ? escaped : { ...escaped, target: general };
}

/** Groups of RRsets that exactly the same domains have, divided by purpose. */
function worthwhile(found: readonly { readonly rrset: Rrset; readonly domains: readonly number[] }[]): Group[] {
  const byMembers = new Map<string, { members: readonly number[]; rrsets: Rrset[]; count: number }>();
  for (const { rrset, domains } of found) {
    if (domains.length < MIN_DOMAINS) continue;
    const key = domains.join(" ");
    const group = byMembers.get(key) ?? { members: domains, rrsets: [], count: 0 };
    group.rrsets.push(rrset);
    group.count += rrset.records.length;
    byMembers.set(key, group);
  }
  return [...byMembers.values()]
    .filter(({ count }) => count >= MIN_RECORDS)
    .flatMap(({ members, rrsets }) => {
      const groups = new Map<SetCategory, Group>();
      for (const rrset of rrsets) {
        const category = categoryOf(rrset.records);
        const group = groups.get(category) ?? { category, rrsets: [], members };
        group.rrsets.push(rrset);
        groups.set(category, group);
      }
      return [...groups.values()];
    });
}

/** The set that most domains use has its plain name; other sets of its category are numbered. */
function nameGroups(groups: readonly Group[], reserved: ReadonlySet<string>): (readonly [string, Group])[] {
  const ordered = groups
    .map((group) => ({ group, content: group.rrsets.map(({ signature }) => signature).join("\n") }))
    .sort((a, b) => b.group.members.length - a.group.members.length || compareText(a.content, b.content));
  const counts = new Map<SetCategory, number>();
  const named = ordered.map(({ group }) => {
    const nameOf = (count: number): string => (count === 1 ? group.category : `${group.category}-${count}`);
    let count = (counts.get(group.category) ?? 0) + 1;
    while (reserved.has(nameOf(count))) count += 1;
    counts.set(group.category, count);
    return [nameOf(count), group] as const;
  });
  return named.sort(([a], [b]) => compareText(a, b));
}

const NONE: ReadonlySet<string> = new Set();

/** @param extracted signatures of RRsets that stand in record sets */
function ownRecords(
  records: readonly JsonObject[],
  extracted: readonly ReadonlySet<string>[],
  rrsets: readonly Rrset[],
): readonly JsonObject[] {
  const gone = new Set<string>();
  for (const { signature, records: of } of rrsets)
    if (extracted.some((signatures) => signatures.has(signature))) gone.add(ownerOf(of[0]));
  return records.filter((record) => !gone.has(ownerOf(record))).map((record) => escapeReferences(record) as JsonObject);
}

function ownerOf(record: JsonObject | undefined): string {
  const name: Json = record?.["name"] ?? "";
  return `${String(record?.["type"])} ${String(name)}`;
}

// The purpose of a group of records, which is the name of its record set.

type SetCategory = "mail" | "web" | "certificates" | "delegations" | "services" | "reverse" | "verification";

/** Records of one name and type. */
function categoryOf(records: readonly JsonObject[]): SetCategory {
  const [first = {}] = records;
  const name = String(first["name"] ?? "");
  switch (first["type"]) {
    case "MX":
      return "mail";
    case "TXT":
      return records.some(({ target }) => isAboutMail(name, String(target))) ? "mail" : "verification";
    case "CAA":
      return "certificates";
    case "NS":
      return "delegations";
    case "SRV":
      return isMailService(name) ? "mail" : "services";
    case "PTR":
      return "reverse";
    case "CNAME":
      return /(^|\.)(_domainkey|autoconfig|autodiscover|mail|smtp|imap|pop3?|mta-sts)(\.|$)/.test(name)
        ? "mail"
        : "web";
    default:
      return /^(mail|smtp|imap|pop3?|mx\d*|mta-sts)(\.|$)/.test(name) ? "mail" : "web";
  }
}

function isAboutMail(name: string, text: string): boolean {
  const isNamed = /(^|\.)(_domainkey|_dmarc|_mta-sts|_smtp\._tls|_adsp\._domainkey)(\.|$)/.test(name);
  return isNamed || /^v=(spf1|DKIM1|DMARC1|STSv1|TLSRPTv1)\b/i.test(text);
}

function isMailService(name: string): boolean {
  return /^_(autodiscover|submissions?|imaps?|pop3s?|smtps?|sieve)\./.test(name);
}
