/** VPCs and subnets: what each operation does, what API.md forbids, and what was chosen where it is silent. */

import { expect, test } from "vitest";
import { assumption, operation, rule } from "../support/emulated.ts";
import { startTested, type Tested } from "../support/emulator.ts";
import { expectRefused } from "./refused.ts";

const DATE_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
const VPC = { label: "new", region: "us-east" };
const SUBNET = { label: "new", ipv4: "10.0.3.0/24" };
const OVERLAP = "Subnet overlaps with another subnet of this VPC";

/** VPC 7 has the subnets 11 and 13; VPC 8 has subnet 12, which a node is in. */
function start(options: Parameters<typeof startTested>[0] = {}): Promise<Tested> {
  const web = { label: "web", ipv4: "10.0.1.0/24" };
  const subnets = [
    { id: 11, ...web },
    { id: 13, label: "db", ipv4: "10.0.2.0/24" },
  ];
  return startTested({
    seed: {
      vpcs: [
        { id: 7, label: "prod", region: "us-east", subnets },
        { id: 8, label: "test", region: "eu-west", subnets: [{ id: 12, ...web }] },
      ],
      nodes: [{ id: 21, interfaces: [{ id: 31, subnet_id: 12, active: false, config_id: 41 }] }],
    },
    ...options,
  });
}

operation("VPCs List", () => {
  test("lists each VPC as it is viewed, with its subnets and their nodes", async () => {
    const { send } = await start();
    const { body } = await send("GET", "/vpcs");
    const views = [(await send("GET", "/vpcs/7")).body, (await send("GET", "/vpcs/8")).body];
    expect(body).toEqual({ data: views, page: 1, pages: 1, results: 2 });
    expect(body.data[1].subnets[0].nodes).toEqual([{ id: 21, interfaces: [{ id: 31, active: false }] }]);
  });
});

operation("VPC Create", () => {
  test("makes the VPC and its subnets at once", async () => {
    const { send } = await start();
    const subnets = [
      { label: "a", ipv4: "10.0.0.0/24" },
      { label: "b", ipv4: "10.0.1.0/24" },
    ];
    const created = await send("POST", "/vpcs", { ...VPC, description: "d", subnets });
    expect(created.status).toBe(200);
    expect(created.body).toEqual({
      id: expect.any(Number),
      ...VPC,
      description: "d",
      subnets: subnets.map((subnet) => ({
        ...subnet,
        id: expect.any(Number),
        nodes: [],
        created: DATE_TIME,
        updated: DATE_TIME,
      })),
      created: DATE_TIME,
      updated: created.body.created,
    });
    expect((await send("GET", `/vpcs/${created.body.id}`)).body).toEqual(created.body);
    expect((await send("POST", "/vpcs", VPC)).body).toMatchObject({ description: "", subnets: [] });
  });
});

operation("VPC View", () => {
  test("shows one VPC", async () => {
    const { send } = await start();
    expect((await send("GET", "/vpcs/7")).body).toMatchObject({ id: 7, label: "prod", description: "" });
    expect((await send("GET", "/vpcs/9")).status).toBe(404);
  });
});

operation("VPC Update", () => {
  test("changes label and description, and answers with the whole VPC", async () => {
    const { send } = await start();
    const before = (await send("GET", "/vpcs/7")).body;
    const { body } = await send("PUT", "/vpcs/7", { label: "live", description: "now" });
    expect(body).toEqual({ ...before, label: "live", description: "now", updated: body.updated });
    expect((await send("GET", "/vpcs/7")).body).toEqual(body);
    expect((await send("PUT", "/vpcs/7", { description: null })).body.description).toBe("");
  });
});

operation("VPC Delete", () => {
  test("takes the subnets along, and gives their ids to nobody", async () => {
    const { send } = await start();
    const { id } = (await send("POST", "/vpcs", VPC)).body;
    for (const path of [`/vpcs/${id}`, "/vpcs/7"]) {
      expect(await send("DELETE", path)).toMatchObject({ status: 200, body: {} });
      expect((await send("GET", path)).status).toBe(404);
    }
    expect((await send("GET", "/vpcs/7/subnets/11")).status).toBe(404);
    expect((await send("GET", "/vpcs")).body).toMatchObject({ results: 1, data: [{ id: 8 }] });
    expect((await send("POST", "/vpcs", VPC)).body.id).toBeGreaterThan(id);
  });
});

operation("VPC Subnets List", () => {
  test("lists the subnets of one VPC", async () => {
    const { send } = await start();
    expect((await send("GET", "/vpcs/7/subnets")).body).toMatchObject({ results: 2, data: [{ id: 11 }, { id: 13 }] });
    const { body } = await send("GET", "/vpcs/8/subnets");
    expect(body).toMatchObject({ results: 1, data: [{ id: 12, label: "web", nodes: [{ id: 21 }] }] });
  });
});

operation("VPC Subnet Create", () => {
  test("adds one subnet", async () => {
    const { send } = await start();
    const { body } = await send("POST", "/vpcs/7/subnets", { label: "least", ipv4: "10.0.3.0/29" });
    expect(body).toMatchObject({ label: "least", ipv4: "10.0.3.0/29", nodes: [], created: DATE_TIME });
    expect((await send("GET", `/vpcs/7/subnets/${body.id}`)).body).toEqual(body);
    expect((await send("POST", "/vpcs/999/subnets", SUBNET)).status).toBe(404);
  });
});

operation("VPC Subnet View", () => {
  test("shows a subnet of its own VPC only, which alone can change it", async () => {
    const { send } = await start();
    expect((await send("GET", "/vpcs/7/subnets/11")).body).toMatchObject({ id: 11, ipv4: "10.0.1.0/24" });
    for (const method of ["GET", "PUT", "DELETE"]) {
      expect((await send(method, "/vpcs/8/subnets/11")).status).toBe(404);
    }
  });
});

operation("VPC Subnet Update", () => {
  test("changes the label", async () => {
    const { send } = await start();
    const before = (await send("GET", "/vpcs/7/subnets/11")).body;
    const { body } = await send("PUT", "/vpcs/7/subnets/11", { label: "front" });
    expect(body).toEqual({ ...before, label: "front", updated: body.updated });
    expect((await send("GET", "/vpcs/7")).body.subnets).toMatchObject([{ id: 11, label: "front" }, { id: 13 }]);
  });
});

operation("VPC Subnet Delete", () => {
  test("removes one subnet", async () => {
    const { send } = await start();
    expect(await send("DELETE", "/vpcs/7/subnets/11")).toMatchObject({ status: 200, body: {} });
    expect((await send("GET", "/vpcs/7")).body.subnets).toMatchObject([{ id: 13 }]);
    expect((await send("GET", "/vpcs/7/subnets")).body.results).toBe(1);
  });
});

const create = (change: object, field: string, reason: string) => ({
  ...{ method: "POST", path: "/vpcs", body: { ...VPC, ...change } },
  ...{ field, reason },
});
const addSubnet = (change: object, field: string, reason: string) => ({
  ...{ method: "POST", path: "/vpcs/7/subnets", body: { ...SUBNET, ...change } },
  ...{ field, reason },
});

const LABEL_REASON = "Label must include only ASCII letters, numbers, and dashes";

rule(["VPC: label", "VPC Subnet: label", "Limits: VPC and subnet label"], async () => {
  const tested = await start();
  const bad: [unknown, string][] = [
    [null, "label is required"],
    ["", "Length must be 1-64 characters"],
    ["x".repeat(65), "Length must be 1-64 characters"],
    [12, "Must be a string"],
    ...["a b", "a_b", "é", "a--b", "a\n"].map((label): [string, string] => [label, LABEL_REASON]),
  ];
  await expectRefused(tested, create({ label: undefined }, "label", "label is required"));
  await expectRefused(tested, addSubnet({ label: undefined }, "label", "label is required"));
  for (const [label, reason] of bad) {
    await expectRefused(tested, create({ label }, "label", reason));
    await expectRefused(tested, addSubnet({ label }, "label", reason));
    for (const path of ["/vpcs/7", "/vpcs/7/subnets/11"]) {
      await expectRefused(tested, { method: "PUT", path, body: { label }, field: "label", reason });
    }
  }
});

rule(["VPC: description", "Limits: VPC description"], async () => {
  const tested = await start();
  const refusal = { field: "description", reason: "Length must be at most 255 characters" };
  for (const description of ["x".repeat(256), "é".repeat(256)]) {
    await expectRefused(tested, create({ description }, refusal.field, refusal.reason));
    await expectRefused(tested, { method: "PUT", path: "/vpcs/7", body: { description }, ...refusal });
  }
});

rule("VPC: region", async () => {
  const tested = await start();
  for (const region of [undefined, null])
    await expectRefused(tested, create({ region }, "region", "region is required"));
});

rule("VPC: subnets", async () => {
  const tested = await start();
  for (const subnets of [{}, "10.0.0.0/24"]) {
    await expectRefused(tested, create({ subnets }, "subnets", "Must be an array"));
  }
  for (const [subnet, field, reason] of [
    ["x", "", "Must be an object"],
    [{ ipv4: "10.0.0.0/24" }, ".label", "label is required"],
    [{ label: "a" }, ".ipv4", "ipv4 is required"],
  ] as const) {
    await expectRefused(tested, create({ subnets: [subnet] }, `subnets[0]${field}`, reason));
  }
});

test("everything wrong with a VPC and its subnets is said at once", async () => {
  const { send } = await startTested();
  const subnets = [
    { label: "a", ipv4: "x" },
    { label: "--", ipv4: "8.8.8.0/24" },
  ];
  const { body } = await send("POST", "/vpcs", { subnets });
  expect(body.errors.map(({ field }: { field: string }) => field)).toEqual([
    ...["label", "region", "subnets[0].ipv4", "subnets[1].label", "subnets[1].ipv4"],
  ]);
});

rule("VPC Subnet: ipv4", async () => {
  const tested = await start();
  await expectRefused(tested, addSubnet({ ipv4: undefined }, "ipv4", "ipv4 is required"));
  for (const ipv4 of [
    ...["10.0.0.0", "10.0.3.1/24", "010.0.3.0/24", "10.0.3.0/024", "10.3/16", "fd00::/64", "10.0.3.0/33"],
    ...[" 10.0.3.0/24", "text"],
  ]) {
    await expectRefused(tested, addSubnet({ ipv4 }, "ipv4", "Must be an IPv4 network"));
  }
  for (const ipv4 of ["10.0.3.0/30", "0.0.0.0/0"]) {
    await expectRefused(tested, addSubnet({ ipv4 }, "ipv4", "Prefix length must be between 1 and 29"));
  }
});

assumption("A range outside RFC 1918 is refused with `Must be within an RFC 1918 range`.", async () => {
  const tested = await start();
  for (const ipv4 of ["0.0.0.0/1", "8.8.8.0/24", "192.0.2.0/24", "172.32.0.0/16", "192.168.0.0/15"]) {
    await expectRefused(tested, addSubnet({ ipv4 }, "ipv4", "Must be within an RFC 1918 range"));
  }
});

assumption("Overlapping subnets are refused with `Subnet overlaps with another subnet of this VPC`.", async () => {
  const tested = await start();
  for (const ipv4 of ["10.0.1.0/24", "10.0.0.0/8", "10.0.0.0/16", "10.0.1.128/29"]) {
    await expectRefused(tested, addSubnet({ ipv4 }, "ipv4", OVERLAP));
  }
  const wide = { label: "a", ipv4: "10.0.0.0/16" };
  const subnets = [wide, { label: "b", ipv4: "10.0.1.0/24" }];
  await expectRefused(tested, create({ subnets }, "subnets[1].ipv4", OVERLAP));
  // Those of another VPC are no neighbours.
  expect((await tested.send("POST", "/vpcs", { ...VPC, subnets: [wide] })).status).toBe(200);
});

rule(["VPCs: rule 1", "VPCs: rule 2", "Errors: rule 1"], async () => {
  const tested = await start();
  const { send, control, emulator } = tested;
  const attachment = { subnet_id: 11, node_id: 22, config_id: 42, active: true };
  await control("POST", "/attach", { ...attachment, interface_id: 32 });
  await control("POST", "/attach", { ...attachment, interface_id: 33, address: null, active: false });
  for (const path of ["/vpcs/7", "/vpcs/7/subnets/11"]) {
    await expectRefused(tested, { method: "DELETE", path, field: null });
  }
  expect((await control("POST", "/detach", { interface_id: 32 })).body).toEqual({});
  await expectRefused(tested, { method: "DELETE", path: "/vpcs/7", field: null });
  await emulator.detach(33);
  expect((await send("DELETE", "/vpcs/7")).status).toBe(200);
});

assumption("The error of a delete with interfaces attached is about no field.", async () => {
  const tested = await start();
  for (const [path, what] of [
    ["/vpcs/8", "a VPC whose subnets have"],
    ["/vpcs/8/subnets/12", "a subnet that has"],
  ]) {
    const reason = `Cannot delete ${what} interfaces attached`;
    await expectRefused(tested, { method: "DELETE", path: path ?? "", field: null, reason });
  }
});

rule("VPCs: rule 3", async () => {
  const tested = await start();
  const refusal = { field: "subnets", reason: "Subnets are changed one by one" };
  for (const subnets of [[], [{ id: 11, label: "b" }]]) {
    await expectRefused(tested, { method: "PUT", path: "/vpcs/7", body: { subnets }, ...refusal });
  }
});

rule("VPCs: rule 4", async () => {
  const tested = await start();
  for (const id of ["prod", "7.0", "07", "+7", "%37x", "0x7", "-7"]) {
    for (const path of [`/vpcs/${id}`, `/vpcs/7/subnets/${id}`]) {
      await expectRefused(tested, { method: "DELETE", path, field: null, status: 404 });
    }
  }
});

test("what is just within the limits of a VPC is taken", async () => {
  const { send } = await start();
  const body = { ...VPC, label: "x".repeat(64), description: "é".repeat(255) };
  expect((await send("POST", "/vpcs", body)).body).toMatchObject(body);
  expect((await send("POST", "/vpcs/7/subnets", { ...SUBNET, label: "x".repeat(64) })).status).toBe(200);
});

assumption(
  "A `region` or `subnets` of a VPC, an `ipv4` of a subnet, or a `type` of a record that an update would change is 400.",
  async () => {
    const tested = await start();
    const domain = { domain: "a.example", type: "master", soa_email: "a@b.example" };
    const records = `/domains/${(await tested.send("POST", "/domains", domain)).body.id}/records`;
    const { id } = (await tested.send("POST", records, { type: "TXT", target: "t" })).body;
    for (const [path, field, same, other] of [
      ["/vpcs/7", "region", "us-east", "eu-west"],
      ["/vpcs/7/subnets/11", "ipv4", "10.0.1.0/24", "10.0.9.0/24"],
      [`${records}/${id}`, "type", "TXT", "A"],
    ] as const) {
      const reason = `${field} cannot be changed`;
      expect((await tested.send("PUT", path, { [field]: same })).status).toBe(200);
      await expectRefused(tested, { method: "PUT", path, body: { [field]: other }, field, reason });
    }
    expect((await tested.send("PUT", "/vpcs/7", { subnets: [] })).status).toBe(400);
  },
);

assumption("Regions are any text like `us-east`: two letters, a dash, then letters, digits and dashes.", async () => {
  const tested = await start();
  for (const region of ["", "useast", "us_east", "US-EAST", "US East", "u-east"]) {
    await expectRefused(tested, create({ region }, "region", "region is not valid"));
  }
  for (const region of ["xx-new-7", "us-east"]) {
    expect((await tested.send("POST", "/vpcs", { ...VPC, region })).body.region).toBe(region);
  }
});

test("labels of VPCs may repeat, unless the emulator is told that they may not", async () => {
  const free = await start();
  expect((await free.send("POST", "/vpcs", { ...VPC, label: "prod" })).status).toBe(200);
  const tested = await start({ uniqueLabels: true });
  const refusal = { field: "label", reason: "Label must be unique among your VPCs" };
  await expectRefused(tested, create({ label: "prod" }, refusal.field, refusal.reason));
  await expectRefused(tested, { method: "PUT", path: "/vpcs/8", body: { label: "prod" }, ...refusal });
  expect((await tested.send("PUT", "/vpcs/7", { label: "prod" })).status).toBe(200);
});

assumption("Subnets of one VPC may have equal labels, unless labels are to be unique.", async () => {
  const free = await start();
  expect((await free.send("PUT", "/vpcs/7/subnets/11", { label: "db" })).status).toBe(200);
  expect((await free.send("POST", "/vpcs/7/subnets", { ...SUBNET, label: "db" })).status).toBe(200);
  const tested = await start({ uniqueLabels: true });
  const refusal = { field: "label", reason: "Label must be unique among the subnets of this VPC" };
  await expectRefused(tested, { method: "PUT", path: "/vpcs/7/subnets/11", body: { label: "db" }, ...refusal });
  await expectRefused(tested, addSubnet({ label: "db" }, refusal.field, refusal.reason));
});

assumption("Events are kept for VPCs and subnets only, the ones whose names are documented.", async () => {
  const { send, control } = await startTested();
  const subnets = [
    { label: "a", ipv4: "10.0.0.0/24" },
    { label: "b", ipv4: "10.0.1.0/24" },
  ];
  const { body: vpc } = await send("POST", "/vpcs", { ...VPC, subnets });
  const [first] = vpc.subnets;
  await send("PUT", `/vpcs/${vpc.id}`, { label: "x" });
  await send("PUT", `/vpcs/${vpc.id}/subnets/${first.id}`, { label: "c" });
  await send("POST", "/domains", { domain: "a.example", type: "master", soa_email: "a@b.example" });
  await send("DELETE", `/vpcs/${vpc.id}/subnets/${first.id}`);
  await send("POST", `/vpcs/${vpc.id}/subnets`, SUBNET);
  await send("POST", "/vpcs", { label: "" });
  await send("DELETE", `/vpcs/${vpc.id}`);
  const { data } = (await control("GET", "/events")).body;
  expect(data.map((event: { action: string }) => event.action)).toEqual([
    ..."vpc_create subnet_create subnet_create vpc_update subnet_update subnet_delete subnet_create".split(" "),
    ..."subnet_delete subnet_delete vpc_delete".split(" "),
  ]);
});
