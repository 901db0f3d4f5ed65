import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { failing } from "../cli/odd-service.ts";
import { emulator, envOf, folder } from "../cli/run.ts";

function page(items: readonly object[]): string {
  return JSON.stringify({ data: items, page: 1, pages: 1, results: items.length });
}

test("an address list that gives numbers or objects for addresses is none: the plan says less of what blocks it", async () => {
  const behind = await emulator({
    seed: {
      vpcs: [{ id: 7, label: "prod", region: "us-east", subnets: [{ id: 71, label: "web", ipv4: "10.0.1.0/24" }] }],
      nodes: [{ interfaces: [{ id: 10, subnet_id: 71, config_id: 100 }] }],
    } as never,
  });
  const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [{ label: prod, region: us-east, subnets: [] }]\n" });
  const fields = { interface_id: 10, subnet_id: 71, config_id: 100, address: "10.0.1.2", address_range: null };
  for (const odd of [
    { address: 5 },
    { address: {} },
    { address_range: [] },
    { config_id: "x" },
    { interface_id: "10" },
  ]) {
    const body = page([{ ...fields, ...odd }]);
    const service = await failing(behind, (request) => (request.endsWith("/ips") ? { status: 200, body } : null));
    const ended = await run(["plan"], { cwd, env: envOf(service) });
    expect([odd, ended.code, ended.stderr]).toEqual([odd, 0, ""]);
    expect(ended.stdout).toMatch(/node \d+, interface 10 \(active\): shut down/);
  }
  const service = await failing(behind, (request) =>
    request.endsWith("/ips") ? { status: 200, body: page([fields]) } : null,
  );
  expect(await run(["plan"], { cwd, env: envOf(service) })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/profile 100, address\s+10\.0\.1\.2: /),
  });
});

test("a year of more digits than four, in an image or in the Date of an answer, is no time, and nothing that is told as one", async () => {
  const behind = await emulator();
  const image = {
    ...{ id: "private/9", label: "golden", description: "[tenon:edge]", status: "pending_upload", type: "manual" },
    ...{ is_public: false, size: 0, region: "us-east", tags: [] },
  };
  const cwd = await folder({
    "tenon.yaml": "tenon: 1\nowner: edge\nimages: [{ label: golden, capture: { disk_id: 11 } }]\n",
  });
  for (const created of ["+275760-09-12T23:59:59", "-271821-04-20T00:00:00", "275760", "never", ""]) {
    const body = page([{ ...image, created }]);
    const service = await failing(behind, (request) => (request === "GET /v4/images" ? { status: 200, body } : null));
    const ended = await run(["plan"], { cwd, env: envOf(service) });
    expect([created, ended.code, ended.stderr]).toEqual([created, 0, ""]);
    expect(ended.stdout.replace(/\s+/g, " ")).toContain("another run may be uploading it If no upload is running");
  }
  for (const date of ["Sat, 13 Sep 275760 00:00:00 GMT", "-271821-04-20", "Thu, 01 Jan 10000 00:00:00 GMT"]) {
    const service = await failing(behind, (request) =>
      request.startsWith("GET ") ? { status: 200, body: page([]), headers: { date } } : null,
    );
    const out = `${date.length}.live`;
    expect([date, await run(["live", "--out", out], { cwd, env: envOf(service) })]).toMatchObject([date, { code: 0 }]);
    expect(await run(["plan", "--live", out], { cwd })).toMatchObject({ code: 0 });
  }
});
