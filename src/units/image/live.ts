/** Images as they are in the account: private ones that somebody made, public and automatic ones left aside. */

import type { WireImage } from "../../api/wire.ts";
import type { ReadApi } from "../../model/api.ts";
import type { Declared } from "../../model/desired.ts";
import { imageAddress, type Json } from "../../model/resource.ts";
import type { ListedResource, LiveIdentity, ReadResult, ReadWatch, Scope } from "../../model/unit.ts";
import { UNSTATED } from "../common.ts";
import { splitDescription } from "../owner-tag.ts";
import type { ImageSpec } from "./spec.ts";

/** Labels are not unique (OBSERVED: Images), so every page is read. */
export async function readImages(_: Scope<ImageSpec>, api: ReadApi, watch: ReadWatch): Promise<ReadResult<WireImage>> {
  const answer = await api.list({ path: ["images"], filter: { is_public: false } }, watch.signal);
  if (!answer.ok) return { ok: false, what: "the list of images", failure: answer.failure };
  const items = (answer.items as unknown as WireImage[]).filter((image) => !image.is_public && image.type === "manual");
  watch.progress?.(items.length, items.length);
  const { servedMilliseconds } = answer;
  return { ok: true, items, total: items.length, ...(servedMilliseconds === undefined ? {} : { servedMilliseconds }) };
}

export function identifyImage(image: WireImage): LiveIdentity {
  return {
    id: image.id,
    key: image.label,
    address: imageAddress(image.label),
    owner: splitDescription(image.description).owner,
    ...(image.status === "pending_upload" ? { unfinished: true } : {}),
    shown: { status: image.status, size: image.size, created: image.created },
  };
}

export function listImage(image: WireImage): ListedResource[] {
  const { id, label, status, size, created_by, created, updated } = image;
  const description = splitDescription(image.description).text;
  const values = { label, description, status, size, created_by, created, updated };
  return [{ kind: "image", address: imageAddress(label), id, name: label, values }];
}

/** Never null (in use), because nothing can be attached to an image. */
export function contentOfImage({ label, description, status, size, capabilities }: WireImage): Json {
  // A service may say anything.
  const known = Array.isArray(capabilities) ? capabilities.map(String).sort() : [];
  return { label, description: description ?? "", status, size, capabilities: known };
}

// The declaration that would match a live image: the way back from the account to a manifest.

/**
 * The source is null: the service does not show how an image was made.
 * @returns null for an upload that was never finished: there is nothing to keep
 */
export function declareImage(live: WireImage): Declared<ImageSpec> | null {
  if (live.status === "pending_upload") return null;
  const { text } = splitDescription(live.description);
  return {
    unit: "image",
    address: identifyImage(live).address,
    key: live.label,
    ...UNSTATED,
    spec: { label: live.label, description: text === "" ? undefined : text, source: null, family: null, track: false },
  };
}

// The lease of an upload: for how long an image without its data counts as an upload in progress.

/**
 * Added to the time after which an upload is given up. The uploader counts that time from the answer to its POST, and the lease from
 * `created`: the margin covers a slow answer, and data in flight.
 */
const UPLOAD_MARGIN_MILLISECONDS = 300_000;

/**
 * When the upload has surely ended, done or given up, in milliseconds since the epoch; null if `created` cannot be read.
 */
export function leaseEnd(created: string | undefined, timeoutSeconds: number): number | null {
  const begun = createdMilliseconds(created);
  return begun === null ? null : begun + timeoutSeconds * 1000 + UPLOAD_MARGIN_MILLISECONDS;
}

/**
 * When an image was made, in milliseconds since the epoch; null if `created` cannot be read.
 * @param created as the service writes it: UTC without a zone (OBSERVED: Pages, filters, limits)
 */
export function createdMilliseconds(created: string | undefined): number | null {
  // Only years of four digits: `Date.parse` reads longer ones as well, and `toISOString` may then throw.
  const made = /^\d{4}-/.test(created ?? "") ? Date.parse(`${created?.replace(/Z$/, "")}Z`) : Number.NaN;
  return Number.isNaN(made) ? null : made;
}

/** @param servedMilliseconds the service's own time; null: no answer had a Date, so the upload counts as in progress */
export function isOver(endMilliseconds: number | null, servedMilliseconds: number | null): boolean {
  return endMilliseconds !== null && servedMilliseconds !== null && servedMilliseconds >= endMilliseconds;
}
