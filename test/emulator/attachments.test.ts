/** Which ids and addresses an interface can be attached with. */

import { expect, test } from "vitest";
import { startTested, type Tested } from "../support/emulator.ts";

/** The greatest id that a seed may name. */
const GREATEST = 1_000_000_000;

function start(): Promise<Tested> {
  const subnets = [{ id: 11, label: "web", ipv4: "10.0.1.0/29" }];
  return startTested({ seed: { vpcs: [{ id: 7, label: "prod", region: "us-east", subnets }] } });
}

test("an interface gets no address that is the network's, the gateway's or for all", async () => {
  const { send, control, emulator } = await start();
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
  const { send, control } = await start();
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
