/** Pairs of runs that meet on one account: what the account holds, and what each of the two is to bring about. */

import type { Seed, SeedDisk } from "../../src/emulator/index.ts";
import type { Goal } from "../../src/index.ts";
import { domain, type Manifest, type RecordEntry, record, seeded } from "./interleave-manifest.ts";

export interface Pair {
  readonly name: string;
  readonly seed: Seed;
  readonly sides: readonly [Work, Work];
  /** Domains that no owner has yet, and both want: whoever comes last has them. */
  readonly contested: readonly string[];
}

export interface Work {
  readonly manifest: Manifest;
  readonly goal: Goal;
}

/** Ids in the account that neither run may touch. */
export const FOREIGN = {
  vpcs: [102, 103],
  domains: [30_003, 30_004],
  /** Of others in a domain that is managed, too. */
  records: [400_101, 400_102, 400_301, 400_302, 400_401],
  images: ["private/2", "private/3"],
} as const;

const OLD_RECORDS = [
  record("", "A", "192.0.2.1"),
  record("www", "A", "192.0.2.1"),
  record("www", "A", "192.0.2.2"),
  record("api", "A", "192.0.2.3"),
  record("beta", "A", "192.0.2.4"),
  record("shop", "CNAME", "www.example.com."),
  record("", "TXT", "v=spf1 -all"),
];

/** Against OLD_RECORDS: a target and a TTL changed, one renamed, one gone, two that are new, an alias and an address change places. */
const NEW_RECORDS = [
  record("", "A", "192.0.2.1"),
  record("www", "A", "192.0.2.1", 3600),
  record("www", "A", "192.0.2.9"),
  record("api-2", "A", "192.0.2.3"),
  record("beta", "CNAME", "www.example.com."),
  record("shop", "A", "192.0.2.5"),
  record("mail", "A", "192.0.2.6"),
  record("", "TXT", "v=spf1 -all"),
];

/** What images are captured from. */
export const DISKS: readonly SeedDisk[] = [{ id: 11, label: "root", size: 2_048 }];

const OTHERS: Required<Pick<Seed, "vpcs" | "domains" | "images" | "disks">> = {
  vpcs: [
    {
      id: 102,
      label: "shared-net",
      region: "us-east",
      description: "Not yours [tenon:other]",
      subnets: [{ id: 2_101, label: "web", ipv4: "10.0.1.0/24" }],
    },
    { id: 103, label: "legacy", region: "us-east", subnets: [{ id: 2_102, label: "web", ipv4: "10.0.1.0/24" }] },
  ],
  domains: [
    {
      id: 30_003,
      domain: "foreign.example",
      tags: ["tenon:other"],
      records: seeded(400_301, [record("www", "A", "192.0.2.1"), record("", "TXT", "theirs")]),
    },
    { id: 30_004, domain: "stray.example", records: seeded(400_401, [record("www", "A", "192.0.2.1")]) },
  ],
  images: [
    { id: "private/2", label: "theirs", description: "[tenon:other]" },
    { id: "private/3", label: "stray" },
  ],
  disks: DISKS,
};

/** The account as an apply of OLD left it, and as time has changed it since: something to do for OLD, too. */
const USED: Seed = {
  ...OTHERS,
  vpcs: [
    ...OTHERS.vpcs,
    {
      id: 101,
      label: "prod",
      region: "us-east",
      description: "Main [tenon:edge]",
      subnets: [
        { id: 2_001, label: "web", ipv4: "10.0.1.0/24" },
        { id: 2_002, label: "db", ipv4: "10.0.2.0/24" },
        { id: 2_003, label: "attic", ipv4: "10.0.9.0/24" },
      ],
    },
  ],
  domains: [
    ...OTHERS.domains,
    {
      id: 30_001,
      domain: "example.com",
      soa_email: "hostmaster@example.com",
      tags: ["tenon:edge", "team"],
      records: [
        ...seeded(400_101, [
          record("_acme-challenge", "TXT", "token-1"),
          record("_acme-challenge.www", "TXT", "token-2"),
        ]),
        ...seeded(400_001, [
          ...OLD_RECORDS.slice(0, 4),
          record("beta", "A", "192.0.2.4", 3600),
          OLD_RECORDS[5] as RecordEntry,
          record("manual", "A", "192.0.2.77"),
        ]),
      ],
    },
    {
      id: 30_002,
      domain: "gone.example",
      soa_email: "hostmaster@example.com",
      tags: ["tenon:edge"],
      records: seeded(400_201, [record("www", "A", "192.0.2.1"), record("ftp", "A", "192.0.2.2")]),
    },
  ],
  images: [...OTHERS.images, { id: "private/1", label: "golden", description: "Old text [tenon:edge]" }],
};

const OLD: Manifest = {
  tenon: 1,
  owner: "edge",
  vpcs: [
    {
      label: "prod",
      region: "us-east",
      description: "Main",
      subnets: [
        { label: "web", ipv4: "10.0.1.0/24" },
        { label: "db", ipv4: "10.0.2.0/24" },
        { label: "queue", ipv4: "10.0.4.0/24" },
      ],
    },
  ],
  domains: [
    domain("example.com", OLD_RECORDS, true),
    domain("gone.example", [record("www", "A", "192.0.2.1"), record("ftp", "A", "192.0.2.8")]),
  ],
  images: [{ label: "golden" }],
};

const NEW: Manifest = {
  tenon: 1,
  owner: "edge",
  vpcs: [
    {
      label: "prod",
      region: "us-east",
      description: "Main network",
      subnets: [
        { label: "front", ipv4: "10.0.1.0/24" },
        { label: "db", ipv4: "10.0.2.0/25" },
        { label: "cache", ipv4: "10.0.3.0/24" },
      ],
    },
    { label: "edge-2", region: "eu-west", subnets: [{ label: "web", ipv4: "10.1.0.0/24" }] },
  ],
  domains: [
    domain("example.com", NEW_RECORDS, true),
    domain("new.example", [record("", "A", "192.0.2.1"), record("www", "CNAME", "new.example.")]),
  ],
  images: [{ label: "golden" }, { label: "baked", capture: { disk_id: 11 } }],
  removed: [{ domain: "gone.example" }],
};

/** Of what NEW wants, the half that somebody destroys meanwhile. */
const DESTROYED: Manifest = {
  tenon: 1,
  owner: "edge",
  vpcs: (NEW.vpcs ?? []).map((vpc) => ({ ...vpc, subnets: [] })),
  domains: [domain("gone.example", []), domain("new.example", [])],
  images: [{ label: "baked", capture: { disk_id: 11 } }],
};

const LANDING = [
  record("", "A", "192.0.2.1"),
  record("www", "A", "192.0.2.1"),
  record("img", "A", "192.0.2.2"),
  record("", "TXT", "v=spf1 -all"),
];

/** Everything is to be made: equal domains are copies of one. */
const FIRST: Manifest = {
  tenon: 1,
  owner: "edge",
  vpcs: [
    { label: "prod", region: "us-east", subnets: [{ label: "web", ipv4: "10.0.1.0/24" }] },
    { label: "lab", region: "eu-west", description: "For tries", subnets: [] },
  ],
  domains: [domain("one.example", LANDING), domain("two.example", LANDING), domain("three.example", LANDING)],
  images: [{ label: "baked", capture: { disk_id: 11 } }],
};

const UPLOAD: Manifest = {
  tenon: 1,
  owner: "edge",
  domains: [domain("up.example", [record("www", "A", "192.0.2.1")])],
  images: [{ label: "sent", upload: { file: "disk.img.gz", region: "us-east" } }],
};

/** An image that goes when two others are there, and a zone beside them. */
const BEFORE_ROTATION: Seed = {
  ...OTHERS,
  images: [...OTHERS.images, { id: "private/4", label: "base-1", description: "[tenon:edge]" }],
};
const ROTATED: Manifest = {
  tenon: 1,
  owner: "edge",
  domains: [domain("rot.example", [record("www", "A", "192.0.2.1")])],
  images: [
    { label: "base-2", capture: { disk_id: 11 } },
    { label: "sent-2", upload: { file: "disk.img.gz", region: "us-east" } },
  ],
};

/** A family of which the oldest goes when the new month is there; that of nobody stays. */
const BEFORE_MONTH: Seed = {
  ...OTHERS,
  images: [
    ...OTHERS.images,
    ...[8, 9, 10].map((month) => ({
      id: `private/${month}`,
      label: `base-${month}`,
      description: "[tenon:edge]",
      created: `2025-${String(month).padStart(2, "0")}-01T00:00:00`,
    })),
  ],
};
const rolled = (month: number): Manifest => ({
  tenon: 1,
  owner: "edge",
  domains: [domain("rot.example", [record("www", "A", "192.0.2.1")])],
  images: [{ label: `base-${month}`, family: "base", keep: 3, capture: { disk_id: 11 } }],
});

/** Labels and names that change places, so that steps go through temporary ones. */
const SWAPPED: Manifest = {
  ...OLD,
  vpcs: [
    {
      label: "prod",
      region: "us-east",
      subnets: [
        { label: "db", ipv4: "10.0.1.0/24" },
        { label: "web", ipv4: "10.0.2.0/24" },
        { label: "attic", ipv4: "10.0.9.0/24" },
      ],
    },
  ],
  domains: [
    domain(
      "example.com",
      OLD_RECORDS.map((entry) => (entry.type === "A" ? { ...entry, ttl_sec: 3600 } : entry)),
      true,
    ),
  ],
};

/** Nobody's yet, and wanted by two. */
const COMMON: Seed = {
  ...OTHERS,
  domains: [
    ...OTHERS.domains,
    {
      id: 30_005,
      domain: "common.example",
      soa_email: "hostmaster@example.com",
      records: seeded(400_501, [record("www", "A", "192.0.2.1"), record("old", "A", "192.0.2.2")]),
    },
  ],
};

function project(owner: string, common: readonly RecordEntry[]): Manifest {
  return {
    tenon: 1,
    owner,
    vpcs: [{ label: owner, region: "us-east", subnets: [{ label: "web", ipv4: "10.0.1.0/24" }] }],
    domains: [
      domain("common.example", common),
      domain(`${owner}.example`, [record("", "A", "192.0.2.1"), record("www", "CNAME", `${owner}.example.`)]),
    ],
    images: [{ label: `${owner}-image`, capture: { disk_id: 11 } }],
  };
}

const KEPT = record("www", "A", "192.0.2.1");

const apply = (manifest: Manifest): Work => ({ manifest, goal: "apply" });

export const PAIRS: readonly Pair[] = [
  {
    name: "one commit, twice",
    seed: USED,
    sides: [apply(NEW), apply(NEW)],
    contested: [],
  },
  {
    name: "a first apply, twice",
    seed: OTHERS,
    sides: [apply(FIRST), apply(FIRST)],
    contested: [],
  },
  { name: "old and new commit", seed: USED, sides: [apply(OLD), apply(NEW)], contested: [] },
  { name: "swaps and new commit", seed: USED, sides: [apply(SWAPPED), apply(NEW)], contested: [] },
  {
    name: "two owners",
    seed: COMMON,
    sides: [
      apply(project("left", [KEPT, record("left", "A", "192.0.2.3")])),
      apply(project("right", [KEPT, record("right", "A", "192.0.2.4")])),
    ],
    contested: ["common.example"],
  },
  {
    name: "apply and destroy",
    seed: USED,
    sides: [apply(NEW), { manifest: DESTROYED, goal: "destroy" }],
    contested: [],
  },
  {
    name: "an upload, twice",
    seed: OTHERS,
    sides: [apply(UPLOAD), apply(UPLOAD)],
    contested: [],
  },
  {
    name: "an image for two others, twice",
    seed: BEFORE_ROTATION,
    sides: [apply(ROTATED), apply(ROTATED)],
    contested: [],
  },
  {
    name: "a month of a family, twice",
    seed: BEFORE_MONTH,
    sides: [apply(rolled(11)), apply(rolled(11))],
    contested: [],
  },
  {
    name: "two months of a family",
    seed: BEFORE_MONTH,
    sides: [apply(rolled(11)), apply(rolled(12))],
    contested: [],
  },
];
