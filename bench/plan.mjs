/** What loading, planning and rendering a zone cost, as ratios against a floor measured in the same run. Build first. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { allowedSeconds, loadProject, renderPlanText } from "../dist/index.js";
import { makePlan } from "../dist/plan/plan.js";
import { units } from "../dist/units/registry.js";

const ROUNDS = 3;
const OPTIONS = {
  goal: "apply",
  nowMilliseconds: 0,
  targets: [],
  excludes: [],
  consents: [],
  maxChanges: null,
  takeOwnershipFrom: [],
  account: null,
};

const folder = mkdtempSync(join(tmpdir(), "tenon-bench-"));
try {
  for (const size of [3_000, 12_000]) await measure(size);
} finally {
  rmSync(folder, { recursive: true });
}

async function measure(size) {
  const text = manifest(size);
  writeFileSync(join(folder, "tenon.yaml"), text);
  const load = () => loadProject({ directory: folder, allowedSeconds: allowedSeconds("node") });
  const { project } = await load();
  const live = { units: { zone: { items: [zone(size)], total: 1 } } };
  const plan = () => makePlan(project.desired, live, units, OPTIONS);
  const planned = plan();
  const floors = {
    yaml: await best(() => parse(text)),
    json: await best(() => JSON.parse(JSON.stringify(planned.changes))),
  };
  show(size, "load", await best(load), "the yaml parser alone", floors.yaml);
  show(size, "plan, 1% changed", await best(plan), "a JSON round trip of its changes", floors.json);
  const render = () => renderPlanText(planned, { colour: false });
  show(size, "render", await best(render), "a JSON round trip of its changes", floors.json);
}

function show(size, what, milliseconds, floor, floorMilliseconds) {
  const ratio = (milliseconds / floorMilliseconds).toFixed(1);
  const each = ((milliseconds * 1000) / size).toFixed(0);
  process.stdout.write(`${size} records: ${what}: ${ratio} times ${floor} (${each} µs a record)\n`);
}

async function best(run) {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    await run();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

function manifest(size) {
  const records = Array.from(
    { length: size },
    (_, index) => `      - { type: A, name: host-${index}, target: 192.0.2.1 }`,
  );
  const head =
    "tenon: 1\ndomains:\n  - domain: big.example\n    type: master\n    soa_email: h@example.com\n    records:\n";
  return `${head}${records.join("\n")}\n`;
}

function zone(size) {
  const records = Array.from({ length: size }, (_, index) => ({
    ...{ id: index + 1, type: "A", name: `host-${index}`, target: index % 100 === 0 ? "192.0.2.2" : "192.0.2.1" },
    ...{ ttl_sec: 0, priority: 0, weight: 0, port: 0, service: null, protocol: null, tag: null },
  }));
  const lists = { master_ips: [], axfr_ips: [], tags: [] };
  const seconds = { refresh_sec: 0, retry_sec: 0, expire_sec: 0, ttl_sec: 0 };
  const texts = { type: "master", status: "active", description: "", group: "", soa_email: "h@example.com" };
  return { domain: { id: 1, domain: "big.example", ...texts, ...lists, ...seconds }, records };
}
