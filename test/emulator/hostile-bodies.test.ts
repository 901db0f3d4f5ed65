/** Bodies of every wrong shape, on every route that takes one, and bodies that are right or wrong many times over: the work grows as they do, and the answer stays small. */

import ipaddr from "ipaddr.js";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Tested } from "../support/emulator.ts";
import { startTested } from "../support/emulator.ts";
import { bodyOf, JSON_WRITING, pathOf, seedOf, shown, WRITING } from "./hostile-world.ts";

const TOKEN = { authorization: "Bearer mine-token" };
const FIELDS = [
  ...["label", "description", "region", "subnets", "ipv4", "domain", "type", "status", "group", "soa_email", "tags"],
  ...["master_ips", "axfr_ips", "refresh_sec", "retry_sec", "expire_sec", "ttl_sec", "remote_nameserver", "name"],
  ...["target", "priority", "weight", "port", "service", "protocol", "tag", "disk_id", "cloud_init", "summary"],
  ...["vpc_id", "domain_id", "node_id", "managed_issue"],
];

function start(): Promise<Tested> {
  return startTested({ seed: seedOf("mine", 0), now: () => 1_700_000_000_000 });
}

function expectSane(what: unknown, status: number, body: { errors?: { reason: string }[] }): void {
  expect([200, 400, 404, 413], JSON.stringify(what)).toContain(status);
  if (status !== 200)
    expect(
      body.errors?.every(({ reason }) => reason !== ""),
      JSON.stringify(what),
    ).toBe(true);
}

const EACH_JSON = JSON_WRITING.map((route) => [`${route.method} ${route.path}`, route] as const);
const EACH = WRITING.map((route) => [`${route.method} ${route.path}`, route] as const);

test.each(EACH_JSON)("%s answers every wrong type of every field", async (_, route) => {
  const { send } = await start();
  const values = [null, 1, -1, 1.5, 1e21, "", "x", "\u0000", "\ud800", true, [], [null], [[]], [{}], ["x"], {}];
  const isImport = route.operation === "Domain Import";
  for (const field of FIELDS) {
    for (const value of [null, -1, "\ud800", [[]], {}]) {
      // A name would be looked up.
      if (isImport && field === "remote_nameserver" && typeof value === "string") continue;
      const body = { ...bodyOf(route), [field]: value };
      const answer = await send(route.method, pathOf(route), body, TOKEN);
      expectSane(body, answer.status, answer.body);
    }
  }
  for (const value of values) {
    if (isImport && typeof value === "string") continue;
    const body = Object.fromEntries(FIELDS.map((field) => [field, value]));
    const answer = await send(route.method, pathOf(route), body, TOKEN);
    expectSane(body, answer.status, answer.body);
  }
});

const DEEP = 100_000;
const NO_OBJECTS = [
  ...[
    "null",
    "[]",
    '"x"',
    "1",
    "true",
    "{",
    "[{}]",
    '{"a":1}}',
    "{'a':1}",
    "\u0000",
    "NaN",
    '{"a":1e}',
    "[".repeat(DEEP),
  ],
  `${"[".repeat(DEEP)}${"]".repeat(DEEP)}`,
];

test.each(EACH)("%s refuses what is no object, and changes nothing", async (_, route) => {
  const run = await start();
  const before = await shown(run, "mine-token");
  for (const body of NO_OBJECTS) {
    const answer = await run.send(route.method, pathOf(route), body, TOKEN);
    expect([body.slice(0, 20), answer.status]).toEqual([body.slice(0, 20), 400]);
    expect(answer.body.errors[0].reason).toMatch(/\S/);
  }
  expect(await shown(run, "mine-token")).toEqual(before);
});

test.each(EACH_JSON)("%s takes nothing from keys of a prototype", async (_, route) => {
  const names = Object.getOwnPropertyNames(Object.prototype);
  const hidden = JSON.stringify({ ...bodyOf(route), polluted: 1 });
  const body = `{"__proto__":${hidden},"constructor":{"prototype":${hidden}},"prototype":${hidden},"toString":1}`;
  const plain = await (await start()).send(route.method, pathOf(route), {}, TOKEN);
  const polluting = await (await start()).send(route.method, pathOf(route), body, TOKEN);
  expect([polluting.status, polluting.body]).toEqual([plain.status, plain.body]);
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(names);
});

test("keys of a prototype count for nothing inside a subnet either, and deep values are only wrong", async () => {
  const { send } = await start();
  const inside = '{"label":"a","region":"us-east","subnets":[{"__proto__":{"label":"x","ipv4":"10.0.0.0/24"}}]}';
  const { status, body } = await send("POST", "/vpcs", inside, TOKEN);
  expect([status, body.errors.map(({ field }: { field: string }) => field)]).toEqual([
    400,
    ["subnets[0].label", "subnets[0].ipv4"],
  ]);
  const deep = `${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`;
  for (const [, route] of EACH_JSON) {
    for (const field of ["label", "tags"]) {
      const text = JSON.stringify(bodyOf(route)).replace(/^\{/, "");
      const comma = text === "}" ? "" : ",";
      const answer = await send(route.method, pathOf(route), `{"${field}":${deep}${comma}${text}`, TOKEN);
      expectSane([route.path, field], answer.status, answer.body);
    }
  }
});

const VPC = { label: "prod", region: "us-east" };
const DOMAIN = { domain: "a.example", type: "slave" };

/** Neighbours of eight addresses each, from 10.0.0.0 on. */
function subnets(count: number): { label: string; ipv4: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    label: `s${index}`,
    ipv4: `10.${index >> 13}.${(index >> 5) & 255}.${(index & 31) * 8}/29`,
  }));
}

test("a VPC of many subnets is judged without looking at each pair of them", async () => {
  const { send } = await startTested({ uniqueLabels: true });
  const parse = vi.spyOn(ipaddr.IPv4, "parseCIDR");
  onTestFinished(() => parse.mockRestore());
  const { status, body } = await send("POST", "/vpcs", { ...VPC, subnets: subnets(1_000) });
  expect([status, body.subnets.length]).toEqual([200, 1_000]);
  expect(parse.mock.calls.length).toBeLessThan(10_000);
});

test("among many subnets one that overlaps, or has the label of another, is found", async () => {
  const { send } = await startTested({ uniqueLabels: true });
  const overlap = "Subnet overlaps with another subnet of this VPC";
  const many = subnets(1_000);
  for (const [added, field, reason] of [
    [{ label: "x", ipv4: "10.0.31.56/29" }, "ipv4", overlap],
    [{ label: "x", ipv4: "10.0.0.0/30" }, "ipv4", "Prefix length must be between 1 and 29"],
    [{ label: "x", ipv4: "10.0.16.0/20" }, "ipv4", overlap],
    [{ label: "x", ipv4: "10.0.0.0/8" }, "ipv4", overlap],
    [{ label: "s500", ipv4: "10.1.0.0/16" }, "label", "Label must be unique among the subnets of this VPC"],
  ] as const) {
    const { status, body } = await send("POST", "/vpcs", { ...VPC, subnets: [...many, added] });
    expect([status, body.errors]).toEqual([400, [{ field: `subnets[1000].${field}`, reason }]]);
  }
  const wide = [{ label: "wide", ipv4: "10.0.0.0/9" }, ...many];
  expect((await send("POST", "/vpcs", { ...VPC, subnets: wide })).body.errors[0]).toEqual({
    field: "subnets[1].ipv4",
    reason: overlap,
  });
  expect(
    (await send("POST", "/vpcs", { ...VPC, subnets: [...many, { label: "x", ipv4: "10.0.32.0/19" }] })).status,
  ).toBe(200);
});

test.each([
  ["/vpcs", `{"label":"a","region":"us-east","subnets":[${Array(150_000).fill("{}").join()}]}`],
  ["/vpcs", `{"label":"a","region":"us-east","subnets":[${Array(150_000).fill("1").join()}]}`],
  ["/domains", JSON.stringify({ ...DOMAIN, master_ips: Array(300_000).fill("") })],
  ["/domains", JSON.stringify({ ...DOMAIN, axfr_ips: Array(300_000).fill("x") })],
])("POST %s with a hundred thousand mistakes tells of a hundred", async (path, text) => {
  const { send } = await startTested();
  const { status, body } = await send("POST", path, text);
  expect([status, body.errors.length]).toEqual([400, 100]);
  expect((await send("GET", path)).body.results).toBe(0);
});
