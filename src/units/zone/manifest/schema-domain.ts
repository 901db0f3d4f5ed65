/** JSON Schema of a domain entry (API.md, Domain). */

import type { JsonObject } from "../../../model/resource.ts";
import { LINT, MAX_SECONDS, NOTE, OWN_KEYS, oneOf } from "./schema-parts.ts";

function seconds(title: string, description: string): JsonObject {
  return {
    title,
    description: `${description} 0: the service's default. Other values than the service's are rounded to the nearest.`,
    type: ["integer", "null"],
    minimum: 0,
    maximum: MAX_SECONDS,
    examples: [14400],
  };
}

function addresses(title: string, description: string): JsonObject {
  return {
    title,
    description,
    type: ["array", "null"],
    items: { type: "string", title: "Address", description: "An IPv4 or IPv6 address." },
    examples: [["192.0.2.53", "2001:db8::53"]],
  };
}

/** What a domain may have by default, too. */
export const DOMAIN_FIELDS: Readonly<Record<string, JsonObject>> = {
  type: {
    title: "Type",
    description: "master: the records are kept here. slave: a read-only copy of another server's zone.",
    type: "string",
    enum: ["master", "slave"],
  },
  status: {
    title: "Status",
    description: "Whether the domain is served.",
    type: ["string", "null"],
    enum: ["active", "disabled", null],
    default: "active",
  },
  description: {
    title: "Description",
    description: "At most 253 characters. Absent: left alone; null: emptied.",
    type: ["string", "null"],
    maxLength: 253,
    examples: ["Main site"],
  },
  group: {
    title: "Group",
    description: "At most 50 characters, display only. Absent: left alone; null: emptied.",
    type: ["string", "null"],
    maxLength: 50,
    examples: ["web"],
  },
  soa_email: {
    title: "SOA e-mail",
    description: "Start-of-authority address, at most 254 characters; required for a master.",
    type: ["string", "null"],
    maxLength: 254,
    examples: ["hostmaster@example.com"],
  },
  master_ips: addresses("Master addresses", "Servers a slave copies from; required for a slave."),
  axfr_ips: addresses(
    "Transfer addresses",
    "Who may copy the zone by AXFR. Together with master_ips at most 1000 characters.",
  ),
  refresh_sec: seconds("Refresh", "Seconds between refreshes by secondaries."),
  retry_sec: seconds("Retry", "Seconds between retries of a failed refresh."),
  expire_sec: seconds("Expire", "Seconds after which secondaries stop answering."),
  ttl_sec: seconds("Default TTL", "Seconds that resolvers may keep records without a TTL of their own."),
  tags: {
    title: "Tags",
    description:
      "Organisational tags of 3 to 50 characters; compared without regard to case. Tags that begin with tenon: are Tenon's.",
    type: ["array", "null"],
    items: { type: "string", title: "Tag", description: "3 to 50 characters.", minLength: 3, maxLength: 50 },
    examples: [["production"]],
  },
  use: {
    title: "Use",
    description:
      "Record sets whose records the domain has, too. Where one meets the domain's own records, or another set's, of the same name and type, the later one says under `override` what is meant.",
    type: "array",
    items: { type: "string", title: "Record set", description: "A name under record_sets of any file." },
    examples: [["mail"]],
  },
  zone_file: {
    title: "Zone file",
    description:
      "A master file (RFC 1035) inside the project whose records the domain has, too. Where `records` or `use` have the same name and type, they say under `override` what is meant. null: none.",
    type: ["string", "null"],
    minLength: 1,
    examples: ["zones/example.com.zone"],
  },
  ignore: {
    title: "Ignore",
    description: "Records that are not read, not planned, not touched.",
    type: "array",
    items: { $ref: "#/$defs/ignore_pattern" },
    examples: [[{ name: "_acme-challenge*", type: "TXT" }]],
  },
  records_policy: {
    title: "Records policy",
    description: "authoritative: undeclared records are deleted. additive: records are only ever created.",
    type: "string",
    enum: ["authoritative", "additive"],
    default: "authoritative",
  },
  protect: { title: "Protect", description: "true: never deleted or replaced.", type: "boolean", default: false },
  lint: LINT,
  note: NOTE,
};

const CREATE_FROM: JsonObject = {
  title: "Create from",
  description:
    "How the domain is made if it is not there yet: as a clone of another one, or with what a name server has of it. Not beside records: those that come with it are not managed.",
  type: "object",
  ...oneOf(["clone", "axfr"]),
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    clone: {
      title: "Clone",
      description: "A domain of the account, whose fields and records are copied.",
      type: "string",
      minLength: 1,
      examples: ["example.com"],
    },
    axfr: {
      title: "AXFR",
      description: "A name server that lets the service transfer the zone: a host name or an address.",
      type: "string",
      minLength: 1,
      examples: ["ns1.example.net"],
    },
  },
  examples: [{ clone: "example.com" }, { axfr: "ns1.example.net" }],
};

export const DOMAIN_SCHEMA: JsonObject = {
  title: "Domain",
  description: "A DNS zone and its records.",
  type: "object",
  ...oneOf(["domain", "reverse"]),
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    domain: {
      title: "Domain",
      description: "The zone's name, in Unicode or punycode; or a list: one entry, many domains.",
      type: ["string", "array"],
      minLength: 1,
      minItems: 1,
      items: { type: "string", minLength: 1, title: "Domain", description: "A zone's name." },
      examples: ["example.com", ["parked.example", "parked.test"]],
    },
    reverse: {
      title: "Reverse zone",
      description:
        "In place of `domain`: the network whose reverse zone it is, an IPv4 network of /8, /16 or /24 or an IPv6 network of whole hexadecimal digits; or a list.",
      type: ["string", "array"],
      minLength: 1,
      minItems: 1,
      items: { type: "string", minLength: 1, title: "Network", description: "An address and a prefix length." },
      examples: ["192.0.2.0/24", "2001:db8::/32"],
    },
    id: {
      title: "Id",
      description: "The live domain's id. Names are unique, so it is hardly ever needed.",
      type: "integer",
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [123],
    },
    ...DOMAIN_FIELDS,
    create_from: CREATE_FROM,
    records: {
      title: "Records",
      description:
        "All records of the domain: others are deleted. Absent, without `use` and `zone_file` too: records are not managed.",
      type: "array",
      items: { $ref: "#/$defs/record" },
      examples: [[{ type: "A", name: "www", target: "192.0.2.10" }]],
    },
  },
  examples: [{ domain: "example.com", type: "master", soa_email: "hostmaster@example.com", records: [] }],
};
