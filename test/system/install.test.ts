/** What users get: the packed package, installed into an empty project by the oldest Node that is promised, with every `engines` held against it. */

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { folder } from "../cli/run.ts";

const ROOT = join(import.meta.dirname, "../..");
/** `engines` of package.json; the npm package `node` brings it. */
const OLDEST_NODE = "20.19";
/** As it lies beside Node: a plain file that any Node can run. */
const NPM = join(dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js");
const INSTALL_MILLISECONDS = 300_000;

function execute(command: string, args: readonly string[], cwd: string): string {
  // The registry is the one that is configured, with its certificates and proxies.
  const env = { ...process.env, PATH: `${dirname(command)}:${process.env["PATH"]}` };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  expect(`${stderr}${status === 0 ? "" : stdout}`).not.toMatch(/EBADENGINE|npm error/);
  expect(status).toBe(0);
  return stdout;
}

it("the packed package installs with engine-strict, and runs: command line and emulator", {
  timeout: INSTALL_MILLISECONDS,
}, async () => {
  const engines = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).engines.node;
  expect(engines).toBe(`>=${OLDEST_NODE}`);
  const cwd = await folder({ "old/package.json": "{}", "user/package.json": '{ "private": true, "type": "module" }' });
  execute(process.execPath, [NPM, "install", "--no-save", `node@${OLDEST_NODE}`], join(cwd, "old"));
  const node = join(cwd, "old/node_modules/node/bin/node");
  expect(execute(node, ["--version"], cwd)).toMatch(/^v20\.19\./);
  await mkdir(join(cwd, "packed"));
  execute(process.execPath, [NPM, "pack", "--ignore-scripts", "--pack-destination", join(cwd, "packed")], ROOT);
  const [tarball = ""] = readdirSync(join(cwd, "packed"));
  const user = join(cwd, "user");
  execute(node, [NPM, "install", "--engine-strict", "--ignore-scripts", join(cwd, "packed", tarball)], user);
  expect(execute(node, ["node_modules/tenon/dist/bin/tenon.js", "--version"], user)).toMatch(/^\d+\.\d+\.\d+\n$/);
  const script = `import { startEmulator } from "tenon/emulator";
const emulator = await startEmulator({});
const answer = await fetch(emulator.baseUrl + "/vpcs", { headers: { authorization: "Bearer emulator-token" } });
console.log(answer.status);
await emulator.close();`;
  await writeFile(join(user, "try.js"), script);
  expect(execute(node, ["try.js"], user)).toBe("200\n");
});

it("the lock file names no registry", () => {
  const lock = readFileSync(join(ROOT, "package-lock.json"), "utf8");
  expect(lock).not.toMatch(/"resolved"|\.tgz"/);
});
