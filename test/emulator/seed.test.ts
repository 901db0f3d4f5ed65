/** The seed file: what it may say, and errors that name the line. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseSeed, type Seed, SeedError, startEmulator } from "../../src/emulator/index.ts";
import { startTested } from "../support/emulator.ts";

test("the seed in the documentation works as it stands", async () => {
  const document = readFileSync("docs/reference/emulator.md", "utf8");
  const text = /## The seed[\s\S]*?```yaml\n([\s\S]*?)```/.exec(document)?.[1] ?? "";
  const { send } = await startTested({ seed: parseSeed(text) });
  const admin = { authorization: "Bearer admin" };
  const alice = { authorization: "Bearer network" };
  expect((await send("GET", "/vpcs/7/ips", undefined, alice)).body.data[0]).toMatchObject({
    node_id: 21,
    config_id: 41,
  });
  expect((await send("GET", "/images", undefined, admin)).body.results).toBe(2);
  expect((await send("GET", "/images", undefined, alice)).status).toBe(403);
  expect((await send("PUT", "/vpcs/7", { description: "x" }, alice)).status).toBe(200);
  expect((await send("POST", "/vpcs", { label: "x", region: "us-east" }, alice)).status).toBe(403);
  const { body: domains } = await send("GET", "/domains", undefined, alice);
  expect(domains.data).toMatchObject([{ domain: "example.com", type: "master", tags: ["web"] }]);
  const { body: records } = await send("GET", `/domains/${domains.data[0].id}/records`, undefined, alice);
  expect(records.data).toMatchObject([{ name: "www" }, { name: "_sip._tcp", target: "sip.example.com" }]);
  expect((await send("POST", "/images", { disk_id: 123 }, admin)).body.label).toBe("boot");
});

test("an empty seed is an empty account", async () => {
  for (const text of ["", "# nothing\n", "{}"]) {
    const { send } = await startTested({ seed: parseSeed(text) });
    expect((await send("GET", "/vpcs")).body.results).toBe(0);
  }
});

const BAD_FILES: [string, string][] = [
  ["vpcs:\n  - label: a\n    regoin: us-east\n", "line 3: vpcs.0.regoin: unknown key"],
  ["vpcs:\n  - label: a\n", "line 2: vpcs.0 must have required property 'region'"],
  ["vpcs:\n  - { label: 5, region: us-east }\n", "line 2: vpcs.0.label must be string"],
  [
    "domains:\n  - domain: a.test\n    records:\n      - { type: X, target: y }\n",
    "line 4: domains.0.records.0.type must be one of A, AAAA",
  ],
  [
    "tokens:\n  - token: t\n    grants:\n      vpcs: { prod: all }\n",
    "line 4: tokens.0.grants.vpcs.prod must be one of read_only, read_write",
  ],
  ["tokens: [{ token: t, scopes: [everything] }]", "line 1: tokens.0.scopes.0 must match pattern"],
  ["images: [{ label: a, expiry: soon }]", "line 1: images.0.expiry must match pattern"],
  ["images: [{ label: a, eol: 2026-01-02 }]", "line 1: images.0.eol must match pattern"],
  ["images: [{ label: a, created: '2026-13-01T00:00:00' }]", "line 1: images.0.created must match pattern"],
  ["images: [{ label: a, expiry: '2026-12-31T24:00:00' }]", "line 1: images.0.expiry must match pattern"],
  ["- a\n", "line 1: the seed must be object"],
  ["a: [\n\n", "line 3: "],
  ["vpcs: []\nvpcs: []\n", "line 2: Map keys must be unique"],
  ["a: &a [x]\nvpcs: *b\n", "b"],
  [
    `a: &a [x, x]\n${Array.from({ length: 9 }, (_, i) => `${"bcdefghij"[i]}: &${"bcdefghij"[i]} [${`*${"abcdefghi"[i]},`.repeat(9)}]`).join("\n")}`,
    "alias",
  ],
];

test.each(BAD_FILES)("the seed file %j is an error", (text, message) => {
  expect(() => parseSeed(text)).toThrow(SeedError);
  expect(() => parseSeed(text)).toThrow(message);
});

test("a seed that would pollute a prototype does not", () => {
  expect(() => parseSeed("__proto__: { polluted: 1 }\n")).toThrow("unknown key");
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

const subnet = { label: "a", ipv4: "10.0.0.0/24" };
const vpc = { label: "prod", region: "us-east" };

const BAD_SEEDS: [Seed, string][] = [
  [
    {
      vpcs: [
        { ...vpc, id: 1 },
        { ...vpc, id: 1 },
      ],
    },
    "vpcs[1].id: 1 is there twice",
  ],
  [{ vpcs: [{ ...vpc, subnets: [{ label: "a", ipv4: "8.8.8.0/24" }] }] }, "vpcs[0].subnets[0].ipv4: Must be within"],
  [{ vpcs: [{ ...vpc, subnets: [subnet, subnet] }] }, "vpcs[0].subnets[1].ipv4: overlaps"],
  [{ domains: [{ domain: "a.test" }, { domain: "A.test" }] }, "domains[1].domain: DNS zone already exists."],
  [{ domains: [{ domain: "a.test", type: "slave" }] }, "domains[0].master_ips: "],
  [{ domains: [{ domain: "a.test", records: [{ type: "A", target: "x" }] }] }, "domains[0].records[0].target: Must be"],
  [{ images: [{ id: "private/1", label: "a", is_public: true }] }, "images[0].id: must begin with node/"],
  [{ nodes: [{ interfaces: [{ subnet: "prod/a" }] }] }, "nodes[0].interfaces[0]: subnet must be"],
  [{ nodes: [{ interfaces: [{ subnet_id: 9 }] }] }, "nodes[0].interfaces[0]: There is no subnet 9"],
  [{ tokens: [{ token: "a" }, { token: "a" }] }, "tokens[1].id: a is there twice"],
  [{ tokens: [{ token: "a", grants: { vpcs: { none: "read_only" } } }] }, "tokens[0].grants.vpcs: there is no none"],
];

test.each(BAD_SEEDS)("an account cannot hold %j", async (seed, message) => {
  await expect(startEmulator({ seed })).rejects.toThrow(SeedError);
  await expect(startEmulator({ seed })).rejects.toThrow(message);
});

test("a seed may have labels that the API would refuse", async () => {
  const label = "<script>\u202e-- a/b\n";
  const seed: Seed = { vpcs: [{ label, region: "nowhere", description: label }], images: [{ label }] };
  const { send } = await startTested({ seed });
  expect((await send("GET", "/vpcs")).body.data[0]).toMatchObject({ label, description: label });
  expect((await send("GET", "/images")).body.data[0]).toMatchObject({ label });
});

test("ids that are given out are none that the seed names", async () => {
  const seed: Seed = {
    vpcs: [
      { ...vpc, subnets: [subnet] },
      { ...vpc, id: 101, subnets: [{ ...subnet, id: 2001 }] },
    ],
  };
  const { send } = await startTested({ seed });
  const { body } = await send("GET", "/vpcs");
  expect(new Set(body.data.map(({ id }: { id: number }) => id))).toEqual(new Set([101, 102]));
});

test("a dialect that is no word is refused", async () => {
  for (const dialect of ["", "a b", "Node", "__proto__", "a/b"]) {
    await expect(startEmulator({ dialect })).rejects.toThrow(RangeError);
  }
});
