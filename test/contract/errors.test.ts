/** What the service's own client meets when it is refused: credentials, scopes, unknown paths, limits; and what it refuses itself. */

import {
  baseRequest,
  createDomain,
  createDomainRecord,
  createImage,
  createSubnet,
  createVPC,
  deleteDomain,
  deleteImage,
  deleteVPC,
  getDomain,
  getDomainRecord,
  getDomains,
  getImage,
  getImages,
  getVPC,
  getVPCs,
  getVPCsIPs,
  updateDomain,
  updateDomainRecord,
  updateVPC,
  uploadImage,
} from "@linode/api-v4";
import { expect, test } from "vitest";
import { connect, refusal, refusals } from "./client.ts";

const ROOT = "https://api.linode.com/v4";
const MASTER = { domain: "example.com", type: "master", soa_email: "admin@example.com" } as const;

test("without a token, or with one that nobody has, everything but public images is 401", async () => {
  const { useToken } = await connect();
  for (const token of [null, "unknown"]) {
    useToken(token);
    for (const refused of await refusals([getVPCs(), getDomains(), createDomain(MASTER), getVPCsIPs()])) {
      expect(refused).toMatchObject({ status: 401, errors: [{ reason: "Invalid Token" }] });
    }
  }
  expect((await refusal(getImages())).status).toBe(401);
  useToken(null);
  expect((await getImages()).results).toBe(0);
});

test("a token without the scope is 403, in every area, and what it holds works", async () => {
  const tokens = [
    { token: "reader", scopes: ["vpc:read_only", "ips:read_only", "domains:read_only", "images:read_only"] },
    { token: "imager", scopes: ["images:read_write"] },
    { token: "builder", scopes: ["images:read_write", "linodes:read_only"] },
  ];
  const seed = { tokens, disks: [{ id: 5, label: "boot", size: 100 }], domains: [{ id: 9, domain: "example.net" }] };
  const { useToken } = await connect({ seed });
  useToken("reader");
  expect((await getDomain(9)).domain).toBe("example.net");
  expect([await getVPCs(), await getVPCsIPs(), await getImages()].map(({ results }) => results)).toEqual([0, 0, 0]);
  const writes = [
    createVPC({ label: "a", region: "us-east" }),
    createDomain(MASTER),
    deleteDomain(9),
    uploadImage({ label: "a", region: "us-east" }),
    createImage({ disk_id: 5 }),
  ];
  for (const refused of await refusals(writes)) {
    expect(refused).toMatchObject({ status: 403, errors: [{ reason: "Unauthorized" }] });
  }
  useToken("imager");
  expect((await refusal(getVPCs())).status).toBe(403);
  expect((await refusal(createImage({ disk_id: 5 }))).status).toBe(403);
  useToken("builder");
  expect((await createImage({ disk_id: 5 })).status).toBe("creating");
});

test("a restricted user changes what was granted, and nothing else", async () => {
  const vpcs = [
    { id: 1, label: "mine", region: "us-east" },
    { id: 2, label: "theirs", region: "us-east" },
  ];
  const grants = { add_vpc: false, vpcs: { mine: "read_write", theirs: "read_only" } } as const;
  const { useToken } = await connect({ seed: { vpcs, tokens: [{ token: "alice", username: "alice", grants }] } });
  useToken("alice");
  expect((await updateVPC(1, { label: "renamed" })).label).toBe("renamed");
  const others = [updateVPC(2, { label: "x" }), deleteVPC(2), createVPC({ label: "x", region: "us-east" })];
  for (const refused of await refusals(others)) {
    expect(refused).toMatchObject({ status: 403, errors: [{ reason: "Unauthorized" }] });
  }
  expect(await getVPC(2)).toMatchObject({ label: "theirs" });
});

test("what is not there is 404, and a method that a path does not have 405", async () => {
  await connect({ seed: { domains: [{ id: 9, domain: "example.net" }] } });
  const missing = [
    getVPC(1),
    deleteVPC(1),
    createSubnet(1, { label: "a", ipv4: "10.0.0.0/24" }),
    getDomain(1),
    getDomainRecord(9, 1),
    updateDomainRecord(9, 1, { target: "192.0.2.1" }),
    getImage("private/1"),
    deleteImage("private/1"),
    baseRequest.get(`${ROOT}/nowhere`),
    baseRequest.get(`${ROOT}/domains/9/nowhere`),
  ];
  for (const refused of await refusals(missing)) {
    expect(refused).toMatchObject({ status: 404, errors: [{ reason: "Not found" }] });
  }
  expect(await refusal(baseRequest.patch(`${ROOT}/domains/9`, {}))).toMatchObject({
    status: 405,
    errors: [{ reason: "Method Not Allowed" }],
  });
});

test("above the limit it is 429, and every answer says how much is left and when it starts anew", async () => {
  let now = 1_800_000_000_000;
  await connect({ rateLimit: { requests: 2, seconds: 60 }, now: () => now });
  const allowed = await baseRequest.get(`${ROOT}/domains`);
  expect(allowed.headers).toMatchObject({
    "x-ratelimit-limit": "2",
    "x-ratelimit-remaining": "1",
    "x-ratelimit-reset": "1800000060",
    "retry-after": "60",
  });
  await getDomains();
  now += 45_000;
  const refused = await refusal(createDomain(MASTER));
  expect(refused).toMatchObject({ status: 429, errors: [{ reason: "Too many requests" }] });
  expect(refused.headers).toMatchObject({ "x-ratelimit-remaining": "0", "retry-after": "15" });
  now += 15_000;
  expect((await getDomains()).results).toBe(0);
});

/** What the client itself refuses, and what it would have sent. */
const REFUSED_BY_THE_CLIENT: readonly (readonly [string, () => Promise<unknown>, string])[] = [
  ["a label with two dashes", () => createVPC({ label: "a--b", region: "us-east" }), "label"],
  ["a region that is empty", () => createVPC({ label: "a", region: "" }), "region"],
  ["a range that is no CIDR", () => createSubnet(1, { label: "a", ipv4: "10.0.0.0" }), "ipv4"],
  ["a master without an address", () => createDomain({ domain: "a.example", type: "master" }), "soa_email"],
  ["a slave without a master", () => createDomain({ domain: "a.example", type: "slave" }), "master_ips"],
  [
    "a priority above 255",
    () => createDomainRecord(9, { type: "MX", target: "mx.example", priority: 256 }),
    "priority",
  ],
  ["a name of 101 characters", () => createDomainRecord(9, { type: "A", name: "x".repeat(101) }), "name"],
  ["an upload without a region", () => uploadImage({ label: "a", region: "" }), "region"],
];

test.each(REFUSED_BY_THE_CLIENT)("the client refuses before it sends anything: %s", async (_, call, field) => {
  const { emulator } = await connect();
  const { status, errors } = await refusal(call());
  expect([status, errors.map((error) => error.field)]).toEqual([null, [field]]);
  expect(emulator.requests).toEqual([]);
});

/** Where the client is stricter than API.md, so that only others can send it. */
const TAKEN_FROM_OTHERS: readonly (readonly [string, () => Promise<unknown>, "post" | "put", string, object])[] = [
  ["an empty description", () => updateDomain(9, { description: "" }), "put", "/domains/9", { description: "" }],
  [
    "an image label of 51 characters",
    () => uploadImage({ label: "x".repeat(51), region: "us-east" }),
    "post",
    "/images/upload",
    { label: "x".repeat(51), region: "us-east" },
  ],
  ["a tag that is null", () => updateDomainRecord(9, 1, { tag: null }), "put", "/domains/9/records/1", { tag: null }],
];

test.each(TAKEN_FROM_OTHERS)("the client refuses what the emulator takes: %s", async (_, call, method, path, body) => {
  const records = [{ id: 1, type: "A" as const, target: "192.0.2.1" }];
  await connect({ seed: { domains: [{ id: 9, domain: "example.net", records }] } });
  expect((await refusal(call())).status).toBe(null);
  expect((await baseRequest[method](ROOT + path, body)).status).toBe(200);
});
