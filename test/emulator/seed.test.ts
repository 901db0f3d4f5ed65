/** The seed file: what it may say, and errors that name the line. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  parseSeed,
  type Seed,
  SeedError,
  type SeedReply,
  type SeedTicket,
  startEmulator,
} from "../../src/emulator/index.ts";
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
  ["a: [\n\n", "line 3: Flow sequence"],
  ["vpcs: []\nvpcs: []\n", "line 2: Map keys must be unique"],
  ["a: &a [x]\nvpcs: *b\n", "Unresolved alias (the anchor must be set before the alias): b"],
  [
    `a: &a [x, x]\n${Array.from({ length: 9 }, (_, i) => `${"bcdefghij"[i]}: &${"bcdefghij"[i]} [${`*${"abcdefghi"[i]},`.repeat(9)}]`).join("\n")}`,
    "Excessive alias count",
  ],
  ["tickets: [{ summary: x }]", "tickets.0 must have required property 'description'"],
  ["tickets: [{ summary: x, description: y, status: done }]", "tickets.0.status must be one of new, open, closed"],
  [
    "tickets: [{ summary: x, description: y, entity: { type: linode, id: 1 } }]",
    "tickets.0.entity.type must be one of",
  ],
  ["tickets: [{ summary: x, description: y, replies: [{ text: z }] }]", "tickets.0.replies.0.text: unknown key"],
];

test.each(BAD_FILES)("the seed file %j is an error", (text, message) => {
  expect(() => parseSeed(text)).toThrow(SeedError);
  expect(() => parseSeed(text)).toThrow(message);
});

test("a seed that would pollute a prototype does not", () => {
  expect(() => parseSeed("__proto__: { polluted: 1 }\n")).toThrow("unknown key");
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

const TICKETS = "/support/tickets";
const TICKET: SeedTicket = { summary: "No route", description: "Since this morning." };

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
  [
    {
      tickets: [
        { id: 1, ...TICKET },
        { id: 1, ...TICKET },
      ],
    },
    "tickets[1].id: 1 is there twice",
  ],
  [{ tickets: [{ ...TICKET, status: "new", replies: [{ description: "x" }] }] }, "tickets[0].status: "],
  [
    {
      tickets: [
        {
          ...TICKET,
          replies: [
            { id: 1, description: "x" },
            { id: 1, description: "y" },
          ],
        },
      ],
    },
    "tickets[0].replies[1].id: 1 is there twice",
  ],
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

test("a seed file's tickets are there with their replies, attachments and entities", async () => {
  const seed = parseSeed(`
domains:
  - { id: 5, domain: a.example }
tickets:
  - id: 9
    summary: No route
    description: Since this morning.
    opened_by: alice
    entity: { type: domain, id: 5 }
    attachments: [trace.txt]
    replies:
      - { id: 3, description: We look into it., from_linode: true }
      - { description: Thanks., created_by: alice }
  - { summary: Maintenance, description: On Sunday., opened_by: operator, closable: false, status: closed }
`);
  const { send } = await startTested({ seed, now: () => Date.UTC(2026, 4, 1) });
  const { data } = (await send("GET", TICKETS)).body;
  expect(data).toMatchObject([
    {
      id: 9,
      status: "open",
      opened_by: "alice",
      updated_by: "alice",
      attachments: ["trace.txt"],
      closable: true,
      closed: null,
      entity: { id: 5, label: "a.example", type: "domain", url: "/v4/domains/5" },
    },
    { id: 20_000_001, status: "closed", closable: false, closed: "2026-05-01T00:00:00", opened_by: "operator" },
  ]);
  expect((await send("GET", `${TICKETS}/9/replies`)).body.data).toMatchObject([
    { id: 3, from_linode: true, created_by: "support" },
    { id: 80_000_001, from_linode: false, created_by: "alice" },
  ]);
});

test("no id that a seed names is given out again", async () => {
  const replies: SeedReply[] = [{ id: 80_000_001, description: "x" }, { description: "y" }];
  const { send } = await startTested({ seed: { tickets: [{ ...TICKET }, { id: 20_000_001, ...TICKET, replies }] } });
  expect((await send("GET", TICKETS)).body.data.map(({ id }: { id: number }) => id)).toEqual([20_000_001, 20_000_002]);
  expect((await send("POST", TICKETS, TICKET)).body.id).toBe(20_000_003);
  expect((await send("POST", `${TICKETS}/20000001/replies`, { description: "z" })).body.id).toBe(80_000_003);
});

test("texts of a seed are taken as they are, and other accounts have tickets of their own", async () => {
  const odd = { summary: "x".repeat(1_000), description: "", attachments: ["../../odd", "a", "b", "c", "d", "e"] };
  const { send } = await startTested({
    seed: { tickets: [odd], other_accounts: { rival: { tokens: [{ token: "rival" }], tickets: [TICKET] } } },
  });
  expect((await send("GET", TICKETS)).body).toMatchObject({ results: 1, data: [odd] });
  const rival = { authorization: "Bearer rival" };
  expect((await send("GET", TICKETS, undefined, rival)).body).toMatchObject({ results: 1, data: [TICKET] });
});

test("a seed and an attachment may be in the dialect's words", async () => {
  const text = `
tokens:
  - { token: emulator-token, scopes: ["linodes:read_only", "vpc:*", "ips:*", "images:*", "account:*"] }
vpcs: [{ id: 7, label: prod, region: us-east, subnets: [{ id: 11, label: web, ipv4: 10.0.1.0/24 }] }]
images: [{ id: linode/debian12, label: Debian 12 }]
linodes: [{ id: 21, interfaces: [{ id: 31, subnet: prod/web, address: 10.0.1.5 }] }]
disks: [{ id: 123, label: boot, size: 2048 }]
tickets: [{ summary: s, description: d, entity: { type: linode, id: 21 } }]
other_accounts: { rival: { tokens: [{ token: rival }], linodes: [] } }
`;
  const { send, control } = await startTested({ dialect: "linode", seed: parseSeed(text, "linode") });
  expect((await send("GET", "/images/linode/debian12")).body).toMatchObject({ is_public: true, created_by: "linode" });
  expect((await send("GET", "/support/tickets")).body.data[0].entity).toMatchObject({ type: "linode", id: 21 });
  expect((await control("POST", "/attach", { subnet_id: 11, linode_id: 22, interface_id: 32 })).status).toBe(200);
  expect((await control("POST", "/attach", { subnet_id: 11, node_id: 23, interface_id: 33 })).status).toBe(200);
  expect((await send("GET", "/vpcs/ips")).body.data.map((row: Record<string, unknown>) => row["linode_id"])).toEqual([
    21, 22, 23,
  ]);
  expect((await control("POST", "/attach", { subnet_id: 11, interface_id: 34 })).body.errors).toEqual([
    { field: "linode_id", reason: "linode_id is required" },
  ]);
  expect((await send("POST", "/images", { disk_id: 123 })).status).toBe(200);
  expect(() => parseSeed("linodes: []\n")).toThrow("line 1: linodes: unknown key");
  expect(() => parseSeed("a: 1\nlinodes: [{ id: x }]\n", "linode")).toThrow(/line 2: linodes\.0\.id must be integer/);
  expect(() => parseSeed("nodes: []\nlinodes: []\n", "linode")).toThrow("line 2: linodes: nodes is there as well");
  expect(parseSeed("nodes: [{ id: 3 }]\n", "linode")).toEqual({ nodes: [{ id: 3 }] });
});
