/** Tracked content: the hash of the file that an image was made of is kept in its tag, so that a changed file is a change. */

import type { WireImage } from "../../api/wire.ts";
import type { Declared } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { SchemaOf } from "../../model/entry.ts";
import type { LeftAlone } from "../../model/plan.ts";
import type { Json } from "../../model/resource.ts";
import { compareIds, groupBy } from "../../model/text.ts";
import type { Leaving, LoadContext, Match, PairContext } from "../../model/unit.ts";
import { splitDescription, TAG_HASH_DIGITS } from "../owner-tag.ts";
import { createdMilliseconds } from "./live.ts";
import type { ImageSpec } from "./spec.ts";

export interface TrackEntry {
  readonly track?: "content";
  readonly upload?: unknown;
}

export const TRACK_SCHEMA: SchemaOf<"content"> = {
  title: "Track",
  description:
    "content: the hash of the uploaded file is kept in the ownership tag, so that a changed file under the same label is a change: a new image is made, and the old one deleted.",
  type: "string",
  enum: ["content"],
};

/** Whether the entry tracks its file; what keeps it from that is reported. */
export function loadTrack(
  entry: TrackEntry,
  context: LoadContext,
  report: (problem: Omit<Diagnostic, "severity" | "address">) => void,
): boolean {
  if (entry.track === undefined) return false;
  const span = context.span(entry, "track");
  if (entry.upload === undefined) {
    const detail = "Only the file of an `upload` has a content that is known.";
    const summary = "`track` without `upload`";
    report({ code: "missing-key", summary, detail, fix: "Add `upload`, or remove `track`.", span });
    return false;
  }
  if (context.owner === null) {
    const detail = "The hash is kept in the ownership tag, and the project has no `owner`.";
    const fix = "Set `owner` in the root file, or remove `track`.";
    report({ code: "bad-track", summary: "`track` without an owner", detail, fix, span });
    return false;
  }
  return true;
}

// What a file or an image holds, as the value `content` of an image: `sha256:` and the first digits of the hash.

const PREFIX = "sha256:";

/** null: nothing says what the image was made of. */
export function contentOfLive({ description }: WireImage): string | null {
  const { sha256 } = splitDescription(description);
  return sha256 === null ? null : PREFIX + sha256;
}

/** null: the entry does not track its file, or it is not known what that holds. */
export function contentOfFile({ track, source }: ImageSpec, context: PairContext): string | null {
  if (!track || source?.type !== "upload") return null;
  const content = context.contentOf(source.file);
  return content === null ? null : PREFIX + content.sha256.slice(0, TAG_HASH_DIGITS);
}

/** The digits as the tag holds them. */
export function hashOf(content: Json | undefined): string | null {
  return typeof content === "string" && content.startsWith(PREFIX) ? content.slice(PREFIX.length) : null;
}

// Several images of one label: a replace makes the new one first, and a run may be killed before it has deleted the old one.

/**
 * Of several images of a declared label, those that the entry can mean: the ones that hold what its file holds. If none does, though each has
 * our tag with a hash, all are outdated: the newest of them, which is then replaced.
 */
export function preferImages(
  declared: Declared<ImageSpec>,
  images: readonly WireImage[],
  context: PairContext,
): readonly WireImage[] {
  const wanted = contentOfFile(declared.spec, context);
  if (wanted === null) return images;
  const exact = images.filter((image) => isOurs(image, context) && contentOfLive(image) === wanted);
  if (exact.length > 0) return exact;
  if (!images.every((image) => isOurs(image, context) && contentOfLive(image) !== null)) return images;
  return images.toSorted(latestFirst).slice(0, 1);
}

function isOurs({ description }: WireImage, { owner }: PairContext): boolean {
  return owner !== null && splitDescription(description).owner === owner;
}

function latestFirst(one: WireImage, other: WireImage): number {
  const [a, b] = [createdMilliseconds(one.created) ?? 0, createdMilliseconds(other.created) ?? 0];
  return b - a || compareIds(other.id, one.id);
}

/**
 * What an earlier, killed replace has left: our images of a tracked label with the hash of another file than the declared one, and uploads
 * that were begun for it.
 */
export function findSuperseded(
  matches: readonly Match<ImageSpec, WireImage>[],
  unnamed: readonly WireImage[],
  context: PairContext,
): Leaving<ImageSpec, WireImage>[] {
  const byLabel = groupBy(unnamed, ({ label }) => label);
  return matches.flatMap(({ intent, declared }) => {
    const others = intent === "manage" ? (byLabel.get(declared.key) ?? []) : [];
    const wanted = others.length === 0 || declared === null ? null : contentOfFile(declared.spec, context);
    if (wanted === null || declared === null) return [];
    const label = declared.spec.family === null ? "superseded" : "retire";
    const isOutdated = (image: WireImage) =>
      contentOfLive(image) !== null && (contentOfLive(image) !== wanted || image.status === "pending_upload");
    return others.filter(isOutdated).map((live) => ({ live, label, by: [declared], replacedBy: declared }));
  });
}

// What the plan says about images whose content is not compared.

export function uncomparedImages(matches: readonly Match<ImageSpec, WireImage>[]): LeftAlone[] {
  const there = matches.filter(({ intent, live }) => intent === "manage" && live.status !== "pending_upload");
  const untracked = there.filter(({ declared }) => declared?.spec.source?.type === "upload" && !declared.spec.track);
  const unknown = there.filter(
    ({ declared, live }) => declared?.spec.track && live !== null && contentOfLive(live) === null,
  );
  return [...leftAlone("untracked", untracked.length), ...leftAlone("content-unknown", unknown.length)];
}

function leftAlone(reason: LeftAlone["reason"], count: number): LeftAlone[] {
  return count === 0 ? [] : [{ kind: "image", count, reason }];
}
