/** Codes of the warnings about what a zone file holds for the service that served the zone until now. */

export const ZONE_FILE_SOA_CODE = "zone-file-soa";
export const ZONE_FILE_APEX_NS_CODE = "zone-file-apex-ns";
