/** What a zone file holds and is not taken over: codes, and the types that signing adds. */

/** Of warnings about what belongs to the service that served the zone until now. */
export const ZONE_FILE_SOA_CODE = "zone-file-soa";
export const ZONE_FILE_APEX_NS_CODE = "zone-file-apex-ns";
export const ZONE_FILE_SIGNING_CODE = "zone-file-signing";

/**
 * What signing a zone adds to it (RFC 4034; RFC 5155; RFC 7344): worth nothing without the signer's keys. DS is none of it: it vouches
 * for another zone.
 */
export const SIGNING_TYPES: ReadonlySet<string> = new Set("RRSIG NSEC NSEC3 NSEC3PARAM DNSKEY CDS CDNSKEY".split(" "));

/** Of what the service cannot keep: an error, or with --skip-unsupported a warning. */
export const ZONE_FILE_UNSUPPORTED_CODE = "zone-file-unsupported";
