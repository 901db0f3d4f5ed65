/** Bodies of every wrong shape, on every route that takes one. */

import { expect, test } from "vitest";
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
