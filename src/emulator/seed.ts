/** A seed file: YAML → a seed, or an error that names the lines. */

import { createRequire } from "node:module";
import type { ErrorObject } from "ajv";
import { type Seed, SeedError } from "./options.ts";
import { MAX_CHOSEN_ID, RECORD_TYPES } from "./store.ts";
import { ENTITY_KINDS } from "./tickets.ts";

/** Shown at most; the rest is counted. */
const MAX_SHOWN_PROBLEMS = 20;

/** Enough for what a person writes; a file of nested aliases ends here. */
const MAX_ALIASES = 1_000;

/** API.md's word, which stands where no dialect has another. */
const NEUTRAL_WORD = "node";

/**
 * Judges the shape of a seed; whether the account can hold it is found when it starts.
 * @param word the operator's: `linodes`, images `linode/…` and entities of type `linode` are then understood, too
 * @throws SeedError
 */
export function parseSeed(text: string, word: string = NEUTRAL_WORD): Seed {
  // Loaded only here, and by require so that this function need not be asynchronous.
  const require = createRequire(import.meta.url);
  const yaml = require("yaml") as typeof import("yaml");
  const { Ajv } = require("ajv") as typeof import("ajv");
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    throw seedError(document.errors.map((error) => `line ${lineOf(error.pos[0])}: ${error.message}`));
  }
  let seed: unknown;
  try {
    seed = document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch (error) {
    throw seedError([error instanceof Error ? error.message : String(error)]);
  }
  const twice = neutralise(seed, word);
  if (twice !== null)
    throw seedError([`line ${lineOf(offsetOf(document, twice))}: ${twice.join(".")}: nodes is there as well`]);
  const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(SEED_SCHEMA);
  if (validate(seed)) return seed as Seed;
  throw seedError(
    (validate.errors ?? []).map((error) => {
      const path = asWritten(document, pathOf(error), word);
      return `line ${lineOf(offsetOf(document, path))}: ${describe(error, path)}`;
    }),
  );
}

/**
 * Puts API.md's word in the place of the operator's, in the seed itself.
 * @returns the path of a key that is there in both words, or null
 */
function neutralise(seed: unknown, word: string): string[] | null {
  if (word === NEUTRAL_WORD || !isObject(seed)) return null;
  const others = isObject(seed["other_accounts"]) ? Object.entries(seed["other_accounts"]) : [];
  for (const [account, path] of [[seed, []], ...others.map(([name, other]) => [other, ["other_accounts", name]])] as [
    unknown,
    string[],
  ][]) {
    if (!isObject(account)) continue;
    const key = `${word}s`;
    if (Object.hasOwn(account, key)) {
      if (Object.hasOwn(account, "nodes")) return [...path, key];
      account["nodes"] = account[key];
      delete account[key];
    }
    for (const image of objectsOf(account["images"])) {
      const { id } = image;
      if (typeof id === "string" && id.startsWith(`${word}/`)) image["id"] = `node/${id.slice(word.length + 1)}`;
    }
    for (const { entity } of objectsOf(account["tickets"])) {
      if (isObject(entity) && entity["type"] === word) entity["type"] = NEUTRAL_WORD;
    }
  }
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A path in API.md's words as the document has it. */
function asWritten(document: import("yaml").Document.Parsed, path: readonly string[], word: string): string[] {
  const at = path[0] === "other_accounts" ? 2 : 0;
  const written = [...path.slice(0, at), `${word}s`];
  return path[at] === "nodes" && document.hasIn(written) ? [...written, ...path.slice(at + 1)] : [...path];
}

function seedError(problems: readonly string[]): SeedError {
  const shown = problems.slice(0, MAX_SHOWN_PROBLEMS);
  const rest = problems.length - shown.length;
  return new SeedError([...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join("\n"));
}

/** The keys that lead to what is wrong; of an unknown key, to that key. */
function pathOf(error: ErrorObject): string[] {
  const keys = error.instancePath
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const unknown = error.params["additionalProperty"] as string | undefined;
  return unknown === undefined ? keys : [...keys, unknown];
}

function describe(error: ErrorObject, path: readonly string[]): string {
  const place = path.length === 0 ? "the seed" : path.join(".");
  if (error.keyword === "additionalProperties") return `${place}: unknown key`;
  if (error.keyword === "enum")
    return `${place} must be one of ${(error.params["allowedValues"] as string[]).join(", ")}`;
  return `${place} ${error.message ?? "is wrong"}`;
}

/** Where the innermost thing on the path that is written begins. */
function offsetOf(document: import("yaml").Document.Parsed, path: readonly string[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const keys = path.slice(0, length).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
    const node = document.getIn(keys, true) as { range?: readonly [number, number, number] | null } | undefined;
    if (node?.range) return node.range[0];
  }
  return 0;
}

// The JSON Schema of a seed file.

const id = { type: "integer", minimum: 1, maximum: MAX_CHOSEN_ID };
const text = { type: "string" };
const seconds = { type: "integer", minimum: 0 };
const number = { type: "integer", minimum: 0 };
const time = {
  type: "string",
  pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d$",
};
const texts = { type: "array", items: text };

function list(properties: object, required: readonly string[]): object {
  return { type: "array", items: object(properties, required) };
}

function object(properties: object, required: readonly string[]): object {
  return { type: "object", properties, required, additionalProperties: false };
}

const grants = { type: "object", additionalProperties: { enum: ["read_only", "read_write"] } };

const record = {
  id,
  type: { enum: RECORD_TYPES },
  name: text,
  target: text,
  ttl_sec: seconds,
  priority: number,
  weight: number,
  port: number,
  service: text,
  protocol: text,
  tag: text,
};

const domain = {
  id,
  domain: text,
  type: { enum: ["master", "slave"] },
  status: { enum: ["active", "disabled"] },
  description: text,
  group: text,
  soa_email: text,
  master_ips: texts,
  axfr_ips: texts,
  refresh_sec: seconds,
  retry_sec: seconds,
  expire_sec: seconds,
  ttl_sec: seconds,
  tags: texts,
  records: list(record, ["type", "target"]),
};

const image = {
  id: { type: "string", pattern: "^(node|private)/[A-Za-z0-9._-]+$" },
  label: text,
  description: { type: ["string", "null"] },
  status: { enum: ["creating", "pending_upload", "available"] },
  type: { enum: ["manual", "automatic"] },
  is_public: { type: "boolean" },
  created: time,
  expiry: time,
  eol: time,
  deprecated: { type: "boolean" },
  size: number,
  vendor: text,
  capabilities: texts,
};

const interfaces = {
  id,
  subnet_id: id,
  subnet: text,
  active: { type: "boolean" },
  config_id: id,
  address: { type: ["string", "null"] },
  nat_1_1: text,
  address_ranges: texts,
};

const reply = { id, description: text, from_linode: { type: "boolean" }, created_by: text };

const ticket = {
  id,
  summary: text,
  description: text,
  status: { enum: ["new", "open", "closed"] },
  closable: { type: "boolean" },
  opened_by: text,
  entity: object({ type: { enum: ENTITY_KINDS }, id, label: text }, ["type", "id"]),
  replies: list(reply, ["description"]),
  attachments: texts,
};

const account = {
  tokens: list(
    {
      token: { type: "string", pattern: "^\\S+$" },
      username: text,
      scopes: { type: "array", items: { type: "string", pattern: "^(\\*|[a-z_]+:(\\*|read_only|read_write))$" } },
      grants: object({ add_vpc: { type: "boolean" }, vpcs: grants, images: grants }, []),
    },
    ["token"],
  ),
  vpcs: list(
    {
      id,
      label: text,
      region: text,
      description: text,
      subnets: list({ id, label: text, ipv4: text }, ["label", "ipv4"]),
    },
    ["label", "region"],
  ),
  domains: list(domain, ["domain"]),
  images: list(image, ["label"]),
  nodes: list({ id, interfaces: list(interfaces, []) }, []),
  disks: list({ id, label: text, size: { type: "integer", minimum: 1 } }, ["id", "label", "size"]),
  tickets: list(ticket, ["summary", "description"]),
};

/** An account may be called `constructor` or the like. */
const name = { type: "string", pattern: "^[A-Za-z0-9._-]{1,64}$" };

const SEED_SCHEMA: object = object(
  {
    ...account,
    other_accounts: { type: "object", propertyNames: name, additionalProperties: object(account, []) },
  },
  [],
);
