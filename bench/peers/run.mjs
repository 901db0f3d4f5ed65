/**
 * The same plans by Tenon, by Terraform with its Linode provider and by DNSControl, against the emulator: CPU, wall and peak memory of each tool
 * that is on this machine. Nothing is downloaded. `--terraform PATH`, `--terraform-plugins FOLDER`, `--dnscontrol PATH`: where they are, if not on
 * the PATH. `--keep FOLDER`: where the configurations are written, and stay. `--only TEXT`: the plans whose name holds it. Build first.
 */

import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findProgram, runProgram } from "../program.mjs";
import { openServiceProxy } from "./service-proxy.mjs";

const DIST = process.env.TENON_DIST ?? new URL("../../dist/", import.meta.url).href;
const MAIN = fileURLToPath(new URL("bin/tenon.js", DIST));
const TOKEN = "emulator-token";
const ROUNDS = 3;

const PLANS = [
  { name: "plan of one record", zones: 1, records: 1, creates: false },
  { name: "plan without changes, 200 × 20", zones: 200, records: 20, creates: false },
  { name: "create of 20 × 50 in zones that are there", zones: 20, records: 50, creates: true },
];

const { values: flags } = parseArgs({
  options: {
    terraform: { type: "string", default: "terraform" },
    "terraform-plugins": { type: "string", default: join(homedir(), ".terraform.d", "plugins") },
    dnscontrol: { type: "string", default: "dnscontrol" },
    keep: { type: "string" },
    only: { type: "string", default: "" },
  },
});

const folder = flags.keep ?? mkdtempSync(join(tmpdir(), "tenon-peers-"));
try {
  const tools = [
    { name: "Tenon", program: process.execPath, lacks: [], isSeeded: true, configure: configureTenon },
    findTerraform(),
    findDnscontrol(),
  ];
  for (const { name, lacks } of tools) {
    if (lacks.length > 0) process.stdout.write(`${name} is left out: missing is ${lacks.join(" and ")}\n`);
  }
  process.stdout.write("\n| plan | tool | CPU | wall | peak memory of its largest process |\n|---|---|---|---|---|\n");
  for (const plan of PLANS.filter(({ name }) => name.includes(flags.only))) {
    await compare(
      plan,
      tools.filter(({ lacks }) => lacks.length === 0),
    );
  }
} finally {
  if (flags.keep === undefined) rmSync(folder, { recursive: true, force: true });
}

// What is there.

function findTerraform() {
  const program = findProgram(flags.terraform);
  const plugins = flags["terraform-plugins"];
  const lacks = [
    ...(program === undefined ? [`${flags.terraform} (--terraform PATH)`] : []),
    ...(hasProvider(plugins) ? [] : [`its Linode provider in ${plugins} (--terraform-plugins FOLDER)`]),
  ];
  return { name: "Terraform", program, lacks, isSeeded: false, configure: configureTerraform };
}

/** Packed or unpacked, as `terraform providers mirror` and people lay it out. */
function hasProvider(plugins) {
  if (!existsSync(plugins)) return false;
  return readdirSync(plugins, { recursive: true }).some((file) =>
    basename(file).startsWith("terraform-provider-linode"),
  );
}

function findDnscontrol() {
  const [program, openssl] = [findProgram(flags.dnscontrol), findProgram("openssl")];
  const lacks = [
    ...(program === undefined ? [`${flags.dnscontrol} (--dnscontrol PATH)`] : []),
    ...(openssl === undefined ? ["openssl, for a certificate of the emulator"] : []),
  ];
  return { name: "DNSControl", program, openssl, lacks, isSeeded: true, configure: configureDnscontrol };
}

// What is measured: the tools in turns, round for round.

async function compare(plan, tools) {
  const samples = tools.map(() => []);
  // What is created is there in the next round: each has an account of its own.
  const shared = plan.creates ? null : await all(tools, (tool) => prepare(tool, plan, 0));
  for (let round = 0; round < ROUNDS; round += 1) {
    const prepared = shared ?? (await all(tools, (tool) => prepare(tool, plan, round)));
    for (const [index, { run }] of prepared.entries()) samples[index].push(await run());
    if (shared === null) for (const { close } of prepared) close();
  }
  for (const { close } of shared ?? []) close();
  for (const [index, { name }] of tools.entries()) {
    const middle = (what) => samples[index].map((sample) => sample[what]).sort((a, b) => a - b)[ROUNDS >> 1];
    const mebibytes = middle("mebibytes");
    const memory = mebibytes === null ? "–" : `${Math.round(mebibytes)} MiB`;
    const cells = [
      plan.name,
      name,
      `${middle("seconds").toFixed(2)} s`,
      `${middle("wallSeconds").toFixed(2)} s`,
      memory,
    ];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  }
}

/** One after another: what prepares must not take the time of what is measured. */
async function all(items, make) {
  const made = [];
  for (const item of items) made.push(await make(item));
  return made;
}

/** An account that is as the plan needs it, and the configuration in a folder of its own. */
async function prepare(tool, plan, round) {
  const cwd = join(folder, `${tool.name.toLowerCase()}-${PLANS.indexOf(plan)}-${round}`);
  mkdirSync(cwd, { recursive: true });
  const service = await emulator(tool.isSeeded ? plan : { zones: 0 });
  const { env, setUp, words, close } = await tool.configure({ plan, cwd, tool, origin: service.origin });
  const options = { cwd, env: { ...process.env, NO_COLOR: "1", ...env } };
  await setUp?.((...setUpWords) => runProgram(tool.program, setUpWords, options));
  return {
    run: () => runProgram(tool.program, words, options),
    close: () => {
      close?.();
      service.close();
    },
  };
}

async function emulator({ zones, records, creates }) {
  const child = fork(new URL("../server.mjs", import.meta.url));
  const domains = Array.from({ length: zones }, (_, zone) => ({
    ...{ domain: domainOf(zone), type: "master", soa_email: "h@example.com" },
    records: recordsOf(creates ? 0 : records),
  }));
  child.send({ action: "seeded", input: { seed: { domains } } });
  const [{ port }] = await once(child, "message");
  return { origin: `http://127.0.0.1:${port}`, close: () => child.disconnect() };
}

function domainOf(zone) {
  return `zone-${zone}.example`;
}

function recordsOf(count) {
  return Array.from({ length: count }, (_, index) => ({
    ...{ type: "A", name: `host-${index}`, target: "192.0.2.1", ttl_sec: 300 },
  }));
}

// The configurations.

function configureTenon({ plan: { zones, records, creates }, cwd, origin }) {
  const lines = recordsOf(records).map(
    ({ type, name, target }) => `      - { type: ${type}, name: ${name}, target: ${target} }\n`,
  );
  const entries = Array.from(
    { length: zones },
    (_, zone) => `  - domain: ${domainOf(zone)}\n    records:\n${lines.join("")}`,
  );
  const defaults = "defaults:\n  domain: { type: master, soa_email: h@example.com }\n  record: { ttl_sec: 300 }\n";
  writeFileSync(join(cwd, "tenon.yaml"), `tenon: 1\n${defaults}domains:\n${entries.join("")}`);
  return {
    env: { TENON_BASE_URL: `${origin}/v4`, TENON_TOKEN: TOKEN },
    words: [MAIN, ...(creates ? ["apply", "--yes"] : ["plan", "--detailed-exitcode"])],
  };
}

/** Its state comes from an apply that is not measured: of everything, or of the zones alone. */
function configureTerraform({ plan: { zones, records, creates }, cwd, origin }) {
  const resources = (count) => {
    const domains = {};
    const entries = {};
    for (let zone = 0; zone < zones; zone += 1) {
      domains[`zone-${zone}`] = { domain: domainOf(zone), type: "master", soa_email: "h@example.com" };
      for (const { type, ...record } of recordsOf(count)) {
        const domain_id = `\${linode_domain.zone-${zone}.id}`;
        entries[`zone-${zone}-${record.name}`] = { domain_id, record_type: type, ...record };
      }
    }
    return { linode_domain: domains, ...(count === 0 ? {} : { linode_domain_record: entries }) };
  };
  const write = (count) => {
    const terraform = { required_providers: { linode: { source: "linode/linode" } } };
    const provider = { linode: { url: origin, api_version: "v4", token: TOKEN } };
    const text = JSON.stringify({ terraform, provider, resource: resources(count) }, null, 2);
    writeFileSync(join(cwd, "main.tf.json"), text);
  };
  const apply = ["apply", "-auto-approve", "-input=false"];
  const env = { CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1" };
  const setUp = async (run) => {
    write(creates ? 0 : records);
    // With this flag Terraform looks nowhere else, and downloads nothing.
    await run("init", "-input=false", `-plugin-dir=${flags["terraform-plugins"]}`);
    await run(...apply);
    write(records);
  };
  return { env, setUp, words: creates ? apply : ["plan", "-input=false", "-detailed-exitcode"] };
}

async function configureDnscontrol({ plan: { zones, records, creates }, cwd, tool, origin }) {
  const entries = recordsOf(records).map(
    ({ type, name, target, ttl_sec }) => `  ${type}("${name}", "${target}", TTL(${ttl_sec}))`,
  );
  const all = Array.from(
    { length: zones },
    (_, zone) => `D("${domainOf(zone)}", REGISTRAR, DnsProvider(SERVICE),\n${entries.join(",\n")}\n);\n`,
  );
  const head = 'var REGISTRAR = NewRegistrar("none");\nvar SERVICE = NewDnsProvider("linode");\n';
  writeFileSync(join(cwd, "dnsconfig.js"), head + all.join(""));
  const credentials = { none: { TYPE: "NONE" }, linode: { TYPE: "LINODE", token: TOKEN } };
  writeFileSync(join(cwd, "creds.json"), JSON.stringify(credentials));
  const { env, close } = await openServiceProxy({ openssl: tool.openssl, folder: cwd, origin });
  return { env, close, words: [creates ? "push" : "preview"] };
}
