/** VPCs, subnets and address lists: what is answered, and one bad request per rule. */

import { describe, expect, test } from "vitest";
import type { Tested } from "../support/emulator.ts";
import { startTested } from "../support/emulator.ts";

const LABEL_REASON = "Label must include only ASCII letters, numbers, and dashes";

async function withVpc(options: Parameters<typeof startTested>[0] = {}): Promise<Tested> {
  const subnets = [
    { id: 11, label: "web", ipv4: "10.0.1.0/24" },
    { id: 12, label: "db", ipv4: "10.0.2.0/24" },
  ];
  return startTested({ seed: { vpcs: [{ id: 7, label: "prod", region: "us-east", subnets }] }, ...options });
}

function reasons(answer: { readonly status: number; readonly body: { errors?: unknown } }): unknown[] {
  return [answer.status, answer.body.errors];
}

test("a VPC is created with its subnets, shown, changed and deleted", async () => {
  const { send } = await startTested();
  const body = { label: "prod", region: "us-east", subnets: [{ label: "web", ipv4: "10.0.1.0/24" }] };
  const { body: created } = await send("POST", "/vpcs", body);
  expect(created).toMatchObject({ label: "prod", description: "", region: "us-east", created: created.updated });
  expect(created.subnets).toMatchObject([{ label: "web", ipv4: "10.0.1.0/24", nodes: [] }]);
  expect(created.created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  const { body: subnet } = await send("POST", `/vpcs/${created.id}/subnets`, { label: "db", ipv4: "10.0.2.0/29" });
  expect((await send("PUT", `/vpcs/${created.id}/subnets/${subnet.id}`, { label: "data" })).body.label).toBe("data");
  const { body: updated } = await send("PUT", `/vpcs/${created.id}`, { label: "next", description: "text" });
  expect(updated).toMatchObject({ id: created.id, label: "next", description: "text" });
  expect(updated.subnets.map((item: { label: string }) => item.label)).toEqual(["web", "data"]);
  expect((await send("GET", "/vpcs")).body).toEqual({ data: [updated], page: 1, pages: 1, results: 1 });
  expect((await send("PUT", `/vpcs/${created.id}`, { description: null })).body.description).toBe("");
  expect((await send("DELETE", `/vpcs/${created.id}/subnets/${subnet.id}`)).body).toEqual({});
  expect((await send("GET", `/vpcs/${created.id}/subnets`)).body.results).toBe(1);
  expect((await send("DELETE", `/vpcs/${created.id}`)).body).toEqual({});
  expect((await send("GET", `/vpcs/${created.id}`)).status).toBe(404);
  expect((await send("POST", "/vpcs", body)).body.id).toBeGreaterThan(created.id);
});

const BAD_VPCS: [string, Record<string, unknown>, string, string][] = [
  ["no label", { label: undefined }, "label", "label is required"],
  ["a null label", { label: null }, "label", "label is required"],
  ["an empty label", { label: "" }, "label", "Length must be 1-64 characters"],
  ["a label of 65", { label: "x".repeat(65) }, "label", "Length must be 1-64 characters"],
  ["a number as label", { label: 12 }, "label", "Must be a string"],
  ["a space in the label", { label: "a b" }, "label", LABEL_REASON],
  ["an underscore in the label", { label: "a_b" }, "label", LABEL_REASON],
  ["letters beyond ASCII in the label", { label: "é" }, "label", LABEL_REASON],
  ["two dashes in the label", { label: "a--b" }, "label", LABEL_REASON],
  ["a line break in the label", { label: "a\n" }, "label", LABEL_REASON],
  ["no region", { region: undefined }, "region", "region is required"],
  ["an empty region", { region: "" }, "region", "region is not valid"],
  ["a region of another form", { region: "US East" }, "region", "region is not valid"],
  ["a long description", { description: "x".repeat(256) }, "description", "Length must be at most 255 characters"],
  ["subnets that are no list", { subnets: {} }, "subnets", "Must be an array"],
  ["a subnet that is no object", { subnets: ["x"] }, "subnets[0]", "Must be an object"],
  ["a subnet without label", { subnets: [{ ipv4: "10.0.0.0/24" }] }, "subnets[0].label", "label is required"],
  ["a subnet without range", { subnets: [{ label: "a" }] }, "subnets[0].ipv4", "ipv4 is required"],
];

test.each(BAD_VPCS)("a VPC with %s is refused and nothing is made", async (_name, change, field, reason) => {
  const { send } = await startTested();
  const answer = await send("POST", "/vpcs", { label: "a", region: "us-east", ...change });
  expect(reasons(answer)).toEqual([400, [{ reason, field }]]);
  expect((await send("GET", "/vpcs")).body.results).toBe(0);
  expect((await send("GET", "/vpcs")).body.data).toEqual([]);
});

test("several errors come at once", async () => {
  const { send } = await startTested();
  const answer = await send("POST", "/vpcs", {
    subnets: [
      { label: "a", ipv4: "x" },
      { label: "--", ipv4: "8.8.8.0/24" },
    ],
  });
  expect(answer.body.errors.map(({ field }: { field: string }) => field)).toEqual([
    "label",
    "region",
    "subnets[0].ipv4",
    "subnets[1].label",
    "subnets[1].ipv4",
  ]);
});

const BAD_UPDATES: [string, string, unknown, string][] = [
  ["/vpcs/7", "label", null, "label is required"],
  ["/vpcs/7", "label", "a--b", LABEL_REASON],
  ["/vpcs/7", "region", "eu-west", "region cannot be changed"],
  ["/vpcs/7", "subnets", [], "Subnets are changed one by one"],
  ["/vpcs/7", "description", "x".repeat(256), "Length must be at most 255 characters"],
  ["/vpcs/7/subnets/11", "label", "", "Length must be 1-64 characters"],
  ["/vpcs/7/subnets/11", "ipv4", "10.0.9.0/24", "ipv4 cannot be changed"],
];

test.each(BAD_UPDATES)("a PUT of %s with this %s is refused: %j", async (path, field, value, reason) => {
  const { send } = await withVpc();
  const before = (await send("GET", path)).body;
  expect(reasons(await send("PUT", path, { [field]: value }))).toEqual([400, [{ reason, field }]]);
  expect((await send("GET", path)).body).toEqual(before);
});

const BAD_RANGES: [string, string][] = [
  ["10.0.0.0", "Must be an IPv4 network"],
  ["10.0.3.1/24", "Must be an IPv4 network"],
  ["010.0.3.0/24", "Must be an IPv4 network"],
  ["10.0.3.0/024", "Must be an IPv4 network"],
  ["10.3/16", "Must be an IPv4 network"],
  ["fd00::/64", "Must be an IPv4 network"],
  ["10.0.3.0/33", "Must be an IPv4 network"],
  [" 10.0.3.0/24", "Must be an IPv4 network"],
  ["text", "Must be an IPv4 network"],
  ["10.0.3.0/30", "Prefix length must be between 1 and 29"],
  ["0.0.0.0/0", "Prefix length must be between 1 and 29"],
  ["0.0.0.0/1", "Must be within an RFC 1918 range"],
  ["8.8.8.0/24", "Must be within an RFC 1918 range"],
  ["172.32.0.0/16", "Must be within an RFC 1918 range"],
  ["192.168.0.0/15", "Must be within an RFC 1918 range"],
  ["10.0.1.0/24", "Subnet overlaps with another subnet of this VPC"],
  ["10.0.0.0/8", "Subnet overlaps with another subnet of this VPC"],
  ["10.0.1.128/29", "Subnet overlaps with another subnet of this VPC"],
];

test.each(BAD_RANGES)("the subnet range %j is refused: %s", async (ipv4, reason) => {
  const { send } = await withVpc();
  expect(reasons(await send("POST", "/vpcs/7/subnets", { label: "x", ipv4 }))).toEqual([
    400,
    [{ reason, field: "ipv4" }],
  ]);
  expect((await send("GET", "/vpcs/7/subnets")).body.results).toBe(2);
});

test("ranges overlap within the request too, and not across VPCs", async () => {
  const { send } = await withVpc();
  const subnets = [
    { label: "a", ipv4: "10.0.0.0/16" },
    { label: "b", ipv4: "10.0.1.0/24" },
  ];
  const answer = await send("POST", "/vpcs", { label: "two", region: "us-east", subnets });
  expect(answer.body.errors).toEqual([
    { reason: "Subnet overlaps with another subnet of this VPC", field: "subnets[1].ipv4" },
  ]);
  expect((await send("POST", "/vpcs", { label: "two", region: "us-east", subnets: [subnets[0]] })).status).toBe(200);
});

test("a subnet is found in its own VPC only", async () => {
  const { send } = await withVpc();
  const { body: other } = await send("POST", "/vpcs", { label: "other", region: "us-east" });
  for (const method of ["GET", "PUT", "DELETE"]) {
    expect((await send(method, `/vpcs/${other.id}/subnets/11`)).status).toBe(404);
  }
  expect((await send("POST", "/vpcs/999/subnets", { label: "a", ipv4: "10.0.0.0/24" })).status).toBe(404);
});

test("labels may repeat, unless the emulator is told that they may not", async () => {
  const free = await withVpc();
  expect((await free.send("POST", "/vpcs", { label: "prod", region: "us-east" })).status).toBe(200);
  expect((await free.send("PUT", "/vpcs/7/subnets/11", { label: "db" })).status).toBe(200);
  const { send } = await withVpc({ uniqueLabels: true });
  expect(reasons(await send("POST", "/vpcs", { label: "prod", region: "us-east" }))).toEqual([
    400,
    [{ reason: "Label must be unique among your VPCs", field: "label" }],
  ]);
  const { body: other } = await send("POST", "/vpcs", { label: "other", region: "us-east" });
  expect((await send("PUT", `/vpcs/${other.id}`, { label: "prod" })).status).toBe(400);
  expect((await send("PUT", "/vpcs/7", { label: "prod" })).status).toBe(200);
  expect((await send("PUT", "/vpcs/7/subnets/11", { label: "db" })).status).toBe(400);
  expect((await send("POST", "/vpcs/7/subnets", { label: "db", ipv4: "10.0.9.0/24" })).status).toBe(400);
});

describe("with interfaces attached", () => {
  async function attached(options: Parameters<typeof withVpc>[0] = {}): Promise<Tested> {
    const tested = await withVpc(options);
    const interfaces = [
      { interface_id: 31, node_id: 21, config_id: 41, active: true, address: "10.0.1.9" },
      { interface_id: 32, node_id: 21, config_id: 42, active: false, address: null },
      { interface_id: 33, node_id: 22, config_id: 43, active: true },
    ];
    for (const entry of interfaces) {
      expect((await tested.control("POST", "/attach", { subnet_id: 11, ...entry })).body).toEqual({});
    }
    return tested;
  }

  test("a subnet shows its nodes in lists and views", async () => {
    const { send } = await attached();
    const nodes = [
      {
        id: 21,
        interfaces: [
          { id: 31, active: true },
          { id: 32, active: false },
        ],
      },
      { id: 22, interfaces: [{ id: 33, active: true }] },
    ];
    expect((await send("GET", "/vpcs")).body.data[0].subnets[0].nodes).toEqual(nodes);
    expect((await send("GET", "/vpcs/7/subnets/11")).body.nodes).toEqual(nodes);
    expect((await send("PUT", "/vpcs/7", { label: "x" })).body.subnets[0].nodes).toEqual(nodes);
  });

  test("the address lists name node, profile and address", async () => {
    const { send } = await attached();
    for (const path of ["/networking/vpcs/ips", "/vpcs/ips", "/vpcs/7/ips"]) {
      const { body } = await send("GET", path);
      expect([path, body.results]).toEqual([path, 3]);
      expect(body.data[0]).toEqual({
        active: true,
        address: "10.0.1.9",
        address_range: null,
        config_id: 41,
        gateway: "10.0.1.1",
        interface_id: 31,
        node_id: 21,
        nat_1_1: "",
        prefix: 24,
        region: "us-east",
        subnet_id: 11,
        subnet_mask: "255.255.255.0",
        vpc_id: 7,
      });
      expect(body.data.map(({ address }: { address: string }) => address)).toEqual(["10.0.1.9", null, "10.0.1.2"]);
    }
    expect((await send("GET", "/vpcs/8/ips")).status).toBe(404);
    const filtered = await send("GET", "/vpcs/ips", undefined, { "x-filter": '{"node_id":22}' });
    expect(filtered.body.results).toBe(1);
  });

  test("neither the subnet nor the VPC can be deleted, and nothing is, until all are gone", async () => {
    const { send, control, emulator } = await attached();
    for (const path of ["/vpcs/7", "/vpcs/7/subnets/11"]) {
      const answer = await send("DELETE", path);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body.errors[0])).toEqual(["reason"]);
    }
    expect((await send("GET", "/vpcs/7")).body.subnets.length).toBe(2);
    await control("POST", "/detach", { interface_id: 31 });
    await emulator.detach(33);
    expect((await send("DELETE", "/vpcs/7")).status).toBe(400);
    await emulator.detach(32);
    expect((await send("DELETE", "/vpcs/7")).status).toBe(200);
    expect((await send("GET", "/vpcs")).body.results).toBe(0);
  });

  test("the operator's word stands where API.md says node", async () => {
    const { send } = await attached({ dialect: "linode" });
    expect((await send("GET", "/vpcs/7")).body.subnets[0].linodes.length).toBe(2);
    expect((await send("GET", "/vpcs/7")).body.subnets[0]).not.toHaveProperty("nodes");
    const { body } = await send("GET", "/vpcs/ips", undefined, { "x-filter": '{"linode_id":22}' });
    expect(body.data).toMatchObject([{ linode_id: 22 }]);
    expect((await send("GET", "/vpcs/ips", undefined, { "x-filter": '{"node_id":22}' })).status).toBe(400);
  });

  test("what cannot be attached is refused", async () => {
    const { control, emulator } = await attached();
    const bad = [
      {},
      { subnet_id: 99, node_id: 1, interface_id: 1 },
      { subnet_id: 11, node_id: 1, interface_id: 1, address: "10.9.9.9" },
      { subnet_id: 11, node_id: "1", interface_id: 1 },
    ];
    for (const body of bad) expect((await control("POST", "/attach", body)).status).toBe(400);
    expect((await control("POST", "/detach", { interface_id: 99 })).status).toBe(400);
    const attachment = { subnet_id: 99, node_id: 1, interface_id: 1, active: true, config_id: 1, address: null };
    await expect(emulator.attach(attachment)).rejects.toThrow("There is no subnet 99");
  });
});

test("operations trigger the events of API.md", async () => {
  const { send, control } = await startTested();
  const subnets = [
    { label: "a", ipv4: "10.0.0.0/24" },
    { label: "b", ipv4: "10.0.1.0/24" },
  ];
  const { body: vpc } = await send("POST", "/vpcs", { label: "prod", region: "us-east", subnets });
  await send("PUT", `/vpcs/${vpc.id}`, { label: "x" });
  await send("PUT", `/vpcs/${vpc.id}/subnets/${vpc.subnets[0].id}`, { label: "c" });
  await send("DELETE", `/vpcs/${vpc.id}/subnets/${vpc.subnets[0].id}`);
  await send("POST", `/vpcs/${vpc.id}/subnets`, { label: "d", ipv4: "10.0.3.0/24" });
  await send("POST", "/vpcs", { label: "" });
  await send("DELETE", `/vpcs/${vpc.id}`);
  const { body } = await control("GET", "/events");
  expect(body.data.map((event: { action: string }) => event.action)).toEqual([
    ..."vpc_create subnet_create subnet_create vpc_update subnet_update subnet_delete subnet_create".split(" "),
    ..."subnet_delete subnet_delete vpc_delete".split(" "),
  ]);
});

test("grants say which VPCs a restricted user may make and change", async () => {
  const vpcs = ["mine", "seen", "other"].map((label, index) => ({ id: index + 1, label, region: "us-east" }));
  const grants = { vpcs: { mine: "read_write", "2": "read_only" } } as const;
  const tokens = [
    { token: "few", grants },
    { token: "adds", grants: { add_vpc: true } },
  ];
  const { send } = await startTested({ seed: { vpcs, tokens } });
  const few = { authorization: "Bearer few" };
  const adds = { authorization: "Bearer adds" };
  const vpc = { label: "new", region: "us-east" };
  expect((await send("POST", "/vpcs", vpc, few)).status).toBe(403);
  expect((await send("POST", "/vpcs/1/subnets", { label: "a", ipv4: "10.0.0.0/24" }, few)).status).toBe(200);
  for (const id of [2, 3]) {
    expect((await send("GET", `/vpcs/${id}`, undefined, few)).status).toBe(200);
    expect((await send("PUT", `/vpcs/${id}`, { label: "x" }, few)).status).toBe(403);
    expect((await send("POST", `/vpcs/${id}/subnets`, {}, few)).status).toBe(403);
    expect((await send("DELETE", `/vpcs/${id}`, undefined, few)).status).toBe(403);
  }
  const { body: made } = await send("POST", "/vpcs", vpc, adds);
  expect((await send("PUT", "/vpcs/1", { label: "x" }, adds)).status).toBe(403);
  expect((await send("PUT", `/vpcs/${made.id}`, { label: "x" }, adds)).status).toBe(200);
  expect((await send("DELETE", `/vpcs/${made.id}`, undefined, adds)).status).toBe(200);
});
