/**
 * A fleet by workers on Redis, in real time and real processes: its time beside the least that the accounts' limits allow, with one, two and
 * four workers, its requests beside those of one process, and what a worker's memory is after very many runs. Needs redis-server.
 * `--only=time` or `--only=memory`: one of the two. `--runs=N`: after how many memory is measured last, a multiple of 100.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findProgram } from "./program.mjs";

const DIST = process.env.TENON_DIST ?? new URL("../dist/", import.meta.url).href;
const MAIN = fileURLToPath(new URL("bin/tenon.js", DIST));
const { startEmulator } = await import(new URL("lib/emulator.js", DIST).href);

const ACCOUNTS = 8;
/** A plan asks for the list of domains, and for the records of each. */
const ZONES = 259;
const LIMIT = 100;
const WINDOW_SECONDS = 10;
const GOAL_RATIO = 1.15;
/** Accounts that are run at a time: the machine is shared by all of the fleet's processes. */
const SLOTS = 8;
const HEAP = fileURLToPath(new URL("heap.cjs", import.meta.url));
const RUNS_FOR_MEMORY = Number(optionOf("runs") ?? 1_000);
const WARM_RUNS = 200;
const MEMORY_ACCOUNTS = 100;
const MEMORY_ZONES = 20;
const GOAL_GROWTH = 1.1;
const START_LOOK_MILLISECONDS = 50;
/** Half a minute. */
const MAX_START_LOOKS = 600;
const TOKEN = "emulator-token";
const RECORDS = [{ type: "A", name: "www", target: "192.0.2.1" }];

const only = optionOf("only") ?? "";
const redis = findProgram("redis-server");
if (redis === undefined) {
  process.stdout.write("fleet: redis-server is not installed, and is left out\n");
  process.exit();
}

const folder = mkdtempSync(join(tmpdir(), "tenon-bench-"));
const children = [];
const emulators = [];
try {
  const queue = await startRedis();
  if (only !== "memory") await timeBesideLimits(queue);
  if (only !== "time") await memoryOfWorker(queue);
} finally {
  for (const child of children) child.kill("SIGKILL");
  for (const emulator of emulators) await emulator.close();
  rmSync(folder, { recursive: true, force: true });
}

/** @returns undefined: it is not given */
function optionOf(name) {
  const start = `--${name}=`;
  return process.argv.find((argument) => argument.startsWith(start))?.slice(start.length);
}

async function timeBesideLimits(queue) {
  const accounts = await startAccounts(ACCOUNTS, ZONES, { requests: LIMIT, seconds: WINDOW_SECONDS });
  const alone = await run(accounts, ["fleet", "plan", "--workers", String(SLOTS)], {});
  report("one process", alone, alone.requests);
  for (const count of [1, 2, 4]) {
    // What the run before used of its windows is over by then, as it is for a pipeline.
    await sleep((WINDOW_SECONDS + 1) * 1000);
    const workers = await startWorkers(accounts, queue, count, SLOTS / count);
    report(
      `${count} ${count === 1 ? "worker" : "workers"}`,
      await run(accounts, ["fleet", "plan"], { TENON_QUEUE: queue }),
      alone.requests,
    );
    await stop(workers);
  }
}

function report(name, { seconds, requests, refused }, expected) {
  const sent = requests / ACCOUNTS;
  // The first window opens with the first request, and the last request waits for no reset after it.
  const least = (Math.ceil(sent / LIMIT) - 1) * WINDOW_SECONDS;
  const ratio = seconds / least;
  const line = `${seconds.toFixed(1)} s, least ${least} s, ratio ${ratio.toFixed(3)}, goal ${GOAL_RATIO}; ${requests} requests, ${refused} refused`;
  process.stdout.write(`fleet of ${ACCOUNTS}, ${name.padEnd(12)} ${line}\n`);
  if (ratio > GOAL_RATIO || requests !== expected) process.exitCode = 1;
}

/**
 * What lives on the heap says whether a worker keeps anything of the accounts that it is done with. The resident size is what a machine must
 * have: it moves with what the engine has not yet given back.
 */
async function memoryOfWorker(queue) {
  const accounts = await startAccounts(MEMORY_ACCOUNTS, MEMORY_ZONES, null);
  const [worker] = await startWorkers(accounts, queue, 1, SLOTS);
  let early = 0;
  const resident = [];
  for (let runs = MEMORY_ACCOUNTS; runs <= RUNS_FOR_MEMORY; runs += MEMORY_ACCOUNTS) {
    await tenon(accounts, ["fleet", "plan"], { TENON_QUEUE: queue });
    resident.push(residentMebibytes(worker.pid));
    const live = await liveMebibytes(worker);
    process.stderr.write(`${runs} runs: ${live.toFixed(1)} MiB live, ${resident.at(-1).toFixed(0)} resident\n`);
    if (runs <= WARM_RUNS) early = live;
    if (runs < RUNS_FOR_MEMORY) continue;
    const growth = live / early;
    const sizes = `${early.toFixed(1)} MiB live after ${WARM_RUNS} runs, ${live.toFixed(1)} after ${RUNS_FOR_MEMORY}`;
    const most = `at most ${Math.max(...resident).toFixed(0)} MiB resident`;
    process.stdout.write(`memory of a worker: ${sizes}, ratio ${growth.toFixed(2)}, goal ${GOAL_GROWTH}; ${most}\n`);
    if (growth > GOAL_GROWTH) process.exitCode = 1;
  }
  await stop([worker]);
}

async function liveMebibytes(worker) {
  const answer = once(worker, "message");
  worker.send("live");
  const [octets] = await answer;
  return octets / 1024 / 1024;
}

function residentMebibytes(pid) {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) / 1024;
}

// The fleet.

async function startAccounts(count, zones, rateLimit) {
  const own = mkdtempSync(join(folder, "fleet-"));
  const services = [];
  for (let at = 0; at < count; at += 1) {
    const domains = Array.from({ length: zones }, (_, zone) => ({
      domain: `z${zone}.a${at}.example`,
      records: RECORDS,
    }));
    const service = await startEmulator({ seed: { domains }, ...(rateLimit === null ? {} : { rateLimit }) });
    emulators.push(service);
    services.push(service);
  }
  const names = Array.from(
    { length: zones },
    (_, zone) => `  - { domain: "z${zone}.\${var.name}.example", use: [all] }\n`,
  );
  writeFileSync(
    join(own, "tenon.yaml"),
    `tenon: 1\nvariables: { name: {} }\nrecord_sets: { all: ${JSON.stringify(RECORDS)} }\ndefaults: { domain: { type: master, soa_email: a@a.example } }\ndomains:\n${names.join("")}`,
  );
  const entries = services.map(
    ({ baseUrl }, at) =>
      `  - { name: a${at}, base_url: "${baseUrl}", token: { env: TOKEN }, variables: { name: a${at} } }\n`,
  );
  writeFileSync(join(own, "fleet.yaml"), `fleet: 1\ndefaults: { project: . }\naccounts:\n${entries.join("")}`);
  return { own, services };
}

async function startWorkers({ own }, queue, count, slots) {
  const workers = [];
  for (let at = 0; at < count; at += 1) {
    const env = { ...process.env, TOKEN, TENON_QUEUE: queue };
    const words = ["fleet", "worker", "--workers", String(slots), "--prefix", prefixOf(own)];
    const flags = ["--expose-gc", "--require", HEAP];
    const stdio = ["ignore", "ignore", "pipe", "ipc"];
    const worker = spawn(process.execPath, [...flags, MAIN, ...words], { cwd: own, env, stdio });
    children.push(worker);
    const lines = createInterface(worker.stderr);
    await once(lines, "line");
    lines.on("line", () => {});
    workers.push(worker);
  }
  return workers;
}

async function stop(workers) {
  for (const worker of workers) {
    const end = once(worker, "exit");
    worker.kill("SIGTERM");
    await end;
  }
}

/** Fleets that share a server are kept apart by it. */
function prefixOf(own) {
  return own
    .slice(-6)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "x");
}

async function run(accounts, words, env) {
  const before = accounts.services.map(({ requests }) => requests.length);
  const begin = performance.now();
  await tenon(accounts, words, env);
  const seconds = (performance.now() - begin) / 1000;
  const sent = accounts.services.flatMap(({ requests }, at) => requests.slice(before[at]));
  const refused = sent.filter(({ status }) => status === 429).length;
  return { seconds, requests: sent.length - refused, refused };
}

async function tenon({ own }, words, env) {
  const queued = "TENON_QUEUE" in env ? ["--prefix", prefixOf(own)] : [];
  const child = spawn(process.execPath, [MAIN, ...words, ...queued], {
    ...{ cwd: own, env: { ...process.env, TOKEN, ...env }, stdio: ["ignore", "ignore", "pipe"] },
  });
  const [errors, [code]] = await Promise.all([child.stderr.setEncoding("utf8").toArray(), once(child, "exit")]);
  if (code !== 0) throw new Error(`tenon ${words.join(" ")}: exit code ${code}\n${errors.join("")}`);
}

async function startRedis() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  const words = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--maxmemory-policy", "noeviction"];
  children.push(spawn(redis, words, { stdio: "ignore" }));
  for (let looks = 0; !(await listens(port)); looks += 1) {
    if (looks >= MAX_START_LOOKS) throw new Error(`${redis} does not listen`);
    await sleep(START_LOOK_MILLISECONDS);
  }
  return `redis://127.0.0.1:${port}`;
}

function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
