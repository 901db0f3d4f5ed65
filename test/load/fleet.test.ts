/**
 * A fleet of sixty accounts of forty zones of twenty records: the same reports and the same accounts however many workers there are, and whatever
 * is killed, stopped, or cut off. Needs redis-server and PostgreSQL.
 */

import { channel } from "node:diagnostics_channel";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator/index.ts";
import { type Ended, folder, run } from "../cli/run.ts";
import { type StartedWorker, startedWorker } from "../support/fleet-worker.ts";
import {
  type EngineName,
  proxyTo,
  type StoreProxy,
  type StoreServer,
  startEngine,
  startRedis,
} from "../support/stores.ts";

const ACCOUNTS = Number(process.env["TENON_FLEET_ACCOUNTS"] ?? 60);
const ZONES = 40;
const RECORDS = 20;
/** Things that go wrong. */
const INCIDENTS = Number(process.env["TENON_FLEET_INCIDENTS"] ?? 40);
/** On PostgreSQL. */
const FEWER_ACCOUNTS = 12;
const FEWER_INCIDENTS = 12;
const SEED = 20_261_126;
const LEASE_SECONDS = 2;

const WORKERS = ["w1", "w2", "w3", "w4"] as const;
type Name = (typeof WORKERS)[number];

// The project: of each zone a record goes, one comes, and one changes from round to round.

function zoneName(account: string, zone: number): string {
  return `z${zone}.${account}.example`;
}

const STEADY = Array.from({ length: RECORDS - 2 }, (_, index) => ({
  type: "A",
  name: `h${index}`,
  target: `198.51.100.${index + 1}`,
}));

function projectText(): string {
  const steady = STEADY.map(({ type, name, target }) => `{ type: ${type}, name: ${name}, target: ${target} }`);
  const moving = [
    '{ type: A, name: "r${var.round}", target: "192.0.2.${var.round}" }',
    '{ type: TXT, name: round, target: "round ${var.round}" }',
  ];
  const zones = Array.from(
    { length: ZONES },
    (_, zone) => `  - { domain: "z${zone}.\${var.name}.example", type: master, soa_email: a@a.example, use: [all] }\n`,
  );
  const set = [...steady, ...moving].map((one) => `    - ${one}\n`).join("");
  return `tenon: 1\nowner: edge\nvariables: { name: {}, round: {} }\nrecord_sets:\n  all:\n${set}domains:\n${zones.join("")}`;
}

function recordsOf(round: number): { type: string; name: string; target: string }[] {
  return [
    ...STEADY,
    { type: "A", name: `r${round}`, target: `192.0.2.${round}` },
    { type: "TXT", name: "round", target: `round ${round}` },
  ];
}

/** As round 1 leaves an account. */
function seedOf(account: string): NonNullable<EmulatorOptions["seed"]> {
  const domains = Array.from({ length: ZONES }, (_, zone) => ({
    ...{ domain: zoneName(account, zone), type: "master" as const, soa_email: "a@a.example", tags: ["tenon:edge"] },
    records: recordsOf(1).map(({ type, name, target }) => ({ type: type as "A", name, target })),
  }));
  return { tokens: ["w0", ...WORKERS].map((token) => ({ token: `token-of-${token}` })), domains };
}

interface Account {
  readonly name: string;
  readonly service: Emulator;
}

class LoadedFleet {
  readonly accounts: readonly Account[];
  readonly cwd: string;

  private constructor(accounts: readonly Account[], cwd: string) {
    this.accounts = accounts;
    this.cwd = cwd;
  }

  static async start(count: number, options: EmulatorOptions = {}): Promise<LoadedFleet> {
    const accounts: Account[] = [];
    for (let index = 1; index <= count; index += 1) {
      const name = `a${index}`;
      accounts.push({ name, service: await startEmulator({ ...options, seed: seedOf(name) }) });
    }
    const fleet = new LoadedFleet(accounts, await folder({ "project/tenon.yaml": projectText() }));
    fleet.setRound(1);
    return fleet;
  }

  /** At once: no worker reads half a file. */
  setRound(round: number): void {
    const entries = this.accounts.map(
      ({ name, service }) =>
        `  - { name: ${name}, base_url: "${service.baseUrl}", variables: { name: ${name} }, token: { env: TOKEN } }\n`,
    );
    const head = `fleet: 1\ndefaults: { project: ./project, variables: { round: "${round}" } }\n`;
    writeFileSync(join(this.cwd, "fleet.new"), `${head}accounts:\n${entries.join("")}`);
    renameSync(join(this.cwd, "fleet.new"), join(this.cwd, "fleet.yaml"));
  }

  options(worker: string, queue: string | null) {
    return { cwd: this.cwd, env: { TOKEN: `token-of-${worker}`, ...(queue === null ? {} : { TENON_QUEUE: queue }) } };
  }

  /** Zone → its records, each as a line, sorted. A duplicate is a line twice. */
  async contents(): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    const headers = { authorization: "Bearer token-of-w0" };
    for (const { service } of this.accounts) {
      const ask = async (path: string) =>
        (await (await fetch(`${service.baseUrl}${path}?page_size=500`, { headers })).json()) as {
          data: { id: number; domain: string; type: string; name: string; target: string }[];
        };
      for (const { id, domain } of (await ask("/domains")).data) {
        const { data } = await ask(`/domains/${id}/records`);
        found[domain] = data.map(({ type, name, target }) => `${type} ${name} ${target}`).sort();
      }
    }
    return found;
  }

  expected(round: number): Record<string, string[]> {
    const lines = recordsOf(round)
      .map(({ type, name, target }) => `${type} ${name} ${target}`)
      .sort();
    const names = this.accounts.flatMap(({ name }) => Array.from({ length: ZONES }, (_, zone) => zoneName(name, zone)));
    return Object.fromEntries(names.map((name) => [name, lines]));
  }

  requestCount(): number {
    return this.accounts.reduce((sum, { service }) => sum + service.requests.length, 0);
  }

  async close(): Promise<void> {
    for (const { service } of this.accounts) await service.close();
  }
}

/** Times and places are not of the result; which id a new record gets is decided by which of eight requests at a time comes first. */
function masked(text: string): string {
  return text
    .replace(/\d{4}-\d{2}-\d{2}T[\d:.-]+Z(-\d+)?/g, "TIME")
    .replace(/"(duration_seconds|seconds|elapsed_seconds)": [\d.]+/g, '"$1": 0')
    .replace(/until \d{4}-\d{2}-\d{2}\s+\d{2}:\d{2}/g, "until TIME")
    .replace(/"id":\d+/g, '"id":0')
    .replace(/127\.0\.0\.1:\d+/g, "HOST")
    .replace(/\/[\w/-]*\/tenon-cli-\w+/g, "FOLDER");
}

/** The first place where two texts differ: as a whole they are megabytes. */
function differenceOf(one: string, other: string): { readonly one: string; readonly other: string } | null {
  if (one === other) return null;
  let at = 0;
  while (one[at] === other[at]) at += 1;
  return { one: one.slice(Math.max(at - 80, 0), at + 80), other: other.slice(Math.max(at - 80, 0), at + 80) };
}

let server: StoreServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

describe("a fleet at rest", () => {
  test("embedded, and by 1, 2 and 4 workers: reports that are equal to the byte, and equal accounts", async () => {
    const seen: {
      readonly engine: string;
      readonly result: Pick<Ended, "code" | "stdout"> & { readonly text: string };
      readonly requests: number;
    }[] = [];
    for (const workers of [0, 1, 2, 4]) {
      const fleet = await LoadedFleet.start(ACCOUNTS);
      onTestFinished(() => fleet.close());
      const queueArgs = workers === 0 ? ["--workers", "8"] : ["--prefix", `rest-${workers}`];
      const started: StartedWorker[] = [];
      for (const name of WORKERS.slice(0, workers)) {
        started.push(await startedWorker(fleet.options(name, server.url), [...queueArgs, "--workers", "8"]));
      }
      fleet.setRound(2);
      const options = fleet.options("w0", workers === 0 ? null : server.url);
      const { code, stdout, stderr } = await run(
        ["fleet", "apply", "--yes", "--json-into", "report.json", ...queueArgs],
        options,
      );
      expect(stderr).not.toMatch(/error|lost|waits/);
      const document = readFileSync(join(fleet.cwd, "report.json"), "utf8");
      seen.push({
        engine: `${workers}`,
        result: { code, stdout: masked(stdout), text: masked(document) },
        requests: fleet.requestCount(),
      });
      expect(await fleet.contents()).toEqual(fleet.expected(2));
      for (const { child, end } of started) {
        child.kill("SIGTERM");
        expect((await end).code).toBe(143);
      }
      await fleet.close();
    }
    const [embedded, ...others] = seen;
    expect(embedded?.result.code).toBe(0);
    for (const { engine, result, requests } of others) {
      expect([engine, differenceOf(result.text, embedded?.result.text ?? "")]).toEqual([engine, null]);
      expect([engine, differenceOf(result.stdout, embedded?.result.stdout ?? "")]).toEqual([engine, null]);
      expect([engine, result.code]).toEqual([engine, 0]);
      expect([engine, requests]).toEqual([engine, embedded?.requests]);
    }
    report(
      `${seen.length} ways to run ${ACCOUNTS} accounts: ${others.length} of ${others.length} reports equal, ${embedded?.requests} requests each`,
    );
  });

  test("limits of 100 requests in 10 s are kept: at most 1 % of all requests are refused", async () => {
    const fleet = await LoadedFleet.start(4, { rateLimit: { requests: 100, seconds: 10 } });
    onTestFinished(() => fleet.close());
    const prefix = ["--prefix", "limits"];
    for (const name of WORKERS.slice(0, 2)) await startedWorker(fleet.options(name, server.url), prefix);
    fleet.setRound(2);
    for (const args of [["plan"], ["apply", "--yes"]]) {
      expect((await run(["fleet", ...args, ...prefix], fleet.options("w0", server.url))).code).toBe(0);
    }
    const statuses = fleet.accounts.flatMap(({ service }) => service.requests.map(({ status }) => status));
    const refused = statuses.filter((status) => status === 429).length;
    report(`limits: ${refused} of ${statuses.length} requests refused`);
    expect(statuses.length).toBeGreaterThan(600);
    expect(refused / statuses.length).toBeLessThanOrEqual(0.01);
  });
});

/** For whoever reads the log: what was tried, and what came of it. */
function report(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** mulberry32: the same incidents in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Requests that change something, from their arrival to their answer, by the worker whose token they have. */
interface Mutation {
  readonly worker: string;
  readonly from: number;
  to: number;
}

class MutationLog {
  readonly #byPort: Map<number, Mutation[]> = new Map();
  readonly #open: WeakMap<IncomingMessage, Mutation> = new WeakMap();
  #clock = 0;

  readonly #begun = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage };
    if (request.method === "GET") return;
    const worker = /token-of-(\w+)/.exec(request.headers.authorization ?? "")?.[1] ?? "nobody";
    this.#clock += 1;
    const mutation = { worker, from: this.#clock, to: Number.POSITIVE_INFINITY };
    this.#open.set(request, mutation);
    const port = request.socket.localPort ?? 0;
    this.#byPort.set(port, [...(this.#byPort.get(port) ?? []), mutation].slice(-100_000));
  };
  readonly #ended = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage; response: ServerResponse };
    const mutation = this.#open.get(request);
    this.#clock += 1;
    if (mutation !== undefined) mutation.to = this.#clock;
  };

  start(): void {
    channel("http.server.request.start").subscribe(this.#begun);
    channel("http.server.response.finish").subscribe(this.#ended);
  }

  stop(): void {
    channel("http.server.request.start").unsubscribe(this.#begun);
    channel("http.server.response.finish").unsubscribe(this.#ended);
  }

  /** Forgets what came before: a round of its own. */
  clear(): void {
    this.#byPort.clear();
  }

  count(): number {
    return [...this.#byPort.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Turns of a worker that were begun while another worker had a request under way, or that were taken up again after another's. */
  overlaps(): number {
    let found = 0;
    for (const mutations of this.#byPort.values()) {
      let latest: Mutation | null = null;
      const turns: string[] = [];
      for (const mutation of mutations) {
        if (
          latest !== null &&
          latest.worker !== mutation.worker &&
          latest.to > mutation.from &&
          latest.to !== Number.POSITIVE_INFINITY
        )
          found += 1;
        if (latest === null || mutation.to > latest.to) latest = mutation;
        if (turns.at(-1) !== mutation.worker) turns.push(mutation.worker);
      }
      // One goes, another comes, and the first one is back while that one goes on.
      for (let index = 3; index < turns.length; index += 1) {
        if (turns[index] === turns[index - 2] && turns[index - 1] === turns[index - 3]) found += 1;
      }
    }
    return found;
  }
}

interface Trouble {
  readonly engine: EngineName;
  readonly accounts: number;
  /** How many things go wrong. */
  readonly incidents: number;
  /** Whether workers are cut off from the server, too. */
  readonly cutsOff: boolean;
}

/** What workers see while the server is taken away and brought back. */
class Troubled {
  readonly #trouble: Trouble;
  readonly #random: () => number = seeded(SEED);
  readonly #fleet: LoadedFleet;
  readonly #proxies: Map<Name, StoreProxy> = new Map();
  readonly #workers: Map<Name, StartedWorker> = new Map();
  readonly #busy: Set<Name> = new Set();
  readonly #recoveries: Promise<void>[] = [];
  readonly incidents: Record<string, number>;
  #server: StoreServer;
  #isDown = false;

  constructor(trouble: Trouble, fleet: LoadedFleet, server: StoreServer) {
    this.#trouble = trouble;
    this.#fleet = fleet;
    this.#server = server;
    const kinds = { "worker killed": 0, "worker stopped": 0, [`${trouble.engine} killed`]: 0 };
    this.incidents = trouble.cutsOff ? { ...kinds, partition: 0 } : kinds;
  }

  get url(): string {
    return this.#server.url;
  }

  get happened(): number {
    return Object.values(this.incidents).reduce((sum, count) => sum + count, 0);
  }

  async startWorker(name: Name): Promise<void> {
    const proxy = this.#proxies.get(name) ?? (await proxyTo(this.#server.port));
    this.#proxies.set(name, proxy);
    const options = this.#fleet.options(name, this.url.replace(`:${this.#server.port}`, `:${proxy.port}`));
    // While the store is down a worker that is started says so and ends: a service manager starts it again.
    for (let tries = 0; tries < 20; tries += 1) {
      try {
        this.#workers.set(name, await startedWorker(options, ["--lease", `${LEASE_SECONDS}s`, "--workers", "4"]));
        return;
      } catch {
        await sleep(200);
      }
    }
  }

  /** Something goes wrong, and is mended later. */
  cause(): void {
    const free = WORKERS.filter((name) => !this.#busy.has(name));
    const name = free[Math.floor(this.#random() * free.length)];
    const kinds = Object.keys(this.incidents);
    const kind = kinds[Math.floor(this.#random() * kinds.length)] ?? "";
    const isServer = kind === `${this.#trouble.engine} killed`;
    // One worker always remains.
    if (name === undefined || (free.length < 2 && !isServer)) return;
    if (isServer && this.#isDown) return;
    this.#recoveries.push(isServer ? this.#takeAway(300 + this.#random() * 700) : this.#hurt(name, kind));
    this.incidents[kind] = (this.incidents[kind] ?? 0) + 1;
  }

  async #takeAway(milliseconds: number): Promise<void> {
    this.#isDown = true;
    // PostgreSQL's processes end with their parent by this signal alone.
    this.#server.child.kill(this.#trouble.engine === "redis" ? "SIGKILL" : "SIGQUIT");
    await sleep(milliseconds);
    this.#server = await this.#server.restart();
    this.#isDown = false;
  }

  async #hurt(name: Name, kind: string): Promise<void> {
    const worker = this.#workers.get(name);
    const longerThanLease = (): Promise<void> => sleep(LEASE_SECONDS * 1000 * 1.6);
    this.#busy.add(name);
    if (kind === "worker killed") {
      worker?.child.kill("SIGKILL");
      await this.startWorker(name);
    } else if (kind === "worker stopped") {
      worker?.child.kill("SIGSTOP");
      await longerThanLease();
      worker?.child.kill("SIGCONT");
    } else {
      this.#proxies.get(name)?.partition(true);
      await longerThanLease();
      this.#proxies.get(name)?.partition(false);
    }
    this.#busy.delete(name);
  }

  /** Everything runs again. */
  async recover(): Promise<void> {
    await Promise.all(this.#recoveries.splice(0));
  }

  async close(): Promise<void> {
    for (const proxy of this.#proxies.values()) proxy.close();
    await this.#server.stop();
  }
}

async function expectSurvived(trouble: Trouble): Promise<void> {
  const fleet = await LoadedFleet.start(trouble.accounts);
  onTestFinished(() => fleet.close());
  const troubled = new Troubled(trouble, fleet, await startEngine(trouble.engine));
  onTestFinished(() => troubled.close());
  const log = new MutationLog();
  log.start();
  onTestFinished(() => log.stop());
  for (const name of WORKERS) await troubled.startWorker(name);

  let [rounds, overlaps, mutations] = [0, 0, 0];
  for (let round = 2; troubled.happened < trouble.incidents; round += 1) {
    log.clear();
    fleet.setRound(round);
    let isDone = false;
    const applying = run(["fleet", "apply", "--yes"], fleet.options("w0", troubled.url)).finally(() => {
      isDone = true;
    });
    // Who cannot reach the queue at its start ends at once, and says so.
    while (!isDone && log.count() === 0) await sleep(20);
    while (!isDone && troubled.happened < trouble.incidents) {
      troubled.cause();
      await sleep(600);
    }
    const { code, stdout, stderr } = await applying;
    const last = `Fleet: ${trouble.accounts} accounts: ${trouble.accounts} done.`;
    expect([round, code, stdout.split("\n").at(-2)], `${stdout.slice(-2_000)}${stderr.slice(-2_000)}`).toEqual([
      round,
      0,
      last,
    ]);
    // Whoever comes back after the end must leave everything as it is.
    await troubled.recover();
    expect(await fleet.contents()).toEqual(fleet.expected(round));
    overlaps += log.overlaps();
    mutations += log.count();
    rounds += 1;
  }
  const kinds = Object.entries(troubled.incidents).map(([kind, count]) => `${kind} ${count}`);
  const { happened } = troubled;
  report(
    `${trouble.engine}: ${happened} tried, ${happened} survived (${kinds.join(", ")}) in ${rounds} rounds, ${mutations} changes; 0 duplicates, 0 lost, ${overlaps} applies at once`,
  );
  expect(overlaps).toBe(0);
  for (const [kind, count] of Object.entries(troubled.incidents)) expect([kind, count > 0]).toEqual([kind, true]);
}

describe("a fleet in trouble: nothing twice, nothing lost, no two applies of one account at once", () => {
  test("on Redis, whatever is killed, stopped or cut off", () =>
    expectSurvived({ engine: "redis", accounts: ACCOUNTS, incidents: INCIDENTS, cutsOff: true }));

  test("on PostgreSQL, whatever is killed or stopped", () =>
    expectSurvived({ engine: "postgres", accounts: FEWER_ACCOUNTS, incidents: FEWER_INCIDENTS, cutsOff: false }));
});
