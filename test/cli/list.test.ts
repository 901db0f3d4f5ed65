/** `tenon list addresses`: every interface of the account's VPCs, as a table, JSON and CSV, and what a service may answer instead. */

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../src/cli/program.ts";
import { parseSeed } from "../../src/emulator/index.ts";
import { here } from "./here.ts";
import { failing, oddService, refusal, respond } from "./odd-service.ts";
import { emulator, envOf, expectPlain, run } from "./run.ts";
import { stage } from "./stage.ts";

const SEED = parseSeed(`
vpcs:
  - { label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.1.0/24 }, { label: db, ipv4: 10.0.2.0/24 }] }
  - { label: prod-eu, region: eu-west, subnets: [{ label: web, ipv4: 10.0.1.0/24 }] }
  - { label: empty, region: us-east, subnets: [] }
nodes:
  - id: 21
    interfaces:
      - { id: 31, subnet: prod/web, config_id: 41, address: 10.0.1.10, nat_1_1: 203.0.113.7, address_ranges: [10.0.1.64/28] }
      - { id: 32, subnet: prod/web, active: false, config_id: 42, address: 10.0.1.9 }
  - { id: 22, interfaces: [{ id: 33, subnet: prod-eu/web, config_id: 43, address: 10.0.1.9 }] }
`);

const CSV_HEADER =
  "vpc,subnet,address,address_range,nat_1_1,active,node_id,interface_id,config_id,region,vpc_id,subnet_id";

const schema = JSON.parse(readFileSync(new URL("../../schemas/list.schema.json", import.meta.url), "utf8"));
const fitsSchema = new Ajv2020({ allowUnionTypes: true }).compile(schema);

async function list(...args: string[]) {
  const service = await emulator({ seed: SEED });
  return here(["list", "addresses", ...args], { env: envOf(service) });
}

/** A service whose address list has one entry, with these values in it. */
function withEntry(entry: object, label = "prod") {
  const page = (data: readonly object[]) => JSON.stringify({ data, page: 1, pages: 1, results: data.length });
  const vpc = {
    id: 1,
    label,
    description: "",
    region: "r",
    subnets: [{ id: 2, label: "web", ipv4: "10.0.1.0/24", nodes: [] }],
  };
  const base = {
    ...{ vpc_id: 1, subnet_id: 2, node_id: 3, interface_id: 4, config_id: 5, active: true, region: "us-east" },
    ...{ address: "10.0.1.2", address_range: null, gateway: null, nat_1_1: "", prefix: 24, subnet_mask: "" },
  };
  return oddService((incoming, response) => {
    const isAddresses = incoming.url?.startsWith("/v4/networking/vpcs/ips") === true;
    respond(response, { status: 200, body: page(isAddresses ? [{ ...base, ...entry }] : [vpc as object]) });
  });
}

describe("tenon list addresses", () => {
  it("is a table, sorted by VPC, subnet and address, of a real process that exits with 0", async () => {
    const service = await emulator({ seed: SEED });
    const { code, stdout, stderr } = await run(["list", "addresses"], { env: envOf(service) });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n")).toEqual([
      "VPC      SUBNET  ADDRESS       NAT 1:1      ACTIVE  NODE  INTERFACE  CONFIG  REGION",
      "prod     web     10.0.1.9      -            no      21    32         42      us-east",
      "prod     web     10.0.1.10     203.0.113.7  yes     21    31         41      us-east",
      "prod     web     10.0.1.64/28  -            yes     21    31         41      us-east",
      "prod-eu  web     10.0.1.9      -            yes     22    33         43      eu-west",
      "",
    ]);
    expect(service.requests.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      "GET /v4/networking/vpcs/ips",
      "GET /v4/vpcs",
    ]);
  });

  it("is JSON that fits its schema", async () => {
    const { addresses, ...rest } = JSON.parse((await list("--format", "json")).stdout);
    expect(fitsSchema({ addresses, ...rest })).toBe(true);
    expect(rest).toEqual({ format_version: 1 });
    expect(addresses).toHaveLength(4);
    expect(addresses[2]).toMatchObject({
      ...{ vpc: "prod", subnet: "web", address: null, address_range: "10.0.1.64/28", nat_1_1: null },
      ...{ active: true, node_id: 21, interface_id: 31, config_id: 41, region: "us-east" },
    });
  });

  it("is CSV with a header", async () => {
    const lines = (await list("--format", "csv", "--vpc", "prod-*")).stdout.split("\n");
    expect(lines[0]).toBe(CSV_HEADER);
    expect(lines[1]).toMatch(/^prod-eu,web,10\.0\.1\.9,,,true,22,33,43,eu-west,\d+,\d+$/);
    expect(lines.slice(2)).toEqual([""]);
  });

  it("takes a glob of labels, and says if no VPC has one", async () => {
    expect((await list("--vpc", "prod")).stdout).not.toContain("prod-eu");
    expect((await list("--vpc", "*")).stdout).toContain("prod-eu");
    expect(await list("--vpc", "empty")).toEqual({ code: 0, stdout: "No addresses.\n", stderr: "" });
    expectPlain(await list("--vpc", "prood"), 1, ["no VPC of the account fits --vpc 'prood'", "Did you mean `prod`?"]);
    const { code, stdout } = await list("--vpc", "prood", "--format", "json");
    expect([code, JSON.parse(stdout).diagnostics[0].code]).toEqual([1, "invalid-argument"]);
    expect(JSON.parse((await list("--vpc", "empty", "--format", "json")).stdout).addresses).toEqual([]);
    expect((await list("--vpc", "empty", "--format", "csv")).stdout).toBe(`${CSV_HEADER}\n`);
  });

  it("reads every page, also where one of them is refused for a while", async () => {
    const interfaces = Array.from({ length: 1_200 }, (_, index) => ({
      ...{ id: 1_000 + index, subnet: "prod/web", config_id: 5_000 + index },
      address: `10.0.${Math.floor(index / 250)}.${(index % 250) + 2}`,
    }));
    const service = await emulator({
      seed: {
        vpcs: [{ label: "prod", region: "r", subnets: [{ label: "web", ipv4: "10.0.0.0/16" }] }],
        nodes: interfaces.map((one, index) => ({ id: index + 1, interfaces: [one] })),
      },
    });
    let left = 2;
    const front = await failing(service, (request) => {
      left -= request.endsWith("/networking/vpcs/ips") ? 1 : 0;
      return left === 0 ? refusal(429, "Too many requests", { "retry-after": "0" }) : null;
    });
    const { code, stdout } = await here(["list", "addresses", "--format", "csv"], { env: envOf(front) });
    expect([code, stdout.split("\n").length]).toEqual([0, 1_200 + 2]);
    expect(new Set(stdout.split("\n")).size).toBe(1_200 + 2);
    // Three pages, and one of them twice.
    expect(front.requests.filter((one) => one.includes("/networking/vpcs/ips"))).toHaveLength(4);
  });

  it("reads the list where a service of another dialect has it", async () => {
    const service = await emulator({ seed: SEED, dialect: "linode" });
    const { code, stdout } = await here(["list", "addresses", "--dialect", "linode"], { env: envOf(service) });
    expect([code, stdout.split("\n")[1]]).toEqual([
      0,
      "prod     web     10.0.1.9      -            no      21    32         42      us-east",
    ]);
  });

  it("says which scope the token lacks", async () => {
    const service = await emulator({
      seed: { ...SEED, tokens: [{ token: "emulator-token", scopes: ["vpc:read_only"] }] },
    });
    const words = ["cannot read the list of VPC addresses", "(403)", "this needs the scope ips:read_only"];
    expectPlain(await here(["list", "addresses"], { env: envOf(service) }), 1, words);
  });

  it("says of the list of VPCs, too, that it could not be read", async () => {
    const front = await failing(await emulator({ seed: SEED }), (request) =>
      request === "GET /v4/vpcs" ? refusal(403, "Unauthorized") : null,
    );
    expectPlain(await here(["list", "addresses"], { env: envOf(front) }), 1, ["cannot read the list of VPCs", "(403)"]);
  });

  it("keeps the addresses of VPCs that share a label apart", async () => {
    const vpcs = [3, 2].map((id) => ({
      ...{ id, label: "same", region: `r${id}` },
      subnets: [{ id: id * 10, label: "web", ipv4: "10.0.1.0/24" }],
    }));
    const interfaces = [30, 20, 30, 20].map((subnet, index) => ({
      ...{ id: 100 + index, subnet_id: subnet, config_id: 1, address: `10.0.1.${20 - index}` },
    }));
    const service = await emulator({ seed: { vpcs, nodes: [{ id: 1, interfaces }] } });
    const { stdout } = await here(["list", "addresses", "--format", "csv"], { env: envOf(service) });
    const cells = stdout
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split(","));
    expect(cells.map((row) => [row[10], row[2]].join(" "))).toEqual([
      "2 10.0.1.17",
      "2 10.0.1.19",
      "3 10.0.1.18",
      "3 10.0.1.20",
    ]);
  });

  it("says of a kind that there is none, and which there are", async () => {
    const { code, stderr } = await here(["list", "adresses"], {});
    expect([code, stderr.includes("Allowed choices are vpcs, subnets, addresses, domains,")]).toEqual([1, true]);
  });
});

describe("what the service says", () => {
  const hostile = '=HYPERLINK("https://evil.example","a")\u001b[31m';

  it("is escaped in the table", async () => {
    const service = await withEntry({ address: hostile, nat_1_1: "a\nb" }, "\u202eprod");
    const { stdout } = await here(["list", "addresses"], { env: envOf(service) });
    expect(stdout.split("\n")).toHaveLength(3);
    expect(stdout).toContain("\\u{202e}prod");
    expect(stdout).toContain('"a")\\u{1b}[31m');
    expect(stdout).toContain("a\\nb");
  });

  it("is no formula in CSV, and stays in its cell", async () => {
    const cellOf = async (address: string) => {
      const service = await withEntry({ address });
      const { stdout } = await here(["list", "addresses", "--format", "csv"], { env: envOf(service) });
      const [, line = ""] = stdout.split("\n");
      return line.slice("prod,web,".length, -",,,true,3,4,5,us-east,1,2".length);
    };
    expect(await cellOf(hostile)).toBe('"\'=HYPERLINK(""https://evil.example"",""a"")\\u{1b}[31m"');
    expect(await cellOf("-1+cmd|'/c calc'!A0")).toBe(`"'-1+cmd|'/c calc'!A0"`);
    expect(await cellOf(" @SUM(1)")).toBe('"\' @SUM(1)"');
    expect(await cellOf("＝1+1")).toBe('"\'＝1+1"');
    expect(await cellOf("a;=1+1")).toBe('"a;=1+1"');
    expect(await cellOf("\t=1+1\r\n=2")).toBe("\\t=1+1\\r\\n=2");
    expect(await cellOf("10.0.1.2")).toBe("10.0.1.2");
  });

  it.each<[string, object]>([
    ["node_id", { node_id: "3" }],
    ["active", { active: "yes" }],
    ["address", { address: 10 }],
    ["interface_id", { interface_id: 2 ** 60 }],
  ])("with a %s of another type is refused as a whole", async (field, entry) => {
    const service = await withEntry(entry);
    expectPlain(await here(["list", "addresses"], { env: envOf(service) }), 1, [
      `\`${field}\` is missing or of another`,
    ]);
  });

  it("of a VPC or a subnet that is not in the list of VPCs is shown by its id", async () => {
    const service = await withEntry({ vpc_id: 9, subnet_id: 8, config_id: null });
    const { stdout } = await here(["list", "addresses"], { env: envOf(service) });
    expect(stdout.split("\n")[1]).toBe("#9   #8      10.0.1.2  -        yes     3     4          -       us-east");
    const json = (await here(["list", "addresses", "--format", "json"], { env: envOf(service) })).stdout;
    expect(fitsSchema(JSON.parse(json))).toBe(true);
    expect(JSON.parse(json).addresses[0]).toMatchObject({ vpc: null, subnet: null, vpc_id: 9, subnet_id: 8 });
  });
});

it("a signal that comes with the last answer is no end in order", async () => {
  const env = envOf(await emulator());
  for (const name of ["addresses", "vpcs"]) {
    const { terminal } = stage(env, { watch: (_, raise) => raise() });
    const code = await runCommand(terminal, ["list", name, "--no-project", "--base-url", env["TENON_BASE_URL"] ?? ""]);
    expect([name, code]).toEqual([name, 130]);
  }
});
