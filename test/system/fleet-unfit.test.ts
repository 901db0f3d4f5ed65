/** Stores that a fleet cannot use, and what is not as a worker needs it: said at once, with the real cause. */

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { expectPlain, folder, run } from "../cli/run.ts";
import { domainsOf, fleetOf } from "../support/fleet.ts";
import { startedWorker, stopped } from "../support/fleet-worker.ts";
import { freePort, type StoreServer, startPostgres, startRedis } from "../support/stores.ts";

const FLEET = {
  "fleet.yaml": "fleet: 1\naccounts: [{ name: a, project: ., service: linode, token: { env: A } }]\n",
  "tenon.yaml": "tenon: 1\n",
};

async function redis(settings: Parameters<typeof startRedis>[0] = {}): Promise<StoreServer> {
  const server = await startRedis(settings);
  onTestFinished(() => server.stop());
  return server;
}

/** What a worker and whoever asks for something both say. */
async function expectRefused(url: string, words: readonly (string | RegExp)[], env: Record<string, string> = {}) {
  const cwd = await folder(FLEET);
  for (const args of [["worker"], ["validate"]]) {
    const { code, stdout, stderr } = await run(["fleet", ...args, "--queue", url], { cwd, env });
    expect(stderr).not.toMatch(/secret-word|\n\s+at /);
    expectPlain({ code, stdout, stderr }, 1, words);
  }
}

test("nobody listens", async () => {
  for (const scheme of ["redis", "postgres"]) {
    const words = [/cannot be used: nobody listens there/, new RegExp(`queue at ${scheme}://127.0.0.1`)];
    await expectRefused(`${scheme}://me:secret-word@127.0.0.1:${await freePort()}`, words);
  }
});

test("a wrong password, or none", async () => {
  const server = await redis({ args: ["--requirepass", "right"] });
  for (const login of [":secret-word@", ""]) {
    await expectRefused(`redis://${login}127.0.0.1:${server.port}`, [/refuses the user or the password/]);
  }
});

test("a Redis that evicts names its policy", async () => {
  const server = await redis({ args: ["--maxmemory-policy", "allkeys-lru"] });
  await expectRefused(server.url, [/evicts: maxmemory-policy is allkeys-lru/, /noeviction/]);
});

test("a key of BullMQ that somebody else has written as another type, or a counter as no number, is named", async () => {
  const server = await redis();
  const client = new Redis(server.url);
  onTestFinished(() => client.disconnect());
  await client.set("tenon:fleet:wake-ups:delayed", "x");
  const words = [
    /has a key of another type: tenon:fleet:wake-ups:delayed/,
    "redis-cli del tenon:fleet:wake-ups:delayed",
  ];
  await expectRefused(server.url, words);
  await client.del("tenon:fleet:wake-ups:delayed");
  for (const value of ["x", "1e3", "9".repeat(19), "7".repeat(100_000)]) {
    await client.set("tenon:fleet:wake-ups:id", value);
    await expectRefused(server.url, [/has a counter that is no number: tenon:fleet:wake-ups:id/]);
  }
  await client.del("tenon:fleet:wake-ups:id");
  // Of what a worker and a command have written themselves each key has its type.
  const cwd = await folder(FLEET);
  const options = { cwd, env: { TENON_QUEUE: server.url } };
  const worker = await startedWorker(options, []);
  for (const _ of ["first", "second"]) expect((await run(["fleet", "validate"], options)).code).toBe(0);
  expect(await client.keys("tenon:fleet:wake-ups:*")).not.toEqual([]);
  await stopped(worker);
});

/** Answers INFO as an older Redis does, and everything else with OK. */
async function oldRedis(): Promise<Server> {
  const info = "# Server\r\nredis_version:5.0.7\r\nmaxmemory_policy:noeviction\r\n";
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      const commands = data.toString().match(/\*\d+\r\n\$\d+\r\n\w+/g) ?? [];
      for (const one of commands) socket.write(/info$/i.test(one) ? `$${info.length}\r\n${info}\r\n` : "+OK\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return server;
}

test("a Redis that is too old names its version", async () => {
  const address = (await oldRedis()).address();
  if (address === null || typeof address === "string") throw new Error("no port");
  await expectRefused(`redis://127.0.0.1:${address.port}`, [/is too old: 5\.0\.7/, /6\.2 or newer/]);
});

test("a Redis that is a replica, and one that is still loading its data", async () => {
  const replica = await redis({ args: ["--replicaof", "127.0.0.1", `${await freePort()}`] });
  await expectRefused(replica.url, [/is a replica/, /Name the primary/]);
  // A millisecond for each key: it answers what it is asked after every thousandth.
  let slow = await redis({ args: ["--key-load-delay", "1000"] });
  const client = new Redis(slow.url);
  const pipeline = client.pipeline();
  for (let key = 0; key < 30_000; key += 1) pipeline.set(`k${key}`, "v");
  await pipeline.exec();
  client.disconnect();
  const gone = new Promise((resolve) => slow.child.once("exit", resolve));
  slow.child.kill("SIGKILL");
  await gone;
  slow = await slow.restart();
  onTestFinished(() => slow.stop());
  await expectRefused(slow.url, [/is still loading its data/, /Wait\./]);
});

/** Between a client and a PostgreSQL, which seems to be of another version of the same length. */
async function versionProxy(port: number, version: RegExp, other: string): Promise<number> {
  const server = createServer((socket) => {
    const upstream = connect(port, "127.0.0.1");
    socket.pipe(upstream);
    upstream.on("data", (data) => socket.write(data.toString("latin1").replace(version, other), "latin1"));
    for (const one of [socket, upstream]) {
      one.on("error", () => {});
      one.on("close", () => [socket, upstream].map((end) => end.destroy()));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

test("a PostgreSQL that is too old names its version, before anything is made there", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const client = new pg.Client(server.url);
  await client.connect();
  const { rows } = await client.query("SELECT current_setting('server_version_num') AS number");
  const major = String(rows[0].number).slice(0, 2);
  const port = await versionProxy(server.port, new RegExp(`\\b${major}(?=\\d{4}\\b|\\.\\d)`, "g"), "12");
  const old = server.url.replace(`:${server.port}`, `:${port}`);
  const words = [/is too old: 12\.\d+/, /Use PostgreSQL 13 or newer/];
  expectPlain(await run(["fleet", "prepare", "--queue", old]), 1, words);
  expect((await client.query("SELECT FROM pg_namespace WHERE nspname = 'tenon_fleet'")).rowCount).toBe(0);
  await client.end();
  expect((await run(["fleet", "prepare", "--queue", server.url])).code).toBe(0);
  await expectRefused(old, words);
});

test("a PostgreSQL without its tables names the command that makes them, and does not try again for ever", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  await expectRefused(server.url, [/has not been prepared/, /tenon fleet prepare/]);
  expect(await run(["fleet", "prepare", "--queue", server.url])).toMatchObject({
    code: 0,
    stdout: "The queue is ready.\n",
  });
  expect((await run(["fleet", "prepare", "--queue", server.url])).code).toBe(0);
  await expectRefused(server.url.replace("/postgres", "/none"), [/database or the user is not there/]);
});

test("a role that has only the rights which the guide names works in tables that another one has prepared", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const as = (role: string): string => server.url.replace(/\/\/[^@]*@/, `//${role}@`);
  const client = new pg.Client(server.url);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("CREATE ROLE admin LOGIN; CREATE ROLE worker LOGIN; GRANT CREATE ON DATABASE postgres TO admin");
  const fleet = await fleetOf(1);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: as("worker") } };
  const prepare = ["fleet", "prepare", "--queue", as("admin"), "--prefix", "own"];
  expect(await run(prepare, options)).toMatchObject({ code: 0 });
  const guide = await readFile(new URL("../../docs/how-to/run-many-accounts.md", import.meta.url), "utf8");
  const args = ["--prefix", "own"];
  const refused = async (words: string, more: readonly string[] = args): Promise<void> => {
    for (const command of ["worker", "plan"]) expectPlain(await run(["fleet", command, ...more], options), 1, [words]);
  };
  await refused("docs/how-to/run-many-accounts.md names those in PostgreSQL");
  const rights = guide.match(/^ *GRANT .*;$/gm) ?? [];
  expect(rights).toHaveLength(3);
  for (const [index, right] of rights.entries()) {
    if (index === 2) await refused("the role worker may not count the jobs of the queue");
    await client.query(right);
  }
  await refused("has not been prepared for the prefix other", ["--prefix", "other"]);
  const worker = await startedWorker(options, args);
  const { code, stdout } = await run(["fleet", "plan", ...args], options);
  expect([code, stdout]).toEqual([0, expect.stringContaining("Fleet: 1 account: 1 ")]);
  expect((await run(["fleet", "status", ...args], options)).code).toBe(0);
  expect(await run(prepare, options)).toMatchObject({ code: 0 });
  await stopped(worker);
});

test("a server that never ends its side of a connection keeps no command", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const sockets = new Set<Socket>();
  const proxy = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    const upstream = connect(server.port, "127.0.0.1");
    upstream.on("error", () => {});
    socket.on("error", () => {});
    upstream.on("data", (data) => void socket.write(data));
    socket.on("data", (data) => void upstream.write(data));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const { port } = proxy.address() as { readonly port: number };
  await expectRefused(server.url.replace(`:${server.port}`, `:${port}`), [/has not been prepared/]);
});

test("TLS with an own authority: trusted by NODE_EXTRA_CA_CERTS, refused without; and plain text where TLS is spoken", async () => {
  const path = await mkdtemp(join(tmpdir(), "tenon-redis-tls-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  const [key, certificate] = [join(path, "key.pem"), join(path, "cert.pem")];
  const request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost".split(
    " ",
  );
  const names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate];
  execFileSync("openssl", [...request, ...names], { stdio: "ignore" });
  const tls = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-auth-clients", "no"];
  const server = await redis({ tlsPort: true, args: tls, login: "rediss://" });
  await expectRefused(server.url, [/certificate is not trusted/, /NODE_EXTRA_CA_CERTS/]);
  await expectRefused(server.url.replace("rediss:", "redis:"), [
    /the connection is closed by the server|does not answer/,
  ]);
  const cwd = await folder(FLEET);
  const options = { cwd, env: { NODE_EXTRA_CA_CERTS: certificate, TENON_QUEUE: server.url } };
  await startedWorker(options, []);
  expect(await run(["fleet", "validate"], options)).toMatchObject({ code: 0, stderr: "" });
});

test("two fleets with one prefix: the second is told so, and a fleet that has grown is not", async () => {
  const server = await redis();
  const fleet = (names: readonly string[]): Record<string, string> => {
    const entries = names.map((name) => `{ name: ${name}, project: ., service: linode, token: { env: A } }`);
    return { ...FLEET, "fleet.yaml": `fleet: 1\naccounts: [${entries.join(", ")}]\n` };
  };
  const options = { cwd: await folder(fleet(["a", "b"])), env: { TENON_QUEUE: server.url } };
  const schedule = ["fleet", "schedule", "drift", "--every", "1h"];
  expect((await run(schedule, options)).code).toBe(0);
  const grown = { ...options, cwd: await folder(fleet(["b", "c"])) };
  expect((await run(schedule, grown)).code).toBe(0);
  const other = { ...options, cwd: await folder(fleet(["x", "y"])) };
  expectPlain(await run(schedule, other), 1, [/the prefix fleet is used by another fleet/, /--prefix/]);
  expect((await run([...schedule, "--prefix", "other"], other)).code).toBe(0);
});

test("consent is the workers' to give: whoever can write to the queue cannot", async () => {
  const cwd = await folder(FLEET);
  const args = ["fleet", "apply", "--yes", "--queue", "redis://127.0.0.1:1"];
  for (const flag of [
    ["--allow", "delete=*"],
    ["--take-ownership-from", "other"],
  ]) {
    expectPlain(await run([...args, ...flag], { cwd }), 1, [/is not sent through a queue/, /tenon fleet worker/]);
  }
});

test("a token that only one worker lacks, and a project that differs on it: another worker takes the account", async () => {
  const server = await redis();
  const fleet = await fleetOf(2);
  const env = { ...fleet.env, TENON_QUEUE: server.url };
  const without = { ...env, TOKEN_A1: "" };
  const differing = await mkdtemp(join(tmpdir(), "tenon-other-"));
  onTestFinished(() => rm(differing, { recursive: true, force: true }));
  await mkdir(join(differing, "project"));
  await writeFile(join(differing, "fleet.yaml"), await readFile(join(fleet.cwd, "fleet.yaml"), "utf8"));
  await writeFile(join(differing, "project/tenon.yaml"), "tenon: 1\nvariables: { domain: {} }\n");
  const tokenless = await startedWorker({ cwd: fleet.cwd, env: without }, ["--lease", "10s"]);
  const other = await startedWorker({ cwd: differing, env }, ["--lease", "10s"]);
  const running = run(["fleet", "apply", "--yes"], { cwd: fleet.cwd, env });
  await tokenless.untilSaid(
    /a1: left for another worker: worker \S+ has no token for a1: start it with TOKEN_A1 set\n/,
  );
  await other.untilSaid("left for another worker: the entry or the project of a");
  await startedWorker({ cwd: fleet.cwd, env }, ["--lease", "10s"]);
  const { code, stderr } = await running;
  expect(code).toBe(0);
  expect(stderr).toMatch(/a1 waits for another worker/);
  for (const account of fleet.accounts) expect(await domainsOf(account)).toEqual([`${account.name}.example`]);
});

test("what no worker can run ends as an error that says why", async () => {
  const server = await redis();
  const fleet = await fleetOf(1);
  const options = { cwd: fleet.cwd, env: { TENON_QUEUE: server.url } };
  const worker = await startedWorker(options, ["--lease", "2s"]);
  const { code, stdout } = await run(["fleet", "plan"], options);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/worker \S+ has no token for a1:\s+start\s+it\s+with\s+TOKEN_A1\s+set/),
  ]);
  // Whoever looks at the worker reads it once.
  expect(worker.said().match(/left for another worker/g)).toHaveLength(1);
});
