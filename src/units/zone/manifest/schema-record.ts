/** JSON Schema of a record entry (API.md, Domain record). */

import type { JsonObject } from "../../../model/resource.ts";
import { BUILDER_SCHEMAS } from "./schema-builders.ts";
import { LINT, NOTE, OWN_KEYS, oneOf, TTL } from "./schema-parts.ts";

export const RECORD_TYPES = ["A", "AAAA", "CAA", "CNAME", "MX", "NS", "PTR", "SRV", "TXT"] as const;

/** API.md, Limits. */
const MAX_PRIORITY = 255;
const MAX_SIXTEEN_BITS = 65_535;
export const RECORD_SCHEMA: JsonObject = {
  title: "Record",
  description:
    "A DNS record, or with `targets` several of one name and type; or a builder (spf, dmarc, dkim, caa, ptr) that becomes records.",
  type: "object",
  ...oneOf(["type", ...Object.keys(BUILDER_SCHEMAS)]),
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    type: { title: "Type", description: "The record's type.", type: "string", enum: RECORD_TYPES },
    name: {
      title: "Name",
      description:
        'Relative to the zone ("www"), "@" or nothing for the apex, or absolute with a final dot. Quote "@" and "*".',
      type: "string",
      default: "",
      examples: ["www", "*.dev", "@", "www.example.com."],
    },
    target: {
      title: "Target",
      description:
        "Address, name or text. A name without dots is relative to the zone, one with a final dot is absolute. TXT is raw text: no quotes, no escapes.",
      type: "string",
      examples: ["192.0.2.10", "mx.example.net.", "v=spf1 -all"],
    },
    targets: {
      title: "Targets",
      description: "Several targets: one record each.",
      type: "array",
      minItems: 1,
      items: { type: "string", title: "Target", description: "As in `target`." },
      examples: [["192.0.2.10", "192.0.2.11"]],
    },
    ttl_sec: TTL,
    priority: {
      title: "Priority",
      description: "MX and SRV: lower is preferred. Required for SRV.",
      type: "integer",
      minimum: 0,
      maximum: MAX_PRIORITY,
      default: 0,
      examples: [10],
    },
    weight: {
      title: "Weight",
      description: "SRV, required: higher is preferred among equal priorities.",
      type: "integer",
      minimum: 0,
      maximum: MAX_SIXTEEN_BITS,
      examples: [5],
    },
    port: {
      title: "Port",
      description: "SRV, required: the port of the service.",
      type: "integer",
      minimum: 0,
      maximum: MAX_SIXTEEN_BITS,
      examples: [5060],
    },
    service: {
      title: "Service",
      description:
        "SRV: the service, with `protocol`; `name` is then the parent. Or write _sip._tcp into `name`. Without a protocol only at the apex.",
      type: "string",
      minLength: 1,
      examples: ["sip"],
    },
    protocol: {
      title: "Protocol",
      description: "SRV: the protocol, beside `service`.",
      type: "string",
      minLength: 1,
      examples: ["tcp"],
    },
    tag: { title: "Tag", description: "CAA, required.", type: "string", enum: ["issue", "issuewild", "iodef"] },
    override: {
      title: "Override",
      description:
        "Where a record set that the domain uses, or its zone file, has records of the same name and type: true replaces them, false stands beside them. In a record set it is about the sets before it under `use`, and the zone file.",
      type: "boolean",
      examples: [true],
    },
    note: NOTE,
    lint: LINT,
    ...BUILDER_SCHEMAS,
  },
  examples: [
    { type: "A", name: "www", targets: ["192.0.2.10", "192.0.2.11"] },
    { type: "MX", target: "mx.example.net.", priority: 10 },
  ],
};
