/** JSON Schema of VPCs and subnets (API.md, VPC and VPC Subnet). */

import type { JsonObject } from "../../model/resource.ts";

/** API.md, Limits: VPC and subnet label. */
export const MAX_LABEL_LENGTH = 64;

const LABEL_RULE = "ASCII letters, digits and dashes, no two dashes in a row, at most 64 characters.";

const OWN_KEYS: JsonObject = { "^x-": { title: "Your own", description: "Keys that begin with x- are yours." } };

export const SUBNET_SCHEMA: JsonObject = {
  title: "Subnet",
  description: "A range of private IPv4 addresses within a VPC.",
  type: "object",
  required: ["label", "ipv4"],
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    label: {
      title: "Label",
      description: `The subnet's label: ${LABEL_RULE}`,
      type: "string",
      minLength: 1,
      maxLength: MAX_LABEL_LENGTH,
      examples: ["web"],
    },
    ipv4: {
      title: "IPv4 range",
      description:
        "Canonical CIDR within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, prefix at most 29. Cannot be changed in place.",
      type: "string",
      minLength: 1,
      examples: ["10.0.1.0/24"],
    },
    protect: {
      title: "Protect",
      description: "true: never deleted or replaced, and neither is its VPC. Absent: as its VPC.",
      type: "boolean",
    },
    note: { title: "Note", description: "For people; shown in plans.", type: "string" },
  },
  examples: [{ label: "web", ipv4: "10.0.1.0/24" }],
};

export const VPC_SCHEMA: JsonObject = {
  title: "VPC",
  description: "A virtual private cloud with its subnets.",
  type: "object",
  required: ["label", "region"],
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    label: {
      title: "Label",
      description: `What the VPC is found by: ${LABEL_RULE}`,
      type: "string",
      minLength: 1,
      maxLength: MAX_LABEL_LENGTH,
      examples: ["prod"],
    },
    id: {
      title: "Id",
      description: "The live VPC's id, where labels repeat.",
      type: "integer",
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [123],
    },
    moved_from: {
      title: "Moved from",
      description: "The label it had before: renames the VPC. Ignored once done.",
      type: "string",
      minLength: 1,
      maxLength: MAX_LABEL_LENGTH,
      examples: ["old-prod"],
    },
    region: {
      title: "Region",
      description: "The region's identifier. Cannot be changed in place.",
      type: "string",
      pattern: "^[a-z0-9-]+$",
      examples: ["us-east"],
    },
    description: {
      title: "Description",
      description: "At most 255 characters, the owner's tag included. Absent: left alone; null: emptied.",
      type: ["string", "null"],
      examples: ["Production network"],
    },
    subnets: {
      title: "Subnets",
      description: "All subnets of the VPC: others are deleted. Absent: subnets are not managed.",
      type: "array",
      items: { $ref: "#/$defs/subnet" },
      examples: [[{ label: "web", ipv4: "10.0.1.0/24" }]],
    },
    protect: {
      title: "Protect",
      description:
        "true: never deleted or replaced, and neither are its subnets, but for those that say `protect: false`.",
      type: "boolean",
      default: false,
    },
    note: { title: "Note", description: "For people; shown in plans.", type: "string" },
  },
  examples: [{ label: "prod", region: "us-east", subnets: [{ label: "web", ipv4: "10.0.1.0/24" }] }],
};
