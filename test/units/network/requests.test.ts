/** What planning a large VPC costs in requests: its list alone, and the address list where interfaces hold something. */

import { expect, test } from "vitest";
import { type Seed, startEmulator } from "../../../src/emulator/index.ts";
import { createReadApi, type Plan, planProject } from "../../../src/index.ts";
import { loadText } from "../../manifest/support.ts";

const SUBNETS = 100;
const INTERFACES = 1_000;

/** A VPC with ten interfaces in each of its hundred subnets, each of a node of its own. */
const seed: Seed = {
  vpcs: [
    {
      label: "large",
      region: "us-east",
      subnets: Array.from({ length: SUBNETS }, (_, index) => ({ label: `s${index}`, ipv4: `10.0.${index}.0/24` })),
    },
  ],
  nodes: Array.from({ length: INTERFACES }, (_, index) => ({
    id: 10_000 + index,
    interfaces: [
      {
        ...{ id: 20_000 + index, subnet: `large/s${index % SUBNETS}`, config_id: 30_000 + index },
        address: `10.0.${index % SUBNETS}.${Math.floor(index / SUBNETS) + 10}`,
      },
    ],
  })),
};

/** Plans the first so many subnets. @returns the plan, and what was asked of the service */
async function planned(subnets: number, more = ""): Promise<{ plan: Plan; requests: string[] }> {
  const entries = Array.from(
    { length: subnets },
    (_, index) => `      - { label: s${index}, ipv4: "\${cidrsubnet('10.0.0.0/16', 8, ${index})}" }\n`,
  );
  const loaded = await loadText(
    `vpcs:\n  - label: large\n    region: us-east\n    subnets:\n${entries.join("")}${more}`,
  );
  const emulator = await startEmulator({ seed });
  const api = await createReadApi({ baseUrl: emulator.baseUrl, token: "emulator-token" });
  try {
    const { project } = loaded;
    if (project === null) throw new Error(JSON.stringify(loaded.diagnostics));
    const result = await planProject({ desired: project.desired, api, goal: "apply", nowMilliseconds: 0 });
    if (!result.ok) throw new Error(result.what);
    const requests = emulator.requests.map(({ method, path, query }) => `${method} ${path} ${page(query)}`);
    return { plan: result.plan, requests };
  } finally {
    await api.close();
    await emulator.close();
  }
}

function page(query: unknown): string {
  return (
    /(?:^|&|\?|"page":"?)(?:page=)?(\d+)/.exec(typeof query === "string" ? query : JSON.stringify(query))?.[1] ?? "1"
  );
}

test("a hundred subnets with a thousand interfaces are planned by one request, whether or not something changes", async () => {
  const same = await planned(SUBNETS);
  expect(same.plan.changes.every(({ action }) => action === "no-op")).toBe(true);
  expect(same.requests).toHaveLength(1);
  const added = await planned(SUBNETS, "      - { label: new, ipv4: 10.0.100.0/24 }\n");
  expect(added.plan.freeSpace[0]?.next).toEqual([
    { prefix: 24, ranges: ["10.0.101.0/24", "10.0.102.0/24", "10.0.103.0/24"] },
  ]);
  expect(added.requests).toHaveLength(1);
});

test("where interfaces hold half of them, the address list is read once, page by page", async () => {
  const { plan, requests } = await planned(SUBNETS / 2);
  const held = plan.changes.flatMap(({ blocked }) => (blocked?.type === "interfaces" ? [blocked.interfaces] : []));
  expect(held).toHaveLength(SUBNETS / 2);
  expect(held.flat()).toHaveLength(INTERFACES / 2);
  expect(held.flat().every(({ address, config_id }) => address !== null && config_id !== null)).toBe(true);
  const lists = requests.filter((one) => one.includes("/ips"));
  // A thousand addresses at five hundred a page.
  expect(lists).toHaveLength(2);
  expect(new Set(lists).size).toBe(2);
  expect(requests).toHaveLength(1 + 2);
});
