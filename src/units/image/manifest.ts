/** An image entry of a manifest → its declared image, with everything the service would refuse reported. */

import type { Declared } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { EntrySchema, SchemaOf } from "../../model/entry.ts";
import { imageAddress, type JsonObject } from "../../model/resource.ts";
import {
  COMMON_KEYS,
  type EntryLayout,
  type LoadContext,
  type NameProblem,
  OTHER_KEYS,
  type UnitSpec,
  type WrittenEntry,
} from "../../model/unit.ts";
import {
  type AnnotationEntry,
  annotationProperties,
  loadAnnotations,
  ONLY_WARNED,
  OWN_KEYS,
  stated,
} from "../common.ts";
import { checkDescription, TAG_HASH_DIGITS } from "../owner-tag.ts";
import { loadTrack, TRACK_SCHEMA, type TrackEntry } from "./content.ts";
import { checkFamilies, FAMILY_PROPERTIES, type FamilyEntry, loadFamily } from "./family.ts";
import type { ImageSource, ImageSpec } from "./spec.ts";

/** API.md, Limits: image description. */
const MAX_DESCRIPTION_LENGTH = 65_000;

/** @returns null if the entry has no label, or has both `upload` and `capture` */
function loadImage(entry: ImageEntry, context: LoadContext): Declared<ImageSpec> | null {
  const { label, description } = entry;
  if (label === undefined) return null;
  const address = imageAddress(label);
  const report = (diagnostic: Problem): void => context.report({ severity: "error", address, ...diagnostic });
  const problem = labelProblem(label);
  if (problem !== null) report({ ...problem, span: context.span(entry, "label") });
  const track = loadTrack(entry, context, report);
  const withAddress = { ...context, report: (found: Diagnostic) => context.report({ ...found, address }) };
  checkDescription(entry, MAX_DESCRIPTION_LENGTH, withAddress, track ? "0".repeat(TAG_HASH_DIGITS) : null);
  const source = loadSource(entry, context, report);
  if (source === undefined) return null;
  return {
    unit: "image",
    address,
    key: label,
    id: entry.id ?? null,
    movedFrom: entry.moved_from ?? null,
    protect: entry.protect ?? false,
    note: entry.note ?? null,
    ...loadAnnotations(entry, withAddress),
    span: context.span(entry, "label"),
    ...(entry.id === undefined ? {} : { idSpan: context.span(entry, "id") }),
    ...(track ? { followsFile: true } : {}),
    spec: { label, description, source, family: loadFamily(entry, context, report), track },
  };
}

type Problem = Omit<Diagnostic, "severity" | "address">;
type Report = (diagnostic: Problem) => void;

function labelProblem(label: string): NameProblem | null {
  if (/^[\w ,.?'-]+$/.test(label)) return null;
  return {
    code: "bad-label",
    summary: "bad `label`",
    detail: "The label of an image has ASCII letters, digits, spaces and , . ? - _ ' only.",
    fix: "Choose another label, for example golden-2026-11.",
  };
}

/** @returns null if the entry names no source; undefined, with a report, if it names two */
function loadSource(entry: ImageEntry, context: LoadContext, report: Report): ImageSource | null | undefined {
  const { upload, capture } = entry;
  if (upload !== undefined && capture !== undefined) {
    report({
      code: "conflicting-keys",
      summary: "both `upload` and `capture`",
      detail: "An image is made in one way: from a file, or from a disk.",
      fix: "Keep one of the two.",
      span: context.span(entry, "capture"),
      related: [{ message: "the other one", span: context.span(entry, "upload") }],
    });
    return undefined;
  }
  if (upload !== undefined) {
    const { file = "", region = "", cloud_init = false } = upload;
    return { type: "upload", file: file.replace(/^(\.\/)+/, ""), region, cloud_init };
  }
  if (capture !== undefined) {
    const { disk_id = Number.NaN, cloud_init = false } = capture;
    return { type: "capture", disk_id, cloud_init };
  }
  return null;
}

/** The limit that clients of the service keep to. */
const MAX_LABEL_LENGTH = 50;

const LABEL: SchemaOf<string> = {
  title: "Label",
  description: "What the image is found by: 1 to 50 letters, digits, spaces and , . ? - _ '",
  type: "string",
  minLength: 1,
  maxLength: MAX_LABEL_LENGTH,
  examples: ["golden-2026-11"],
};

interface ImageEntry extends FamilyEntry, TrackEntry, AnnotationEntry {
  readonly label?: string;
  readonly id?: string;
  readonly moved_from?: string;
  readonly description?: string | null;
  readonly upload?: UploadEntry;
  readonly capture?: CaptureEntry;
  readonly protect?: boolean;
  readonly note?: string;
}

interface UploadEntry {
  readonly file?: string;
  readonly region?: string;
  readonly cloud_init?: boolean;
}

interface CaptureEntry {
  readonly disk_id?: number;
  readonly cloud_init?: boolean;
}

const IMAGE_SCHEMA: EntrySchema<ImageEntry> = {
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
    ...FAMILY_PROPERTIES,
    track: TRACK_SCHEMA,
    upload: { $ref: "#/$defs/image_upload" },
    capture: { $ref: "#/$defs/image_capture" },
    protect: { title: "Protect", description: "true: never deleted or replaced.", type: "boolean", default: false },
    note: { title: "Note", description: "For people; shown in plans.", type: "string" },
    ...annotationProperties(ONLY_WARNED),
  },
  examples: [{ label: "golden-2026-11", upload: { file: "images/golden.img.gz", region: "us-east" } }],
};

const CLOUD_INIT: SchemaOf<boolean> = {
  title: "cloud-init",
  description: "The image supports cloud-init.",
  type: "boolean",
  default: false,
};

const IMAGE_DEFINITIONS: {
  readonly image_upload: EntrySchema<UploadEntry>;
  readonly image_capture: EntrySchema<CaptureEntry>;
} = {
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

// How a machine image appears in a manifest.

const IMAGE_LAYOUT: EntryLayout = {
  keys: ["label", ...COMMON_KEYS, "description", "family", "keep", "track", OTHER_KEYS, "upload", "capture"],
  oneLine: ["upload", "capture"],
};

export const imageSpec: UnitSpec<ImageSpec> = {
  section: "images",
  removedKey: "image",
  textId: "private/123",
  layout: IMAGE_LAYOUT,
  schema: IMAGE_SCHEMA,
  definitions: IMAGE_DEFINITIONS,
  load: loadImage,
  check: checkFamilies,
  write: writeImage,
  removed: (label) => ({ address: imageAddress(label), key: label, problem: labelProblem(label) }),
  files: (declared) => (declared.spec.source?.type === "upload" ? [declared.spec.source.file] : []),
};

// An image's spec as the manifest entry that declares it.

function writeImage({ label, description, source, family, track }: ImageSpec): WrittenEntry {
  const kept = family === null ? {} : { family: family.name, keep: family.keep };
  const tracked = track ? { track: "content" } : {};
  return { head: { label }, body: { ...stated({ description }), ...kept, ...tracked, ...writeSource(source) } };
}

function writeSource(source: ImageSpec["source"]): JsonObject {
  if (source === null) return {};
  const more = source.cloud_init ? { cloud_init: true } : {};
  switch (source.type) {
    case "upload":
      return { upload: { file: source.file, region: source.region, ...more } };
    case "capture":
      return { capture: { disk_id: source.disk_id, ...more } };
  }
}
