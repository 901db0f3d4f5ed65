/** Zones as they are in the account: domains from one list, the records of those that need it from one list each. */

import type { WireDomain, WireRecord } from "../../api/wire.ts";
import { toAscii } from "../../dns/unicode.ts";
import type { ReadApi } from "../../model/api.ts";
import { domainAddress, recordAddress } from "../../model/resource.ts";
import type { ListedResource, LiveIdentity, ReadResult, ReadWatch, Scope } from "../../model/unit.ts";
import { readEach } from "../common.ts";
import { ownerOfTags, sharedWithOf } from "../owner-tag.ts";
import type { ZoneSpec } from "./spec.ts";
import { anyLiveRecord } from "./wire-record.ts";

export interface LiveZone {
  readonly domain: WireDomain;
  /** null if they do not matter and were not read. */
  readonly records: readonly WireRecord[] | null;
}

export async function readZones(scope: Scope<ZoneSpec>, api: ReadApi, watch: ReadWatch): Promise<ReadResult<LiveZone>> {
  const names = [...new Set([...scope.declared, ...scope.removed].map((entry) => entry.key).concat(sourcesOf(scope)))];
  // Names are unique on the platform, so a few of them can be asked for; an owner's tag may sit on any domain.
  const isOfNames = scope.owner === null && scope.wants === undefined && scope.whole !== true;
  const { declaredCount: atLeast } = scope;
  const wanted = { field: "domain", values: names, ...(atLeast === undefined ? {} : { atLeast }) };
  const subset = isOfNames ? { subset: wanted } : {};
  const answer = await api.list({ path: ["domains"], ...subset }, watch.signal);
  if (!answer.ok) return { ok: false, what: "the list of domains", failure: answer.failure };
  const domains = answer.items as unknown as WireDomain[];
  const named = namesWithRecords(scope);
  const parts = new Set(scope.declared.flatMap(({ key, part }) => (part === true ? [key] : [])));
  const stated = new Set([...scope.declared, ...scope.removed].map(({ key }) => key));
  const isNeeded = (domain: WireDomain): boolean =>
    scope.whole === true ||
    (named.has(zoneName(domain)) && (parts.has(zoneName(domain)) || !isSpared(domain, scope))) ||
    (!stated.has(zoneName(domain)) && isOwned(domain, scope)) ||
    (domain.type === "master" && scope.wants?.(identifyZone({ domain, records: null })) === true);
  const needed = new Set(domains.filter(isNeeded));
  const progress = { done: 0, total: needed.size };
  const read = await readEach<WireDomain, LiveZone>(domains, watch.signal, async (domain, signal) => {
    if (!needed.has(domain)) return { domain, records: null };
    const list = await api.list({ path: ["domains", String(domain.id), "records"] }, signal);
    if (!list.ok) return { ok: false, what: `the records of ${domain.domain}`, failure: list.failure };
    progress.done += 1;
    watch.progress?.(progress.done, progress.total);
    return { domain, records: list.items as unknown as WireRecord[] };
  });
  return read.ok ? { ok: true, items: read.parts, total: answer.total } : read;
}

/** Domains that others are to be cloned from: their ids are needed. */
function sourcesOf({ declared }: Scope<ZoneSpec>): string[] {
  return declared.flatMap(({ spec }) => (spec.createFrom?.type === "clone" ? [spec.createFrom.domain] : []));
}

function namesWithRecords(scope: Scope<ZoneSpec>): Set<string> {
  const names = new Set<string>();
  // A domain that is deleted as a whole is read, too: what its records point to must not be deleted before it.
  for (const { key, destroy } of scope.removed) if (destroy) names.add(key);
  for (const { key, spec } of scope.declared) if (scope.destroy || spec.records !== null) names.add(key);
  return names;
}

/** Whether a destroy leaves the domain alone, because it does not carry the owner's tag. */
function isSpared(domain: WireDomain, { destroyOwner }: Scope<ZoneSpec>): boolean {
  return destroyOwner !== undefined && ownerOfTags(domain.tags) !== destroyOwner;
}

/** Whether the domain carries the owner's tag. If no manifest declares it, it is deleted as a whole, unless the run is narrowed. */
function isOwned(domain: WireDomain, { owner, destroy }: Scope<ZoneSpec>): boolean {
  return !destroy && owner !== null && ownerOfTags(domain.tags) === owner;
}

/** The service keeps the letter case of a domain (OBSERVED: Domains); its name does not depend on it. */
export function zoneName(domain: Pick<WireDomain, "domain">): string {
  return toAscii(domain.domain) ?? domain.domain;
}

export function identifyZone({ domain }: LiveZone): LiveIdentity {
  const name = zoneName(domain);
  const sharedWith = sharedWithOf(domain.tags);
  return {
    id: domain.id,
    key: name,
    address: domainAddress(name),
    owner: ownerOfTags(domain.tags),
    ...(sharedWith.length === 0 ? {} : { sharedWith }),
    shown: { type: domain.type, status: domain.status, created: domain.created },
  };
}

/** A record by what it says, with the name that a resolver asks for: that of an SRV holds its service. */
export function listZone(live: LiveZone): ListedResource[] {
  const { domain, records } = live;
  const { id, type, status, description, group, soa_email, ttl_sec, created, updated } = domain;
  const { key, address } = identifyZone(live);
  const own = { domain: key, type, status, description, group, soa_email, ttl_sec, created, updated };
  return [
    { kind: "domain", address, id, name: key, values: own },
    ...(records ?? []).map((record): ListedResource => {
      const values = anyLiveRecord(record, key);
      const name = values.name === "" ? "@" : values.name;
      return {
        kind: "domain_record",
        address: recordAddress(address, values.name, values.type),
        id: record.id,
        name,
        values: { domain: key, domain_id: id, ...values, name },
      };
    }),
  ];
}
