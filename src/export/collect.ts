/** Collects what is exported: what the manifests declare, and, where the account was read, the ids and all that they leave to it. */

import type { WireDomain, WireImage, WireRecord, WireVpc } from "../api/wire.ts";
import { type DnsRecord, RECORD_TYPES } from "../dns/record.ts";
import type { Annotations } from "../model/annotations.ts";
import type { Failure, ReadApi } from "../model/api.ts";
import type { Change } from "../model/change.ts";
import type { Declared, Desired } from "../model/desired.ts";
import type { Live } from "../model/live.ts";
import type { Plan } from "../model/plan.ts";
import { type Address, type Json, type ObjectId, recordAddress, subnetAddress } from "../model/resource.ts";
import { compareText, groupBy } from "../model/text.ts";
import { annotationsOf, readEach } from "../units/common.ts";
import type { ImageSpec } from "../units/image/spec.ts";
import type { LiveNetwork } from "../units/network/live.ts";
import type { NetworkSpec } from "../units/network/manifest.ts";
import { isReservedTag, joinDescription, splitDescription } from "../units/owner-tag.ts";
import { renderedLines } from "../units/zone/export.ts";
import type { LiveZone } from "../units/zone/live.ts";
import type { ZoneSpec } from "../units/zone/spec.ts";
import { desiredRecord, isKnownRecord, liveRecord, type RecordValues, recordBody } from "../units/zone/wire-record.ts";
import type {
  Exported,
  ExportedDomain,
  ExportedImage,
  ExportedRecord,
  ExportedSubnet,
  ExportedVpc,
  Extra,
} from "./exported.ts";

/** The account, as a plan of the project has read it, and what that plan leaves to be read. */
export interface Account {
  readonly plan: Plan;
  readonly live: Live;
  /** Domain id → its records, of domains whose records the project does not declare. */
  readonly undeclared: ReadonlyMap<ObjectId, readonly WireRecord[]>;
  /** Domain id → the zone file that the service renders, line by line. */
  readonly rendered: ReadonlyMap<ObjectId, readonly string[]>;
}

/** @param account null: what the manifests say is all that is known */
export function collectExported(desired: Desired, account: Account | null): Exported {
  const index = account === null ? null : new AccountIndex(account);
  const of = <Spec>(unit: string) => desired.declared.filter((one) => one.unit === unit) as Declared<Spec>[];
  return {
    vpcs: of<NetworkSpec>("network").map((declared) => vpcOf(declared, index)),
    domains: of<ZoneSpec>("zone").map((declared) => domainOf(declared, index)),
    images: of<ImageSpec>("image").map((declared) => imageOf(declared, index)),
    extras: [...extrasOf(desired), ...desired.declared.flatMap(extrasOfObject)],
  };
}

/** The plan by address, and the live objects by id. */
class AccountIndex {
  readonly #changes: ReadonlyMap<Address, readonly Change[]>;
  readonly #live: ReadonlyMap<string, unknown>;
  readonly undeclared: Account["undeclared"];
  readonly rendered: Account["rendered"];

  constructor({ plan, live, undeclared, rendered }: Account) {
    this.#changes = groupBy(plan.changes, ({ root }) => root);
    const items = ({ units }: Live, unit: string) => units[unit]?.items ?? [];
    this.#live = new Map<string, unknown>([
      ...(items(live, "network") as LiveNetwork[]).map((one) => [`vpc ${one.vpc.id}`, one] as const),
      ...(items(live, "zone") as LiveZone[]).map((one) => [`domain ${one.domain.id}`, one] as const),
      ...(items(live, "image") as WireImage[]).map((one) => [`image ${one.id}`, one] as const),
    ]);
    this.undeclared = undeclared;
    this.rendered = rendered;
  }

  /** What becomes of the object itself. */
  root(address: Address): Change | null {
    return this.#changes.get(address)?.find((change) => change.address === address && change.after !== null) ?? null;
  }

  within(address: Address): readonly Change[] {
    return this.#changes.get(address)?.filter((change) => change.address !== address) ?? [];
  }

  /** The live object that a change is about; null if there is none. */
  live<Item>({ kind, id }: Change): Item | null {
    return id === null ? null : ((this.#live.get(`${kind} ${id}`) as Item | undefined) ?? null);
  }
}

function vpcOf(declared: Declared<NetworkSpec>, index: AccountIndex | null): ExportedVpc {
  const { address, spec, protect, note } = declared;
  const change = index?.root(address) ?? null;
  const live = change === null ? null : (index?.live<LiveNetwork>(change)?.vpc ?? null);
  const stated = new Map(spec.subnets?.map((subnet) => [subnet.label, subnet]));
  const subnet = (label: string, ipv4: string, id: ObjectId | null): ExportedSubnet => ({
    address: subnetAddress(address, label),
    id,
    protect: stated.get(label)?.protect ?? protect,
    note: stated.get(label)?.note ?? null,
    ...annotationsOf(stated.get(label)),
    label,
    ipv4,
  });
  return {
    ...{ address, id: change?.id ?? null, protect, note, label: spec.label, region: spec.region },
    ...annotationsOf(declared),
    description: describe(change, spec.description, live?.description ?? null),
    subnets: subnetsOf(spec, change === null ? null : (index?.within(address) ?? null), live, subnet),
  };
}

function subnetsOf(
  { subnets }: NetworkSpec,
  changes: readonly Change[] | null,
  live: WireVpc | null,
  make: (label: string, ipv4: string, id: ObjectId | null) => ExportedSubnet,
): readonly ExportedSubnet[] {
  if (subnets === null) return (live?.subnets ?? []).map(({ label, ipv4, id }) => make(label, ipv4, id));
  if (changes === null) return subnets.map(({ label, ipv4 }) => make(label, ipv4, null));
  return changes.flatMap(({ after, id }) =>
    after === null ? [] : [make(String(after["label"]), String(after["ipv4"]), id)],
  );
}

/** The description with the tag that the live object has: to take that off is a change that nobody asked for. */
function describe(change: Change | null, stated: string | null | undefined, live: string | null): string {
  const text = change === null ? (stated ?? "") : String(change.after?.["description"] ?? "");
  if (live === null) return text;
  const { text: before, owner, sha256 } = splitDescription(live);
  return before === text ? live : joinDescription(text, owner, sha256);
}

function imageOf(declared: Declared<ImageSpec>, index: AccountIndex | null): ExportedImage {
  const { address, spec, protect, note } = declared;
  const change = index?.root(address) ?? null;
  const live = change === null ? null : (index?.live<WireImage>(change) ?? null);
  const { label, source } = spec;
  // What was never finished is made anew, under another id.
  const id = live === null || live.status === "pending_upload" ? null : live.id;
  const description = describe(change, spec.description, live === null ? null : (live.description ?? ""));
  return { address, id, protect, note, ...annotationsOf(declared), label, description, source };
}

function domainOf(declared: Declared<ZoneSpec>, index: AccountIndex | null): ExportedDomain {
  const { address, spec, protect, note } = declared;
  const change = index?.root(address) ?? null;
  const live = change === null ? null : (index?.live<LiveZone>(change) ?? null);
  const domain = live?.domain ?? null;
  const id = change?.id ?? null;
  return {
    ...{ address, id, protect, note, zone: spec.domain, domain: domain?.domain ?? spec.domain },
    ...annotationsOf(declared),
    fields: fieldsOf(spec, change, domain),
    records: recordsOf(address, spec, change, live, index),
    others: othersOf(address, spec, live, index),
    isPart: spec.part !== undefined,
    rendered: id === null ? [] : (index?.rendered.get(id) ?? []),
  };
}

/** Fields of the plan that are Tenon's own, or stand elsewhere. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["domain", "owner", "shared_with", "create_from"]);

function fieldsOf(spec: ZoneSpec, change: Change | null, live: WireDomain | null): Record<string, Json> {
  const values = Object.entries(change?.after ?? spec.fields).filter(([field]) => !OWN_FIELDS.has(field));
  const fields = Object.fromEntries(values);
  const kept = live?.tags.filter(isReservedTag) ?? [];
  return kept.length === 0 ? fields : { ...fields, tags: [...((fields["tags"] ?? []) as readonly string[]), ...kept] };
}

function recordsOf(
  address: Address,
  spec: ZoneSpec,
  change: Change | null,
  live: LiveZone | null,
  index: AccountIndex | null,
): readonly ExportedRecord[] | null {
  const make = ({ id, note = null, values, fields, ...said }: Parts): ExportedRecord => ({
    address: recordAddress(address, values.name, values.type),
    ...{ id, note, record: plain(values), fields },
    ...annotationsOf(said),
  });
  if (spec.records === null) {
    if (live === null || live.domain.type === "slave") return spec.fields["type"] === "slave" ? [] : null;
    const known = (index?.undeclared.get(live.domain.id) ?? []).filter(isKnownRecord);
    return sorted(known.map((record) => make(partsOf(record, spec.domain))));
  }
  if (change === null || index === null) {
    return sorted(
      spec.records.map((record) => {
        const values = desiredRecord(record);
        const { note } = record;
        const said = { note, ...annotationsOf(record) };
        return make({ id: null, ...said, values, fields: recordBody(values, Object.keys(values)) });
      }),
    );
  }
  const byId = new Map(live?.records?.map((record) => [record.id, record]));
  const planned = index.within(address).flatMap((one): ExportedRecord[] => {
    const { action, after, id, note } = one;
    const said = { note, ...annotationsOf(one) };
    if (after === null) return [];
    const there = action === "no-op" ? byId.get(id as number) : undefined;
    if (there !== undefined && isKnownRecord(there)) return [make({ ...partsOf(there, spec.domain), ...said })];
    const values = after as RecordValues;
    return [make({ id, ...said, values, fields: recordBody(values, Object.keys(values)) })];
  });
  return sorted(planned);
}

interface Parts {
  readonly id: ObjectId | null;
  readonly note?: string | null;
  readonly annotations?: Annotations;
  readonly values: RecordValues;
  readonly fields: Readonly<Record<string, Json>>;
}

function partsOf(record: WireRecord & { readonly type: DnsRecord["type"] }, zone: string): Parts {
  const { id, created: _created, updated: _updated, ...fields } = record;
  return { id, values: liveRecord(record, zone), fields };
}

/** Without what else the values of a plan may hold. */
function plain({ type, name, target, ttl_sec, priority, weight, port, tag }: DnsRecord): DnsRecord {
  return {
    ...{ type, name, target, ttl_sec },
    ...(priority === undefined ? {} : { priority }),
    ...(weight === undefined ? {} : { weight }),
    ...(port === undefined ? {} : { port }),
    ...(tag === undefined ? {} : { tag }),
  };
}

/** By name, type and data, so that the same records are the same text, whatever their order in manifest and account. */
function sorted(records: readonly ExportedRecord[]): ExportedRecord[] {
  const keyed = records.map((one) => ({ one, key: sortKey(one.record) }));
  return keyed.sort((a, b) => compareText(a.key, b.key)).map(({ one }) => one);
}

function sortKey({ name, type, target, ttl_sec, ...values }: DnsRecord): string {
  const numbers = [values.priority, values.weight, values.port, ttl_sec].map((value = 0) =>
    String(value).padStart(10, "0"),
  );
  return [name, String(RECORD_TYPES.indexOf(type)), values.tag ?? "", ...numbers, target].join("\0");
}

/** What is ignored, left to other projects, or beside the declared records of an additive zone. */
function othersOf(address: Address, spec: ZoneSpec, live: LiveZone | null, index: AccountIndex | null): DnsRecord[] {
  if (spec.records === null || live === null || index === null) return [];
  const planned = new Set(index.within(address).map(({ id }) => id));
  const others = live.records?.filter(isKnownRecord).filter(({ id }) => !planned.has(id)) ?? [];
  return others.map((record) => plain(liveRecord(record, spec.domain)));
}

// What the manifests say and the account does not.

function extrasOf({ owner, account, allow, removed, lintOff }: Desired): Extra[] {
  const keys = [
    ...(owner === null ? [] : ["owner"]),
    ...(account === null ? [] : ["account"]),
    ...(allow.length === 0 ? [] : ["allow"]),
    ...(lintOff.length === 0 ? [] : ["lint"]),
  ];
  return [
    ...keys.map((key) => ({ key, address: null })),
    ...removed.map(({ address }) => ({ key: "removed", address })),
  ];
}

function extrasOfObject(declared: Declared): Extra[] {
  const { address, unit } = declared;
  const keys =
    unit === "zone"
      ? zoneKeys(declared.spec as ZoneSpec)
      : unit === "image"
        ? imageKeys(declared.spec as ImageSpec)
        : [];
  return keys.map((key) => ({ key, address }));
}

function zoneKeys({ ignore, policy, sharedWith, part, lintOff, records }: ZoneSpec): string[] {
  return [
    ...(ignore.length === 0 ? [] : ["ignore"]),
    ...(policy === "additive" ? ["records_policy"] : []),
    ...(sharedWith === undefined ? [] : ["shared_with"]),
    ...(part === undefined ? [] : ["part"]),
    ...(lintOff.length > 0 || records?.some((record) => record.lintOff.length > 0) ? ["lint"] : []),
  ];
}

function imageKeys({ family, track }: ImageSpec): string[] {
  return [...(family === null ? [] : ["family"]), ...(track ? ["track"] : [])];
}

// What an export reads beside what a plan reads.

type ReadAccount =
  | { readonly ok: true; readonly account: Account }
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

interface ReadZone {
  readonly id: ObjectId;
  readonly lines: readonly string[];
  /** null: they were read with the plan. */
  readonly records: readonly WireRecord[] | null;
}

/**
 * Reads the records that the project leaves to the account, one list for each such domain, and, if asked to, the zone file that the service
 * renders of each master, one request each.
 */
export async function readAccount(
  { plan, live }: Pick<Account, "plan" | "live">,
  desired: Desired,
  api: ReadApi,
  options: { readonly rendersZones: boolean; readonly signal?: AbortSignal },
): Promise<ReadAccount> {
  const zones = new Map(((live.units["zone"]?.items ?? []) as LiveZone[]).map((zone) => [zone.domain.id, zone]));
  const ids = new Map(plan.changes.map(({ address, id }) => [address, id]));
  const masters = desired.declared.flatMap((declared) => {
    const zone = declared.unit === "zone" ? zones.get(ids.get(declared.address) as number) : undefined;
    if (zone === undefined || zone.domain.type === "slave") return [];
    return [{ zone, isUndeclared: (declared.spec as ZoneSpec).records === null }];
  });
  const read = await readEach<(typeof masters)[number], ReadZone>(masters, options.signal, async (master, signal) => {
    const { domain } = master.zone;
    const path = ["domains", String(domain.id)];
    const rendered = options.rendersZones ? await api.get({ path: [...path, "zone-file"] }, signal) : null;
    if (rendered?.ok === false && rendered.failure.type === "aborted") {
      return { ok: false, what: `the zone file of ${domain.domain}`, failure: rendered.failure };
    }
    // Without it the zone can be written all the same: a right may be missing, or it is not rendered yet.
    const lines = rendered?.ok === true ? renderedLines(rendered.body) : [];
    if (!master.isUndeclared) return { id: domain.id, lines, records: null };
    const list = await api.list({ path: [...path, "records"] }, signal);
    if (!list.ok) return { ok: false, what: `the records of ${domain.domain}`, failure: list.failure };
    return { id: domain.id, lines, records: list.items as unknown as readonly WireRecord[] };
  });
  if (!read.ok) return read;
  const undeclared = new Map(
    read.parts.flatMap(({ id, records }) => (records === null ? [] : [[id, records] as const])),
  );
  const rendered = new Map(read.parts.map(({ id, lines }) => [id, lines] as const));
  return { ok: true, account: { plan, live, undeclared, rendered } };
}
