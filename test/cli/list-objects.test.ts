/** `tenon list` of VPCs, subnets, domains, records and images: whose they are, what narrows the list, and what it costs. */

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parseSeed, type Seed } from "../../src/emulator/index.ts";
import { here } from "./here.ts";
import { failing, refusal } from "./odd-service.ts";
import { emulator, envOf, expectPlain, folder, run } from "./run.ts";

const SEED = parseSeed(`
vpcs:
  - label: prod
    region: us-east
    description: "Main [tenon:edge]"
    subnets: [{ label: web, ipv4: 10.0.1.0/24 }, { label: db, ipv4: 10.0.2.0/24 }]
  - { label: twin, region: us-east, subnets: [] }
  - { label: twin, region: us-west, subnets: [] }
  - { label: shop, region: us-east, description: "[tenon:shop]", subnets: [] }
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    tags: ["tenon:edge"]
    records:
      - { type: A, name: www, target: 192.0.2.1 }
      - { type: MX, target: mx.example.net, priority: 10 }
  - { domain: xn--bcher-kva.example, type: master, soa_email: a@example.com, records: [{ type: A, target: 192.0.2.7 }] }
images:
  - { label: golden, description: "[tenon:edge]" }
nodes:
  - { id: 21, interfaces: [{ id: 31, subnet: prod/web, address: 10.0.1.9 }] }
`);

const MANIFEST = `tenon: 1
owner: edge
vpcs:
  - { label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.1.0/24 }] }
  - { label: late, region: us-east }
domains:
  - { domain: example.com, type: master, soa_email: a@example.com, records: [{ type: A, name: www, target: 192.0.2.1, ttl_sec: 300 }] }
`;

const schema = JSON.parse(readFileSync(new URL("../../schemas/list.schema.json", import.meta.url), "utf8"));
const fitsSchema = new Ajv2020({ allowUnionTypes: true }).compile(schema);

/** Beside a project that declares a part of the account. */
async function listing(...args: string[]) {
  const service = await emulator({ seed: SEED });
  return here(["list", ...args], { env: envOf(service), cwd: await folder({ "tenon.yaml": MANIFEST }) });
}

function linesOf({ stdout }: { readonly stdout: string }): string[] {
  return stdout.split("\n").map((line) => line.replace(/ {2,}/g, "  "));
}

describe("tenon list", () => {
  it("of VPCs is a table of a real process that says whose each is, with its id", async () => {
    const service = await emulator({ seed: SEED });
    const cwd = await folder({ "tenon.yaml": MANIFEST });
    const { code, stdout, stderr } = await run(["list", "vpcs"], { env: envOf(service), cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n")).toEqual([
      "LABEL  REGION   SUBNETS  INTERFACES  WHOSE       ID",
      "prod   us-east  2        1           here        101",
      "shop   us-east  0        0           owner shop  104",
      "twin   us-east  0        0           nobody      102",
      "twin   us-west  0        0           nobody      103",
      "",
    ]);
    expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /v4/vpcs"]);
  });

  it("says of subnets and records, too, which of them are declared", async () => {
    expect(linesOf(await listing("subnets"))).toEqual([
      "VPC  LABEL  IPV4  INTERFACES  WHOSE  ID",
      "prod  db  10.0.2.0/24  0  owner edge  2002",
      "prod  web  10.0.1.0/24  1  here  2001",
      "",
    ]);
    expect(linesOf(await listing("records"))).toEqual([
      "DOMAIN  NAME  TYPE  TTL  WHOSE  ID  TARGET",
      "example.com  @  MX  0  owner edge  400002  10 mx.example.net",
      "example.com  www  A  0  here  400001  192.0.2.1",
      "xn--bcher-kva.example  @  A  0  nobody  400003  192.0.2.7",
      "",
    ]);
  });

  it("without a kind counts what there is, and whose", async () => {
    expect(linesOf(await listing())).toEqual([
      "KIND  COUNT  HERE  OWNED  NOBODY",
      "vpcs  4  1  1  2",
      "subnets  2  1  1  0",
      "domains  2  1  0  1",
      "images  1  0  1  0",
      "",
      "tenon list KIND lists them; and records, addresses, tickets.",
      "",
    ]);
    expect(JSON.parse((await listing("--no-project", "--format", "json")).stdout).kinds[0]).toEqual({
      ...{ kind: "vpcs", count: 4, here: null, owned: 2, nobody: 2 },
    });
  });

  it.each([["vpcs"], ["subnets"], ["domains"], ["records"], ["images"], ["tickets"], [""]])(
    "%s as JSON fits the schema, with a project and without",
    async (kind) => {
      const args = [...(kind === "" ? [] : [kind]), "--format", "json"];
      for (const more of [[], ["--no-project"]]) {
        const document = JSON.parse((await listing(...args, ...more)).stdout);
        expect(fitsSchema(document), JSON.stringify(fitsSchema.errors)).toBe(true);
        expect(Object.keys(document)).toEqual(["format_version", kind === "" ? "kinds" : kind]);
      }
    },
  );

  it("gives what has one label addresses of its own, and what is declared that of its entry", async () => {
    const { vpcs } = JSON.parse((await listing("vpcs", "--format", "json")).stdout);
    expect(vpcs.map((one: { address: string }) => one.address)).toEqual([
      ...["vpc/prod", "vpc/shop", "vpc/twin", "vpc/twin:103"],
    ]);
    expect(vpcs[0]).toMatchObject({ declared: true, owner: "edge", whose: "here", description: "Main" });
  });

  it("without a project knows owners alone", async () => {
    expect(linesOf(await listing("domains", "--no-project"))).toEqual([
      "DOMAIN  TYPE  STATUS  WHOSE  ID",
      "example.com  master  active  owner edge  30001",
      "xn--bcher-kva.example (bücher.example)  master  active  nobody  30002",
      "",
    ]);
    const service = await emulator({ seed: SEED });
    const nowhere = await here(["list", "domains"], { env: envOf(service), cwd: await folder({}) });
    expect(nowhere).toMatchObject({ code: 0, stdout: expect.stringContaining("owner edge") });
  });

  it("takes the project of --project, and refuses to go on beside one that cannot be read", async () => {
    const service = await emulator({ seed: SEED });
    const cwd = await folder({ "infra/tenon.yaml": MANIFEST, "broken/tenon.yaml": "tenon: 2\n" });
    const at = (...args: string[]) => here(["list", "domains", ...args], { env: envOf(service), cwd });
    expect((await at("--project", "infra")).stdout).toContain("here");
    expectPlain(await at("--project", "broken"), 3, ["tenon.yaml"]);
    const broken = await folder({ "tenon.yaml": "tenon: 2\n" });
    const inside = await here(["list", "domains"], { env: envOf(service), cwd: broken });
    expectPlain(inside, 3, ["--no-project looks at the account alone"]);
  });

  it("is refused where the project is for another account", async () => {
    const service = await emulator({ seed: SEED });
    const cwd = await folder({ "tenon.yaml": `account: other\n${MANIFEST}` });
    expectPlain(await here(["list", "vpcs"], { env: envOf(service), cwd }), 4, ["TENON_ACCOUNT is not set"]);
  });

  it("does not take what only shares a label, or is another project's part, for declared", async () => {
    const service = await emulator({ seed: SEED });
    const twin = `tenon: 1\nowner: team\nvpcs: [{ label: twin, region: us-east }]\ndomains:
  - { domain: example.com, part: { names: [www] }, records: [{ type: A, name: www, target: 192.0.2.1 }] }\n`;
    const cwd = await folder({ "tenon.yaml": twin });
    const whose = async (kind: string) =>
      JSON.parse((await here(["list", kind, "--format", "json"], { env: envOf(service), cwd })).stdout)[kind].map(
        (one: { whose: string; address: string }) => `${one.address} ${one.whose}`,
      );
    expect((await whose("vpcs")).filter((line: string) => line.includes("twin"))).toEqual([
      "vpc/twin:102 nobody",
      "vpc/twin:103 nobody",
    ]);
    expect(await whose("domains")).toContain("domain/example.com owner edge");
  });
});

describe("what narrows a list", () => {
  it("is a glob of names, of domains in Unicode as well", async () => {
    expect(linesOf(await listing("vpcs", "--name", "t*"))).toHaveLength(4);
    expect(linesOf(await listing("domains", "--name", "bücher.*"))[1]).toContain("xn--bcher-kva.example");
    expect(linesOf(await listing("records", "--name", "@", "--domain", "example.com"))[1]).toContain("MX");
  });

  it("is whose it is, by the word or by the owner's name alone", async () => {
    const labels = async (whose: string) =>
      JSON.parse((await listing("vpcs", "--whose", whose, "--format", "json")).stdout).vpcs.map(
        ({ label }: { label: string }) => label,
      );
    expect(await labels("here")).toEqual(["prod"]);
    expect(await labels("nobody")).toEqual(["twin", "twin"]);
    expect(await labels("shop")).toEqual(["shop"]);
    expect(await labels("owner *")).toEqual(["shop"]);
    expect(await labels("edge")).toEqual(["prod"]);
    expect((await listing("vpcs", "--whose", "no-one")).stdout).toBe("No VPC fits.\n");
  });

  it("is a type, whatever its case, and a VPC", async () => {
    expect(linesOf(await listing("records", "--type", "mx"))).toHaveLength(3);
    expect(linesOf(await listing("subnets", "--vpc", "prod"))).toHaveLength(4);
    expectPlain(await listing("subnets", "--vpc", "prd"), 1, ["no VPC of the account fits", "Did you mean `prod`?"]);
    expectPlain(await listing("records", "--domain", "exmple.com"), 1, ["Did you mean `example.com`?"]);
  });

  it("is an error where it narrows nothing", async () => {
    expectPlain(await listing("domains", "--vpc", "prod"), 1, [
      "--vpc does not narrow a list of domains",
      "It is for lists of subnets and addresses.",
    ]);
    expectPlain(await listing("--whose", "here"), 1, ["--whose does not narrow the summary"]);
    const { code, stdout } = await listing("tickets", "--name", "x", "--format", "json");
    expect([code, JSON.parse(stdout).diagnostics[0].code]).toEqual([1, "conflicting-options"]);
  });
});

describe("a large account", () => {
  const large: Seed = {
    domains: Array.from({ length: 1_200 }, (_, index) => ({
      ...{ domain: `d${index}.example`, type: "master", soa_email: "a@example.com" },
      records:
        index < 3 ? Array.from({ length: 600 }, (__, at) => ({ type: "A", name: `n${at}`, target: "192.0.2.1" })) : [],
    })),
  } as Seed;

  it("is read in as many requests as its lists have pages, also where one of them is refused for a while", async () => {
    const service = await emulator({ seed: large });
    let left = 2;
    const front = await failing(service, (request) => {
      left -= request.endsWith("/domains") ? 1 : 0;
      return left === 0 ? refusal(429, "Too many requests", { "retry-after": "0" }) : null;
    });
    const cwd = await folder({});
    const { code, stdout } = await here(["list", "domains", "--format", "csv"], { env: envOf(front), cwd });
    expect([code, new Set(stdout.split("\n")).size]).toEqual([0, 1_200 + 2]);
    // Three pages, and one of them twice.
    expect(front.requests).toHaveLength(4);
  });

  it("has records of the domains that a glob fits read, and of no others", async () => {
    const service = await emulator({ seed: large });
    const cwd = await folder({});
    const args = ["list", "records", "--domain", "d?.example", "--format", "json"];
    expectPlain(await here(args.slice(0, 4), { env: envOf(service), cwd }), 1, ["no domain of the account fits"]);
    const before = service.requests.length;
    const few = ["list", "records", "--domain", "d1.*", "--format", "json"];
    const { stdout } = await here(few, { env: envOf(service), cwd });
    expect(JSON.parse(stdout).records).toHaveLength(600);
    // Three pages of domains, two of records.
    expect(service.requests.length - before).toBe(5);
  });
});

describe("what the token may not read", () => {
  const scoped = (scopes: readonly string[]) => ({ ...SEED, tokens: [{ token: "emulator-token", scopes }] }) as Seed;

  it("is left out of the summary, with a warning", async () => {
    const service = await emulator({ seed: scoped(["vpc:read_only"]) });
    const summary = await here(["list"], { env: envOf(service), cwd: await folder({}) });
    expect(summary.code).toBe(0);
    expect(linesOf(summary).slice(1, 5)).toEqual([
      ...["vpcs  4  -  2  2", "subnets  2  -  2  0", "domains  -  -  -  -", "images  -  -  -  -"],
    ]);
    expect(summary.stderr).toContain("warning: the token may not read the list of domains");
  });

  it("is an error of a list, and of the summary if there is nothing else", async () => {
    const service = await emulator({ seed: scoped(["events:read_only"]) });
    const cwd = await folder({});
    expectPlain(await here(["list", "domains"], { env: envOf(service), cwd }), 1, ["cannot read the list of domains"]);
    expectPlain(await here(["list"], { env: envOf(service), cwd }), 1, ["cannot read the list of VPCs"]);
  });
});

it("shows a hostile label on one line, escaped", async () => {
  const seed: Seed = { images: [{ label: "a\n\u001b[31mb\u202e" }] } as Seed;
  const service = await emulator({ seed });
  const { stdout } = await here(["list", "images"], { env: envOf(service), cwd: await folder({}) });
  expect(stdout.split("\n")).toHaveLength(3);
  expect(stdout).toContain("a\\n\\u{1b}[31mb\\u{202e}");
});

it("no line of list --help has more than 80 columns", async () => {
  const { stdout } = await here(["list", "--help"], {});
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
});
