/** The published JSON Schema of a manifest: the project's own keys around the fragments of the units. */

import type { JsonObject } from "../model/resource.ts";
import type { Unit } from "../model/unit.ts";

/** What the manifest needs to know of a unit. */
export type UnitForm = Pick<Unit, "name" | "spec">;

/** Keys that only the root file may have. */
export const ROOT_ONLY_KEYS: readonly string[] = [
  "requires",
  "owner",
  "account",
  "files",
  "variables",
  "environments",
  "allow",
  "lint",
];

const OWN_KEYS: JsonObject = {
  "^x-": {
    title: "Your own",
    description: "Keys that begin with x- are yours: Tenon ignores them. A good place for YAML anchors.",
  },
};

/** Whether a key belongs to the manifest's author and means nothing to Tenon. */
export function isOwnKey(key: string): boolean {
  return key.startsWith("x-");
}

/** Draft 2020-12, complete enough for an editor to complete and explain. */
export function manifestSchema(units: readonly UnitForm[]): JsonObject {
  const definitions: Record<string, JsonObject> = { ...PROJECT_DEFINITIONS, removed: removedSchema(units) };
  for (const { spec } of units) Object.assign(definitions, spec.definitions);
  const sections = units.map(({ spec }) => [spec.section, section(spec.schema)] as const);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Tenon manifest",
    description: "VPCs, DNS domains and machine images of a cloud account, as they shall be.",
    type: "object",
    required: ["tenon"],
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties: { ...PROJECT_PROPERTIES, ...Object.fromEntries(sections), removed: REMOVED_LIST, allow: ALLOW_LIST },
    $defs: definitions,
  };
}

function section(entry: JsonObject): JsonObject {
  const { title, description } = entry;
  return { title: `${title}s`, description: `A list, one entry each. ${description}`, type: "array", items: entry };
}

const VARIABLE_VALUE = ["string", "number", "boolean", "array", "object"];

const PROJECT_PROPERTIES: Readonly<Record<string, JsonObject>> = {
  tenon: {
    title: "Format",
    description: "The format of the manifest; required in every file.",
    type: "integer",
    const: 1,
    examples: [1],
  },
  requires: {
    title: "Required version",
    description:
      "Root file only. The versions of Tenon that may run this project, as npm writes ranges; quote it. Another version refuses the project before it looks at the rest.",
    type: "string",
    minLength: 1,
    examples: [">=0.2 <1", "^0.2"],
  },
  owner: {
    title: "Owner",
    description:
      "Root file only. Objects that Tenon makes or adopts carry the tag of this owner, and those that carry it and are no longer declared are pruned. Lower-case letters, digits and hyphens, at most 32.",
    type: "string",
    pattern: "^[a-z0-9-]{1,32}$",
    examples: ["edge"],
  },
  account: {
    title: "Account",
    description:
      "Root file only. Must equal TENON_ACCOUNT when it runs, so that a wrong token cannot build a second network.",
    type: "string",
    minLength: 1,
    examples: ["production", "${var.env}"],
  },
  files: {
    title: "Further manifests",
    description:
      "Root file only. Paths and patterns inside the project folder. `*` and `?` match within one path segment; `**` matches any number of segments; a final `**` matches every file below.",
    type: "array",
    items: { type: "string", minLength: 1, title: "Pattern", description: "A path relative to the root file." },
    examples: [["zones/*.yaml", "networks/**/*.yaml"]],
  },
  variables: {
    title: "Variables",
    description:
      "Root file only. Referred to as ${var.name} in any value. A value that is one variable keeps its type. Write $${ for a literal ${.",
    type: "object",
    additionalProperties: false,
    patternProperties: { "^[A-Za-z_][A-Za-z0-9_-]*$": { $ref: "#/$defs/variable" } },
    examples: [{ env: {}, protect: { default: true } }],
  },
  environments: {
    title: "Environments",
    description: "Root file only. Named sets of values for the variables; one is chosen with --env.",
    type: "object",
    patternProperties: OWN_KEYS,
    additionalProperties: { $ref: "#/$defs/environment" },
    examples: [{ staging: { variables: { env: "staging" } } }],
  },
  lint: { $ref: "#/$defs/lint" },
  defaults: { $ref: "#/$defs/defaults" },
  record_sets: {
    title: "Record sets",
    description: "Named lists of records that any domain of the project takes over with `use`. ${zone} is its name.",
    type: "object",
    patternProperties: OWN_KEYS,
    additionalProperties: {
      title: "Record set",
      description: "The records of the set.",
      type: "array",
      items: { $ref: "#/$defs/record" },
    },
    examples: [{ mail: [{ type: "MX", target: "mx.example.net.", priority: 10 }] }],
  },
};

const REMOVED_LIST: JsonObject = {
  title: "Removed",
  description: "What shall be deleted, or let go of. Being named here is consent to the deletion.",
  type: "array",
  items: { $ref: "#/$defs/removed" },
  examples: [[{ domain: "old.example" }]],
};

const ALLOW_LIST: JsonObject = {
  title: "Allowed",
  description: "Root file only. Consent to changes that guards would refuse, reviewed like everything else.",
  type: "array",
  items: { $ref: "#/$defs/allow" },
  examples: [[{ replace: "vpc/prod", until: "2026-12-31", reason: "region move" }]],
};

function consent(what: string): JsonObject {
  return {
    title: "Consent",
    description: `${what} The value is an address, * matches anything.`,
    type: "string",
    minLength: 1,
    examples: ["vpc/prod", "domain/*.example.com"],
  };
}

const PROJECT_DEFINITIONS: Readonly<Record<string, JsonObject>> = {
  variable: {
    title: "Variable",
    description: "Required if it has no default.",
    type: "object",
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties: {
      default: { title: "Default", description: "Its value if nothing sets it.", type: VARIABLE_VALUE },
      description: { title: "Description", description: "What it is for.", type: "string" },
    },
    examples: [{}, { default: true }],
  },
  environment: {
    title: "Environment",
    description: "Values that hold with --env and this name.",
    type: "object",
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties: {
      variables: {
        title: "Variables",
        description: "Values of declared variables.",
        type: "object",
        additionalProperties: { title: "Value", description: "The variable's value.", type: VARIABLE_VALUE },
        examples: [{ env: "staging" }],
      },
    },
  },
  defaults: {
    title: "Defaults",
    description: "Hold for what is written in this file, its record sets included.",
    type: "object",
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties: { domain: { $ref: "#/$defs/domain_defaults" }, record: { $ref: "#/$defs/record_defaults" } },
    examples: [{ domain: { type: "master", soa_email: "hostmaster@example.com" }, record: { ttl_sec: 3600 } }],
  },
  lint: {
    title: "Lint",
    description:
      "Lint rules that are switched off: for the project in the root file, for one domain or record in its entry.",
    type: "object",
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties: {
      off: {
        title: "Off",
        description: "Codes of rules, as warnings name them.",
        type: "array",
        items: { title: "Code", description: "A rule's code.", type: "string", pattern: "^[a-z0-9]+(-[a-z0-9]+)*$" },
        examples: [["mixed-ttl"]],
      },
    },
    examples: [{ off: ["mixed-ttl"] }],
  },
  allow: {
    title: "Consent",
    description: "One of delete, replace, bulk and ns, with the address it holds for.",
    type: "object",
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties: {
      delete: consent(
        "Lets a prune of a domain, VPC or image pass, or the deletion of a record whose entry has expired.",
      ),
      replace: consent("Lets a domain, VPC, subnet or image be replaced."),
      bulk: consent("Lets many of a domain's records or of a VPC's subnets be removed at once."),
      ns: consent("Lets the name servers at the apex of an active domain change."),
      until: {
        title: "Until",
        description: "The last day on which it holds, YYYY-MM-DD.",
        type: "string",
        examples: ["2026-12-31"],
      },
      reason: { title: "Reason", description: "Shown in plans.", type: "string", examples: ["region move"] },
    },
  },
};

function removedSchema(units: readonly UnitForm[]): JsonObject {
  const keys = units.map(({ spec }) => [
    spec.removedKey,
    {
      title: `Removed ${spec.removedKey}`,
      description: `The ${spec.removedKey} by its name or label.`,
      type: "string",
      minLength: 1,
    },
  ]);
  return {
    title: "Removed object",
    description: `One of ${units.map(({ spec }) => spec.removedKey).join(", ")}, by name or label.`,
    type: "object",
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties: {
      ...Object.fromEntries(keys),
      destroy: {
        title: "Destroy",
        description: "false: keep the object, take the owner's tag off and forget it.",
        type: "boolean",
        default: true,
      },
      id: {
        title: "Id",
        description: "The id of the live object, where labels repeat: an integer, or for an image text.",
        type: ["integer", "string"],
        minimum: 1,
        // Beyond it, a number is not exact: two ids would be read as one.
        maximum: Number.MAX_SAFE_INTEGER,
        minLength: 1,
        examples: [123, "private/123"],
      },
      ignore: {
        title: "Ignore",
        description: "Only for a domain: the domain is not deleted while it holds a record that matches a pattern.",
        type: "array",
        items: { $ref: "#/$defs/ignore_pattern" },
      },
    },
    examples: [{ domain: "old.example" }, { vpc: "legacy", destroy: false }],
  };
}
