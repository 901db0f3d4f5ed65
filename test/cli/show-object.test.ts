/** `tenon show ADDRESS`: one object beside its declaration; and what is an address, and what a file. */

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parseSeed, type Seed } from "../../src/emulator/index.ts";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, run } from "./run.ts";

const SEED = parseSeed(`
vpcs:
  - label: prod
    region: us-east
    description: "Main [tenon:edge]"
    subnets: [{ label: web, ipv4: 10.0.1.0/24 }, { label: db, ipv4: 10.0.2.0/24 }]
  - { label: twin, region: us-east, subnets: [] }
  - { label: twin, region: us-west, subnets: [] }
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    tags: ["tenon:edge"]
    records:
      - { type: A, name: www, target: 192.0.2.1 }
      - { type: A, name: www, target: 192.0.2.2 }
      - { type: MX, target: mx.example.net, priority: 10 }
  - { domain: lost.example, type: master, soa_email: a@example.com, tags: ["tenon:edge"] }
nodes:
  - { id: 21, interfaces: [{ id: 31, subnet: prod/db, address: 10.0.2.9 }] }
`);

const MANIFEST = `tenon: 1
owner: edge
vpcs:
  - { label: prod, region: us-east, protect: true, note: ask the platform team, subnets: [{ label: web, ipv4: 10.0.1.0/24 }] }
  - { label: late, region: us-east }
domains:
  - domain: example.com
    type: master
    soa_email: b@example.com
    records:
      - { type: A, name: www, target: 192.0.2.1, ttl_sec: 300 }
      - { type: A, name: www, target: 192.0.2.2 }
      - { type: TXT, name: new, target: hello }
`;

const schema = JSON.parse(readFileSync(new URL("../../schemas/show.schema.json", import.meta.url), "utf8"));
const fitsSchema = new Ajv2020({ allowUnionTypes: true }).compile(schema);

async function show(...args: string[]) {
  const service = await emulator({ seed: SEED });
  return here(["show", ...args], { env: envOf(service), cwd: await folder({ "tenon.yaml": MANIFEST }) });
}

async function shownJson(...args: string[]) {
  const { stdout } = await show(...args, "--format", "json");
  const document = JSON.parse(stdout);
  expect(fitsSchema(document), JSON.stringify(fitsSchema.errors)).toBe(true);
  return document;
}

describe("tenon show ADDRESS", () => {
  it("of a domain marks the fields that differ, and tells which records do, in a real process", async () => {
    const service = await emulator({ seed: SEED });
    const cwd = await folder({ "tenon.yaml": MANIFEST });
    const { code, stdout, stderr } = await run(["show", "domain/example.com"], { env: envOf(service), cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.split("\n");
    expect(lines.slice(0, 3)).toEqual([
      "domain/example.com, id 30001",
      "  whose: declared here, tagged for the owner edge",
      "  apply: changes it in place",
    ]);
    expect(lines.filter((line) => line.startsWith("~"))).toEqual([
      expect.stringMatching(/^~ soa_email +"a@example\.com" +"b@example\.com"$/),
    ]);
    expect(lines).toContain("3 records in the account, 3 declared, 3 differ:");
    expect(lines).toContain("missing     domain/example.com/new/TXT");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(service.requests.map(({ path }) => path)).toEqual(["/v4/domains", "/v4/domains/30001/records"]);
  });

  it("of a VPC says that it is protected, its note, and what in it is blocked", async () => {
    const { stdout } = await show("vpc/prod");
    expect(stdout).toContain("protect: true");
    expect(stdout).toContain("note: ask the platform team");
    expect(stdout).toContain("unexpected  vpc/prod/subnet/db");
    const subnet = (await show("vpc/prod/subnet/db")).stdout;
    expect(subnet).toContain("apply: deletes it");
    expect(subnet).toContain("blocked: 1 interface is attached");
    expect(subnet).toContain("node 21");
    expect(await shownJson("vpc/prod/subnet/db")).toMatchObject({
      ...{ kind: "vpc_subnet", root: "vpc/prod", protect: true },
      objects: [{ id: 2002, declared: false, action: "delete", blocked: "interfaces", wanted: null }],
    });
  });

  it("of records of one name and type shows each beside its own declaration", async () => {
    const { objects } = await shownJson("domain/example.com/www/A");
    const shown = objects.map(
      ({ id, differing, live }: { id: number; differing: string[]; live: { target: string } }) => [
        ...[id, differing, live.target],
      ],
    );
    expect(shown).toEqual([
      [400001, ["ttl_sec"], "192.0.2.1"],
      [400002, [], "192.0.2.2"],
    ]);
  });

  it("of what is declared and not there says so", async () => {
    expect((await show("vpc/late")).stdout).toContain("vpc/late, not in the account\n  whose: declared here");
    expect(await shownJson("domain/example.com/new/TXT")).toMatchObject({
      objects: [{ id: null, action: "create", live: null, wanted: { target: "hello" } }],
    });
  });

  it("of what nothing declares shows the account alone, and says whose it is", async () => {
    const lost = (await show("domain/lost.example")).stdout;
    expect(lost).toContain("not declared here, tagged for the owner edge");
    expect(lost).toContain("may prune it");
    expect(lost).not.toContain("DECLARED");
    expect(await shownJson("vpc/twin:103")).toMatchObject({
      may_be_pruned: false,
      objects: [{ id: 103, whose: "nobody", declared: false, action: null, live: { region: "us-west" }, wanted: null }],
    });
    expect((await show("image/none")).code).toBe(1);
    expect((await show("vpc/prod", "--no-project")).stdout).toContain("(there is no project)");
  });

  it("follows a rename, as a plan does", async () => {
    const service = await emulator({ seed: SEED });
    const manifest = "tenon: 1\nowner: edge\nvpcs: [{ label: main, region: us-east, moved_from: prod }]\n";
    const cwd = await folder({ "tenon.yaml": manifest });
    const { stdout } = await here(["show", "vpc/main"], { env: envOf(service), cwd });
    expect(stdout).toContain("vpc/main, id 101");
    expect(stdout).toContain("apply: changes it in place (rename), in the account it is vpc/prod");
    expect(stdout).toContain("~ label");
  });

  it("asks for consent with the words of a plan", async () => {
    const service = await emulator({ seed: SEED });
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [{ label: prod, region: us-west, id: 101 }]\n" });
    const moved = await here(["show", "vpc/prod"], { env: envOf(service), cwd });
    expect(moved.stdout).toContain("not declared here, tagged for the owner edge");
    expect(moved.stderr).toContain("foreign-owner");
    const ours = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [{ label: twin, region: us-west, id: 102 }]\n" });
    const replaced = await here(["show", "vpc/twin"], { env: envOf(service), cwd: ours });
    expect(replaced.stdout).toContain("deletes it and makes it anew, for its region");
    expect(replaced.stdout).toContain("--allow replace=vpc/twin");
  });
});

describe("what is an address, and what a file", () => {
  it("is decided by its beginning: a file of such a path is named with ./", async () => {
    const service = await emulator({ seed: SEED });
    const cwd = await folder({ "tenon.yaml": MANIFEST, "vpc/prod": "{}", "vpc/none": "{}" });
    const at = (...args: string[]) => here(["show", ...args], { env: envOf(service), cwd });
    expect((await at("vpc/prod")).stdout).toContain("vpc/prod, id 101");
    expectPlain(await at("./vpc/prod"), 1, ["the plan file is damaged"]);
    expectPlain(await at("vpc/none"), 1, [
      "neither the account nor the project has vpc/none",
      "For the file of this name write ./vpc/none.",
    ]);
  });

  it("is an error that says what there is, where it is neither", async () => {
    expectPlain(await show("vpc/prdo"), 1, ["neither the account nor the project has vpc/prdo", "Did you mean"]);
    expectPlain(await show("domain/example.com/wwww/A"), 1, ["Did you mean `domain/example.com/www/A`?"]);
    expectPlain(await show("domains/example.com"), 1, ["neither an address nor a file", "begins with vpc/"]);
    expectPlain(await show("domian/example.com"), 1, ["neither an address nor a file", "begins with vpc/"]);
    expectPlain(await show("plans/none.plan"), 1, [/plans\/none\.plan/]);
    expectPlain(await show("nothing.plan"), 1, ["nothing.plan"]);
    expectPlain(await show(), 1, ["nothing is named that is to be shown"]);
    expectPlain(await show("vpc/prod", "--format", "markdown"), 1, ["markdown is for plans"]);
    const { code, stdout } = await show("vpc/prdo", "--format", "json");
    expect([code, JSON.parse(stdout).diagnostics[0].code]).toEqual([1, "address-unknown"]);
  });

  it("suggests the address of a label with a slash, as it can be given", async () => {
    const service = await emulator({ seed: { vpcs: [{ label: "team/prod", region: "us-east" }] } as Seed });
    const options = { env: envOf(service), cwd: await folder({}) };
    expectPlain(await here(["show", "vpc/team/prod"], options), 1, ["Did you mean `vpc/team%2Fprod`?"]);
  });

  it("shows a hostile label escaped", async () => {
    const seed = { images: [{ label: "a\u202e\u001b[31m" }] } as Seed;
    const service = await emulator({ seed });
    const cwd = await folder({});
    const { stdout } = await here(["show", "image/a\u202e%1B[31m"], { env: envOf(service), cwd });
    expect(stdout).toMatch(/^image\/a\\u\{202e\}%1B\[31m, id private/);
    expect(stdout).toContain("\\u{1b}[31m");
    for (const character of ["\u202e", "\u001b"]) expect(stdout).not.toContain(character);
  });
});
