/** Codes of what a zone file holds and is not taken over. */

/** Of warnings about what belongs to the service that served the zone until now. */
export const ZONE_FILE_SOA_CODE = "zone-file-soa";
export const ZONE_FILE_APEX_NS_CODE = "zone-file-apex-ns";

/** Of what the service cannot keep: an error, or with --skip-unsupported a warning. */
export const ZONE_FILE_UNSUPPORTED_CODE = "zone-file-unsupported";
