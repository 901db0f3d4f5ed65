import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { applyPlan, type ClientApi, type Desired } from "../../src/index.ts";
import type { Json } from "../../src/model/resource.ts";
import { here as run } from "../cli/here.ts";
import { failing } from "../cli/odd-service.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { Account, ALL_CONSENTS, HASTY_CLOCK } from "../support/account.ts";

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

test("a year of more than four digits, in an image or in the Date of an answer, is no time and is not shown as one", async () => {
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

test("a TTL of the account that no answer can have, and no date can be made of, keeps no plan from being made", async () => {
  const behind = await emulator({
    seed: {
      domains: [
        { domain: "a.example", soa_email: "a@a.example", records: [{ type: "A", name: "", target: "192.0.2.1" }] },
      ],
    },
  });
  const record = "{ type: A, target: 192.0.2.2 }";
  const cwd = await folder({
    "tenon.yaml": `tenon: 1\ndomains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [${record}] }]\n`,
  });
  for (const ttl of ["300000000000", "9000000000000", "9007199254740991"]) {
    const service = await failing(
      behind,
      () => null,
      (request, answer) =>
        request.startsWith("GET ") ? answer.replaceAll(/"ttl_sec":\s*\d+/g, `"ttl_sec":${ttl}`) : answer,
    );
    const env = envOf(service);
    const planned = await run(["plan"], { cwd, env });
    expect([ttl, planned.code]).toEqual([ttl, 0]);
    expect(planned.stdout.replace(/\s+/g, " ")).toMatch(/until 20\d\d-\d\d-\d\d \d\d:\d\d UTC/);
    expect([ttl, await run(["drift"], { cwd, env })]).toMatchObject([ttl, { code: 2 }]);
    expect(await run(["live", "--out", `${ttl}.live`], { cwd, env })).toMatchObject({ code: 0 });
    expect(await run(["plan", "--live", `${ttl}.live`], { cwd })).toMatchObject({ code: 0 });
  }
});

const PROJECT = `tenon: 1
owner: edge
domains:
  - { domain: a.example, type: master, soa_email: a@a.example, records: [{ type: A, name: www, target: 192.0.2.1 }] }
vpcs: [{ label: v, region: us-east, subnets: [{ label: a, ipv4: 10.0.1.0/24 }, { label: b, ipv4: 10.0.2.0/24 }] }]
images: [{ label: golden, upload: { file: g.img.gz, region: us-east } }]
`;
const ODD: readonly Json[] = [null, [], {}, -1, 1e308, "", true, [[1]], { id: {} }, "\u001b[31m\n::set-env"];

/** A list is given odd members as well. */
function oddAt(place: readonly string[], index: number): readonly Json[] {
  const isList = ["tags", "subnets", "nodes", "master_ips"].includes(place.at(-1) ?? "");
  return [ODD[index % ODD.length] ?? null, ...(isList ? [[{}], [null]] : [])];
}

/** The places of all values in `value`, as keys from the outside in. */
function placesIn(value: Json, path: readonly string[] = []): (readonly string[])[] {
  const within = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [path, ...within.flatMap(([key, item]) => placesIn(item as Json, [...path, key]))];
}

function withValue(value: Json, [key, ...rest]: readonly string[], odd: Json): Json {
  if (key === undefined) return odd;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, Json>;
  copy[key] = withValue(copy[key] ?? null, rest, odd);
  return copy as unknown as Json;
}

test("the report says what an apply did, whatever one value of an answer becomes", async () => {
  const outcomes = new Set<string>();
  for (const [method, pathOf] of [
    ["PUT", /^domains/],
    ["POST", /^vpcs/],
    ["POST", /^images/],
    ["POST", /^domains/],
  ] as const) {
    // What comes back at first says which values there are.
    let places: (readonly string[])[] = [];
    for (let index = -1; index < places.length; index += 1) {
      for (const odd of index === -1 ? [null] : oddAt(places[index] ?? [], index)) {
        const account = await Account.open({
          seed: { domains: [{ domain: "a.example", type: "master", soa_email: "b@a.example" }] },
        });
        const { desired } = await account.load({ "tenon.yaml": PROJECT, "g.img.gz": gzipSync("image") });
        const plan = await account.plan(desired as Desired, { consents: ALL_CONSENTS });
        const spoiling: ClientApi = {
          ...account.api,
          requestCount: 0,
          get: (request, signal) => account.api.get(request, signal),
          list: (request, signal) => account.api.list(request, signal),
          upload: (request, signal) => account.api.upload(request, signal),
          send: async (request, signal) => {
            const answer = await account.api.send(request, signal);
            if (!answer.ok || request.method !== method || !pathOf.test(request.path.join("/"))) return answer;
            if (index === -1) places = placesIn(answer.body);
            return index === -1
              ? answer
              : { ...answer, body: withValue(answer.body, places[index] ?? [], odd) as Json };
          },
        };
        const clock = HASTY_CLOCK;
        const report = await applyPlan({
          plan,
          api: spoiling,
          root: account.folder,
          concurrency: 4,
          clock,
          journal: null,
        });
        expect(report.steps.filter(({ failure }) => failure?.message.includes("an error of Tenon"))).toEqual([]);
        outcomes.add(`${report.failed} ${report.unknown}`);
        expect([method, places[index], odd, report.steps.length]).toEqual([
          method,
          places[index],
          odd,
          plan.steps.length,
        ]);
        await account.close();
      }
    }
  }
  expect(outcomes.size).toBeGreaterThan(1);
});
