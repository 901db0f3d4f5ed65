/** Bodies that are right or wrong many times over: the work grows as they do, and the answer stays small. */

import ipaddr from "ipaddr.js";
import { expect, onTestFinished, test, vi } from "vitest";
import { startTested } from "../support/emulator.ts";

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
