/** Arbitrary worlds: a manifest and a live account that have much in common, so that ties, swaps and clashes are frequent. */

import fc from "fast-check";
import type { Seed } from "../../src/emulator/index.ts";
import { type Fate, OWNER } from "./fate.ts";
import {
  type DraftFamily,
  type DraftImage,
  familyDrafts,
  imageDrafts,
  manifestFamily,
  manifestImages,
  seedFamily,
  seedImages,
} from "./world-images.ts";
import { type DraftNetwork, manifestVpcs, networkDrafts, seedNodes, seedVpcs } from "./world-networks.ts";
import { type DraftZone, manifestDomains, seedDomains, zoneDrafts } from "./world-zones.ts";

export interface World {
  readonly owner: string | null;
  readonly manifest: Record<string, unknown>;
  readonly seed: Seed;
  readonly ttlRounding: "nearest" | "up";
  readonly uniqueLabels: boolean;
  readonly drafts: {
    readonly zones: readonly DraftZone[];
    readonly networks: readonly DraftNetwork[];
    readonly images: readonly DraftImage[];
    /** Without an owner nothing is declared of it. */
    readonly family: DraftFamily | null;
  };
}

export const worlds: fc.Arbitrary<World> = fc
  .record({
    owned: fc.boolean(),
    uniqueLabels: fc.boolean(),
    ttlRounding: fc.constantFrom("nearest" as const, "up" as const),
    zones: zoneDrafts,
    networks: networkDrafts,
    images: imageDrafts,
    family: familyDrafts,
  })
  .map(({ owned, uniqueLabels, ttlRounding, zones, networks, images, family }) => {
    const owner = owned ? OWNER : null;
    const declared = {
      vpcs: manifestVpcs(networks),
      domains: manifestDomains(zones),
      images: [...manifestImages(images), ...manifestFamily(family, owner)],
    };
    const manifest = {
      tenon: 1,
      ...(owner === null ? {} : { owner }),
      ...Object.fromEntries(Object.entries(declared).filter(([, entries]) => entries.length > 0)),
      ...removedSection([
        ...zones.filter((zone) => !zone.declared).map((zone) => ({ fate: zone.fate, entry: { domain: zone.name } })),
        ...networks
          .filter((net) => !net.declared)
          .map((net) => ({ fate: net.fate, entry: { vpc: net.live?.label, id: net.live?.id } })),
        ...images
          .filter((image) => !image.declared)
          .map((image) => ({ fate: image.fate, entry: { image: image.live?.label, id: image.live?.id } })),
      ]),
    };
    const seed: Seed = {
      domains: seedDomains(zones, owner),
      vpcs: seedVpcs(networks, owner),
      images: [...seedImages(images, owner), ...seedFamily(family, owner)],
      nodes: seedNodes(networks),
      disks: [{ id: 1, label: "disk", size: 1024 }],
    };
    return { owner, manifest, seed, ttlRounding, uniqueLabels, drafts: { zones, networks, images, family } };
  });

function removedSection(entries: readonly { fate: Fate; entry: Record<string, unknown> }[]): Record<string, unknown> {
  const removed = entries
    .filter(({ fate, entry }) => fate !== "left" && Object.values(entry).some((value) => value !== undefined))
    .map(({ fate, entry }) => ({
      ...Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)),
      ...(fate === "released" ? { destroy: false } : {}),
    }));
  return removed.length === 0 ? {} : { removed };
}
