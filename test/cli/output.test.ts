/** `tenon output`: ids and other values of what is declared, for other tools. */

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { parseSeed } from "../../src/emulator/index.ts";
import { here } from "./here.ts";
import { failing, refusal } from "./odd-service.ts";
import { emulator, envOf, expectPlain, folder, run } from "./run.ts";

const SEED = parseSeed(`
vpcs:
  - { label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.1.0/24 }, { label: db, ipv4: 10.0.2.0/24 }] }
  - { label: twin, region: us-east, subnets: [] }
  - { label: twin, region: us-west, subnets: [] }
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    records: [{ type: A, name: www, target: 192.0.2.1 }, { type: A, name: www, target: 192.0.2.2 }]
`);

const MANIFEST = `tenon: 1
vpcs:
  - { label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.1.0/24 }] }
  - { label: late, region: us-east }
  - { label: twin, region: us-east }
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    records: [{ type: A, name: www, targets: [192.0.2.1, 192.0.2.2] }]
`;

const schema = JSON.parse(readFileSync(new URL("../../schemas/output.schema.json", import.meta.url), "utf8"));
const fitsSchema = new Ajv2020({ allowUnionTypes: true }).compile(schema);

async function output(...args: string[]) {
  const service = await emulator({ seed: SEED });
  return here(["output", ...args], { env: envOf(service), cwd: await folder({ "tenon.yaml": MANIFEST }) });
}

it("prints the id of an address, alone on a line, in a real process and with one list", async () => {
  const service = await emulator({ seed: SEED });
  const cwd = await folder({ "infra/tenon.yaml": MANIFEST });
  const args = ["output", "vpc/prod/subnet/web", "--project", "infra"];
  expect(await run(args, { env: envOf(service), cwd })).toEqual({ code: 0, stdout: "2001\n", stderr: "" });
  expect(service.requests.map(({ path }) => path)).toEqual(["/v4/vpcs"]);
});

it("without an address is JSON of what is declared and there, without records, and notes what is not", async () => {
  const { code, stdout, stderr } = await output();
  const document = JSON.parse(stdout);
  expect([code, fitsSchema(document)]).toEqual([0, true]);
  expect(Object.keys(document.outputs)).toEqual(["vpc/prod", "vpc/prod/subnet/web", "domain/example.com"]);
  expect(document.outputs["vpc/prod/subnet/web"]).toMatchObject({ id: 2001, vpc_id: 101, ipv4: "10.0.1.0/24" });
  expect(stderr).toBe("note: 2 objects that are declared are not in the account: vpc/late, vpc/twin\n");
});

it("reads nothing of kinds that are not declared", async () => {
  const service = await failing(await emulator({ seed: SEED }), (request) =>
    request.endsWith("/vpcs") ? null : refusal(403, "Unauthorized"),
  );
  const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [{ label: prod, region: us-east }]\n" });
  expect((await here(["output", "--format", "raw"], { env: envOf(service), cwd })).stdout).toBe("vpc/prod\t101\n");
});

it("prints another field, and a line for each of the records that share an address", async () => {
  expect((await output("vpc/prod/subnet/web", "--field", "ipv4")).stdout).toBe("10.0.1.0/24\n");
  expect((await output("domain/example.com/www/A", "--field", "target")).stdout).toBe("192.0.2.1\n192.0.2.2\n");
  expect((await output("domain/example.com/www/A")).stdout).toBe("400001\n400002\n");
  expect((await output("--field", "region")).stdout).toBe("vpc/prod\tus-east\n");
  const { outputs } = JSON.parse((await output("domain/example.com/www/A", "--format", "json")).stdout);
  expect(Object.keys(outputs)).toEqual(["domain/example.com/www/A[0]", "domain/example.com/www/A[1]"]);
});

it("is an error of what is not there, not declared, ambiguous, or no address", async () => {
  expectPlain(await output("vpc/late"), 1, ["vpc/late is declared, and the account has no object", "tenon plan says"]);
  expectPlain(await output("vpc/twin"), 1, ["vpc/twin is declared, and the account has no object that is surely it"]);
  expectPlain(await output("vpc/prod/subnet/db"), 1, ["the project declares no vpc/prod/subnet/db"]);
  expectPlain(await output("vpc/prd"), 1, ["the project declares no vpc/prd", "Did you mean `vpc/prod`?"]);
  expectPlain(await output("infra"), 1, ["infra is no address", "--project DIR"]);
  expectPlain(await output("vpc/prod", "--field", "regoin"), 1, ["has no field regoin", "Did you mean `region`?"]);
  const { code, stdout } = await output("vpc/late", "--format", "json");
  expect([code, JSON.parse(stdout).diagnostics[0].code]).toEqual([1, "object-missing"]);
});

it("needs a project, and the right account", async () => {
  const service = await emulator({ seed: SEED });
  expectPlain(await here(["output", "--format", "raw"], { env: envOf(service), cwd: await folder({}) }), 1, [
    "no-project",
  ]);
  const cwd = await folder({ "tenon.yaml": `account: other\n${MANIFEST}` });
  const { code, stdout } = await here(["output", "vpc/prod"], { env: envOf(service), cwd });
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
});

it("follows an id and a rename, as a plan does", async () => {
  const service = await emulator({ seed: SEED });
  const cwd = await folder({
    "tenon.yaml": `tenon: 1\nvpcs:\n  - { label: twin, region: us-west, id: 103 }\n  - { label: main, region: us-east, moved_from: prod }\n`,
  });
  const at = (address: string) => here(["output", address], { env: envOf(service), cwd });
  expect((await at("vpc/twin")).stdout).toBe("103\n");
  expect((await at("vpc/main")).stdout).toBe("101\n");
});
