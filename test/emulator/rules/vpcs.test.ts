/** What API.md forbids of VPCs and subnets. */

import { test } from "vitest";
import { rule } from "../../support/emulated.ts";
import { startTested, type Tested } from "../../support/emulator.ts";
import { expectRefused } from "./refused.ts";

const VPC = { label: "new", region: "us-east" };
const SUBNET = { label: "web", ipv4: "10.0.2.0/24" };

function start(): Promise<Tested> {
  return startTested({
    seed: {
      vpcs: [{ id: 7, label: "prod", region: "us-east", subnets: [{ id: 11, label: "a", ipv4: "10.0.1.0/24" }] }],
      nodes: [{ id: 21, interfaces: [{ id: 31, subnet_id: 11, active: false, config_id: 41 }] }],
    },
  });
}

const create = (body: unknown, field: string) => ({ method: "POST", path: "/vpcs", body, field });
const addSubnet = (body: unknown, field: string) => ({ method: "POST", path: "/vpcs/7/subnets", body, field });

rule(["VPC: label", "Limits: VPC and subnet label"], async () => {
  const tested = await start();
  await expectRefused(tested, create({ ...VPC, label: undefined }, "label"));
  await expectRefused(tested, create({ ...VPC, label: "" }, "label"));
  await expectRefused(tested, create({ ...VPC, label: "x".repeat(65) }, "label"));
  await expectRefused(tested, { method: "PUT", path: "/vpcs/7", body: { label: "x".repeat(65) }, field: "label" });
  await expectRefused(tested, addSubnet({ ...SUBNET, label: "x".repeat(65) }, "label"));
});

rule(["VPC: description", "Limits: VPC description"], async () => {
  const tested = await start();
  const description = "é".repeat(256);
  await expectRefused(tested, create({ ...VPC, description }, "description"));
  await expectRefused(tested, { method: "PUT", path: "/vpcs/7", body: { description }, field: "description" });
});

rule("VPC: region", async () => {
  const tested = await start();
  await expectRefused(tested, create({ label: "new" }, "region"));
  await expectRefused(tested, create({ ...VPC, region: null }, "region"));
});

rule("VPC: subnets", async () => {
  const tested = await start();
  await expectRefused(tested, create({ ...VPC, subnets: [{ label: "a" }] }, "subnets[0].ipv4"));
  await expectRefused(tested, create({ ...VPC, subnets: "10.0.0.0/24" }, "subnets"));
});

rule("VPC Subnet: label", async () => {
  const tested = await start();
  await expectRefused(tested, addSubnet({ ipv4: SUBNET.ipv4 }, "label"));
  await expectRefused(tested, addSubnet({ ...SUBNET, label: "" }, "label"));
  const path = "/vpcs/7/subnets/11";
  await expectRefused(tested, { method: "PUT", path, body: { label: "x".repeat(65) }, field: "label" });
});

rule("VPC Subnet: ipv4", async () => {
  const tested = await start();
  await expectRefused(tested, addSubnet({ label: "web" }, "ipv4"));
  await expectRefused(tested, addSubnet({ ...SUBNET, ipv4: "10.0.2.1/24" }, "ipv4"));
  const path = "/vpcs/7/subnets/11";
  await expectRefused(tested, { method: "PUT", path, body: { ipv4: "10.0.9.0/24" }, field: "ipv4" });
});

rule(["VPCs: rule 1", "VPCs: rule 2", "Errors: rule 1"], async () => {
  const tested = await start();
  await expectRefused(tested, { method: "DELETE", path: "/vpcs/7", field: null });
  await expectRefused(tested, { method: "DELETE", path: "/vpcs/7/subnets/11", field: null });
});

rule("VPCs: rule 3", async () => {
  const tested = await start();
  const body = { subnets: [{ id: 11, label: "b" }] };
  await expectRefused(tested, { method: "PUT", path: "/vpcs/7", body, field: "subnets" });
});

rule("VPCs: rule 4", async () => {
  const tested = await start();
  for (const id of ["prod", "7.0", "07", "+7", "%37x", "0x7", "-7"]) {
    await expectRefused(tested, { method: "DELETE", path: `/vpcs/${id}`, field: null, status: 404 });
    await expectRefused(tested, { method: "DELETE", path: `/vpcs/7/subnets/${id}`, field: null, status: 404 });
  }
});

test("what is refused here is about the rule: the same requests within it are done", async () => {
  const { send } = await start();
  const { expect } = await import("vitest");
  expect((await send("POST", "/vpcs", { ...VPC, label: "x".repeat(64), description: "é".repeat(255) })).status).toBe(
    200,
  );
  expect((await send("POST", "/vpcs/7/subnets", SUBNET)).status).toBe(200);
});
