/** A queue that goes away, is full, or is a replica for a while: what was asked for is done afterwards, and it is said once. */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { ended, run, start } from "../cli/run.ts";
import { type Account, domainsOf, fleetOf } from "../support/fleet.ts";
import { startedWorker } from "../support/fleet-worker.ts";
import { type EngineName, freePort, type StoreServer, startEngine } from "../support/stores.ts";

/** A server that can be taken away and brought back. */
class Outage {
  #server: StoreServer;

  private constructor(server: StoreServer) {
    this.#server = server;
  }

  static async of(name: EngineName): Promise<Outage> {
    const outage = new Outage(await startEngine(name));
    onTestFinished(() => outage.#server.stop());
    return outage;
  }

  get url(): string {
    return this.#server.url;
  }

  /** Without any order: PostgreSQL's processes end with their parent by this signal alone. */
  async begin(): Promise<void> {
    const { child } = this.#server;
    const end = new Promise((resolve) => child.once("exit", resolve));
    child.kill(this.url.startsWith("redis") ? "SIGKILL" : "SIGQUIT");
    await end;
  }

  async end(): Promise<void> {
    this.#server = await this.#server.restart();
  }

  /** Whether a connection to it is open: `remote address:port` and the state, in hexadecimal (proc(5)). */
  isConnected(): boolean {
    const port = Number(new URL(this.url).port).toString(16).toUpperCase().padStart(4, "0");
    return readFileSync("/proc/net/tcp", "utf8").includes(`0100007F:${port} 01 `);
  }

  /** It answers nothing, and its connections stay open. PostgreSQL has a process for each connection. */
  standStill(): void {
    const { child } = this.#server;
    const stop = (signal: "SIGSTOP" | "SIGCONT"): void => {
      const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim();
      for (const pid of [child.pid ?? 0, ...children.split(" ").filter(Boolean).map(Number)]) {
        try {
          process.kill(pid, signal);
        } catch (error) {
          // A connection's process may have ended since it was listed.
          if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
        }
      }
    };
    stop("SIGSTOP");
    onTestFinished(() => stop("SIGCONT"));
  }
}

async function untilAsked({ service }: Account, method: string): Promise<void> {
  await expect.poll(() => service.requests.some((one) => one.method === method), { timeout: 60_000 }).toBe(true);
}

async function expectApplied(accounts: readonly Account[]): Promise<void> {
  for (const account of accounts) {
    expect(await domainsOf(account)).toEqual([`${account.name}.example`]);
    // Nothing was made twice.
    expect(account.service.requests.filter(({ method }) => method === "POST")).toHaveLength(3);
  }
}

describe.each(["redis", "postgres"] as const)("%s", (engine) => {
  test("an outage in the middle is waited for: said once, and everything is done afterwards", async () => {
    const server = await Outage.of(engine);
    const fleet = await fleetOf(4, { latencyMilliseconds: 150 });
    const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: server.url } };
    const worker = await startedWorker(options, ["--workers", "2"]);
    const child = start(["fleet", "apply", "--yes"], options);
    const lost = new Promise<void>((resolve) => {
      child.stderr.on("data", (text: Buffer) => {
        if (text.includes("is lost: ")) resolve();
      });
    });
    const running = ended(child);
    await worker.untilSaid("a1: apply");
    await server.begin();
    await Promise.all([worker.untilSaid("is lost: "), lost]);
    await server.end();
    const { code, stderr } = await running;
    expect([code, stderr.match(/is lost/g)?.length]).toEqual([0, 1]);
    expect(stderr).toMatch(/is there again/);
    await expectApplied(fleet.accounts);
  });

  test("one signal ends a worker that runs nothing, though the server is gone", async () => {
    const server = await Outage.of(engine);
    const fleet = await fleetOf(1);
    const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: server.url } };
    const worker = await startedWorker(options, []);
    expect((await run(["fleet", "validate"], options)).code).toBe(0);
    await server.begin();
    await worker.untilSaid("is lost");
    worker.child.kill("SIGTERM");
    expect(await worker.end).toMatchObject({ code: 143 });
  });

  test("one signal ends a worker that runs nothing, though the server stands still since a moment ago", async () => {
    const server = await Outage.of(engine);
    const fleet = await fleetOf(1);
    const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: server.url } };
    const worker = await startedWorker(options, []);
    expect((await run(["fleet", "validate"], options)).code).toBe(0);
    server.standStill();
    await sleep(500);
    worker.child.kill("SIGTERM");
    expect(await worker.end).toMatchObject({ code: 143 });
    expect(worker.said()).toContain("The queue does not answer.");
    expect(worker.said()).not.toMatch(/Unhandled|at .*\.js/);
  });

  test.each(["is gone", "stands still"])("one signal ends a command that waits, though the server %s", async (how) => {
    const server = await Outage.of(engine);
    const fleet = await fleetOf(2);
    const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: server.url } };
    const child = start(["fleet", "plan"], options);
    const done = ended(child);
    const status = async () => JSON.parse((await run(["fleet", "status", "--format", "json"], options)).stdout);
    await expect.poll(status, { timeout: 60_000 }).toMatchObject({ queue: { waiting: 2 } });
    if (how === "is gone") await server.begin();
    else server.standStill();
    child.kill("SIGTERM");
    const { code, stderr } = await done;
    expect([code, stderr]).toEqual([143, expect.stringContaining("what was asked for may still be run")]);
  });

  test.each([["status"], ["plan"], ["worker"]])(
    "one signal ends fleet %s while it looks at a server that stands still",
    async (command) => {
      const server = await Outage.of(engine);
      const fleet = await fleetOf(1);
      server.standStill();
      const child = start(["fleet", command], { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: server.url } });
      const done = ended(child);
      // It says nothing before it has an answer, and gives up by itself after some seconds.
      await expect.poll(() => server.isConnected(), { timeout: 60_000 }).toBe(true);
      child.kill("SIGTERM");
      const { code, stderr } = await done;
      expect([code, stderr]).toEqual([143, expect.stringContaining("The queue does not answer.")]);
    },
  );

  test("an outage after a first signal does not break the apply that is being finished", async () => {
    const server = await Outage.of(engine);
    const fleet = await fleetOf(1, { latencyMilliseconds: 400 });
    const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: server.url } };
    const worker = await startedWorker(options, []);
    const running = run(["fleet", "apply", "--yes"], options);
    await untilAsked(fleet.accounts[0] as Account, "POST");
    worker.child.kill("SIGTERM");
    await server.begin();
    await worker.untilSaid("is lost: ");
    await server.end();
    expect(await running).toMatchObject({ code: 0 });
    expect(await worker.end).toMatchObject({ code: 143 });
    expect(worker.said()).toMatch(/a1: apply: 3 added/);
    await expectApplied(fleet.accounts);
  });
});

/** A Redis that refuses writes from `begin` on, and takes them again from `end` on. */
const REFUSALS = {
  "its memory is full": {
    begin: (client: Redis) => client.config("SET", "maxmemory", "1"),
    end: (client: Redis) => client.config("SET", "maxmemory", "0"),
  },
  "it is a replica now": {
    begin: async (client: Redis) => client.replicaof("127.0.0.1", await freePort()),
    end: (client: Redis) => client.replicaof("NO", "ONE"),
  },
} as const;

test.each(Object.entries(REFUSALS))(
  "a Redis of which it is said that %s is waited for",
  async (reason, { begin, end }) => {
    const { url } = await Outage.of("redis");
    const client = new Redis(url);
    onTestFinished(() => client.disconnect());
    const fleet = await fleetOf(2, { latencyMilliseconds: 300 });
    const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
    const worker = await startedWorker(options, []);
    const running = run(["fleet", "apply", "--yes"], options);
    await untilAsked(fleet.accounts[0] as Account, "POST");
    await begin(client);
    await worker.untilSaid(`is lost: ${reason}. Waiting.`);
    await end(client);
    const { code, stdout } = await running;
    expect([code, stdout]).toEqual([0, expect.stringContaining("2 accounts: 2 done")]);
    await worker.untilSaid("is there again");
    await expectApplied(fleet.accounts);
    expect(worker.said()).not.toMatch(/internal error|put back/);
  },
);

test("a PostgreSQL that is a standby for a while is waited for", async () => {
  const { url } = await Outage.of("postgres");
  // A server that was demoted refuses to write, with the same error.
  const client = new pg.Client({ connectionString: url, options: "-c default_transaction_read_only=off" });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end());
  const readOnly = async (is: boolean): Promise<void> => {
    await client.query(`ALTER DATABASE postgres SET default_transaction_read_only = ${is}`);
    await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
  };
  const fleet = await fleetOf(2, { latencyMilliseconds: 300 });
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  const worker = await startedWorker(options, []);
  const running = run(["fleet", "apply", "--yes"], options);
  await untilAsked(fleet.accounts[0] as Account, "POST");
  await readOnly(true);
  await worker.untilSaid("is lost:");
  await sleep(2_000);
  await readOnly(false);
  const { code, stdout } = await running;
  expect([code, stdout]).toEqual([0, expect.stringContaining("2 accounts: 2 done")]);
  await expectApplied(fleet.accounts);
  expect(worker.said()).not.toMatch(/internal error/);
});
