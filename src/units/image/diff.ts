/** Images, desired beside live, as pairs that plain comparison can diff. */

import type { WireImage } from "../../api/wire.ts";
import type { Block, Change, ChangeLabel } from "../../model/change.ts";
import { type Address, imageAddress, type JsonObject, type Values } from "../../model/resource.ts";
import { type Match, NO_RULES, type Pair, type PairContext, type Paired } from "../../model/unit.ts";
import { rootAddresses } from "../common.ts";
import { rootLabels, splitDescription } from "../owner-tag.ts";
import { identifyImage, isOver, leaseEnd } from "./live.ts";
import type { ImageSpec } from "./manifest.ts";

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
  const block = missingSource(match) ?? uploadBlock(match, liveAddress, context);
  const renew = isUnfinished(match) && match.intent === "manage" && block === null;
  return {
    resource: {
      unit: "image",
      kind: "image",
      root: address,
      address,
      previousAddress: liveAddress === address ? null : liveAddress,
      id: match.live?.id ?? null,
      before: live,
      after: desiredValues(match, live, renew || block !== null, context),
      labels: renew ? ["unfinished"] : labelsOf(match, live, context),
      note: match.declared?.note ?? null,
      span: match.declared?.span ?? match.removed?.span ?? null,
    },
    rules: { ...NO_RULES, renew, block, protect: match.declared?.protect ?? false },
  };
}

/** An image that is to be made, or made anew, needs a source. */
function missingSource(match: ImageMatch): Block | null {
  const isMade = match.intent === "create" || (match.intent === "manage" && match.live.status === "pending_upload");
  return isMade && match.declared.spec.source === null ? { type: "image-source-missing" } : null;
}

function isUnfinished({ live }: ImageMatch): boolean {
  return live?.status === "pending_upload";
}

/** An upload that was never completed holds nothing: the label `unfinished` says so in the plan. */
function labelsOf(match: ImageMatch, live: Values | null, context: PairContext): ChangeLabel[] {
  const labels = rootLabels(match, live, match.declared?.spec.label ?? null, context);
  return match.intent === "delete" && isUnfinished(match) ? [...labels, "unfinished"] : labels;
}

/**
 * An unfinished upload is deleted, or made anew, only when nobody can still be sending its data. An upload with our tag has a lease
 * (`leaseEnd`): the change is allowed once the lease is over, or at once with consent to delete the upload. An upload without our tag has
 * no known lease: it is never made anew, and deleted only with consent that names it.
 */
function uploadBlock(match: ImageMatch, address: Address, context: PairContext): Block | null {
  const { live, intent } = match;
  if (live === null || !isUnfinished(match) || intent === "release") return null;
  const consented = context.mayDelete(address);
  if (context.owner === null || splitDescription(live.description).owner !== context.owner) {
    if (intent === "manage") return { type: "upload-of-others", id: live.id, address: null };
    return consented ? null : { type: "upload-of-others", id: live.id, address };
  }
  const end = leaseEnd(live.created, context.uploadTimeoutSeconds);
  if (consented || isOver(end, context.servedMilliseconds)) return null;
  return { type: "upload-in-progress", id: live.id, until: end === null ? null : toSeconds(end), address };
}

/** ISO 8601, UTC. */
function toSeconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}

function liveValues(image: WireImage): Values {
  const { text, owner } = splitDescription(image.description);
  return { label: image.label, description: text, owner };
}

/** The source is among the values only of an image that is to be made: the service does not show it afterwards. */
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
      return live === null || anew ? { ...values, ...sourceValues(source, context) } : values;
    }
  }
}

/** The values of an upload hold the file's size and hash: by its name alone, another file than the reviewed one could be sent. */
function sourceValues(source: ImageSpec["source"], context: PairContext): Values {
  if (source === null) return {};
  switch (source.type) {
    case "upload":
      return {
        upload: { file: source.file, region: source.region, ...context.contentOf(source.file) },
        cloud_init: source.cloud_init,
      };
    case "capture":
      return { capture: { disk_id: source.disk_id }, cloud_init: source.cloud_init };
  }
}

// Reads from an answer how somebody else has changed an image since the plan.

export function readBackOfImage(_: Change, answer: JsonObject): Values | null {
  const { label, description } = answer;
  const isWhole = typeof label === "string" && (typeof description === "string" || description === null);
  return isWhole ? liveValues(answer as unknown as WireImage) : null;
}
