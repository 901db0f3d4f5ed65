/** A zone as a master file (RFC 1035, 5): its records, with the SOA and the name servers that no record list has. Pure. */

import type { WireDomain, WireRecord } from "../../api/wire.ts";
import { absoluteName, nameProblem, relativeName } from "../../dns/name.ts";
import { type DnsRecord, MAX_SECONDS } from "../../dns/record.ts";
import { toAscii } from "../../dns/unicode.ts";
import { unwritable, writeZoneFile } from "../../dns/zone-file/write.ts";
import { ZoneTree } from "../../dns/zone-tree.ts";
import type { Failure, ReadApi } from "../../model/api.ts";
import type { Declared, Desired } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { mapKey } from "../../model/map-key.ts";
import { type Address, isJsonObject, type Json } from "../../model/resource.ts";
import { groupBy } from "../../model/text.ts";
import { liveDomain } from "./domain.ts";
import { isIgnored } from "./ignore.ts";
import { type LiveZone, zoneName } from "./live.ts";
import { isOthersName } from "./sharing.ts";
import type { RecordSpec, ZoneSpec } from "./spec.ts";
import { isKnownRecord, liveRecord } from "./wire-record.ts";

/** What 0 stands for (OBSERVED: Zone file). */
const DEFAULT_REFRESH_SECONDS = 14_400;
const DEFAULT_RETRY_SECONDS = 14_400;
const DEFAULT_EXPIRE_SECONDS = 1_209_600;
const DEFAULT_TTL_SECONDS = 86_400;

/** A name that never exists (RFC 2606), where nobody knows the zone's servers: to be replaced before the file is used. */
const PLACEHOLDER_SERVER = "nameserver.invalid";

export interface ExportedFrom {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  /** Fields under the API's names; an absent one has the service's default. */
  readonly fields: Readonly<Record<string, Json>>;
  readonly records: readonly DnsRecord[];
  /** The zone file that the service renders, line by line; empty if there is none. */
  readonly rendered: readonly string[];
}

export interface ExportOptions {
  /** Names of the servers, absolute, lower-case ASCII, without a final dot; empty: those that the service renders. */
  readonly nameservers: readonly string[];
  /** null: the rendered one, else one made of the date. */
  readonly serial: number | null;
  /** Milliseconds since the epoch. */
  readonly nowMilliseconds: number;
}

export interface ExportedZone {
  readonly text: string;
  /** Warnings: what is not in the file, and what was made up. */
  readonly notes: readonly Diagnostic[];
}

export function exportZone(source: ExportedFrom, options: ExportOptions): ExportedZone {
  const { zone, fields } = source;
  const rendered = readRendered(source.rendered);
  const ttl_sec = secondsOf(fields["ttl_sec"], DEFAULT_TTL_SECONDS);
  const own = new Set(source.records.flatMap((record) => (isApexServer(record) ? [record.target] : [])));
  const isGiven = options.nameservers.length > 0;
  const others = (isGiven ? options.nameservers : rendered.nameservers).filter((host) => !own.has(host));
  const fitting = fittingRecords([...others.map(apexServer), ...source.records], zone, ttl_sec);
  const servers = fitting.records.flatMap((record) => (isApexServer(record) ? [record.target] : []));
  // The primary server in the SOA must not be a server whose NS record was left out.
  const left = fitting.leftOut.flatMap(({ record }) => (isApexServer(record) ? [record.target] : []));
  const missing = new Set(left.filter((host) => !servers.includes(host)));
  const named = [...options.nameservers, ...(isGiven ? [] : [rendered.mname ?? []].flat()), ...servers];
  const mname = named.find((host) => !missing.has(host) && nameProblem(host, false) === null) ?? PLACEHOLDER_SERVER;
  const text = writeZoneFile({
    zone,
    soa: {
      mname,
      email: String(fields["soa_email"] || `hostmaster@${zone}`),
      serial: options.serial ?? rendered.serial ?? dateSerial(options.nowMilliseconds),
      refresh: secondsOf(fields["refresh_sec"], DEFAULT_REFRESH_SECONDS),
      retry: secondsOf(fields["retry_sec"], DEFAULT_RETRY_SECONDS),
      expire: secondsOf(fields["expire_sec"], DEFAULT_EXPIRE_SECONDS),
      ttl_sec,
    },
    nameservers: servers.length === 0 ? [PLACEHOLDER_SERVER] : [],
    records: fitting.records,
  });
  const notes = [
    ...fitting.leftOut.map((left) => leftOutNote(left, zone)),
    ...fitting.levelled.map((record) => levelledNote(record, zone)),
    ...(servers.length === 0 ? [placeholderNote(zone, missing.size > 0)] : []),
  ];
  return { text, notes };
}

function isApexServer({ type, name }: DnsRecord): boolean {
  return type === "NS" && name === "";
}

/** The zone's TTL, as the service renders its own. */
function apexServer(target: string): DnsRecord {
  return { type: "NS", name: "", target, ttl_sec: 0 };
}

interface Rendered {
  readonly mname: string | null;
  readonly serial: number | null;
  readonly nameservers: readonly string[];
}

/** SOA and apex NS in the form that the service was seen to give them (OBSERVED: Zone file); other lines are records. */
function readRendered(lines: readonly string[]): Rendered {
  let mname: string | null = null;
  let serial: number | null = null;
  const nameservers: string[] = [];
  for (const line of lines) {
    const soa = /^@\s+(?:\d+\s+)?IN\s+SOA\s+(\S+?)\.\s+\S+\s+(\d{1,10})\s/i.exec(line);
    const server = /^@\s+(?:\d+\s+)?(?:IN\s+)?NS\s+(\S+?)\.\s*$/i.exec(line);
    if (soa?.[1] !== undefined) {
      mname = soa[1].toLowerCase();
      serial = Number(soa[2]);
    }
    if (server?.[1] !== undefined) nameservers.push(server[1].toLowerCase());
  }
  return { mname, serial, nameservers };
}

/** As people number their zones by hand (RFC 1912, 2.2): the day in UTC, and the first version of it. */
function dateSerial(nowMilliseconds: number): number {
  return Number(`${new Date(nowMilliseconds).toISOString().slice(0, 10).replaceAll("-", "")}00`);
}

function secondsOf(value: Json | undefined, fallback: number): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= MAX_SECONDS ? value : fallback;
}

function leftOutNote({ record, reason, fix }: LeftOut, zone: string): Diagnostic {
  return {
    code: "record-left-out",
    severity: "warning",
    summary: `a record is not in the file: ${record.name === "" ? "@" : record.name} ${record.type}`,
    detail: `The record of ${zone} with the target \`${record.target}\` is left out: ${reason}.`,
    ...(fix === undefined ? {} : { fix }),
  };
}

function levelledNote({ name, type }: DnsRecord, zone: string): Diagnostic {
  return {
    code: "mixed-ttl",
    severity: "warning",
    summary: `the TTLs of ${name === "" ? "@" : name} ${type} differ`,
    detail: `Records of one name and type have one TTL (RFC 2181, 5.2); those of ${zone} are written with the lowest.`,
  };
}

/** @param someLeftOut whether servers are known that the file cannot name */
function placeholderNote(zone: string, someLeftOut: boolean): Diagnostic {
  return {
    code: "nameservers-unknown",
    severity: "warning",
    summary: someLeftOut ? `no name server of ${zone} can be named` : `the name servers of ${zone} are not known`,
    detail: `The file names ${PLACEHOLDER_SERVER} in their place, which does not exist.`,
    fix: someLeftOut ? ADD_SERVER_ADDRESS : "Give them with --nameserver NAME.",
  };
}

// Declared zones for those who ask what is served or write it down: records in the plain form, and what else may be there.

export interface DeclaredZone {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  readonly address: Address;
  readonly fields: Readonly<Record<string, Json>>;
  /** null: not managed. */
  readonly records: readonly DnsRecord[] | null;
  /** Only a part of its names is declared, and none of the domain itself. */
  readonly isPart: boolean;
  /** Whether a record may be there that is not declared. */
  tolerates(record: DnsRecord): boolean;
  /** How many patterns it compares a record with for that. */
  readonly patternCount: number;
}

/** In the order of the manifests. */
export function declaredZones(desired: Desired): DeclaredZone[] {
  return desired.declared.flatMap((declared) =>
    declared.unit === "zone" ? [declaredZone(declared as Declared<ZoneSpec>)] : [],
  );
}

function declaredZone({ address, spec }: Declared<ZoneSpec>): DeclaredZone {
  const { domain, fields, records, ignore, policy, part, sharedWith = [] } = spec;
  const names = [...(part ?? []), ...sharedWith.flatMap((share) => share.names)];
  return {
    zone: domain,
    address,
    fields,
    records: records?.map(plainRecord) ?? null,
    tolerates: (record) =>
      records === null || policy === "additive" || isOthersName(record.name, spec) || isIgnored(record, ignore, domain),
    patternCount: records === null || policy === "additive" ? 0 : names.length + ignore.length,
    isPart: part !== undefined,
  };
}

function plainRecord({ span: _, note: _note, annotations: _said, lintOff: _off, ...record }: RecordSpec): DnsRecord {
  return record;
}

// Which records a zone file can hold: a nameserver rejects the whole zone because of one line that it cannot read. Pure.

/** RFC 1035, 4.2.2: octets in a message over TCP. A record set larger than this cannot be sent in any answer. */
const MAX_MESSAGE_OCTETS = 65_535;

/** The header, the fixed fields of the question, its name, and what a nameserver adds (RFC 6891, RFC 7873). */
const MESSAGE_FRAME_OCTETS = 12 + 4 + 256 + 128;

/**
 * Octets of a record besides its data: pointer to the name 2, type 2, class 2, TTL 4, data length 2; and 2 for the first length octet and
 * the root label of a name in the data.
 */
const RECORD_FRAME_OCTETS = 14;

/** The numbers of an SRV record, the most that a record has before its text: priority 2, weight 2, port 2. */
const MAX_NUMBERS_OCTETS = 6;

/** RFC 1035, 3.3: octets in a character-string, without its length. */
const MAX_STRING_OCTETS = 255;

interface LeftOut {
  readonly record: DnsRecord;
  /** One clause. */
  readonly reason: string;
  /** What to do, as a full sentence. */
  readonly fix?: string;
}

interface Fitting {
  readonly records: readonly DnsRecord[];
  readonly leftOut: readonly LeftOut[];
  /** The first record of each name and type whose TTLs differed: its set has the lowest now. */
  readonly levelled: readonly DnsRecord[];
}

/**
 * @param records of the zone; the order decides which of two equal ones stays
 * @param zoneTtl seconds that 0 stands for
 */
function fittingRecords(records: readonly DnsRecord[], zone: string, zoneTtl: number): Fitting {
  const leftOut: LeftOut[] = [];
  const seen = new Set<string>();
  const octets = new Map<string, number>();
  const kept: DnsRecord[] = [];
  for (const record of records) {
    const reason = misfit(record, zone, seen, octets);
    if (reason === null) kept.push(record);
    else leftOut.push({ record, reason });
  }
  const tree = new ZoneTree("", kept, ({ type }) => type);
  const isFound = (record: DnsRecord): boolean =>
    record.type !== "NS" || record.name !== "" || hasAddress(tree, relativeName(record.target, zone));
  for (const record of kept) if (!isFound(record)) leftOut.push({ record, ...NO_SERVER_ADDRESS });
  return { ...levelTtls(kept.filter(isFound), zoneTtl), leftOut };
}

/**
 * Whether a server can be found: its host lies elsewhere, or has an address here, or is delegated away.
 * @param host relative to the zone; null: it lies elsewhere
 */
function hasAddress(tree: ZoneTree<DnsRecord>, host: string | null): boolean {
  if (host === null || tree.cutAbove(host) !== null) return true;
  const types = tree.typesAt(tree.answeringName(host) ?? host);
  return types.has("A") || types.has("AAAA");
}

const ADD_SERVER_ADDRESS = "Add an A or AAAA record for that host, or name a server outside the zone.";

/** Nameservers refuse a zone whose own server cannot be found in it. */
const NO_SERVER_ADDRESS: Omit<LeftOut, "record"> = {
  reason: "its host is in the zone, and has no address record there",
  fix: ADD_SERVER_ADDRESS,
};

/**
 * The records of one name and type have one TTL, the lowest of theirs (RFC 2181, 5.2): of several, some nameservers take the
 * first, others give each its own.
 */
function levelTtls(records: readonly DnsRecord[], zoneTtl: number): Pick<Fitting, "records" | "levelled"> {
  const levelled: DnsRecord[] = [];
  const sets = groupBy(records, ({ name, type }) => `${type} ${name}`);
  const level = [...sets.values()].flatMap((set) => {
    const ttls = new Set(set.map(({ ttl_sec }) => ttl_sec || zoneTtl));
    if (ttls.size === 1) return set;
    const lowest = [...ttls].reduce((least, ttl) => Math.min(least, ttl));
    levelled.push(...set.slice(0, 1));
    return set.map((record) => ({ ...record, ttl_sec: lowest }));
  });
  return { records: level, levelled };
}

function misfit(record: DnsRecord, zone: string, seen: Set<string>, octets: Map<string, number>): string | null {
  const { type, name, ttl_sec: _, ...rest } = record;
  const owner = absoluteName(name, zone);
  if (nameProblem(owner, false) !== null) return "its full name is not a valid DNS name";
  const problem = unwritable(record);
  if (problem !== null) return problem;
  if (type === "CNAME" && name === "") return "a CNAME cannot stand beside the zone's own SOA and NS";
  const whole = mapKey(JSON.stringify([type, name, Object.entries(rest).sort()]));
  if (seen.has(whole)) return "it is there twice, and is written once";
  const key = `${type} ${name}`;
  const sum = (octets.get(key) ?? MESSAGE_FRAME_OCTETS) + dataOctets(record);
  if (sum > MAX_MESSAGE_OCTETS)
    return "the records of its name and type do not fit into one DNS message (65,535 octets)";
  octets.set(key, sum);
  seen.add(whole);
  return null;
}

/** An upper bound: a name takes less if an end of it is already in the message. */
function dataOctets({ type, target, tag = "" }: DnsRecord): number {
  const length = Buffer.byteLength(target);
  const strings = type === "TXT" ? Math.ceil(length / MAX_STRING_OCTETS) : 0;
  return RECORD_FRAME_OCTETS + MAX_NUMBERS_OCTETS + tag.length + length + strings;
}

// One zone of the account as a whole: the domain, its records, and the zone file that the service renders.

type ReadZone =
  /** `source` is null if the account has no such domain. */
  | { readonly ok: true; readonly source: ExportedFrom | null; readonly notes: readonly Diagnostic[] }
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

/** @param zone lower-case ASCII without a final dot */
export async function readZone(api: ReadApi, zone: string, signal?: AbortSignal): Promise<ReadZone> {
  const subset = { field: "domain", values: [zone] };
  const domains = await api.list({ path: ["domains"], subset }, signal);
  if (!domains.ok) return { ok: false, what: "the list of domains", failure: domains.failure };
  const domain = (domains.items as unknown as WireDomain[]).find((item) => zoneName(item) === zone);
  if (domain === undefined) return { ok: true, source: null, notes: [] };
  const path = ["domains", String(domain.id)];
  const list = await api.list({ path: [...path, "records"] }, signal);
  if (!list.ok) return { ok: false, what: `the records of ${domain.domain}`, failure: list.failure };
  const rendered = await api.get({ path: [...path, "zone-file"] }, signal);
  if (!rendered.ok && rendered.failure.type === "aborted") {
    return { ok: false, what: `the zone file of ${domain.domain}`, failure: rendered.failure };
  }
  const live: LiveZone = { domain, records: list.items as unknown as WireRecord[] };
  const notes: Diagnostic[] = [];
  const records: DnsRecord[] = [];
  for (const record of live.records ?? []) {
    if (isKnownRecord(record)) records.push(liveRecord(record, zone));
    else notes.push(unknownType(record));
  }
  // Without it the zone can be written all the same; a right may be missing, or it is not rendered yet.
  const lines = rendered.ok ? renderedLines(rendered.body) : [];
  return { ok: true, source: { zone, fields: liveDomain(live), records, rendered: lines }, notes };
}

/** The zone file in an answer of the service, line by line. */
export function renderedLines(body: Json): readonly string[] {
  const lines = isJsonObject(body) ? body["zone_file"] : null;
  return Array.isArray(lines) ? lines.filter((line: Json) => typeof line === "string") : [];
}

function unknownType({ type, name }: WireRecord): Diagnostic {
  return {
    code: "record-left-out",
    severity: "warning",
    summary: `a record is not in the file: ${name === "" ? "@" : name} ${String(type)}`,
    detail: "Tenon does not know this record type.",
  };
}

// Declared zones by their names.

export type SelectedZones =
  | { readonly ok: true; readonly zones: readonly DeclaredZone[] }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** The declared zones of these names, in Unicode or punycode; of none: all of them. */
export function selectZones(desired: Desired, names: readonly string[]): SelectedZones {
  const zones = declaredZones(desired);
  if (names.length === 0) return { ok: true, zones };
  const chosen: DeclaredZone[] = [];
  for (const name of names) {
    const ascii = zoneNameOf(name);
    const zone = zones.find((candidate) => candidate.zone === ascii);
    if (zone === undefined) return { ok: false, diagnostic: unknownZone(name, "The project declares no such domain.") };
    if (!chosen.includes(zone)) chosen.push(zone);
  }
  return { ok: true, zones: chosen };
}

/** Lower-case ASCII without a final dot; null if it is no name. */
export function zoneNameOf(text: string): string | null {
  const name = toAscii(text.trim())?.replace(/\.$/, "") ?? "";
  return name === "" || nameProblem(name, false) !== null ? null : name;
}

export function unknownZone(name: string, detail: string): Diagnostic {
  return { code: "unknown-domain", severity: "error", summary: `no domain ${name}`, detail };
}
