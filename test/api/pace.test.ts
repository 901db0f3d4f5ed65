import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type EmulatorOptions, startEmulator } from "../../src/emulator/index.ts";
import { allowedSeconds, applyPlan, loadProject, type Plan, planProject } from "../../src/index.ts";
import { leastSeconds } from "../../src/render/view.ts";
import { JumpingClock, json, type Opened, open, serve } from "./scripted.ts";
import { LIMIT, Window } from "./window.ts";

/** An emulator and a client whose clocks jump together. */
async function emulated(options: EmulatorOptions, skewMilliseconds = 0): Promise<Opened & { url: string }> {
  const clock = new JumpingClock();
  const running = await startEmulator({ now: () => clock.now(), ...options });
  onTestFinished(() => running.close());
  const skewed = { now: () => clock.now() + skewMilliseconds, sleep: clock.sleep.bind(clock) };
  const opened = await open(running.baseUrl, { token: "emulator-token", clock: skewed });
  return { ...opened, clock, url: running.baseUrl };
}

async function planned({ api, clock }: Opened, records: number): Promise<{ plan: Plan; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), "tenon-pace-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const lines = Array.from({ length: records }, (_, n) => `      - { type: A, name: n${n}, target: 192.0.2.1 }\n`);
  const zone = `  - domain: example.com\n    type: master\n    soa_email: a@example.com\n    records:\n${lines.join("")}`;
  await writeFile(join(folder, "tenon.yaml"), `tenon: 1\ndomains:\n${zone}`);
  const { project } = await loadProject({ directory: folder, allowedSeconds: allowedSeconds("node") });
  if (project === null) throw new Error("the project is not valid");
  const result = await planProject({ desired: project.desired, api, goal: "apply", nowMilliseconds: clock.now() });
  if (!result.ok) throw new Error(result.failure.message);
  return { plan: result.plan, folder };
}

const perSeconds = (requests: number, seconds: number) => ({ rateLimit: { requests, seconds } });
const DAY_MILLISECONDS = 86_400_000;

describe("an apply of 1,000 records against 100 requests in 10 seconds", () => {
  it("gets at most 1% of 429, and takes about as long as the plan said and no more than 1.15 of the least", async () => {
    const opened = await emulated(perSeconds(100, 10));
    const { api, clock, events } = opened;
    const { plan, folder } = await planned(opened, 1_000);
    expect(plan.pace).toEqual({ requests: 100, seconds: 10 });
    const begin = clock.now();
    const report = await applyPlan({ plan, api, root: folder, concurrency: 8, clock, journal: null });
    const seconds = (clock.now() - begin) / 1000;
    expect(report).toMatchObject({ added: 1_001, failed: 0, interrupted: false });
    const answers = events.filter((event) => event.type === "answered");
    expect(answers.length).toBeGreaterThan(1_000);
    expect(answers.filter(({ status }) => status === 429).length).toBeLessThanOrEqual(answers.length / 100);
    // The first window is open when the apply begins, and the last needs no wait after it.
    const leastOfAll = Math.floor(answers.length / 100) * 10;
    expect(seconds / leastOfAll).toBeLessThanOrEqual(1.15);
    const estimate = leastSeconds(plan.requestCount, { requests: 100, seconds: 10 });
    expect(Math.abs(seconds - estimate) / estimate).toBeLessThan(0.15);
  });
});

describe("the limit that a plan tells", () => {
  it.each([
    [100, 10],
    [15, 60],
    [800, 120],
    [30, 5],
  ])("is %i requests in %i s where the emulator holds to that", async (requests, seconds) => {
    const opened = await emulated(perSeconds(requests, seconds));
    expect((await planned(opened, 3)).plan.pace).toEqual({ requests, seconds });
  });

  it("does not depend on whose clock is right", async () => {
    for (const skew of [-DAY_MILLISECONDS, DAY_MILLISECONDS]) {
      const opened = await emulated(perSeconds(100, 10), skew);
      expect((await planned(opened, 3)).plan.pace).toEqual({ requests: 100, seconds: 10 });
    }
  });

  it("is the same after the emulator's clock was moved", async () => {
    const opened = await emulated(perSeconds(100, 10));
    const body = JSON.stringify({ advance_seconds: 7_777 });
    const headers = { "content-type": "application/json", "x-tenon-emulator": "yes" };
    const moved = await fetch(new URL("/_emulator/clock", opened.url), { method: "POST", body, headers });
    expect(moved.ok).toBe(true);
    expect((await planned(opened, 3)).plan.pace).toEqual({ requests: 100, seconds: 10 });
  });

  it("is none where nothing is counted", async () => {
    expect((await planned(await emulated({}), 3)).plan.pace).toBeNull();
  });

  it("is none in a window that others opened, and known from the next one on", async () => {
    const opened = await emulated(perSeconds(100, 10));
    await fetch(`${opened.url}/vpcs`, { headers: { authorization: "Bearer emulator-token" } });
    await fetch(`${opened.url}/vpcs`, { headers: { authorization: "Bearer emulator-token" } });
    expect((await planned(opened, 3)).plan.pace).toBeNull();
    await opened.clock.sleep(10_000);
    expect((await planned(opened, 3)).plan.pace).toEqual({ requests: 100, seconds: 10 });
  });

  it("is none where the first answer told what is left of a window that began by the clock", async () => {
    const window = new Window(Math.ceil, true);
    const clock = new JumpingClock();
    await clock.sleep(3_300);
    const server = await serve((_request, response) => {
      json(response, 200, { data: [], page: 1, pages: 1, results: 0 }, window.take(clock.now()).headers);
    });
    const { api } = await open(server.baseUrl, { clock });
    await api.list({ path: ["domains"] });
    expect(api.limits()).toMatchObject([{ limit: LIMIT, windowSeconds: null }]);
  });

  it("is known from a reset as a time of day alone, which may seem a second further away", async () => {
    const clock = new JumpingClock();
    await clock.sleep(300);
    const server = await serve((_request, response) => {
      const reset = Math.ceil((clock.now() + 10_000) / 1000);
      const headers = { "x-ratelimit-limit": "100", "x-ratelimit-remaining": "99", "x-ratelimit-reset": String(reset) };
      const date = new Date(Math.floor(clock.now() / 1000) * 1000).toUTCString();
      json(response, 200, { data: [], page: 1, pages: 1, results: 0 }, { ...headers, date });
    });
    const { api } = await open(server.baseUrl, { clock });
    await api.list({ path: ["domains"] });
    expect(api.limits()).toMatchObject([{ limit: 100, windowSeconds: 10 }]);
  });
});
