import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { type Api, allowedSeconds, createApi, type Desired, loadProject } from "../../src/index.ts";
import { type LiveResult, type ReadOptions, readLive } from "../../src/live/read.ts";
import { units } from "../../src/units/registry.ts";
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

  it("to destroy, reads neither records nor what is only tagged", async () => {
    const service = await emulator({ seed: { domains: [{ id: 1, domain: "z.example", soa_email: "a@example.com" }] } });
    const result = await read(service, `owner: edge\ndomains: [{ domain: z.example, ${ZONE}, records: [] }]`, {
      destroy: true,
    });
    expect(unitsOf(result)).toEqual(["zone"]);
    expect(pathsOf(service)).toEqual(["/v4/domains"]);
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
