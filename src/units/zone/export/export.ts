/** A zone as a master file (RFC 1035, 5): its records, with the SOA and the name servers that no record list has. Pure. */

import type { PlainRecord } from "../../../dns/plain-record.ts";
import { writeZoneFile } from "../../../dns/zone-file/write.ts";
import type { Diagnostic } from "../../../model/diagnostic.ts";
import type { Json } from "../../../model/resource.ts";
import { ADD_SERVER_ADDRESS, fittingRecords, type LeftOut } from "./fit.ts";

/** What 0 stands for (OBSERVED: Zone file). */
const DEFAULT_REFRESH_SECONDS = 14_400;
const DEFAULT_RETRY_SECONDS = 14_400;
const DEFAULT_EXPIRE_SECONDS = 1_209_600;
const DEFAULT_TTL_SECONDS = 86_400;

/** What a field of the SOA, or a TTL, can hold (RFC 2181, 8). */
const MAX_SECONDS = 2 ** 31 - 1;

/** A name that never exists (RFC 2606), where nobody knows the zone's servers: to be replaced before the file is used. */
const PLACEHOLDER_SERVER = "nameserver.invalid";

export interface ExportedFrom {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  /** Under the API's names; an absent one is the service's default. */
  readonly fields: Readonly<Record<string, Json>>;
  readonly records: readonly PlainRecord[];
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
  // The SOA names none that the NS cannot name.
  const left = fitting.leftOut.flatMap(({ record }) => (isApexServer(record) ? [record.target] : []));
  const missing = new Set(left.filter((host) => !servers.includes(host)));
  const named = [...options.nameservers, ...(isGiven ? [] : [rendered.mname ?? []].flat()), ...servers];
  const mname = named.find((host) => !missing.has(host)) ?? PLACEHOLDER_SERVER;
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

function isApexServer({ type, name }: PlainRecord): boolean {
  return type === "NS" && name === "";
}

/** The zone's TTL, as the service renders its own. */
function apexServer(target: string): PlainRecord {
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

function levelledNote({ name, type }: PlainRecord, zone: string): Diagnostic {
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
