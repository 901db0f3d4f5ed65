/** The images of API.md: list, create from a disk, upload, view, update, delete. */

import { randomBytes } from "node:crypto";
import { dropGrants, grantCreated, mayChange } from "./auth.ts";
import { type Answer, badRequest, INVALID_TOKEN, NOT_FOUND, succeed, succeedEmpty, UNAUTHORIZED } from "./errors.ts";
import { BodyReader } from "./fields.ts";
import { type FilterFields, listAnswer } from "./lists.ts";
import { accountOf, type Call, type Route, type Service } from "./route.ts";
import type { ImageRow } from "./store.ts";
import { readRegion } from "./vpcs.ts";

const MAX_DESCRIPTION_LENGTH = 65_000;
const MAX_LABEL_LENGTH = 255;
const SIGNATURE_BYTES = 16;

/** The size of an image of a disk: less than the disk, because free space is left out. */
const CAPTURED_SHARE = 0.75;

/** API.md's words for public and private ids. */
export const PUBLIC_PREFIX = "node/";
export const PRIVATE_PREFIX = "private/";

const IMAGE_FIELDS: FilterFields<ImageRow> = new Map([
  ["deprecated", { get: (image) => image.deprecated }],
  ["is_public", { get: (image) => image.is_public }],
  ["label", { get: (image) => image.label }],
  ["size", { get: (image) => image.size }],
  ["type", { get: (image) => image.type }],
  ["vendor", { get: (image) => image.vendor }],
  // API.md, Pagination and filtering: no order by status.
  ["status", { get: (image) => image.status, sortable: false }],
  // As the service's web client orders its tables.
  ["created", { get: (image) => image.created, filterable: false }],
  ["expiry", { get: (image) => image.expiry, filterable: false }],
]);

const READ = ["images:read_only"];
const WRITE = ["images:read_write"];
const CAPTURE = [...WRITE, "nodes:read_only"];

export const IMAGE_ROUTES: readonly Route[] = [
  { operation: "Images List", method: "GET", path: "/images", scopes: READ, anonymous: true, handle: listImages },
  { operation: "Image Create", method: "POST", path: "/images", scopes: CAPTURE, handle: captureImage },
  { operation: "Image Upload", method: "POST", path: "/images/upload", scopes: WRITE, handle: uploadImage },
  ...["/images/:imageId", "/images/:prefix/:rest"].flatMap((path): Route[] => [
    { operation: "Image View", method: "GET", path, scopes: READ, anonymous: true, handle: viewImage },
    { operation: "Image Update", method: "PUT", path, scopes: WRITE, handle: updateImage },
    { operation: "Image Delete", method: "DELETE", path, scopes: WRITE, handle: deleteImage },
  ]),
];

/** The id in a path, in API.md's words: it has a slash, which is a segment's end or percent-encoded. */
function imageIdParam(service: Service, call: Call): string {
  const { imageId, prefix, rest } = call.params;
  const id = imageId ?? `${prefix}/${rest}`;
  const shown = `${service.settings.word}/`;
  if (id.startsWith(shown)) return PUBLIC_PREFIX + id.slice(shown.length);
  // Where the word is another one, API.md's word names nothing.
  return id.startsWith(PUBLIC_PREFIX) ? "" : id;
}

/** Finds an image that the caller may see, after expired images are deleted. */
function findImage(service: Service, call: Call): ImageRow | undefined {
  service.imageStates.expire();
  const image = service.store.tables.images.get(imageIdParam(service, call));
  return image !== undefined && isVisible(image, call) ? image : undefined;
}

function isVisible(image: ImageRow, call: Call): boolean {
  return image.is_public || image.account === accountOf(call);
}

function view(service: Service, image: ImageRow): object {
  const { account: _account, final_size: _size, upload: _upload, ...shown } = image;
  const { word } = service.settings;
  if (!image.is_public) return shown;
  return { ...shown, id: `${word}/${image.id.slice(PUBLIC_PREFIX.length)}`, created_by: word };
}

function listImages(service: Service, call: Call): Answer {
  service.imageStates.expire();
  const visible = [...service.store.tables.images.all()].filter((image) => isVisible(image, call));
  // Every image counts the read before the filter is applied: otherwise a client that polls for available images would never find one.
  const rows = visible.map((image) => service.imageStates.read(image));
  const toWire = (image: ImageRow): object => view(service, image);
  return listAnswer(call, { rows, fields: IMAGE_FIELDS, toWire, emptyPage: 0 });
}

function viewImage(service: Service, call: Call): Answer {
  const image = findImage(service, call);
  if (image !== undefined) return succeed(view(service, service.imageStates.read(image)));
  // Without credentials a private id tells nothing, not even whether it exists.
  const hidden = call.caller === null && imageIdParam(service, call).startsWith(PRIVATE_PREFIX);
  return hidden ? INVALID_TOKEN : NOT_FOUND;
}

interface ImageText {
  readonly label: string | null | undefined;
  readonly description: string | null | undefined;
}

function readText(reader: BodyReader): ImageText {
  return {
    label: reader.text("label", { min: 1, max: MAX_LABEL_LENGTH }),
    description: reader.text("description", { min: 1, max: MAX_DESCRIPTION_LENGTH }),
  };
}

function newImage(
  service: Service,
  call: Call,
  body: BodyReader,
): Omit<ImageRow, "label" | "description" | "status" | "size" | "final_size" | "upload"> {
  const created = service.clock.timestamp();
  return {
    id: PRIVATE_PREFIX + service.store.nextId("image"),
    account: accountOf(call),
    type: "manual",
    is_public: false,
    created_by: call.caller?.username ?? "",
    created,
    updated: created,
    expiry: null,
    eol: null,
    deprecated: false,
    vendor: null,
    capabilities: body.raw("cloud_init") === true ? ["cloud-init"] : [],
  };
}

function captureImage(service: Service, call: Call): Answer {
  const reader = new BodyReader(call.body);
  if (reader.require("disk_id")) reader.integer("disk_id", 1, Number.MAX_SAFE_INTEGER);
  const { label, description } = readText(reader);
  reader.boolean("cloud_init");
  if (reader.errors.length > 0) return badRequest(...reader.errors);
  const disk = service.store.tables.disks.get(reader.raw("disk_id") as number);
  if (disk?.account !== accountOf(call)) return NOT_FOUND;
  const image: ImageRow = {
    ...newImage(service, call, reader),
    label: label ?? disk.label,
    description: description ?? "",
    status: "creating",
    size: disk.size,
    final_size: Math.max(1, Math.floor(disk.size * CAPTURED_SHARE)),
    upload: null,
  };
  return keep(service, call, image);
}

function keep(service: Service, call: Call, image: ImageRow): Answer {
  service.store.tables.images.put(image);
  grantCreated(service.store, call.caller, "images", image.id);
  return succeed(view(service, image));
}

function uploadImage(service: Service, call: Call): Answer {
  const reader = new BodyReader(call.body);
  reader.require("label");
  const { label, description } = readText(reader);
  readRegion(reader);
  reader.boolean("cloud_init");
  if (reader.errors.length > 0 || typeof label !== "string") return badRequest(...reader.errors);
  const signature = randomBytes(SIGNATURE_BYTES).toString("hex");
  const image: ImageRow = {
    ...newImage(service, call, reader),
    label,
    description: description ?? null,
    status: "pending_upload",
    size: 0,
    final_size: 0,
    upload: { signature, received_at: null },
  };
  const upload_to = `${service.settings.uploadBaseUrl(call.host)}/${image.id}?signature=${signature}`;
  return succeed({ upload_to, image: keep(service, call, image).body });
}

function updateImage(service: Service, call: Call): Answer {
  const image = findImage(service, call);
  if (image === undefined) return NOT_FOUND;
  if (image.is_public || !mayChange(call.caller, "images", image.id)) return UNAUTHORIZED;
  const reader = new BodyReader(call.body);
  if (reader.has("label")) reader.require("label");
  const { label, description } = readText(reader);
  if (reader.errors.length > 0) return badRequest(...reader.errors);
  const updated: ImageRow = {
    ...image,
    label: label ?? image.label,
    description: description === undefined ? image.description : description,
    updated: service.clock.timestamp(),
  };
  service.store.tables.images.put(updated);
  return succeed(view(service, updated));
}

function deleteImage(service: Service, call: Call): Answer {
  const image = findImage(service, call);
  if (image === undefined) return NOT_FOUND;
  if (image.is_public || !mayChange(call.caller, "images", image.id)) return UNAUTHORIZED;
  service.store.tables.images.delete(image.id);
  dropGrants(service.store, "images", image.id);
  return succeedEmpty();
}
