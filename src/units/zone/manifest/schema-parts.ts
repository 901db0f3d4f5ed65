/** What the JSON Schemas of domains and of records share. */

import type { JsonObject } from "../../../model/resource.ts";

/** The largest number of seconds DNS can express (RFC 2181, 8); what the service keeps is less. */
export const MAX_SECONDS = 2_147_483_647;

export const OWN_KEYS: JsonObject = { "^x-": { title: "Your own", description: "Keys that begin with x- are yours." } };

/** Defined by the manifest itself, as the root file has it, too. */
export const LINT: JsonObject = { $ref: "#/$defs/lint" };

export const NOTE: JsonObject = { title: "Note", description: "For people; shown in plans.", type: "string" };

export const TTL: JsonObject = {
  title: "TTL",
  description:
    "Seconds that resolvers may keep it; 0: the domain's default. Other values than the service's are rounded to the nearest.",
  type: "integer",
  minimum: 0,
  maximum: MAX_SECONDS,
  default: 0,
  examples: [300, 3600, 86400],
};

/** Exactly one of these keys. */
export function oneOf(keys: readonly string[]): JsonObject {
  return { oneOf: keys.map((key) => ({ required: [key] })) };
}
