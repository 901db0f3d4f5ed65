/** JSON Schema of machine images (API.md, Image, Image Create and Image Upload). */

import type { JsonObject } from "../../model/resource.ts";

/** What clients of the service keep to. */
export const MAX_LABEL_LENGTH = 50;

const OWN_KEYS: JsonObject = { "^x-": { title: "Your own", description: "Keys that begin with x- are yours." } };

const LABEL: JsonObject = {
  title: "Label",
  description: "What the image is found by: 1 to 50 letters, digits, spaces and , . ? - _ '",
  type: "string",
  minLength: 1,
  maxLength: MAX_LABEL_LENGTH,
  examples: ["golden-2026-11"],
};

const CLOUD_INIT: JsonObject = {
  title: "cloud-init",
  description: "The image supports cloud-init.",
  type: "boolean",
  default: false,
};

export const IMAGE_DEFINITIONS: Readonly<Record<string, JsonObject>> = {
  image_upload: {
    title: "Upload",
    description: "A gzip-compressed raw disk image, at most 5 GB, uploaded from a file of the project.",
    type: "object",
    required: ["file", "region"],
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties: {
      file: {
        title: "File",
        description: "Path of the file, relative to the root file and inside its folder.",
        type: "string",
        minLength: 1,
        examples: ["images/golden.img.gz"],
      },
      region: {
        title: "Region",
        description: "Where the upload goes; the image can then be used in any region.",
        type: "string",
        pattern: "^[a-z0-9-]+$",
        examples: ["us-east"],
      },
      cloud_init: CLOUD_INIT,
    },
    examples: [{ file: "images/golden.img.gz", region: "us-east" }],
  },
  image_capture: {
    title: "Capture",
    description: "Made from a disk of a compute node.",
    type: "object",
    required: ["disk_id"],
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties: {
      disk_id: {
        title: "Disk id",
        description: "The id of the disk.",
        type: "integer",
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        examples: [123],
      },
      cloud_init: CLOUD_INIT,
    },
    examples: [{ disk_id: 123 }],
  },
};

export const IMAGE_SCHEMA: JsonObject = {
  title: "Image",
  description: "A private machine image: upload or capture says how it is made; with neither it must be there already.",
  type: "object",
  required: ["label"],
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    label: LABEL,
    id: {
      title: "Id",
      description: "The live image's id, where labels repeat.",
      type: "string",
      pattern: "^private/[^/]+$",
      examples: ["private/123"],
    },
    moved_from: {
      ...LABEL,
      title: "Moved from",
      description: "The label it had before: renames the image. Ignored once done.",
    },
    description: {
      title: "Description",
      description: "At most 65,000 characters, the owner's tag included. Absent: left alone; null: emptied.",
      type: ["string", "null"],
      examples: ["Base image"],
    },
    upload: { $ref: "#/$defs/image_upload" },
    capture: { $ref: "#/$defs/image_capture" },
    protect: { title: "Protect", description: "true: never deleted or replaced.", type: "boolean", default: false },
    note: { title: "Note", description: "For people; shown in plans.", type: "string" },
  },
  examples: [{ label: "golden-2026-11", upload: { file: "images/golden.img.gz", region: "us-east" } }],
};
