/** What users get: the packed package, installed into an empty project from its tarball alone, and run by the oldest Node that is promised and by each newer one. */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, it } from "vitest";
import { expectWorking } from "./installed.ts";

const ROOT = join(import.meta.dirname, "../..");
/** `engines` of package.json. */
const OLDEST_NODE = "20.19";
const NODES: readonly string[] = [OLDEST_NODE, "22", "24", "26"];
/** As it lies beside Node: a plain file that any Node can run. */
const NPM = join(dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js");

const place = mkdtempSync(join(tmpdir(), "tenon-install-"));
/** A project in which the packed package is installed. */
const user = join(place, "user");
const PACKAGE = join(user, "node_modules/tenon");
/** Version → executable. */
const executables = new Map<string, string>();

function execute(command: string, args: readonly string[], cwd: string): string {
  // The registry is the one that is configured, with its certificates and proxies.
  const env = { ...process.env, PATH: `${dirname(command)}:${process.env["PATH"]}` };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  expect(`${stderr}${status === 0 ? "" : stdout}`).not.toMatch(/EBADENGINE|npm error/);
  expect(status).toBe(0);
  return stdout;
}

/** Of the npm packages that hold nothing but the executable, so that none of their scripts has to run. */
function nodeOf(version: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  const at = join(place, "nodes", version);
  mkdirSync(at, { recursive: true });
  const flags = ["--no-save", "--no-package-lock", "--ignore-scripts", "--prefix", at];
  const args = [NPM, "install", ...flags, `${name}@${version}`];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: at, encoding: "utf8" });
  if (status !== 0) throw new Error(`there is no Node ${version} (npm install ${name}@${version}):\n${stderr}`);
  return join(at, "node_modules", name, "bin/node");
}

beforeAll(() => {
  for (const version of NODES) executables.set(version, nodeOf(version));
  execute(process.execPath, [NPM, "pack", "--ignore-scripts", "--pack-destination", place], ROOT);
  const tarball = readdirSync(place).find((name) => name.endsWith(".tgz")) ?? "";
  mkdirSync(user);
  writeFileSync(join(user, "package.json"), '{ "private": true, "type": "module" }');
  // No registry, and no cache that was filled from one: what is not in the tarball is not there.
  const flags = ["--offline", "--cache", join(place, "cache"), "--engine-strict", "--ignore-scripts"];
  execute(executables.get(OLDEST_NODE) ?? "", [NPM, "install", ...flags, join(place, tarball)], user);
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

it("the package needs no other, and installs with engine-strict by the oldest Node that is promised", () => {
  const { engines } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
  expect(engines.node).toBe(`>=${OLDEST_NODE}`);
  expect(readdirSync(join(user, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["tenon"]);
  expect(readdirSync(PACKAGE)).not.toContain("node_modules");
});

it("it holds what people and programs read beside the code: schemas, examples, and the licences of what is in it", () => {
  expect(readdirSync(join(PACKAGE, "schemas"))).toContain("manifest.schema.json");
  expect(readdirSync(join(PACKAGE, "examples"))).toContain("ci");
  expect(readdirSync(join(PACKAGE, "completions"))).toContain("tenon.bash");
  const licences = readFileSync(join(PACKAGE, "dist/LICENSES.txt"), "utf8");
  const named = [...licences.matchAll(/^(\S+) \d\S* \([^)]+\)/gm)].map(([, name]) => name);
  for (const name of ["ajv", "commander", "fastify", "undici", "yaml"]) expect(named).toContain(name);
  expect(licences).toContain("Permission is hereby granted");
});

it.each(NODES)(
  "it runs on Node %s: validate, plan and apply against its emulator, and the library",
  async (version) => {
    const node = executables.get(version) ?? "";
    const env = { PATH: "", NODE_OPTIONS: "--throw-deprecation" };
    expect(execute(node, ["--version"], place)).toMatch(new RegExp(`^v${version.replace(".", "\\.")}\\.`));
    await expectWorking({ command: [node, join(PACKAGE, "dist/bin/tenon.js")], env });
    const script = `import { open } from "tenon";
import { parseSeed, startEmulator } from "tenon/emulator";
for (const part of ["format", "import", "live", "render", "verify"]) await import("tenon/" + part);
const service = await startEmulator({ seed: parseSeed("vpcs: [{ label: old, region: us-east }]") });
const project = await open({ dir: ".", baseUrl: service.baseUrl, token: "emulator-token" });
const { added } = await project.apply(await project.plan());
console.log(added);
await project.close();
await service.close();`;
    writeFileSync(join(user, "try.js"), script);
    writeFileSync(join(user, "tenon.yaml"), "tenon: 1\nvpcs: [{ label: new, region: us-east }]\n");
    expect(execute(node, ["--throw-deprecation", "try.js"], user)).toBe("1\n");
  },
);

it("its types need no other package's, but Node's", () => {
  const file = join(user, "types.ts");
  const parts = ["", "/emulator", "/format", "/import", "/live", "/render", "/verify"];
  writeFileSync(file, parts.map((part, at) => `export * as part${at} from "tenon${part}";\n`).join(""));
  const program = ts.createProgram([file], {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    noEmit: true,
    // Its declarations are checked, too.
    skipLibCheck: false,
    typeRoots: [join(ROOT, "node_modules/@types")],
    types: ["node"],
  });
  const problems = ts.getPreEmitDiagnostics(program).filter(({ file: at }) => at?.fileName.startsWith(user) ?? true);
  expect(problems.map(({ file: at, messageText }) => `${at?.fileName}: ${JSON.stringify(messageText)}`)).toEqual([]);
});

it("the lock file names no registry", () => {
  const lock = readFileSync(join(ROOT, "package-lock.json"), "utf8");
  expect(lock).not.toMatch(/"resolved"|\.tgz"/);
});
