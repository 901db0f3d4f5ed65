/** Domains: what is answered, one bad request per rule, clones and zone files. */

import { expect, test } from "vitest";
import type { Tested } from "../support/emulator.ts";
import { startTested } from "../support/emulator.ts";

const MASTER = { domain: "example.com", type: "master", soa_email: "host.master@example.com" };

async function withDomain(options: Parameters<typeof startTested>[0] = {}): Promise<Tested & { path: string }> {
  const tested = await startTested(options);
  const { body } = await tested.send("POST", "/domains", MASTER);
  return { ...tested, path: `/domains/${body.id}` };
}

test("a domain has every key, and none is null", async () => {
  const { send } = await startTested();
  const { status, body } = await send("POST", "/domains", MASTER);
  expect(status).toBe(200);
  expect(body).toEqual({
    id: body.id,
    ...MASTER,
    status: "active",
    description: "",
    group: "",
    master_ips: [],
    axfr_ips: [],
    refresh_sec: 0,
    retry_sec: 0,
    expire_sec: 0,
    ttl_sec: 0,
    tags: [],
    created: body.updated,
    updated: body.updated,
    errors: "",
  });
  expect((await send("GET", `/domains/${body.id}`)).body).toEqual(body);
});

const LONG_NAME = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(63)}`;

const BAD_DOMAINS: [string, Record<string, unknown>, string, string][] = [
  ["no type", { type: undefined }, "type", "type is required"],
  ["another type", { type: "primary" }, "type", "Must be one of master, slave"],
  ["no name", { domain: undefined }, "domain", "domain is required"],
  ["an empty name", { domain: "" }, "domain", "Length must be 1-253 characters"],
  ["a name of 255", { domain: LONG_NAME }, "domain", "Length must be 1-253 characters"],
  ["a label of 64", { domain: `${"a".repeat(64)}.com` }, "domain", "Domain is not valid"],
  ["an empty label", { domain: "a..com" }, "domain", "Domain is not valid"],
  ["a trailing dot", { domain: "example.com." }, "domain", "Domain is not valid"],
  ["an underscore", { domain: "a_b.com" }, "domain", "Domain is not valid"],
  ["a hyphen at an end", { domain: "-a.com" }, "domain", "Domain is not valid"],
  ["letters beyond ASCII", { domain: "bücher.example" }, "domain", "Domain is not valid"],
  ["a wildcard", { domain: "*.example.com" }, "domain", "Domain is not valid"],
  ["a taken name", { domain: "taken.test" }, "domain", "DNS zone already exists."],
  ["a taken name in other letters", { domain: "TAKEN.Test" }, "domain", "DNS zone already exists."],
  ["no soa_email", { soa_email: undefined }, "soa_email", "soa_email required when type=master"],
  ["an empty soa_email", { soa_email: "" }, "soa_email", "soa_email required when type=master"],
  ["no address as soa_email", { soa_email: "example.com" }, "soa_email", "soa_email must be an email address"],
  ["another status", { status: "off" }, "status", "Must be one of active, disabled"],
  ["a long description", { description: "x".repeat(254) }, "description", "Length must be at most 253 characters"],
  ["a long group", { group: "x".repeat(51) }, "group", "Length must be at most 50 characters"],
  ["no IP address in axfr_ips", { axfr_ips: ["::1", "x"] }, "axfr_ips[1]", "Must be an IP address"],
  ["no list in axfr_ips", { axfr_ips: "::1" }, "axfr_ips", "Must be an array of strings"],
  ["numbers as tags", { tags: [1] }, "tags", "Must be an array of strings"],
  ["a text as TTL", { ttl_sec: "300" }, "ttl_sec", "Must be a number"],
  ["a list as a time", { refresh_sec: [300] }, "refresh_sec", "Must be a number"],
  [
    "too many addresses",
    { axfr_ips: Array(100).fill("192.168.100.1") },
    "axfr_ips",
    "Combined length must be at most 1000 characters",
  ],
  [
    "no master of a slave",
    { type: "slave", soa_email: undefined },
    "master_ips",
    "You need at least one master DNS server IP address for this zone.",
  ],
];

const SEVERAL: [string, Record<string, unknown>, string[]][] = [
  ["a master without an address", { soa_email: undefined, status: "off" }, ["status", "soa_email"]],
  ["a slave without a server", { type: "slave", group: 1 }, ["group", "master_ips"]],
  ["too many addresses", { tags: 1, axfr_ips: Array(100).fill("192.168.100.1") }, ["tags", "axfr_ips"]],
  // What is wrong already is not missing as well.
  ["a type that is none", { type: "other", soa_email: undefined }, ["type"]],
  ["an address that is none", { soa_email: 5 }, ["soa_email"]],
  ["a server that is none", { type: "slave", master_ips: "::1" }, ["master_ips"]],
];

test.each(SEVERAL)("of %s all is said at once, and nothing twice", async (_name, change, fields) => {
  const { send } = await startTested();
  const { status, body } = await send("POST", "/domains", { ...MASTER, ...change });
  expect([status, body.errors.map(({ field }: { field: string }) => field)]).toEqual([400, fields]);
});

test.each(BAD_DOMAINS)("a domain with %s is refused", async (_name, change, field, reason) => {
  const { send } = await startTested({ seed: { domains: [{ domain: "taken.test" }] } });
  const answer = await send("POST", "/domains", { ...MASTER, ...change });
  expect([answer.status, answer.body.errors]).toEqual([400, [{ reason, field }]]);
  expect((await send("GET", "/domains")).body.results).toBe(1);
});

test("an update is partial, and clears with null, an empty text or an empty list", async () => {
  const { send, path } = await withDomain();
  const set = { description: "d", group: "g", tags: ["bbb", "aaa", "Bbb"], axfr_ips: ["192.0.2.1"], ttl_sec: 300 };
  expect((await send("PUT", path, set)).body).toMatchObject({ ...MASTER, ...set, tags: ["aaa", "bbb"] });
  expect((await send("PUT", path, { status: "disabled" })).body).toMatchObject({
    description: "d",
    status: "disabled",
  });
  const cleared = { description: "", group: "", tags: [], axfr_ips: [], ttl_sec: 0 };
  expect((await send("PUT", path, cleared)).body).toMatchObject(cleared);
  await send("PUT", path, set);
  const nulls = { description: null, group: null, tags: null, axfr_ips: null, ttl_sec: null, status: null };
  expect((await send("PUT", path, nulls)).body).toMatchObject({ ...cleared, status: "active" });
});

test("a domain can be renamed, become a slave, and must stay whole", async () => {
  const { send, path } = await withDomain({ seed: { domains: [{ domain: "taken.test" }] } });
  expect((await send("PUT", path, { domain: "Example.COM" })).body.domain).toBe("Example.COM");
  expect((await send("PUT", path, { domain: "taken.test" })).status).toBe(400);
  expect((await send("PUT", path, { domain: "new.test" })).body.domain).toBe("new.test");
  expect((await send("POST", "/domains", MASTER)).status).toBe(200);
  expect((await send("PUT", path, { soa_email: "" })).body.errors[0].field).toBe("soa_email");
  expect((await send("PUT", path, { type: "slave" })).body.errors[0].field).toBe("master_ips");
  expect((await send("PUT", path, { type: null })).body.errors[0].field).toBe("type");
  const slave = { type: "slave", master_ips: ["192.0.2.1", "2001:db8::1"] };
  expect((await send("PUT", path, slave)).body).toMatchObject(slave);
  expect((await send("PUT", path, { master_ips: [] })).body.errors[0].field).toBe("master_ips");
});

const ROUNDED: [string, "nearest" | "up", [number, number][]][] = [
  [
    "node",
    "nearest",
    [
      [0, 0],
      [1, 300],
      [299, 300],
      [600, 300],
      [1949, 300],
      [1950, 3600],
      [3601, 3600],
    ],
  ],
  [
    "node",
    "nearest",
    [
      [30, 300],
      [120, 300],
      [99_999_999, 2_419_200],
    ],
  ],
  [
    "node",
    "up",
    [
      [0, 0],
      [299, 300],
      [600, 3600],
      [3601, 7200],
      [30, 300],
      [3_000_000, 2_419_200],
    ],
  ],
  [
    "linode",
    "nearest",
    [
      [0, 0],
      [1, 30],
      [30, 30],
      [75, 120],
      [120, 120],
      [200, 120],
      [300, 300],
    ],
  ],
  [
    "linode",
    "up",
    [
      [31, 120],
      [121, 300],
    ],
  ],
];

test.each(ROUNDED)(
  "TTLs are rounded in the dialect %s to the value that is %s",
  async (dialect, ttlRounding, pairs) => {
    const { send, path } = await withDomain({ dialect, ttlRounding });
    for (const [sent, kept] of pairs) {
      const domain = await send("PUT", path, { ttl_sec: sent, expire_sec: sent, retry_sec: sent, refresh_sec: sent });
      expect(domain.body).toMatchObject({ ttl_sec: kept, expire_sec: kept, retry_sec: kept, refresh_sec: kept });
      const record = await send("POST", `${path}/records`, { type: "A", target: "192.0.2.1", ttl_sec: sent });
      expect([sent, record.body.ttl_sec]).toEqual([sent, kept]);
    }
  },
);

test("a clone has the domain's values and its own copies of all records", async () => {
  const { send, path } = await withDomain();
  await send("PUT", path, { tags: ["xxx"], ttl_sec: 3600, status: "disabled" });
  const { body: record } = await send("POST", `${path}/records`, { type: "A", name: "www", target: "192.0.2.1" });
  const { body: clone } = await send("POST", `${path}/clone`, { domain: "clone.test" });
  expect(clone).toMatchObject({ domain: "clone.test", tags: ["xxx"], ttl_sec: 3600, status: "disabled" });
  const { body: copies } = await send("GET", `/domains/${clone.id}/records`);
  expect(copies.data).toMatchObject([{ type: "A", name: "www", target: "192.0.2.1" }]);
  expect(copies.data[0].id).not.toBe(record.id);
  expect((await send("DELETE", path)).status).toBe(200);
  expect((await send("GET", `/domains/${clone.id}/records`)).body.results).toBe(1);
  for (const body of [{}, { domain: "clone.test" }, { domain: "a_b" }, { domain: "" }, { domain: 5 }]) {
    const answer = await send("POST", `/domains/${clone.id}/clone`, body);
    expect([answer.status, answer.body.errors[0].field]).toEqual([400, "domain"]);
  }
  expect((await send("POST", `${path}/clone`, { domain: "more.test" })).status).toBe(404);
});

test("a deleted domain takes its records along and frees its name", async () => {
  const { send, path } = await withDomain();
  const { body: record } = await send("POST", `${path}/records`, { type: "A", target: "192.0.2.1" });
  expect((await send("DELETE", path)).body).toEqual({});
  expect((await send("GET", `${path}/records/${record.id}`)).status).toBe(404);
  expect((await send("DELETE", path)).status).toBe(404);
  const { body: again } = await send("POST", "/domains", MASTER);
  expect(`/domains/${again.id}`).not.toBe(path);
  expect((await send("GET", `/domains/${again.id}/records`)).body.results).toBe(0);
});
