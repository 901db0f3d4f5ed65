/** The applies whose every request meets every outcome: what is there before, and the project that is applied. */

import { gzipSync } from "node:zlib";
import type { Seed } from "../../src/emulator/index.ts";
import type { Project } from "../support/account.ts";

export const WORLD_NAMES = ["build", "images", "networks", "zones"] as const;

export interface OutcomeWorld {
  readonly name: (typeof WORLD_NAMES)[number];
  readonly seed: Seed;
  readonly project: Project;
}

/** When all of it happens: after what the seeds say of the past. */
export const START_MILLISECONDS: number = Date.parse("2026-03-01T12:00:00Z");
const TWO_HOURS_AGO = "2026-03-01T10:00:00";

/** What is somebody else's has this in its name, and nothing else has. */
export const FOREIGN = "foreign";

const IMAGE_FILE = gzipSync(Buffer.alloc(1024));
const TAG = "[tenon:edge]";
const TAGS = ["tenon:edge"];

const FOREIGN_SEED = {
  vpcs: [
    { id: 9001, label: "foreign", region: "us-east", subnets: [{ id: 9002, label: "web", ipv4: "10.0.1.0/24" }] },
    { id: 9003, label: "foreign-tagged", region: "us-east", description: "Theirs [tenon:theirs]" },
  ],
  domains: [
    {
      id: 9004,
      domain: "foreign.example",
      soa_email: "them@foreign.example",
      records: [{ id: 9005, type: "A", name: "www", target: "192.0.2.1" }],
    },
    { id: 9006, domain: "foreign-tagged.example", soa_email: "them@foreign.example", tags: ["tenon:theirs"] },
  ],
  images: [{ id: "private/9007", label: "foreign" }],
} as const satisfies Seed;

function seeded(own: Pick<Seed, "vpcs" | "domains" | "images">): Seed {
  return {
    vpcs: [...FOREIGN_SEED.vpcs, ...(own.vpcs ?? [])],
    domains: [...FOREIGN_SEED.domains, ...(own.domains ?? [])],
    images: [...FOREIGN_SEED.images, ...(own.images ?? [])],
    disks: [{ id: 7, label: "disk", size: 2048 }],
  };
}

const HEAD = `tenon: 1
owner: edge
lint: { off: [mixed-ttl, mx-without-spf, mx-without-dmarc] }
defaults:
  domain: { type: master, soa_email: hostmaster@example.com }
  record: { ttl_sec: 300 }
`;

/** A network and zones from nothing: made by itself, as a copy that saves requests, as a clone, from a nameserver. */
function built(nameserver: string): OutcomeWorld {
  return {
    name: "build",
    seed: seeded({}),
    project: {
      "tenon.yaml": `${HEAD}
vpcs:
  - label: prod
    region: us-east
    subnets: [{ label: web, ipv4: 10.0.1.0/24 }, { label: db, ipv4: 10.0.2.0/24 }]
record_sets:
  parked:
    - { type: A, name: www, target: 192.0.2.9 }
    - { type: TXT, target: parked }
    - { type: TXT, name: more, target: parked }
domains:
  - domain: example.com
    records:
      - { type: A, name: www, target: 192.0.2.1 }
      - { type: CNAME, name: shop, target: www }
      - { type: MX, target: mx.example.net., priority: 10 }
  - { domain: parked-a.example, use: [parked] }
  - { domain: parked-b.example, use: [parked] }
  - { domain: begun.example, create_from: { clone: example.com } }
  - { domain: moved.example, create_from: { axfr: "${nameserver}" } }
  - { domain: empty.example }
`,
    },
  };
}

/** Images: captured, uploaded, made anew where an upload was never finished, updated, deleted, pruned, retired, all after what is made; beside them a small zone. */
function imaged(): OutcomeWorld {
  return {
    name: "images",
    seed: seeded({
      images: [
        { id: "private/101", label: "old-words", description: `Before ${TAG}` },
        { id: "private/102", label: "to-go", description: TAG },
        { id: "private/103", label: "renamed-from", description: TAG },
        { id: "private/104", label: "begun", description: TAG, status: "pending_upload", created: TWO_HOURS_AGO },
        { id: "private/105", label: "let-go", description: `Kept ${TAG}` },
        { id: "private/106", label: "golden-before", description: TAG },
        { id: "private/107", label: "roll-1", description: TAG, created: "2025-01-01T00:00:00" },
        { id: "private/108", label: "roll-2", description: TAG, created: "2025-02-01T00:00:00" },
      ],
    }),
    project: {
      "golden.img.gz": IMAGE_FILE,
      "tenon.yaml": `${HEAD}
images:
  - { label: golden, upload: { file: golden.img.gz, region: us-east } }
  - { label: captured, capture: { disk_id: 7 } }
  - { label: old-words, description: After, capture: { disk_id: 7 } }
  - { label: renamed-to, moved_from: renamed-from, capture: { disk_id: 7 } }
  - { label: begun, upload: { file: golden.img.gz, region: us-east } }
  - { label: roll-3, family: roll, keep: 2, capture: { disk_id: 7 } }
domains:
  - { domain: beside.example, records: [{ type: A, name: www, target: 192.0.2.1 }] }
removed:
  - { image: to-go }
  - { image: let-go, destroy: false }
`,
    },
  };
}

/** Networks that change in every way: subnets made, renamed, swapped, replaced, deleted; VPCs updated, adopted, renamed, replaced, deleted. */
function networked(): OutcomeWorld {
  return {
    name: "networks",
    seed: seeded({
      vpcs: [
        {
          id: 201,
          label: "prod",
          region: "us-east",
          description: `Before ${TAG}`,
          subnets: [
            { id: 211, label: "old-name", ipv4: "10.0.1.0/24" },
            { id: 212, label: "moving", ipv4: "10.0.2.0/24" },
            { id: 213, label: "to-go", ipv4: "10.0.3.0/24" },
            { id: 214, label: "left", ipv4: "10.0.4.0/24" },
            { id: 215, label: "right", ipv4: "10.0.5.0/24" },
          ],
        },
        { id: 202, label: "untagged", region: "us-east" },
        { id: 203, label: "renamed-from", region: "us-east", description: TAG },
        {
          id: 204,
          label: "far",
          region: "us-east",
          description: TAG,
          subnets: [{ id: 241, label: "web", ipv4: "10.1.1.0/24" }],
        },
        {
          id: 205,
          label: "to-go",
          region: "us-east",
          description: TAG,
          subnets: [{ id: 251, label: "web", ipv4: "10.2.1.0/24" }],
        },
        { id: 206, label: "let-go", region: "us-east", description: TAG },
        { id: 207, label: "pruned", region: "us-east", description: TAG },
      ],
    }),
    project: {
      "tenon.yaml": `${HEAD}
vpcs:
  - label: prod
    region: us-east
    description: After
    subnets:
      - { label: new-name, ipv4: 10.0.1.0/24 }
      - { label: moving, ipv4: 10.0.12.0/24 }
      - { label: right, ipv4: 10.0.4.0/24 }
      - { label: left, ipv4: 10.0.5.0/24 }
      - { label: added, ipv4: 10.0.6.0/24 }
  - { label: untagged, region: us-east }
  - { label: renamed-to, moved_from: renamed-from, region: us-east }
  - { label: far, region: eu-west, subnets: [{ label: web, ipv4: 10.1.1.0/24 }] }
domains:
  - { domain: beside.example, records: [{ type: A, name: www, target: 192.0.2.1 }] }
removed:
  - { vpc: to-go }
  - { vpc: let-go, destroy: false }
`,
    },
  };
}

/** Zones that change: records made, updated, renamed, deleted; domains updated, adopted, activated, released, deleted, pruned. */
function zoned(): OutcomeWorld {
  return {
    name: "zones",
    seed: seeded({
      domains: [
        {
          id: 301,
          domain: "example.com",
          soa_email: "hostmaster@example.com",
          description: "Before",
          tags: TAGS,
          records: [
            { id: 311, type: "A", name: "www", target: "192.0.2.1", ttl_sec: 300 },
            { id: 312, type: "A", name: "api", target: "192.0.2.2", ttl_sec: 300 },
            { id: 313, type: "A", name: "gone", target: "192.0.2.3", ttl_sec: 300 },
            { id: 314, type: "TXT", name: "old-name", target: "told", ttl_sec: 300 },
            { id: 315, type: "TXT", name: "alias", target: "in the way", ttl_sec: 300 },
            { id: 316, type: "A", name: "twice", target: "192.0.2.4", ttl_sec: 300 },
            { id: 317, type: "A", name: "twice", target: "192.0.2.4", ttl_sec: 300 },
          ],
        },
        { id: 302, domain: "untagged.example", soa_email: "hostmaster@example.com" },
        { id: 303, domain: "asleep.example", soa_email: "hostmaster@example.com", status: "disabled", tags: TAGS },
        { id: 304, domain: "to-go.example", soa_email: "hostmaster@example.com", tags: TAGS },
        { id: 305, domain: "let-go.example", soa_email: "hostmaster@example.com", tags: TAGS },
        { id: 306, domain: "pruned.example", soa_email: "hostmaster@example.com", tags: TAGS },
      ],
    }),
    project: {
      "tenon.yaml": `${HEAD}
domains:
  - domain: example.com
    description: After
    records:
      - { type: A, name: www, target: 192.0.2.1 }
      - { type: A, name: api, target: 192.0.2.20 }
      - { type: TXT, name: new-name, target: told }
      - { type: CNAME, name: alias, target: www }
      - { type: A, name: twice, target: 192.0.2.4 }
      - { type: AAAA, name: www, target: "2001:db8::1" }
  - { domain: untagged.example }
  - { domain: asleep.example, records: [{ type: A, name: www, target: 192.0.2.1 }] }
vpcs:
  - { label: beside, region: us-east }
removed:
  - { domain: to-go.example }
  - { domain: let-go.example, destroy: false }
`,
    },
  };
}

/** @param nameserver host:port of one that transfers `moved.example` */
export function outcomeWorlds(nameserver: string): readonly OutcomeWorld[] {
  return [built(nameserver), imaged(), networked(), zoned()];
}
