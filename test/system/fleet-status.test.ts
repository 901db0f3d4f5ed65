/** `tenon fleet status`: what workers on a real Redis do and did, as a list, as a page that is kept up to date, and as metrics. */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, get as httpGet, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import axe from "axe-core";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ActivityRecorder, StatusReader, serveFleet, type WorkerEvent } from "../../src/fleet/index.ts";
import { openStore } from "../../src/fleet/open-store.ts";
import { activityKey, pendingKey, Records, type RunRequest, requestKey } from "../../src/fleet/records.ts";
import { type FleetStore, parseStoreAddress } from "../../src/fleet/store.ts";
import { accountState } from "../../src/render/fleet-status.ts";
import { ended, expectPlain, type RunOptions, run, start } from "../cli/run.ts";
import { openBrowser, watched } from "../support/browser.ts";
import { fileOf, fleetOf } from "../support/fleet.ts";
import { type StoreServer, startPostgres, startRedis } from "../support/stores.ts";

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
  browser = await openBrowser();
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

const ENGINES = { redis: startRedis, postgres: startPostgres } as const;

test.each(Object.entries(ENGINES))(
  "says of each account what waits, what runs where, and what it came to last: %s",
  async (_, startServer) => {
    const own = await startServer();
    onTestFinished(() => own.stop());
    expect((await run(["fleet", "prepare", "--queue", own.url])).code).toBe(0);
    const fleet = await fleetOf(3, { latencyMilliseconds: 40 });
    const queue = ["--queue", own.url];
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
    const [seen] = (await statusOf(fleet, queue)).workers;
    expect(seen).toMatchObject({
      state: "ended",
      done: 3,
      failed: 0,
      requests: asked.reduce((sum, one) => sum + one, 0),
    });
  },
);

/** Of a fleet without processes: a worker and whoever looks are in the test. */
async function storeOf(): Promise<FleetStore> {
  const address = parseStoreAddress(server.url);
  if (address === null) throw new Error("no address");
  const observer = { unreachable: () => {} };
  const opened = await openStore(address, { prefix: `s${++prefixes}`, leaseMilliseconds: 30_000, observer });
  if (!opened.ok) throw new Error(opened.diagnostic.summary);
  onTestFinished(() => opened.store.close());
  return opened.store;
}

const DIGEST = "0".repeat(64);
const LOOK = { width: 80, colour: false };
const REQUEST: RunRequest = {
  ...{ command: "plan", flags: { format: "text" }, results: LOOK, messages: LOOK },
  ...{ saves: false, documents: false },
};
const PENDING = { run: "00000000-0000-4000-8000-000000000000", digest: DIGEST, plan: null, at: 1 };

test("an account that came to something is not found waiting for the same run, at whatever moment one looks", async () => {
  const store = await storeOf();
  const records = new Records(store);
  const outcome = { type: "ran", code: 0, headline: "no changes", text: "", markup: "plain", document: null } as const;
  /** All that the worker says is written: a recorder waits for a slow store only for a while. */
  const say = async (event: WorkerEvent): Promise<void> => {
    const recorder = new ActivityRecorder({ store, worker: "w:1", now: () => 1, ended: () => {} });
    recorder.report(event);
    await recorder.end();
    const isRunning = async () => ((await records.read("activity", activityKey("a1"))).value?.running ?? null) !== null;
    await expect.poll(isRunning, { timeout: 60_000 }).toBe(event.type === "begun");
  };
  await records.write("pending", pendingKey("a1"), { runs: [PENDING] }, 0);
  const begun = { type: "begun", account: "a1", request: REQUEST, run: PENDING.run } as const;
  await say(begun);
  const versions = store.versions.bind(store);
  let looks = 0;
  store.versions = async (keys) => {
    looks += 1;
    if (looks === 2) {
      // Between two reads of one look the run ends, in the order in which a worker says so.
      await records.write("pending", pendingKey("a1"), { runs: [] }, 1);
      await say({ type: "done", account: "a1", request: REQUEST, outcome });
    }
    return versions(keys);
  };
  const reader = new StatusReader(store, [{ name: "a1", labels: {} }]);
  const states: string[] = [];
  for (let count = 0; count < 2; count += 1) {
    const [account] = (await reader.read(3)).accounts;
    states.push(account === undefined ? "" : `${accountState(account)} ${account.last?.headline ?? "-"}`);
  }
  expect(states).toEqual(["running -", "done no changes"]);
});

test("a worker says what an account came to once nothing waits for it", async () => {
  const store = await storeOf();
  const records = new Records(store);
  await records.write("request", requestKey(PENDING.run), REQUEST, 0);
  await records.write("pending", pendingKey("a1"), { runs: [PENDING] }, 0);
  await store.queue.enqueue("a1");
  const account = {
    ...{ name: "a1", project: "/", environment: null, variables: {}, baseUrl: "http://127.0.0.1/v4", dialect: "node" },
    ...{ account: null, token: { env: "TOKEN_A1" }, labels: {} },
  };
  const line = { text: "", markup: "plain", document: null, headline: "no changes" } as const;
  const outcome = { type: "ran", code: 0, ...line } as const;
  const stop = new AbortController();
  const waiting: Promise<number | undefined>[] = [];
  await serveFleet({
    ...{ store, name: "w:1", slots: 1, leaseMilliseconds: 30_000, stop: stop.signal },
    find: async () => ({ type: "found", account }),
    tokenOf: async () => null,
    refuses: async () => null,
    run: async () => ({ outcome, plan: null }),
    fail: () => outcome,
    observe: ({ type }) => {
      if (type !== "done") return;
      waiting.push(records.read("pending", pendingKey("a1")).then(({ value }) => value?.runs.length));
      stop.abort();
    },
  });
  expect(await Promise.all(waiting)).toEqual([0]);
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

test("a scheduled comparison that each worker refuses is shown as failed, with what is missing", async () => {
  const fleet = await fleetOf(2);
  const queue = queueArgs();
  await serving(
    ["fleet", "worker", "--lease", "2s", ...queue],
    { ...fleet, env: { ...fleet.env, TOKEN_A2: "" } },
    /Serving/,
  );
  expect((await run(["fleet", "schedule", "drift", "--every", "1h", ...queue], fleet)).code).toBe(0);
  const [headline, command] = [
    expect.stringMatching(/^error: worker \S+ has no token for a2: start it with TOKEN_A2 set$/),
    "drift",
  ];
  await expect
    .poll(async () => (await statusOf(fleet, queue)).accounts, { timeout: 30_000 })
    .toMatchObject([{ last: { command } }, { state: "failed", last: { command, headline } }]);
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
      const { page: tab, complaints } = await watched(browser, look);
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
    expect(await tab.locator("output[name=count]").textContent()).toBe("4 of 4 accounts");
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

interface PageEvent {
  readonly name: string;
  readonly parts: ReadonlyMap<string, string>;
}

/** What a page gets, without a browser. */
async function eventsOf(port: number): Promise<{ readonly events: readonly PageEvent[]; close(): void }> {
  const events: PageEvent[] = [];
  const asked = httpGet({ host: "127.0.0.1", port, path: "/events", agent: false });
  onTestFinished(() => void asked.destroy());
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.on("response", resolve).on("error", reject);
  });
  let text = "";
  response.setEncoding("utf8").on("data", (more: string) => {
    const whole = (text + more).split("\n\n");
    text = whole.pop() ?? "";
    for (const one of whole) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(one) ?? [];
      if (name !== undefined) events.push({ name, parts: new Map(JSON.parse(data ?? "{}").parts ?? []) });
    }
  });
  response.on("error", () => {});
  return { events, close: () => void asked.destroy() };
}

test("a page that is opened after nobody looked for a while is not set back, and is sent whether the queue answers", async () => {
  const fleet = await fleetOf(2);
  const own = await startRedis();
  onTestFinished(() => own.stop());
  const queue = ["--queue", own.url];
  const { said } = await serving(["fleet", "status", "--serve", "0", ...queue], fleet, /listening on .*\n/);
  const port = portOf(said);
  const first = await eventsOf(port);
  await expect.poll(() => first.events[0]?.parts.get("account-1"), { timeout: 30_000 }).toContain("not seen");
  first.close();
  const worker = await serving(["fleet", "worker", ...queue], fleet, /Serving/);
  expect((await run(["fleet", "plan", ...queue], fleet)).code).toBe(0);
  await expect
    .poll(async () => (await (await fetch(`http://127.0.0.1:${port}/`)).text()).match(/plan: 3 to add/g)?.length, {
      timeout: 30_000,
    })
    .toBe(2);
  worker.child.kill("SIGTERM");
  await ended(worker.child);
  const later = await eventsOf(port);
  await expect.poll(() => later.events.length, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(later.events[0]?.name).toBe("status");
  expect([...(later.events[0]?.parts.keys() ?? [])].sort()).toEqual([
    ...["account-1", "account-2", "queue", "title", "workers"],
  ]);
  expect(later.events[0]?.parts.get("account-1")).toContain("plan: 3 to add");
  own.child.kill("SIGKILL");
  const names = (page: { readonly events: readonly PageEvent[] }) => page.events.map(({ name }) => name);
  await expect.poll(() => names(later).at(-1), { timeout: 30_000 }).toBe("down");
  // Also where the page is new.
  const newest = await eventsOf(port);
  await expect.poll(() => names(newest), { timeout: 30_000 }).toEqual(["down"]);
  const back = await own.restart();
  onTestFinished(() => back.stop());
  for (const page of [later, newest]) await expect.poll(() => names(page).at(-1), { timeout: 30_000 }).toBe("status");
  expect(names(later).filter((name) => name === "down")).toEqual(["down"]);
});

test("a port that is taken is said, of a page as of metrics", async () => {
  const fleet = await fleetOf(1);
  const queue = queueArgs();
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  for (const [flag, ...args] of [
    ["--serve", "fleet", "status"],
    ["--metrics", "fleet", "worker"],
  ] as const) {
    const ran = await run([...args, flag, `${port}`, ...queue], fleet);
    expectPlain(ran, 1, [`${flag} 127.0.0.1:${port} cannot be listened on`, "or 0 for any that is free"]);
  }
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
  const worker = await serving(["fleet", "worker", ...queue], fleet, /Serving 1 account as /);
  const asking = start(["fleet", "plan", ...queue], fleet);
  onTestFinished(() => void asking.kill("SIGKILL"));
  const running = async () => (await statusOf(fleet, queue)).accounts[0].running;
  await expect.poll(running, { timeout: 30_000 }).toMatchObject({ command: "plan", silent: false });
  worker.child.kill("SIGKILL");
  await expect.poll(async () => (await running())?.silent, { timeout: 60_000, interval: 1_000 }).toBe(true);
  expect((await statusOf(fleet, queue)).workers[0].state).toBe("silent");
});
