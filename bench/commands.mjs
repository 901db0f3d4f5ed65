/**
 * What each command costs as a process of its own, beside the least that it could cost, in one run, in turns: ratios of medians, written to
 * RESULTS.md. `--quick`: fewer rounds and no large sizes; nothing is written. `--only=TEXT`: the measures whose name holds it, which replace
 * their rows with `--update`. Build first.
 */

import { execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createGzip } from "node:zlib";
import { findProgram, runProgram } from "./program.mjs";

const DIST = process.env.TENON_DIST ?? new URL("../dist/", import.meta.url).href;
const MAIN = fileURLToPath(new URL("bin/tenon.js", DIST));
const STANDALONE = fileURLToPath(new URL("standalone/tenon", DIST));
const FLOORS = fileURLToPath(new URL("floors.mjs", import.meta.url));
const USAGE = fileURLToPath(new URL("usage.cjs", import.meta.url));
const RESULTS = fileURLToPath(new URL("RESULTS.md", import.meta.url));

const quick = process.argv.includes("--quick");
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length) ?? "";

/** A start takes so little that fewer give medians as coarse as what is to be seen. */
const START_ROUNDS = 61;
const CREATES = 12_000;
const CHANGES = 10_000;
const UPLOAD_BYTES = 4 * 1024 ** 3;
/** Zeros at once, of a file that is made. */
const BLOCK_BYTES = 1024 ** 2;
/** What 130 MB are. */
const UPLOAD_MEMORY_MEBIBYTES = 124;
/** As many as a project may have. A domain counts as two more. */
const PROJECT_RECORDS = 300_000;
/** A third of what a million records took before manifests were read in one pass: 129 s and 2.5 GB. */
const GOAL_SECONDS_A_RECORD = 129 / 3 / 1e6;
const GOAL_MEBIBYTES_A_RECORD = 2.5e9 / 3 / 1e6 / 1024 ** 2;
/** What V8 may use of memory for objects that live longer; by itself it lets them grow to several times what is still needed. */
const SMALL_HEAP_MEBIBYTES = 140;
const TOKEN = { headers: { authorization: "Bearer emulator-token" } };

const folder = mkdtempSync(join(tmpdir(), "tenon-bench-"));
const children = [];
const rows = [];
try {
  await start();
  await standalone();
  await validate();
  await validateLargest();
  await plans();
  await changedPlans();
  await applies();
  await upload();
  if (!quick && (only === "" || process.argv.includes("--update"))) writeResults();
} finally {
  for (const child of children) child.disconnect();
  rmSync(folder, { recursive: true, force: true });
}

async function start() {
  const minimal = project("minimal", [{ domain: "a.example", records: 1 }]);
  const node = () => run(["-e", "0"]);
  await measure({
    name: "--version",
    goal: 1.3,
    rounds: START_ROUNDS,
    floor: node,
    of: () => tenon(["--version"], minimal),
  });
  await measure({
    ...{ name: "validate, minimal", goal: 2.3, rounds: START_ROUNDS, floor: node },
    of: () => tenon(["validate"], minimal),
  });
  if (selected("plan, minimal")) {
    const service = await emulator([{ domain: "a.example", records: 1 }]);
    const of = () => tenon(["plan"], minimal, service);
    await measure({ name: "plan, minimal", goal: 3, rounds: START_ROUNDS, floor: node, of, memoryGoalMebibytes: 75 });
  }
  await measure({ name: "emulator until it listens", goal: 3, rounds: START_ROUNDS, floor: node, of: listening });
}

/** Beside the same commands of the package, which the Node of this run executes. */
async function standalone() {
  const minimal = project("standalone", [{ domain: "a.example", records: 1 }]);
  for (const [words, goal] of [
    [["--version"], 1],
    [["validate"], 1],
    [["plan"], 1],
  ]) {
    const name = `${words[0]}, ${words[0] === "--version" ? "" : "minimal, "}standalone executable`;
    if (!selected(name)) continue;
    if (!existsSync(STANDALONE)) throw new Error(`${STANDALONE} is not there: npm run build:binary`);
    const service = words[0] === "plan" ? await emulator([{ domain: "a.example", records: 1 }]) : undefined;
    const of = () => tenon(words, minimal, service, STANDALONE);
    await measure({ name, goal, rounds: START_ROUNDS, floor: () => tenon(words, minimal, service), of });
  }
}

async function validate() {
  for (const [records, goal, rounds] of [
    [12_000, 0.9, 7],
    [100_000, 0.6, 3],
    // Nearly the largest file that is read.
    [150_000, 0.6, 3],
  ]) {
    const name = `validate, ${records.toLocaleString("en")} records`;
    if (!selected(name) || (quick && records > 100_000)) continue;
    const zones = Array.from({ length: Math.ceil(records / 10_000) }, (_, index) => ({
      ...{ domain: `zone-${index}.example`, records: Math.min(records, 10_000) },
    }));
    const directory = project(`validate-${records}`, zones);
    const floor = () => run([FLOORS, "parse-document", join(directory, "tenon.yaml")]);
    await measure({ name, goal, rounds, floor, of: () => tenon(["validate"], directory) });
  }
}

/** Three files, for one has 8 MiB at most. */
async function validateLargest() {
  const name = `validate, ${PROJECT_RECORDS.toLocaleString("en")} records in 3 files`;
  const small = `${name}, heap of ${SMALL_HEAP_MEBIBYTES} MiB`;
  if (quick || !(selected(name) || selected(small))) return;
  const domains = 30;
  const records = PROJECT_RECORDS / domains - 2;
  const zones = Array.from({ length: domains }, (_, index) => ({ domain: `zone-${index}.example`, records }));
  const directory = project("validate-largest", []);
  const parts = [zones.slice(0, 10), zones.slice(10, 20), zones.slice(20)];
  const files = parts.map((part, index) => join(project(`validate-largest/part-${index}`, part), "tenon.yaml"));
  writeFileSync(join(directory, "tenon.yaml"), "tenon: 1\nfiles: [part-*/tenon.yaml]\n");
  const measured = {
    ...{ goal: null, rounds: 3 },
    secondsGoal: PROJECT_RECORDS * GOAL_SECONDS_A_RECORD,
    memoryGoalMebibytes: Math.round(PROJECT_RECORDS * GOAL_MEBIBYTES_A_RECORD),
    floor: () => run([FLOORS, "parse-document", ...files]),
  };
  if (selected(name)) await measure({ ...measured, name, of: () => tenon(["validate"], directory) });
  if (!selected(small)) return;
  const words = [`--max-old-space-size=${SMALL_HEAP_MEBIBYTES}`, MAIN, "validate"];
  await measure({ ...measured, name: small, of: () => run(words, directory) });
}

async function plans() {
  for (const [zones, records] of [
    [200, 20],
    [1, 12_000],
    [2_000, 50],
  ]) {
    const sizes = `${zones.toLocaleString("en")} × ${records.toLocaleString("en")}`;
    const name = `plan without changes, ${sizes}`;
    if (!selected(name)) continue;
    const all = Array.from({ length: zones }, (_, index) => ({ domain: `zone-${index}.example`, records }));
    const directory = project(`plan-${zones}`, all);
    const service = await emulator(all);
    const pairs = [[], []];
    await tenon(["plan"], directory, service);
    for (let round = 0; round < (quick ? 3 : 5); round += 1) {
      const floor = await run([FLOORS, "reads", service, join(directory, "tenon.yaml")]);
      const parts = [await run([FLOORS, "lists", service]), await tenon(["validate"], directory)];
      const own = await tenon(["plan"], directory, service);
      pairs[0].push([floor, own]);
      pairs[1].push([floor, together(parts)]);
    }
    report({ name, goal: 1.8 }, pairs[0], false);
    report({ name: `lists and validate alone, ${sizes}`, goal: null }, pairs[1], false);
  }
}

/** Every record of every zone has another target. What is saved is what the floor writes. Each round serves all rows. */
async function changedPlans() {
  const name = `plan, ${(2_000 * 50).toLocaleString("en")} changes in 2,000 zones`;
  if (!selected(name) || quick) return;
  const [small, large] = [await changedPlan(500), await changedPlan(2_000)];
  const rounds = [];
  for (let round = 0; round < 3; round += 1) {
    const floors = [await large.write(), await large.readAndWrite(), await small.plan()];
    const own = await large.plan();
    const alone = [floors[0], together([await large.planUnchanged(), floors[0]])];
    rounds.push([...floors.map((floor) => [floor, own]), alone]);
  }
  const pairsOf = (index) => rounds.map((pairs) => pairs[index]);
  report({ name, goal: 2 }, pairsOf(0), false);
  report({ name: `${name}, beside reads and JSON`, goal: null }, pairsOf(1), false);
  report({ name: `${name}, each beside each of 25,000 in 500`, goal: 1.1, times: 4 }, pairsOf(2), false);
  report({ name: "plan without changes and JSON alone, 2,000 zones", goal: null }, pairsOf(3), false);
}

async function changedPlan(count) {
  const zones = Array.from({ length: count }, (_, index) => ({ domain: `zone-${index}.example`, records: 50 }));
  const changed = zones.map((zone) => ({ ...zone, changed: zone.records }));
  const [directory, unchanged] = [project(`changed-${count}`, changed), project(`unchanged-${count}`, zones)];
  const service = await emulator(zones);
  const [saved, copy] = [join(directory, "saved.plan"), join(directory, "copy.json")];
  const plan = () => tenon(["plan", "--out", "saved.plan"], directory, service);
  await plan();
  const manifest = join(directory, "tenon.yaml");
  return {
    ...{ plan, planUnchanged: () => tenon(["plan"], unchanged, service) },
    ...{ write: () => run([FLOORS, "write-json", saved, copy]) },
    readAndWrite: () => run([FLOORS, "reads-and-write-json", service, manifest, saved, copy]),
  };
}

/** Each round makes, changes and deletes the same records, and so does its floor in a zone of its own. */
async function applies() {
  const latencies = quick ? [0] : [0, 20];
  for (const latencyMilliseconds of latencies) {
    const at = latencyMilliseconds === 0 ? "" : ` at ${latencyMilliseconds} ms latency`;
    const names = ["create", "change", "delete"].map((what) => `apply, ${what} records${at}`);
    if (!names.some(selected)) continue;
    const zones = [
      { domain: "bench.example", records: 0 },
      { domain: "floor.example", records: 0 },
      { domain: "journal.example", records: 0 },
    ];
    const service = await emulator(zones, latencyMilliseconds);
    const { data } = await (await fetch(`${service}/domains`, TOKEN)).json();
    const [floorId, journalId] = ["floor.example", "journal.example"].map((name) =>
      String(data.find(({ domain }) => domain === name).id),
    );
    const states = [
      [
        "creates",
        String(CREATES),
        project(`create-${latencyMilliseconds}`, [{ domain: "bench.example", records: CREATES }]),
      ],
      [
        ...["changes", String(CHANGES)],
        project(`change-${latencyMilliseconds}`, [{ domain: "bench.example", records: CREATES, changed: CHANGES }]),
      ],
      ["deletes", "", project(`delete-${latencyMilliseconds}`, [{ domain: "bench.example", records: 0 }])],
    ];
    const pairs = states.map(() => []);
    const parts = states.map(() => []);
    const journal = join(folder, "floor.jsonl");
    for (let round = 0; round < 3; round += 1) {
      for (const [index, [what, count, directory]] of states.entries()) {
        const floor = await run([FLOORS, what, service, floorId, count]);
        const plan = await tenon(["plan"], directory, service);
        const journalled = await run([FLOORS, what, service, journalId, count, journal]);
        const flags = ["apply", "--yes", "--concurrency", "8", "--allow", "bulk=domain/bench.example"];
        pairs[index].push([floor, await tenon(flags, directory, service)]);
        parts[index].push([floor, together([plan, journalled])]);
      }
    }
    for (const [index, name] of names.entries()) {
      report({ name, goal: 1.6, wallGoal: 1.15 }, pairs[index], at !== "");
      const alone = `plan, requests and journal alone, ${name.slice("apply, ".length)}`;
      report({ name: alone, goal: null, wallGoal: null }, parts[index], at !== "");
    }
  }
}

/** Both send the same file to a target that only counts. */
async function upload() {
  const name = "upload of 4 GB";
  if (!selected(name) || quick) return;
  const [curl, gzip] = [findProgram("curl"), findProgram("gzip")];
  const { bavail, bsize } = statfsSync(folder);
  const missing = [
    ...(curl === undefined ? ["curl (Debian package curl)"] : []),
    ...(gzip === undefined ? ["gzip"] : []),
    ...(bavail * bsize < 2 * UPLOAD_BYTES ? [`8 GB of room in ${tmpdir()}`] : []),
  ];
  if (missing.length > 0) {
    process.stdout.write(`${name} is left out: missing is ${missing.join(" and ")}\n`);
    return;
  }
  const { port } = await server({ action: "sink" });
  const service = `http://127.0.0.1:${port}/v4`;
  const directory = join(folder, "upload");
  mkdirSync(directory);
  const entry = "{ label: bench, upload: { file: disk.img.gz, region: us-east } }";
  writeFileSync(join(directory, "tenon.yaml"), `tenon: 1\nimages:\n  - ${entry}\n`);
  const file = join(directory, "disk.img.gz");
  const zeros = Buffer.alloc(BLOCK_BYTES);
  const blocks = Array.from({ length: UPLOAD_BYTES / BLOCK_BYTES }, () => zeros);
  // Not compressed, so that all of it is sent.
  await pipeline(blocks, createGzip({ level: 0, chunkSize: BLOCK_BYTES }), createWriteStream(file));
  if (statSync(file).size < UPLOAD_BYTES) throw new Error(`${file} is smaller than what is in it`);
  const begin = async () => {
    const headers = { ...TOKEN.headers, "content-type": "application/json" };
    const body = JSON.stringify({ label: "floor", region: "us-east" });
    const answer = await fetch(`${service}/images/upload`, { method: "POST", headers, body });
    return (await answer.json()).upload_to;
  };
  const send = async () => {
    const type = "content-type: application/octet-stream";
    return runProgram(curl, ["--silent", "--show-error", "--fail", "-H", type, "-T", file, await begin()]);
  };
  const of = async () => {
    const { data } = await (await fetch(`${service}/images`, TOKEN)).json();
    const { id } = data.find(({ label }) => label === "bench") ?? {};
    if (id !== undefined) await fetch(`${service}/images/${id}`, { ...TOKEN, method: "DELETE" });
    return tenon(["apply", "--yes"], directory, service);
  };
  const pairs = [[], [], [], []];
  for (let round = 0; round < 3; round += 1) {
    const sent = await send();
    const checked = await runProgram(gzip, ["-t", file]);
    const hashed = await run([FLOORS, "hash", file]);
    const bare = await run([FLOORS, "check-and-upload", file, await begin()]);
    const own = await of();
    const both = { ...sent, seconds: sent.seconds + checked.seconds };
    for (const [index, floor] of [sent, both, bare, hashed].entries()) pairs[index].push([floor, own]);
  }
  report({ name, goal: 2, memoryGoalMebibytes: UPLOAD_MEMORY_MEBIBYTES }, pairs[0], false);
  report({ name: `${name}, beside gzip -t and curl -T`, goal: 1 }, pairs[1], false);
  report({ name: `${name}, beside a bare check and upload`, goal: null }, pairs[2], false);
  report({ name: `${name}, beside SHA-256 once`, goal: null }, pairs[3], false);
  rmSync(file);
}

function selected(name) {
  return name.includes(only);
}

/** The floor first, then the command, round for round, after one of each that does not count. */
async function measure({ rounds, floor, of, ...row }) {
  if (!selected(row.name)) return;
  const count = quick ? Math.min(rounds, 3) : rounds;
  const pairs = [];
  if (rounds > 1) {
    await floor();
    await of();
  }
  for (let round = 0; round < count; round += 1) pairs.push([await floor(), await of()]);
  report(row, pairs, false);
}

/**
 * @param isWall whether the clock on the wall is compared, and not the CPU's
 * @param times how many times as much as the floor the command has to do
 */
function report({ goal, wallGoal, times = 1, ...labels }, pairs, isWall) {
  const middle = (side, what) => median(pairs.map((pair) => pair[side][what]));
  const what = isWall ? "wallSeconds" : "seconds";
  const [floor, own] = [middle(0, what), middle(1, what)];
  const mebibytes = [middle(0, "mebibytes"), middle(1, "mebibytes")];
  const row = { ...labels, floor, own, ratio: own / floor / times, goal: isWall ? wallGoal : goal, mebibytes };
  rows.push(row);
  process.stdout.write(`${lineOf(row)}\n`);
}

/** What several processes have cost, one after another. */
function together(parts) {
  const sum = (what) => parts.reduce((total, part) => total + part[what], 0);
  const mebibytes = Math.max(...parts.map((part) => part.mebibytes));
  return { seconds: sum("seconds"), wallSeconds: sum("wallSeconds"), mebibytes };
}

function lineOf({ name, floor, own, ratio, goal, mebibytes, secondsGoal, memoryGoalMebibytes }) {
  const goals = [
    ...(goal === null ? [] : [goal]),
    ...(secondsGoal === undefined ? [] : [`${secondsGoal.toFixed(1)} s`]),
    ...(memoryGoalMebibytes === undefined ? [] : [`${memoryGoalMebibytes} MiB`]),
  ];
  const cells = [name, `${floor.toFixed(3)} s`, `${own.toFixed(3)} s`, ratio.toFixed(2), goals.join(", ") || "–"];
  return `| ${[...cells, `${mebibytes.map((size) => (size === null ? "–" : Math.round(size))).join(" · ")}`].join(" | ")} |`;
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function tenon(words, cwd, service, executable) {
  const variables = service === undefined ? {} : { TENON_BASE_URL: service, TENON_TOKEN: "emulator-token" };
  return executable === undefined ? run([MAIN, ...words], cwd, variables) : run(words, cwd, variables, executable);
}

/**
 * A process of Node from its start to its end.
 * @param program Node, or an executable that holds it
 * @returns CPU and wall in seconds, peak memory in MiB
 */
async function run(words, cwd = folder, variables = {}, program = process.execPath) {
  const usage = join(folder, "usage.json");
  const watched = { NODE_OPTIONS: `--require=${USAGE}`, TENON_BENCH_USAGE: usage };
  const env = { ...process.env, NO_COLOR: "1", ...watched, ...variables };
  const begin = performance.now();
  const child = spawn(program, words, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  const [said, [code]] = await Promise.all([child.stderr.setEncoding("utf8").toArray(), once(child, "close")]);
  if (code !== 0) throw new Error(`${words.join(" ")}: exit code ${code}\n${said.join("")}`);
  return { ...JSON.parse(readFileSync(usage, "utf8")), wallSeconds: (performance.now() - begin) / 1000 };
}

async function listening() {
  const usage = join(folder, "usage.json");
  const env = { ...process.env, TENON_BENCH_USAGE: usage };
  const begin = performance.now();
  const child = spawn(process.execPath, ["-r", USAGE, MAIN, "emulate"], { env, stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const wallSeconds = (performance.now() - begin) / 1000;
  child.kill("SIGTERM");
  await once(child, "close");
  return { ...JSON.parse(readFileSync(usage, "utf8")), wallSeconds };
}

/** @returns its base URL */
async function emulator(zones, latencyMilliseconds = 0) {
  const domains = zones.map(({ domain, records }) => ({
    ...{ domain, type: "master", soa_email: "h@example.com" },
    records: Array.from({ length: records }, (_, index) => recordOf(index, 0)),
  }));
  const { port } = await server({ action: "seeded", input: { seed: { domains }, latencyMilliseconds } });
  return `http://127.0.0.1:${port}/v4`;
}

async function server(message) {
  const child = fork(new URL("server.mjs", import.meta.url));
  children.push(child);
  child.send(message);
  const [answer] = await once(child, "message");
  return answer;
}

function recordOf(index, changed) {
  const last = index < changed ? 2 : 1;
  return { type: "A", name: `host-${index}`, target: `192.0.2.${last}`, ttl_sec: 300 };
}

/** A project of these zones in a folder of its own. @returns the folder */
function project(name, zones) {
  const directory = join(folder, name);
  mkdirSync(directory);
  const entries = zones.map(({ domain, records, changed = 0 }) => {
    const lines = Array.from({ length: records }, (_, index) => {
      const { name, target } = recordOf(index, changed);
      return `      - { type: A, name: ${name}, target: ${target} }\n`;
    });
    return `  - domain: ${domain}\n    records:${lines.length === 0 ? " []\n" : `\n${lines.join("")}`}`;
  });
  const defaults = "defaults:\n  domain: { type: master, soa_email: h@example.com }\n  record: { ttl_sec: 300 }\n";
  writeFileSync(join(directory, "tenon.yaml"), `tenon: 1\n${defaults}domains:\n${entries.join("")}`);
  return directory;
}

function writeResults() {
  const text = readFileSync(RESULTS, "utf8");
  const [before, table, after] = text.split(/(?<=<!-- begin -->\n)|(?=<!-- end -->)/);
  const known = only === "" ? [] : table.split("\n").filter((line) => /^\| (?!measure)/.test(line));
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  const runs = only === "" ? "one run" : "rows of several runs, each beside its own floor; the last";
  const machine = `${cpus()[0].model}, ${cpus().length} cores, Node ${process.version}, tenon ${commit}; ${runs}, beside other work on the machine`;
  const head = "| measure | floor | tenon | ratio | goal | peak memory of both, MiB |\n|---|---|---|---|---|---|\n";
  writeFileSync(RESULTS, `${before}${machine}\n\n${head}${merged(known).join("\n")}\n${after}`);
}

/** Each row in the place of the one of its name; a new one behind the one that was measured before it. */
function merged(known) {
  const lines = [...known];
  const placeOf = ({ name }) => lines.findIndex((line) => line.startsWith(`| ${name} |`));
  for (const [index, row] of rows.entries()) {
    const place = placeOf(row);
    if (place !== -1) lines[place] = lineOf(row);
    else lines.splice(index === 0 ? lines.length : placeOf(rows[index - 1]) + 1, 0, lineOf(row));
  }
  return lines;
}
