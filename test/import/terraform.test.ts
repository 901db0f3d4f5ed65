import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import type { Seed } from "../../src/emulator/index.ts";
import type { ImportResult } from "../../src/import/index.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { folder } from "../manifest/support.ts";
import { Account, loadFolder } from "../support/account.ts";
import { codesOf, fileOf, importAccount, importStates, type LiveImportOptions, written } from "../support/imports.ts";
import { growth, itemsWalkedEach } from "../support/operations.ts";
import { recordOf, resource, stateOf } from "../support/terraform.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/terraform");

/** The account as it was when the fixtures were written. */
function fixtureSeed(): Seed {
  const { domains, records, vpcs } = JSON.parse(readFileSync(join(FIXTURES, "account.json"), "utf8"));
  return {
    domains: domains.map(({ errors: _, ...domain }: JsonObject) => ({
      ...domain,
      records: records[String(domain["domain"])],
    })),
    vpcs: vpcs.map(({ subnets, ...vpc }: { subnets: JsonObject[] }) => ({
      ...vpc,
      subnets: subnets.map(({ linodes: _, ...subnet }) => subnet),
    })),
  };
}

async function accountOf(seed: Seed): Promise<Account> {
  const account = await Account.open({ seed });
  onTestFinished(() => account.close());
  return account;
}

/** What a plan of the imported project would do to the account. */
async function stepsOf(result: ImportResult, account: Account): Promise<readonly unknown[]> {
  const { desired, diagnostics } = await loadFolder(await written(result));
  if (desired === null) throw new Error(JSON.stringify(diagnostics));
  return (await account.plan(desired)).steps;
}

/** An import of one state that holds these resources. */
function imported(resources: readonly JsonObject[], options: LiveImportOptions = {}): Promise<ImportResult> {
  return importStates([join(folder({ "a.tfstate": stateOf(resources) }), "a.tfstate")], options);
}

/** An import of a file with this text. */
function importedText(text: string | Buffer, name = "a.json"): Promise<ImportResult> {
  return importStates([join(folder({ [name]: text }), name)]);
}

function elsewhereOf(result: ImportResult): string[] {
  const read = result.ok ? result : result.imported;
  return (read?.elsewhere ?? []).map(({ address, detail }) => `${address}: ${detail}`);
}

/** Of the first error: what it says, and the text that it points at. */
function firstError(result: ImportResult, text: string): { summary: string; detail: string; at: string | null } | null {
  const found = (result.ok ? [] : (result.imported?.diagnostics ?? [])).find(({ severity }) => severity === "error");
  if (found === undefined) return null;
  const { summary, detail, span } = found;
  return { summary, detail, at: span === undefined ? null : text.slice(span.start, span.end) };
}

const ZONE = { id: "7", domain: "a.example", type: "master", soa_email: "a@a.example" };

describe("what Terraform 1.11 wrote with the provider 3.13", () => {
  it.each(["terraform.tfstate", "show.json", "modules.tfstate"])("%s plans empty against the account", async (file) => {
    const account = await accountOf(fixtureSeed());
    const result = await importStates([join(FIXTURES, file)]);
    expect(await stepsOf(result, account)).toEqual([]);
    expect(result).toMatchObject({ diagnostics: [], elsewhere: [], skipped: [], remarks: [] });
    expect(result.ok && result.counts.map(({ list, count }) => `${count} ${list}`)).toEqual([
      "1 vpcs",
      "4 domains",
      "18 records",
      "0 images",
    ]);
    // The same bytes as from the account itself: no id, and nothing that is the default.
    expect(fileOf(result)).toBe(fileOf(await importAccount(account.api)));
  });

  it("of another kind is left out by its address, as Terraform shows it", async () => {
    const addresses = [
      "terraform_data.counted[0]",
      "terraform_data.counted[1]",
      "terraform_data.plain",
      "terraform_data.secret",
      'module.site["eu west"].terraform_data.each["a"]',
      'module.site["eu west"].terraform_data.each["b.c"]',
      'module.site["eu west"].module.inner.terraform_data.deep',
      'module.site["say \\"hi\\".$${x}"].terraform_data.each["a"]',
      'module.site["say \\"hi\\".$${x}"].terraform_data.each["b.c"]',
      'module.site["say \\"hi\\".$${x}"].module.inner.terraform_data.deep',
    ];
    const data = [
      'module.site["eu west"].data.terraform_remote_state.other',
      'module.site["say \\"hi\\".$${x}"].data.terraform_remote_state.other',
    ];
    for (const file of ["terraform.tfstate", "show.json", "plan.json"]) {
      const result = await importStates([join(FIXTURES, "builtin", file)]);
      const expected = [
        ...addresses.map((address) => `${address}: only VPCs, subnets, domains, records and images are taken`),
        ...data.map((address) => `${address}: data sources are only read`),
      ];
      expect([file, elsewhereOf(result).sort()]).toEqual([file, expected.sort()]);
      expect(codesOf(result)).toContain("nothing-to-import");
      expect(JSON.stringify(result)).not.toContain("a secret of ours");
    }
  });

  it("as a plan is what the plan found, and what it would change is said", async () => {
    expect(codesOf(await importStates([join(FIXTURES, "builtin/plan.json")]))).toContain("pending-changes");
    const show = JSON.parse(readFileSync(join(FIXTURES, "show.json"), "utf8"));
    const { values, ...rest } = show;
    const { root_module, ...others } = structuredClone(values);
    root_module.resources = root_module.resources.slice(0, 1);
    const plan = { ...rest, planned_values: { root_module, ...others }, prior_state: show, resource_changes: [] };
    expect(fileOf(await importedText(JSON.stringify(plan)))).toBe(
      fileOf(await importStates([join(FIXTURES, "show.json")])),
    );
    const empty = { ...plan, prior_state: { format_version: "1.0" } };
    const text = JSON.stringify(empty);
    expect(firstError(await importedText(text), text)?.summary).toMatch(/is a plan for an empty state$/);
  });
});

describe("resources of the provider", () => {
  it("are taken with every field that a manifest has", async () => {
    const seed: Seed = {
      domains: [
        {
          ...{ id: 7, domain: "a.example", type: "master", soa_email: "a@a.example", status: "disabled" },
          ...{ description: "${x}", group: "web", axfr_ips: ["192.0.2.1"], tags: ["a-tag"], ttl_sec: 300 },
          ...{ refresh_sec: 3600, retry_sec: 300, expire_sec: 86_400 },
          records: [
            {
              id: 1,
              type: "SRV",
              service: "sip",
              protocol: "tcp.b",
              target: "x.example",
              port: 1,
              weight: 2,
              priority: 0,
            },
          ],
        },
        { id: 8, domain: "copy.example", type: "slave", master_ips: ["192.0.2.53", "2001:db8::53"] },
      ],
      images: [{ id: "private/1", label: "golden", description: "Base", size: 1, status: "available" }],
    };
    const account = await accountOf(seed);
    const result = await imported([
      resource("linode_domain", "a", {
        ...{ ...ZONE, status: "disabled", description: "${x}", group: "web", axfr_ips: ["192.0.2.1"], tags: ["a-tag"] },
        ...{ ttl_sec: 300, refresh_sec: 3600, retry_sec: 300, expire_sec: 86_400 },
      }),
      resource("linode_domain_record", "srv", {
        ...recordOf(1, 7, { record_type: "SRV", name: "_sip._tcp.b", target: "x.example", port: 1, weight: 2 }),
        ...{ service: "sip", protocol: "tcp.b" },
      }),
      resource("linode_domain", "copy", {
        ...{ id: "8", domain: "copy.example", type: "slave", soa_email: "" },
        master_ips: ["192.0.2.53", "2001:db8::53"],
      }),
      resource("linode_image", "golden", {
        ...{ id: "private/1", label: "golden", description: "Base", status: "available", cloud_init: true },
        ...{ disk_id: null, file_path: "./golden.img.gz", file_hash: "0123", region: "us-east", tags: [] },
        ...{ replica_regions: ["us-east", "eu-west"], replications: [{ region: "us-east", status: "available" }] },
      }),
    ]);
    expect(await stepsOf(result, account)).toEqual([]);
    expect(fileOf(result)).toBe(fileOf(await importAccount(account.api)));
    expect(result).toMatchObject({ remarks: [{ what: "`replica_regions` of linode_image.golden" }] });
  });

  it("may state names and targets as a configuration does, in full or with a final dot", async () => {
    const result = await imported([
      resource("linode_domain", "a", ZONE),
      resource("linode_domain_record", "r", undefined, {
        instances: [
          recordOf(1, 7, { record_type: "A", name: "www.A.example", target: "192.0.2.1" }),
          recordOf(2, 7, { record_type: "CNAME", name: "shop", target: "www.a.example." }),
          recordOf(3, 7, { record_type: "MX", name: "a.example", target: "mx.a.example.", priority: 10 }),
          recordOf(4, 7, { record_type: "SRV", name: "", service: "sip", protocol: "tcp", target: "sip.a.example" }),
          recordOf(5, 7, { record_type: "CNAME", name: "bücher", target: "shop.a.example" }),
        ].map((attributes, index) => ({ index_key: index, attributes })),
      }),
    ]);
    const [domain] = parse(fileOf(result)).domains as { records: JsonObject[] }[];
    expect(domain?.records).toEqual([
      { type: "MX", target: "mx", priority: 10 },
      { type: "SRV", name: "_sip._tcp", target: "sip", priority: 0, weight: 0, port: 0 },
      { type: "CNAME", name: "shop", target: "www" },
      { type: "A", name: "www", target: "192.0.2.1" },
      { type: "CNAME", name: "xn--bcher-kva", target: "shop" },
    ]);
  });

  it("with a TTL that the service rounds are rounded, which is said", async () => {
    const result = await imported([
      resource("linode_domain", "a", ZONE),
      resource("linode_domain_record", "r", recordOf(1, 7, { name: "www", target: "192.0.2.1", ttl_sec: 600 })),
    ]);
    expect(codesOf(result)).toEqual(["rounded-seconds"]);
    expect(fileOf(result)).toContain("target: 192.0.2.1, ttl_sec: 300");
  });

  it("need an id in the manifest where a label repeats, and there alone", async () => {
    const vpc = (id: number) => resource("linode_vpc", `v${id}`, { id: String(id), label: "prod", region: "us-east" });
    const result = await imported([
      vpc(11),
      vpc(10),
      resource("linode_vpc", "x", { id: "3", label: "x", region: "a" }),
    ]);
    expect(parse(fileOf(result)).vpcs).toEqual([
      { label: "prod", id: 10, region: "us-east" },
      { label: "x", region: "a" },
    ]);
    expect(codesOf(result)).toEqual(["repeated-label"]);
  });

  it("of which there are none within a VPC or a domain stay unmanaged there", async () => {
    const account = await accountOf({
      vpcs: [{ id: 3, label: "prod", region: "us-east", subnets: [{ id: 4, label: "web", ipv4: "10.0.0.0/24" }] }],
      domains: [{ ...ZONE, id: 7, type: "master", records: [{ id: 1, type: "A", name: "www", target: "192.0.2.1" }] }],
    });
    const result = await imported([
      resource("linode_domain", "a", ZONE),
      resource("linode_vpc", "prod", { id: "3", label: "prod", region: "us-east" }),
    ]);
    expect(await stepsOf(result, account)).toEqual([]);
    expect(fileOf(result)).not.toMatch(/records:|subnets:/);
  });

  it("are narrowed by --domain and --vpc, and by the tag of an owner", async () => {
    const resources = [
      resource("linode_domain", "a", ZONE),
      resource("linode_domain", "b", { ...ZONE, id: "8", domain: "b.example", tags: ["tenon:edge"] }),
      resource("linode_vpc", "prod", { id: "3", label: "prod", region: "us-east" }),
    ];
    expect(parse(fileOf(await imported(resources, { domains: ["a.*"] })))).toEqual({
      tenon: 1,
      domains: [{ domain: "a.example", type: "master", soa_email: "a@a.example" }],
    });
    expect(parse(fileOf(await imported(resources, { owner: "edge" })))).toMatchObject({
      owner: "edge",
      domains: [{ domain: "b.example" }],
    });
  });

  it("by the thousand are taken in one zone", async () => {
    const records = Array.from({ length: 1_000 }, (_, index) => ({
      index_key: `host-${index}`,
      attributes: recordOf(index + 1, 7, { name: `host-${index}`, target: `198.51.100.${index % 250}`, ttl_sec: 300 }),
    }));
    const result = await imported([
      resource("linode_domain_record", "host", undefined, { module: "module.a", instances: records }),
      resource("linode_domain", "a", ZONE),
    ]);
    const account = await accountOf({
      domains: [
        {
          ...{ ...ZONE, id: 7, type: "master" },
          records: records.map(({ attributes: { id, domain_id: _, record_type: type, name, target, ttl_sec } }) => ({
            ...{ id: Number(id), type: String(type), name: String(name), target: String(target) },
            ttl_sec: Number(ttl_sec),
          })),
        },
      ],
    } as Seed);
    expect(await stepsOf(result, account)).toEqual([]);
    expect(result.ok && result.counts.map(({ count }) => count)).toEqual([0, 1, 1_000, 0]);
  });
});

describe("what stays with Terraform", () => {
  it("is what no manifest has, and that it would replace something", async () => {
    const result = await imported([
      resource(
        "linode_vpc",
        "v",
        { id: "3", label: "v", region: "a", ipv6: [{ range: "2001:db8::/52" }] },
        {
          instance: { status: "tainted" },
        },
      ),
      resource("linode_vpc_subnet", "s", { id: "4", vpc_id: 3, label: "s", ipv4: "10.0.0.0/24", ipv6: [] }),
    ]);
    expect(result.ok && result.remarks.map(({ what, detail }) => `${what} ${detail}`)).toEqual([
      "`ipv6` of linode_vpc.v is not managed by Tenon, and stays as it is",
      "linode_vpc.v is tainted: Terraform would replace it; it is taken as it is",
    ]);
  });

  it("is listed with its address and the reason", async () => {
    const result = await imported([
      resource("linode_domain", "a", ZONE),
      resource("linode_domain", "again", ZONE),
      resource("linode_instance", "web", { id: "1", root_pass: "hunter2" }, { module: 'module.m["x"]' }),
      resource("linode_domain", "fork", ZONE, { provider: 'provider["registry.terraform.io/evil/linode"]' }),
      resource("linode_domain", "read", ZONE, { mode: "data" }),
      resource("linode_domain_record", "orphan", recordOf(1, 99, { name: "x", target: "192.0.2.1" })),
      resource("linode_vpc_subnet", "orphan", { id: "4", vpc_id: 9, label: "web", ipv4: "10.0.0.0/24" }),
      resource("linode_vpc", "old", undefined, {
        instances: [{ deposed: "0badcafe", attributes: { id: "5", label: "old", region: "us-east" } }],
      }),
    ]);
    expect(elsewhereOf(result)).toEqual([
      "linode_domain.again: the same domain as linode_domain.a",
      'module.m["x"].linode_instance.web: only VPCs, subnets, domains, records and images are taken',
      "linode_domain.fork: of another provider than linode/linode",
      "data.linode_domain.read: data sources are only read",
      "linode_domain_record.orphan: the domain or VPC is not in the files, or left out itself",
      "linode_vpc_subnet.orphan: the domain or VPC is not in the files, or left out itself",
      "linode_vpc.old: replaced already, and to be deleted by Terraform",
    ]);
    expect(result.ok && result.taken.domains.map(({ name }) => name)).toEqual(["a.example"]);
  });

  it("is nothing of the provider under another registry, an alias or the address of old versions", async () => {
    for (const provider of [
      'provider["registry.opentofu.org/linode/linode"]',
      'module.m.provider["registry.terraform.io/linode/linode"].eu',
      'provider["tf.corp.example/linode/linode"]',
      "provider.linode",
    ]) {
      const result = await imported([resource("linode_domain", "a", ZONE, { provider })]);
      expect([provider, elsewhereOf(result), result.ok]).toEqual([provider, [], true]);
    }
  });

  it("is said of several configurations of the provider, which may be several accounts", async () => {
    const result = await imported([
      resource("linode_domain", "a", ZONE),
      resource(
        "linode_vpc",
        "b",
        { id: "3", label: "b", region: "a" },
        {
          provider: 'provider["registry.terraform.io/linode/linode"].other',
        },
      ),
    ]);
    expect(codesOf(result)).toEqual(["several-providers"]);
  });
});

describe("a value that is marked sensitive", () => {
  const sensitive = (...keys: string[]) => ({
    sensitive_attributes: keys.map((value) => [{ type: "get_attr", value }]),
  });
  const SECRET = "hunter2-hunter2";

  it("never reaches the manifest, and a plan does not touch the record that has it", async () => {
    const account = await accountOf({
      domains: [
        {
          ...{ ...ZONE, id: 7, type: "master" },
          records: [
            { id: 1, type: "TXT", name: "key", target: SECRET },
            { id: 2, type: "TXT", name: "key", target: "beside it" },
            { id: 3, type: "A", name: "www", target: "192.0.2.1" },
          ],
        },
      ],
    });
    const result = await imported([
      resource("linode_domain", "a", { ...ZONE, description: SECRET }, { instance: sensitive("description") }),
      resource("linode_domain_record", "key", recordOf(1, 7, { record_type: "TXT", name: "key", target: SECRET }), {
        instance: sensitive("target"),
      }),
      resource(
        "linode_domain_record",
        "other",
        recordOf(2, 7, { record_type: "TXT", name: "key", target: "beside it" }),
      ),
      resource("linode_domain_record", "www", recordOf(3, 7, { name: "www", target: "192.0.2.1" })),
    ]);
    expect(await stepsOf(result, account)).toEqual([]);
    expect(JSON.stringify(result)).not.toContain(SECRET);
    expect(parse(fileOf(result)).domains).toMatchObject([{ ignore: [{ name: "key", type: "TXT" }] }]);
    expect(elsewhereOf(result)).toEqual([
      "linode_domain_record.key: a value is marked sensitive, and no manifest is to hold it",
      "linode_domain_record.other: of the same name and type as a record that is left out",
    ]);
    expect(result).toMatchObject({ remarks: [{ what: "`description` of linode_domain.a" }] });
  });

  it("in a name leaves the records of the domain unmanaged, in a subnet those of the VPC", async () => {
    const result = await imported([
      resource("linode_domain", "a", ZONE),
      resource("linode_domain_record", "x", recordOf(1, 7, { name: SECRET, target: "192.0.2.1" }), {
        instance: sensitive("name"),
      }),
      resource("linode_domain_record", "y", recordOf(2, 7, { name: "y", target: "192.0.2.1" })),
      resource("linode_vpc", "v", { id: "7", label: "v", region: "a" }),
      resource(
        "linode_vpc_subnet",
        "s",
        { id: "1", vpc_id: "7", label: SECRET, ipv4: "10.0.0.0/24" },
        {
          instance: sensitive("label"),
        },
      ),
      resource("linode_vpc_subnet", "t", { id: "2", vpc_id: "7", label: "t", ipv4: "10.0.1.0/24" }),
    ]);
    expect(fileOf(result)).not.toMatch(/records|subnets|hunter/);
    expect(elsewhereOf(result)).toHaveLength(2);
  });

  it("is found in what `terraform show -json` prints, too", async () => {
    const values = recordOf(1, 7, { record_type: "TXT", name: "key", target: SECRET });
    const base = { mode: "managed", provider_name: "registry.terraform.io/linode/linode" };
    const shown = {
      format_version: "1.0",
      values: {
        root_module: {
          resources: [
            {
              ...{ ...base, address: "linode_domain.a", type: "linode_domain" },
              values: { ...ZONE, tags: ["web", SECRET], group: SECRET },
              sensitive_values: { tags: [false, true], group: { a: { b: true } }, description: { c: false } },
            },
          ],
          child_modules: [
            {
              address: "module.m",
              resources: [
                {
                  ...{ ...base, address: "module.m.linode_domain_record.key", type: "linode_domain_record", values },
                  sensitive_values: { target: true },
                },
              ],
            },
          ],
        },
      },
    };
    const result = await importedText(JSON.stringify(shown));
    expect(elsewhereOf(result)).toEqual([
      expect.stringMatching(/^module\.m\.linode_domain_record\.key: a value is marked/),
    ]);
    expect(result.ok && result.remarks.map(({ what }) => what)).toEqual([
      "`group` of linode_domain.a",
      "`tags` of linode_domain.a",
    ]);
    expect(JSON.stringify(result)).not.toContain(SECRET);
  });

  it("is not shown by a message that points into the file", async () => {
    const cut = stateOf([resource("linode_instance", "web", { root_pass: SECRET })]).slice(0, -9);
    const wrong = stateOf([resource("linode_domain", "a", { ...ZONE, ttl_sec: SECRET })]);
    for (const text of [cut, wrong, `{"token":"${SECRET}",}`, SECRET]) {
      const result = await importedText(text);
      const { sources = null, diagnostics = [] } = (result.ok ? null : result.imported) ?? {};
      expect(diagnostics).toMatchObject([{ severity: "error", span: { start: expect.any(Number) } }]);
      for (const file of sources?.files() ?? []) expect(sources?.text(file)).not.toContain("hunter2");
      expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
    }
  });
});

describe("a file that is none of Terraform's, or a broken one", () => {
  it.each([
    ["a state of version 3", '{"version":3,"lineage":"x","modules":[]}', "3", /version 3, and version 4 is read/],
    ["a state of the future", '{"version":5,"resources":[]}', "5", /version 5, and version 4 is read/],
    ["where a backend is", '{"version":3,"lineage":"x","backend":{"type":"s3"}}', "3", /only says where the state is/],
    ["a format of the future", '{"format_version":"2.0","values":{}}', '"2.0"', /format_version is 2\.0/],
    ["an encrypted state", '{"version":4,"lineage":"x","encrypted_data":"AA=="}', "{", /Only OpenTofu has its key/],
    ["the JSON of DNSControl", '{"registrars":[],"dns_providers":[],"domains":[]}', "{", /looks like DNSControl's/],
    ["the providers' schemas", '{"format_version":"1.0","provider_schemas":{}}', "{", /^$/],
    ["other JSON", '[{"version":4}]', "[", /^$/],
    ["a cut file", '{"version":4,"resources":[{"mode":"mana', '"mana', /ends before the JSON does/],
    ["nothing", "", "", /ends before the JSON does/],
    ["a comma too many", '{"version":4,}', "}", /where a key is expected/],
    ["more than one value", '{"version":4}\n{"@level":"info"}', "{", /after the end of the value/],
    ["a key twice", '{"version":4,"version":4}', '"version"', /is there twice/],
    ["a key that is too long", `{"${"k".repeat(16_384)}":4}`, `"${"k".repeat(16_384)}"`, /key is too long/],
    ["a raw line break", '{"version\n":4}', "\n", /raw control character/],
    ["resources that are no list", '{"version":4,"resources":{"a":1}}', '{"a":1}', /does not write it so/],
    ["a resource without a type", '{"version":4,"resources":[{"name":"a"}]}', '{"name":"a"}', /does not write it so/],
    ["what is text before JSON", "Plan: 1 to add\n{}", "P", /where a value is expected/],
  ])("%s is an error at its place", async (_, text, at, detail) => {
    const result = await importedText(text);
    expect(firstError(result, text)).toEqual({
      summary: expect.any(String),
      detail: expect.stringMatching(detail),
      at,
    });
    expect(result).toMatchObject({ ok: false });
  });

  it.each([
    ["an id that is a text", { ...ZONE, id: "x" }, "`id` of linode_domain.a is no id", '"x"'],
    ["a TTL that is a text", { ...ZONE, ttl_sec: "300" }, "`ttl_sec` of linode_domain.a is no number", '"300"'],
    ["a negative TTL", { ...ZONE, ttl_sec: -1 }, "`ttl_sec` of linode_domain.a is no number", "-1"],
    [
      "a name that is a list",
      { ...ZONE, domain: ["x"] },
      "`domain` of linode_domain.a is no text",
      '[\n              "x"\n            ]',
    ],
    ["tags that are no texts", { ...ZONE, tags: [1] }, "`tags` of linode_domain.a is no list of texts", "1"],
    ["no name", { ...ZONE, domain: null }, "`domain` of linode_domain.a is no text", "{"],
  ])("a domain with %s is an error at its place", async (_, attributes, summary, at) => {
    const text = stateOf([resource("linode_domain", "a", attributes)]);
    expect(firstError(await importedText(text), text)).toMatchObject({ summary, at });
  });

  it("with one address twice is an error that shows both", async () => {
    const text = stateOf([resource("linode_domain", "a", ZONE), resource("linode_domain", "a", { ...ZONE, id: "8" })]);
    const result = await importedText(text);
    expect(firstError(result, text)?.summary).toBe("linode_domain.a is there twice");
    expect(result).toMatchObject({ imported: { diagnostics: [{ related: [{ message: "first here" }] }] } });
  });

  it("whose nesting has no end is an error, as a file of too many values is", async () => {
    const deep = `{"version":4,"resources":${"[".repeat(1_000_000)}`;
    expect(firstError(await importedText(deep), deep)?.detail).toBe("It is nested deeper than 128 levels.");
    const many = `{"version":4,"resources":[${"0,".repeat(2_000_001)}0]}`;
    expect(firstError(await importedText(many), many)?.detail).toBe("It has more than 2000000 values.");
  });

  it("with keys and labels that attack the reader stays data", async () => {
    const text = `{"version":4,"__proto__":{"resources":[]},"resources":[${[
      resource("linode_vpc", "a", { id: "1", label: "a\nb\u001b[2J", region: "us-east" }),
      resource("linode_vpc", "b", JSON.parse('{"id":"2","label":"ok","region":"us-east","__proto__":{"label":"x"}}')),
      resource("linode_domain", "c\u001b[31m", { ...ZONE, domain: "a..b" }),
    ].map((one) => JSON.stringify(one))}]}`;
    const result = await importedText(text);
    expect(parse(fileOf(result))).toEqual({ tenon: 1, vpcs: [{ label: "ok", region: "us-east" }] });
    expect(codesOf(result)).toEqual(["cannot-declare", "cannot-declare"]);
    expect(({} as { label?: string }).label).toBeUndefined();
  });

  it("of resources of other providers alone has nothing to import", async () => {
    const result = await imported([resource("aws_instance", "web", { id: "i-1" })]);
    expect(codesOf(result)).toEqual(["nothing-to-import"]);
    expect(elsewhereOf(result)).toHaveLength(1);
  });
});

it("takes a time that is linear in networks", async () => {
  const networks = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      resource("linode_vpc", `v${index}`, {
        id: String(index + 1),
        label: `v${index}`,
        region: "us-east",
        description: "",
      }),
    );
  expect(codesOf(await imported(networks(3)))).toEqual([]);
  expect(await growth(100, 4, (count) => imported(networks(count)), itemsWalkedEach)).toBeLessThan(6);
});
