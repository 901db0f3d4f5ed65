/** The action of this repository: its steps in a real bash with a real npm, at a revision that is not the checkout. */

import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { folder } from "../cli/run.ts";
import { bash, writeNode } from "../examples/ci/runner.ts";
import type { Step } from "../examples/ci/workflow.ts";

const ROOT = join(import.meta.dirname, "../..");
const PWNED = '#!/bin/sh\necho "PWNED ${TENON_TOKEN:-by nobody}"\n';
const HOSTILE_NPMRC = "dry-run=true\nignore-scripts=false\nomit=dev\nregistry=http://127.0.0.1:9/\n";
/** Where the machine's npm asks, which a runner has in its environment. */
const REGISTRY = execFileSync("npm", ["config", "get", "registry"], { cwd: ROOT, encoding: "utf8" }).trim();

/** A runner's folders, with what the action's repository holds, and a hostile checkout and home folder. */
async function open() {
  const place = await folder({
    "work/.npmrc": HOSTILE_NPMRC,
    "work/package.json": '{ "scripts": { "preinstall": "echo PWNED" } }',
    "work/node_modules/.bin/tenon": PWNED,
    "work/tenon": PWNED,
    ".npmrc": HOSTILE_NPMRC,
    "temp/package.json": "{}",
    path: "",
  });
  for (const file of ["work/node_modules/.bin/tenon", "work/tenon"]) await chmod(join(place, file), 0o755);
  const action = join(place, "actions/tenon");
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  for (const file of files.toString().split("\0").filter(Boolean)) {
    await mkdir(dirname(join(action, file)), { recursive: true });
    await cp(join(ROOT, file), join(action, file));
  }
  await writeNode(join(place, "bin"));
  return { place, action };
}

/** @returns what was printed until the end or the first failure, and what the action put onto the path */
async function run(place: string, action: string) {
  const { steps } = parse(await readFile(join(ROOT, "action.yml"), "utf8")).runs as { readonly steps: readonly Step[] };
  const env = {
    HOME: place,
    PATH: [join(place, "bin"), process.env["PATH"]].join(delimiter),
    GITHUB_ACTION_PATH: action,
    GITHUB_PATH: join(place, "path"),
    GITHUB_WORKSPACE: join(place, "work"),
    RUNNER_TEMP: join(place, "temp"),
    NODE_ENV: "production",
    TENON_TOKEN: "secret-token",
    npm_config_dry_run: "true",
    npm_config_omit: "dev",
    npm_config_registry: REGISTRY,
  };
  let all = "";
  let code = 0;
  for (const { run: script = "" } of steps) {
    const step = await bash(script, env.GITHUB_WORKSPACE, env, place);
    all += step.log;
    code = step.code;
    if (code !== 0) break;
  }
  return { code, log: all, path: (await readFile(env.GITHUB_PATH, "utf8")).trim() };
}

test("the action installs Tenon from its own revision, whatever the checkout, the home folder and the environment say", async () => {
  const { place, action } = await open();
  const { code, log, path } = await run(place, action);
  expect({ code, log }).toEqual({ code: 0, log: expect.not.stringMatching(/PWNED|secret-token/) });
  expect(path).toBe(join(place, "temp/tenon-action/bin"));
  expect(await readdir(path)).toEqual(["tenon"]);
  const told = await bash("tenon --version && tenon demo", join(place, "work"), {
    PATH: [path, join(place, "bin"), process.env["PATH"]].join(delimiter),
  });
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  expect(told).toMatchObject({ code: 0, log: expect.stringContaining("No changes.") });
  expect(told.log.split("\n")[0]).toBe(version);
});

test("the action is refused within the checkout, and installs no package whose bytes are not those of its lock file", async () => {
  const { place, action } = await open();
  await cp(join(action, "action.yml"), join(place, "work/tools/tenon/action.yml"));
  for (const within of ["work", "work/tools/tenon", "work/../work/tools"]) {
    const { code, log, path } = await run(place, join(place, within));
    expect({ code, path }).toEqual({ code: 1, path: "" });
    expect(log).toContain("::error title=Refused::");
  }
  const file = join(action, "package-lock.json");
  const lock = JSON.parse(await readFile(file, "utf8"));
  const hashes = Object.entries<{ integrity?: string }>(lock.packages).filter(([name]) => name !== "");
  for (const [name, { integrity }] of hashes)
    expect([name, integrity]).toEqual([name, expect.stringMatching(/^sha512-/)]);
  lock.packages["node_modules/commander"].integrity = `sha512-${"A".repeat(86)}==`;
  await writeFile(file, JSON.stringify(lock));
  expect(await run(place, action)).toMatchObject({ code: 1, log: expect.stringContaining("EINTEGRITY"), path: "" });
});
