/** JSON Schema of what a manifest says about zones, put together for the published schema. */

import type { JsonObject } from "../../../model/resource.ts";
import { DOMAIN_FIELDS } from "./schema-domain.ts";
import { IGNORE_SCHEMA } from "./schema-ignore.ts";
import { OWN_KEYS, TTL } from "./schema-parts.ts";
import { RECORD_SCHEMA } from "./schema-record.ts";

export const ZONE_DEFINITIONS: Readonly<Record<string, JsonObject>> = {
  record: RECORD_SCHEMA,
  ignore_pattern: IGNORE_SCHEMA,
  record_defaults: {
    title: "Record defaults",
    description: "For every record in this file.",
    type: "object",
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties: { ttl_sec: TTL },
    examples: [{ ttl_sec: 3600 }],
  },
  domain_defaults: {
    title: "Domain defaults",
    description: "For every domain in this file.",
    type: "object",
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties: DOMAIN_FIELDS,
    examples: [{ type: "master", soa_email: "hostmaster@example.com" }],
  },
};
