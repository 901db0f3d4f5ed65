/** What zones cost from text to text: one of 12,000 records, and a thousand of twelve. Ratios against floors of the same run. Build first. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { readZoneFile } from "../dist/dns/zone-file/read.js";
import { writeZoneFile } from "../dist/dns/zone-file/write.js";
import { allowedSeconds, lintProject, loadProject } from "../dist/index.js";
import { makePlan } from "../dist/plan/plan.js";
import { renderPlanText } from "../dist/render/index.js";
import { units } from "../dist/units/index.js";

const ROUNDS = 3;
const SMALLER = 4;
const OPTIONS = {
  goal: "apply",
  nowMilliseconds: 0,
  targets: [],
  excludes: [],
  consents: [],
  maxChanges: null,
  takeOwnershipFrom: [],
  account: null,
  clone: true,
};

const NOTHING = { units: { zone: { items: [], total: 0 } } };

const include = async () => ({ ok: false, detail: "nothing is included" });

const folder = mkdtempSync(join(tmpdir(), "tenon-bench-"));
try {
  await compare("one zone", 12_000, (size) => [hosts("big.example", size)]);
  await compare("zones of 12 records", 12_000, (size) =>
    Array.from({ length: size / 12 }, (_, index) => hosts(`zone-${index}.example`, 12)),
  );
} finally {
  rmSync(folder, { recursive: true });
}

/** Linear work takes the same time for each record whatever the size: `growth` is near 1. */
async function compare(what, size, zonesOf) {
  const small = await measure(zonesOf(size / SMALLER));
  const large = await measure(zonesOf(size));
  process.stdout.write(`${what}, ${size.toLocaleString("en")} records in all\n`);
  for (const [step, { milliseconds, floor }] of Object.entries(large)) {
    const ratio = (milliseconds / large[floor].milliseconds).toFixed(2);
    const growth = (milliseconds / size / (small[step].milliseconds / (size / SMALLER))).toFixed(2);
    process.stdout.write(
      `  ${step.padEnd(18)} ${ratio.padStart(6)} × ${floor.padEnd(12)} growth per record from a quarter of the size: ${growth}\n`,
    );
  }
}

async function measure(zones) {
  const text = manifestOf(zones);
  writeFileSync(join(folder, "tenon.yaml"), text);
  const load = () => loadProject({ directory: folder, allowedSeconds: allowedSeconds("node") });
  const { project } = await load();
  const live = { units: { zone: { items: zones.map(liveZone), total: zones.length } } };
  const plan = () => makePlan(project.desired, live, units, OPTIONS);
  const planned = plan();
  const files = zones.map((zone) => ({ zone: zone.domain, text: fileOf(zone) }));
  return {
    "yaml parser": { milliseconds: await best(() => parse(text)), floor: "yaml parser" },
    "JSON copy": { milliseconds: await best(() => JSON.parse(JSON.stringify(planned.changes))), floor: "JSON copy" },
    load: { milliseconds: await best(load), floor: "yaml parser" },
    lint: { milliseconds: await best(() => lintProject(project)), floor: "yaml parser" },
    "plan, 1% changed": { milliseconds: await best(plan), floor: "JSON copy" },
    "plan, all new": {
      milliseconds: await best(() => makePlan(project.desired, NOTHING, units, OPTIONS)),
      floor: "JSON copy",
    },
    render: { milliseconds: await best(() => renderPlanText(planned, { colour: false })), floor: "JSON copy" },
    "write zone files": {
      milliseconds: await best(() => {
        for (const zone of zones) fileOf(zone);
      }),
      floor: "JSON copy",
    },
    "read zone files": {
      milliseconds: await best(async () => {
        for (const { zone, text: file } of files) await readZoneFile(file, { zone, file: "bench.zone", include });
      }),
      floor: "yaml parser",
    },
  };
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

function hosts(domain, size) {
  const records = Array.from({ length: size }, (_, index) => ({
    ...{ type: "A", name: `host-${index}`, target: "192.0.2.1", ttl_sec: 0 },
  }));
  return { domain, records };
}

function manifestOf(zones) {
  const entries = zones.map(({ domain, records }) => {
    const lines = records.map(
      ({ type, name, target }) => `      - { type: ${type}, name: ${name}, target: ${target} }`,
    );
    return `  - domain: ${domain}\n    records:\n${lines.join("\n")}\n`;
  });
  const defaults = "defaults: { domain: { type: master, soa_email: h@example.com } }\n";
  return `tenon: 1\n${defaults}domains:\n${entries.join("")}`;
}

function liveZone({ domain, records }, index) {
  const lists = { master_ips: [], axfr_ips: [], tags: [] };
  const seconds = { refresh_sec: 0, retry_sec: 0, expire_sec: 0, ttl_sec: 0 };
  const texts = { type: "master", status: "active", description: "", group: "", soa_email: "h@example.com" };
  const unused = { priority: 0, weight: 0, port: 0, service: null, protocol: null, tag: null };
  return {
    domain: { id: index + 1, domain, ...texts, ...lists, ...seconds },
    records: records.map((record, at) => ({
      id: (index + 1) * 100_000 + at,
      ...record,
      ...unused,
      target: (index + at) % 100 === 0 ? "192.0.2.2" : record.target,
    })),
  };
}

function fileOf({ domain, records }) {
  const soa = {
    mname: "ns1.example.net",
    email: "h@example.com",
    serial: 1,
    refresh: 14400,
    retry: 14400,
    expire: 1209600,
    ttl_sec: 86400,
  };
  return writeZoneFile({ zone: domain, soa, nameservers: ["ns1.example.net"], records });
}
