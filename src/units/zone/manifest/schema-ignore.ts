/** JSON Schema of an entry of `ignore`. */

import { IGNORE_PRESETS } from "../../../model/desired.ts";
import type { JsonObject } from "../../../model/resource.ts";
import { OWN_KEYS } from "./schema-parts.ts";

function pattern(title: string, description: string, examples: readonly string[]): JsonObject {
  return {
    title,
    description: `${description} * matches any text, \\* a star.`,
    type: "string",
    minLength: 1,
    examples,
  };
}

function affix(title: string, description: string, examples: readonly string[]): JsonObject {
  return { title, description, type: "string", minLength: 1, examples };
}

export const IGNORE_SCHEMA: JsonObject = {
  title: "Ignore pattern",
  description: "At least one of name, type, target and preset; all given parts must match.",
  type: "object",
  not: { type: "object", propertyNames: { pattern: "^x-" } },
  // Alone they would match nothing in particular, which is everything.
  dependentRequired: { txt_prefix: ["preset"], txt_suffix: ["preset"] },
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    preset: {
      title: "Preset",
      description:
        "acme: TXT records of ACME challenges. external-dns: its registry's TXT records, and every record of the names that they stand for.",
      type: "string",
      enum: IGNORE_PRESETS,
    },
    txt_prefix: affix("Registry prefix", "external-dns: its --txt-prefix.", ["extdns-", "%{record_type}-."]),
    txt_suffix: affix("Registry suffix", "external-dns: its --txt-suffix.", ["-extdns"]),
    name: pattern("Name", 'The name relative to the zone, "@" the apex.', ["_acme-challenge*", "@"]),
    type: pattern("Type", "The record's type.", ["TXT"]),
    target: pattern("Target", "The target.", ["*.elb.example.net"]),
  },
  examples: [{ name: "_acme-challenge*", type: "TXT" }, { preset: "external-dns" }],
};
