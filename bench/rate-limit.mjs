/**
 * An apply of 1,000 records against a service that takes 100 requests in 10 seconds, in real time and real processes: how many
 * requests are refused, and the time beside the least that the limit allows.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const DIST = process.env.TENON_DIST ?? new URL("../dist/", import.meta.url).href;
const MAIN = fileURLToPath(new URL("bin/tenon.js", DIST));

const RECORDS = Number(process.env.TENON_BENCH_RECORDS ?? 1_000);
const LIMIT = 100;
const WINDOW_SECONDS = 10;
const GOAL_RATIO = 1.15;
const GOAL_REFUSED = 0.01;

const folder = await mkdtemp(join(tmpdir(), "tenon-bench-"));
const log = join(folder, "requests.log");
const emulator = spawn(
  process.execPath,
  [MAIN, "emulate", "--rate-limit", `${LIMIT}/${WINDOW_SECONDS}`, "--request-log", log],
  { stdio: ["ignore", "pipe", "inherit"] },
);
try {
  const [line] = await once(createInterface(emulator.stdout), "line");
  const env = { ...process.env, TENON_BASE_URL: line.split(" ").at(-1), TENON_TOKEN: "emulator-token" };
  await writeFile(join(folder, "tenon.yaml"), manifest());
  process.stdout.write(`${tail(await tenon(["plan"], env))}\n`);
  // What planning used of its window is over by then, as it is for a pipeline.
  await sleep(WINDOW_SECONDS);
  const before = (await requests()).length;
  const begin = performance.now();
  await tenon(["apply", "--yes"], env);
  const seconds = (performance.now() - begin) / 1000;
  judge((await requests()).slice(before), seconds);
} finally {
  emulator.kill();
  await rm(folder, { recursive: true, force: true });
}

function judge(sent, seconds) {
  const refused = sent.filter(({ status }) => status === 429).length;
  // The first window opens with the first request, and the last request waits for no reset after it.
  const least = (Math.ceil((sent.length - refused) / LIMIT) - 1) * WINDOW_SECONDS;
  const ratio = seconds / least;
  const share = refused / sent.length;
  process.stdout.write(`${sent.length} requests at ${LIMIT} per ${WINDOW_SECONDS} s\n`);
  process.stdout.write(`refused (429)  ${refused}  ${(share * 100).toFixed(2)}%  goal ${GOAL_REFUSED * 100}%\n`);
  process.stdout.write(
    `apply          ${seconds.toFixed(1)} s, least ${least} s, ratio ${ratio.toFixed(3)}, goal ${GOAL_RATIO}\n`,
  );
  if (share > GOAL_REFUSED || ratio > GOAL_RATIO) process.exitCode = 1;
}

function manifest() {
  const records = Array.from(
    { length: RECORDS },
    (_, n) => `      - { type: A, name: host-${n}, target: 192.0.2.1 }\n`,
  );
  return `tenon: 1
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    records:
${records.join("")}`;
}

async function requests() {
  return (await readFile(log, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function tenon(args, env) {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part) => {
    text += part;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`tenon ${args.join(" ")} ended with ${code}`);
  return text;
}

/** What the plan says of its requests. */
function tail(text) {
  return text.trimEnd().split("\n").slice(-4).join("\n");
}

function sleep(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
