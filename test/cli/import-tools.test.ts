import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { domainOf, irOf } from "../support/dnscontrol.ts";
import { recordOf, resource, stateOf } from "../support/terraform.ts";
import { here } from "./here.ts";
import { expectPlain, folder, run } from "./run.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures");
const ZONE = { id: "7", domain: "a.example", type: "master", soa_email: "a@a.example" };
const STATE = stateOf([
  resource("linode_domain", "a", ZONE),
  resource("linode_domain_record", "www", recordOf(1, 7, { name: "www", target: "192.0.2.1" })),
  resource("aws_instance", "web", { id: "i-1" }, { module: 'module.m["x"]' }),
  resource("linode_region", "here", {}, { mode: "data" }),
]);

function isImport(text: string): boolean {
  const schema = JSON.parse(readFileSync(join(import.meta.dirname, "../../schemas/import.schema.json"), "utf8"));
  return new Ajv2020({ strict: false }).validate(schema, JSON.parse(text));
}

describe("tenon import --from terraform", () => {
  it("writes a project, and says what stays with Terraform, by address and line", async () => {
    const cwd = await folder({ "terraform.tfstate": STATE });
    const imported = await run(["import", "--from", "terraform", "terraform.tfstate", "--out", "infra"], { cwd });
    expect(imported).toEqual({
      code: 0,
      stdout:
        "Imported 1 domain, 1 record into infra (1 file). 2 objects were left out; the messages say which.\nNext: tenon plan infra\n",
      stderr: `terraform.tfstate: left out (only VPCs, subnets, domains, records and images are
   taken): module.m["x"].aws_instance.web (line 59)
terraform.tfstate: left out (data sources are only read):
   data.linode_region.here (line 74)
`,
    });
    expect(await readdir(join(cwd, "infra"))).toEqual(["tenon.yaml"]);
    expect(await here(["validate", "infra"], { cwd })).toMatchObject({ code: 0 });
  });

  it("names no line of what Terraform prints as one", async () => {
    const cwd = await folder({ "state.json": `${JSON.stringify(JSON.parse(STATE))}\n` });
    const { stderr } = await here(["import", "--from", "terraform", "state.json", "--out", "-"], { cwd });
    expect(stderr).toContain("state.json: left out (data sources are only read): data.linode_region.here\n");
  });

  it("says it to programs, too", async () => {
    const cwd = await folder({ "terraform.tfstate": STATE });
    const args = [
      "import",
      "--from",
      "terraform",
      "terraform.tfstate",
      "--split",
      "--format",
      "json",
      "--out",
      "infra",
    ];
    const { code, stdout } = await here(args, { cwd });
    expect([code, isImport(stdout)]).toEqual([0, true]);
    expect(JSON.parse(stdout)).toMatchObject({
      files: ["tenon.yaml", "zones/a.example.yaml"],
      imported: { domains: 1, records: 1 },
      left_out: [
        { line: 59, type: "aws_instance", name: 'module.m["x"].aws_instance.web', reason: "elsewhere" },
        { line: 74, type: "linode_region", name: "data.linode_region.here", reason: "elsewhere" },
      ],
    });
  });

  it("takes the objects that --domain, --vpc and --images name", async () => {
    const cwd = await folder({});
    const state = join(FIXTURES, "terraform/terraform.tfstate");
    const args = ["import", "--from", "terraform", state, "--domain", "parked*", "--vpc", "prod", "--out", "-"];
    const { code, stdout, stderr } = await here(args, { cwd });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.match(/parked\d\.example|label: prod|mixed/g)).toEqual([
      "label: prod",
      "parked0.example",
      "parked1.example",
      "parked2.example",
    ]);
  });

  it.each([
    ["main.tf", 'resource "linode_domain" "a" {}', 1, ["is a configuration", "terraform show -json > state.json"]],
    ["main.tf.json", "{}", 1, ["is a configuration", "terraform state pull > terraform.tfstate"]],
    ["a.tfstate", '{"version":3,"modules":[]}', 3, ["a.tfstate:1:12", "It is of version 3"]],
    ["a.tfstate", STATE.slice(0, 900), 3, ["a.tfstate:38:9", "it was cut"]],
    ["the.plan", Buffer.from("PK\u0003\u0004\u0000\u0000\u0000", "latin1"), 3, ["binary", "terraform show -json"]],
    ["none.tfstate", null, 1, ["there is no such file", "terraform show -json"]],
    ["folder", undefined, 1, ["it is a folder", "terraform show -json"]],
    ["a.tfstate", stateOf([resource("aws_instance", "web", {})]), 3, ["aws_instance.web", "nothing to import"]],
  ] as const)("of %s that holds something else writes nothing (%#)", async (name, content, code, words) => {
    const cwd = await folder({ ...(content == null ? {} : { [name]: content }), "folder/keep": "" });
    const before = await readdir(cwd);
    expectPlain(await here(["import", "--from", "terraform", name, "--out", "infra"], { cwd }), code, words);
    expect(await readdir(cwd)).toEqual(before);
  });

  it("overwrites nothing without --force", async () => {
    const cwd = await folder({ "a.tfstate": STATE, "tenon.yaml": "mine\n" });
    const args = ["import", "--from", "terraform", "a.tfstate", "--out", "."];
    expectPlain(await here(args, { cwd }), 4, ["tenon.yaml", "--force"]);
    expect(await here([...args, "--force"], { cwd })).toMatchObject({ code: 0 });
  });
});

describe("tenon import --from dnscontrol", () => {
  it("stops at what cannot be held, each with its place in the program, and comes in without it", async () => {
    const cwd = await folder({});
    const args = ["import", "--from", "dnscontrol", join(FIXTURES, "dnscontrol/ir.json"), "--out", "dns"];
    expectPlain(await here(args, { cwd }), 3, [
      "ALIAS two.example.: not",
      "It stands in line 8 of",
      "TLSA _443._tcp.two.example.:",
      "--skip-unsupported",
    ]);
    expect(await readdir(cwd)).toEqual([]);
    const imported = await here([...args, "--skip-unsupported", "--split", "--format", "json"], { cwd });
    expect([imported.code, isImport(imported.stdout)]).toEqual([0, true]);
    expect(JSON.parse(imported.stdout)).toMatchObject({
      imported: { domains: 3, records: 21 },
      left_out: [
        { type: "ALIAS", name: "two.example.", reason: "unsupported" },
        { type: "TLSA", name: "_443._tcp.two.example.", reason: "unsupported" },
      ],
    });
    expect(await readdir(join(cwd, "dns/zones"))).toHaveLength(3);
  });

  it("takes the view that --domain names", async () => {
    const view = (name: string, target: string) => domainOf(name, [{ type: "A", name: "www", target }]);
    const ir = irOf([view("a.test!in", "10.0.0.1"), view("a.test!out", "192.0.2.1")]);
    const cwd = await folder({ "ir.json": ir });
    const args = ["import", "--from", "dnscontrol", "ir.json", "--soa-email", "a@a.test", "--out", "-"];
    expectPlain(await here(args, { cwd }), 3, ["a.test is there 2 times", "--domain 'a.test!in'"]);
    const { code, stdout } = await here([...args, "--domain", "a.test!out"], { cwd });
    expect([code, stdout.includes("192.0.2.1")]).toEqual([0, true]);
  });

  it.each([
    ["dnsconfig.js", "D('a.test', REG);", 1, ["is a program", "dnscontrol print-ir --out ir.json"]],
    ["creds.json", '{"x":{"TYPE":"LINODE","token":"t"}}', 1, ["is a creds.json", "dnscontrol print-ir --out ir.json"]],
    ["ir.json", '{"domains":[', 3, ["ir.json:1:13", "it was cut"]],
    ["ir.json", '{"registrars":[],"domains":[{}]}', 3, ["ir.json:1:29", "has no `name`"]],
    ["none.json", null, 1, ["there is no such file", "dnscontrol print-ir"]],
  ] as const)("of %s that holds something else writes nothing (%#)", async (name, content, code, words) => {
    const cwd = await folder(content === null ? {} : { [name]: content });
    const before = await readdir(cwd);
    expectPlain(await here(["import", "--from", "dnscontrol", name, "--out", "dns"], { cwd }), code, words);
    expect(await readdir(cwd)).toEqual(before);
  });

  it("has no VPCs and images to choose", async () => {
    const args = ["import", "--from", "dnscontrol", "ir.json", "--images", "--out", "x"];
    expectPlain(await here(args, { cwd: await folder({}) }), 1, ["--vpc and --images are for"]);
  });
});
