/** Interfaces of nodes in subnets, and the address lists that show them. */

import { expect, test } from "vitest";
import { parseSeed } from "../../src/emulator/index.ts";
import { assumption, operation } from "../support/emulated.ts";
import { startTested, type Tested } from "../support/emulator.ts";

const SUBNET = { id: 11, label: "web", ipv4: "10.0.1.0/24" };
const VPC = { id: 7, label: "prod", region: "us-east", subnets: [SUBNET] };

/** The greatest id that a seed may name. */
const GREATEST = 1_000_000_000;

/** Three interfaces of two nodes are in subnet 11 of VPC 7, one in that of VPC 8. */
async function start(options: Parameters<typeof startTested>[0] = {}): Promise<Tested> {
  const other = { ...VPC, id: 8, region: "eu-west", subnets: [{ ...SUBNET, id: 12 }] };
  const tested = await startTested({ seed: { vpcs: [VPC, other] }, ...options });
  const interfaces = [
    { subnet_id: 11, interface_id: 31, node_id: 21, config_id: 41, active: true, address: "10.0.1.9" },
    { subnet_id: 11, interface_id: 32, node_id: 21, config_id: 42, active: false, address: null },
    { subnet_id: 11, interface_id: 33, node_id: 22, config_id: 43, active: true },
    { subnet_id: 12, interface_id: 34, node_id: 23, config_id: 44, active: true },
  ];
  for (const entry of interfaces) expect((await tested.control("POST", "/attach", entry)).body).toEqual({});
  return tested;
}

function startSmall(): Promise<Tested> {
  return startTested({ seed: { vpcs: [{ ...VPC, subnets: [{ ...SUBNET, ipv4: "10.0.1.0/29" }] }] } });
}

const attach = ({ control }: Tested, subnet_id: number, interface_id: number) =>
  control("POST", "/attach", { subnet_id, interface_id, node_id: 21 });

const ADDRESS = {
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
};

operation("VPC IP Addresses List", () => {
  test("lists the addresses of the account under both paths, with what each key of API.md says", async () => {
    const { send } = await start();
    for (const path of ["/networking/vpcs/ips", "/vpcs/ips"]) {
      const { body } = await send("GET", path);
      expect([path, body.results, body.data[0]]).toEqual([path, 4, ADDRESS]);
      expect(body.data.map(({ address }: { address: string }) => address)).toEqual([
        ...["10.0.1.9", null, "10.0.1.2", "10.0.1.2"],
      ]);
    }
    for (const [filter, found] of [
      [{ active: false }, [32]],
      [{ config_id: 43 }, [33]],
      [{ node_id: 21 }, [31, 32]],
      [{ region: "eu-west" }, [34]],
      [{ vpc_id: 7, active: true }, [31, 33]],
    ] as const) {
      const { body } = await send("GET", "/vpcs/ips", undefined, { "x-filter": JSON.stringify(filter) });
      expect(body.data.map(({ interface_id }: { interface_id: number }) => interface_id)).toEqual(found);
    }
  });
});

operation("VPC IP Addresses View", () => {
  test("lists the addresses of one VPC", async () => {
    const { send } = await start();
    const { data } = (await send("GET", "/vpcs/7/ips")).body;
    expect([data.length, data[0]]).toEqual([3, ADDRESS]);
    expect((await send("GET", "/vpcs/8/ips")).body.data).toMatchObject([{ interface_id: 34, vpc_id: 8 }]);
    expect((await send("GET", "/vpcs/9/ips")).status).toBe(404);
  });
});

test("a subnet shows its nodes in lists and views", async () => {
  const { send } = await start();
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

test("the operator's word stands where API.md says node", async () => {
  const { send } = await start({ dialect: "linode" });
  expect((await send("GET", "/vpcs/7")).body.subnets[0].linodes.length).toBe(2);
  expect((await send("GET", "/vpcs/7")).body.subnets[0]).not.toHaveProperty("nodes");
  const { body } = await send("GET", "/vpcs/ips", undefined, { "x-filter": '{"linode_id":22}' });
  expect(body.data).toMatchObject([{ linode_id: 22 }]);
  expect((await send("GET", "/vpcs/ips", undefined, { "x-filter": '{"node_id":22}' })).status).toBe(400);
});

assumption("The order of an address list is by VPC, subnet, then attachment.", async () => {
  const tested = await startTested({ seed: { vpcs: [VPC, { ...VPC, id: 6, subnets: [{ ...SUBNET, id: 12 }] }] } });
  for (const [subnet, id] of [
    [11, 33],
    [12, 32],
    [12, 31],
  ] as const) {
    expect((await attach(tested, subnet, id)).status).toBe(200);
  }
  const { data } = (await tested.send("GET", "/vpcs/ips")).body;
  expect(data.map((entry: { interface_id: number }) => entry.interface_id)).toEqual([32, 31, 33]);
});

assumption(
  "An interface's address ranges are entries of their own in an address list, after that of its address, with neither `address` nor `nat_1_1`.",
  async () => {
    const interfaces = [
      {
        ...{ id: 31, subnet: "prod/web", config_id: 41, address: "10.0.1.5" },
        ...{ nat_1_1: "203.0.113.5", address_ranges: ["10.0.1.64/28", "10.0.1.128/28"] },
      },
    ];
    const seed = parseSeed(JSON.stringify({ vpcs: [VPC], nodes: [{ id: 21, interfaces }] }));
    const { send, control } = await startTested({ seed });
    const rows = async (): Promise<unknown> =>
      (await send("GET", "/vpcs/ips")).body.data.map(
        (row: Record<string, unknown>) =>
          `${row["interface_id"]} ${row["address"]} ${row["address_range"]} ${row["nat_1_1"]}`,
      );
    const seeded = ["31 10.0.1.5 null 203.0.113.5", "31 null 10.0.1.64/28 ", "31 null 10.0.1.128/28 "];
    expect(await rows()).toEqual(seeded);
    const attachment = { subnet_id: 11, node_id: 22, interface_id: 32 };
    const full = { ...attachment, nat_1_1: "203.0.113.6", address_ranges: ["10.0.1.192/32"] };
    expect((await control("POST", "/attach", full)).status).toBe(200);
    expect(await rows()).toEqual([...seeded, "32 10.0.1.2 null 203.0.113.6", "32 null 10.0.1.192/32 "]);
    expect((await control("POST", "/attach", { ...full, address: null, nat_1_1: "" })).status).toBe(200);
    expect(await rows()).toEqual([...seeded, "32 null 10.0.1.192/32 "]);
    expect((await control("POST", "/attach", { ...attachment, address: null })).status).toBe(200);
    expect(await rows()).toEqual([...seeded, "32 null null "]);
    for (const [change, field] of [
      [{ nat_1_1: "public" }, "nat_1_1"],
      [{ address_ranges: "10.0.1.64/28" }, "address_ranges"],
      [{ address_ranges: ["10.0.1.65/28"] }, "address_ranges[0]"],
      [{ address_ranges: ["10.0.1.208/28", "10.0.2.0/28"] }, "address_ranges[1]"],
      [{ address_ranges: ["10.0.0.0/23"] }, "address_ranges[0]"],
      [{ address_ranges: ["10.0.1.68/30"] }, "address_ranges[0]"],
      [{ address_ranges: ["10.0.1.208/28", "10.0.1.212/32"] }, "address_ranges[1]"],
    ] as const) {
      const { status, body } = await control("POST", "/attach", { ...attachment, ...change });
      expect([change, status, body.errors?.[0].field]).toEqual([change, 400, field]);
    }
    expect(() => parseSeed("nodes: [{ interfaces: [{ subnet_id: 1, address_ranges: [5] }] }]")).toThrow(
      "address_ranges",
    );
  },
);

test("what cannot be attached is refused", async () => {
  const { control, emulator } = await start();
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

test("an interface gets no address that is the network's, the gateway's or for all", async () => {
  const { send, control, emulator } = await startSmall();
  const attachment = { subnet_id: 11, node_id: 21, interface_id: 31, active: true, config_id: 41 };
  const special = "The address is the network, gateway or broadcast address of 10.0.1.0/29";
  for (const [address, reason] of [
    ["10.0.1.0", special],
    ["10.0.1.1", special],
    ["10.0.1.7", special],
    ["10.0.0.255", "The address is not in 10.0.1.0/29"],
    ["10.0.1.8", "The address is not in 10.0.1.0/29"],
  ] as const) {
    const answer = await control("POST", "/attach", { ...attachment, address });
    expect([address, answer.status, answer.body]).toEqual([address, 400, { errors: [{ reason }] }]);
    await expect(emulator.attach({ ...attachment, address })).rejects.toThrow(reason);
  }
  expect((await send("GET", "/vpcs/ips")).body.results).toBe(0);
  for (const address of ["10.0.1.2", "10.0.1.6"]) {
    expect((await control("POST", "/attach", { ...attachment, address })).status).toBe(200);
    expect((await send("GET", "/vpcs/ips")).body.data).toMatchObject([{ address, gateway: "10.0.1.1" }]);
  }
});

test("ids that are chosen leave room for those that are given out", async () => {
  const { send, control } = await startSmall();
  const attachment = { subnet_id: 11, node_id: 21, interface_id: 31, config_id: 41 };
  for (const field of ["node_id", "interface_id", "config_id"]) {
    for (const id of [GREATEST + 1, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await control("POST", "/attach", { ...attachment, [field]: id });
      expect([status, body.errors]).toEqual([400, [{ field, reason: `Must be between 1 and ${GREATEST}` }]]);
    }
  }
  const disk = { label: "boot", size: 5 * GREATEST };
  expect((await control("POST", "/disks", { ...disk, id: GREATEST + 1 })).status).toBe(400);
  expect((await control("POST", "/disks", { ...disk, id: GREATEST })).status).toBe(200);
  expect(
    (
      await control("POST", "/attach", {
        ...attachment,
        node_id: GREATEST,
        interface_id: GREATEST,
        config_id: GREATEST,
      })
    ).status,
  ).toBe(200);
  const { interface_id, node_id } = attachment;
  expect((await control("POST", "/attach", { subnet_id: 11, interface_id, node_id })).status).toBe(200);
  const { data } = (await send("GET", "/vpcs/ips")).body;
  expect(data.map(({ config_id }: { config_id: number }) => config_id)).toEqual([GREATEST, GREATEST + 1]);
});
