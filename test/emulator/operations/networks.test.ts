/** That every operation on VPCs, subnets and addresses does what API.md says. */

import { expect, test } from "vitest";
import { operation } from "../../support/emulated.ts";
import { startTested, type Tested } from "../../support/emulator.ts";

const DATE_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);

function start(): Promise<Tested> {
  return startTested({
    seed: {
      vpcs: [
        { id: 7, label: "prod", region: "us-east", subnets: [{ id: 11, label: "web", ipv4: "10.0.1.0/24" }] },
        { id: 8, label: "test", region: "eu-west", subnets: [{ id: 12, label: "web", ipv4: "10.0.1.0/24" }] },
      ],
      nodes: [{ id: 21, interfaces: [{ id: 31, subnet_id: 12, active: true, config_id: 41 }] }],
    },
  });
}

async function actions({ control }: Tested): Promise<string[]> {
  const { body } = await control("GET", "/events");
  return body.data.map((event: { action: string }) => event.action);
}

operation("VPCs List", () => {
  test("lists each VPC with its subnets and their nodes", async () => {
    const { send } = await start();
    const { body } = await send("GET", "/vpcs");
    expect(body).toMatchObject({ page: 1, pages: 1, results: 2, data: [{ id: 7 }, { id: 8 }] });
    expect(body.data[1].subnets[0].nodes).toEqual([{ id: 21, interfaces: [{ id: 31, active: true }] }]);
  });
});

operation("VPC Create", () => {
  test("makes the VPC and its subnets at once", async () => {
    const tested = await start();
    const subnets = [
      { label: "a", ipv4: "10.0.0.0/24" },
      { label: "b", ipv4: "10.0.1.0/24" },
    ];
    const created = await tested.send("POST", "/vpcs", { label: "new", region: "us-east", description: "d", subnets });
    expect(created.status).toBe(200);
    expect(created.body).toEqual({
      id: expect.any(Number),
      label: "new",
      region: "us-east",
      description: "d",
      subnets: subnets.map((subnet) => ({
        ...subnet,
        id: expect.any(Number),
        nodes: [],
        created: DATE_TIME,
        updated: DATE_TIME,
      })),
      created: DATE_TIME,
      updated: created.body.created,
    });
    expect((await tested.send("GET", `/vpcs/${created.body.id}`)).body).toEqual(created.body);
    expect(await actions(tested)).toEqual(["vpc_create", "subnet_create", "subnet_create"]);
  });
});

operation("VPC View", () => {
  test("shows one VPC", async () => {
    const { send } = await start();
    expect((await send("GET", "/vpcs/7")).body).toMatchObject({ id: 7, label: "prod", description: "" });
    expect((await send("GET", "/vpcs/9")).status).toBe(404);
  });
});

operation("VPC Update", () => {
  test("changes label and description, and answers with the whole VPC", async () => {
    const tested = await start();
    const { body } = await tested.send("PUT", "/vpcs/7", { label: "live", description: "now" });
    expect(body).toMatchObject({ id: 7, label: "live", description: "now", subnets: [{ id: 11 }] });
    expect((await tested.send("GET", "/vpcs/7")).body).toEqual(body);
    expect(await actions(tested)).toEqual(["vpc_update"]);
  });
});

operation("VPC Delete", () => {
  test("takes the subnets along", async () => {
    const tested = await start();
    expect(await tested.send("DELETE", "/vpcs/7")).toMatchObject({ status: 200, body: {} });
    expect((await tested.send("GET", "/vpcs/7")).status).toBe(404);
    expect((await tested.send("GET", "/vpcs/7/subnets/11")).status).toBe(404);
    expect((await actions(tested)).toSorted()).toEqual(["subnet_delete", "vpc_delete"]);
  });
});

const ADDRESS = {
  active: true,
  address: "10.0.1.2",
  address_range: null,
  config_id: 41,
  gateway: "10.0.1.1",
  interface_id: 31,
  node_id: 21,
  nat_1_1: "",
  prefix: 24,
  region: "eu-west",
  subnet_id: 12,
  subnet_mask: "255.255.255.0",
  vpc_id: 8,
};

operation("VPC IP Addresses List", () => {
  test("lists the addresses of the account under both paths", async () => {
    const { send } = await start();
    for (const path of ["/networking/vpcs/ips", "/vpcs/ips"]) {
      expect((await send("GET", path)).body).toEqual({ data: [ADDRESS], page: 1, pages: 1, results: 1 });
    }
  });
});

operation("VPC IP Addresses View", () => {
  test("lists the addresses of one VPC", async () => {
    const { send } = await start();
    expect((await send("GET", "/vpcs/8/ips")).body.data).toEqual([ADDRESS]);
    expect((await send("GET", "/vpcs/7/ips")).body.data).toEqual([]);
    expect((await send("GET", "/vpcs/9/ips")).status).toBe(404);
  });
});

operation("VPC Subnets List", () => {
  test("lists the subnets of one VPC", async () => {
    const { send } = await start();
    const { body } = await send("GET", "/vpcs/8/subnets");
    expect(body).toMatchObject({ results: 1, data: [{ id: 12, label: "web", nodes: [{ id: 21 }] }] });
  });
});

operation("VPC Subnet Create", () => {
  test("adds one subnet", async () => {
    const tested = await start();
    const { body } = await tested.send("POST", "/vpcs/7/subnets", { label: "db", ipv4: "10.0.2.0/24" });
    expect(body).toMatchObject({ label: "db", ipv4: "10.0.2.0/24", nodes: [], created: DATE_TIME });
    expect((await tested.send("GET", `/vpcs/7/subnets/${body.id}`)).body).toEqual(body);
    expect(await actions(tested)).toEqual(["subnet_create"]);
  });
});

operation("VPC Subnet View", () => {
  test("shows a subnet of its own VPC only", async () => {
    const { send } = await start();
    expect((await send("GET", "/vpcs/7/subnets/11")).body).toMatchObject({ id: 11, ipv4: "10.0.1.0/24" });
    expect((await send("GET", "/vpcs/7/subnets/12")).status).toBe(404);
  });
});

operation("VPC Subnet Update", () => {
  test("changes the label", async () => {
    const tested = await start();
    const { body } = await tested.send("PUT", "/vpcs/7/subnets/11", { label: "front" });
    expect(body).toMatchObject({ id: 11, label: "front" });
    expect((await tested.send("GET", "/vpcs/7/subnets/11")).body).toEqual(body);
    expect(await actions(tested)).toEqual(["subnet_update"]);
  });
});

operation("VPC Subnet Delete", () => {
  test("removes one subnet", async () => {
    const tested = await start();
    expect(await tested.send("DELETE", "/vpcs/7/subnets/11")).toMatchObject({ status: 200, body: {} });
    expect((await tested.send("GET", "/vpcs/7")).body.subnets).toEqual([]);
    expect(await actions(tested)).toEqual(["subnet_delete"]);
  });
});
