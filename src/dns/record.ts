/** A DNS record in one plain form, whatever it was read from: a zone file, an octoDNS file, a transfer, the account. */

import type { Span } from "../model/diagnostic.ts";

/** What the service keeps (API.md: Domain record, type). */
export const PLAIN_TYPES = ["A", "AAAA", "CAA", "CNAME", "MX", "NS", "PTR", "SRV", "TXT"] as const;

export type PlainType = (typeof PLAIN_TYPES)[number];

export interface PlainRecord {
  readonly type: PlainType;
  /** Relative to the zone, lower-case ASCII, `""` the apex; of an SRV in full, `_sip._tcp.parent`. */
  readonly name: string;
  /** Names absolute, lower-case ASCII, without a final dot, `""` the root; addresses canonical; TXT and CAA values raw text. */
  readonly target: string;
  /** Seconds as its source says, not yet rounded to what the service keeps. */
  readonly ttl_sec: number;
  /** MX, SRV. */
  readonly priority?: number;
  /** SRV. */
  readonly weight?: number;
  readonly port?: number;
  /** CAA. */
  readonly tag?: string;
}

/** A record with the place it was read from. */
export interface SourceRecord extends PlainRecord {
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
  /** Relative to the zone, `""` the apex; absolute with a final dot if it lies outside. */
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
