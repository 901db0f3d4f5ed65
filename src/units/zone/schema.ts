/** JSON Schema of what a manifest says about zones, put together for the published schema. */

import { MAX_SECONDS, MAX_VALUES, RECORD_TYPES, type RecordType, type SourceRecord } from "../../dns/record.ts";
import { IGNORE_PRESETS, type IgnorePattern } from "../../model/desired.ts";
import type { EntrySchema, PropertiesOf, SchemaOf } from "../../model/entry.ts";
import type { JsonObject } from "../../model/resource.ts";
import { type AnnotationEntry, annotationProperties, ONLY_WARNED, OWN_KEYS } from "../common.ts";
import { OWNER_PATTERN } from "../owner-tag.ts";
import { BUILDER_SCHEMAS, type BuilderEntry, LINT, NOTE, oneOf, TTL } from "./schema-builders.ts";
import type { LintEntry } from "./spec.ts";

/** An entry of `records`; a builder has become plain records before it is loaded. */
export interface RecordEntry extends BuilderEntry, AnnotationEntry {
  readonly type?: RecordType;
  readonly name?: string;
  readonly target?: string;
  readonly targets?: readonly string[];
  readonly ttl_sec?: number;
  readonly priority?: number;
  readonly weight?: number;
  readonly port?: number;
  readonly service?: string;
  readonly protocol?: string;
  readonly tag?: "issue" | "issuewild" | "iodef";
  readonly override?: boolean;
  readonly note?: string;
  readonly lint?: LintEntry;
}

const RECORD_SCHEMA: EntrySchema<RecordEntry> = {
  title: "Record",
  description:
    "A DNS record, or with `targets` several of one name and type; or a builder (spf, dmarc, dkim, caa, ptr) that becomes records.",
  type: "object",
  ...oneOf(["type", ...Object.keys(BUILDER_SCHEMAS)]),
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    type: { title: "Type", description: "The record's type.", type: "string", enum: RECORD_TYPES.toSorted() },
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
      maximum: MAX_VALUES.priority,
      default: 0,
      examples: [10],
    },
    weight: {
      title: "Weight",
      description: "SRV, required: higher is preferred among equal priorities.",
      type: "integer",
      minimum: 0,
      maximum: MAX_VALUES.weight,
      examples: [5],
    },
    port: {
      title: "Port",
      description: "SRV, required: the port of the service.",
      type: "integer",
      minimum: 0,
      maximum: MAX_VALUES.port,
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
        "true: this entry replaces the records of the same name and type that come from a used record set or the zone file. false: it is added to them. In a record set, this covers the zone file and the sets listed earlier under `use`.",
      type: "boolean",
      examples: [true],
    },
    note: NOTE,
    ...annotationProperties(
      "From the day after it the record is no longer declared: validate warns, and it is deleted with the consent `delete`.",
    ),
    lint: LINT,
    ...BUILDER_SCHEMAS,
  },
  examples: [
    { type: "A", name: "www", targets: ["192.0.2.10", "192.0.2.11"] },
    { type: "MX", target: "mx.example.net.", priority: 10 },
  ],
};

const IGNORE_SCHEMA: EntrySchema<IgnorePattern> = {
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

/** What a domain may have by default, too. */
interface DomainDefaults extends AnnotationEntry {
  readonly type?: "master" | "slave";
  readonly status?: "active" | "disabled" | null;
  readonly description?: string | null;
  readonly group?: string | null;
  readonly soa_email?: string | null;
  readonly master_ips?: readonly string[] | null;
  readonly axfr_ips?: readonly string[] | null;
  readonly refresh_sec?: number | null;
  readonly retry_sec?: number | null;
  readonly expire_sec?: number | null;
  readonly ttl_sec?: number | null;
  readonly tags?: readonly string[] | null;
  readonly use?: readonly string[];
  readonly zone_file?: string | null;
  readonly ignore?: readonly IgnorePattern[];
  readonly records_policy?: "authoritative" | "additive";
  readonly protect?: boolean;
  readonly lint?: LintEntry;
  readonly note?: string;
}

const DOMAIN_FIELDS: PropertiesOf<DomainDefaults> = {
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
      "Organisational tags of 3 to 50 characters; compared without regard to case. Tags that begin with tenon: or tenon-part: are Tenon's.",
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
  ...annotationProperties(ONLY_WARNED),
};

// JSON Schema of `shared_with` and `part`: zones that teams share.

export interface ShareEntry {
  readonly owner?: string;
  readonly names?: readonly string[];
}

export interface PartEntry {
  readonly names?: readonly string[];
}

const NAMES: SchemaOf<readonly string[]> = {
  title: "Names",
  description:
    'Globs over names relative to the zone; "@" is the apex. `*` matches any text, dots included, `\\*` the label of a wildcard.',
  type: "array",
  minItems: 1,
  items: {
    type: "string",
    minLength: 1,
    title: "Name",
    description: 'Relative to the zone, or absolute with a final dot. Quote "@" and "*".',
  },
  examples: [["shop", "*.shop"]],
};

const SHARE: EntrySchema<ShareEntry> = {
  title: "Share",
  description: "Names that the project of another owner manages: here they are not read, not planned, not touched.",
  type: "object",
  required: ["owner", "names"],
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    owner: {
      title: "Owner",
      description: "The `owner` of the other project. The domain gets the tag tenon-part:OWNER.",
      type: "string",
      pattern: `^${OWNER_PATTERN}$`,
      examples: ["shop-team"],
    },
    names: NAMES,
  },
  examples: [{ owner: "shop-team", names: ["shop", "*.shop"] }],
};

const PART: EntrySchema<PartEntry> = {
  title: "Part",
  description:
    "The domain is another project's, which shares these names with the owner of this one: only their records are managed.",
  type: "object",
  required: ["names"],
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: { names: NAMES },
  examples: [{ names: ["shop", "*.shop"] }],
};

export const ZONE_DEFINITIONS: Readonly<Record<string, JsonObject>> = {
  record: RECORD_SCHEMA,
  ignore_pattern: IGNORE_SCHEMA,
  share: SHARE,
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

// JSON Schema of a domain entry (API.md, Domain).

function seconds(title: string, description: string): SchemaOf<number | null> {
  return {
    title,
    description: `${description} 0: the service's default. Other values than the service's are rounded to the nearest.`,
    type: ["integer", "null"],
    minimum: 0,
    maximum: MAX_SECONDS,
    examples: [14400],
  };
}

function addresses(title: string, description: string): SchemaOf<readonly string[] | null> {
  return {
    title,
    description,
    type: ["array", "null"],
    items: { type: "string", title: "Address", description: "An IPv4 or IPv6 address." },
    examples: [["192.0.2.53", "2001:db8::53"]],
  };
}

interface CreateFromEntry {
  readonly clone?: string;
  readonly axfr?: string;
}

const CREATE_FROM: EntrySchema<CreateFromEntry> = {
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

/** A domain entry once it is expanded. */
export interface ExpandedDomain extends DomainEntry {
  /** Of `records`, those whose entries have expired. */
  readonly expired?: readonly RecordEntry[];
  /** Those that come back as others expire, which override them, and the last day of that. */
  readonly later?: readonly { readonly record: RecordEntry; readonly after: string }[];
}

/** An entry of `domains`; one with several names, or `reverse`, has become one for each name before it is loaded. */
export interface DomainEntry extends DomainDefaults {
  readonly domain?: string | readonly string[];
  readonly reverse?: string | readonly string[];
  readonly id?: number;
  readonly create_from?: CreateFromEntry;
  readonly shared_with?: readonly ShareEntry[];
  readonly part?: PartEntry;
  /** Of the manifest, or of the zone file. */
  readonly records?: readonly (RecordEntry | SourceRecord)[];
}

export const DOMAIN_SCHEMA: EntrySchema<DomainEntry> = {
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
    shared_with: {
      title: "Shared with",
      description:
        "Names that other projects manage, by their owners. While a domain is shared, it carries a tag for each of them, and it is not deleted.",
      type: "array",
      items: { $ref: "#/$defs/share" },
      examples: [[{ owner: "shop-team", names: ["shop", "*.shop"] }]],
    },
    part: PART,
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

// JSON Schema of an entry of `ignore`.

function pattern(title: string, description: string, examples: readonly string[]): SchemaOf<string> {
  return {
    title,
    description: `${description} * matches any text, \\* a star.`,
    type: "string",
    minLength: 1,
    examples,
  };
}

function affix(title: string, description: string, examples: readonly string[]): SchemaOf<string> {
  return { title, description, type: "string", minLength: 1, examples };
}
