/** The image: a private machine image, uploaded from a file or captured from a disk. */

import isEqual from "fast-deep-equal";
import type { WireImage } from "../../api/wire.ts";
import type { Lookup } from "../../model/plan.ts";
import type { JsonObject } from "../../model/resource.ts";
import type { Likeness, Recognition, Unit } from "../../model/unit.ts";
import { recogniseOne } from "../common.ts";
import { splitDescription } from "../owner-tag.ts";
import { preferImages } from "./content.ts";
import { pairImages, readBackOfImage } from "./diff.ts";
import { retainImages } from "./family.ts";
import { contentOfImage, declareImage, identifyImage, isOver, leaseEnd, listImage, readImages } from "./live.ts";
import { imageSpec } from "./manifest.ts";
import { restateImage, valuesOfImage } from "./restate.ts";
import type { ImageSpec } from "./spec.ts";
import { imageSteps, objectionToImageDelete } from "./steps.ts";

/** API.md, Limits: the service itself cancels an upload that is not complete by then. */
const UPLOAD_WINDOW_SECONDS = 86_400;

export const image: Unit<ImageSpec, WireImage> = {
  name: "image",
  kinds: [
    {
      kind: "image",
      words: ["image", "images"],
      nameField: "label",
      canBeDuplicated: true,
      cannotBeRemade: true,
      hasTextIds: true,
    },
  ],
  spec: imageSpec,
  read: readImages,
  identify: identifyImage,
  canBeRenamed: true,
  content: contentOfImage,
  list: listImage,
  declare: declareImage,
  valuesOf: valuesOfImage,
  restate: restateImage,
  prefer: preferImages,
  retain: retainImages,
  normalise: pairImages,
  steps: imageSteps,
  precondition: objectionToImageDelete,
  readBack: readBackOfImage,
  recognise: recogniseImage,
  duplicateKey: imageDuplicateKey,
  likeness: imageLikeness,
};

/**
 * An upload whose answer was lost cannot be finished, for its URL is gone. It may be deleted only if our tag says that it is ours, and
 * if no other run of ours can be sending its data any more.
 */
function recogniseImage(lookup: Lookup, items: readonly JsonObject[], servedMilliseconds: number | null): Recognition {
  const found = recogniseOne(lookup, items, contentOf);
  if (found.type !== "found" || found.item["status"] !== "pending_upload") return found;
  const { owner } = splitDescription(String(found.item["description"] ?? ""));
  const end = leaseEnd(String(found.item["created"]), UPLOAD_WINDOW_SECONDS);
  return owner !== null && isOver(end, servedMilliseconds)
    ? { type: "useless", id: found.id }
    : { type: "ambiguous", ids: [found.id] };
}

function contentOf(item: JsonObject): JsonObject {
  return { label: item["label"] ?? "", description: item["description"] ?? "" };
}

/** Images of one label are duplicates. Only private images that somebody made count (OBSERVED: Images). */
function imageDuplicateKey({ match }: Lookup, item?: JsonObject): string | null {
  if (item === undefined) return String((match as JsonObject)["label"] ?? "");
  return item["type"] === "manual" && item["is_public"] !== true ? String(item["label"] ?? "") : null;
}

/** The service does not show an image's content; but images of different sizes or capabilities differ. */
function imageLikeness({ match }: Lookup, item: JsonObject, own: JsonObject): Likeness {
  if (!isEqual(contentOf(item), match)) return "different";
  if (item["status"] !== "available") return "unready";
  if (own["status"] !== "available") return "equal";
  const isSame = ["size", "capabilities"].every((field) => isEqual(item[field], own[field]));
  return isSame ? "equal" : "different";
}
