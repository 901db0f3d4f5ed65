/** Arbitrary images: made by upload and capture, finished and unfinished, with labels that repeat. */

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

/** The file that uploads are made of, to be written into the project. */
export const IMAGE_FILE = "image.img.gz";

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
