/**
 * The emulator under load. By default: requests per second beside a bare fastify route that answers a body of the same size,
 * in one run, in turns. `--quick`: fewer of them. `--memory`: what a million requests and a million records take. Build first.
 */

import { fork } from "node:child_process";
import { once } from "node:events";
import { load, one, request } from "./load.mjs";

const LANES = 32;
const FIRST_DOMAIN = 30_001;
const FIRST_RECORD = 400_001;
const ZONES = 1_000;
const RECORDS_PER_ZONE = 200;
const MIB = 1024 ** 2;

const quick = process.argv.includes("--quick");
const ROUNDS = quick ? 3 : 7;
const BATCH = quick ? 3_000 : 10_000;

const RECORD = { type: "A", name: "made", target: "192.0.2.77", ttl_sec: 300 };
const LARGE_ZONE_RECORDS = 12_000;

/** The one before the last of a large zone's pages. The seed puts that zone last. */
const LARGE_PAGE = `/v4/domains/${FIRST_DOMAIN + ZONES}/records?page=119`;
const ONE_ZONE = `/v4/domains/${FIRST_DOMAIN}/records`;

const CASES = [
  {
    name: "get-record",
    method: "GET",
    goal: 1 / 3,
    of: (n) => [`${ONE_ZONE}/${FIRST_RECORD + (n % RECORDS_PER_ZONE)}`],
  },
  { name: "page-of-100-records", method: "GET", goal: 1 / 3, share: 0.2, of: () => [ONE_ZONE] },
  { name: "same-of-12000-records", method: "GET", goal: 1 / 3, share: 0.2, of: () => [LARGE_PAGE] },
  { name: "page-of-500-domains", method: "GET", goal: 1 / 3, share: 0.05, of: () => ["/v4/domains?page_size=500"] },
  {
    ...{ name: "records-by-filter", method: "GET", goal: 1 / 3 },
    of: (n) => [ONE_ZONE, { headers: { "x-filter": `{"name":"host-${n % RECORDS_PER_ZONE}"}` } }],
  },
  {
    ...{ name: "domains-by-filter", method: "GET", goal: 1 / 3, share: 0.2 },
    of: () => ["/v4/domains", { headers: { "x-filter": '{"tags":"tenth"}' } }],
  },
  {
    ...{ name: "post-record", method: "POST", goal: 1 / 6, keep: true },
    of: (n) => [`/v4/domains/${FIRST_DOMAIN + (n % ZONES)}/records`, { body: { ...RECORD, name: `made-${n}` } }],
  },
  {
    ...{ name: "put-record", method: "PUT", goal: 1 / 6 },
    of: (n) => [`${ONE_ZONE}/${FIRST_RECORD + (n % RECORDS_PER_ZONE)}`, { body: { target: `192.0.2.${n % 256}` } }],
  },
  {
    ...{ name: "delete-record", method: "DELETE", goal: 1 / 6 },
    of: (_n, gone) => {
      const { domain, id } = gone.pop();
      return [`/v4/domains/${domain}/records/${id}`];
    },
  },
];

/** The records that the creating case left for the deleting one. */
const made = [];

const VPC = { label: "made", region: "us-east" };
const MIXED = [
  { of: () => ["GET", `${ONE_ZONE}/${FIRST_RECORD}`] },
  { of: () => ["GET", `${ONE_ZONE}?page_size=25`] },
  { of: (_id, lane) => ["POST", ONE_ZONE, { body: { ...RECORD, name: `lane-${lane}` } }] },
  { of: (id) => ["PUT", `${ONE_ZONE}/${id}`, { body: { target: "192.0.2.78" } }] },
  { of: (id) => ["GET", `${ONE_ZONE}/${id}`] },
  { of: (id) => ["DELETE", `${ONE_ZONE}/${id}`] },
  { of: (id) => ["GET", `/v4/unknown/${id}`], status: 404 },
  { of: () => ["POST", "/v4/vpcs", { body: VPC }] },
  { of: (id) => ["DELETE", `/v4/vpcs/${id}`] },
  { of: () => ["POST", ONE_ZONE, { body: { ...RECORD, target: "nonsense" } }], status: 400 },
];

if (process.argv.includes("--memory")) {
  await measureZones();
  await measureRequests(quick ? 200_000 : 1_000_000);
} else {
  await measureSpeed();
}

/** @returns `ask(action, input)` and `close()` */
function startChild() {
  const child = fork(new URL("server.mjs", import.meta.url), { execArgv: ["--expose-gc", ...profiling()] });
  child.once("exit", (code) => {
    if (child.connected || code !== 0) throw new Error(`The server ended: ${code}`);
  });
  const ask = async (action, input) => {
    child.send({ action, input });
    const [answer] = await once(child, "message");
    return answer;
  };
  return { ask, close: () => child.disconnect() };
}

/** `--profile`: the servers write a CPU profile each, in the working directory. */
function profiling() {
  return process.argv.includes("--profile") ? ["--cpu-prof"] : [];
}

async function measureSpeed() {
  const emulator = startChild();
  const floor = startChild();
  try {
    const { port } = await emulator.ask("emulator", {
      zones: ZONES,
      records: RECORDS_PER_ZONE,
      large: LARGE_ZONE_RECORDS,
    });
    const answers = await sampleAnswers(port);
    const bare = await floor.ask("floor", { answers });
    const sides = { emulator: { ...emulator, port }, floor: { ...floor, port: bare.port } };
    process.stdout.write(
      "case                   bytes  emulator/s    floor/s  ratio   goal  server CPU: ratio, busy\n",
    );
    const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
    for (const item of CASES) if (only === undefined || item.name.startsWith(only)) await compare(item, answers, sides);
  } finally {
    emulator.close();
    floor.close();
  }
}

/** What the emulator answers to the first request of each case, for the floor to answer as well. */
async function sampleAnswers(port) {
  const answers = { GET: {}, POST: {}, PUT: {}, DELETE: {} };
  const made = [];
  for (const item of CASES) {
    const [path, options] = item.of(0, made);
    const { status, body } = await one(port, request(item.method, path, options));
    if (status !== 200) throw new Error(`${item.name}: ${status} ${JSON.stringify(body)}`);
    if (item.keep) made.push({ domain: FIRST_DOMAIN, id: body.id });
    answers[item.method][item.name] = body;
  }
  return answers;
}

/** Rounds in turns; the median of their ratios. */
async function compare(item, answers, { emulator, floor }) {
  const count = Math.round(BATCH * (item.share ?? 1));
  const onFloor = (n, gone) => [`/${item.name}/${n}`, ...item.of(n, gone).slice(1)];
  await round(floor, item.method, count / 4, onFloor, { made: [...made], keep: false });
  const rounds = [];
  for (let index = 0; index < ROUNDS + 1; index += 1) {
    const below = await round(floor, item.method, count, onFloor, { made: [...made], keep: false });
    const above = await round(emulator, item.method, count, item.of, { made, keep: item.keep });
    // The first round is the emulator's warm-up.
    if (index > 0) rounds.push({ above, below });
  }
  const at = (pick) => median(rounds.map(pick));
  const speed = at(({ above, below }) => above.perSecond / below.perSecond);
  const cpu = at(({ above, below }) => below.cpu / above.cpu);
  const bytes = JSON.stringify(answers[item.method][item.name]).length;
  const cells = [
    ...[item.name.padEnd(21), String(bytes).padStart(6)],
    ...[at(({ above }) => above.perSecond), at(({ below }) => below.perSecond)].map((n) => n.toFixed(0).padStart(10)),
    ...[speed.toFixed(2).padStart(6), item.goal.toFixed(2).padStart(6), speed >= item.goal ? "met   " : "MISSED"],
    ...[
      cpu.toFixed(2),
      `${at(({ above }) => above.busy * 100).toFixed(0)}%/${at(({ below }) => below.busy * 100).toFixed(0)}%`,
    ],
  ];
  process.stdout.write(`${cells.join(" ")}\n`);
}

/** @returns requests per second; the server's CPU microseconds per request; how busy a core the server was */
async function round(side, method, count, of, { made, keep }) {
  let left = count;
  const sentTo = [];
  const before = await side.ask("usage");
  const start = performance.now();
  const next = (lane) => {
    if (left <= 0) return null;
    left -= 1;
    if (keep) sentTo[lane] = FIRST_DOMAIN + (left % ZONES);
    return request(method, ...of(left, made));
  };
  await load(side.port, LANES, next, ({ lane, status, body }) => {
    if (status !== 200) throw new Error(`${method}: ${status} ${body()}`);
    if (keep) made.push({ domain: sentTo[lane], id: Number(/"id":(\d+)/.exec(body())[1]) });
  });
  const microseconds = (performance.now() - start) * 1000;
  const cpu = (await side.ask("usage")).microseconds - before.microseconds;
  return { perSecond: (count * 1e6) / microseconds, cpu: cpu / count, busy: cpu / microseconds };
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

async function measureZones() {
  const child = startChild();
  try {
    const { seconds } = await child.ask("emulator", { zones: 1_000, records: 1_000 });
    const { rss, heapUsed, maxRss } = await child.ask("memory");
    const figures = `heap ${mib(heapUsed)}, RSS ${mib(rss)}, at most ${mib(maxRss)} while loading the seed`;
    const verdict = rss < 1024 * MIB ? "met" : "MISSED";
    process.stdout.write(
      `1,000 zones of 1,000 records: ${figures}, in ${seconds.toFixed(1)} s; goal RSS < 1024 MiB: ${verdict}\n`,
    );
  } finally {
    child.close();
  }
}

/** Reads, refusals and objects that come and go; flat: no more after the last request than 10% above 200,000 requests. */
async function measureRequests(total) {
  const child = startChild();
  try {
    const { port } = await child.ask("emulator", { zones: 10, records: 100 });
    const samples = [];
    for (let done = 0; done < total; done += 100_000) {
      await mixedRequests(port, 100_000);
      const { rss, heapUsed } = await child.ask("memory");
      samples.push(heapUsed);
      process.stdout.write(`after ${done + 100_000} requests: heap ${mib(heapUsed)}, RSS ${mib(rss)}\n`);
    }
    const growth = samples.at(-1) / samples[1] - 1;
    const verdict = growth <= 0.1 ? "met" : "MISSED";
    process.stdout.write(
      `heap after the last beside after 200,000: ${(growth * 100).toFixed(1)}%; goal at most 10%: ${verdict}\n`,
    );
  } finally {
    child.close();
  }
}

async function mixedRequests(port, count) {
  const steps = new Array(LANES).fill(0);
  const ids = new Array(LANES).fill(0);
  let left = count;
  const next = (lane) => {
    // A lane ends where its objects are gone again.
    if (left <= 0 && steps[lane] % MIXED.length === 0) return null;
    left -= 1;
    return request(...MIXED[steps[lane] % MIXED.length].of(ids[lane], lane));
  };
  await load(port, LANES, next, ({ lane, status, body }) => {
    const step = MIXED[steps[lane] % MIXED.length];
    if (status !== (step.status ?? 200)) throw new Error(`${step.of(ids[lane], lane)}: ${status} ${body()}`);
    if (step.of(0, 0)[0] === "POST" && status === 200) ids[lane] = JSON.parse(body()).id;
    steps[lane] += 1;
  });
}

function mib(bytes) {
  return `${(bytes / MIB).toFixed(0)} MiB`;
}
