/** What whoever can read or write the queue of a fleet can do: nothing that a worker would not do itself. */

import { execFileSync } from "node:child_process";
import { chmod, cp, readdir, readFile, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Redis } from "ioredis";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { planDigestOf } from "../../src/fleet/digest.ts";
import { escapeText } from "../../src/render/terminal.ts";
import { ended, folder, run, start } from "../cli/run.ts";
import { type Account, domainsOf, fileOf, fleetOf, PROJECT } from "../support/fleet.ts";
import { startedWorker, stopped } from "../support/fleet-worker.ts";
import { startPostgres, startRedis } from "../support/stores.ts";

async function redisClient() {
  const server = await startRedis();
  const client = new Redis(server.url);
  onTestFinished(async () => {
    client.disconnect();
    await server.stop();
  });
  return { url: server.url, client };
}

/** A command takes seconds to begin on a busy machine. */
const SLOW = { timeout: 30_000 };
const RUN = "00000000-0000-4000-8000-000000000000";
const OTHER = "11111111-0000-4000-8000-000000000000";
const LOOK = { width: 80, colour: false };

function request(more: object): string {
  const flags = { format: "text" };
  return JSON.stringify({
    command: "apply",
    flags,
    results: LOOK,
    messages: LOOK,
    saves: false,
    documents: false,
    ...more,
  });
}

function pending(runs: readonly object[]): string {
  return JSON.stringify({ runs });
}

test("a forged job or record runs nothing that the worker does not have, gives no consent, and stops no worker", async () => {
  const { url, client } = await redisClient();
  const fleet = await fleetOf(1);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  const worker = await startedWorker(options, ["--lease", "2s"]);
  const put = (key: string, text: string) => client.hset(`tenon:fleet:record:${key}`, "v", 1, "d", text);
  const digest = "0".repeat(64);
  // A consent, a token or a command that there is not, and what is no JSON, or too deep, or too large.
  const forged = [
    request({ flags: { format: "text", allow: ["delete=*"] } }),
    request({ flags: { format: "text", tokenFile: "/etc/passwd" } }),
    request({ command: "destroy" }),
    request({ project: "/etc" }),
    "{",
    "[".repeat(100_000),
    "null",
    JSON.stringify("x".repeat(5 * 1024 * 1024)),
  ];
  for (const [index, text] of forged.entries()) {
    const id = `${index}${RUN.slice(1)}`;
    await put(`run/${id}`, text);
    await put("pending/a1", pending([{ run: id, digest, plan: null, at: 0 }]));
    await wake(client, "a1");
  }
  // A sound request of somebody whose project is another one, and accounts that there are not.
  await put(`run/${OTHER}`, request({}));
  await put("pending/a1", pending([{ run: OTHER, digest, plan: null, at: 0 }]));
  await put("pending/other", pending([{ run: OTHER, digest, plan: null, at: 0 }]));
  for (const name of ["a1", "other", "../../etc", "x".repeat(100_000), "", "__proto__"]) await wake(client, name);
  await worker.untilSaid("a1: left for another worker: the entry or the project of a1 differs");
  expect(fleet.accounts.flatMap(({ service }) => service.requests)).toEqual([]);
  await put("pending/a1", "not a list");
  expect((await run(["fleet", "apply", "--yes"], options)).code).toBe(0);
  expect(await domainsOf(fleet.accounts[0] as (typeof fleet.accounts)[number])).toEqual(["a1.example"]);
  expect(worker.said()).not.toMatch(/put back|internal|\n\s+at /);
});

const KEY = "tenon:fleet:record:";
/** Numbers that JavaScript does not have, or cannot count on from. */
const NO_COUNTS = ["x", "1e300", "-1", "1.5", "9007199254740991", "9223372036854775807", "nan", ""];

test("no time that a request gives is a consent: an upload that another run may be sending is left alone for the worker's own, or an hour", async () => {
  const { url } = await redisClient();
  const fleet = await fleetOf(1);
  const [{ service }] = fleet.accounts as [(typeof fleet.accounts)[number]];
  await writeFile(
    join(fleet.cwd, "project/tenon.yaml"),
    "tenon: 1\nowner: edge\nvariables: { domain: {} }\nimages: [{ label: golden, upload: { file: image.img.gz, region: us-east } }]\n",
  );
  await writeFile(join(fleet.cwd, "project/image.img.gz"), gzipSync(Buffer.alloc(1024)));
  const authorization = "Bearer emulator-token";
  const upload = await fetch(`${service.baseUrl}/images/upload`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ label: "golden", region: "us-east", description: "[tenon:edge]" }),
  });
  expect(upload.status).toBe(200);
  await service.advanceClock(600);
  service.clearRequests();
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  const apply = (time: string) => run(["fleet", "apply", "--yes", "--upload-timeout", time], options);
  const careful = await startedWorker(options, []);
  for (const time of ["30s", "9m"]) {
    const { code, stdout } = await apply(time);
    expect([time, code, stdout]).toEqual([time, 6, expect.stringContaining("(blocked)")]);
  }
  await stopped(careful);
  const patient = await startedWorker(options, ["--upload-timeout", "24h"]);
  await service.advanceClock(3_600);
  expect((await apply("30s")).code).toBe(6);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  await stopped(patient);
  // Whoever runs the worker may say that uploads are short, and what asks for a longer time gets it.
  const quick = await startedWorker(options, ["--upload-timeout", "1m"]);
  expect((await apply("24h")).code).toBe(6);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  expect((await apply("2m")).code).toBe(0);
  expect(service.requests.filter(({ method }) => method === "DELETE").map(({ path }) => path)).toHaveLength(1);
  await stopped(quick);
});

/** Whether Tenon handles signals now; else the system ends it. SIGHUP is the one of them for which Node has no handler of its own. */
async function handlesSignals(pid: number | undefined): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const caught = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1]}`);
  return (caught & (1n << BigInt(constants.signals.SIGHUP - 1))) !== 0n;
}

test("the first signal lets a worker finish what it plans, and the second ends it though it computes: the system does that", async () => {
  const { url } = await redisClient();
  const fleet = await fleetOf(1, { latencyMilliseconds: 1_000 });
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  const [{ service }] = fleet.accounts as [(typeof fleet.accounts)[number]];
  const asked = () => service.requests.length;
  const patient = await startedWorker(options, []);
  const finished = run(["fleet", "plan"], options);
  await expect.poll(asked, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0);
  expect(await stopped(patient)).toMatchObject({ code: 143 });
  expect((await finished).stdout).toContain("3 to add");
  service.clearRequests();
  // However busy the machine is, this one has not finished when the second signal comes.
  service.setFaults([{ effect: { type: "slow-headers", delayMilliseconds: 120_000 } }]);
  const hurried = await startedWorker(options, []);
  const { child } = hurried;
  const exit = new Promise((resolve) => child.on("exit", (code, signal) => resolve([code, signal])));
  const planning = run(["fleet", "plan"], options);
  await expect.poll(asked, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0);
  expect(await handlesSignals(child.pid)).toBe(true);
  child.kill("SIGTERM");
  await expect.poll(() => handlesSignals(child.pid), { timeout: 60_000, interval: 5 }).toBe(false);
  child.kill("SIGTERM");
  expect(await exit).toEqual([null, "SIGTERM"]);
  // Another worker takes the account.
  service.setFaults([]);
  const next = await startedWorker(options, []);
  expect((await planning).stdout).toContain("3 to add");
  await stopped(next);
});

test("one signal ends an apply of a fleet that still plans, whatever is computed: nobody handles it before anything is changed", async () => {
  const fleet = await fleetOf(2);
  const zones = Array.from({ length: 5 }, (_, index) => `{ domain: z${index}.example, zone_file: z.zone, ${SOA} }`);
  await writeFile(join(fleet.cwd, "project/z.zone"), "$TTL 300\n$GENERATE 1-10000 n$ A 192.0.2.1\n");
  const project = `tenon: 1\nvariables: { domain: {} }\ndomains: [${zones.join(", ")}]\n`;
  await writeFile(join(fleet.cwd, "project/tenon.yaml"), project);
  const child = start(["fleet", "apply", "--yes"], fleet);
  const exit = new Promise((resolve) => child.on("exit", (code, signal) => resolve([code, signal])));
  const requests = () => fleet.accounts.flatMap(({ service }) => service.requests);
  await expect.poll(() => requests().length, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0);
  await expect.poll(() => handlesSignals(child.pid), { timeout: 60_000, interval: 5 }).toBe(false);
  child.kill("SIGTERM");
  expect(await exit).toEqual([null, "SIGTERM"]);
  expect(requests().filter(({ method }) => method !== "GET").length).toBe(0);
});

const SOA = "type: master, soa_email: a@a.example";

test("a record of another type, or whose version is no count, keeps neither a command nor a worker", async () => {
  const { url, client } = await redisClient();
  const fleet = await fleetOf(2);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  for (const version of [null, ...NO_COUNTS]) {
    await client.flushall();
    for (const key of ["fleet", "pending/a1", "activity/a1", "schedule", "scheduled/a1", "worker/x"]) {
      if (version === null) await client.rpush(`${KEY}${key}`, "x");
      else await client.hset(`${KEY}${key}`, "v", version, "d", "{}");
    }
    await client.set("tenon:fleet:lock:a1", "somebody for good");
    await client.set("tenon:fleet:fence:a1", version ?? "1e300");
    await client.rpush("tenon:fleet:fence:a2", "x");
    await client.set("tenon:fleet:lock:a2", "somebody for a year", "EX", 31_000_000);
    expect([version, (await run(["fleet", "status"], options)).code]).toEqual([version, 0]);
    const worker = await startedWorker(options, ["--lease", "2s"]);
    const { code, stdout } = await run(["fleet", "apply", "--yes"], options);
    expect([version, code, stdout]).toEqual([version, 0, expect.stringContaining("Fleet: 2 accounts: 2 done.")]);
    await stopped(worker);
  }
});

test("the same in tables: numbers that JavaScript does not have, locks for good, and jobs of millions of values", async () => {
  const server = await startPostgres();
  const fleet = await fleetOf(2);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: server.url } };
  expect((await run(["fleet", "prepare"], options)).code).toBe(0);
  const client = new pg.Client(server.url);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await server.stop();
  });
  const counts = ["9223372036854775807", "9007199254740991", "-5", "0"];
  for (const [index, key] of ["fleet", "pending/a1", "activity/a1", "pending/a2"].entries()) {
    const values = [key, counts[index]];
    await client.query("INSERT INTO tenon_fleet.records VALUES ('fleet', $1, $2, '{}', 'infinity')", values);
  }
  for (const [index, account] of ["a1", "a2"].entries()) {
    const values = [account, counts[index]];
    await client.query("INSERT INTO tenon_fleet.locks VALUES ('fleet', $1, $2, 'infinity')", values);
  }
  const status = async () => JSON.parse((await run(["fleet", "status", "--format", "json"], options)).stdout);
  const asking = run(["fleet", "apply", "--yes"], options);
  await expect.poll(status, { timeout: 30_000 }).toMatchObject({ queue: { waiting: 2 } });
  // As values these would take gigabytes.
  const values = "('[' || repeat('{},', 8000000) || '{}]')::jsonb";
  await client.query(`UPDATE bullmq.job SET data = ${values}, progress = ${values}, return_value = ${values}`);
  const env = { ...options.env, NODE_OPTIONS: "--max-old-space-size=512" };
  await startedWorker({ ...options, env }, ["--lease", "2s"]);
  const { code, stdout } = await asking;
  expect([code, stdout]).toEqual([0, expect.stringContaining("Fleet: 2 accounts: 2 done.")]);
});

test("tables that another role has made first, with triggers that would run as the worker, are not taken for the queue's", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const asRole = async (role: string, ...statements: readonly string[]) => {
    const client = new pg.Client(server.url.replace("tenon@", `${role}@`));
    await client.connect();
    let last: pg.QueryResult | null = null;
    for (const statement of statements) last = await client.query(statement);
    await client.end();
    return last?.rows ?? [];
  };
  await asRole(
    "tenon",
    "CREATE ROLE evil LOGIN",
    "GRANT CREATE ON DATABASE postgres TO evil",
    "CREATE ROLE other LOGIN SUPERUSER",
  );
  const take = "BEGIN CREATE ROLE pwned SUPERUSER; RETURN new; END";
  await asRole(
    "evil",
    "CREATE SCHEMA tenon_fleet",
    "CREATE TABLE tenon_fleet.records (prefix text, key text, version bigint, text text, expires timestamptz, PRIMARY KEY (prefix, key))",
    `CREATE FUNCTION tenon_fleet.take() RETURNS trigger LANGUAGE plpgsql AS $$ ${take} $$`,
    "CREATE TRIGGER t BEFORE INSERT ON tenon_fleet.records FOR EACH ROW EXECUTE FUNCTION tenon_fleet.take()",
    "GRANT ALL ON SCHEMA tenon_fleet TO public",
    "GRANT ALL ON ALL TABLES IN SCHEMA tenon_fleet TO public",
  );
  const prepare = (role: string) => run(["fleet", "prepare", "--queue", server.url.replace("tenon@", `${role}@`)]);
  for (const role of ["tenon", "other"]) {
    const { code, stdout, stderr } = await prepare(role);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.replace(/\n +/g, " ")).toContain("belong to another role: evil");
  }
  expect(await asRole("tenon", "SELECT 1 FROM pg_namespace WHERE nspname = 'bullmq'")).toEqual([]);
  await asRole("tenon", "DROP SCHEMA tenon_fleet CASCADE");
  for (const role of ["tenon", "other"]) expect(await prepare(role)).toMatchObject({ code: 0, stderr: "" });
  expect(await asRole("tenon", "SELECT 1 FROM pg_roles WHERE rolname = 'pwned'")).toEqual([]);
});

/** In the folder, a file whose path is longer than a system call takes: git checks it out by parts, and so does this. */
async function writeDeep(directory: string): Promise<void> {
  const script = `for (let left = 17; left > 0; left -= 1) {
    fs.mkdirSync("d".repeat(250)); process.chdir("d".repeat(250));
  }
  fs.writeFileSync("f", "")`;
  execFileSync(process.execPath, ["-e", script], { cwd: directory });
  onTestFinished(() => void execFileSync("rm", ["-rf", directory]));
}

test("a project that cannot be read as a whole, here or on a worker, is not taken for the same: nothing is run", async () => {
  const { url } = await redisClient();
  const [fleet, older] = [await fleetOf(1), await folder({})];
  const [account] = fleet.accounts as [Account];
  await cp(fleet.cwd, older, { recursive: true });
  await writeFile(join(older, "project/tenon.yaml"), PROJECT.replace("192.0.2.1", "192.0.2.99"));
  const env = { ...fleet.env, TENON_QUEUE: url };
  await startedWorker({ cwd: older, env }, ["--lease", "2s"]);
  await writeDeep(join(older, "project"));
  const onWorker = await run(["fleet", "apply", "--yes"], { cwd: fleet.cwd, env });
  expect(onWorker.code).toBe(1);
  expect(`${onWorker.stdout}${onWorker.stderr}`).toMatch(
    /the files of the project of a1 cannot all be read on worker \S+: the system says ENAMETOOLONG/,
  );
  await writeDeep(join(fleet.cwd, "project"));
  const here = await run(["fleet", "apply", "--yes"], { cwd: fleet.cwd, env });
  expect(here.code).toBe(1);
  expect(`${here.stdout}${here.stderr}`).toContain(
    "no worker can compare the project of a1 with its own: the system says ENAMETOOLONG",
  );
  expect(await domainsOf(account)).toEqual([]);
});

test("a signal ends what only reads at once, though a record says that a worker runs it", async () => {
  const { url, client } = await redisClient();
  const fleet = await fleetOf(1);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  for (const command of ["plan", "drift", "validate"]) {
    const asking = start(["fleet", command], options);
    const pendingRuns = async () => JSON.parse((await client.hget("tenon:fleet:record:pending/a1", "d")) ?? "{}").runs;
    await expect.poll(async () => (await pendingRuns())?.length, SLOW).toBe(1);
    const [{ run: id }] = await pendingRuns();
    const running = JSON.stringify({ state: "running", attempts: 1, worker: "nobody" });
    await client.hset(`tenon:fleet:record:state/${id}/a1`, "v", 1, "d", running);
    asking.kill("SIGINT");
    const tooLate = setTimeout(() => asking.kill("SIGKILL"), 20_000);
    expect([command, (await ended(asking)).code]).toEqual([command, 130]);
    clearTimeout(tooLate);
    await client.flushall();
  }
});

test("a signal ends what only reads although somebody writes the record of its run all the time", async () => {
  const { url, client } = await redisClient();
  const fleet = await fleetOf(1);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  const asking = start(["fleet", "plan"], options);
  const pendingRuns = async () => JSON.parse((await client.hget("tenon:fleet:record:pending/a1", "d")) ?? "{}").runs;
  await expect.poll(async () => (await pendingRuns())?.length, SLOW).toBe(1);
  const [{ run: id }] = await pendingRuns();
  const running = JSON.stringify({ state: "running", attempts: 1, worker: "nobody" });
  let isFlapping = true;
  const script = "redis.call('HINCRBY', KEYS[1], 'v', 1); redis.call('HSET', KEYS[1], 'd', ARGV[1])";
  // Whenever the server has answered another client, many of these wait.
  const flap = async (): Promise<void> => {
    const own = new Redis(url);
    const write = () => own.eval(script, 1, `tenon:fleet:record:state/${id}/a1`, running);
    while (isFlapping) await Promise.all(Array.from({ length: 1_000 }, write));
    own.disconnect();
  };
  const flapping = Array.from({ length: 4 }, flap);
  const versionOf = async () => Number(await client.hget(`tenon:fleet:record:state/${id}/a1`, "v"));
  await expect.poll(versionOf, SLOW).toBeGreaterThan(5_000);
  asking.kill("SIGINT");
  const tooLate = setTimeout(() => asking.kill("SIGKILL"), 20_000);
  const { code } = await ended(asking);
  clearTimeout(tooLate);
  isFlapping = false;
  await Promise.all(flapping);
  expect(code).toBe(130);
});

test("jobs that nobody can read are taken away, and keep no account waiting", async () => {
  const { url, client } = await redisClient();
  const fleet = await fleetOf(2);
  const env = { ...fleet.env, TENON_QUEUE: url, NODE_OPTIONS: "--max-old-space-size=256" };
  const options = { cwd: fleet.cwd, env };
  const worker = await startedWorker(options, ["--lease", "2s"]);
  const queue = "tenon:fleet:wake-ups";
  const broken = [{ opts: "{" }, { data: "{" }, { opts: "null" }, { progress: "{" }, { parent: "{" }, { name: "" }];
  for (let index = 0; index < 120; index += 1) {
    const id = `g${index}`;
    const job = { name: "a1", data: "{}", opts: "{}", timestamp: "1", delay: "0", priority: "0" };
    await client.hset(`${queue}:${id}`, { ...job, ...broken[index % broken.length] });
    await client.lpush(`${queue}:wait`, id);
  }
  // As values each of these would take more than the worker has.
  const values = `[${"{},".repeat(5_000_000)}{}]`;
  for (const field of ["data", "progress", "parent", "returnvalue", "opts", "stacktrace"]) {
    const job = { name: "a1", data: "{}", opts: "{}", timestamp: "1", delay: "0", priority: "0" };
    await client.hset(`${queue}:g${field}`, { ...job, [field]: field === "opts" ? `{"x":${values}}` : values });
    await client.lpush(`${queue}:wait`, `g${field}`);
  }
  const { code, stdout, stderr } = await run(["fleet", "apply", "--yes"], options);
  expect([code, stdout], stderr).toEqual([0, expect.stringContaining("Fleet: 2 accounts: 2 done.")]);
  const left = async () => (await client.keys(`${queue}:g*`)).length + (await client.llen(`${queue}:active`));
  await expect.poll(left, { timeout: 60_000 }).toBe(0);
  // Values of this size keep a busy Redis from answering for a while: the worker waits then.
  const said = worker.said().replace(/^The queue at .*\n/gm, "");
  expect(said).not.toMatch(/put back|internal|lost|\n\s+at /);
});

/** A job as BullMQ's own queue makes one, whatever its name is. */
async function wake(client: Redis, name: string): Promise<void> {
  const { Queue } = await import("bullmq");
  const { host, port } = client.options;
  const queue = new Queue("wake-ups", { prefix: "tenon:fleet", connection: { host: host ?? "", port: port ?? 0 } });
  await queue.add(name, { command: "destroy", project: "/etc", token: "x" });
  await queue.close();
}

test("nothing that a fleet keeps in its queue holds a token", async () => {
  const { url, client } = await redisClient();
  const fleet = await fleetOf(2);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  const worker = await startedWorker(options, ["--plans", "plans"]);
  for (const args of [
    ["plan", "--out", "plans"],
    ["apply", "--yes", "--plan", "plans"],
    ["drift", "--format", "json"],
  ]) {
    expect((await run(["fleet", ...args], options)).code).toBe(0);
  }
  await run(["fleet", "schedule", "drift", "--every", "1s"], options);
  await worker.untilSaid("a2: drift: no drift");
  const kept: string[] = [];
  for (const key of await client.keys("*")) {
    const type = await client.type(key);
    kept.push(key);
    if (type === "hash") kept.push(JSON.stringify(await client.hgetall(key)));
    if (type === "string") kept.push((await client.get(key)) ?? "");
    if (type === "stream") kept.push(JSON.stringify(await client.xrange(key, "-", "+")));
  }
  const text = kept.join("\n");
  expect(text).toMatch(/a1/);
  expect(text).not.toMatch(/emulator-token|TOKEN_A1/);
  // What was fetched does not lie about.
  expect(text).not.toMatch(/a1\.example/);
});

test("what a worker reports cannot steer a terminal, nor break a document", async () => {
  const { url, client } = await redisClient();
  const fleet = await fleetOf(1);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  const asking = run(["fleet", "plan", "--format", "text"], options);
  let key: string | undefined;
  while (key === undefined) key = (await client.keys("tenon:fleet:record:run/*"))[0];
  const id = key.split("/")[1] ?? "";
  const outcome = {
    type: "ran",
    code: 0,
    headline: "\u001b[2Jfine",
    text: "\u001b]0;title\u0007\u009b2Jtext",
    markup: "plain",
    document: "} {",
  };
  const state = JSON.stringify({ state: "done", outcome, plan: null });
  await client.hset(`tenon:fleet:record:state/${id}/a1`, "v", 1, "d", state);
  const { stdout } = await asking;
  expect(stdout).toMatch(/text/);
  expect(JSON.stringify(stdout)).not.toMatch(/\\u001b|\\u0007|\u009b/);
  // A worker's name is shown, too.
  const name = "\u001b]0;title\u0007host:1\r\nforged";
  const running = { command: "plan", worker: name, since: Date.now(), run: null };
  await client.hset("tenon:fleet:record:activity/a1", "v", 1, "d", JSON.stringify({ running, last: null }));
  const counts = { done: 0, failed: 0, seconds: 0, requests: 0, throttled: 0 };
  const record = { ...counts, since: Date.now(), alive: Date.now(), hasEnded: false };
  await client.hset(`tenon:fleet:record:worker/${escapeText(name)}`, "v", 1, "d", JSON.stringify(record));
  const status = await run(["fleet", "status"], options);
  expect(status.stdout).toMatch(/^Workers: .*host:1/m);
  expect(JSON.stringify(status.stdout.replaceAll("\n", ""))).not.toMatch(/[^\\]\\[urn]/);
  expect(status.stdout).not.toMatch(/^forged/m);
});

interface Rows {
  readonly data: readonly { readonly id: number; readonly name?: string }[];
}

/** What somebody has added by hand is removed by a plan that is made after it, and not by one that was reviewed before. */
async function addedByHand(account: Account): Promise<() => Promise<boolean>> {
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  const ask = async (path: string, body?: object): Promise<Rows> => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return (await fetch(`${account.service.baseUrl}${path}`, { headers, ...sent })).json() as Promise<Rows>;
  };
  const records = `/domains/${(await ask("/domains")).data[0]?.id}/records`;
  await ask(records, { type: "A", name: "urgent", target: "192.0.2.77" });
  return async () => (await ask(records)).data.some(({ name }) => name === "urgent");
}

test("a plan that was reviewed is written over by no worker, whoever asks the queue for another one", async () => {
  const { url } = await redisClient();
  const fleet = await fleetOf(1);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  const worker = await startedWorker(options, ["--plans", "plans"]);
  expect((await run(["fleet", "apply", "--yes"], options)).code).toBe(0);
  await writeFile(join(fleet.cwd, "project/tenon.yaml"), PROJECT.replace("192.0.2.1", "192.0.2.9"));
  const reviewed = await run(["fleet", "plan", "--out", "plans"], options);
  expect([reviewed.code, reviewed.stdout]).toEqual([0, expect.stringContaining("0 to add, 1 to change, 0 to destroy")]);
  const file = await readFile(join(fleet.cwd, "plans/a1.plan"), "utf8");
  const [account] = fleet.accounts as [Account];
  const isThere = await addedByHand(account);
  // Whoever has the fleet file and the queue, but neither a token nor the folder of plans.
  const other = await folder({});
  for (const name of ["fleet.yaml", "project/tenon.yaml"]) await cp(join(fleet.cwd, name), join(other, name));
  const asked = await run(["fleet", "plan", "--out", "plans"], { cwd: other, env: { TENON_QUEUE: url } });
  expect([asked.code, await readdir(join(other, "plans"))]).toEqual([1, []]);
  await worker.untilSaid(/a1: plan: 1 to change, 1 to destroy/);
  expect(await readFile(join(fleet.cwd, "plans/a1.plan"), "utf8")).toBe(file);
  const applied = await run(["fleet", "apply", "--plan", "plans", "--yes"], options);
  expect([applied.code, applied.stdout]).toEqual([5, expect.stringContaining("not within the reviewed one")]);
  expect(await isThere()).toBe(true);
});

test("two reviews of a fleet at a time have a folder each, and an apply is bound by the plans of its own", async () => {
  const { url } = await redisClient();
  const fleet = await fleetOf(1);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  await startedWorker(options, ["--plans", "plans"]);
  expect((await run(["fleet", "apply", "--yes"], options)).code).toBe(0);
  await writeFile(join(fleet.cwd, "project/tenon.yaml"), PROJECT.replace("192.0.2.1", "192.0.2.9"));
  const plan = (review: string) => run(["fleet", "plan", "--out", review, "--plans", "plans"], options);
  const apply = (review: string) => run(["fleet", "apply", "--plan", review, "--yes"], options);
  expect((await plan("first")).stdout).toContain("0 to add, 1 to change, 0 to destroy");
  const [account] = fleet.accounts as [Account];
  const isThere = await addedByHand(account);
  expect((await plan("second")).stdout).toContain("0 to add, 1 to change, 1 to destroy");
  expect([(await apply("first")).code, await isThere()]).toEqual([5, true]);
  expect([(await apply("second")).code, await isThere()]).toEqual([0, false]);
});

test("what is shown of a plan to be reviewed is what its file holds, whatever a worker is made to report", async () => {
  const { url, client } = await redisClient();
  const fleet = await fleetOf(1);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  const worker = await startedWorker(options, ["--plans", "plans"]);
  const honest = await run(["fleet", "plan", "--out", "plans"], options);
  const digest = await planDigestOf(join(fleet.cwd, "plans/a1.plan"));
  await stopped(worker);
  const forged = { type: "ran", code: 0, headline: "no changes", text: "", markup: "plain", document: null };
  const reported = async (plan: string | null, text = "") => {
    await client.del(...(await client.keys(`${KEY}run/*`)));
    const asking = run(["fleet", "plan", "--out", "plans"], options);
    let key: string | undefined;
    while (key === undefined) key = (await client.keys(`${KEY}run/*`))[0];
    const state = JSON.stringify({ state: "done", outcome: { ...forged, text }, plan });
    await client.hset(`${KEY}state/${key.split("/")[1]}/a1`, "v", 1, "d", state);
    return asking;
  };
  const shown = await reported(digest);
  expect([shown.code, shown.stdout]).toEqual([0, honest.stdout]);
  // Nor is anything shown beside it.
  const beside = await reported(digest, `No changes.\n${honest.stdout}`);
  expect([beside.code, beside.stdout]).toEqual([0, honest.stdout]);
  expect(shown.stdout).toMatch(/\+ www +A +192\.0\.2\.1\n[\s\S]*a1 {2}3 to add\n/);
  // One that no worker has kept, and none.
  for (const plan of ["0".repeat(64), null]) {
    const none = await reported(plan);
    expect([none.code, none.stdout]).toEqual([1, expect.stringContaining("no plan of the worker is in plans")]);
    expect(await readdir(join(fleet.cwd, "plans"))).toEqual(["by-digest"]);
  }
});

test("a token that the fleet file named once is hidden for good", async () => {
  const { url } = await redisClient();
  const { cwd, env, accounts } = await fleetOf(2);
  const bin = await folder({ git: '#!/bin/sh\nenv >> "$(dirname "$0")/seen"\nexit 1\n' });
  await chmod(join(bin, "git"), 0o755);
  const options = { cwd, env: { ...env, TENON_QUEUE: url, PATH: `${bin}:${process.env["PATH"]}` } };
  await startedWorker(options, []);
  // As an editor that is about to write the rest leaves it.
  await writeFile(join(cwd, "fleet.yaml"), fileOf(accounts.slice(0, 1)));
  expect((await run(["fleet", "apply", "--yes"], options)).code).toBe(0);
  expect(await readFile(join(bin, "seen"), "utf8")).not.toMatch(/emulator-token|TOKEN_A|TENON_/);
});

test("what is no address of a queue is not repeated: it may hold a password", async () => {
  const { cwd, env } = await fleetOf(1);
  for (const url of [
    "amqp://me:secret-word@host",
    "secret-word",
    "redis:secret-word",
    "redis://me:secret-word@127.0.0.1:1",
  ]) {
    for (const args of [["worker"], ["validate"], ["prepare"]]) {
      const { stdout, stderr } = await run(["fleet", ...args], { cwd, env: { ...env, TENON_QUEUE: url } });
      expect([url, stdout + stderr]).toEqual([url, expect.not.stringContaining("secret-word")]);
    }
  }
});
