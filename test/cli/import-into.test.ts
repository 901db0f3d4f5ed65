/** `tenon import --into`: what the project does not declare is added to it, and a plan of it is empty. */

import { mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Seed } from "../../src/emulator/index.ts";
import { writeFolder } from "../../src/files/folder.ts";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, run } from "./run.ts";

const RECORDS = (name: string) => [
  { type: "A", name: "www", target: "192.0.2.1", ttl_sec: 300 },
  { type: "MX", target: "mx.example.net", priority: 10 },
  { type: "TXT", name: "_dmarc", target: `v=DMARC1; p=reject; rua=mailto:d@${name}` },
];

function seedOf(many: number): Seed {
  const names = Array.from({ length: many }, (_, index) => `d${index}.example`);
  const vpcs = [{ label: "prod", region: "us-east", subnets: [{ label: "web", ipv4: "10.0.1.0/24" }] }];
  return { domains: names.map((domain) => ({ domain, records: RECORDS(domain) })), vpcs } as never;
}

const HEAD = "# ours: ü\ntenon: 1 # the format\n";
const SETS = `
record_sets:
  # for all
  post:
    - { type: MX, target: mx.example.net., priority: 10 }
    - { type: TXT, name: _dmarc, target: "v=DMARC1; p=reject; rua=mailto:d@\${zone}" }
`;

async function project(many: number, files: Readonly<Record<string, string>>) {
  const service = await emulator({ seed: seedOf(many) });
  const cwd = await folder(files);
  const options = { cwd, env: envOf(service) };
  const tenon = (...args: string[]) => here(args, options);
  return { service, cwd, options, tenon, read: (file: string) => readFile(join(cwd, file), "utf8") };
}

describe("an import into a project", () => {
  test("adds one domain as a file of its own, uses record sets, and keeps every comment", async () => {
    const { options, tenon, read } = await project(3, { "tenon.yaml": `${HEAD}${SETS}` });
    const { code, stdout, stderr } = await run(["import", "--into", ".", "--domain", "d1.example"], options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Imported 1 domain, 3 records");
    expect(stdout).toContain("files of tenon.yaml names zones/d1.example.yaml now.\n");
    expect(await read("tenon.yaml")).toBe(`${HEAD}files: [zones/d1.example.yaml]\n${SETS}`);
    const zone = await read("zones/d1.example.yaml");
    expect(zone).toContain("$schema=../node_modules/tenon/schemas/manifest.schema.json\n");
    expect(zone).toContain("    use: [post]\n    records:\n      - { type: A, name: www");
    expect((await tenon("plan")).stdout).toContain("No changes.");
    expect((await tenon("fmt", "--check")).code).toBe(0);
  });

  test("adds all the rest, without what is declared already, whose records are not read", async () => {
    const { service, tenon, read } = await project(4, { "tenon.yaml": `${HEAD}${SETS}` });
    await tenon("import", "--into", ".", "--domain", "d1.example");
    service.clearRequests();
    const { code, stderr } = await tenon("import", "--into", ".");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "one is declared already, and left out: domain/d1.example\n",
    });
    expect(service.requests.filter(({ path }) => path.endsWith("/records"))).toHaveLength(3);
    const text = await read("imported.yaml");
    expect(text).toContain("defaults:\n");
    expect(text).toContain("- label: prod\n");
    expect(text).not.toContain("d1.example");
    expect((await tenon("plan")).stdout).toContain("No changes.");
    expect((await tenon("fmt", "--check")).code).toBe(0);
    const again = await tenon("import", "--into", ".");
    expect(again).toMatchObject({ code: 0, stdout: "" });
    expect(again.stderr).toContain("Everything that was asked for is declared already; nothing was written.\n");
  });

  test("extends no list whose patterns find the new files, and takes a free name", async () => {
    const root = `${HEAD}files: ["zones/**"]\n`;
    const { tenon, read, cwd } = await project(2, { "tenon.yaml": root, "zones/d1.example.yaml": "tenon: 1\n" });
    expect((await tenon("import", "--into", ".", "--domain", "d1.example")).code).toBe(0);
    expect(await read("tenon.yaml")).toBe(root);
    expect(await readdir(join(cwd, "zones"))).toEqual(["d1.example-2.yaml", "d1.example.yaml"]);
    expect((await tenon("plan")).stdout).toContain("No changes.");
  });

  test("names new record sets otherwise than those that are there", async () => {
    const sets = "record_sets:\n  mail:\n    - { type: MX, target: other.example.net., priority: 5 }\n";
    const { tenon, read } = await project(4, { "tenon.yaml": `${HEAD}${sets}` });
    expect((await tenon("import", "--into", ".")).code).toBe(0);
    expect(await read("imported.yaml")).toMatch(/record_sets:\n {2}mail-2:\n/);
    expect((await tenon("plan")).stdout).toContain("No changes.");
  });

  test("takes what is untagged beside what carries the owner's tag, and looks into every environment", async () => {
    const root = `tenon: 1
owner: edge
variables: { env: {} }
environments: { a: { variables: { env: d0 } }, b: { variables: { env: d1 } } }
domains: [{ domain: "\${var.env}.example", type: master, soa_email: hostmaster@example.com }]
`;
    const { tenon, read } = await project(3, { "tenon.yaml": root });
    const { code, stderr } = await tenon("import", "--into", ".");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "2 are declared already, and left out: domain/d0.example, domain/d1.example\n",
    });
    expect(await read("imported.yaml")).toContain("domain: d2.example\n");
    expect((await tenon("plan", "--env", "a")).stdout).not.toContain("d2.example/www");
  });

  test("says of what it leaves out that a plan deletes it only if it carries the owner's tag", async () => {
    const vpcs = [
      { label: "odd name", region: "us-east" },
      { label: "odd edge", region: "us-east", description: "[tenon:edge]" },
    ];
    const service = await emulator({ seed: { vpcs, domains: [{ domain: "d0.example" }] } as never });
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nowner: edge\n" });
    const { code, stderr } = await run(["import", "--into", "."], { cwd, env: envOf(service) });
    expect(code).toBe(0);
    const [edge, nobody] = ["vpc/odd edge", "vpc/odd name"].map((address) => {
      const text = stderr.slice(stderr.indexOf(`${address} is left out`));
      return text.slice(0, text.indexOf("fix:"));
    });
    expect(edge?.replace(/\s+/g, " ")).toContain(
      "It carries the tag of edge and is not declared, so a plan deletes it.",
    );
    expect(nobody).not.toContain("tag of");
  });

  test("takes from a state of Terraform what carries the tag of the project's owner, too", async () => {
    const vpc = (label: string, description: string) => ({
      schema_version: 0,
      attributes: { id: label === "ours" ? "1" : "2", label, region: "us-east", description },
    });
    const instances = (label: string, description: string) => ({
      mode: "managed",
      type: "linode_vpc",
      name: label,
      provider: 'provider["registry.terraform.io/linode/linode"]',
      instances: [vpc(label, description)],
    });
    const state = {
      version: 4,
      terraform_version: "1.9.0",
      serial: 1,
      lineage: "x",
      outputs: {},
      resources: [instances("ours", "ours [tenon:edge]"), instances("nobodys", "")],
    };
    const files = { "tenon.yaml": "tenon: 1\nowner: edge\n", "a.tfstate": JSON.stringify(state) };
    const cwd = await folder(files);
    const add = () => run(["import", "--from", "terraform", "a.tfstate", "--into", "."], { cwd });
    const { code, stdout, stderr } = await add();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Imported 2 VPCs");
    const again = await add();
    expect(again.code).toBe(0);
    expect(again.stderr).toContain("2 are declared already, and left out: vpc/nobodys, vpc/ours\n");
  });

  test("warns if validate refuses what was added, and not of what was refused before", async () => {
    const bad = '      - { type: TXT, name: a._domainkey, target: "v=DKIM1; k=rsa; p=AAA" }\n';
    const old = `domains:\n  - domain: old.example\n    type: master\n    soa_email: a@old.example\n    records:\n${bad}`;
    const zone = (text: string) => `$ORIGIN new.example.\n@ 300 IN SOA ns1 hostmaster 1 300 300 1209600 300\n${text}\n`;
    const { tenon } = await project(1, {
      "tenon.yaml": `${HEAD}${old}`,
      "bad.zone": zone('a._domainkey 300 TXT "v=DKIM1; k=rsa; p=AAA"').replaceAll("new.example", "bad.example"),
      "new.zone": zone("www 300 A 192.0.2.9"),
    });
    const good = await tenon("import", "--into", ".", "--from", "zone", "new.zone");
    expect(good.code).toBe(0);
    expect(good.stderr).not.toContain("import-invalid");
    const refused = await tenon("import", "--into", ".", "--from", "zone", "bad.zone");
    expect(refused.code).toBe(0);
    expect(refused.stderr).toContain("warning[import-invalid]: validate refuses what was imported: dkim-key (1)\n");
  });

  test("prints with --out -, and writes nothing", async () => {
    const { tenon, cwd } = await project(2, { "tenon.yaml": HEAD });
    const { code, stdout } = await tenon("import", "--into", ".", "--domain", "d1.example", "--out", "-");
    expect(code).toBe(0);
    expect(stdout).toContain("domain: d1.example\n");
    expect(await readdir(cwd)).toEqual(["tenon.yaml"]);
  });

  test("adds a zone file's zone, too", async () => {
    const zone = "$ORIGIN new.example.\n@ 300 IN SOA ns1 hostmaster 1 300 300 1209600 300\nwww 300 A 192.0.2.9\n";
    const { tenon, read } = await project(1, { "tenon.yaml": HEAD, "new.zone": zone });
    expect((await tenon("import", "--into", ".", "--from", "zone", "new.zone")).code).toBe(0);
    expect(await read("zones/new.example.yaml")).toContain("192.0.2.9");
    expect((await tenon("validate")).stdout).toContain("valid: 1 declared");
  });

  test("of 300 domains is a file of each, found by one pattern", async () => {
    const { tenon, read } = await project(300, { "tenon.yaml": `${HEAD}${SETS}` });
    expect((await tenon("import", "--into", ".", "--domain", "*", "--split")).code).toBe(0);
    expect(await read("tenon.yaml")).toBe(`${HEAD}files: [zones/*.yaml]
${SETS}`);
    expect((await tenon("plan")).stdout).toContain("No changes.");
  });
});

describe("an import into a manifest", () => {
  const ZONES = `# zones: ü
tenon: 1
defaults: { domain: { type: master, soa_email: hostmaster@d1.example, tags: [ours] }, record: { ttl_sec: 300 } }
domains:
  # the first
  - domain: old.example
    records:
      - { type: A, name: www, target: 192.0.2.7 } # here
  # behind all
vpcs: []
`;
  const ROOT = `${HEAD}files: [more/zones.yaml]\n${SETS}`;
  const FILES = { "a/tenon.yaml": ROOT, "a/more/zones.yaml": ZONES };

  test("adds entries behind those that are there, by its defaults and the project's record sets, and keeps all else", async () => {
    const { tenon, read, cwd } = await project(2, FILES);
    const { code, stdout, stderr } = await tenon("import", "--into", "a/more/zones.yaml");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Imported 1 VPC, 2 domains, 6 records into a/more/zones.yaml.\nNext: tenon plan a\n");
    const entry = (name: string, email: string) => `
  - domain: ${name}${email}
    tags: null
    use: [post]
    records:
      - { type: A, name: www, target: 192.0.2.1 }
`;
    const email = "\n    soa_email: admin@d0.example";
    const text = await read("a/more/zones.yaml");
    expect(text.replace(/\n {4}soa_email: .*/g, "")).toBe(
      `${ZONES.replace(
        "  # behind all\n",
        `${entry("d0.example", email)}${entry("d1.example", "")}  # behind all\n`.replaceAll(email, ""),
      ).replace(
        "vpcs: []\n",
        "vpcs:\n  - label: prod\n    region: us-east\n    subnets:\n      - { label: web, ipv4: 10.0.1.0/24 }\n",
      )}`,
    );
    expect(await read("a/tenon.yaml")).toBe(ROOT);
    expect(await readdir(join(cwd, "a/more"))).toEqual(["zones.yaml"]);
    const plan = await tenon("plan", "a", "--exclude", "domain/old.example");
    expect(plan.stdout).toContain("No changes");
  });

  test("adds to the root file, behind the sections that stand before, also where there are none", async () => {
    const { tenon, read } = await project(2, { "tenon.yaml": `${HEAD}\nremoved:\n  - { domain: x.example }\n` });
    expect((await tenon("import", "--into", "tenon.yaml", "--vpc", "prod")).code).toBe(0);
    expect(await read("tenon.yaml")).toBe(`${HEAD}
vpcs:
  - label: prod
    region: us-east
    subnets:
      - { label: web, ipv4: 10.0.1.0/24 }

removed:
  - { domain: x.example }
`);
    expect((await tenon("import", "--into", "./tenon.yaml", "--domain", "d1.example")).code).toBe(0);
    expect((await tenon("plan")).stdout).toContain("No changes.");
    expect((await tenon("fmt", "--check")).code).toBe(0);
  });

  test.each([
    ["lists that are not indented", "domains:\n- domain: old.example\n  type: master\n  soa_email: a@b.example\n"],
    [
      "line breaks of Windows",
      "domains:\r\n  - domain: old.example\r\n    type: master\r\n    soa_email: a@b.example\r\n",
    ],
    [
      "a text of several lines at its end",
      "domains:\n  - domain: old.example\n    type: master\n    soa_email: a@b.example\n    note: |\n      one\n      two\n\n# end\n",
    ],
    ["no line break at its end", "vpcs:\n  - { label: prod, region: us-east }"],
    [
      "a default for each key",
      "defaults: { domain: { type: slave, master_ips: [192.0.2.1], status: disabled, description: old, group: g, refresh_sec: 300, ttl_sec: 300, axfr_ips: [192.0.2.2], ignore: [{ name: x }], records_policy: additive, use: [post], protect: true } }\n",
    ],
  ])("can be one with %s", async (_, text) => {
    const sets = text.includes("post") ? SETS.trimStart() : "";
    const { tenon, read } = await project(2, { "tenon.yaml": `tenon: 1\n${sets}${text}` });
    const { code, stderr } = await tenon("import", "--into", "tenon.yaml", "--domain", "*");
    expect({ code, stderr: stderr.replace(/^warning[\s\S]*/, "") }).toEqual({ code: 0, stderr: "" });
    const now = await read("tenon.yaml");
    for (const line of text.split(/\r?\n/)) expect(now).toContain(line);
    const plan = await tenon("plan", ...(text.includes("old.") ? ["--exclude", "domain/old.example"] : []));
    expect(plan.stdout).toContain("No changes");
  });

  test("is left as it is where only a person can extend it, and where what names it is no project", async () => {
    const flow = "tenon: 1\ndomains: [{ domain: old.example, type: master, soa_email: a@b.example }]\n";
    const files = { "a/tenon.yaml": flow, "a/b.yaml": "tenon: 1\n", "lone.yaml": "tenon: 1\n" };
    const { tenon, read } = await project(2, files);
    const into = (...args: string[]) => tenon("import", "--domain", "d1.example", "--into", ...args);
    expectPlain(await into("a/tenon.yaml"), 4, ["only a person can extend"]);
    expectPlain(await into("a/b.yaml"), 1, [
      "a/b.yaml is no manifest of the project in a",
      "under `files` of a/tenon.yaml",
    ]);
    expectPlain(await into("lone.yaml"), 1, ["lone.yaml is in no project"]);
    expectPlain(await into("a/tenon.yaml", "--split"), 1, ["--into names one manifest"]);
    for (const [file, text] of Object.entries(files)) expect(await read(file)).toBe(text);
  });

  test("of 1,200 domains is one file", async () => {
    const { tenon, read } = await project(1_200, { "tenon.yaml": `${HEAD}${SETS}` });
    expect((await tenon("import", "--into", "tenon.yaml", "--domain", "*")).code).toBe(0);
    expect(await read("tenon.yaml")).toContain(`${HEAD}${SETS}\ndomains:\n  - domain: d0.example\n`);
    expect((await tenon("plan")).stdout).toContain("No changes.");
  });
});

test("an import into a project takes its environment and variables, says what is declared already, and names the folder as it was given", async () => {
  const root = `tenon: 1
owner: edge-\${var.env}
variables: { env: {}, size: {} }
environments: { a: { variables: { env: a } }, b: { variables: { env: b } } }
domains: [{ domain: "d0.example", type: master, soa_email: hostmaster@example.com }]
`;
  const { tenon, read } = await project(2, { "p/tenon.yaml": root });
  const flags = ["import", "--into", "p", "--env", "b", "--var", "size=1"];
  expectPlain(await tenon("import", "--into", "p", "--env", "b", "--domain", "*"), 1, ["missing-variable"]);
  const { code, stdout } = await tenon(...flags, "--owner", "edge-b", "--domain", "*", "--format", "json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ out: "p", already: ["domain/d0.example"], imported: { domains: 1 } });
  expect(await read("p/zones/d1.example.yaml")).toContain("d1.example");
  const text = await tenon(...flags, "--vpc", "prod");
  expect(text.stdout).toContain("into p (1 file).\nNext: tenon plan p\n");
  expectPlain(await tenon("import", "--out", "q", "--env", "b"), 1, ["--env is for the project that --into names"]);
});

describe("a project that nothing can be added to", () => {
  test.each([
    ["has errors", { "tenon.yaml": `${HEAD}vpcss: []\n` }, 3, ["unknown-key", "Nothing was imported"]],
    ["is none", {}, 1, ["no-project"]],
    ["lacks a value", { "tenon.yaml": "tenon: 1\nvariables: { x: {} }\n" }, 1, ["missing-variable"]],
    [
      "is on one line",
      { "tenon.yaml": "{ tenon: 1 }\n" },
      4,
      ["only a person can extend", "files: [zones/d1.example.yaml]"],
    ],
  ])("because it %s is left as it is", async (_, files, code, words) => {
    const { tenon, cwd } = await project(2, files as Record<string, string>);
    expectPlain(await tenon("import", "--into", ".", "--domain", "d1.example"), code, words);
    expect(await readdir(cwd)).toEqual(Object.keys(files));
  });

  test("because a link leads out of it is left as it is", async () => {
    const { tenon, cwd } = await project(2, { "a/tenon.yaml": HEAD });
    await mkdir(join(cwd, "outside"));
    await symlink("../outside", join(cwd, "a/zones"));
    expectPlain(await tenon("import", "--into", "a", "--domain", "d1.example"), 4, ["a symbolic link leads"]);
    expect(await readdir(join(cwd, "outside"))).toEqual([]);
  });

  test("beside --out of another folder, for another owner, or with neither flag, is an error of the flags", async () => {
    expectPlain(await run(["import", "--into", "a", "--out", "b"]), 1, ["--into adds to one project"]);
    const cwd = await folder({
      "tenon.yaml": "tenon: 1\n",
      "b/tenon.yaml": "tenon: 1\nowner: team\n",
      "a.tfstate": "{}",
    });
    const edge = ["import", "--from", "terraform", "a.tfstate", "--owner", "edge", "--into"];
    expectPlain(await run([...edge, "."], { cwd }), 1, ["--owner edge was given", "has no owner", "owner: edge"]);
    expectPlain(await run([...edge, "b"], { cwd }), 1, ["the project of --into is of team"]);
    expectPlain(await run(["import"]), 1, ["neither --out nor --into"]);
  });
});

describe("imports into one project at once", () => {
  test("one that is too late leaves nothing, nor the folder that it made", async () => {
    const { cwd, tenon } = await project(2, { "tenon.yaml": HEAD, "tenon.yaml.writing": "" });
    const words = [
      "another run is writing it, or was killed: remove",
      "tenon.yaml.writing",
      "The project is as it was.",
    ];
    expectPlain(await tenon("import", "--into", ".", "--domain", "d1.example"), 1, words);
    expect((await readdir(cwd)).sort()).toEqual(["tenon.yaml", "tenon.yaml.writing"]);
    expect(await readFile(join(cwd, "tenon.yaml"), "utf8")).toBe(HEAD);
  });

  test("each that says it is done is in the project, and one that came too late leaves nothing, and the others' files", async () => {
    for (const names of [
      ["d0.example", "d1.example", "d2.example"],
      ["d0.example", "d0.example", "d0.example"],
      ["d1.example", "d2.example", "d2.example"],
    ]) {
      const { cwd, options, tenon } = await project(3, { "tenon.yaml": HEAD });
      const runs = await Promise.all(names.map((name) => run(["import", "--into", ".", "--domain", name], options)));
      const done = names.filter((_, index) => runs[index]?.code === 0);
      expect([names, runs.map(({ code }) => code)]).toEqual([names, expect.arrayContaining([0])]);
      const declared = (await tenon("show", "--expanded")).stdout.match(/d\d\.example(?=")|d\d\.example$/gm) ?? [];
      expect([names, [...new Set(declared)].sort()]).toEqual([names, [...new Set(done)].sort()]);
      const files = await readdir(cwd, { recursive: true });
      const zones = files.filter((file) => /d\d\.example\.yaml/.test(file));
      expect([names, zones.length, files.filter((file) => file.endsWith(".new"))]).toEqual([
        names,
        new Set(done).size,
        [],
      ]);
    }
  });

  test("a new file takes the place of none that another run has placed meanwhile", async () => {
    const out = await folder({});
    await mkdir(join(out, "zones"));
    const write = (text: string) => writeFolder({ out, files: [{ file: "zones/a.yaml", text }], force: false });
    const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`);
    const ended = await Promise.allSettled(texts.map(write));
    const which = ended.findIndex(({ status }) => status === "fulfilled");
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await readFile(join(out, "zones/a.yaml"), "utf8")).toBe(texts[which]);
    expect(await readdir(join(out, "zones"))).toEqual(["a.yaml"]);
  });
});
