/** The images of API.md: list, create from a disk, upload, view, update, delete. */

import { randomBytes } from "node:crypto";
import { grantCreated, mayChange } from "../auth.ts";
import type { Answer } from "../errors.ts";
import { badRequest, INVALID_TOKEN, NOT_FOUND, succeed, succeedEmpty, UNAUTHORIZED } from "../errors.ts";
import { BodyReader } from "../fields.ts";
import type { FilterFields } from "../filter.ts";
import { ImageStates } from "../image-states.ts";
import { listAnswer } from "../page.ts";
import type { Account, Call, Route } from "../route.ts";
import type { ImageRow } from "../rows.ts";
import { readRegion } from "./vpcs.ts";

const MAX_DESCRIPTION_LENGTH = 65_000;
const MAX_LABEL_LENGTH = 255;
const SIGNATURE_BYTES = 16;

/** What an image of a disk comes to: less than the disk, for what is free is left out. */
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
]);

export function imageRoutes(account: Account): Route[] {
  const { store, clock, settings } = account;
  const states = new ImageStates(store, clock, settings.readsUntilAvailable);
  const read = ["images:read_only"];
  const write = ["images:read_write"];
  /** Before anything else, what has run out of time is gone. */
  const current =
    (handle: (account: Account, call: Call, states: ImageStates) => Answer) =>
    (call: Call): Answer => {
      states.expire();
      return handle(account, call, states);
    };
  const both = ["/images/:imageId", "/images/:prefix/:rest"];
  return [
    { method: "GET", path: "/images", scopes: read, anonymous: true, handle: current(listImages) },
    { method: "POST", path: "/images", scopes: [...write, "nodes:read_only"], handle: current(captureImage) },
    { method: "POST", path: "/images/upload", scopes: write, handle: current(uploadImage) },
    ...both.flatMap((path): Route[] => [
      { method: "GET", path, scopes: read, anonymous: true, handle: current(viewImage) },
      { method: "PUT", path, scopes: write, handle: current(updateImage) },
      { method: "DELETE", path, scopes: write, handle: current(deleteImage) },
    ]),
  ];
}

/** The id in a path, in API.md's words: it has a slash, which is a segment's end or percent-encoded. */
function imageIdParam(account: Account, call: Call): string {
  const { imageId, prefix, rest } = call.params;
  const id = imageId ?? `${prefix}/${rest}`;
  const shown = `${account.settings.word}/`;
  if (id.startsWith(shown)) return PUBLIC_PREFIX + id.slice(shown.length);
  // Where the word is another one, API.md's word names nothing.
  return id.startsWith(PUBLIC_PREFIX) ? "" : id;
}

function findImage(account: Account, call: Call): ImageRow | undefined {
  return account.store.tables.images.get(imageIdParam(account, call));
}

function view(account: Account, image: ImageRow): object {
  const { final_size: _size, upload: _upload, ...shown } = image;
  const { word } = account.settings;
  if (!image.is_public) return shown;
  return { ...shown, id: `${word}/${image.id.slice(PUBLIC_PREFIX.length)}`, created_by: word };
}

function listImages(account: Account, call: Call, states: ImageStates): Answer {
  const rows = [...account.store.tables.images.all()].filter((image) => image.is_public || call.caller !== null);
  const toWire = (image: ImageRow): object => view(account, states.read(image));
  return listAnswer(call, { rows, fields: IMAGE_FIELDS, toWire, emptyPage: 0 });
}

function viewImage(account: Account, call: Call, states: ImageStates): Answer {
  const image = findImage(account, call);
  // Without credentials a private id tells nothing, not even whether it exists.
  if (call.caller === null && !image?.is_public)
    return imageIdParam(account, call).startsWith(PRIVATE_PREFIX) ? INVALID_TOKEN : NOT_FOUND;
  return image === undefined ? NOT_FOUND : succeed(view(account, states.read(image)));
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
  account: Account,
  call: Call,
  body: BodyReader,
): Omit<ImageRow, "label" | "description" | "status" | "size" | "final_size" | "upload"> {
  const created = account.clock.timestamp();
  return {
    id: PRIVATE_PREFIX + account.store.nextId("image"),
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

function captureImage(account: Account, call: Call): Answer {
  const reader = new BodyReader(call.body);
  if (reader.require("disk_id")) reader.integer("disk_id", 1, Number.MAX_SAFE_INTEGER);
  const { label, description } = readText(reader);
  reader.boolean("cloud_init");
  if (reader.errors.length > 0) return badRequest(...reader.errors);
  const disk = account.store.tables.disks.get(reader.raw("disk_id") as number);
  if (disk === undefined) return NOT_FOUND;
  const image: ImageRow = {
    ...newImage(account, call, reader),
    label: label ?? disk.label,
    description: description ?? "",
    status: "creating",
    size: disk.size,
    final_size: Math.max(1, Math.floor(disk.size * CAPTURED_SHARE)),
    upload: null,
  };
  return keep(account, call, image);
}

function keep(account: Account, call: Call, image: ImageRow): Answer {
  account.store.tables.images.put(image);
  grantCreated(account.store, call.caller, "images", image.id);
  return succeed(view(account, image));
}

function uploadImage(account: Account, call: Call): Answer {
  const reader = new BodyReader(call.body);
  reader.require("label");
  const { label, description } = readText(reader);
  readRegion(reader);
  reader.boolean("cloud_init");
  if (reader.errors.length > 0 || typeof label !== "string") return badRequest(...reader.errors);
  const signature = randomBytes(SIGNATURE_BYTES).toString("hex");
  const image: ImageRow = {
    ...newImage(account, call, reader),
    label,
    description: description ?? null,
    status: "pending_upload",
    size: 0,
    final_size: 0,
    upload: { signature, received: false },
  };
  const upload_to = `${account.settings.uploadBaseUrl()}/${image.id}?signature=${signature}`;
  return succeed({ upload_to, image: keep(account, call, image).body });
}

function updateImage(account: Account, call: Call): Answer {
  const image = findImage(account, call);
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
    updated: account.clock.timestamp(),
  };
  account.store.tables.images.put(updated);
  return succeed(view(account, updated));
}

function deleteImage(account: Account, call: Call): Answer {
  const image = findImage(account, call);
  if (image === undefined) return NOT_FOUND;
  if (image.is_public || !mayChange(call.caller, "images", image.id)) return UNAUTHORIZED;
  account.store.tables.images.delete(image.id);
  return succeedEmpty();
}
