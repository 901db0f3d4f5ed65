/** The JSON Schema of a seed file. */

import { MAX_CHOSEN_ID } from "./store.ts";
import { ENTITY_KINDS } from "./ticket-rules.ts";

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
  type: { enum: ["A", "AAAA", "NS", "MX", "CNAME", "TXT", "SRV", "PTR", "CAA"] },
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

/** What is called `constructor` or the like is an account's name too. */
const name = { type: "string", pattern: "^[A-Za-z0-9._-]{1,64}$" };

export const SEED_SCHEMA: object = object(
  {
    ...account,
    other_accounts: { type: "object", propertyNames: name, additionalProperties: object(account, []) },
  },
  [],
);
