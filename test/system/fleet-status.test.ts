/** `tenon fleet status`: what workers on a real Redis do and did, as a list, as a page that is kept up to date, and as metrics. */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ended, type RunOptions, run, start } from "../cli/run.ts";
import { fileOf, fleetOf } from "../support/fleet.ts";
import { type StoreServer, startRedis } from "../support/stores.ts";

const CHROMIUM = "/usr/bin/chromium";
const SCHEMA = JSON.parse(readFileSync(new URL("../../schemas/fleet-status.schema.json", import.meta.url), "utf8"));
const fitsSchema = new Ajv2020({
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  validateFormats: false,
}).compile(SCHEMA);

let server: StoreServer;
let browser: Browser;

beforeAll(async () => {
  server = await startRedis();
  // Whoever runs tests as root has no other way; the pages are our own.
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Starts a command that serves, and waits until it says so. @returns what it has said */
async function serving(
  args: readonly string[],
  options: RunOptions,
  pattern: RegExp,
): Promise<{ readonly child: ChildProcessWithoutNullStreams; readonly said: string }> {
  const child = start(args, options);
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stderr.on("data", (more) => {
      text += more;
      if (pattern.test(text)) resolve(text);
    });
    child.on("exit", () => reject(new Error(text)));
  });
  return { child, said };
}

async function statusOf(options: RunOptions, args: readonly string[]) {
  const { code, stdout, stderr } = await run(["fleet", "status", "--format", "json", ...args], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const document = JSON.parse(stdout);
  expect(fitsSchema(document), JSON.stringify(fitsSchema.errors)).toBe(true);
  return document;
}

function portOf(said: string): number {
  return Number(/:(\d+)\/$/m.exec(said)?.[1]);
}

let prefixes = 0;
function queueArgs(): string[] {
  return ["--queue", server.url, "--prefix", `s${++prefixes}`];
}

test("says of each account what waits, what runs where, and what it came to last", async () => {
  const fleet = await fleetOf(3, { latencyMilliseconds: 40 });
  const queue = queueArgs();
  const unseen = await statusOf(fleet, queue);
  expect(unseen.accounts.map(({ name, state }: { name: string; state: string }) => [name, state])).toEqual([
    ["a1", "unknown"],
    ["a2", "unknown"],
    ["a3", "unknown"],
  ]);
  // Nobody works yet: what is asked for waits.
  const planned = ended(start(["fleet", "plan", ...queue], fleet));
  await expect.poll(async () => (await statusOf(fleet, queue)).queue.waiting, { timeout: 30_000 }).toBe(3);
  const waiting = await statusOf(fleet, queue);
  expect(waiting.accounts[1]).toMatchObject({ name: "a2", state: "waiting", waiting: 1, running: null, last: null });
  expect(Date.parse(waiting.accounts[1].waiting_since)).toBeLessThanOrEqual(Date.parse(waiting.at));
  const text = await run(["fleet", "status", "--select", "label.tier=gold", ...queue], fleet);
  expect(text.stdout).toMatch(/^NAME +STATE +NOW +LAST +AGO\na1 +waiting +waits since \d+ s +- +-\na3 +waiting /);
  expect(text.stdout).toContain("\nFleet: 2 accounts: 2 waiting.\nQueue: 3 waiting, 0 active, 0 delayed.\n");
  const worker = await serving(["fleet", "worker", "--workers", "1", ...queue], fleet, /Serving/);
  expect((await planned).code).toBe(0);
  await expect
    .poll(async () => (await statusOf(fleet, queue)).accounts.map(({ state }: { state: string }) => state), {
      timeout: 30_000,
    })
    .toEqual(["done", "done", "done"]);
  const done = await statusOf(fleet, queue);
  expect(done.accounts[0].last).toMatchObject({ command: "plan", exit_code: 2, headline: "3 to add", throttled: 0 });
  const asked = fleet.accounts.map(({ service }) => service.requests.length);
  expect(done.accounts.map(({ last }: { last: { requests: number } }) => last.requests)).toEqual(asked);
  worker.child.kill("SIGTERM");
  await ended(worker.child);
  const [own] = (await statusOf(fleet, queue)).workers;
  expect(own).toMatchObject({ state: "ended", done: 3, failed: 0, requests: asked.reduce((sum, one) => sum + one, 0) });
});

test("what is asked for while a scheduled comparison runs is counted as waiting", async () => {
  const fleet = await fleetOf(1, { latencyMilliseconds: 20_000 });
  const queue = queueArgs();
  await serving(["fleet", "worker", ...queue], fleet, /Serving/);
  expect((await run(["fleet", "schedule", "drift", "--every", "1h", ...queue], fleet)).code).toBe(0);
  const account = async () => (await statusOf(fleet, queue)).accounts[0];
  await expect.poll(account, { timeout: 30_000 }).toMatchObject({ waiting: 0, running: { command: "drift" } });
  start(["fleet", "plan", ...queue], fleet);
  await expect.poll(account, { timeout: 30_000 }).toMatchObject({ waiting: 1, running: { command: "drift" } });
});

test("a page is kept up to date, stays text, and ends with the command", async () => {
  const fleet = await fleetOf(4);
  const queue = queueArgs();
  // A label is anybody's text.
  const hostile = "<img src=x onerror=alert(1)>";
  const file = fileOf(fleet.accounts).replaceAll("tier: gold", `tier: "${hostile}"`);
  await writeFile(join(fleet.cwd, "fleet.yaml"), file);
  const page = await serving(["fleet", "status", "--serve", "0", ...queue], fleet, /listening on .*\n/);
  const base = `http://127.0.0.1:${portOf(page.said)}`;
  const worker = await serving(["fleet", "worker", ...queue], fleet, /Serving/);
  const looks: readonly BrowserContextOptions[] = [
    { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
    { viewport: { width: 375, height: 812 }, colorScheme: "dark" },
  ];
  const opened = await Promise.all(
    looks.map(async (look) => {
      const context = await browser.newContext(look);
      onTestFinished(() => context.close());
      const tab = await context.newPage();
      const complaints: string[] = [];
      tab.on("console", (message) => complaints.push(message.text()));
      tab.on("pageerror", ({ message }) => complaints.push(message));
      tab.on("dialog", (dialog) => {
        complaints.push(dialog.message());
        void dialog.dismiss();
      });
      await tab.goto(base);
      return { tab, complaints };
    }),
  );
  for (const { tab } of opened) {
    expect(await tab.locator("h1").textContent()).toBe("Fleet: 4 accounts: 4 not seen.");
    await expect.poll(() => tab.locator("[data-live]").textContent()).toBe("Live.");
  }
  const wrong = { ...fleet, env: { ...fleet.env, TOKEN_A2: "another-token" } };
  expect((await run(["fleet", "plan", ...queue], wrong)).code).toBe(0);
  await run(["fleet", "apply", "--yes", "--select", "name=a3", ...queue], fleet);
  for (const { tab, complaints } of opened) {
    await expect.poll(() => tab.locator("h1").textContent(), { timeout: 30_000 }).toBe("Fleet: 4 accounts: 4 done.");
    await expect.poll(() => tab.locator("#account-3").textContent(), { timeout: 30_000 }).toContain("apply: 3 added");
    expect(await tab.locator("#account-3").textContent()).toMatch(/\d+ s ago/);
    // Filters go by what is there now.
    await tab.check("[value=done]");
    // What an account came to arrives before its state.
    await expect.poll(() => tab.locator("output[name=count]").textContent()).toBe("4 of 4 accounts");
    await tab.selectOption("[name=label]", { label: `tier=${hostile}` });
    expect(await tab.locator("output[name=count]").textContent()).toBe("2 of 4 accounts");
    expect(await tab.locator("img").count()).toBe(0);
    await tab.evaluate(axe.source);
    const serious = await tab.evaluate(async () => {
      const injected = (globalThis as unknown as { axe: typeof axe }).axe;
      return (await injected.run()).violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    });
    expect(serious.map(({ id }) => id)).toEqual([]);
    const wider = await tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    expect({ wider, complaints }).toEqual({ wider: 0, complaints: [] });
  }
  const metrics = await (await fetch(`${base}/metrics`)).text();
  expect(metrics).toContain('tenon_fleet_accounts{state="done"} 4\n');
  expect(metrics).toContain('tenon_fleet_last_outcomes{outcome="well"} 4\n');
  expect(metrics).toContain('tenon_fleet_queue_jobs{state="waiting"} 0\n');
  expect(metrics).toContain("tenon_fleet_oldest_wait_seconds 0\n");
  expect(metrics).toMatch(/tenon_fleet_worker_requests_total\{worker="[^"]+"\} \d+\n/);
  expect(await (await fetch(`${base}/healthz`)).text()).toBe("ok\n");
  page.child.kill("SIGTERM");
  expect((await ended(page.child)).code).toBe(0);
  for (const { tab } of opened)
    await expect
      .poll(() => tab.locator("[data-live]").textContent(), { timeout: 30_000 })
      .toContain("The connection is lost");
  worker.child.kill("SIGTERM");
  await ended(worker.child);
});

/** With any header, as no browser would let a page. */
function get(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET",
): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, headers, method }, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    asked.on("error", reject).end();
  });
}

test("pages of other hosts and origins are refused, and a queue that is away is said, until it is back", async () => {
  const fleet = await fleetOf(1);
  const own = await startRedis();
  onTestFinished(() => own.stop());
  const { child, said } = await serving(
    ["fleet", "status", "--serve", "0", "--queue", own.url],
    fleet,
    /listening on .*\n/,
  );
  const port = portOf(said);
  for (const path of ["/", "/events", "/metrics", "/healthz"]) {
    expect([path, await get(port, path)]).toEqual([path, 200]);
    expect([path, await get(port, path, { host: "evil.example" })]).toEqual([path, 403]);
    expect([path, await get(port, path, { origin: "https://evil.example" })]).toEqual([path, 403]);
    expect([path, await get(port, path, { origin: "null" })]).toEqual([path, 403]);
    expect([path, await get(port, path, { origin: `http://127.0.0.1:${port}` })]).toEqual([path, 200]);
    expect([path, await get(port, path, {}, "POST")]).toEqual([path, 405]);
  }
  expect(await get(port, "/fleet.yaml")).toBe(404);
  own.child.kill("SIGKILL");
  await expect.poll(() => get(port, "/healthz"), { timeout: 30_000 }).toBe(503);
  const back = await own.restart();
  onTestFinished(() => back.stop());
  await expect.poll(() => get(port, "/healthz"), { timeout: 30_000 }).toBe(200);
  back.child.kill("SIGKILL");
  await expect.poll(() => get(port, "/healthz"), { timeout: 30_000 }).toBe(503);
  // Also where the queue never answers, a signal ends it.
  child.kill("SIGTERM");
  expect((await ended(child)).code).toBe(0);
});

test("a worker serves its own metrics, and says when an account begins to fail and when it is well again", async () => {
  const fleet = await fleetOf(2);
  const queue = queueArgs();
  const texts: string[] = [];
  const hook = createServer((asked, response) => {
    let body = "";
    asked.on("data", (more) => {
      body += more;
    });
    asked.on("end", () => {
      texts.push(JSON.parse(body).text);
      // The last one is never answered: that holds up neither a run nor the end.
      if (texts.length < 2) response.end();
    });
  });
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    hook.closeAllConnections();
    hook.close();
  });
  const { port } = hook.address() as AddressInfo;
  const args = ["fleet", "worker", "--metrics", "0", "--webhook", `http://127.0.0.1:${port}/secret`, ...queue];
  const { child, said } = await serving(args, fleet, /Serving/);
  const metrics = /http:\S+metrics/.exec(said)?.[0] ?? "";
  const good = await readFile(join(fleet.cwd, "project/tenon.yaml"), "utf8");
  const plan = async (text: string): Promise<number | null> => {
    await writeFile(join(fleet.cwd, "project/tenon.yaml"), text);
    return (await run(["fleet", "plan", "--select", "name=a1", ...queue], fleet)).code;
  };
  expect(await plan(good)).toBe(0);
  expect(await plan(good.replace("domains:", "domians:"))).toBe(3);
  expect(await plan(good.replace("domains:", "domeins:"))).toBe(3);
  expect(await plan(good)).toBe(0);
  await expect.poll(() => texts.length, { timeout: 30_000 }).toBe(2);
  expect(texts[0]).toMatch(/^Tenon: account a1 begins to fail:\n```\nplan: error: unknown key `?'?domians/);
  expect(texts[1]).toBe("Tenon: account a1 is well again:\n```\nplan: 3 to add\n```");
  const found = await (await fetch(metrics)).text();
  expect(found).toMatch(/tenon_fleet_worker_jobs_total\{worker="[^"]+",result="done"\} 2\n/);
  expect(found).toMatch(/tenon_fleet_worker_jobs_total\{worker="[^"]+",result="failed"\} 2\n/);
  expect(found).toMatch(/tenon_fleet_worker_running\{worker="[^"]+"\} 0\n/);
  child.kill("SIGTERM");
  const { stderr } = await ended(child);
  expect(stderr).not.toContain("secret");
});

test("a worker that is killed is silent, not running for ever", async () => {
  const fleet = await fleetOf(1, { latencyMilliseconds: 20_000 });
  const queue = queueArgs();
  const worker = await serving(["fleet", "worker", ...queue], fleet, /Serving/);
  const asking = start(["fleet", "plan", ...queue], fleet);
  onTestFinished(() => void asking.kill("SIGKILL"));
  const running = async () => (await statusOf(fleet, queue)).accounts[0].running;
  await expect.poll(running, { timeout: 30_000 }).toMatchObject({ command: "plan", silent: false });
  worker.child.kill("SIGKILL");
  await expect.poll(async () => (await running())?.silent, { timeout: 60_000, interval: 1_000 }).toBe(true);
  expect((await statusOf(fleet, queue)).workers[0].state).toBe("silent");
});
