/** Images as they are in the account: private ones that somebody made, public and automatic ones left aside. */

import type { WireImage } from "../../api/wire/index.ts";
import { imageAddress } from "../../model/address.ts";
import type { Api } from "../../model/exchange.ts";
import type { Json } from "../../model/resource.ts";
import type { LiveIdentity, ReadResult, ReadWatch, Scope } from "../../model/unit.ts";
import { splitDescription } from "../ownership.ts";
import type { ImageSpec } from "./shape.ts";

/** Labels are not unique (OBSERVED: Images), so every page is read. */
export async function readImages(_: Scope<ImageSpec>, api: Api, watch: ReadWatch): Promise<ReadResult<WireImage>> {
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

/** Nothing is ever attached to an image. */
export function contentOfImage({ label, description, status, size, capabilities }: WireImage): Json {
  return { label, description: description ?? "", status, size, capabilities: [...(capabilities ?? [])].sort() };
}
