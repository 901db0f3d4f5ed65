import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT, run } from "./run.ts";
import { faults } from "./stage.ts";

/** Whatever a format may find hard. */
const HARD = `tenon: 1
owner: edge
allow: [{ delete: domain/old.example }]
vpcs:
  - { label: prod, region: us-east, description: 'a "b" \\ c', protect: true, note: "mind\\nthis", subnets: [{ label: web, ipv4: 10.0.1.0/24 }] }
domains:
  - domain: bücher.example
    type: master
    soa_email: hostmaster@example.com
    ttl_sec: 3600
    tags: [front]
    ignore: [{ name: "_acme-challenge*" }]
    lint: { off: [multiple-spf] }
    records:
      - { type: A, name: www, targets: [192.0.2.1, 192.0.2.2], ttl_sec: 300 }
      - { type: AAAA, name: "*", target: "2001:db8::1" }
      - { type: TXT, name: odd, target: '"$$\{a}" "%{b}" ; \\; é' }
      - { type: TXT, name: "10" , target: ten }
      - { type: TXT, name: "9", target: nine }
      - { type: MX, target: mx.example.net., priority: 10, lint: { off: [mx-without-spf, mx-without-dmarc] } }
      - { type: SRV, service: sip, protocol: tcp, name: sub, target: sip.example.net., priority: 1, weight: 2, port: 5060 }
      - { type: CAA, tag: issue, target: ca.example }
`.replaceAll("$$\\{", "$${");

interface Block {
  readonly type: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** What is read by hand: the words of each resource, and the id of each import. */
function readHcl(text: string): { resources: Block[]; imports: Map<string, string> } {
  const resources = [...text.matchAll(/^resource "(\w+)" "(\w+)" \{\n(.*?)^\}/gms)].map(
    ([, type = "", name = "", body = ""]) => ({
      type,
      name,
      fields: Object.fromEntries(
        [...body.matchAll(/^ {2}(\w+) += (.*)$/gm)].map(([, field = "", value = ""]) => [field, value]),
      ),
    }),
  );
  const imports = [...text.matchAll(/^import \{\n {2}to = (\S+)\n {2}id = "([^"]+)"\n\}$/gm)];
  return { resources, imports: new Map(imports.map(([, to = "", id = ""]) => [to, id])) };
}

async function applied(text: string) {
  const service = await emulator();
  const cwd = await folder({ "infra/tenon.yaml": text });
  const env = envOf(service);
  const done = await here(["apply", "infra", "--yes"], { cwd, env });
  expect([done.code, done.stderr]).toEqual([0, expect.any(String)]);
  return { service, cwd, env };
}

describe("tenon export --to terraform", () => {
  it("writes a resource and an import for each object, in the provider's forms, with the ids of the account", async () => {
    const { service, cwd, env } = await applied(HARD);
    const ended = await here(["export", "infra", "--to", "terraform", "--out", "tf"], { cwd, env });
    expect(ended.stdout).toBe(
      "Exported 1 VPC, 1 subnet, 1 domain, 9 records into tf (1 file).\nAll of it is in the account.\nNext: cd tf && terraform init && terraform plan\n",
    );
    expect(await readdir(join(cwd, "tf"))).toEqual(["main.tf"]);
    const text = await readFile(join(cwd, "tf/main.tf"), "utf8");
    const { resources, imports } = readHcl(text);
    const listed = async (path: string) => {
      const response = await fetch(`${service.baseUrl}${path}`, {
        headers: { authorization: "Bearer emulator-token" },
      });
      return ((await response.json()) as { data: Record<string, unknown>[] }).data;
    };
    const [vpc] = await listed("/vpcs");
    const [domain] = await listed("/domains");
    const records = await listed(`/domains/${domain?.["id"]}/records`);
    const [subnet] = (vpc?.["subnets"] ?? []) as { id: number }[];
    expect(imports.get("linode_vpc.prod")).toBe(String(vpc?.["id"]));
    expect(imports.get("linode_vpc_subnet.prod_web")).toBe(`${vpc?.["id"]},${subnet?.id}`);
    expect(imports.get("linode_domain.xn_bcher_kva_example")).toBe(String(domain?.["id"]));
    const ofRecords = [...imports].flatMap(([to, id]) => (to.startsWith("linode_domain_record.") ? [id] : []));
    expect(ofRecords.sort()).toEqual(records.map(({ id }) => `${domain?.["id"]},${id}`).sort());
    expect(resources.map(({ type, name }) => `${type}.${name}`).sort()).toEqual([...imports.keys()].sort());
    // Each says what the account says, and refers to what it is in.
    for (const { type, name, fields } of resources) {
      if (type !== "linode_domain_record") continue;
      const id = Number(imports.get(`${type}.${name}`)?.split(",")[1]);
      const live = records.find((record) => record["id"] === id);
      expect(fields["domain_id"]).toBe("linode_domain.xn_bcher_kva_example.id");
      expect(fields["record_type"]).toBe(JSON.stringify(live?.["type"]));
      for (const field of ["service", "protocol", "tag"]) {
        expect([name, field, fields[field]]).toEqual([
          name,
          field,
          live?.[field] === null ? undefined : JSON.stringify(live?.[field]),
        ]);
      }
      if (live?.["type"] !== "TXT") expect(fields["target"]).toBe(JSON.stringify(live?.["target"]));
      expect(fields["ttl_sec"]).toBe(live?.["ttl_sec"] === 0 ? undefined : String(live?.["ttl_sec"]));
      if (live?.["type"] === "SRV") expect(fields["name"]).toBeUndefined();
    }
    expect(text).toContain('target      = "\\"$\\u007ba}\\" \\"%\\u007bb}\\" ; \\\\; é"');
    expect(text).toContain('description = "a \\"b\\" \\\\ c [tenon:edge]"');
    expect(text).toContain('# mind\n# this\nresource "linode_vpc" "prod" {');
    expect(text.match(/prevent_destroy = true/g)).toHaveLength(2);
    expect(text).toMatch(/tags += \["front", "tenon:edge"\]/);
  });

  it("imports nothing that is not there yet, and says what an apply would do first", async () => {
    const { cwd, env } = await applied(PROJECT);
    await writeFile(
      join(cwd, "infra/tenon.yaml"),
      PROJECT.replace(
        "{ label: web, ipv4: 10.0.1.0/24 }",
        "{ label: web, ipv4: 10.0.1.0/24 }, { label: db, ipv4: 10.0.2.0/24 }",
      ),
    );
    const ended = await here(["export", "infra", "--to", "terraform", "--out", "tf"], { cwd, env });
    expect(ended.stdout).toContain(
      "1 change is pending: what was written is how tenon apply would leave the account.\n",
    );
    expect(ended.stdout).toContain("5 are in the account, and 1 would be made.\n");
    const { resources, imports } = readHcl(await readFile(join(cwd, "tf/main.tf"), "utf8"));
    const names = resources.map(({ type, name }) => `${type}.${name}`);
    expect(names.filter((name) => !imports.has(name))).toEqual(["linode_vpc_subnet.prod_db"]);
  });

  it("takes from the account what the manifests leave to it, and without a connection says that it could not", async () => {
    const { cwd, env } = await applied(PROJECT);
    const bare =
      "tenon: 1\nowner: edge\ndomains: [{ domain: example.com, type: master, soa_email: hostmaster@example.com }]\n";
    await writeFile(join(cwd, "infra/tenon.yaml"), bare);
    const live = await here(["export", "infra", "--to", "terraform", "--out", "-"], { cwd, env });
    expect(readHcl(live.stdout).resources.map(({ type }) => type)).toEqual([
      "linode_domain",
      "linode_domain_record",
      "linode_domain_record",
    ]);
    const offline = await here(["export", "infra", "--to", "terraform", "--from-manifest", "--out", "-"], { cwd });
    expect(offline.code).toBe(0);
    expect(readHcl(offline.stdout)).toEqual({
      resources: [expect.objectContaining({ type: "linode_domain" })],
      imports: new Map(),
    });
    expect(offline.stderr.replace(/\s+/g, " ")).toContain("records: the manifests do not say what they are");
    const written = await here(["export", "infra", "--to", "terraform", "--from-manifest", "--out", "tf"], { cwd });
    expect(written.stdout).toContain("No ids are known, so Terraform would make all of it.\n");
  });

  it("names each of many equal records by itself, over several pages of the account", async () => {
    const targets = Array.from({ length: 700 }, (_, index) => `192.0.${2 + (index >> 8)}.${index & 255}`);
    const text = `tenon: 1\nowner: edge\ndomains:\n  - { domain: a.example, type: master, soa_email: a@a.example, records: [{ type: A, name: www, targets: [${targets.join(", ")}] }] }\n`;
    const { cwd, env } = await applied(text);
    const { stdout } = await here(["export", "infra", "--to", "terraform", "--out", "-"], { cwd, env });
    const { resources, imports } = readHcl(stdout);
    expect(resources).toHaveLength(701);
    expect(new Set(resources.map(({ name }) => name)).size).toBe(701);
    expect(new Set(imports.values()).size).toBe(701);
  });

  it("reads an image that is there and does not manage it: the provider would destroy it to know it", async () => {
    const service = await emulator({ seed: { images: [{ label: "golden", description: "base" }] } });
    const images =
      "images:\n  - { label: golden }\n  - { label: new, upload: { file: images/new.img.gz, region: us-east } }\n  - { label: shot, capture: { disk_id: 7 } }\n";
    const cwd = await folder({ "infra/tenon.yaml": `tenon: 1\n${images}` });
    await mkdir(join(cwd, "infra/images"));
    await writeFile(join(cwd, "infra/images/new.img.gz"), gzipSync(Buffer.alloc(1024)));
    const ended = await here(["export", "infra", "--to", "terraform", "--out", "tf/deep"], {
      cwd,
      env: envOf(service),
    });
    expect(ended.code).toBe(0);
    const text = await readFile(join(cwd, "tf/deep/main.tf"), "utf8");
    expect(text).toMatch(/^data "linode_image" "golden" \{\n {2}id = "private\/\d+"\n\}$/m);
    expect(text).not.toContain("linode_image.golden");
    expect(text).toMatch(/^resource "linode_image" "new" \{$/m);
    expect(text).toContain('file_path = "../../infra/images/new.img.gz"');
    expect(text).not.toContain("shot");
    expect(ended.stderr.replace(/\s+/g, " ")).toContain(
      "not exported: image: to capture it Terraform needs the id of the node",
    );
  });
});

describe("tenon export --to octodns", () => {
  it("writes a file for each zone, its keys in the order that octoDNS enforces, and import reads the same records", async () => {
    const { cwd, env } = await applied(HARD);
    const ended = await here(["export", "infra", "--to", "octodns", "--out", "dns"], { cwd, env });
    expect(ended).toMatchObject({ code: 0, stdout: "Exported 1 domain, 9 records into dns (1 file).\n" });
    const told = ended.stderr.replace(/\s+/g, " ");
    expect(told).toContain("not exported: VPC: the format has DNS zones alone: vpc/prod");
    expect(told).toContain("not exported: ignore: octoDNS deletes what is not in its file");
    expect(told).toContain("not exported: allow: nothing is asked for consent");
    await expect(await readFile(join(cwd, "dns/xn--bcher-kva.example.yaml"), "utf8")).toMatchFileSnapshot(
      "../fixtures/export/octodns/xn--bcher-kva.example.yaml",
    );
    const again = ["import", "--from", "octodns", "dns", "--soa-email", "a@a.example", "--out", "back"];
    expect(await here(again, { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("1 domain, 9 records"),
    });
  });

  it("lists each field of the SOA that a file does not hold, and none that the project does not set", async () => {
    const set = HARD.replace(
      "    tags: [front]",
      "    tags: [front]\n    refresh_sec: 14400\n    retry_sec: 3600\n    expire_sec: 604800",
    );
    const { cwd, env } = await applied(set);
    const fields = async (name: string) => {
      const args = ["export", "infra", "--to", "octodns", "--out", name, "--format", "json"];
      const { left_out } = JSON.parse((await run(args, { cwd, env })).stdout);
      return left_out.flatMap(({ what, detail }: { what: string; detail: string }) =>
        /SOA/.test(detail) ? [what] : [],
      );
    };
    expect(await fields("all")).toEqual(["soa_email", "refresh_sec", "retry_sec", "expire_sec", "ttl_sec"]);
    const plain = await applied(HARD.replace("    ttl_sec: 3600\n", ""));
    const args = ["export", "infra", "--to", "octodns", "--out", "-"];
    const { stderr } = await here(args, plain);
    expect(stderr.replace(/\s+/g, " ")).toContain("not exported: soa_email: octoDNS has no SOA, and the service");
    expect(stderr).not.toContain("ttl_sec");
  });

  it.each([
    ["with a TTL of its own", HARD],
    ["with the service's", HARD.replace("    ttl_sec: 3600\n", "")],
  ])("and import are there and back: of a domain %s the records without one have none again", async (_, text) => {
    const { cwd, env } = await applied(text);
    expect(await run(["export", "infra", "--to", "octodns", "--out", "dns"], { cwd, env })).toMatchObject({ code: 0 });
    const email = /soa_email: (\S+)/.exec(text)?.[1] ?? "";
    const args = ["import", "--from", "octodns", "dns", "--soa-email", email, "--owner", "edge", "--out", "back"];
    expect(await run(args, { cwd })).toMatchObject({ code: 0 });
    const planned = await run(["plan", "back", "--target", "domain/*", "--detailed-exitcode"], { cwd, env });
    expect(planned.stdout).toBe("No changes within the targets.\n");
    expect(planned.code).toBe(0);
  });

  it("says that records with and without that TTL as their own are alike there", async () => {
    const { cwd, env } = await applied(HARD.replace("ttl_sec: 300", "ttl_sec: 3600"));
    const { stdout, stderr } = await here(["export", "infra", "--to", "octodns", "--out", "-"], { cwd, env });
    expect(stdout).not.toContain("# tenon");
    expect(stderr.replace(/\s+/g, " ")).toContain("not exported: own TTLs: records that follow the domain's TTL");
  });

  it("writes what others keep in a zone, too: its file is all that octoDNS leaves there", async () => {
    const { service, cwd, env } = await applied(HARD);
    const [zone] = (
      (await (
        await fetch(`${service.baseUrl}/domains`, { headers: { authorization: "Bearer emulator-token" } })
      ).json()) as { data: { id: number }[] }
    ).data;
    const body = JSON.stringify({ type: "TXT", name: "_acme-challenge", target: "x" });
    const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
    await fetch(`${service.baseUrl}/domains/${zone?.id}/records`, { method: "POST", headers, body });
    const { stdout, stderr } = await here(["export", "infra", "--to", "octodns", "--out", "-"], { cwd, env });
    expect(stdout).toContain("_acme-challenge:\n  ttl: 3600\n  type: TXT\n  value: x\n");
    expect(stderr.replace(/\s+/g, " ")).toContain("1 of the account that the project leaves alone are written");
  });
});

describe("tenon export --to zone", () => {
  it("writes what tenon zone export writes, with the name servers that the service renders", async () => {
    const { cwd, env } = await applied(HARD);
    const ended = await here(["export", "infra", "--to", "zone", "--out", "zones"], { cwd, env });
    expect(ended.code).toBe(0);
    const alone = await here(["zone", "export", "bücher.example"], { cwd, env });
    expect(await readFile(join(cwd, "zones/xn--bcher-kva.example.zone"), "utf8")).toBe(alone.stdout);
  });

  it("of many zones says once that it made something up, and counts the rest", async () => {
    const zones = Array.from(
      { length: 20 },
      (_, index) => `  - { domain: z${index}.example, type: master, soa_email: a@a.example, records: [] }\n`,
    );
    const cwd = await folder({ "tenon.yaml": `tenon: 1\ndomains:\n${zones.join("")}` });
    const ended = await here(["export", "--to", "zone", "--from-manifest", "--out", "zones"], { cwd });
    expect(ended.code).toBe(0);
    expect(ended.stderr.match(/warning\[nameservers-unknown\]/g)).toHaveLength(3);
    expect(ended.stderr).toContain("17 more warnings: nameservers-unknown\n");
    expect(await readdir(join(cwd, "zones"))).toHaveLength(20);
    const named = await here(
      ["export", "--to", "zone", "--from-manifest", "--nameserver", "ns1.example.net", "--out", "named"],
      { cwd },
    );
    expect(named).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("a service that falters", () => {
  it.each([
    ["is asked again after a 429 in the middle", "status=429,retry-after=1,method=GET,nth=3", 0],
    ["ends the export where it cannot be read, and nothing is written", "status=500,method=GET,path=/domains", 1],
  ])("%s", async (_, fault, code) => {
    const domains = ["a", "b", "c"].map((label) => ({ domain: `${label}.example`, soa_email: "a@a.example" }));
    const service = await emulator({ seed: { domains }, ...faults(fault) });
    const declared = domains.map(({ domain }) => `  - { domain: ${domain}, type: master, soa_email: a@a.example }\n`);
    const cwd = await folder({ "tenon.yaml": `tenon: 1\ndomains:\n${declared.join("")}` });
    const args = ["export", "--to", "zone", "--retry-for", "2s", "--out", "zones"];
    const ended = await here(args, { cwd, env: envOf(service) });
    expect([ended.code, ended.stderr]).toEqual([code, expect.any(String)]);
    expect(await readdir(cwd)).toEqual(code === 0 ? ["tenon.yaml", "zones"] : ["tenon.yaml"]);
  });
});

describe("tenon export --to csv", () => {
  it("has a row for each object, and no text that a spreadsheet takes for a formula", async () => {
    const text = PROJECT.replace("records:\n", "records:\n      - { type: TXT, name: x, target: '=cmd|\"a\", b' }\n");
    const { cwd, env } = await applied(text);
    const ended = await here(["export", "infra", "--to", "csv", "--out", "all.csv"], { cwd, env });
    expect(ended).toMatchObject({ code: 0, stdout: "Exported 1 VPC, 1 subnet, 1 domain, 3 records into all.csv.\n" });
    const lines = (await readFile(join(cwd, "all.csv"), "utf8")).split("\n");
    expect(lines.map((line) => line.split(",")[0])).toEqual([
      "kind",
      "vpc",
      "subnet",
      "domain",
      "record",
      "record",
      "record",
      "",
    ]);
    expect(lines.join("\n")).toContain(`,TXT,"'=cmd|""a"", b",`);
  });
});

describe("what tenon export is given", () => {
  it("prints one file on stdout, and refuses to print several", async () => {
    const two = PROJECT.replace(
      "domains:\n",
      "domains:\n  - { domain: b.example, type: master, soa_email: a@a.example, records: [] }\n",
    );
    const cwd = await folder({ "tenon.yaml": two });
    const args = ["export", "--from-manifest", "--out", "-", "--to"];
    expectPlain(await here([...args, "octodns"], { cwd }), 1, ["--out - prints one file, and there are 2"]);
    expect((await here([...args, "csv"], { cwd })).stdout).toMatch(/^kind,address,id,/);
    expect(await readdir(cwd)).toEqual(["tenon.yaml"]);
  });

  it("is not overwritten without --force", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT, "tf/main.tf": "mine\n", "all.csv": "mine\n" });
    const args = ["export", "--from-manifest", "--to"];
    expectPlain(await here([...args, "terraform", "--out", "tf"], { cwd }), 4, ["main.tf", "--force"]);
    expectPlain(await here([...args, "csv", "--out", "all.csv"], { cwd }), 4, ["all.csv", "--force"]);
    expect(await readFile(join(cwd, "tf/main.tf"), "utf8")).toBe("mine\n");
    expect(await here([...args, "terraform", "--out", "tf", "--force"], { cwd })).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, "tf/main.tf"), "utf8")).toContain("linode_vpc");
  });

  it("does not follow a link out of the folder", async () => {
    const cwd = await folder({ "work/tenon.yaml": PROJECT });
    await mkdir(join(cwd, "elsewhere"));
    await symlink(join(cwd, "elsewhere"), join(cwd, "work/tf"));
    const ended = await here(["export", "--from-manifest", "--to", "terraform", "--out", "tf"], {
      cwd: join(cwd, "work"),
    });
    expectPlain(ended, 4, ["symbolic-link"]);
    expect(await readdir(join(cwd, "elsewhere"))).toEqual([]);
  });

  it.each([
    [["--to", "pulumi", "--out", "x"], "Allowed choices are terraform, octodns, zone, csv"],
    [["--out", "x"], "required option '--to <format>' not specified"],
    [["--to", "csv"], "required option '--out <path>' not specified"],
    [["--to", "csv", "--out", "-", "--format", "json"], "--out - prints what is exported"],
    [["--to", "csv", "--out", "x", "--nameserver", "ns1.example.net"], "--nameserver is for --to zone"],
    [["--to", "zone", "--out", "x", "--nameserver", "a b"], "is not the name of a host"],
    [["--to", "zone", "--out", "x"], "base URL"],
  ])("%j is refused by name", async (args, words) => {
    const ended = await here(["export", ...args], { cwd: await folder({ "tenon.yaml": PROJECT }) });
    expect(ended.code).toBe(1);
    expect(`${ended.stdout}${ended.stderr}`).toContain(words);
  });

  it("declares nothing that the format can hold", async () => {
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [{ label: prod, region: us-east }]\n" });
    const ended = await here(["export", "--from-manifest", "--to", "octodns", "--out", "dns"], { cwd });
    expect(ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("there is nothing to export to octodns"),
    });
    expect(await readdir(cwd)).toEqual(["tenon.yaml"]);
  });

  it("is invalid: nothing is written", async () => {
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [{ lable: prod }]\n" });
    expectPlain(await here(["export", "--from-manifest", "--to", "csv", "--out", "all.csv"], { cwd }), 3, ["lable"]);
    expect(await readdir(cwd)).toEqual(["tenon.yaml"]);
  });

  it("is somebody else's in the account: refused as a plan is", async () => {
    const domains = [{ domain: "example.com", soa_email: "a@example.com", tags: ["tenon:others"] }];
    const service = await emulator({ seed: { domains } });
    const cwd = await folder({ "tenon.yaml": PROJECT });
    expectPlain(await here(["export", "--to", "csv", "--out", "x"], { cwd, env: envOf(service) }), 4, [
      "foreign-owner",
    ]);
    expect(await readdir(cwd)).toEqual(["tenon.yaml"]);
  });

  it("is told to programs in the shape of the schema", async () => {
    const { cwd, env } = await applied(HARD);
    const schema = JSON.parse(await readFile(new URL("../../schemas/export.schema.json", import.meta.url), "utf8"));
    const fits = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);
    const ended = await run(["export", "infra", "--to", "octodns", "--out", "dns", "--format", "json"], { cwd, env });
    const document = JSON.parse(ended.stdout);
    expect([ended.code, fits(document), fits.errors]).toEqual([0, true, null]);
    expect(document).toMatchObject({
      files: ["xn--bcher-kva.example.yaml"],
      exported: { vpcs: 0, domains: 1, records: 9 },
      with_id: 10,
      pending: 0,
    });
    expect(document.left_out).toContainEqual({ address: "vpc/prod", what: "VPC", detail: expect.any(String) });
  });
});
