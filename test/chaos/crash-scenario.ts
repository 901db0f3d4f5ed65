/** What a crash scenario is: an account, and a project that changes it in as many ways as it can. */

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Seed } from "../../src/emulator/index.ts";
import type { Project } from "../support/account.ts";

/** Ids below 100 mark what no run may touch: see ./crash-account.ts. */
export interface Scenario {
  readonly name: string;
  readonly seed: Seed;
  readonly project: Project;
  /** Both applies are bound by one plan file, made before the first. */
  readonly reviewed: boolean;
  /** Of every plan and apply. */
  readonly flags: readonly string[];
}

const FOREIGN: Seed = {
  vpcs: [
    {
      id: 1,
      label: "theirs",
      region: "us-east",
      description: "Of another team [tenon:other]",
      subnets: [{ id: 1, label: "web", ipv4: "10.0.1.0/24" }],
    },
    { id: 2, label: "by-hand", region: "us-east", subnets: [{ id: 2, label: "web", ipv4: "10.0.1.0/24" }] },
  ],
  domains: [
    {
      id: 1,
      domain: "theirs.example",
      tags: ["tenon:other"],
      records: [{ id: 1, type: "A", name: "www", target: "192.0.2.10" }],
    },
    {
      id: 2,
      domain: "by-hand.example",
      records: [
        { id: 2, type: "A", name: "www", target: "192.0.2.10" },
        { id: 3, type: "TXT", target: "nobody declared this" },
      ],
    },
  ],
  images: [
    { id: "private/1", label: "theirs", description: "[tenon:other]" },
    { id: "private/2", label: "by-hand", description: "Nobody declared this" },
    { id: "private/3", label: "nightly", type: "automatic" },
    { id: "node/debian12", label: "Debian 12", is_public: true },
  ],
};

/** Joined with what belongs to others. */
export function scenario(
  name: string,
  seed: Seed,
  manifest: string,
  { reviewed = false, files = {}, flags = [] }: { reviewed?: boolean; files?: Project; flags?: string[] } = {},
): Scenario {
  const joined: Seed = {
    ...seed,
    vpcs: [...(FOREIGN.vpcs ?? []), ...(seed.vpcs ?? [])],
    domains: [...(FOREIGN.domains ?? []), ...(seed.domains ?? [])],
    images: [...(FOREIGN.images ?? []), ...(seed.images ?? [])],
  };
  return { name, seed: joined, project: { ...files, "tenon.yaml": manifest }, reviewed, flags };
}

export const IMAGE_FILE: Uint8Array = gzipSync(Buffer.alloc(4_096, "disk"));
/** As an ownership tag holds it. */
export const IMAGE_HASH: string = createHash("sha256").update(IMAGE_FILE).digest("hex").slice(0, 16);
