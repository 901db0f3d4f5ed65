/** What is told when a zone file is read, not by a rule that looks at zones: switched off by its code all the same. */

import { ZONE_FILE_APEX_NS_CODE, ZONE_FILE_SIGNING_CODE, ZONE_FILE_SOA_CODE } from "../dns/set-aside-codes.ts";
import type { RuleText } from "./rule.ts";

export const ZONE_FILE_SOA: RuleText = {
  code: ZONE_FILE_SOA_CODE,
  severity: "warning",
  finds: "an SOA record in a `zone_file`",
  why: "It says how the service that served the zone until now kept it; the service that serves it from now on writes its own.",
  fix: "Set `soa_email`, `refresh_sec` and the like at the domain, and remove the record or switch this off.",
};

export const ZONE_FILE_APEX_NS: RuleText = {
  code: ZONE_FILE_APEX_NS_CODE,
  severity: "warning",
  finds: "NS records at the apex in a `zone_file`, unless `records` or `use` declare such records",
  why: "They name the name servers of the service that served the zone until now; taken over, they would send resolvers back to it.",
  fix: "Declare name servers under `records` if you manage them, and remove the lines or switch this off.",
};

export const ZONE_FILE_SIGNING: RuleText = {
  code: ZONE_FILE_SIGNING_CODE,
  severity: "warning",
  finds: "records that signing adds (RRSIG, NSEC, NSEC3, NSEC3PARAM, DNSKEY, CDS, CDNSKEY) in a `zone_file`",
  why: "The service that serves the zone from now on has not the keys. While the parent has a DS record, resolvers that validate refuse unsigned answers.",
  fix: "Name the file that is not signed, and remove the DS record at the parent before the delegation changes.",
};
