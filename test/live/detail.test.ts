import { expect, it, onTestFinished, vi } from "vitest";
import type { WireVpc } from "../../src/api/wire.ts";
import { allowedSeconds, createApi, loadProject, planProject } from "../../src/index.ts";
import { completeInterfaces } from "../../src/plan/plan.ts";
import { network } from "../../src/units/network/index.ts";
import { emulator, folder } from "../cli/run.ts";
import { change, plan } from "../render/plans.ts";

const interfacesOf = (vpc: number) => [{ id: vpc * 10, subnet_id: vpc + 2000, config_id: vpc * 100 }];
const vpcOf = (id: number, label: string, owned: boolean) => ({
  id,
  label,
  region: "us-east",
  ...(owned ? { description: "[tenon:edge]" } : {}),
  subnets: [{ id: id + 2000, label: "web", ipv4: "10.0.1.0/24" }],
});

/** Each network has one interface in its subnet. */
async function planOf(manifest: string, vpcs: ReturnType<typeof vpcOf>[]) {
  const nodes = vpcs.map(({ id }) => ({ interfaces: interfacesOf(id) }));
  const { baseUrl, requests } = await emulator({ seed: { vpcs, nodes } });
  const api = await createApi({ baseUrl, token: "emulator-token" });
  onTestFinished(() => api.close());
  const directory = await folder({ "tenon.yaml": `tenon: 1\nowner: edge\n${manifest}` });
  const { project } = await loadProject({ directory, allowedSeconds: allowedSeconds("node") });
  if (project === null) throw new Error("the manifest is wrong");
  const { desired } = project;
  const result = await planProject({ desired, api, goal: "apply", nowMilliseconds: 0 });
  if (!result.ok) throw new Error(result.failure.message);
  return { plan: result.plan, paths: requests.map(({ path }) => path) };
}

/** The configuration profiles that hold a subnet, which only the address list of its VPC tells. */
async function profilesOf(manifest: string, vpcs: ReturnType<typeof vpcOf>[]): Promise<[string, (number | null)[]][]> {
  const { plan: made } = await planOf(manifest, vpcs);
  return made.changes.flatMap(({ key, blocked }) =>
    blocked?.type === "interfaces" ? [[key, blocked.interfaces.map(({ config_id }) => config_id)]] : [],
  );
}

it("all of several networks of one label are looked at, also those whose address has their id", async () => {
  const found = await profilesOf("", [vpcOf(1, "prod", true), vpcOf(2, "prod", true)]);
  expect(Object.fromEntries(found)).toMatchObject({
    "vpc/prod:1/subnet/web": [100],
    "vpc/prod:2/subnet/web": [200],
  });
});

it("a network that stays is looked at under its address, and one that is renamed under its id", async () => {
  const manifest = `vpcs:
  - { label: prod, region: us-east, subnets: [] }
  - { label: new, moved_from: old, region: us-east, subnets: [] }
`;
  const found = await profilesOf(manifest, [vpcOf(1, "prod", true), vpcOf(2, "old", true)]);
  expect(Object.fromEntries(found)).toMatchObject({
    "vpc/prod/subnet/web": [100],
    "vpc/new/subnet/web": [200],
  });
});

it("the account is planned once, and what a closer look tells is put onto that plan", async () => {
  const steps = vi.spyOn(network, "steps");
  onTestFinished(() => steps.mockRestore());
  const { plan: made, paths } = await planOf("", [vpcOf(1, "prod", true)]);
  expect(made.changes.flatMap(({ blocked }) => (blocked?.type === "interfaces" ? blocked.interfaces : []))).toEqual(
    ["vpc/prod", "vpc/prod/subnet/web"].map(() => ({
      ...{ subnet: "vpc/prod/subnet/web", subnet_id: 2001, node_id: 7001, interface_id: 10, active: true },
      ...{ config_id: 100, address: "10.0.1.2" },
    })),
  );
  expect(paths.filter((path) => path.startsWith("/v4/vpcs"))).toEqual(["/v4/vpcs", "/v4/vpcs/1/ips"]);
  expect(steps).toHaveBeenCalledTimes(1);
});

it("an interface that the list leaves out stays unknown, and what else blocks a change stays as it is", () => {
  const one = (interface_id: number) => ({
    ...{ subnet: "vpc/a/subnet/s", subnet_id: 2, node_id: 3, active: true, interface_id },
    ...{ config_id: null, address: null },
  });
  const blocked = { type: "interfaces", interfaces: [one(1), one(4)] } as const;
  const other = { type: "depends", on: ["vpc/a"] } as const;
  const changes = [change("vpc/a/subnet/s", "vpc_subnet", { blocked }), change("vpc/b", "vpc", { blocked: other })];
  const told = { config_id: 9, address: "10.0.0.8/30" };
  const details = [
    { subnet_id: 2, interface_id: 1, ...told },
    // Of another subnet.
    { subnet_id: 5, interface_id: 4, ...told },
  ];
  const completed = completeInterfaces(plan(changes), details);
  expect(completed.changes.map((each) => each.blocked)).toEqual([
    { ...blocked, interfaces: [{ ...one(1), ...told }, one(4)] },
    other,
  ]);
});

it("an address comes before a range, wherever it is in the list", async () => {
  const entry = (interface_id: number, rest: { address?: string; address_range?: string }) => ({
    ...{ subnet_id: 2, interface_id, config_id: 9, address: null, address_range: null, ...rest },
  });
  const items = [
    entry(1, { address_range: "10.0.0.8/30" }),
    entry(1, { address: "10.0.0.2" }),
    entry(4, { address_range: "10.0.0.12/30" }),
    entry(6, {}),
  ];
  const list = () => Promise.resolve({ ok: true as const, items, total: items.length });
  const api = { requestCount: 0, get: () => Promise.reject(new Error("not asked")), list };
  const told = await network.detail?.({ vpc: vpcOf(1, "prod", true) as unknown as WireVpc }, api);
  expect(told?.map(({ interface_id, address }) => [interface_id, address])).toEqual([
    [1, "10.0.0.2"],
    [4, "10.0.0.12/30"],
    [6, null],
  ]);
});
