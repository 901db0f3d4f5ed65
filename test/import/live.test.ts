import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import type { Seed } from "../../src/emulator/index.ts";
import { type Api, type Desired, type Plan, planProject } from "../../src/index.ts";
import type { Json, JsonObject } from "../../src/model/resource.ts";
import { Account, loadFolder } from "../support/account.ts";
import { codesOf, fileOf, importAccount, type LiveImportOptions, written } from "../support/imports.ts";

async function accountOf(seed: Seed): Promise<Account> {
  const account = await Account.open({ seed });
  onTestFinished(() => account.close());
  return account;
}

/** The plan of what is imported, against the same account. */
async function planOf(account: Account, options: LiveImportOptions = {}): Promise<Plan> {
  const { desired } = await loadFolder(await written(await importAccount(account.api, options)));
  if (desired === null) throw new Error("not loaded");
  return account.plan(desired);
}

const MASTER = { type: "master", soa_email: "a@example.com" } as const;

describe("an imported account", () => {
  it("says only what differs from the defaults, in the form people write", async () => {
    const account = await accountOf({
      domains: [
        {
          ...{ domain: "Example.COM", ...MASTER, description: "a ${b} $${c}", tags: ["web"], status: "disabled" },
          records: [
            { type: "TXT", name: "", target: "${zone} ${var.x} $${y}" },
            { type: "A", name: "www", target: "192.0.2.10", ttl_sec: 300 },
            { type: "A", name: "www", target: "192.0.2.9", ttl_sec: 300 },
            { type: "MX", name: "", target: "mx.example.com", priority: 10 },
            { type: "CNAME", name: "a.b", target: "www.b.example.com" },
            {
              type: "SRV",
              service: "sip",
              protocol: "tcp.berlin",
              target: "sip.example.com",
              port: 5060,
              priority: 0,
              weight: 0,
            },
          ],
        },
      ],
      vpcs: [{ id: 3, label: "prod", region: "us-east", subnets: [{ id: 4, label: "web", ipv4: "10.0.10.0/24" }] }],
      images: [{ id: "private/1", label: "golden", description: "Base", size: 1, status: "available" }],
    });
    expect(
      fileOf(await importAccount(account.api)),
    ).toBe(`# yaml-language-server: $schema=node_modules/tenon/schemas/manifest.schema.json
tenon: 1

vpcs:
  - label: prod
    region: us-east
    subnets:
      - { label: web, ipv4: 10.0.10.0/24 }

domains:
  - domain: example.com
    type: master
    status: disabled
    description: a $\${b} $$\${c}
    soa_email: a@example.com
    tags: [web]
    records:
      - { type: MX, target: mx, priority: 10 }
      - { type: TXT, target: "$\${zone} $\${var.x} $$\${y}" }
      - { type: CNAME, name: a.b, target: www.b.example.com. }
      - { type: SRV, name: _sip._tcp.berlin, target: sip, priority: 0, weight: 0, port: 5060 }
      - { type: A, name: www, targets: [192.0.2.9, 192.0.2.10], ttl_sec: 300 }

images:
  - label: golden
    description: Base
`);
    expect((await planOf(account)).steps).toEqual([]);
  });

  it("holds one of two VPCs of a label, by its id, and tells of the other", async () => {
    const account = await accountOf({
      vpcs: [
        { id: 8, label: "twin", region: "us-east" },
        { id: 7, label: "twin", region: "us-west" },
      ],
    });
    const result = await importAccount(account.api);
    expect(parse(fileOf(result)).vpcs).toEqual([{ label: "twin", id: 7, region: "us-west", subnets: [] }]);
    expect(codesOf(result)).toEqual(["repeated-label"]);
    expect((await planOf(account)).steps).toEqual([]);
  });

  it("leaves records of slaves and unfinished images out", async () => {
    const account = await accountOf({
      domains: [{ domain: "slave.example", type: "slave", master_ips: ["192.0.2.53"] }],
      images: [{ id: "private/1", label: "half", status: "pending_upload" }],
    });
    const result = await importAccount(account.api);
    expect(parse(fileOf(result))).toEqual({
      tenon: 1,
      domains: [{ domain: "slave.example", type: "slave", master_ips: ["192.0.2.53"] }],
    });
    expect(codesOf(result)).toEqual(["unfinished-image"]);
  });

  it("warns of a record that is there twice: a plan removes the second", async () => {
    const twice = { type: "TXT", name: "", target: "twice" } as const;
    const account = await accountOf({ domains: [{ domain: "a.example", ...MASTER, records: [twice, twice] }] });
    expect(codesOf(await importAccount(account.api))).toEqual(["live-duplicate"]);
    const plan = await planOf(account);
    expect(plan.steps.map(({ id }) => id)).toEqual([expect.stringMatching(/^delete domain\/a\.example\/@\/TXT/)]);
  });
});

describe("a record that no manifest can declare", () => {
  it("is ignored by what is written, and told", async () => {
    const records = [
      { type: "CAA", name: "*.x", tag: "issue", target: "0 issue a*b.test" },
      { type: "A", name: "www", target: "192.0.2.1" },
    ] as const;
    const account = await accountOf({ domains: [{ domain: "a.example", ...MASTER, records }] });
    const result = await importAccount(account.api);
    expect(codesOf(result)).toEqual(["cannot-declare"]);
    expect(parse(fileOf(result)).domains[0]).toMatchObject({
      ignore: [{ name: "\\*.x", type: "CAA", target: "0 issue a\\*b.test" }],
      records: [{ type: "A", name: "www", target: "192.0.2.1" }],
    });
    expect((await planOf(account)).steps).toEqual([]);
  });
});

describe("what older clients of the service have made", () => {
  it("is written down as it is, an SRV without a protocol or with an underscore in its service, and plans empty", async () => {
    const srv = { type: "SRV", target: "rc_test", port: 80, priority: 10, weight: 5 } as const;
    const records = [
      { ...srv, service: "service_test" },
      { ...srv, service: "a_b", protocol: "tcp" },
      { type: "MX", target: "", name: "quiet" },
    ] as const;
    const account = await accountOf({ domains: [{ domain: "a.example", ...MASTER, records }] });
    const result = await importAccount(account.api);
    expect(codesOf(result)).toEqual([]);
    expect(parse(fileOf(result)).domains[0].records).toEqual([
      { type: "SRV", name: "_service_test", target: "rc_test", priority: 10, weight: 5, port: 80 },
      { type: "SRV", name: "_a_b._tcp", target: "rc_test", priority: 10, weight: 5, port: 80 },
      { type: "MX", name: "quiet", target: ".", priority: 0 },
    ]);
    expect((await planOf(account)).steps).toEqual([]);
  });

  it("is ignored and told where an address has leading zeros, for no manifest can declare it", async () => {
    const records = [{ type: "A", name: "old", target: "010.020.030.040" }] as const;
    const account = await accountOf({ domains: [{ domain: "a.example", ...MASTER, records }] });
    const result = await importAccount(account.api);
    expect(result).toMatchObject({
      diagnostics: [{ code: "cannot-declare", summary: "domain/a.example: A old is left out: not an IPv4 address" }],
    });
    expect(parse(fileOf(result)).domains[0].ignore).toEqual([{ name: "old", type: "A", target: "010.020.030.040" }]);
    expect((await planOf(account)).steps).toEqual([]);
  });
});

describe("what a service keeps beyond its own limits", () => {
  it("is left out and told, record for record, and the rest is imported and plans empty", async () => {
    const records = [
      { type: "A", name: "www", target: "192.0.2.1" },
      { type: "MX", name: "mail", target: "mx.a.example", priority: 10 },
    ] as const;
    const account = await accountOf({
      domains: [
        { domain: "a.example", ...MASTER, records },
        { domain: "b.example", ...MASTER },
        { domain: "c.example", ...MASTER },
      ],
      images: [{ id: "private/1", label: "golden", status: "available" }],
    });
    const beyond: Readonly<Record<string, (object: Record<string, Json>) => object>> = {
      "b.example": (domain) => ({ ...domain, description: "x".repeat(254) }),
      "c.example": (domain) => ({ ...domain, group: "x".repeat(51) }),
      golden: (image) => ({ ...image, label: "x".repeat(51) }),
      mail: (record) => ({ ...record, priority: 256 }),
    };
    const api: Api = {
      ...account.api,
      requestCount: 0,
      list: async (request, signal) => {
        const answer = await account.api.list(request, signal);
        if (!answer.ok) return answer;
        const spoilt = (item: JsonObject) =>
          beyond[String(item["domain"] ?? item["label"] ?? item["name"])]?.(item) ?? item;
        return { ...answer, items: answer.items.map((item) => spoilt(item) as JsonObject) };
      },
    };
    const result = await importAccount(api);
    expect(codesOf(result)).toEqual(["cannot-declare", "cannot-declare", "cannot-declare", "cannot-declare"]);
    const project = parse(fileOf(result));
    expect(project.domains.map(({ domain }: { domain: string }) => domain)).toEqual(["a.example"]);
    expect(project.domains[0]).toMatchObject({
      records: [{ type: "A", name: "www", target: "192.0.2.1" }],
      ignore: [{ name: "mail", type: "MX", target: "mx.a.example." }],
    });
    expect(project.images).toBeUndefined();
    const { desired } = await loadFolder(await written(result));
    const plan = await planProject({ desired: desired as Desired, api, goal: "apply", nowMilliseconds: 0 });
    expect(plan).toMatchObject({ ok: true, plan: { steps: [] } });
  });
});

describe("a selection", () => {
  const seed: Seed = {
    domains: [
      { domain: "a.example", ...MASTER, tags: ["tenon:edge"] },
      { domain: "b.example", ...MASTER },
      { domain: "c.test", ...MASTER },
    ],
    vpcs: [{ id: 1, label: "prod", region: "us-east", description: "x [tenon:edge]" }],
    images: [{ id: "private/1", label: "golden", status: "available" }],
  };

  it.each([
    [{ domains: ["*.EXAMPLE"] }, ["domain/b.example"], ["other-owner"]],
    [{ vpcs: ["prod"] }, null, ["nothing-to-import", "other-owner"]],
    [{ images: true }, ["image/golden"], []],
    [{ domains: ["c.test"], images: true }, ["domain/c.test", "image/golden"], []],
    [{ domains: ["c.test", "none.test"] }, ["domain/c.test"], ["no-match"]],
    [{ owner: "edge" }, ["vpc/prod", "domain/a.example"], ["other-owner"]],
    [{ owner: "edge", domains: ["a.example"] }, ["domain/a.example"], ["narrowed-owner"]],
  ])("%j takes what it names, and tells what belongs to others", async (options, taken, codes) => {
    const account = await accountOf(seed);
    const result = await importAccount(account.api, options);
    expect(codesOf(result)).toEqual(codes);
    if (taken === null) return expect(result.ok).toBe(false);
    const { desired } = await loadFolder(await written(result));
    expect(desired?.declared.map(({ address }) => address)).toEqual(taken);
    expect(desired?.owner).toBe("owner" in options ? options.owner : null);
  });

  it("of one owner is told of the others once, by three of their names", async () => {
    const names = ["a.test", "b.test", "c.test", "d.test", "e.test"];
    const account = await accountOf({
      domains: names.map((domain) => ({ ...MASTER, domain, tags: ["tenon:core"] })),
    });
    const result = await importAccount(account.api);
    const found = (result.ok ? result : result.imported)?.diagnostics.find(({ code }) => code === "other-owner");
    expect(found?.summary).toBe("5 objects are left out: they belong to core");
    expect(found?.detail).toMatch(/^domain\/a\.test, domain\/b\.test, domain\/c\.test and 2 more\. /);
    expect(found?.fix).toContain("--owner core");
  });

  it("needs list calls only", async () => {
    const account = await accountOf(seed);
    account.takeRequests();
    await importAccount(account.api, { domains: ["b.example"] });
    expect(account.takeRequests().filter((request) => !request.startsWith("GET"))).toEqual([]);
  });
});
