import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { type EmulatorOptions, startEmulator } from "../../src/emulator/index.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { failureOf, JumpingClock, type Opened, open } from "./scripted.ts";

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function emulator(options: EmulatorOptions = {}, dialect = "node"): Promise<Opened & { baseUrl: string }> {
  const clock = new JumpingClock();
  const running = await startEmulator({ now: () => clock.now(), dialect, ...options });
  closing.push(() => running.close());
  const opened = await open(running.baseUrl, { token: "emulator-token", dialect, clock });
  return { ...opened, clock, baseUrl: running.baseUrl };
}

const zone = (domain: string): JsonObject => ({ domain, type: "master", soa_email: "hostmaster@example.com" });

async function created(opened: Opened, path: readonly string[], body: JsonObject): Promise<JsonObject> {
  const answer = await opened.api.send({ method: "POST", path, body });
  if (!answer.ok) throw new Error(answer.failure.message);
  return answer.body as JsonObject;
}

describe("against the emulator", () => {
  it("1,000 records are created at its limit, listed in three pages and deleted twice", async () => {
    const opened = await emulator({ rateLimit: { requests: 100, seconds: 10 } });
    const { api, clock, events } = opened;
    const domain = await created(opened, ["domains"], zone("example.com"));
    const path = ["domains", String(domain["id"]), "records"];
    const begin = clock.now();
    const bodies = Array.from({ length: 1_100 }, (_, n) => ({ type: "TXT", name: `n${n}`, target: `ü𝄞 ${n}` }));
    await Promise.all(bodies.map((body) => created(opened, path, body)));
    const refused = events.filter((event) => event.type === "answered" && event.status === 429);
    expect(refused.length).toBeLessThanOrEqual(11);
    expect(clock.now() - begin).toBeLessThanOrEqual(11 * 10_000 * 1.1);
    const list = await api.list({ path });
    if (!list.ok) throw new Error(list.failure.message);
    expect(list.total).toBe(1_100);
    expect(new Set(list.items.map((item) => item["target"])).size).toBe(1_100);
    const request = { method: "DELETE" as const, path: ["domains", String(domain["id"])] };
    expect(await api.send(request)).toMatchObject({ ok: true, body: {} });
    expect(await api.send(request)).toMatchObject({ ok: true, body: {}, alreadyGone: true });
  });

  it("a few zones of many are found by name, and one that is not there is looked for everywhere", async () => {
    const opened = await emulator();
    const names = Array.from({ length: 300 }, (_, n) => `zone-${n}.example`);
    await Promise.all(names.map((name) => created(opened, ["domains"], zone(name))));
    const api = (await open(opened.baseUrl, { token: "emulator-token", pageSize: 50 })).api;
    const list = (values: string[]) => api.list({ path: ["domains"], subset: { field: "domain", values } });
    expect(await list(["zone-299.example"])).toMatchObject({ ok: true, total: 300 });
    expect(api.requestCount).toBeLessThanOrEqual(2);
    const all = await list(["zone-299.example", "absent.example"]);
    expect(all).toMatchObject({ ok: true, total: 300 });
    expect(all.ok && all.items.length).toBe(300);
  });

  it("a refusal is told in the service's words, with its field", async () => {
    const { api } = await emulator();
    const failure = failureOf(await api.send({ method: "POST", path: ["domains"], body: { domain: "a.example" } }));
    expect(failure).toMatchObject({ type: "refused", effect: "none", status: 400 });
    expect(failure.errors).toContainEqual({ field: "type", reason: "type is required" });
  });

  it("a wrong token is named as the reason", async () => {
    const { baseUrl } = await emulator();
    const { api } = await open(baseUrl, { token: "wrong-token" });
    const failure = failureOf(await api.list({ path: ["vpcs"] }));
    expect(failure).toMatchObject({ type: "refused", status: 401 });
    expect(failure.message).toBe("the service did not accept the token (401): Invalid Token");
  });

  it.each(["node", "linode"])("the dialect %s reads the same", async (dialect) => {
    const seed = {
      vpcs: [{ label: "prod", region: "us-east", subnets: [{ id: 5, label: "web", ipv4: "10.0.1.0/24" }] }],
      nodes: [{ id: 7, label: "web-1", interfaces: [{ id: 9, subnet_id: 5, active: true, config_id: 3 }] }],
    };
    const { api } = await emulator({ seed: seed as NonNullable<EmulatorOptions["seed"]> }, dialect);
    const vpcs = await api.list({ path: ["vpcs"] });
    expect(vpcs).toMatchObject({ ok: true, items: [{ label: "prod", subnets: [{ nodes: [{ id: 7 }] }] }] });
    const addresses = await api.list({ path: ["networking", "vpcs", "ips"], filter: { node_id: 7 } });
    expect(addresses).toMatchObject({ ok: true, items: [{ node_id: 7, interface_id: 9 }] });
  });

  it("an image is uploaded to its signed URL", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tenon-image-"));
    closing.push(() => rm(folder, { recursive: true }));
    const file = join(folder, "golden.img.gz");
    await writeFile(file, gzipSync(randomBytes(100_000)));
    const opened = await emulator();
    const made = await created(opened, ["images", "upload"], { label: "golden", region: "us-east" });
    const answer = await opened.api.upload({ url: String(made["upload_to"]), file });
    expect(answer.ok, JSON.stringify(answer)).toBe(true);
    const image = made["image"] as JsonObject;
    const view = await opened.api.send({ method: "GET", path: ["images", String(image["id"])] });
    expect(view).toMatchObject({ ok: true, body: { id: image["id"], label: "golden" } });
  });
});
