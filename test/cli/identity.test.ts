/** Objects that are not told apart by their labels: they alone are blocked, and an id that becomes stale is told with the new one. */

import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { emulator, folder } from "./run.ts";

const ZONE = `domains:
  - { domain: example.com, type: master, soa_email: a@example.com, records: [{ type: A, name: www, target: 192.0.2.1 }] }
`;
const DUP = { label: "dup", region: "us-east" };

async function world(manifest: string, vpcs: readonly object[]) {
  const service = await emulator({ seed: { vpcs } as never });
  const cwd = await folder({ "tenon.yaml": `tenon: 1\n${manifest}` });
  const env = { TENON_BASE_URL: service.baseUrl, TENON_TOKEN: "emulator-token" };
  return { options: { cwd, env }, cwd, service };
}

describe("an ambiguous label", () => {
  const manifest = `vpcs: [{ label: dup, region: us-east }]\n${ZONE}`;
  const vpcs = [
    { ...DUP, id: 7, description: "first" },
    { ...DUP, id: 8 },
  ];

  it("blocks its object, and the zone beside it is applied", async () => {
    const { options, service } = await world(manifest, vpcs);
    const planned = await here(["plan"], options);
    expect(planned.code).toBe(0);
    const text = planned.stdout.replace(/\s+/g, " ");
    expect(text).toContain("2 live objects carry this label");
    expect(text).toMatch(/id 7: region "us-east", description "first", created "\d{4}-/);
    expect(text).toContain("id 8: ");
    expect(planned.stdout).toMatch(/^Plan: 2 to add, 0 to change, 0 to destroy\./m);
    expect((await here(["plan", "--detailed-exitcode"], options)).code).toBe(2);
    expect((await here(["plan", "--fail-on", "blocked"], options)).code).toBe(4);
    service.clearRequests();
    const refused = await here(["apply", "--yes", "--fail-on", "blocked"], options);
    expect(refused.code).toBe(4);
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    const applied = await here(["apply", "--yes"], options);
    expect(applied.code).toBe(6);
    expect(applied.stdout).toContain("1 blocked");
    const again = await here(["plan"], options);
    expect(again.stdout).toMatch(/^Plan: 0 to add, 0 to change, 0 to destroy\./m);
    const writes = service.requests
      .filter(({ method }) => method !== "GET")
      .map(({ method, path }) => `${method} ${path}`);
    expect(writes.filter((write) => write.includes("vpcs"))).toEqual([]);
    expect(writes.length).toBeGreaterThan(0);
  });
});

describe("a VPC that is named by its id and made anew", () => {
  const manifest = "vpcs:\n  - label: dup\n    region: us-west\n    id: 7\n";

  it("is found again, and the report says the new id and where to write it", async () => {
    const { options, cwd, service } = await world(manifest, [
      { ...DUP, id: 7 },
      { ...DUP, id: 8 },
    ]);
    const planned = await here(["plan"], options);
    expect(planned.stdout + planned.stderr).toContain("vpc/dup is named by its id, and gets a new one");
    const applied = await here(["apply", "--yes", "--allow", "replace=vpc/dup"], options);
    expect(applied.code).toBe(0);
    const [, id] = /write `id: (\d+)` at tenon\.yaml:5/.exec(applied.stdout.replace(/\s+/g, " ")) ?? [];
    expect(id).toBeDefined();
    service.clearRequests();
    const stale = await here(["plan"], options);
    expect(stale.stdout).toContain("No changes.");
    expect(stale.stdout + stale.stderr).toContain("no live object has the id 7");
    const { writeFile } = await import("node:fs/promises");
    await writeFile(`${cwd}/tenon.yaml`, `tenon: 1\n${manifest.replace("id: 7", `id: ${id}`)}`);
    const mended = await here(["plan", "--detailed-exitcode"], options);
    expect(mended).toMatchObject({ code: 0 });
    expect(mended.stdout + mended.stderr).not.toContain("no live object");
  });

  it("is told in the lines of JSON, too", async () => {
    const { options } = await world(manifest, [{ ...DUP, id: 7 }]);
    const applied = await here(["apply", "--yes", "--allow", "replace=vpc/dup", "--format", "json"], options);
    const report = JSON.parse(applied.stdout.trim().split("\n").at(-1) ?? "") as { notices: string[] };
    expect(report.notices).toEqual([expect.stringMatching(/^vpc\/dup .* write `id: \d+` at tenon\.yaml:5$/)]);
  });
});

describe("an id that is gone", () => {
  const manifest = `vpcs: [{ label: dup, region: us-west, id: 99 }]\n${ZONE}`;

  it("blocks its VPC if the only one of its label would be made anew, and the zone beside it is applied", async () => {
    const { options, service } = await world(manifest, [{ ...DUP, id: 7, description: "by hand" }]);
    const planned = await here(["plan"], options);
    const text = planned.stdout.replace(/\s+/g, " ");
    expect(text).toContain("its `id:` is gone, and the one object of this label would be replaced or lose something");
    expect(text).toContain('id 7: region "us-east", description "by hand"');
    expect(text).toContain("Write `id: 7` if it is meant; if not, correct the id.");
    expect(planned).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Plan: 2 to add, 0 to change, 0 to destroy\./m),
    });
    service.clearRequests();
    const applied = await here(["apply", "--yes", "--allow", "replace=*"], options);
    expect(applied).toMatchObject({ code: 6, stdout: expect.stringContaining("1 blocked") });
    const writes = service.requests.filter(({ method }) => method !== "GET").map(({ path }) => path);
    expect(writes).not.toEqual([]);
    expect(writes.filter((path) => path.includes("vpcs"))).toEqual([]);
  });
});
