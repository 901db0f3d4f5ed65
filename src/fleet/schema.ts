/** The published JSON Schema of a fleet file. */

import type { JsonObject } from "../model/resource.ts";

/** Of variables, and of labels: each account that says some of its own has a list of its own. */
const MAX_NAMES = 256;

/** As in a manifest: Tenon ignores them. */
const OWN_KEYS: JsonObject = { "^x-": { title: "Your own", description: "Keys that begin with x- are yours." } };

export const NAME = "^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$";

/** Without keys of one's own: a misspelt `env` must not pass for one. */
const TOKEN: JsonObject = {
  title: "Token",
  description: "Where the account's access token is. The token itself never stands in a fleet file.",
  type: "object",
  additionalProperties: false,
  properties: {
    env: {
      title: "Environment variable",
      description: "The environment variable that holds the token, where the account is run.",
      type: "string",
      pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$",
      examples: ["SHOP_TOKEN"],
    },
    file: {
      title: "Token file",
      description: "A file that holds the token and nothing else: an absolute path, or one relative to the fleet file.",
      type: "string",
      minLength: 1,
      maxLength: 4096,
      examples: ["/run/secrets/shop"],
    },
  },
  oneOf: [{ required: ["env"] }, { required: ["file"] }],
  examples: ["{ env: SHOP_TOKEN }"],
};

/** What `defaults` may say for all accounts. */
const SHARED: Readonly<Record<string, JsonObject>> = {
  project: {
    title: "Project",
    description: "The project's folder, relative to the fleet file. Accounts may share one.",
    type: "string",
    minLength: 1,
    maxLength: 4096,
    examples: ["./project"],
  },
  environment: {
    title: "Environment",
    description: "Which of the project's `environments:`, as --env.",
    type: "string",
    minLength: 1,
    maxLength: 64,
    examples: ["production"],
  },
  variables: {
    title: "Variables",
    description: "Values of the project's variables, as --var. Those of an account go before those of `defaults`.",
    type: "object",
    maxProperties: MAX_NAMES,
    additionalProperties: { title: "Value", description: "The variable's value.", type: "string", maxLength: 65536 },
    examples: ["{ domain: shop.example }"],
  },
  service: {
    title: "Service",
    description: "A known service, by name.",
    type: "string",
    minLength: 1,
    maxLength: 64,
    examples: ["linode"],
  },
  base_url: {
    title: "Base URL",
    description: "The service's address, with /v4.",
    type: "string",
    minLength: 1,
    maxLength: 2048,
    examples: ["https://api.example.com/v4"],
  },
  dialect: {
    title: "Dialect",
    description: "The service's word for node, if it is not that of `service`.",
    type: "string",
    minLength: 1,
    maxLength: 64,
    examples: ["node"],
  },
  account: {
    title: "Account",
    description: "Which account the token is of, for projects that name theirs, as TENON_ACCOUNT.",
    type: "string",
    minLength: 1,
    maxLength: 256,
    examples: ["E1AF24F8-0B44-11EE-9B2F"],
  },
  labels: {
    title: "Labels",
    description: "Words to select accounts by, as in --select label.tier=gold.",
    type: "object",
    maxProperties: MAX_NAMES,
    additionalProperties: { title: "Label", description: "The label's value.", type: "string", maxLength: 256 },
    examples: ["{ tier: gold }"],
  },
};

/** All that an account can say but where its token is. */
export const ACCOUNT_KEYS: ReadonlySet<string> = new Set(["name", ...Object.keys(SHARED)]);

export const FLEET_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Fleet file",
  description: "The accounts of a fleet: for each its project, its service, and where its token is.",
  type: "object",
  required: ["fleet", "accounts"],
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    fleet: { title: "Format", description: "The version of the format.", type: "integer", const: 1, examples: ["1"] },
    defaults: {
      title: "Set of defaults",
      description: "What holds for each account that does not say otherwise.",
      type: "object",
      additionalProperties: false,
      patternProperties: OWN_KEYS,
      properties: SHARED,
    },
    accounts: {
      title: "Accounts",
      description: "A list, one entry each.",
      type: "array",
      items: {
        title: "Account entry",
        description: "An account of the fleet.",
        type: "object",
        required: ["name", "token"],
        additionalProperties: false,
        patternProperties: OWN_KEYS,
        properties: {
          name: {
            title: "Name",
            description: "What the fleet calls the account: lower-case letters, digits, dots, hyphens and underscores.",
            type: "string",
            pattern: NAME,
            examples: ["shop"],
          },
          ...SHARED,
          token: TOKEN,
        },
      },
    },
  },
};
