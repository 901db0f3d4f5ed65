import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { importLive } from "../../src/import/live.ts";
import { type Api, allowedSeconds, createApi, type Desired, loadProject, planProject } from "../../src/index.ts";
import { type LiveResult, type ReadOptions, readDetail, readLive } from "../../src/live/read.ts";
import { takeSnapshot } from "../../src/live/snapshot.ts";
import { units } from "../../src/units/index.ts";
import { error, json, type Received, type Scripted, serve } from "../api/scripted.ts";
import { emulator, folder } from "../cli/run.ts";

const ZONE = "type: master, soa_email: a@example.com";

async function desiredOf(manifest: string): Promise<Desired> {
  const directory = await folder({ "tenon.yaml": `tenon: 1\n${manifest}` });
  const { project, diagnostics } = await loadProject({ directory, allowedSeconds: allowedSeconds("node") });
  if (project === null) throw new Error(JSON.stringify(diagnostics));
  return project.desired;
}

async function apiOf(baseUrl: string): Promise<Api> {
  const api = await createApi({ baseUrl, token: "emulator-token", retryForSeconds: 0 });
  onTestFinished(() => api.close());
  return api;
}

async function read(service: Emulator, manifest: string, rest: Partial<ReadOptions> = {}): Promise<LiveResult> {
  const [desired, api] = await Promise.all([desiredOf(manifest), apiOf(service.baseUrl)]);
  return readLive({ desired, units, api, destroy: false, ...rest });
}

function pathsOf(service: Emulator): string[] {
  return [...new Set(service.requests.map(({ path }) => path))].sort();
}

function unitsOf(result: LiveResult): string[] {
  return result.ok ? Object.keys(result.live.units).sort() : [`failed: ${result.what}`];
}

const MANY = 300;
const CONCURRENCY = 8;

/** A service whose lists are of `MANY` things, and that refuses the token from some request on, or for some paths. */
async function revoked(isRefused: (request: Received) => boolean, status: 401 | 403 = 401): Promise<Scripted> {
  const time = { created: "2026-01-01T00:00:00", updated: "2026-01-01T00:00:00" };
  const domains = Array.from({ length: MANY }, (_, id) => ({
    ...{ id: id + 1, domain: `z${id}.example`, type: "master", status: "active", soa_email: "a@example.com" },
    ...{ tags: [], master_ips: [], axfr_ips: [], description: "", group: "", ...time },
  }));
  const vpcs = Array.from({ length: MANY }, (_, id) => ({
    ...{ id: id + 1, label: `v${id}`, region: "x", description: "", ...time },
    subnets: [
      { id, label: "s", ipv4: "10.0.0.0/24", nodes: [{ id: 1, interfaces: [{ id: 1, active: true }] }], ...time },
    ],
  }));
  return serve((request, response) => {
    if (isRefused(request)) return error(response, status, "Invalid Token");
    const data = /^.v4.domains\?/.test(request.url) ? domains : /^.v4.vpcs\?/.test(request.url) ? vpcs : [];
    json(response, 200, { data, page: 1, pages: 1, results: data.length });
  });
}

const AFTER_50 = ({ number }: Received): boolean => number > 50;

const ALL_ZONES = Array.from({ length: MANY }, (_, id) => `{ domain: z${id}.example, ${ZONE}, records: [] }`);

describe("a failure that no later request can survive", () => {
  it("ends the reading of all other zones, and is told once", async () => {
    const { baseUrl, requests } = await revoked(AFTER_50);
    const [desired, api] = await Promise.all([desiredOf(`domains: [${ALL_ZONES.join(", ")}]`), apiOf(baseUrl)]);
    const result = await readLive({ desired, units, api, destroy: false });
    expect(result).toMatchObject({
      ok: false,
      what: expect.stringMatching(/^the records of z/),
      failure: { status: 401 },
    });
    expect(requests.length).toBeLessThanOrEqual(50 + CONCURRENCY);
  });

  it("ends a snapshot", async () => {
    const { baseUrl, requests } = await revoked(AFTER_50);
    const [desired, api] = await Promise.all([desiredOf("owner: edge"), apiOf(baseUrl)]);
    const moment = { nowMilliseconds: 0, host: "h", dialect: "node", account: null };
    const result = await takeSnapshot({ desired, units, api, ...moment });
    expect(result).toMatchObject({ ok: false, failure: { status: 401 } });
    // Records of zones and addresses of VPCs end each by its own refusal.
    expect(requests.length).toBeLessThanOrEqual(50 + 2 * CONCURRENCY);
  });

  it("ends an import", async () => {
    const { baseUrl, requests } = await revoked(AFTER_50);
    const selection = { domains: ["*"], vpcs: [], images: false };
    const result = await importLive({
      ...{
        api: await apiOf(baseUrl),
        units,
        selection,
        owner: null,
        allowedSeconds: [],
        violationsOf: () => [],
        watch: {},
      },
    });
    expect(result).toMatchObject({ ok: false, failure: { status: 401 } });
    expect(requests.length).toBeLessThanOrEqual(50 + CONCURRENCY);
  });

  it.each([401, 403] as const)("ends the reading of details (%i), which a plan does without", async (status) => {
    const { baseUrl, requests } = await revoked(({ number }) => number > 1, status);
    const [desired, api] = await Promise.all([desiredOf("vpcs: [{ label: v1, region: x }]"), apiOf(baseUrl)]);
    const read = await readLive({ desired, units, api, destroy: false });
    if (!read.ok) throw new Error(read.failure.message);
    expect(await readDetail(read.live, () => true, units, api)).toEqual([]);
    expect(requests.length).toBeLessThanOrEqual(1 + CONCURRENCY);
  });

  it("ends the details of a snapshot, which is whole without them, and says of no list that it was interrupted", async () => {
    const { baseUrl, requests } = await revoked(({ url }) => url.includes("/ips"), 403);
    const [desired, api] = await Promise.all([desiredOf(""), apiOf(baseUrl)]);
    const moment = { nowMilliseconds: 0, host: "h", dialect: "node", account: null };
    const result = await takeSnapshot({ desired, units, api, ...moment });
    if (!result.ok) throw new Error(result.failure.message);
    expect(new Set(result.snapshot.unread.map(({ failure }) => failure.status))).toEqual(new Set([403]));
    expect(requests.filter(({ url }) => url.includes("/ips")).length).toBeLessThanOrEqual(CONCURRENCY);
  });
});

describe("reading the account", () => {
  it.each([
    ["nothing at all", "{}", [], []],
    ["what is declared", "vpcs: [{ label: a, region: x }]", ["network"], ["/v4/vpcs"]],
    ["what is removed", "removed: [{ image: a }]", ["image"], ["/v4/images"]],
    [
      "everything, if something may carry a tag",
      "owner: edge",
      ["image", "network", "zone"],
      ["/v4/domains", "/v4/images", "/v4/vpcs"],
    ],
  ])("asks for %s", async (_, manifest, expected, paths) => {
    const service = await emulator();
    expect(unitsOf(await read(service, manifest === "{}" ? "" : manifest))).toEqual(expected);
    expect(pathsOf(service)).toEqual(paths);
  });

  it("reads the records of the zones that manage them, and of no others", async () => {
    const service = await emulator({
      seed: { domains: [1, 2, 3].map((id) => ({ id, domain: `z${id}.example`, soa_email: "a@example.com" })) },
    });
    await read(service, `domains: [{ domain: z2.example, ${ZONE}, records: [] }, { domain: z3.example, ${ZONE} }]`);
    expect(pathsOf(service)).toEqual(["/v4/domains", "/v4/domains/2/records"]);
  });

  it.each([
    [["vpc/*"], ["network"]],
    [["domain/z.example/www/A"], ["zone"]],
    [["*z.example"], ["network", "zone"]],
    [["image/golden"], []],
  ])("reads only what targets can match: %j", async (targets, expected) => {
    const manifest = `owner: edge\nvpcs: [{ label: a, region: x }]\ndomains: [{ domain: z.example, ${ZONE} }]`;
    expect(unitsOf(await read(await emulator(), manifest, { targets }))).toEqual(expected);
  });

  it("to destroy, reads the records of all that is declared, managed or not, and nothing of what is only tagged", async () => {
    const tagged = { soa_email: "a@example.com", tags: ["tenon:edge"] };
    const service = await emulator({
      seed: { domains: [1, 2, 3].map((id) => ({ id, domain: `z${id}.example`, ...tagged })) },
    });
    const manifest = `owner: edge\ndomains: [{ domain: z1.example, ${ZONE}, records: [] }, { domain: z2.example, ${ZONE} }]`;
    expect(unitsOf(await read(service, manifest, { destroy: true }))).toEqual(["zone"]);
    expect(pathsOf(service)).toEqual(["/v4/domains", "/v4/domains/1/records", "/v4/domains/2/records"]);
  });

  it("to destroy, reads no records of what carries no tag of the owner: it stays", async () => {
    const domains = [["tenon:edge"], [], ["tenon:other"]].map((tags, index) => ({
      ...{ id: index + 1, domain: `z${index + 1}.example`, soa_email: "a@example.com", tags },
    }));
    const service = await emulator({ seed: { domains } });
    const declared = domains.map(({ domain }) => `{ domain: ${domain}, ${ZONE}, records: [] }`);
    await read(service, `owner: edge\ndomains: [${declared.join(", ")}]`, { destroy: true });
    expect(pathsOf(service)).toEqual(["/v4/domains", "/v4/domains/1/records"]);
  });

  it("to destroy 1,000 zones, sends one list for each beside the list of domains, tells how many, and orders them", async () => {
    const count = 1_000;
    const name = (index: number): string => `z${String(index).padStart(4, "0")}.example`;
    // Each points at the one before, so that the order of the names is the wrong way round.
    const domains = Array.from({ length: count }, (_, index) => ({
      ...{ id: index + 1, domain: name(index), soa_email: "a@example.com" },
      records: [
        { type: "A" as const, name: "t", target: "192.0.2.1" },
        ...(index === 0 ? [] : [{ type: "CNAME" as const, name: "www", target: `t.${name(index - 1)}` }]),
      ],
    }));
    const service = await emulator({ seed: { domains } });
    const desired = await desiredOf(
      `domains: [${domains.map(({ domain }) => `{ domain: ${domain}, ${ZONE}, records: [] }`).join(", ")}]`,
    );
    const told: number[] = [];
    const planned = await planProject({
      goal: "destroy",
      nowMilliseconds: 0,
      desired,
      api: await apiOf(service.baseUrl),
      watch: { progress: (_, total) => told.push(total) },
    });
    if (!planned.ok) throw new Error(planned.failure.message);
    const records = service.requests.filter(({ path }) => path.endsWith("/records"));
    expect(records).toHaveLength(count);
    // 1,000 domains are two pages of 500.
    expect(service.requests.length - records.length).toBe(2);
    expect(told.at(-1)).toBe(count);
    const order = planned.plan.steps.map(({ id }) => id);
    const stepsOf = ({ domain }: { domain: string }) =>
      ["check", "count", "delete"].map((verb) => `${verb} domain/${domain}`);
    expect(order).toEqual(domains.toReversed().flatMap(stepsOf));
    expect(planned.plan.requestCount).toBe(3 * count);
  });

  it("adds up the progress of what is read at the same time", async () => {
    const domains = [1, 2, 3].map((id) => ({ id, domain: `z${id}.example`, soa_email: "a@example.com" }));
    const seen: string[] = [];
    const declared = domains.map(({ domain }) => `{ domain: ${domain}, ${ZONE}, records: [] }`);
    await read(await emulator({ seed: { domains } }), `domains: [${declared.join(", ")}]`, {
      watch: { progress: (done, total) => seen.push(`${done}/${total}`) },
    });
    expect(seen).toEqual(["1/3", "2/3", "3/3"]);
  });

  it("tells the failure itself, and not what it cut short", async () => {
    // Networks never answer; zones fail at once.
    const server = createServer((request, response) => {
      if (!request.url?.startsWith("/v4/domains")) return;
      response.writeHead(403, { "content-type": "application/json" });
      response.end('{"errors":[{"reason":"Unauthorized"}]}');
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const api = await apiOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v4`);
    const result = await readLive({ desired: await desiredOf("owner: edge"), units, api, destroy: false });
    expect(result).toMatchObject({ ok: false, what: "the list of domains", failure: { status: 403 } });
  });

  it("ends when it is told to", async () => {
    const signal = AbortSignal.abort();
    const result = await read(await emulator(), "owner: edge", { watch: { signal } });
    expect(result).toMatchObject({ ok: false, failure: { type: "aborted" } });
  });
});

describe("a signal that outlives many reads", () => {
  // As a watch has it. What still listened to it would be kept as long as the watch runs.
  it.each(["live", "snapshot"] as const)(
    "is let go of when a %s read is over, and ends one until then",
    async (which) => {
      const service = await emulator({ seed: { domains: [{ domain: "example.com" }, { domain: "example.net" }] } });
      const manifest = `domains: [{ domain: example.com, ${ZONE}, records: [] }, { domain: example.net, ${ZONE}, records: [] }]`;
      const [desired, api, outer] = [await desiredOf(manifest), await apiOf(service.baseUrl), new AbortController()];
      const inner: (AbortSignal | undefined)[] = [];
      const list: Api["list"] = (request, signal) => {
        inner.push(signal);
        return api.list(request, signal);
      };
      const made = { nowMilliseconds: 0, host: "", dialect: "node", account: null };
      const request = { ...made, desired, units, api: { ...api, list }, watch: { signal: outer.signal } };
      const readOnce = () => (which === "live" ? readLive({ ...request, destroy: false }) : takeSnapshot(request));
      expect(await readOnce()).toMatchObject({ ok: true });
      const past = inner.splice(0);
      const second = readOnce();
      outer.abort();
      expect(await second).toMatchObject({ ok: false, failure: { type: "aborted" } });
      expect(inner.length).toBeGreaterThan(0);
      expect(inner.map((signal) => signal?.aborted)).toEqual(inner.map(() => true));
      // The list of domains, and those of the records of two.
      expect(past.length).toBeGreaterThanOrEqual(3);
      expect(past.map((signal) => signal?.aborted)).toEqual(past.map(() => false));
    },
  );
});

describe("a removed domain", () => {
  const domains = Array.from({ length: 1_200 }, (_, index) => ({ id: index + 1, domain: `z${1_000 + index}.example` }));

  it.each(["z1003.example", "z2150.example"])(
    "that nobody owns is found on whichever page it lies: %s",
    async (name) => {
      const service = await emulator({ seed: { domains } });
      const desired = await desiredOf(
        `domains: [{ domain: z2100.example, ${ZONE} }]\nremoved: [{ domain: ${name} }]\n`,
      );
      const planned = await planProject({
        goal: "apply",
        nowMilliseconds: 0,
        desired,
        api: await apiOf(service.baseUrl),
      });
      if (!planned.ok) throw new Error(planned.failure.message);
      expect(planned.plan.changes.map(({ action, address }) => `${action} ${address}`)).toContain(
        `delete domain/${name}`,
      );
    },
  );
});
