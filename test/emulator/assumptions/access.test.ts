/** Choices about credentials, scopes and grants. */

import { expect } from "vitest";
import type { Seed } from "../../../src/emulator/index.ts";
import { assumption } from "../../support/emulated.ts";
import { startTested } from "../../support/emulator.ts";

const SEED: Seed = {
  tokens: [
    { token: "emulator-token" },
    { token: "domains", scopes: ["domains:read_only"] },
    { token: "vpc-reader", scopes: ["vpc:read_only"] },
    { token: "area", scopes: ["vpc:*"] },
    { token: "restricted", grants: { add_vpc: true } },
  ],
  vpcs: [{ id: 7, label: "prod", region: "us-east" }],
  domains: [{ id: 5, domain: "a.example" }],
  images: [
    { id: "node/debian", label: "Debian" },
    { id: "private/1", label: "mine" },
  ],
};

const as = (token: string) => ({ authorization: token === "" ? "" : `Bearer ${token}` });

assumption(
  "An unknown path is 404 and a known path with another method 405 before credentials are looked at; then 401, then 403.",
  async () => {
    const { send } = await startTested({ seed: SEED });
    const status = async (method: string, path: string, token: string): Promise<number> =>
      (await send(method, path, undefined, as(token))).status;
    expect(await status("GET", "/nothing", "")).toBe(404);
    expect(await status("DELETE", "/vpcs", "")).toBe(405);
    expect(await status("GET", "/vpcs", "")).toBe(401);
    expect(await status("GET", "/vpcs/999", "domains")).toBe(403);
  },
);

assumption("VPCs and subnets are read with `vpc:read_only`.", async () => {
  const { send } = await startTested({ seed: SEED });
  for (const path of ["/vpcs", "/vpcs/7", "/vpcs/7/subnets"]) {
    expect((await send("GET", path, undefined, as("vpc-reader"))).status).toBe(200);
    expect((await send("GET", path, undefined, as("domains"))).status).toBe(403);
  }
});

assumption(
  "A `read_write` scope holds `read_only`; `*` and `area:*` hold everything, everything of the area.",
  async () => {
    const { send } = await startTested({ seed: SEED });
    expect((await send("PUT", "/vpcs/7", { description: "d" }, as("area"))).status).toBe(200);
    expect((await send("GET", "/domains", undefined, as("area"))).status).toBe(403);
    expect((await send("GET", "/domains")).status).toBe(200);
  },
);

assumption(
  "A restricted user reads everything that the scopes allow; what they create, they may change. Domains have no grants.",
  async () => {
    const { send } = await startTested({ seed: SEED });
    const mine = as("restricted");
    expect((await send("GET", "/vpcs/7", undefined, mine)).status).toBe(200);
    expect((await send("PUT", "/vpcs/7", { description: "d" }, mine)).status).toBe(403);
    const { id } = (await send("POST", "/vpcs", { label: "own", region: "us-east" }, mine)).body;
    expect((await send("PUT", `/vpcs/${id}`, { description: "d" }, mine)).status).toBe(200);
    expect((await send("PUT", "/domains/5", { group: "g" }, mine)).status).toBe(200);
  },
);

assumption(
  "A private image's id without credentials is 401, whether or not the image exists; an unknown public one 404.",
  async () => {
    const { send } = await startTested({ seed: SEED });
    const status = async (id: string): Promise<number> =>
      (await send("GET", `/images/${id}`, undefined, as(""))).status;
    expect(await status("private/1")).toBe(401);
    expect(await status("private/999")).toBe(401);
    expect(await status("node/plan9")).toBe(404);
  },
);

assumption("An object of another account is 404, as one that does not exist.", async () => {
  const { send } = await startTested({
    seed: { ...SEED, other_accounts: { rival: { tokens: [{ token: "rival" }] } } },
  });
  for (const path of ["/vpcs/7", "/domains/5", "/domains/5/records", "/images/private/1"]) {
    const other = await send("GET", path, undefined, as("rival"));
    expect([other.status, other.body]).toEqual([404, { errors: [{ reason: "Not found" }] }]);
  }
  expect((await send("GET", "/vpcs", undefined, as("rival"))).body.results).toBe(0);
});
