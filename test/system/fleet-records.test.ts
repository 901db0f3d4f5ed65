/** The records of a fleet's store: what is kept how long, and what is written and not read. */

import { cp, mkdir, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { FleetAccount } from "../../src/fleet/fleet-file.ts";
import { openStore, prepareStore } from "../../src/fleet/open-store.ts";
import {
  MAX_PENDING_RUNS,
  type PendingRun,
  pendingKey,
  Records,
  type RunRequest,
  stateKey,
} from "../../src/fleet/records.ts";
import { type FleetStore, MAX_RECORD_OCTETS, parseStoreAddress } from "../../src/fleet/store.ts";
import { Submission, type SubmissionOptions } from "../../src/fleet/submit.ts";
import { TokenTurn } from "../../src/fleet/token.ts";
import { serveFleet } from "../../src/fleet/worker.ts";
import type { Ran } from "../../src/model/fleet.ts";
import { ended, expectPlain, folder, run, start } from "../cli/run.ts";
import { fileOf, fleetOf } from "../support/fleet.ts";
import { startedWorker } from "../support/fleet-worker.ts";
import { type StoreServer, startPostgres, startRedis } from "../support/stores.ts";

const LEASE_MILLISECONDS = 2_000;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

/** Milliseconds until a record of the prefix is gone; null: it is kept for good. */
const LIFETIMES = {
  redis: async (url: string, prefix: string, key: string): Promise<number | null> => {
    const client = new Redis(url);
    const left = await client.pttl(`tenon:${prefix}:record:${key}`).finally(() => client.disconnect());
    return left === -1 ? null : left;
  },
  postgres: async (url: string, prefix: string, key: string): Promise<number | null> => {
    const client = new pg.Client(url);
    await client.connect();
    const text = `SELECT CASE WHEN expires < 'infinity' THEN extract(epoch FROM expires - now()) * 1000 END AS left
      FROM tenon_fleet.records WHERE prefix = $1 AND key = $2`;
    const { rows } = await client.query(text, [prefix, key]).finally(() => client.end());
    return rows[0].left === null ? null : Number(rows[0].left);
  },
} as const;

const LOOK = { width: 80, colour: false };
const REQUEST: RunRequest = {
  ...{ command: "plan", flags: { format: "text" }, results: LOOK, messages: LOOK, saves: false, documents: true },
};
const DIGEST = "0".repeat(64);
const RAN: Ran = { type: "ran", code: 0, headline: "none", text: "", markup: "plain", document: null };

function accountOf(name: string): FleetAccount {
  return {
    ...{ name, project: "/nowhere", environment: null, variables: {}, baseUrl: "http://127.0.0.1/v4" },
    ...{ dialect: "linode", account: null, token: { env: "TOKEN" }, labels: {} },
  };
}

/** What somebody asks for, as `tenon fleet plan --queue` does. */
async function submission(store: FleetStore, more: Partial<SubmissionOptions> = {}): Promise<Submission> {
  const stop = new AbortController().signal;
  const asked = new Submission({ store, request: REQUEST, stop, observe: () => {}, ...more });
  await asked.open();
  return asked;
}

async function pendingRun(records: Records, account: string): Promise<string> {
  let run: string | undefined;
  while (run === undefined) run = (await records.read("pending", pendingKey(account))).value?.runs[0]?.run;
  return run;
}

/** A worker in this process, until the test ends, that comes to `outcome` for each account. */
function worker(store: FleetStore, outcome: Ran): void {
  const stop = new AbortController();
  const serving = serveFleet({
    ...{ store, name: "w", slots: 2, leaseMilliseconds: LEASE_MILLISECONDS, stop: stop.signal },
    find: async (name) => ({ type: "found", account: accountOf(name) }),
    tokenOf: async () => null,
    refuses: async () => null,
    run: async () => ({ outcome, plan: null }),
    fail: (reason) => ({ ...RAN, code: 1, headline: reason }),
    observe: () => {},
  });
  onTestFinished(async () => {
    stop.abort();
    await serving;
  });
}

const SERVERS = { redis: startRedis, postgres: startPostgres } as const;
const ENGINES = ["redis", "postgres"] as const;

for (const engine of ENGINES) {
  describe(engine, () => {
    let server: StoreServer;
    let prefixes = 0;
    beforeAll(async () => {
      server = await SERVERS[engine]();
      const address = parseStoreAddress(server.url);
      expect(address && (await prepareStore(address, "fleet"))).toBeNull();
    });
    afterAll(() => server.stop());

    async function open(prefix: string = `p${++prefixes}`): Promise<FleetStore> {
      const address = parseStoreAddress(server.url);
      if (address === null) throw new Error("no address");
      const observer = { unreachable: () => {} };
      const opened = await openStore(address, { prefix, leaseMilliseconds: LEASE_MILLISECONDS, observer });
      if (!opened.ok) throw new Error(opened.diagnostic.summary);
      onTestFinished(() => opened.store.close());
      return opened.store;
    }

    test("a record is gone when its lifetime is over, unless it has none or was renewed", async () => {
      const store = await open();
      await store.write("short", "1", 0, null, 100);
      await store.write("renewed", "1", 0, null, 100);
      await store.write("good", "1", 0, null, 100);
      expect(await store.write("good", "2", 1, null, null)).toBe(true);
      expect(await store.renew("renewed", 60_000)).toBe(true);
      while ((await store.read("short")) !== null) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await store.renew("short", 60_000)).toBe(false);
      expect(await store.versions(["short", "renewed", "good"])).toEqual([0, 1, 2]);
      expect(await store.read("good")).toEqual({ version: 2, text: "2" });
    });

    test("a schedule is kept for good, and the names of a fleet longer than it takes to go on holiday", async () => {
      const fleet = await fleetOf(1);
      const prefix = `p${++prefixes}`;
      const args = ["--every", "1h", "--queue", server.url, "--prefix", prefix];
      expect((await run(["fleet", "schedule", "drift", ...args], fleet)).code).toBe(0);
      expect(await LIFETIMES[engine](server.url, prefix, "schedule")).toBeNull();
      expect(await LIFETIMES[engine](server.url, prefix, "fleet")).toBeGreaterThan(28 * DAY_MILLISECONDS);
    });

    test("a schedule that is ended wakes nobody, nor does one that an account has left", async () => {
      const fleet = await fleetOf(2);
      const prefix = `p${++prefixes}`;
      const store = await open(prefix);
      const options = { ...fleet, env: { ...fleet.env, TENON_QUEUE: server.url } };
      const schedule = ["fleet", "schedule", "drift", "--prefix", prefix];
      expect((await run([...schedule, "--every", "1h"], options)).stdout).toBe(
        "2 accounts are compared every 3600 s.\n",
      );
      expect((await store.scheduled()).sort()).toEqual(["a1", "a2"]);
      await writeFile(join(fleet.cwd, "fleet.yaml"), fileOf(fleet.accounts.slice(0, 1)));
      expect((await run([...schedule, "--every", "2h"], options)).stdout).toBe("1 account is compared every 7200 s.\n");
      expect(await store.scheduled()).toEqual(["a1"]);
      await store.schedule("a2", 3_600_000);
      expect((await run([...schedule, "--off"], options)).stdout).toBe("1 account is no longer compared.\n");
      expect(await store.scheduled()).toEqual([]);
      // An account that is woken up for another reason is not compared, either.
      const worker = await startedWorker(options, ["--prefix", prefix]);
      expect(await run(["fleet", "validate", "--prefix", prefix], options)).toMatchObject({ code: 0 });
      worker.child.kill("SIGTERM");
      await worker.end;
      expect(worker.said()).toMatch(/a1: validate: /);
      expect(worker.said()).not.toMatch(/drift/);
    });

    test("the longest record that is written is read, and a longer one is not written", async () => {
      const records = new Records(await open());
      const text = "x".repeat(MAX_RECORD_OCTETS - 1_000);
      const state = { state: "done", outcome: { ...RAN, text }, plan: null } as const;
      expect(await records.write("state", "k", state, 0)).toBe(true);
      expect((await records.read("state", "k")).value).toEqual(state);
      const longer = { ...state, outcome: { ...RAN, text: `${text}${"ü".repeat(500)}` } };
      await expect(records.write("state", "k", longer, 1)).rejects.toThrow(/longer than 67,108,864 octets/);
    });

    test("a report that is longer than a record may be arrives, cut", async () => {
      const store = await open();
      const line = `${"x".repeat(1_000)}\n`;
      const document = JSON.stringify("d".repeat(MAX_RECORD_OCTETS + 1_000_000));
      const text = line.repeat(MAX_RECORD_OCTETS / line.length + 1);
      worker(store, { ...RAN, headline: "h".repeat(12_000), text, document });
      const asked = await submission(store);
      const submitted = await asked.submit(accountOf("a"), DIGEST, null);
      expect(submitted?.outcome.text).toMatch(/^x{1000}\n/);
      expect(submitted?.outcome.text).toMatch(/This text is cut: it has 67,\d{3},\d{3} characters/);
      expect(submitted?.outcome.headline).toMatch(/^h{9600} \(its document is left out/);
      expect(submitted?.outcome.document).toBeNull();
    });

    test("what cannot be read of an outcome is an error of the account, and is not run again", async () => {
      const store = await open();
      const asked = await submission(store);
      const ended = asked.submit(accountOf("a"), DIGEST, null);
      const records = new Records(store);
      const run = await pendingRun(records, "a");
      await store.write(stateKey(run, "a"), '{"state":"done","outcome":"none of Tenon"}', 0, null);
      worker(store, RAN);
      expect((await ended)?.outcome).toMatchObject({
        ...{ code: 1, headline: "error: what it came to cannot be read from the queue" },
      });
      while (((await records.read("pending", pendingKey("a"))).value?.runs ?? []).length > 0)
        await new Promise((resolve) => setTimeout(resolve, 50));
    });

    test("what waits through a day of silence is given up, and nobody runs it any more", async () => {
      vi.useFakeTimers({ toFake: ["Date"] });
      onTestFinished(() => void vi.useRealTimers());
      const store = await open();
      const records = new Records(store);
      const asked = await submission(store);
      const untaken = asked.submit(accountOf("a"), DIGEST, null);
      const begun = asked.submit(accountOf("b"), DIGEST, null);
      const run = await pendingRun(records, "b");
      const running = { state: "running", attempts: 1, worker: "lost" } as const;
      await records.write("state", stateKey(run, "b"), running, 0);
      // A day and a half after whatever it has seen: it may not have seen the worker yet.
      const later = setInterval(() => vi.setSystemTime(Date.now() + 36 * 60 * 60 * 1000), 1_000);
      const [one, two] = await Promise.all([untaken, begun]).finally(() => clearInterval(later));
      expect(one?.outcome).toMatchObject({ code: 1, headline: "error: no worker took it for 24 h" });
      expect(two?.outcome.headline).toBe("error: nothing was heard of its worker, lost, for 24 h");
      for (const account of ["a", "b"]) {
        expect((await records.read("state", stateKey(run, account))).value).toEqual({ state: "cancelled" });
        expect((await records.read("pending", pendingKey(account))).value).toEqual({ runs: [] });
      }
    });

    test("of more runs than may wait for an account the oldest is dropped", async () => {
      const store = await open();
      const records = new Records(store);
      const runs = Array.from({ length: MAX_PENDING_RUNS }, (_, index): PendingRun => {
        return { run: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`, digest: DIGEST, plan: null, at: 0 };
      });
      await records.write("pending", pendingKey("a"), { runs }, 0);
      const stop = new AbortController();
      const ended = (await submission(store, { stop: stop.signal })).submit(accountOf("a"), DIGEST, null);
      let waiting: readonly PendingRun[] = runs;
      while (waiting[0]?.run === runs[0]?.run || waiting.length < MAX_PENDING_RUNS)
        waiting = (await records.read("pending", pendingKey("a"))).value?.runs ?? [];
      expect(waiting.slice(0, -1)).toEqual(runs.slice(1));
      stop.abort();
      expect(await ended).toBeNull();
    });

    test("many that change a record at once are all in it, and who finds it changed each time gives up", async () => {
      const store = await open();
      const records = new Records(store);
      const names = Array.from({ length: 20 }, (_, index) => `a${index}`);
      const enter = (name: string) =>
        records.change("names", "k", (value) => ({ names: [...(value?.names ?? []), name] }));
      await Promise.all(names.map(enter));
      expect((await records.read("names", "k")).value?.names.toSorted()).toEqual(names.toSorted());
      // Whoever reads what is no longer there is late each time.
      const late = new Proxy(store, {
        get: (target, name) => (name === "read" ? async () => null : Reflect.get(target, name).bind(target)),
      });
      const changing = new Records(late).change("names", "k", () => ({ names: ["late"] }));
      await expect(changing).rejects.toThrow(/Others write the record k all the time/);
    });

    test("an outage is waited for, and what would fail again is thrown", async () => {
      const own = await SERVERS[engine]();
      const address = parseStoreAddress(own.url);
      if (address === null) throw new Error("no address");
      expect(await prepareStore(address, "fleet")).toBeNull();
      const reasons: (string | null)[] = [];
      const observer = { unreachable: (reason: string | null) => void reasons.push(reason) };
      const opened = await openStore(address, { prefix: "p", leaseMilliseconds: LEASE_MILLISECONDS, observer });
      if (!opened.ok) throw new Error(opened.diagnostic.summary);
      const { store } = opened;
      await store.write("k", "one", 0, null);
      const gone = new Promise((resolve) => own.child.once("exit", resolve));
      own.child.kill(engine === "redis" ? "SIGKILL" : "SIGQUIT");
      await gone;
      const writing = store.write("k", "two", 1, null);
      while (reasons.at(-1) === null || reasons.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      const again = await own.restart();
      onTestFinished(async () => {
        await store.close();
        await again.stop();
      });
      expect(await writing).toBe(true);
      expect(await store.read("k")).toEqual({ version: 2, text: "two" });
      const circular: Record<string, unknown> = {};
      circular["itself"] = circular;
      if (engine === "postgres") await expect(store.read(circular as never)).rejects.toThrow(/circular/);
    });

    test("limits that no record has do not keep a token from the next run", async () => {
      const store = await open();
      const turn = await TokenTurn.take(store, DIGEST, 60_000);
      if (turn === null) throw new Error("no turn");
      const common = { limit: 5_000_000_000.5, remaining: 1, resetAt: 1, isShared: true };
      turn.pace.seen = { common, endpoints: [] };
      await turn.end();
      expect(await TokenTurn.take(store, DIGEST, 60_000)).not.toBeNull();
    });
  });
}

test("who asks where no worker is learns it, and is served by the first one that comes", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const fleet = await fleetOf(1);
  const options = { ...fleet, env: { ...fleet.env, TENON_QUEUE: server.url } };
  const child = start(["fleet", "validate"], options);
  const noticed = new Promise<void>((resolve) => {
    child.stderr.on("data", (text: Buffer) => {
      if (text.includes("No worker has taken anything yet. tenon fleet worker starts one.")) resolve();
    });
  });
  const running = ended(child);
  await noticed;
  await startedWorker(options, []);
  const { code, stderr } = await running;
  expect([code, stderr.match(/No worker/g)?.length]).toEqual([0, 1]);
});

test("a plan that is saved elsewhere than it is looked for, or nowhere, is an error of the account", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const fleet = await fleetOf(1);
  const options = { ...fleet, env: { ...fleet.env, TENON_QUEUE: server.url } };
  const plan = ["fleet", "plan", "--out", "plans"];
  const first = await startedWorker(options, ["--lease", "2s"]);
  const nowhere = await run(plan, options);
  const reason = String.raw`worker \S+ has no\s+folder\s+for\s+plans:\s+start\s+it\s+with\s+--plans`;
  expect([nowhere.code, nowhere.stdout]).toEqual([1, expect.stringMatching(reason)]);
  expect(nowhere.stderr).toMatch(new RegExp(`a1 waits for another worker: ${reason}`));
  first.child.kill("SIGTERM");
  await first.end;
  await mkdir(join(fleet.cwd, "other"));
  await startedWorker(options, ["--plans", "other"]);
  const elsewhere = await run(plan, options);
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.stdout).toMatch(/no plan of the worker is in plans: start it with\s+--plans/);
});

test("status needs no right to write: the prefix is not claimed by it", async () => {
  const redis = await startRedis();
  const postgres = await startPostgres();
  onTestFinished(async () => {
    await redis.stop();
    await postgres.stop();
  });
  const fleet = await fleetOf(1);
  const look = (url: string, prefix: string) => run(["fleet", "status", "--queue", url, "--prefix", prefix], fleet);
  expect((await run(["fleet", "prepare", "--queue", postgres.url])).code).toBe(0);
  const admin = new Redis(redis.url);
  const rights = ["-@all", "+@read", "+@connection", "+@scripting", "+info"];
  await admin.acl("SETUSER", "looks", "on", ">word", "~*", ...rights).finally(() => admin.disconnect());
  const client = new pg.Client(postgres.url);
  await client.connect();
  for (const schema of ["tenon_fleet", "bullmq"]) {
    await client.query(`GRANT USAGE ON SCHEMA ${schema} TO PUBLIC`);
    await client.query(`GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO PUBLIC`);
  }
  await client.query("CREATE USER looks");
  await client.end();
  const readers = [
    [redis.url, redis.url.replace("//", "//looks:word@")],
    [postgres.url, postgres.url.replace("//tenon@", "//looks@")],
  ] as const;
  for (const [owner, reader] of readers) {
    expect(await look(reader, "free")).toMatchObject({ code: 0, stderr: "" });
    await run(["fleet", "schedule", "drift", "--every", "1h", "--queue", owner, "--prefix", "taken"], {
      cwd: await folder({
        "fleet.yaml": "fleet: 1\naccounts: [{ name: other, project: ., service: linode, token: { env: A } }]\n",
      }),
    });
    expectPlain(await look(reader, "taken"), 1, [/the prefix taken is used by another fleet/]);
  }
});

test("without a fleet file a worker and a schedule end as every command does that names none", async () => {
  const cwd = await folder({});
  for (const args of [["worker"], ["schedule", "drift", "--every", "1h"], ["list"]]) {
    expectPlain(await run(["fleet", ...args], { cwd }), 1, [/there is no fleet file: fleet\.yaml/]);
  }
  await writeFile(join(cwd, "fleet.yaml"), "fleet: 1\naccounts: 5\n");
  for (const args of [["worker"], ["schedule", "drift", "--every", "1h"]])
    expectPlain(await run(["fleet", ...args], { cwd }), 3, [/accounts/]);
});

test("a project that a link has taken the place of since the fleet file was read is left alone", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const fleet = await fleetOf(1);
  const options = { ...fleet, env: { ...fleet.env, TENON_QUEUE: server.url } };
  const asking = { ...options, cwd: await folder({}) };
  await cp(fleet.cwd, asking.cwd, { recursive: true });
  const file = join(fleet.cwd, "fleet.yaml");
  while (Date.now() - (await stat(file)).ctimeMs < 2_100) await new Promise((resolve) => setTimeout(resolve, 50));
  const worker = await startedWorker(options, ["--lease", "2s"]);
  expect((await run(["fleet", "validate"], asking)).code).toBe(0);
  await rename(join(fleet.cwd, "project"), join(asking.cwd, "elsewhere"));
  await symlink(join(asking.cwd, "elsewhere"), join(fleet.cwd, "project"));
  const refused = await run(["fleet", "validate"], asking);
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/project leads out of this folder by a/)]);
  expect(worker.said()).toMatch(/left for another worker: project leads out of this folder by a symbolic link/);
});

test("what a request cannot hold is refused at once, and what it can is asked for once", async () => {
  const fleet = await fleetOf(1);
  const elsewhere = ["--queue", "redis://127.0.0.1:1"];
  const targets = Array.from({ length: 1_001 }, (_, index) => ["--target", `domain/${index}`]).flat();
  const many = await run(["fleet", "plan", ...targets, ...elsewhere], fleet);
  expectPlain(many, 1, [/a queue does not take --target: must NOT have more than 200 items/, /without --queue/]);
  const long = await run(["fleet", "drift", "--exclude", `domain/${"x".repeat(1_000)}`, ...elsewhere], fleet);
  expectPlain(long, 1, [/a queue does not take --exclude: must NOT have more than 1000 characters/]);
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const options = { ...fleet, env: { ...fleet.env, TENON_QUEUE: server.url } };
  await startedWorker(options, []);
  const twice = await run(["fleet", "plan", "--fail-on", "refused,refused,blocked"], options);
  expect([twice.code, twice.stderr]).toEqual([0, ""]);
});

describe("a worker that nobody asks for anything", () => {
  test("renews the names of its fleet, and enters them again if they are lost", async () => {
    const server = await startRedis();
    const client = new Redis(server.url);
    onTestFinished(async () => {
      client.disconnect();
      await server.stop();
    });
    const fleet = await fleetOf(1);
    await startedWorker({ ...fleet, env: { ...fleet.env, TENON_QUEUE: server.url } }, []);
    const key = "tenon:fleet:record:fleet";
    await client.pexpire(key, DAY_MILLISECONDS);
    while ((await client.pttl(key)) <= DAY_MILLISECONDS) await new Promise((resolve) => setTimeout(resolve, 100));
    await client.del(key);
    while ((await client.hget(key, "d")) === null) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await client.hget(key, "d")).toBe('{"names":["a1"]}');
  });
});
