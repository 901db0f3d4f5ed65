/** Images, desired beside live, as pairs that plain comparison can diff. */

import type { WireImage } from "../../api/wire/index.ts";
import { type Address, imageAddress } from "../../model/address.ts";
import type { Block } from "../../model/change.ts";
import type { Values } from "../../model/resource.ts";
import type { Match, Pair, PairContext, Paired } from "../../model/unit.ts";
import { rootLabels } from "../labels.ts";
import { splitDescription } from "../ownership.ts";
import { rootAddresses } from "../twins.ts";
import { isIdle } from "./idle.ts";
import { identifyImage } from "./live.ts";
import type { ImageSpec } from "./spec.ts";

type ImageMatch = Match<ImageSpec, WireImage>;

export function pairImages(matches: readonly ImageMatch[], context: PairContext): Paired {
  const addresses = rootAddresses(matches, identifyImage);
  return {
    pairs: [...addresses].map(([match, address]) => imagePair(match, address, context)),
    leftAlone: [],
    warnings: [],
  };
}

function imagePair(match: ImageMatch, address: Address, context: PairContext): Pair {
  const live = match.live === null ? null : liveValues(match.live);
  const liveAddress = match.declared === null || match.live === null ? address : imageAddress(match.live.label);
  const unfinished = match.intent === "manage" && match.live.status === "pending_upload";
  const block = missingSource(match) ?? (unfinished ? uploadBlock(match.live, context) : null);
  const renew = unfinished && block === null;
  return {
    unit: "image",
    kind: "image",
    root: address,
    address,
    previousAddress: liveAddress === address ? null : liveAddress,
    parent: null,
    id: match.live?.id ?? null,
    desired: desiredValues(match, live, renew || block !== null, context),
    live,
    immutable: [],
    renew,
    labels: renew ? ["unfinished"] : rootLabels(match, live, match.declared?.spec.label ?? null, context),
    heldBy: [],
    block,
    protect: match.declared?.protect ?? false,
    note: match.declared?.note ?? null,
    span: match.declared?.span ?? match.removed?.span ?? null,
  };
}

/** What is to be made, or made anew, says how. */
function missingSource(match: ImageMatch): Block | null {
  const isMade = match.intent === "create" || (match.intent === "manage" && match.live.status === "pending_upload");
  return isMade && match.declared.spec.source === null ? { type: "image-source-missing" } : null;
}

/** An unfinished upload is made anew only if the tag says it is ours, and nobody is working on it. */
function uploadBlock(live: WireImage, context: PairContext): Block | null {
  const { owner } = splitDescription(live.description);
  if (context.owner === null || owner !== context.owner) return { type: "upload-of-others", id: live.id };
  return isIdle(live.updated, context.nowMilliseconds) ? null : { type: "upload-in-progress", id: live.id };
}

export function liveValues(image: WireImage): Values {
  const { text, owner } = splitDescription(image.description);
  return { label: image.label, description: text, owner };
}

/** How an image is made is said only when it is made: the service does not tell it afterwards. */
function desiredValues(match: ImageMatch, live: Values | null, anew: boolean, context: PairContext): Values | null {
  switch (match.intent) {
    case "delete":
      return null;
    case "release":
      return { ...live, owner: null };
    case "create":
    case "manage": {
      const { label, description, source } = match.declared.spec;
      const kept = live?.["description"] ?? "";
      const values = {
        label,
        description: description === undefined ? kept : (description ?? ""),
        owner: context.owner,
      };
      return live === null || anew ? { ...values, ...sourceValues(source) } : values;
    }
  }
}

function sourceValues(source: ImageSpec["source"]): Values {
  if (source === null) return {};
  switch (source.type) {
    case "upload":
      return { upload: { file: source.file, region: source.region }, cloud_init: source.cloud_init };
    case "capture":
      return { capture: { disk_id: source.disk_id }, cloud_init: source.cloud_init };
  }
}
