/** DNS records: one form, and one table of types, whatever a record is read from or written to. */

import type { Span } from "../model/diagnostic.ts";

/** How the target is written in a message and in a zone file (RFC 1035, 3.3). */
export type TargetFormat =
  | "ipv4"
  | "ipv6"
  | "name"
  /** Character strings of at most 255 octets each, one text together. */
  | "strings"
  /** All that is left of the data, one text (RFC 8659, 4.1.1). */
  | "octets";

/** Fields of a record beside its target, each a number of 16 bits but for the tag: letters and digits (RFC 8659, 4.1). */
export type ValueField = "priority" | "weight" | "port" | "tag";

interface RecordTypeRules {
  /** In messages (the IANA registry of DNS parameters). */
  readonly code: number;
  /** Its data begins with a number of 8 bits that the service does not keep: the service means 0. */
  readonly hasFlags?: true;
  /** The fields of its data before the target, in that order. */
  readonly values: readonly ValueField[];
  readonly target: TargetFormat;
  /** Which of the values an entry of a manifest must state; a number that is not stated is 0. */
  readonly required?: readonly ValueField[];
  /** The target is a name whose address resolvers go on to look up. */
  readonly isFollowed?: true;
  /** The target may be the root, which says that there is no such service (RFC 2782; RFC 7505). */
  readonly allowsRoot?: true;
}

/** What the service keeps (API.md: Domain record, type), in the order in which zone files list them. */
const TYPES = {
  NS: { code: 2, values: [], target: "name", isFollowed: true },
  A: { code: 1, values: [], target: "ipv4" },
  AAAA: { code: 28, values: [], target: "ipv6" },
  CNAME: { code: 5, values: [], target: "name", isFollowed: true },
  MX: { code: 15, values: ["priority"], target: "name", isFollowed: true, allowsRoot: true },
  TXT: { code: 16, values: [], target: "strings" },
  CAA: { code: 257, hasFlags: true, values: ["tag"], target: "octets", required: ["tag"] },
  SRV: {
    code: 33,
    values: ["priority", "weight", "port"],
    target: "name",
    required: ["priority", "weight", "port"],
    isFollowed: true,
    allowsRoot: true,
  },
  PTR: { code: 12, values: [], target: "name" },
} as const;

export type RecordType = keyof typeof TYPES;

const RULES: Readonly<Record<RecordType, RecordTypeRules>> = TYPES;

/** In the order of zone files. */
export const RECORD_TYPES: readonly RecordType[] = Object.keys(TYPES) as RecordType[];

export function isRecordType(type: string): type is RecordType {
  return Object.hasOwn(TYPES, type);
}

export function rulesOf(type: RecordType): RecordTypeRules {
  return RULES[type];
}

/** Whether the type's target is a name. */
export function isNamed(type: RecordType): boolean {
  return TYPES[type].target === "name";
}

/** Whether the type's target is a text: raw in a manifest, octets in a message. */
export function isText(type: RecordType): boolean {
  return rulesOf(type).target === "strings" || rulesOf(type).target === "octets";
}

export type DnsRecord = {
  readonly type: RecordType;
  /** Relative to the zone, lower-case ASCII, `""` the apex; of an SRV in full, `_sip._tcp.parent`. */
  readonly name: string;
  /** Names absolute, lower-case ASCII, without a final dot, `""` the root; addresses canonical; texts raw. */
  readonly target: string;
  /** Seconds; from a zone file or an answer as they are there, else as the service keeps them, 0 the zone's default. */
  readonly ttl_sec: number;
  /** MX, SRV. */
  readonly priority?: number;
  /** SRV. */
  readonly weight?: number;
  readonly port?: number;
  /** CAA. */
  readonly tag?: string;
};

/** The data of a record as a message or a zone file has it: a target that is a text in octets, one character each. */
export type Rdata = Omit<DnsRecord, "name" | "ttl_sec"> & { readonly flags?: number };

/** Reads the fields of the data one after the other. */
export interface RdataReader {
  uint8(field: "flags"): number;
  uint16(field: Exclude<ValueField, "tag">): number;
  tag(): string;
  target(format: TargetFormat): string;
}

export function readRdata(type: RecordType, reader: RdataReader): Rdata {
  const { hasFlags, values } = rulesOf(type);
  const flags = hasFlags ? { flags: reader.uint8("flags") } : {};
  const read: Partial<Record<ValueField, string | number>> = {};
  for (const field of values) read[field] = field === "tag" ? reader.tag() : reader.uint16(field);
  return { type, ...flags, ...(read as Partial<DnsRecord>), target: reader.target(TYPES[type].target) };
}

/** The data in words, as zone files write it: flags and values, then the target. */
export function writeRdata(rdata: Rdata, target: string): string {
  const { hasFlags, values } = rulesOf(rdata.type);
  const words = values.map((field) => rdata[field] ?? (field === "tag" ? DEFAULT_TAG : 0));
  return [...(hasFlags ? [rdata.flags ?? 0] : []), ...words, target].join(" ");
}

const DEFAULT_TAG = "issue";

// What the service takes (API.md, Limits and Domain record).

/** The largest number of seconds that DNS can express (RFC 2181, 8); what the service keeps is less. */
export const MAX_SECONDS = 2_147_483_647;

export const MAX_VALUES: Readonly<Record<Exclude<ValueField, "tag">, number>> = {
  priority: 255,
  weight: 65_535,
  port: 65_535,
};

export const CAA_TAGS: readonly string[] = ["issue", "issuewild", "iodef"];

/** Characters that no text may hold: control characters of ASCII, with DEL; the others (U+0080 to U+009F) are text like any other. */
export const CONTROL_CHARACTER: RegExp = /[^\P{Cc}\u0080-\u009f]/u;

/** A value of a CAA record with flags and tag put before it, as zone files have them. */
export const WRITTEN_CAA: RegExp = /^\d+ (issue|issuewild|iodef) /;

/** A record with the place it was read from. */
export interface SourceRecord extends DnsRecord {
  readonly span: Span;
}

/**
 * Why a record of a source does not become a record of the manifest.
 * - `soa`, `apex-ns`: they belong to the service that served the zone until now.
 * - `unsupported-type`: none of the nine types.
 * - `not-holdable`: of a supported type, but the service cannot keep it (CAA flags, a priority over 255, octets that are no text, …).
 */
export type SkipReason = "soa" | "apex-ns" | "unsupported-type" | "not-holdable";

/** A record that was read and skipped: always reported, never dropped in silence. */
export interface SkippedRecord {
  readonly reason: SkipReason;
  /** As its source writes it, for example `SSHFP` or `TYPE65534`. */
  readonly type: string;
  /** Relative to the zone, `""` the apex; absolute with a final dot if it lies outside, or if the file holds many zones. */
  readonly name: string;
  /** Full sentence: what it is and why it is skipped. */
  readonly detail: string;
  readonly span: Span;
}

// Names at which ACME looks for the answer to a challenge (RFC 8555, 8.4).

/** @param name relative or absolute */
export function isAcmeName(name: string): boolean {
  return /^_acme-challenge(\.|$)/i.test(name);
}

// What a zone file holds and is not taken over: codes, and the types that signing adds.

/** Codes of warnings about data of the service that served the zone until now. */
export const ZONE_FILE_SOA_CODE = "zone-file-soa";
export const ZONE_FILE_APEX_NS_CODE = "zone-file-apex-ns";
export const ZONE_FILE_SIGNING_CODE = "zone-file-signing";

/**
 * What signing a zone adds to it (RFC 4034; RFC 5155; RFC 7344): worth nothing without the signer's keys. DS is none of it: it vouches
 * for another zone.
 */
export const SIGNING_TYPES: ReadonlySet<string> = new Set("RRSIG NSEC NSEC3 NSEC3PARAM DNSKEY CDS CDNSKEY".split(" "));

/** The codes of what the service cannot keep: an error, or with --skip-unsupported a warning. */
export const ZONE_FILE_UNSUPPORTED_CODE = "zone-file-unsupported";
