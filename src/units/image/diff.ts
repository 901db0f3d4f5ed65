/** Images, desired beside live, as pairs that plain comparison can diff. */

import type { WireImage } from "../../api/wire.ts";
import type { Block, Change, ChangeLabel } from "../../model/change.ts";
import type { Declared } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { type Address, imageAddress, type JsonObject, type Values } from "../../model/resource.ts";
import { groupBy } from "../../model/text.ts";
import { type Match, NO_RULES, type Pair, type PairContext, type Paired } from "../../model/unit.ts";
import { annotationsOf, rootAddresses } from "../common.ts";
import { rootLabels, splitDescription, wantedOwner } from "../owner-tag.ts";
import { contentOfFile, contentOfLive, uncomparedImages } from "./content.ts";
import { identifyImage, isOver, leaseEnd } from "./live.ts";
import type { ImageSpec } from "./spec.ts";

type ImageMatch = Match<ImageSpec, WireImage>;

export function pairImages(matches: readonly ImageMatch[], context: PairContext): Paired {
  const addresses = rootAddresses(matches, identifyImage);
  const uploads = otherUploads(addresses, context);
  return {
    pairs: [...addresses].map(([match, address]) => imagePair(match, address, uploads, context)),
    leftAlone: uncomparedImages(matches),
    warnings: likelyRenames(matches, context),
  };
}

/** By label, uploads in progress that another run of ours has begun to replace an image. */
function otherUploads(addresses: ReadonlyMap<ImageMatch, Address>, context: PairContext): ReadonlyMap<string, Block> {
  const blocks = [...addresses].flatMap(([match, address]): [string, Block][] => {
    const block = match.intent === "delete" && match.label !== null ? uploadBlock(match, address, context) : null;
    return block?.type === "upload-in-progress" && match.live !== null ? [[match.live.label, block]] : [];
  });
  return new Map(blocks);
}

function imagePair(
  match: ImageMatch,
  address: Address,
  uploads: ReadonlyMap<string, Block>,
  context: PairContext,
): Pair {
  const live = match.live === null ? null : liveValues(match.live);
  const liveAddress = match.declared === null || match.live === null ? address : imageAddress(match.live.label);
  const changed = isContentChanged(match, context);
  const awaited = changed ? (uploads.get(match.declared?.key ?? "") ?? null) : null;
  const block = missingSource(match) ?? uploadBlock(match, liveAddress, context) ?? awaited;
  const renew = isUnfinished(match) && match.intent === "manage" && block === null;
  const replacedBy = match.intent === "delete" ? match.replacedBy : undefined;
  return {
    resource: {
      unit: "image",
      kind: "image",
      root: address,
      address,
      previousAddress: liveAddress === address ? null : liveAddress,
      id: match.live?.id ?? null,
      before: live,
      after: desiredValues(match, live, renew || changed || block !== null, context),
      labels: renew ? ["unfinished"] : labelsOf(match, live, changed, context),
      note: match.declared?.note ?? null,
      ...annotationsOf(match.declared),
      span: match.declared?.span ?? match.removed?.span ?? null,
      ...(replacedBy === undefined ? {} : { replacedBy: replacedBy.address }),
    },
    rules: {
      ...NO_RULES,
      immutable: changed ? ["content"] : [],
      renew,
      block,
      protect: match.declared?.protect ?? replacedBy?.protect ?? false,
    },
  };
}

/** Whether both the image and the file that it is declared to hold are known, and they differ. */
function isContentChanged({ intent, declared, live }: ImageMatch, context: PairContext): boolean {
  if (intent !== "manage" || live.status === "pending_upload") return false;
  const [is, wanted] = [contentOfLive(live), contentOfFile(declared.spec, context)];
  return is !== null && wanted !== null && is !== wanted;
}

/** An image that is to be made, or made anew, needs a source. */
function missingSource(match: ImageMatch): Block | null {
  const isMade = match.intent === "create" || (match.intent === "manage" && match.live.status === "pending_upload");
  return isMade && match.declared.spec.source === null ? { type: "image-source-missing" } : null;
}

function isUnfinished({ live }: ImageMatch): boolean {
  return live?.status === "pending_upload";
}

/**
 * An upload that was never completed holds nothing: the label `unfinished` says so in the plan. A changed file retires the image that its
 * family had under that label; what has another label was not one of it.
 */
function labelsOf(match: ImageMatch, live: Values | null, changed: boolean, context: PairContext): ChangeLabel[] {
  const labels = rootLabels(match, live, match.declared?.spec.label ?? null, context);
  const isRetired = changed && match.declared?.spec.family != null && labels.length === 0;
  if (isRetired) return ["retire"];
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

export function liveValues(image: WireImage): Values {
  const { text, owner } = splitDescription(image.description);
  return { label: image.label, description: text, owner, ...contentValue(contentOfLive(image)) };
}

/** Absent, not null, where nothing is known: most images track nothing. */
function contentValue(content: string | null): Values {
  return content === null ? {} : { content };
}

/** The source is among the values only of an image that is to be made: the service does not show it afterwards. */
function desiredValues(match: ImageMatch, live: Values | null, anew: boolean, context: PairContext): Values | null {
  switch (match.intent) {
    case "delete":
      return null;
    case "release": {
      const { content: _, ...values } = live ?? {};
      return { ...values, owner: null };
    }
    case "create":
    case "manage": {
      const { spec } = match.declared;
      const { label, description, source } = spec;
      const kept = live?.["description"] ?? "";
      const values = {
        label,
        description: description === undefined ? kept : (description ?? ""),
        owner: wantedOwner(match.declared, context),
      };
      if (live !== null && !anew) return { ...values, ...keptContent(match.declared, live, context) };
      return { ...values, ...contentValue(contentOfFile(spec, context)), ...sourceValues(source, context) };
    }
  }
}

/**
 * Nothing is written into the tag of an image that stays: what an image without a hash holds is not known, whatever the file holds now. The
 * hash goes if the entry has an `upload` that is no longer tracked, or if there is no tag to hold it.
 */
function keptContent(declared: Declared<ImageSpec>, live: Values, context: PairContext): Values {
  const { content } = live;
  const { track, source } = declared.spec;
  const isDropped = wantedOwner(declared, context) === null || (source?.type === "upload" && !track);
  return content === undefined || isDropped ? {} : { content };
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

// An image that is deleted while one is made that may be the same under another label.

/**
 * A warning for each image that is pruned while just one is declared that holds the same, or that must be there already, as nothing says how
 * to make it. What stands under `removed`, and what a family no longer keeps, goes because somebody said so.
 */
function likelyRenames(matches: readonly ImageMatch[], context: PairContext): Diagnostic[] {
  const made = matches.flatMap((match) => (match.intent === "create" ? [match.declared] : []));
  const pruned = matches.flatMap((match) => (match.intent === "delete" && match.label === "prune" ? [match.live] : []));
  if (made.length === 0 || pruned.length === 0) return [];
  const gone = groupBy(pruned, contentOfLive);
  const sameContent = [...groupBy(made, ({ spec }) => contentOfFile(spec, context))].flatMap(
    ([content, declared]): Diagnostic[] => {
      const images = content === null ? [] : (gone.get(content) ?? []);
      return onlyPair(declared, images, (label) => `is made of the file of ${imageAddress(label)}, which is deleted`);
    },
  );
  const sourceless = made.filter(({ spec }) => spec.source === null);
  return [
    ...sameContent,
    ...onlyPair(sourceless, pruned, (label) => `is not there, and ${imageAddress(label)} is deleted`),
  ];
}

function onlyPair(
  made: readonly Declared<ImageSpec>[],
  gone: readonly WireImage[],
  what: (former: string) => string,
): Diagnostic[] {
  const [[declared, ...others], [image, ...more]] = [made, gone];
  if (declared === undefined || image === undefined || others.length + more.length > 0) return [];
  const { address, span } = declared;
  return [
    {
      code: "likely-rename",
      severity: "warning",
      summary: `${address} ${what(image.label)}`,
      detail: "An image that gets another label keeps its id, and what it holds.",
      fix: `If it is the same image, write \`moved_from: ${JSON.stringify(image.label)}\` beside its label: then it is renamed.`,
      span,
      address,
    },
  ];
}

// Reads from an answer how somebody else has changed an image since the plan.

export function readBackOfImage(_: Change, answer: JsonObject): Values | null {
  const { label, description } = answer;
  const isWhole = typeof label === "string" && (typeof description === "string" || description === null);
  return isWhole ? liveValues(answer as unknown as WireImage) : null;
}
