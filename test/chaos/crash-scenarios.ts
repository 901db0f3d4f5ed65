/** The accounts and projects that are crashed: together they hold every kind and every way to change one. */

import { IMAGE_FILE, IMAGE_HASH, type Scenario, scenario } from "./crash-scenario.ts";

const NETWORK = scenario(
  "network",
  {
    vpcs: [
      {
        id: 1001,
        label: "old-core",
        region: "us-east",
        description: "Before [tenon:edge]",
        subnets: [
          { id: 1001, label: "web", ipv4: "10.0.1.0/24" },
          { id: 1002, label: "db", ipv4: "10.0.2.0/24" },
          { id: 1003, label: "gone", ipv4: "10.0.4.0/24" },
          { id: 1007, label: "spare", ipv4: "10.0.7.0/24" },
          { id: 1004, label: "right", ipv4: "10.0.5.0/24" },
          { id: 1005, label: "left", ipv4: "10.0.6.0/24" },
        ],
      },
      {
        id: 1002,
        label: "moved",
        region: "us-east",
        description: "[tenon:edge]",
        subnets: [{ id: 1006, label: "web", ipv4: "10.1.1.0/24" }],
      },
      { id: 1003, label: "found", region: "us-east", subnets: [{ id: 50, label: "kept", ipv4: "10.2.1.0/24" }] },
      { id: 1004, label: "stray", region: "us-east", description: "[tenon:edge]" },
      { id: 1005, label: "legacy", region: "us-east", description: "[tenon:edge]" },
      { id: 1006, label: "let-go", region: "us-east", description: "Words [tenon:edge]" },
    ],
  },
  `
tenon: 1
owner: edge
vpcs:
  - label: core
    moved_from: old-core
    region: us-east
    description: After
    subnets:
      - { label: www, ipv4: 10.0.1.0/24 }
      - { label: db, ipv4: 10.0.3.0/24 }
      - { label: left, ipv4: 10.0.5.0/24 }
      - { label: right, ipv4: 10.0.6.0/24 }
  - label: moved
    region: eu-west
    subnets: [{ label: web, ipv4: 10.1.1.0/24 }]
  - { label: found, region: us-east }
  - label: fresh
    region: us-east
    description: New
    subnets: [{ label: a, ipv4: 10.3.1.0/24 }, { label: b, ipv4: 10.3.2.0/24 }]
removed:
  - { vpc: legacy }
  - { vpc: let-go, destroy: false }
allow:
  - { replace: vpc/moved }
  # By the name in the account: the old one, and the new one where a killed run had renamed it already.
  - { replace: "vpc/*core/subnet/db" }
  - { delete: vpc/stray }
  - { bulk: "vpc/*core" }
`,
);

const ZONES = scenario(
  "zones",
  {
    domains: [
      {
        id: 1001,
        domain: "example.com",
        tags: ["tenon:edge"],
        records: [
          { id: 1001, type: "A", target: "192.0.2.1" },
          { id: 1002, type: "A", target: "192.0.2.1" },
          { id: 1003, type: "A", name: "www", target: "192.0.2.10" },
          { id: 1004, type: "MX", target: "mx.example.net", priority: 10 },
          { id: 1006, type: "CNAME", name: "shop", target: "stores.example.net" },
          { id: 50, type: "TXT", name: "_acme-challenge", target: "of another program" },
        ],
      },
      {
        id: 1002,
        domain: "found.example",
        tags: ["by-hand"],
        records: [{ id: 1008, type: "A", target: "192.0.2.2" }],
      },
      { id: 1003, domain: "asleep.example", tags: ["tenon:edge"], status: "disabled" },
      { id: 1004, domain: "stray.example", tags: ["tenon:edge"] },
      { id: 1005, domain: "legacy.example", tags: ["tenon:edge"] },
      {
        id: 1006,
        domain: "let-go.example",
        tags: ["tenon:edge"],
        records: [{ id: 51, type: "A", target: "192.0.2.3" }],
      },
    ],
  },
  `
tenon: 1
owner: edge
defaults:
  domain: { type: master, soa_email: hostmaster@example.com }
domains:
  - domain: example.com
    description: The site
    ignore: [{ name: "_acme-challenge*", type: TXT }]
    records:
      - { type: A, target: 192.0.2.1 }
      - { type: A, name: www, target: 192.0.2.20 }
      - { type: MX, target: mx.example.net., priority: 10 }
      - { type: A, name: shop, target: 192.0.2.30 }
      - { type: CNAME, name: blog, target: www }
  - domain: found.example
    records: [{ type: A, target: 192.0.2.2 }, { type: CAA, tag: issue, target: letsencrypt.org }]
  - domain: asleep.example
    records: [{ type: A, target: 192.0.2.4 }]
  - domain: new.example
    records: [{ type: A, target: 192.0.2.5 }]
removed:
  - { domain: legacy.example }
  - { domain: let-go.example, destroy: false }
allow:
  - { delete: domain/stray.example }
  - { bulk: domain/example.com }
`,
);

const COPIES = scenario(
  "copies",
  {
    domains: [
      {
        id: 1001,
        domain: "source.example",
        tags: ["tenon:edge", "shared"],
        records: [
          { id: 1001, type: "A", target: "192.0.2.1" },
          { id: 1002, type: "TXT", target: "copied" },
        ],
      },
    ],
  },
  `
tenon: 1
owner: edge
defaults:
  domain: { type: master, soa_email: hostmaster@example.com }
domains:
  - domain: source.example
    records: [{ type: A, target: 192.0.2.1 }, { type: TXT, target: copied }]
  - domain: [parked-a.example, parked-b.example, parked-c.example]
    records:
      - { type: A, target: 192.0.2.50 }
      - { type: TXT, target: "v=spf1 -all" }
  - { domain: mirror.example, create_from: { clone: source.example } }
  - { domain: of-nobody.example, create_from: { clone: by-hand.example } }
  - { domain: of-others.example, create_from: { clone: theirs.example } }
  - { domain: second.example, description: A copy of a copy, create_from: { clone: parked-a.example } }
`,
  // Until its second request, a copy carries the tag of the other owner, and so it is found.
  { flags: ["--take-ownership-from", "other"] },
);

const IMAGES = scenario(
  "images",
  {
    disks: [{ id: 501, label: "boot", size: 2_048 }],
    images: [
      { id: "private/1001", label: "golden", description: "Base [tenon:edge]", status: "pending_upload" },
      { id: "private/1002", label: "old-base", description: "[tenon:edge]" },
      { id: "private/1003", label: "found", description: "By hand" },
      { id: "private/1004", label: "stray", description: "[tenon:edge]" },
      { id: "private/1005", label: "legacy", description: "[tenon:edge]" },
      { id: "private/1006", label: "let-go", description: "Words [tenon:edge]" },
    ],
  },
  `
tenon: 1
owner: edge
images:
  - { label: golden, description: Base, upload: { file: golden.img.gz, region: us-east, cloud_init: true } }
  - { label: captured, capture: { disk_id: 501 } }
  - { label: base, moved_from: old-base }
  - { label: found }
removed:
  - { image: legacy }
  - { image: let-go, destroy: false }
allow:
  - { delete: image/stray }
`,
  { files: { "golden.img.gz": IMAGE_FILE } },
);

/** A month is rolled, and what a run that was killed before has left of a changed file is deleted. */
const FAMILY = scenario(
  "family",
  {
    images: [
      { id: "private/1001", label: "base-08", description: "[tenon:edge]", created: "2026-08-01T00:00:00" },
      { id: "private/1002", label: "base-09", description: "[tenon:edge]", created: "2026-09-01T00:00:00" },
      { id: "private/1003", label: "base-10", description: "[tenon:edge]", created: "2026-10-01T00:00:00" },
      { id: "private/4", label: "base-01", created: "2026-01-01T00:00:00" },
      { id: "private/5", label: "base-02", description: "[tenon:other]", created: "2026-02-01T00:00:00" },
      { id: "private/1006", label: "left", description: "[tenon:edge sha256:0000000000000000]" },
      { id: "private/1007", label: "left", description: `[tenon:edge sha256:${IMAGE_HASH}]` },
    ],
  },
  `
tenon: 1
owner: edge
images:
  - { label: base-11, family: base, keep: 2, upload: { file: base.img.gz, region: us-east } }
  - { label: left, track: content, upload: { file: base.img.gz, region: us-east } }
allow:
  - { replace: image/left }
`,
  { reviewed: true, files: { "base.img.gz": IMAGE_FILE } },
);

/** A file has changed under its label: outside of a family, and within one. */
const [TRACKED, TRACKED_IN_FAMILY] = ["", ", family: month, keep: 1"].map((family) =>
  scenario(
    family === "" ? "tracked" : "tracked in a family",
    { images: [{ id: "private/1001", label: "month-1", description: "Words [tenon:edge sha256:0000000000000000]" }] },
    `
tenon: 1
owner: edge
images:
  - { label: month-1, description: Words, track: content${family}, upload: { file: base.img.gz, region: us-east } }
${family === "" ? "allow: [{ replace: image/month-1 }]" : ""}
`,
    { reviewed: true, files: { "base.img.gz": IMAGE_FILE } },
  ),
) as [Scenario, Scenario];

/** A plan that was reviewed once carries through the crash where no image goes: replaced, renamed, filled, uploaded and adopted within its bound. */
const REVIEWED = scenario(
  "reviewed",
  {
    vpcs: [
      {
        id: 1001,
        label: "moved",
        region: "us-east",
        description: "[tenon:edge]",
        subnets: [{ id: 1001, label: "web", ipv4: "10.1.1.0/24" }],
      },
    ],
    domains: [
      {
        id: 1001,
        domain: "example.com",
        tags: ["tenon:edge"],
        records: [
          { id: 1001, type: "A", name: "www", target: "192.0.2.10" },
          { id: 1002, type: "TXT", name: "former", target: "the same words" },
          { id: 1003, type: "A", name: "old", target: "192.0.2.9" },
          { id: 1004, type: "A", name: "kept", target: "192.0.2.8" },
          { id: 50, type: "TXT", name: "_acme-challenge", target: "of another program" },
        ],
      },
      { id: 1002, domain: "found.example" },
      { id: 1003, domain: "copied.example", type: "slave", master_ips: ["192.0.2.53"], tags: ["tenon:edge"] },
    ],
  },
  `
tenon: 1
owner: edge
defaults:
  domain: { type: master, soa_email: hostmaster@example.com }
vpcs:
  - { label: moved, region: eu-west, subnets: [{ label: web, ipv4: 10.1.1.0/24 }] }
domains:
  - domain: example.com
    ignore: [{ name: "_acme-challenge*", type: TXT }]
    records:
      - { type: A, name: www, target: 192.0.2.20 }
      - { type: TXT, name: latter, target: the same words }
      - { type: A, name: kept, target: 192.0.2.8 }
  - { domain: found.example }
  - domain: copied.example
    records: [{ type: A, target: 192.0.2.6 }]
  - domain: [new-a.example, new-b.example]
    records: [{ type: A, target: 192.0.2.5 }]
  - { domain: mirror.example, create_from: { clone: example.com } }
images:
  - { label: golden, description: Base, upload: { file: golden.img.gz, region: us-east } }
allow:
  - { replace: vpc/moved }
  - { bulk: domain/example.com }
`,
  { reviewed: true, files: { "golden.img.gz": IMAGE_FILE } },
);

export const SCENARIOS: readonly [Scenario, ...Scenario[]] = [
  NETWORK,
  ZONES,
  COPIES,
  IMAGES,
  FAMILY,
  TRACKED,
  TRACKED_IN_FAMILY,
  REVIEWED,
];
