import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT, run } from "./run.ts";

const SCHEMA = JSON.parse(await readFile(join(import.meta.dirname, "../../schemas/drift.schema.json"), "utf8"));

const TAGGED = { id: 5, domain: "example.com", soa_email: "hostmaster@example.com", tags: ["tenon:edge"] };
const VPC = { id: 1, label: "prod", region: "us-east", description: "[tenon:edge]" };
const SUBNETS = [{ id: 11, label: "web", ipv4: "10.0.1.0/24" }];
const RECORDS = [
  { id: 50, type: "A" as const, name: "www", target: "192.0.2.9", ttl_sec: 300 },
  { id: 51, type: "MX" as const, target: "mx.example.net", priority: 10 },
  { id: 52, type: "TXT" as const, name: "stray", target: "\u001b[2J by hand" },
];

async function world(seed: NonNullable<Parameters<typeof emulator>[0]>["seed"]) {
  const service = await emulator({ seed: seed ?? {} });
  return { service, options: { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) } };
}

const drifted = { vpcs: [{ ...VPC, subnets: [] }], domains: [{ ...TAGGED, records: RECORDS }] };

describe("tenon drift", () => {
  it("says object by object what differs, and exits with 2", async () => {
    const { service, options } = await world(drifted);
    const { code, stdout, stderr } = await run(["drift"], options);
    expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
    expect(stdout).toBe(`unexpected  domain/example.com/stray/TXT
    stray TXT "\\u{1b}[2J by hand"
changed     domain/example.com/www/A
    target: "192.0.2.9" in the account, "192.0.2.1" declared
missing     vpc/prod/subnet/web
    10.0.1.0/24

Drift: 1 changed, 1 missing, 1 unexpected.
`);
    expect(new Set(service.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
  });

  it("says the same as one JSON document that fits its schema", async () => {
    const { options } = await world(drifted);
    const { code, stdout } = await here(["drift", "--format", "json"], options);
    const found = JSON.parse(stdout);
    const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(SCHEMA);
    expect({ code, errors: validate(found) ? [] : validate.errors }).toEqual({ code: 2, errors: [] });
    expect(found.summary).toEqual({ changed: 1, missing: 1, unexpected: 1, unadopted: 0 });
    expect(found.objects[1]).toMatchObject({
      address: "domain/example.com/www/A",
      status: "changed",
      id: 50,
      fields: [{ name: "target", declared: "192.0.2.1", live: "192.0.2.9" }],
    });
  });

  it("says the same as markdown, also on the page of a step", async () => {
    const { options } = await world(drifted);
    const summary = join(options.cwd, "summary.md");
    const env = { ...options.env, GITHUB_STEP_SUMMARY: summary };
    const { code, stdout } = await here(["drift", "--format", "markdown"], { ...options, env });
    expect(code).toBe(2);
    expect(stdout).toContain("## Drift: 1 changed, 1 missing, 1 unexpected.\n");
    expect(stdout).toContain("unexpected  domain/example.com/stray/TXT");
    expect(await readFile(summary, "utf8")).toBe(`${stdout}\n`);
    await here(["plan"], { ...options, env });
    expect(await readFile(summary, "utf8")).toContain("## Plan: 1 to add, 1 to change, 1 to destroy.");
  });

  it("finds none in an account that is as declared, and takes what was never adopted for none", async () => {
    const www = { ...RECORDS[0], type: "A" as const, target: "192.0.2.1" };
    const mx = { ...RECORDS[1], type: "MX" as const, target: "mx.example.net" };
    const same = { vpcs: [{ ...VPC, subnets: SUBNETS }], domains: [{ ...TAGGED, records: [www, mx] }] };
    const clean = await run(["drift"], (await world(same)).options);
    expect(clean).toEqual({ code: 0, stdout: "No drift. The account is as the manifests declare.\n", stderr: "" });
    const untagged = { ...same, domains: [{ ...TAGGED, tags: [], records: [www, mx] }] };
    const { code, stdout } = await here(["drift"], (await world(untagged)).options);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^unadopted {3}domain\/example\.com\n\n1 object is as declared, but/);
  });

  it("counts what is missing with its network or zone there, and shows Unicode names", async () => {
    const service = await emulator();
    const zone =
      "{ domain: müller.example, type: master, soa_email: a@b.example, records: [{ type: A, target: 192.0.2.1 }] }";
    const cwd = await folder({ "tenon.yaml": `tenon: 1\ndomains: [${zone}]\n` });
    const { code, stdout } = await here(["drift"], { cwd, env: envOf(service) });
    expect(code).toBe(2);
    expect(stdout).toContain(
      "missing     domain/xn--mller-kva.example (müller.example) (with 1 object in it)\n\nDrift: 0 changed, 2 missing",
    );
  });

  it("looks at a snapshot without a token, and only at what is named", async () => {
    const { service, options } = await world(drifted);
    expect((await here(["live", "--out", "live.json"], options)).code).toBe(0);
    const live = await here(["drift", "--target", "vpc/*"], options);
    service.clearRequests();
    const args = ["drift", "--live", "live.json", "--target", "vpc/*"];
    const offline = await here(args, { cwd: options.cwd });
    expect({ code: offline.code, stdout: offline.stdout }).toEqual({ code: 2, stdout: live.stdout });
    expect(offline.stdout).toContain("Drift: 0 changed, 1 missing, 0 unexpected.");
    expect(service.requests).toEqual([]);
    const rest = await here(["drift", "--exclude", "vpc/prod", "--exclude", "*/stray/*"], options);
    expect(rest.stdout).toContain("Drift: 1 changed, 0 missing, 0 unexpected.");
  });

  it("is an error where a target matches nothing, and not green for ever", async () => {
    const { options } = await world(drifted);
    for (const targets of [["nope/*"], ["vpc/*", "domain/gone.example"]]) {
      const args = targets.flatMap((target) => ["--target", target]);
      expectPlain(await here(["drift", ...args], options), 1, ["error[unmatched-target]", String(targets.at(-1))]);
    }
  });

  it("says where it cannot tell who is who, and looks at the rest", async () => {
    const twins = { vpcs: [VPC, { ...VPC, id: 2, region: "us-west" }] };
    const ended = await here(["drift"], (await world(twins)).options);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/warning\[ambiguous-identity\]: vpc\/prod could be any of 2 live objects/);
    expect(ended.stderr).toMatch(/id 1\b.*id 2\b/s);
  });

  it("exits with 4 for what another owner has tagged, and with 3 for an invalid manifest", async () => {
    const { options } = await world({ vpcs: [{ ...VPC, description: "[tenon:other]" }] });
    expectPlain(await here(["drift"], options), 4, ["foreign-owner"]);
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: 7\n" });
    expect((await here(["drift"], { ...options, cwd })).code).toBe(3);
  });
});
