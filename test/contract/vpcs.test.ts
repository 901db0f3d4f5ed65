/** VPCs, subnets and their addresses, as the service's own client makes, lists, changes and deletes them. */

import {
  createSubnet,
  createVPC,
  deleteSubnet,
  deleteVPC,
  getSubnet,
  getSubnets,
  getVPC,
  getVPCIPs,
  getVPCs,
  getVPCsIPs,
  modifySubnet,
  updateVPC,
} from "@linode/api-v4";
import { expect, test } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { connect, refusal, refusals } from "./client.ts";

const ATTACHED = { node_id: 21, interface_id: 31, active: true, config_id: 41, address: "10.0.1.2" };

/** The ids of a VPC `prod` with the subnets `web` and `db`, and a node in `web`. */
async function attachedVpc(emulator: Emulator): Promise<{ vpcId: number; webId: number; dbId: number }> {
  const subnets = [
    { label: "web", ipv4: "10.0.1.0/24" },
    { label: "db", ipv4: "10.0.2.0/24" },
  ];
  const vpc = await createVPC({ label: "prod", region: "us-east", description: "Production", subnets });
  const [webId = 0, dbId = 0] = vpc.subnets.map((subnet) => subnet.id);
  await emulator.attach({ ...ATTACHED, subnet_id: webId });
  return { vpcId: vpc.id, webId, dbId };
}

test("a VPC is created with its subnets, and read back the same", async () => {
  await connect();
  const vpc = await createVPC({
    label: "prod",
    region: "us-east",
    description: "Production",
    subnets: [{ label: "web", ipv4: "10.0.1.0/24" }],
  });
  expect(vpc).toMatchObject({ label: "prod", region: "us-east", description: "Production" });
  expect(vpc.subnets).toMatchObject([{ label: "web", ipv4: "10.0.1.0/24", linodes: [] }]);
  expect(vpc.updated).toBe(vpc.created);
  expect(await getVPC(vpc.id)).toEqual(vpc);
  expect(await getVPCs()).toEqual({ data: [vpc], page: 1, pages: 1, results: 1 });
  expect(await createVPC({ label: "prod", region: "us-east" })).toMatchObject({ description: "", subnets: [] });
});

test("VPCs are listed in the pages and the order that are asked for", async () => {
  const labels = Array.from({ length: 60 }, (_, index) => `net-${String(index).padStart(2, "0")}`);
  const vpcs = labels.map((label, index) => ({ label, region: index % 2 === 0 ? "us-east" : "eu-west" }));
  const { emulator } = await connect({ seed: { vpcs } });
  const order = { "+order": "desc", "+order_by": "label" } as const;
  const first = await getVPCs({ page: 1, page_size: 25 }, order);
  const last = await getVPCs({ page: 3, page_size: 25 }, order);
  expect([first.page, first.pages, first.results]).toEqual([1, 3, 60]);
  expect(first.data.map((vpc) => vpc.label)).toEqual(labels.slice(35).reverse());
  expect(last.data.map((vpc) => vpc.label)).toEqual(labels.slice(0, 10).reverse());
  expect(emulator.requests.map(({ query }) => query)).toEqual(["page=1&page_size=25", "page=3&page_size=25"]);
  const ids = await getVPCs({}, { "+order": "desc", "+order_by": "id", region: "eu-west" });
  expect(ids.data.map((vpc) => vpc.label)).toEqual(labels.filter((_, index) => index % 2 === 1).reverse());
  const found = await getVPCs({}, { "+or": [{ label: { "+contains": "-1" } }, { label: "net-05" }] });
  expect(found.data.map((vpc) => vpc.label)).toEqual(["net-05", ...labels.slice(10, 20)]);
});

test("a VPC is renamed, described and undescribed, and keeps the rest", async () => {
  const { emulator } = await connect();
  const { vpcId } = await attachedVpc(emulator);
  await emulator.advanceClock(60);
  const before = await getVPC(vpcId);
  const renamed = await updateVPC(vpcId, { label: "production" });
  expect(renamed).toEqual({ ...before, label: "production", updated: renamed.updated });
  expect(renamed.updated > before.updated).toBe(true);
  expect((await updateVPC(vpcId, { description: "" })).description).toBe("");
  expect(await getVPC(vpcId)).toMatchObject({ label: "production", description: "", subnets: before.subnets });
});

test("subnets are created, listed, renamed and deleted one by one", async () => {
  await connect();
  const vpc = await createVPC({ label: "prod", region: "us-east" });
  const web = await createSubnet(vpc.id, { label: "web", ipv4: "10.0.1.0/24" });
  const db = await createSubnet(vpc.id, { label: "db", ipv4: "172.16.0.0/12" });
  expect(await getSubnet(vpc.id, web.id)).toEqual(web);
  expect((await getSubnets(vpc.id)).data).toEqual([web, db]);
  expect((await getVPC(vpc.id)).subnets).toEqual([web, db]);
  const renamed = await modifySubnet(vpc.id, web.id, { label: "front" });
  expect(renamed).toEqual({ ...web, label: "front", updated: renamed.updated });
  expect(await deleteSubnet(vpc.id, db.id)).toEqual({});
  expect((await getSubnets(vpc.id)).data).toEqual([renamed]);
  expect(await refusal(getSubnet(vpc.id, db.id))).toMatchObject({ status: 404, errors: [{ reason: "Not found" }] });
});

test("subnets are searched by a part of their label or of their id", async () => {
  const subnets = [
    { id: 7120, label: "web", ipv4: "10.0.1.0/24" },
    { id: 7300, label: "db-12", ipv4: "10.0.2.0/24" },
    { id: 7400, label: "cache", ipv4: "10.0.3.0/24" },
  ];
  await connect({ seed: { vpcs: [{ id: 5, label: "prod", region: "us-east", subnets }] } });
  // As the service's web client writes what is typed into its search box.
  const search = (text: string) => ({
    "+or": [{ label: { "+contains": text } }, { id: { "+contains": text } }],
    "+order": "desc",
    "+order_by": "label",
  });
  const ids = async (text: string) => (await getSubnets(5, {}, search(text))).data.map((subnet) => subnet.id);
  expect(await ids("12")).toEqual([7120, 7300]);
  expect(await ids("740")).toEqual([7400]);
  expect(await ids("nothing")).toEqual([]);
});

test("a node's interface shows in the subnet, in the VPC and in both address lists", async () => {
  const { emulator } = await connect();
  const { vpcId, webId } = await attachedVpc(emulator);
  await createVPC({ label: "other", region: "eu-west" });
  const linodes = [{ id: 21, interfaces: [{ id: 31, active: true }] }];
  expect((await getSubnet(vpcId, webId)).linodes).toEqual(linodes);
  expect((await getVPC(vpcId)).subnets[0]?.linodes).toEqual(linodes);
  expect((await getVPCs()).data[0]?.subnets[0]?.linodes).toEqual(linodes);
  const addresses = await getVPCIPs(vpcId);
  expect(addresses.data).toEqual([
    {
      active: true,
      address: "10.0.1.2",
      address_range: null,
      config_id: 41,
      gateway: "10.0.1.1",
      interface_id: 31,
      linode_id: 21,
      nat_1_1: "",
      prefix: 24,
      region: "us-east",
      subnet_id: webId,
      subnet_mask: "255.255.255.0",
      vpc_id: vpcId,
    },
  ]);
  expect(await getVPCsIPs({}, { linode_id: 21, vpc_id: vpcId, active: true })).toEqual(addresses);
  expect((await getVPCsIPs({}, { linode_id: 22 })).results).toBe(0);
  expect(emulator.requests.slice(-3).map(({ path }) => path)).toEqual([
    `/v4/vpcs/${vpcId}/ips`,
    "/v4/vpcs/ips",
    "/v4/vpcs/ips",
  ]);
});

test("two interfaces of one node are one entry, and an inactive one is listed", async () => {
  const { emulator } = await connect();
  const { vpcId, webId, dbId } = await attachedVpc(emulator);
  await emulator.attach({ subnet_id: webId, node_id: 21, interface_id: 32, active: false, config_id: 42 });
  await emulator.attach({
    subnet_id: dbId,
    node_id: 22,
    interface_id: 33,
    active: false,
    config_id: 43,
    address: null,
  });
  const [web, db] = (await getSubnets(vpcId)).data;
  expect(web?.linodes).toMatchObject([{ id: 21, interfaces: [{ id: 31 }, { id: 32, active: false }] }]);
  expect(db?.linodes).toMatchObject([{ id: 22, interfaces: [{ id: 33, active: false }] }]);
  const addresses = (await getVPCIPs(vpcId)).data.map(({ linode_id, address }) => [linode_id, address]);
  expect(addresses).toEqual([
    [21, "10.0.1.2"],
    [21, "10.0.1.3"],
    [22, null],
  ]);
});

test("neither VPC nor subnet can be deleted while an interface is attached, and nothing is lost", async () => {
  const { emulator } = await connect();
  const { vpcId, webId, dbId } = await attachedVpc(emulator);
  for (const { status, errors } of await refusals([deleteVPC(vpcId), deleteSubnet(vpcId, webId)])) {
    expect(status).toBe(400);
    expect(errors).toEqual([{ reason: expect.any(String) }]);
  }
  expect((await getVPC(vpcId)).subnets.map(({ id }) => id)).toEqual([webId, dbId]);
  expect(await deleteSubnet(vpcId, dbId)).toEqual({});
  await emulator.detach(ATTACHED.interface_id);
  expect(await deleteVPC(vpcId)).toEqual({});
  expect(await getVPCs()).toEqual({ data: [], page: 1, pages: 1, results: 0 });
  expect(await refusal(getSubnet(vpcId, webId))).toMatchObject({ status: 404 });
});

test("what the client lets pass and the service refuses is refused by field", async () => {
  await connect({ uniqueLabels: true });
  const vpc = await createVPC({ label: "prod", region: "us-east", subnets: [{ label: "a", ipv4: "10.0.0.0/24" }] });
  const cases: readonly (readonly [() => Promise<unknown>, string, string])[] = [
    [() => createVPC({ label: "prod", region: "us-east" }), "label", "Label must be unique among your VPCs"],
    [() => createVPC({ label: "new", region: "nowhere" }), "region", "region is not valid"],
    [() => createSubnet(vpc.id, { label: "b", ipv4: "10.0.0.7/24" }), "ipv4", "Must be an IPv4 network"],
    [
      () => createSubnet(vpc.id, { label: "b", ipv4: "10.0.0.128/25" }),
      "ipv4",
      "Subnet overlaps with another subnet of this VPC",
    ],
    [() => createSubnet(vpc.id, { label: "b", ipv4: "192.0.2.0/24" }), "ipv4", "Must be within an RFC 1918 range"],
    [() => createSubnet(vpc.id, { label: "b", ipv4: "10.1.0.0/30" }), "ipv4", "Prefix length must be between 1 and 29"],
    [() => updateVPC(vpc.id, { description: "x".repeat(256) }), "description", "Length must be at most 255 characters"],
  ];
  for (const [request, field, reason] of cases) {
    expect(await refusal(request())).toMatchObject({ status: 400, errors: [{ field, reason }] });
  }
  const nested = createVPC({ label: "new", region: "us-east", subnets: [{ label: "a", ipv4: "8.8.8.0/24" }] });
  expect((await refusal(nested)).errors.map(({ field }) => field)).toEqual(["subnets[0].ipv4"]);
  expect((await getVPCs()).results).toBe(1);
});
