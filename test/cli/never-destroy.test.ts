/** `--never-destroy`: what would delete or replace is left out and named, and the rest is done. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, run } from "./run.ts";

const MANIFEST = `tenon: 1
owner: edge
vpcs:
  - label: prod
    region: us-west
    subnets:
      - { label: web, ipv4: 10.0.1.0/24 }
      - { label: new, ipv4: 10.0.2.0/24 }
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    records:
      - { type: A, name: www, target: 192.0.2.2, ttl_sec: 300 }
      - { type: A, name: mail, target: 192.0.2.9, ttl_sec: 300 }
      - { type: CNAME, name: shop, target: www, ttl_sec: 300 }
`;

const SEED = {
  vpcs: [
    {
      id: 1,
      label: "prod",
      region: "us-east",
      description: "[tenon:edge]",
      subnets: [{ id: 1, label: "web", ipv4: "10.0.1.0/24" }],
    },
  ],
  domains: [
    {
      id: 1,
      domain: "example.com",
      soa_email: "a@example.com",
      tags: ["tenon:edge"],
      records: [
        { id: 1, type: "A" as const, name: "www", target: "192.0.2.1", ttl_sec: 300 },
        { id: 2, type: "A" as const, name: "shop", target: "192.0.2.3", ttl_sec: 300 },
        { id: 3, type: "TXT" as const, name: "old", target: "x", ttl_sec: 300 },
      ],
    },
    { id: 2, domain: "gone.example", soa_email: "a@example.com", tags: ["tenon:edge"] },
  ],
};

async function project(manifest = MANIFEST, seed: Parameters<typeof emulator>[0] = { seed: SEED }) {
  const service = await emulator(seed);
  const cwd = await folder({ "tenon.yaml": manifest });
  const writes = () => service.requests.filter(({ method }) => method !== "GET").map(({ method }) => method);
  return { service, writes, options: { cwd, env: envOf(service) } };
}

const PLAN = `  domain example.com
  + mail   A     192.0.2.9 ttl 300
  ! + shop CNAME www.example.com ttl 300 (blocked)
      blocked: it needs a change that is left out
        domain/example.com/shop/A
  ~ www    A     192.0.2.1 → 192.0.2.2 ttl 300

Left out by --never-destroy: 3 to delete, 2 to replace, 1 to create:
  domain/example.com: 2 changes
    delete domain/example.com/old/TXT
    delete domain/example.com/shop/A
  delete domain/gone.example
  vpc/prod: 3 changes
    replace vpc/prod
    create vpc/prod/subnet/new
    replace vpc/prod/subnet/web

Applying this takes 3 requests.

Plan: 1 to add, 1 to change, 0 to destroy. 1 blocked.
`;

describe("--never-destroy", () => {
  it("leaves out what would delete or replace, and what needs that, and says what", async () => {
    const { options, writes } = await project();
    expect(await run(["plan", "--never-destroy"], options)).toMatchObject({ code: 0, stdout: PLAN });
    const applied = await run(["apply", "--yes", "--never-destroy"], options);
    expect(applied).toMatchObject({ code: 6, stdout: expect.stringContaining("Left out by --never-destroy: ") });
    expect(writes().sort()).toEqual(["POST", "PUT"]);
    const markdown = await here(["plan", "--never-destroy", "--format", "markdown"], options);
    expect(markdown.stdout).toContain("Left out by --never-destroy: 3 to delete, 2 to replace, 1 to create");
    expect(markdown.stdout).toContain("\ndelete domain/gone.example\n");
  });

  it("says so where nothing else is to be done, and a run without it does what is left", async () => {
    const { options, writes } = await project("tenon: 1\nowner: edge\n");
    const nothing = await run(["plan", "--never-destroy", "--detailed-exitcode"], options);
    expect(nothing.code).toBe(0);
    expect(nothing.stdout).toMatch(/^Left out by --never-destroy: 4 to delete:\n/);
    expect(nothing.stdout).toMatch(/\nNo changes but what --never-destroy leaves out\.\n$/);
    expect(await run(["apply", "--yes", "--never-destroy"], options)).toMatchObject({ code: 0 });
    expect(writes()).toEqual([]);
    expect(await run(["apply", "--yes", "--allow", "delete=*"], options)).toMatchObject({ code: 0 });
    expect(writes()).toEqual(["DELETE", "DELETE", "DELETE"]);
  });

  it("is in the plan file, which is not complete, and an apply of that needs not say it again", async () => {
    const { options, writes } = await project();
    expect(await run(["plan", "--never-destroy", "--out", "the.plan"], options)).toMatchObject({ code: 0 });
    const file = JSON.parse(await readFile(join(options.cwd, "the.plan"), "utf8"));
    expect(file.complete).toBe(false);
    expect(file.tenon.inputs.never_destroy).toBe(true);
    expect(file.tenon.withheld).toContainEqual({ key: "domain/gone.example", action: "delete" });
    const actions = file.resource_changes.flatMap(({ change }: { change: { actions: string[] } }) => change.actions);
    expect(actions).not.toContain("delete");
    expect(await run(["show", "the.plan"], options)).toMatchObject({ code: 0, stdout: PLAN });
    const pinned = await here(["apply", "--yes", "--pin", "--plan", "the.plan"], options);
    expectPlain(pinned, 1, ["error[plan-file-differs]", "no --never-destroy; the plan file was made with it"]);
    expect(await here(["apply", "--yes", "--plan", "the.plan"], options)).toMatchObject({ code: 6 });
    expect(writes().sort()).toEqual(["POST", "PUT"]);
    expect(await here(["plan", "--out", "other.plan"], options)).toMatchObject({ code: 0 });
    const other = await here(["apply", "--yes", "--never-destroy", "--plan", "other.plan"], options);
    expectPlain(other, 1, ["--never-destroy; the plan file was made without it"]);
  });

  it("keeps the images that a family would retire, with the new one made, and retires them in a run without it", async () => {
    const created = (month: number) => `2026-0${month}-01T00:00:00`;
    const images = [7, 8, 9].map((month) => {
      return { label: `golden-2026-0${month}`, description: "[tenon:me]", created: created(month) };
    });
    const entry = "{ label: golden-2026-10, family: golden, keep: 2, capture: { disk_id: 7 } }";
    const seed = { images, disks: [{ id: 7, label: "boot", size: 1024 }] };
    const { options, writes } = await project(`tenon: 1\nowner: me\nimages: [${entry}]\n`, { seed: seed as never });
    const planned = await here(["plan", "--never-destroy"], options);
    expect(planned.stdout).toContain("+ image golden-2026-10");
    expect(planned.stdout).toContain(
      "Left out by --never-destroy: 2 to delete:\n  delete image/golden-2026-07\n  delete image/golden-2026-08\n",
    );
    expect(planned.stdout).toContain("Plan: 1 to add, 0 to change, 0 to destroy.\n");
    expect(await here(["apply", "--yes", "--never-destroy"], options)).toMatchObject({ code: 0 });
    expect(writes()).toEqual(["POST"]);
    expect(await here(["apply", "--yes"], options)).toMatchObject({ code: 0 });
    expect(writes()).toEqual(["POST", "DELETE", "DELETE"]);
  });

  it("keeps the records of a part that are no longer declared, and of its owner those of names whose sharing ends", async () => {
    const record = (name: string) => ({ type: "A" as const, name, target: "192.0.2.1", ttl_sec: 300 });
    const seed = (tags: string[]) => ({
      seed: {
        domains: [{ domain: "a.example", soa_email: "a@a.example", tags, records: [record("shop"), record("www")] }],
      },
    });
    const kept = /Left out by --never-destroy: 1 to delete:\n {2}delete domain\/a\.example\/shop\/A\n/;
    const declared = "{ type: A, name: new.shop, target: 192.0.2.2, ttl_sec: 300 }";
    const part = `tenon: 1\nowner: shop-team\ndomains: [{ domain: a.example, part: { names: [shop, "*.shop"] }, records: [${declared}] }]\n`;
    const tags = ["tenon:edge", "tenon-part:shop-team"];
    const ofPart = await project(part, seed(tags) as never);
    const planned = await here(["plan", "--never-destroy"], ofPart.options);
    expect(planned.stdout).toMatch(kept);
    expect(planned.stdout).toContain("Plan: 1 to add, 0 to change, 0 to destroy.\n");
    // One of one would go in a whole run, and one of two after this one.
    const consent = ["--allow", "bulk=domain/a.example"];
    expect(await here(["apply", "--yes", "--never-destroy"], ofPart.options)).toMatchObject({ code: 4 });
    expect(await here(["apply", "--yes", "--never-destroy", ...consent], ofPart.options)).toMatchObject({ code: 0 });
    expect(ofPart.writes()).toEqual(["POST"]);
    const own = "{ type: A, name: www, target: 192.0.2.1, ttl_sec: 300 }";
    const owner = `tenon: 1\nowner: edge\ndomains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [${own}] }]\n`;
    const ofOwner = await project(owner, seed(tags) as never);
    const ending = await here(["plan", "--never-destroy"], ofOwner.options);
    expect(ending.stdout).toMatch(kept);
    const ended = await here(["apply", "--yes", "--never-destroy", "--allow", "bulk=*"], ofOwner.options);
    expect(ended).toMatchObject({ code: 0 });
    expect(ofOwner.writes()).toEqual(["PUT"]);
  });

  it("contradicts a destroy", async () => {
    const { options, service } = await project();
    service.clearRequests();
    const destroy = await here(["destroy", "--yes", "--never-destroy"], options);
    expectPlain(destroy, 1, ["error: destroy and --never-destroy contradict each other"]);
    const planned = await here(["plan", "--destroy", "--never-destroy"], options);
    expectPlain(planned, 1, ["'--never-destroy' cannot be used with option '--destroy'"]);
    const data = await here(["destroy", "--yes", "--never-destroy", "--format", "json"], options);
    expect(JSON.parse(data.stdout)).toMatchObject({ type: "error", diagnostics: [{ code: "conflicting-options" }] });
    expect((await here(["destroy", "--help"], options)).stdout).not.toContain("never-destroy");
    expect(service.requests).toEqual([]);
  });

  it("counts by zone what it leaves out of 1,000 zones, and names each with --full", async () => {
    const records = [1, 2].map((number) => ({ type: "TXT" as const, name: `old${number}`, target: "x", ttl_sec: 300 }));
    const names = Array.from({ length: 1_000 }, (_, index) => `brand${index + 1}.example`);
    const domains = names.map((domain, index) => ({ id: index + 1, domain, soa_email: "a@example.com", records }));
    const manifest = `tenon: 1\ndomains: [{ domain: [${names.join(", ")}], type: master, soa_email: a@example.com, records: [] }]\n`;
    const { options } = await project(manifest, { seed: { domains } });
    const { stdout } = await run(["plan", "--never-destroy"], options);
    expect(stdout.split("\n").slice(0, 3)).toEqual([
      "Left out by --never-destroy: 2000 to delete:",
      "  domain/brand1.example (2)",
      "  domain/brand2.example (2)",
    ]);
    expect(stdout).toContain(
      "  and in 990 more networks, zones or images\n\nWhat is alike is shown once; --full shows each.\n",
    );
    const full = await run(["plan", "--never-destroy", "--full"], options);
    expect(full.stdout.match(/^ +delete domain\/brand\d+\.example\/old[12]\/TXT$/gm)).toHaveLength(2_000);
  });
});
