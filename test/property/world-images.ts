/** Arbitrary images: made by upload and capture, finished and unfinished, with labels that repeat. */

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import type { ImageStatus } from "../../src/api/wire.ts";
import type { SeedImage } from "../../src/emulator/index.ts";
import { type Fate, type Tag, tagOf } from "./fate.ts";

export interface DraftImage {
  readonly declared: {
    readonly label: string;
    readonly id: string | undefined;
    readonly description: string | null | undefined;
    readonly capture: boolean;
  } | null;
  readonly live: {
    readonly id: string;
    readonly label: string;
    readonly description: string;
    readonly status: ImageStatus;
  } | null;
  readonly fate: Fate;
  readonly tag: Tag;
}

/** The file that uploads are made of, to be written into the project, what it holds, and the hash of that as tags have it. */
export const IMAGE_FILE = "image.img.gz";
export const IMAGE: Uint8Array = gzipSync(Buffer.alloc(1024));
const IMAGE_HASH = createHash("sha256").update(IMAGE).digest("hex").slice(0, 16);

const LABELS = ["golden", "silver"];

const draft = (index: number): fc.Arbitrary<DraftImage> =>
  fc
    .record({
      presence: fc.constantFrom("both", "desired", "live"),
      renamed: fc.boolean(),
      description: fc.constantFrom("words", null, undefined),
      liveDescription: fc.constantFrom("", "words", "other words"),
      capture: fc.boolean(),
      status: fc.constantFrom<ImageStatus>("available", "available", "pending_upload", "creating"),
      fate: fc.constantFrom<Fate>("left", "removed", "released"),
      tag: fc.constantFrom<Tag>("none", "ours", "ours", "foreign"),
    })
    .map(({ presence, renamed, description, liveDescription, capture, status, fate, tag }) => {
      const id = `private/${200 + index}`;
      const label = LABELS[index] as string;
      const live = presence === "desired" ? null : { id, label, description: liveDescription, status };
      const moves = renamed && live !== null;
      const declared =
        presence === "live"
          ? null
          : { label: moves ? `${label} new` : label, id: moves ? id : undefined, description, capture };
      return { declared, live, fate, tag };
    });

export const imageDrafts: fc.Arbitrary<DraftImage[]> = fc.tuple(draft(0), draft(1)) as fc.Arbitrary<DraftImage[]>;

export function manifestImages(images: readonly DraftImage[]): Record<string, unknown>[] {
  return images.flatMap(({ declared }) => {
    if (declared === null) return [];
    const { label, id, description, capture } = declared;
    return [
      {
        label,
        ...(id === undefined ? {} : { id }),
        ...(description === undefined ? {} : { description }),
        ...(capture ? { capture: { disk_id: 1 } } : { upload: { file: IMAGE_FILE, region: "us-east" } }),
      },
    ];
  });
}

export function seedImages(images: readonly DraftImage[], owner: string | null): SeedImage[] {
  return images.flatMap(({ live, declared, fate, tag }) => {
    if (live === null) return [];
    const mark = tagOf(tag, declared !== null || fate !== "left", owner);
    const description = mark === null ? live.description : `${live.description} [tenon:${mark}]`.trimStart();
    return [{ ...live, description, size: 10 }];
  });
}

// A family beside them: months that are declared, and images of some months, whose labels repeat.

export interface DraftFamily {
  readonly keep: number;
  readonly declared: readonly string[];
  readonly track: boolean;
  readonly live: readonly DraftMember[];
}

export interface DraftMember {
  readonly label: string;
  readonly day: number;
  readonly tag: Tag;
  /** Of which file its tag has the hash. */
  readonly hash: "none" | "other" | "file";
  readonly status: ImageStatus;
}

const MONTHS = ["month-1", "month-2", "month-3", "month-4"];

export const familyDrafts: fc.Arbitrary<DraftFamily | null> = fc.option(
  fc.record({
    keep: fc.integer({ min: 1, max: 3 }),
    declared: fc.subarray(MONTHS, { minLength: 1, maxLength: 2 }),
    track: fc.boolean(),
    live: fc.array(
      fc.record({
        label: fc.constantFrom(...MONTHS),
        day: fc.integer({ min: 1, max: 4 }),
        tag: fc.constantFrom<Tag>("none", "ours", "ours", "ours", "foreign"),
        hash: fc.constantFrom("none", "other", "other", "file"),
        status: fc.constantFrom<ImageStatus>("available", "available", "available", "pending_upload"),
      }),
      { maxLength: 5 },
    ),
  }),
);

export function manifestFamily(family: DraftFamily | null, owner: string | null): Record<string, unknown>[] {
  if (family === null || owner === null) return [];
  const { keep, declared, track } = family;
  const source = { ...(track ? { track: "content" } : {}), upload: { file: IMAGE_FILE, region: "us-east" } };
  return declared.map((label) => ({ label, family: "month", keep, ...source }));
}

export function seedFamily(family: DraftFamily | null, owner: string | null): SeedImage[] {
  return (family?.live ?? []).map(({ label, day, tag, hash, status }, index) => {
    const mark = tagOf(tag, family?.declared.includes(label) === true, owner);
    const sha256 = hash === "none" ? "" : ` sha256:${hash === "file" ? IMAGE_HASH : "0".repeat(16)}`;
    const created = status === "available" ? { created: `2026-01-0${day}T00:00:00` } : {};
    return {
      id: `private/${300 + index}`,
      label,
      ...created,
      status,
      description: mark === null ? "" : `[tenon:${mark}${sha256}]`,
    };
  });
}
