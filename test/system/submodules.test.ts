/** How many submodules of a base are read, as a pull request can bring any number. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";

const IDENTITY = ["-c", "user.email=a@b.example", "-c", "user.name=a", "-c", "commit.gpgsign=false"];

function git(cwd: string, args: readonly string[], input = ""): string {
  const env = { PATH: process.env["PATH"] };
  return execFileSync("git", [...IDENTITY, ...args], { cwd, input, encoding: "utf8", env }).trim();
}

function commitAll(cwd: string): void {
  git(cwd, ["init", "--quiet", "--initial-branch", "main"]);
  git(cwd, ["add", "--all"]);
  git(cwd, ["commit", "--quiet", "--message", "1"]);
}

const ROOT = 'tenon: 1\nowner: edge\nfiles: ["parts/**/*.yaml"]\n';
const MANIFEST = "tenon: 1\nvpcs: [{ label: all, region: us-east }]\n";

/** A project with `count` submodules in a folder, of which `present` are checked out. */
async function withSubmodules(count: number, present: number, place = "parts") {
  const shared = await folder({ "net.txt": "not a manifest\n" });
  commitAll(shared);
  const commit = git(shared, ["rev-parse", "HEAD"]);
  const cwd = await folder({ "tenon.yaml": ROOT, "parts/all.yaml": MANIFEST });
  commitAll(cwd);
  const names = Array.from({ length: count }, (_, index) => `${place}/s${index}`);
  git(cwd, ["update-index", "--index-info"], names.map((name) => `160000 ${commit}\t${name}\n`).join(""));
  git(cwd, ["commit", "--quiet", "--message", "base"]);
  for (const name of names.slice(0, present)) git(cwd, ["clone", "--quiet", "--local", shared, join(cwd, name)]);
  return here(["plan", "--base", "refs/heads/main"], { cwd, env: envOf(await emulator()) });
}

const USED = /^This change, compared with refs\/heads\/main: nothing\.$/m;
/** And says nothing of a change. */
const NOT_USED = /^(?![\s\S]*This change)[\s\S]*cannot use parts\/s\d+\n/;

test("fifty submodules of a base are read, and of more the base is not used", async () => {
  expect(await withSubmodules(50, 50)).toMatchObject({ code: 0, stdout: expect.stringMatching(USED) });
  expect(await withSubmodules(51, 51)).toMatchObject({ code: 0, stdout: expect.stringMatching(NOT_USED) });
}, 120_000);

test("thousands of submodules that are not checked out matter only where a pattern leads into one", async () => {
  expect(await withSubmodules(3_000, 0, "beside")).toMatchObject({ code: 0, stdout: expect.stringMatching(USED) });
  expect(await withSubmodules(3_000, 0)).toMatchObject({ code: 0, stdout: expect.stringMatching(NOT_USED) });
}, 120_000);
