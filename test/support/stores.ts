/** Real servers of Redis and PostgreSQL on loopback, in temporary folders. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmod, chown, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type Server, type Socket, connect as tcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { openStore, prepareStore } from "../../src/fleet/open-store.ts";
import { type FleetStore, parseStoreAddress } from "../../src/fleet/store.ts";

export interface StoreServer {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  /** As it was stopped or killed before, with the data it had. */
  restart(): Promise<StoreServer>;
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const port = portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

const MAX_START_LOOKS = 2_000;

async function untilListening(port: number, child: ChildProcess, name: string): Promise<void> {
  for (let looks = 0; looks < MAX_START_LOOKS; looks += 1) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    if (await listens(port)) return;
    await sleep(30);
  }
  throw new Error(`${name} does not listen`);
}

/** PostgreSQL listens before it takes anybody. */
async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (let looks = 0; looks < MAX_START_LOOKS && child.exitCode === null; looks += 1) {
    const client = new pg.Client(url);
    client.on("error", () => {});
    const problem = await client.connect().then(
      () => null,
      (error: Error) => error,
    );
    await client.end().catch(() => {});
    if (problem === null) return;
    await sleep(30);
  }
  throw new Error("postgres is not ready");
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = tcp(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGCONT");
  child.kill(signal);
  await end;
}

interface RedisSettings {
  readonly args?: readonly string[];
  /** Instead of the scheme and what follows it up to the host. */
  readonly login?: string;
  readonly tlsPort?: boolean;
}

/** Or a `valkey-server`, which is in no package of every Debian. */
const REDIS_SERVER = process.env["TENON_TEST_REDIS"] ?? "redis-server";

/** With every change on disk before it is answered, so that a kill loses none. */
export async function startRedis({
  args = [],
  login = "redis://",
  tlsPort = false,
}: RedisSettings = {}): Promise<StoreServer> {
  const folder = await mkdtemp(join(tmpdir(), "tenon-redis-"));
  const port = await freePort();
  const start = async (): Promise<StoreServer> => {
    const listening = tlsPort ? ["--port", "0", "--tls-port", `${port}`] : ["--port", `${port}`];
    const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
    const all = [...listening, "--bind", "127.0.0.1", "--dir", folder, ...durable, ...args];
    const child = spawn(REDIS_SERVER, all, { stdio: "ignore" });
    await untilListening(port, child, "redis-server");
    return {
      ...{ url: `${login}127.0.0.1:${port}`, port, child, restart: start },
      stop: async () => {
        await ended(child, "SIGKILL");
        await rm(folder, { recursive: true, force: true });
      },
    };
  };
  return start();
}

/** Where Debian has its programs, the newest version; elsewhere they are in PATH. */
async function postgresProgram(name: string): Promise<string> {
  const versions = await readdir("/usr/lib/postgresql").catch(() => []);
  const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1);
  return newest === undefined ? name : join("/usr/lib/postgresql", newest, "bin", name);
}

/** PostgreSQL does not run as root. */
async function postgresUser(): Promise<{ readonly uid: number; readonly gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(await readFile("/etc/passwd", "utf8"));
  if (line === null) throw new Error("there is no user postgres");
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

export async function startPostgres(): Promise<StoreServer> {
  const folder = await mkdtemp(join(tmpdir(), "tenon-postgres-"));
  const user = await postgresUser();
  await chmod(folder, 0o700);
  if (user !== null) await chown(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const port = await freePort();
  const options = { stdio: "ignore" as const, cwd: "/", ...user };
  const initial = ["-D", data, "-U", "tenon", "--auth=trust", "--no-sync", "-E", "UTF8", "--no-locale"];
  execFileSync(await postgresProgram("initdb"), initial, options);
  const program = await postgresProgram("postgres");
  const start = async (): Promise<StoreServer> => {
    const args = [
      "-D",
      data,
      "-p",
      `${port}`,
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      `unix_socket_directories=${folder}`,
    ];
    const child = spawn(program, [...args, "-c", "fsync=off"], options);
    await untilListening(port, child, "postgres");
    const url = `postgres://tenon@127.0.0.1:${port}/postgres`;
    await untilReady(url, child);
    return {
      ...{ url, port, child, restart: start },
      stop: async () => {
        await ended(child, "SIGQUIT");
        await rm(folder, { recursive: true, force: true });
      },
    };
  };
  return start();
}

const ENGINES = { redis: startRedis, postgres: startPostgres } as const;
export type EngineName = keyof typeof ENGINES;

/** A server that a fleet can use. */
export async function startEngine(name: EngineName): Promise<StoreServer> {
  const server = await ENGINES[name]();
  const address = parseStoreAddress(server.url);
  if (address === null) throw new Error("no address");
  // PostgreSQL listens before it lets anybody in.
  for (let looks = 0; looks < MAX_START_LOOKS; looks += 1) {
    if ((await prepareStore(address, "fleet")) === null) return server;
    await sleep(30);
  }
  await server.stop();
  throw new Error(`${name} cannot be prepared`);
}

/** One suite for each engine of a fleet's queue. @param serverOf for tests: each suite has a server of its own */
export function eachEngine(suite: (serverOf: () => StoreServer, name: EngineName) => void): void {
  for (const name of ["redis", "postgres"] as const) {
    describe(name, () => {
      let server: StoreServer | null = null;
      beforeAll(async () => {
        server = await startEngine(name);
      });
      afterAll(() => server?.stop());
      suite(() => {
        if (server === null) throw new Error(`${name} does not run`);
        return server;
      }, name);
    });
  }
}

/** @param prefix keeps fleets apart */
export async function openedStore(url: string, prefix: string, leaseMilliseconds: number): Promise<FleetStore> {
  const address = parseStoreAddress(url);
  if (address === null) throw new Error("no address");
  const opened = await openStore(address, { prefix, leaseMilliseconds, observer: { unreachable: () => {} } });
  if (!opened.ok) throw new Error(opened.diagnostic.summary);
  onTestFinished(() => opened.store.close());
  return opened.store;
}

export interface StoreProxy {
  readonly port: number;
  /** Whether what is sent arrives. What is sent meanwhile is lost, and no connection is closed. */
  partition(isCut: boolean): void;
  /** Octets that the store has sent. */
  sent(): number;
  close(): void;
}

/** Between a worker and its store. */
export async function proxyTo(port: number): Promise<StoreProxy> {
  let isCut = false;
  let sentOctets = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const upstream = tcp(port, "127.0.0.1");
    upstream.on("data", (data) => {
      sentOctets += data.length;
    });
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(from);
      from.on("data", (data) => {
        if (!isCut) to.write(data);
      });
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: portOf(server),
    partition: (cut) => {
      isCut = cut;
    },
    sent: () => sentOctets,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
