import { expect, it, onTestFinished } from "vitest";
import { allowedSeconds, createApi, loadProject, planProject } from "../../src/index.ts";
import { emulator, folder } from "../cli/run.ts";

const interfacesOf = (vpc: number) => [{ id: vpc * 10, subnet_id: vpc + 2000, config_id: vpc * 100 }];
const vpcOf = (id: number, label: string, owned: boolean) => ({
  id,
  label,
  region: "us-east",
  ...(owned ? { description: "[tenon:edge]" } : {}),
  subnets: [{ id: id + 2000, label: "web", ipv4: "10.0.1.0/24" }],
});

/** The configuration profiles that hold a subnet, which only the address list of its VPC tells. */
async function profilesOf(manifest: string, vpcs: ReturnType<typeof vpcOf>[]): Promise<[string, (number | null)[]][]> {
  const nodes = vpcs.map(({ id }) => ({ interfaces: interfacesOf(id) }));
  const { baseUrl } = await emulator({ seed: { vpcs, nodes } });
  const api = await createApi({ baseUrl, token: "emulator-token" });
  onTestFinished(() => api.close());
  const directory = await folder({ "tenon.yaml": `tenon: 1\nowner: edge\n${manifest}` });
  const { project } = await loadProject({ directory, allowedSeconds: allowedSeconds("node") });
  if (project === null) throw new Error("the manifest is wrong");
  const { desired } = project;
  const result = await planProject({ desired, api, goal: "apply", nowMilliseconds: 0 });
  if (!result.ok) throw new Error(result.failure.message);
  return result.plan.changes.flatMap(({ key, blocked }) =>
    blocked?.type === "interfaces" ? [[key, blocked.interfaces.map(({ config_id }) => config_id)]] : [],
  );
}

it("all of several networks of one label are looked at, also those whose address has their id", async () => {
  const found = await profilesOf("", [vpcOf(1, "prod", true), vpcOf(2, "prod", true)]);
  expect(Object.fromEntries(found)).toMatchObject({
    "vpc/prod/subnet/web": [100],
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
