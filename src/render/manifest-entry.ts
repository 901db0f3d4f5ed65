/** What is declared as the manifest entries that declare it: the way back from the units' specs, under the API's field names. */

import type { Consent, Declared, Desired, Removed } from "../model/desired.ts";
import type { Json, JsonObject, UnitName } from "../model/resource.ts";

/** Where entries of a unit stand, and what names one under `removed`. */
const SECTIONS: Readonly<Record<UnitName, { readonly section: string; readonly removedKey: string }>> = {
  network: { section: "vpcs", removedKey: "vpc" },
  zone: { section: "domains", removedKey: "domain" },
  image: { section: "images", removedKey: "image" },
};

/** Entries hold nothing that is undefined; what they leave out is left alone, or is the manifest's default. */
type Entry = Record<string, Json>;

/**
 * A whole manifest that comes down to the same desired state: variables, defaults and record sets are in place, domains have an
 * entry each. Entries keep the order of the manifests.
 */
export function manifestOf(desired: Desired): JsonObject {
  const sections = Object.entries(SECTIONS).map(([unit, { section }]) => {
    return [section, desired.declared.filter((declared) => declared.unit === unit).map(entryOf)] as const;
  });
  const manifest = {
    tenon: 1,
    owner: desired.owner,
    account: desired.account,
    ...Object.fromEntries(sections),
    removed: desired.removed.map(removedEntry),
    allow: desired.allow.map(allowEntry),
  } as Readonly<Record<string, Json>>;
  const stated = Object.entries(manifest).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  );
  return literal(Object.fromEntries(stated)) as JsonObject;
}

/** What a manifest would read as a reference is written so that it does not. */
function literal(value: Json): Json {
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map((item: Json) => literal(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, literal(item as Json)]));
}

function entryOf(declared: Declared): Entry {
  const { id, movedFrom, protect, note, spec } = declared;
  const [head, body] = partsOf(declared.unit, spec);
  return {
    ...head,
    ...(id === null ? {} : { id }),
    ...(movedFrom === null ? {} : { moved_from: movedFrom }),
    ...(protect ? { protect } : {}),
    ...(note === null ? {} : { note }),
    ...body,
  };
}

/** What names an entry, and the rest of it. Specs are the units' own types; these are as much of their shapes as is shown. */
function partsOf(unit: UnitName, spec: unknown): readonly [head: Entry, body: Entry] {
  switch (unit) {
    case "network":
      return networkParts(spec as NetworkShape);
    case "zone":
      return zoneParts(spec as ZoneShape);
    case "image":
      return imageParts(spec as ImageShape);
  }
}

interface NetworkShape {
  readonly label: string;
  readonly region: string;
  readonly description: string | null | undefined;
  readonly subnets: readonly { readonly label: string; readonly ipv4: string; readonly note: string | null }[] | null;
}

function networkParts({ label, region, description, subnets }: NetworkShape): readonly [Entry, Entry] {
  const entries = subnets?.map((subnet) => ({ label: subnet.label, ipv4: subnet.ipv4, ...noteOf(subnet.note) }));
  return [{ label }, { region, ...stated({ description, subnets: entries }) }];
}

interface ZoneShape {
  readonly domain: string;
  readonly fields: Readonly<Record<string, Json>>;
  readonly records: readonly RecordShape[] | null;
  readonly ignore: readonly { readonly name?: string; readonly type?: string; readonly target?: string }[];
  readonly policy: "authoritative" | "additive";
}

interface RecordShape {
  readonly type: string;
  readonly name: string;
  readonly target: string;
  readonly ttl_sec: number;
  readonly priority?: number;
  readonly weight?: number;
  readonly port?: number;
  readonly tag?: string;
  readonly note: string | null;
}

function zoneParts({ domain, fields, records, ignore, policy }: ZoneShape): readonly [Entry, Entry] {
  const body: Entry = {
    ...fields,
    ...(policy === "additive" ? { records_policy: policy } : {}),
    ...(ignore.length === 0 ? {} : { ignore: ignore.map((pattern) => ({ ...pattern })) }),
    ...(records === null ? {} : { records: records.map(recordEntry) }),
  };
  return [{ domain }, body];
}

/** Types whose target is a name: written with a final dot, it is absolute. */
const NAMED: ReadonlySet<string> = new Set(["CNAME", "MX", "NS", "PTR", "SRV"]);

function recordEntry({ type, name, target, ttl_sec, priority, weight, port, tag, note }: RecordShape): Entry {
  return {
    type,
    ...(name === "" ? {} : { name }),
    ...stated({ tag }),
    target: NAMED.has(type) ? `${target}.` : target,
    ...stated({ priority, weight, port }),
    ...(ttl_sec === 0 ? {} : { ttl_sec }),
    ...noteOf(note),
  };
}

interface ImageShape {
  readonly label: string;
  readonly description: string | null | undefined;
  readonly source: { readonly type: "upload" | "capture"; readonly cloud_init: boolean } & Readonly<
    Record<string, Json>
  >;
}

function imageParts({ label, description, source }: ImageShape): readonly [Entry, Entry] {
  const { type, cloud_init, ...from } = source;
  return [{ label }, { ...stated({ description }), [type]: { ...from, ...(cloud_init ? { cloud_init } : {}) } }];
}

function removedEntry({ unit, key, id, destroy, ignore }: Removed): Entry {
  return {
    [SECTIONS[unit].removedKey]: key,
    ...(id === null ? {} : { id }),
    ...(destroy ? {} : { destroy }),
    ...(ignore.length === 0 ? {} : { ignore: ignore.map((pattern) => ({ ...pattern })) }),
  };
}

function allowEntry({ rule, address, until, reason }: Consent): Entry {
  return { [rule]: address, ...(until === null ? {} : { until }), ...(reason === null ? {} : { reason }) };
}

function noteOf(note: string | null): Entry {
  return note === null ? {} : { note };
}

/** Without the keys that are undefined; null stays, for it resets. */
function stated(entry: Readonly<Record<string, Json | undefined>>): Entry {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as Entry;
}
