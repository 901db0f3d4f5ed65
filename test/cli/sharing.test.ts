/** Two projects that share a zone, as their teams run them. */

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Emulator, EmulatorOptions, SeedRecord } from "../../src/emulator/index.ts";
import { here } from "./here.ts";
import { emulator, envOf, folder, run } from "./run.ts";

const RECORDS: readonly SeedRecord[] = [
  { type: "A", name: "www", target: "198.51.100.1", ttl_sec: 300 },
  { type: "A", name: "shop", target: "198.51.100.2", ttl_sec: 300 },
];

const OWNER = `tenon: 1
owner: edge
domains:
  - domain: shared.example
    type: master
    soa_email: hostmaster@shared.example
    tags: [web]
    shared_with: [{ owner: shop-team, names: [shop, "*.shop"] }]
    records: [{ type: A, name: www, target: 198.51.100.1, ttl_sec: 300 }]
`;

const PART = `tenon: 1
owner: shop-team
domains:
  - domain: shared.example
    part: { names: [shop, "*.shop"] }
    records: [{ type: A, name: shop, target: 198.51.100.9, ttl_sec: 300 }]
`;

async function stage(tags: readonly string[], options: EmulatorOptions = {}, records = RECORDS) {
  const domain = { domain: "shared.example", soa_email: "hostmaster@shared.example", tags, records };
  const service = await emulator({ seed: { domains: [domain] }, ...options });
  const cwd = await folder({ "edge/tenon.yaml": OWNER, "shop/tenon.yaml": PART });
  return { service, cwd, options: { cwd, env: envOf(service) } };
}

const SHARED = ["web", "tenon:edge", "tenon-part:shop-team"] as const;

/** `METHOD path` of what changed something. */
function writes({ requests }: Emulator): string[] {
  return requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
}

describe("a part", () => {
  it("is refused with code 4 by plan and apply, with nothing sent, until the owner has agreed on the domain", async () => {
    const { service, options } = await stage(["web", "tenon:edge"]);
    for (const args of [["plan"], ["apply", "--yes"], ["destroy", "--yes"], ["drift"]]) {
      const refused = await run([...args, "shop"], options);
      expect({ args, code: refused.code }).toEqual({ args, code: 4 });
      expect(refused.stderr).toContain("error[not-shared]: domain/shared.example is not shared with this project");
    }
    expect(writes(service)).toEqual([]);
    expect((await run(["apply", "edge", "--yes"], options)).code).toBe(0);
    const applied = await run(["apply", "shop", "--yes"], options);
    expect(applied.stdout).toContain("Apply complete! Resources: 0 added, 1 changed, 0 destroyed.");
    expect((await run(["plan", "edge", "--detailed-exitcode"], options)).code).toBe(0);
    expect(writes(service).map((line) => line.replace(/\/\d+/g, "/N"))).toEqual([
      "PUT /v4/domains/N",
      "PUT /v4/domains/N/records/N",
    ]);
  });

  it("is planned from lists alone, in pages, and its apply looks at the domain once and at nothing of others", async () => {
    const many = Array.from({ length: 1_200 }, (_, index): SeedRecord => {
      return { type: "A", name: index < 600 ? `h${index}.shop` : `h${index}`, target: "198.51.100.7", ttl_sec: 300 };
    });
    const faults = [
      { effect: { type: "status", status: 429, retryAfterSeconds: 1 }, path: "/domains/*/records", nth: [2] },
    ] as const;
    const { service, cwd, options } = await stage(SHARED, { faults }, many);
    const records = many.slice(1, 600).map((record) => `      - ${JSON.stringify(record)}\n`);
    const text = `tenon: 1\nowner: shop-team\ndomains:\n  - domain: shared.example\n    part: { names: ["*.shop"] }\n    records:\n${records.join("")}`;
    await writeFile(join(cwd, "shop/tenon.yaml"), text);
    service.clearRequests();
    const planned = await here(["plan", "shop"], options);
    expect(planned.stdout).toContain("Left alone: 600 records (of another project).");
    expect(planned.stdout).toContain("Plan: 0 to add, 0 to change, 1 to destroy.");
    // One page of domains, three of records, and the one that was refused; and one each of VPCs and images, which an owner may have to prune.
    const lists = service.requests.map(
      ({ method, path }) => `${method} ${path.replace(/^\/v4\//, "").replace(/\d+/g, "N")}`,
    );
    const pages = Array(4).fill("GET domains/N/records");
    expect(lists.sort()).toEqual(["GET domains", ...pages, "GET images", "GET vpcs"]);
    service.clearRequests();
    expect((await here(["apply", "shop", "--yes"], options)).code).toBe(0);
    const looks = service.requests.filter(({ method, path }) => method === "GET" && /^\/v4\/domains\/\d+$/.test(path));
    expect([looks.length, writes(service).length]).toEqual([1, 1]);
  });

  it("is never more than its reviewed plan shows, and the plan file, a base and a snapshot say the same of it", async () => {
    const { cwd, options } = await stage(SHARED);
    expect((await here(["plan", "shop", "--out", "plan.json"], options)).code).toBe(0);
    const saved = JSON.parse(await readFile(join(cwd, "plan.json"), "utf8"));
    expect(saved.tenon.changes["domain/shared.example"]).toMatchObject({ part: true, labels: [] });
    expect(saved.tenon.left_alone).toEqual([{ kind: "domain_record", count: 1, reason: "shared" }]);
    expect(await here(["live", "shop", "--out", "live.json"], options)).toMatchObject({ code: 0 });
    const planned = await here(["plan", "shop", "--live", "live.json", "--base", "./shop"], options);
    expect(planned.stdout).toContain("This change, compared with ./shop: nothing.");
    await mkdir(join(cwd, "was"));
    await writeFile(join(cwd, "was/tenon.yaml"), PART.replace('names: [shop, "*.shop"]', "names: [shop]"));
    const since = await here(["plan", "shop", "--changed-since", "./was"], options);
    expect(since.stdout).toContain("~ shop A 198.51.100.2 → 198.51.100.9");
    await writeFile(
      join(cwd, "shop/tenon.yaml"),
      `${PART.trimEnd().slice(0, -1)}, { type: A, name: a.shop, target: 198.51.100.9 }]\n`,
    );
    const more = await here(["apply", "shop", "--yes", "--plan", "plan.json"], options);
    expect([more.code, more.stderr]).toEqual([5, expect.stringContaining("domain/shared.example/a.shop/A")]);
    await writeFile(join(cwd, "shop/tenon.yaml"), PART);
    expect((await here(["apply", "shop", "--yes", "--plan", "plan.json"], options)).code).toBe(0);
  });

  it("drifts by its own records, and not by those of others", async () => {
    const { service, options } = await stage(SHARED);
    expect((await here(["apply", "shop", "--yes"], options)).code).toBe(0);
    const call = async (method: string, path: string, body: object) => {
      const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
      await fetch(`${service.baseUrl}${path}`, { method, headers, body: JSON.stringify(body) });
    };
    const answer = await fetch(`${service.baseUrl}/domains`, { headers: { authorization: "Bearer emulator-token" } });
    const { data } = (await answer.json()) as { data: { id: number }[] };
    await call("POST", `/domains/${data[0]?.id}/records`, { type: "A", name: "new", target: "198.51.100.3" });
    expect((await here(["drift", "shop"], options)).code).toBe(0);
    await call("POST", `/domains/${data[0]?.id}/records`, { type: "A", name: "x.shop", target: "198.51.100.3" });
    const drifted = await here(["drift", "shop"], options);
    expect([drifted.code, drifted.stdout]).toEqual([2, expect.stringContaining("1 unexpected")]);
  });

  it("is destroyed by its records alone", async () => {
    const { service, options } = await stage(SHARED);
    const destroyed = await here(["destroy", "shop", "--yes"], options);
    expect(destroyed.stdout).toContain("Resources: 0 added, 0 changed, 1 destroyed.");
    expect(writes(service).map((line) => line.replace(/\/\d+/g, "/N"))).toEqual(["DELETE /v4/domains/N/records/N"]);
  });

  it("writes nothing if the sharing ends while a person makes up their mind", async () => {
    const { service, options } = await stage(SHARED, {
      faults: [{ effect: { type: "status", status: 503 }, path: "/domains/*", method: "GET", nth: [2, 3] }],
    });
    const { end } = await ending(service);
    const [applied] = await Promise.all([run(["apply", "shop", "--yes"], options), end()]);
    expect(applied.code).toBe(6);
    expect(applied.stdout + applied.stderr).toContain("no longer carries the tag tenon-part:shop-team");
    expect(writes(service).filter((line) => line.includes("records"))).toEqual([]);
  });
});

/** Takes the tag off as soon as the domain's records have been listed. */
async function ending(service: Emulator): Promise<{ end(): Promise<void> }> {
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  const answer = await fetch(`${service.baseUrl}/domains`, { headers });
  const { data } = (await answer.json()) as { data: { id: number }[] };
  service.clearRequests();
  const end = async (): Promise<void> => {
    while (!service.requests.some(({ path }) => path.endsWith("/records")))
      await new Promise((go) => setTimeout(go, 5));
    const body = JSON.stringify({ tags: ["web", "tenon:edge"] });
    await fetch(`${service.baseUrl}/domains/${data[0]?.id}`, { method: "PUT", headers, body });
  };
  return { end };
}

describe("the owner of a shared zone", () => {
  it("is told in so many words why it is not deleted", async () => {
    const { cwd, options } = await stage(SHARED);
    await writeFile(join(cwd, "edge/tenon.yaml"), "tenon: 1\nowner: edge\nremoved: [{ domain: shared.example }]\n");
    const { code, stdout } = await here(["apply", "edge", "--yes"], options);
    const words = stdout.replace(/\s+/g, " ");
    expect(words).toContain("it is shared with shop-team, and what they manage in it would go, too");
    expect(words).toContain("End the sharing first: apply its entry once without `shared_with`.");
    expect(code).toBe(6);
  });

  it("sees a tag that would act on its terminal only escaped", async () => {
    const { cwd, options } = await stage(["tenon:edge", "tenon-part:\u001b[2J\u202eshop"]);
    await writeFile(join(cwd, "edge/tenon.yaml"), "tenon: 1\nowner: edge\nremoved: [{ domain: shared.example }]\n");
    for (const args of [["plan"], ["plan", "--format", "markdown"], ["plan", "--format", "json"]]) {
      const { stdout, stderr } = await here([...args, "edge"], options);
      for (const sign of ["\u001b", "\u202e"]) expect(stdout + stderr).not.toContain(sign);
      expect(stdout).toMatch(/\[2j/);
    }
  });

  it("loses no tag of its users when the sharing begins and ends", async () => {
    const { service, cwd, options } = await stage(["Web", "tenon:edge"]);
    expect((await here(["apply", "edge", "--yes"], options)).code).toBe(0);
    expect(await tagsOf(service)).toEqual(["tenon-part:shop-team", "tenon:edge", "Web"]);
    await writeFile(join(cwd, "edge/tenon.yaml"), OWNER.replace(/ {4}shared_with.*\n/, ""));
    const args = ["apply", "edge", "--yes", "--allow", "bulk=domain/shared.example"];
    expect((await here(args, options)).code).toBe(0);
    expect(await tagsOf(service)).toEqual(["tenon:edge", "Web"]);
  });
});

async function tagsOf(service: Emulator): Promise<readonly string[]> {
  const answer = await fetch(`${service.baseUrl}/domains`, { headers: { authorization: "Bearer emulator-token" } });
  return ((await answer.json()) as { data: { tags: string[] }[] }).data[0]?.tags ?? [];
}

describe("a shared zone", () => {
  it("is imported with a word on what the account does not say, by either side", async () => {
    const { options } = await stage(SHARED);
    const owner = await here(["import", "--owner", "edge", "--out", "one"], options);
    expect(owner.stderr).toContain("warning[shared-zone]: domain/shared.example is shared with shop-team");
    const part = await here(["import", "--owner", "shop-team", "--out", "two"], options);
    expect(part.stderr).toContain("warning[shared-zone]: domain/shared.example is left out: only a part of it is");
  });

  it("is laid out by fmt on both sides, and comes back the same", async () => {
    const { cwd, options } = await stage(SHARED);
    await writeFile(
      join(cwd, "edge/tenon.yaml"),
      OWNER.replace(/ {4}shared_with.*\n/, "").replace(
        "records:",
        'shared_with: [{ names: [shop, "*.shop"], owner: shop-team }]\n    records:',
      ),
    );
    await writeFile(
      join(cwd, "shop/tenon.yaml"),
      PART.replace(/ {4}part.*\n/, "").concat('    part: { names: [shop, "*.shop"] }\n'),
    );
    expect((await here(["fmt", "edge"], options)).code).toBe(0);
    expect((await here(["fmt", "shop"], options)).code).toBe(0);
    const [edge, shop] = await Promise.all(
      ["edge", "shop"].map((dir) => readFile(join(cwd, dir, "tenon.yaml"), "utf8")),
    );
    expect(edge).toContain('    shared_with:\n      - { owner: shop-team, names: [shop, "*.shop"] }\n');
    expect(shop).toContain('  - domain: shared.example\n    part: { names: [shop, "*.shop"] }\n    records:\n');
    expect((await here(["plan", "shop"], options)).stdout).toContain("Plan: 0 to add, 1 to change, 0 to destroy.");
  });
});
