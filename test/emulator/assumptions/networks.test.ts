/** Choices about VPCs, subnets, addresses and events. */

import { expect } from "vitest";
import { assumption } from "../../support/emulated.ts";
import { startTested, type Tested } from "../../support/emulator.ts";

function start(uniqueLabels = false): Promise<Tested> {
  return startTested({
    uniqueLabels,
    seed: {
      vpcs: [
        { id: 7, label: "prod", region: "us-east", subnets: [{ id: 11, label: "web", ipv4: "10.0.1.0/24" }] },
        { id: 6, label: "test", region: "us-east", subnets: [{ id: 12, label: "web", ipv4: "10.0.1.0/24" }] },
      ],
    },
  });
}

const attach = ({ control }: Tested, subnet_id: number, interface_id: number) =>
  control("POST", "/attach", { subnet_id, interface_id, node_id: 21 });

assumption(
  "A `region` or `subnets` of a VPC, an `ipv4` of a subnet, or a `type` of a record that an update would change is 400.",
  async () => {
    const { send } = await start();
    expect((await send("PUT", "/vpcs/7", { region: "us-east" })).status).toBe(200);
    expect((await send("PUT", "/vpcs/7", { region: "eu-west" })).status).toBe(400);
    expect((await send("PUT", "/vpcs/7", { subnets: [] })).status).toBe(400);
    expect((await send("PUT", "/vpcs/7/subnets/11", { ipv4: "10.0.1.0/24" })).status).toBe(200);
    expect((await send("PUT", "/vpcs/7/subnets/11", { ipv4: "10.0.2.0/24" })).status).toBe(400);
    const body = { domain: "a.example", type: "master", soa_email: "a@b.example" };
    const records = `/domains/${(await send("POST", "/domains", body)).body.id}/records`;
    const { id } = (await send("POST", records, { type: "TXT", target: "t" })).body;
    expect((await send("PUT", `${records}/${id}`, { type: "TXT" })).status).toBe(200);
    expect((await send("PUT", `${records}/${id}`, { type: "A" })).status).toBe(400);
  },
);

assumption("Regions are any text like `us-east`: two letters, a dash, then letters, digits and dashes.", async () => {
  const { send } = await start();
  const status = async (region: string) => (await send("POST", "/vpcs", { label: "new", region })).status;
  expect(await Promise.all(["xx-new-7", "us-east"].map(status))).toEqual([200, 200]);
  expect(await Promise.all(["useast", "us_east", "US-EAST", "u-east"].map(status))).toEqual([400, 400, 400, 400]);
});

assumption("Subnets of one VPC may have equal labels, unless labels are to be unique.", async () => {
  const body = { label: "web", ipv4: "10.0.2.0/24" };
  expect((await (await start()).send("POST", "/vpcs/7/subnets", body)).status).toBe(200);
  expect((await (await start(true)).send("POST", "/vpcs/7/subnets", body)).status).toBe(400);
});

assumption("Overlapping subnets are refused with `Subnet overlaps with another subnet of this VPC`.", async () => {
  const { send } = await start();
  const { status, body } = await send("POST", "/vpcs/7/subnets", { label: "b", ipv4: "10.0.0.0/16" });
  expect(status).toBe(400);
  expect(body.errors).toEqual([{ field: "ipv4", reason: "Subnet overlaps with another subnet of this VPC" }]);
});

assumption("A range outside RFC 1918 is refused with `Must be within an RFC 1918 range`.", async () => {
  const { send } = await start();
  const { body } = await send("POST", "/vpcs/7/subnets", { label: "b", ipv4: "192.0.2.0/24" });
  expect(body.errors).toEqual([{ field: "ipv4", reason: "Must be within an RFC 1918 range" }]);
});

assumption("The error of a delete with interfaces attached is about no field.", async () => {
  const tested = await start();
  await attach(tested, 11, 31);
  for (const path of ["/vpcs/7", "/vpcs/7/subnets/11"]) {
    const { status, body } = await tested.send("DELETE", path);
    expect(status).toBe(400);
    expect(body.errors).toEqual([{ reason: expect.stringContaining("interfaces attached") }]);
  }
});

assumption("The order of an address list is by VPC, subnet, then attachment.", async () => {
  const tested = await start();
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

assumption("Events are kept for VPCs and subnets only, the ones whose names are documented.", async () => {
  const tested = await start();
  await tested.send("POST", "/domains", { domain: "a.example", type: "master", soa_email: "a@b.example" });
  await tested.send("PUT", "/vpcs/7", { description: "d" });
  const { data } = (await tested.control("GET", "/events")).body;
  expect(data.map((event: { action: string }) => event.action)).toEqual(["vpc_update"]);
});
