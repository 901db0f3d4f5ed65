/** The example pipelines against a pull request that brings more than manifests: real npm, git and bash; the forges are stood in for. */

import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { emulator, envOf, folder } from "../cli/run.ts";
import { Forge, type PullRequest, REPOSITORY } from "../examples/ci/forge.ts";
import { Gitlab, type Pipeline } from "../examples/ci/gitlab.ts";
import { Repository } from "../examples/ci/repository.ts";
import { bash, type RunEvent, Runner, writeNode, writeTools } from "../examples/ci/runner.ts";
import { makeTool } from "../examples/ci/tool.ts";
import { SCRIPTS } from "../examples/ci/workflow.ts";
import { ACTIVE, acted } from "../security/active.ts";
import { tested } from "../support/emulator.ts";
import { writeInto } from "../support/files.ts";

const execute = promisify(execFile);
/** Many processes; a busy machine is no failure. */
const TIMEOUT_MILLISECONDS = 240_000;
const PWNED = '#!/bin/sh\necho "PWNED ${TENON_TOKEN:-by nobody}"\n';
const PWNED_NODE = '#!/usr/bin/env node\nconsole.log("PWNED", process.env.TENON_TOKEN);\n';
const SECRETS = { TENON_TOKEN: "emulator-token", TENON_TOKEN_READ: "emulator-token" };
const FORMED = (label: string) => `tenon: 1\n\nvpcs:\n  - label: ${label}\n    region: us-east\n`;
/** What a pull request may bring that code owners are not asked about, by its path. */
type Files = Readonly<Record<string, string>>;

/** A repository whose pipeline is there, an account without anything, and GitHub. */
async function open() {
  const service = await emulator();
  const repository = await Repository.open("tenon: 1\n");
  const forge = await Forge.open();
  return { service, repository, forge, runner: await Runner.open(forge, repository.folder, service.baseUrl) };
}

async function put(place: string, files: Files): Promise<void> {
  await writeInto(place, files);
  for (const [name, text] of Object.entries(files)) {
    if (text.startsWith("#!")) await chmod(join(place, name), 0o755);
  }
}

function pullRequest(sha: string): RunEvent {
  const secrets = { TENON_TOKEN_READ: SECRETS.TENON_TOKEN_READ };
  const pull = { number: 7, repository: REPOSITORY };
  return { name: "pull_request", sha, ref: "refs/pull/7/merge", base_ref: "main", pull, secrets };
}

function push(sha: string): RunEvent {
  return { name: "push", sha, ref: "refs/heads/main", secrets: SECRETS };
}

/** The pull request was planned by this run, and merged as `sha`. */
function review(forge: Forge, run: number, head: string, sha: string): void {
  const merged_at = "2026-11-21T00:00:00Z";
  forge.pulls.push({ id: 7, number: 7, head: { sha: head }, base: { ref: "main" }, merged_at, merge_commit_sha: sha });
  addRun(forge, run, head);
}

function addRun(forge: Forge, id: number, head: string): void {
  const head_repository = { full_name: REPOSITORY };
  forge.runs.push({ id, run_number: id, event: "pull_request", status: "success", head_sha: head, head_repository });
}

async function labelsOf(service: Awaited<ReturnType<typeof emulator>>): Promise<string[]> {
  const { body } = await tested(service).send("GET", "/vpcs");
  return body.data.map(({ label }: { label: string }) => label).sort();
}

/** install.sh in a checkout, as the first step of a job runs it. */
async function install(checkout: string, more: Files = {}, words = "") {
  const temp = await folder({});
  await writeNode(join(temp, "bin"));
  const text = `git cat-file blob "$PIPELINE:ci/tenon/install.sh" >"$RUNNER_TEMP/install.sh"\nbash "$RUNNER_TEMP/install.sh" ${words}`;
  const path = [join(temp, "bin"), process.env["PATH"]].join(delimiter);
  const env = { PATH: path, HOME: temp, RUNNER_TEMP: temp, PIPELINE: "HEAD", GITHUB_ACTIONS: "true", ...more };
  return { temp, ...(await bash(text, checkout, env, temp)) };
}

/** The lines of a log that GitHub's runner obeys, as its sources read them. */
function obeyed(log: string): string[] {
  const found: string[] = [];
  let word: string | null = null;
  for (const line of log.split("\n")) {
    const command = /^\s*::([^:\s]+)[^:]*::(.*)$/.exec(line);
    if (word !== null) {
      if (command?.[1] === word) word = null;
    } else if (command?.[1] === "stop-commands") word = command[2] ?? "";
    else if (command !== null || line.includes("##[")) found.push(line);
  }
  return found;
}

test("files that npm, tenon or the pipeline would use as their own are refused by name, before anything runs", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { service, repository, forge, runner } = await open();
  const { head, merge } = await repository.propose(FORMED("a"));
  const reviewed = await runner.run("tenon-plan.yml", pullRequest(merge), ["plan"]);
  await repository.merge();
  await put(repository.folder, { ".npmrc": "dry-run=true\n", "node_modules/.bin/tenon": PWNED });
  const sha = await repository.commit(FORMED("a"), true);
  review(forge, reviewed.id, head, sha);
  const planned = await runner.run("tenon-plan.yml", pullRequest(sha), ["validate", "plan"]);
  const applied = await runner.run("tenon-apply.yml", push(sha));
  const night = await runner.run("tenon-drift.yml", { ...push(sha), name: "schedule" });
  const all = [planned.jobs["validate"], planned.jobs["plan"], applied.jobs["find"], night.jobs["drift"]];
  for (const job of all) {
    expect(job).toMatchObject({ result: "failure", log: expect.stringContaining("tracks .npmrc,") });
    expect(job?.log).not.toContain("PWNED");
  }
  // What comes before it fails, so that the job with the token that may write is not begun: neither then nor by hand.
  const byHand = await runner.run("tenon-apply.yml", { ...push(sha), name: "workflow_dispatch" });
  expect([applied.jobs["apply"], byHand.jobs["plan"], byHand.jobs["apply"]]).toMatchObject([
    { result: "skipped" },
    { result: "failure", log: expect.stringContaining("tracks .npmrc,") },
    { result: "skipped" },
  ]);

  for (const [name, project] of [
    ["node_modules/.bin/git", "."],
    ["vendor/tenon-0.1.0.tgz", "."],
    [".tenon/journal/x", "."],
    ["tenon-out/plan.json", "."],
    ["tenon-\u001b[2J\n::add-mask::<img src=x>", "."],
    ["infra/.npmrc", "infra/prod"],
    ["infra/prod/.tenon/x", "./infra//prod/"],
  ] as const) {
    await repository.git("checkout", "--quiet", "-B", "other", "main~1");
    await put(repository.folder, { [name]: PWNED, "infra/prod/tenon.yaml": "tenon: 1\n" });
    await repository.commit(FORMED("a"), true);
    const { code, log, temp } = await install(repository.folder, { PROJECT: project });
    expect({ name, code, obeyed: obeyed(log).length }).toEqual({ name, code: 1, obeyed: 1 });
    const shown = name.split("/").slice(0, name.startsWith("infra/prod") ? 3 : name.startsWith("infra") ? 2 : 1);
    expect(log).toContain(`tracks ${shown.join("/").replaceAll(/[^A-Za-z0-9._/-]/g, "?")}, `);
    expect(await readdir(join(temp, "tenon"))).not.toContain("node_modules");
  }
  expect(await labelsOf(service)).toEqual([]);
});

test("tenon reads the committed bytes, whatever attributes a file or a link of the pull request gives them in the checkout", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { repository } = await open();
  const committed = "tenon: 1 # \u201c $Id: allow $\nfiles: [infra/*.yaml]\n";
  const encoding = "*.yaml text working-tree-encoding=ASCII//TRANSLIT";
  for (const [name, text, isLink] of [
    [".gitattributes", encoding, false],
    [".gitattributes", encoding, true],
    [".gitattributes", "*.yaml ident", false],
    [".gitattributes", "*.yaml eol=crlf", true],
    [".gitattributes", `[attr]odd ident working-tree-encoding=ASCII//TRANSLIT\n*.yaml odd`, false],
    ["infra/.gitattributes", encoding, true],
    // What it says of itself does not hide it.
    [".gitattributes", `.gitattributes -text -diff\n${encoding}`, false],
  ] as const) {
    await repository.git("checkout", "--quiet", "--force", "-B", "other", "main");
    await put(repository.folder, { "infra/a\n.yaml": committed });
    await repository.commit(committed);
    // Git would convert what it adds.
    const attributes = join(await folder({ attributes: `${text}\n` }), "attributes");
    const blob = await repository.git("hash-object", "-w", "--no-filters", attributes);
    const entry = `${isLink ? "120000" : "100644"},${blob},${name}`;
    await repository.git("update-index", "--add", "--cacheinfo", entry);
    await repository.git("commit", "--quiet", "--message", "attributes");
    const place = await folder({});
    await repository.git("clone", "--quiet", repository.folder, join(place, "checkout"));
    const checkout = join(place, "checkout");
    const file = join(checkout, "infra/a\n.yaml");
    expect({ name, text, isLink, found: await readFile(file, "utf8") }).not.toMatchObject({ found: committed });
    const { code, log } = await install(checkout, { PROJECT: "infra" });
    expect({ code, log }).toMatchObject({ code: 0, log: expect.stringContaining("added 1 package") });
    for (const each of [file, join(checkout, "tenon.yaml")]) expect(await readFile(each, "utf8")).toBe(committed);
    const seen = await execute("git", ["status", "--porcelain"], { cwd: checkout });
    expect(seen.stdout).toBe("");
  }
});

test("scripts, lock file and tool of a plan are the base branch's, whatever the pull request has in their place", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { repository, runner, forge } = await open();
  const evil = await makeTool(PWNED_NODE);
  const scripts = await readdir(SCRIPTS);
  const { merge } = await repository.propose(FORMED("a"), "proposal", async () => {
    await cp(evil, join(repository.folder, "ci/tool"), { recursive: true });
    const own = scripts.map((name) => [`ci/tenon/${name}`, name.endsWith(".sh") ? PWNED : PWNED_NODE]);
    await put(repository.folder, Object.fromEntries(own));
  });
  const { jobs } = await runner.run("tenon-plan.yml", pullRequest(merge), ["validate", "plan", "comment"]);
  for (const job of Object.values(jobs)) {
    expect(job.result).toBe("success");
    expect(job.log).not.toContain("PWNED");
  }
  expect(forge.comments[0]?.body).toContain("## Plan: ");
});

test("home folder, environment and parent folders do not change how the tool is installed", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { repository } = await open();
  const hostile = "dry-run=true\nignore-scripts=false\nbin-links=false\nglobal=true\nregistry=http://127.0.0.1:9/\n";
  const home = await folder({ ".npmrc": hostile, "above/.npmrc": hostile, "above/package.json": "{}" });
  const own = {
    HOME: home,
    RUNNER_TEMP: join(home, "above/temp"),
    NPM_CONFIG_DRY_RUN: "true",
    npm_config_dry_run: "true",
  };
  await mkdir(own.RUNNER_TEMP);
  const { code, log } = await install(repository.folder, own);
  expect({ code, log }).toMatchObject({ code: 0, log: expect.stringContaining("added 1 package") });
  const tenon = join(own.RUNNER_TEMP, "tenon/bin/tenon");
  expect((await execute(tenon, ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  // What the dependencies call their commands takes nobody's place.
  expect(await readdir(dirname(tenon))).toEqual(["tenon"]);
});

test("a tool whose bytes are not those of the lock file, or that the lock file has no hash of, is not installed", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { repository } = await open();
  const tool = join(repository.folder, "ci/tool");
  const lock = await readFile(join(tool, "package-lock.json"), "utf8");
  const without = lock.replace(/,?\s*"integrity": "[^"]*"/, "");
  expect(without).not.toBe(lock);
  const linked = { packages: { "": {}, "node_modules/tenon": { link: true, resolved: "../.." } } };
  const evil = await makeTool(PWNED_NODE);
  for (const [change, words] of [
    [() => writeFile(join(tool, "package-lock.json"), without), "node_modules/tenon has no sha512 hash"],
    [() => writeFile(join(tool, "package-lock.json"), JSON.stringify(linked)), "node_modules/tenon has no sha512 hash"],
    [() => writeFile(join(tool, "package-lock.json"), lock.replace(/sha512-..../, "sha512-AAAA")), "EINTEGRITY"],
    [() => cp(join(evil, "tenon-0.0.1.tgz"), join(tool, "tenon-0.0.1.tgz")), "EINTEGRITY"],
  ] as const) {
    await repository.git("checkout", "--quiet", "--force", "--detach", "main");
    await change();
    await repository.commit(FORMED("a"));
    const { code, log, temp } = await install(repository.folder);
    expect({ words, isWell: code === 0 }).toEqual({ words, isWell: false });
    expect(log).toContain(words);
    expect(await readdir(join(temp, "tenon"))).not.toContain("bin");
  }
  // One whose command is another's.
  await repository.git("checkout", "--quiet", "--force", "main");
  const well = await install(repository.folder);
  const bin = join(well.temp, "tenon/node_modules/.bin/tenon");
  await rm(bin);
  await symlink("../../common.sh", bin);
  const env = { PATH: process.env["PATH"] ?? "" };
  const foreign = await bash("node lock.mjs installed", join(well.temp, "tenon"), env, well.temp);
  expect(foreign).toMatchObject({ code: 1, log: expect.stringContaining("is not of node_modules/tenon") });
  // And one that npm said it installed, and did not.
  const { temp } = await install(repository.folder, {}, "scripts");
  await writeFile(join(temp, "tenon/package-lock.json"), lock);
  const missing = await bash("node lock.mjs installed", join(temp, "tenon"), env, temp);
  expect(missing).toMatchObject({ code: 1, log: expect.stringContaining("node_modules/tenon is not there") });
});

test("attributes, submodules, scripts of packages, commands, and names that look like flags change nothing of a job", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { repository, runner, forge } = await open();
  const attributes = "*.sh text eol=crlf\n*.mjs text eol=crlf ident\nci/** filter=evil\n";
  const module = '[submodule "x"]\n\tpath = x\n\turl = https://evil.example/x.git\n\tupdate = !touch ran\n';
  const commands = ["bash", "git", "node", "npm", "cat", "rm", "tenon"].map((name) => [name, PWNED]);
  const scripts = { preinstall: "echo PWNED", prepare: "echo PWNED", postinstall: "echo PWNED" };
  const files: Files = {
    ...{ ".gitattributes": attributes, ".gitmodules": module, "-rf": "", "--out": "", "--userconfig=x": "" },
    ...Object.fromEntries(commands),
    ...{ "package.json": JSON.stringify({ scripts }), "npm-shrinkwrap.json": "{}", ".bashrc": PWNED, ".env": "A=1" },
  };
  const { merge } = await repository.propose(FORMED("a"), "proposal", () => put(repository.folder, files));
  const { jobs } = await runner.run("tenon-plan.yml", pullRequest(merge), ["validate", "plan", "comment"]);
  for (const job of Object.values(jobs)) {
    expect({ ...job, log: job.log.includes("PWNED") }).toMatchObject({ result: "success", log: false });
  }
  expect(forge.comments[0]?.body).toContain("vpc a");
});

test("an artifact replaces no script, and is no link", { timeout: TIMEOUT_MILLISECONDS }, async () => {
  const { service, repository, forge, runner } = await open();
  const { head, merge } = await repository.propose(FORMED("a"));
  const planned = await runner.run("tenon-plan.yml", pullRequest(merge), ["plan"]);
  const sha = await repository.merge();
  review(forge, planned.id, head, sha);
  const kept = runner.artifact(runner.artifactId(planned.id, "tenon-plan"));
  expect((await readdir(kept)).sort()).toEqual(["comment.md", "plan.json"]);
  const plan = await readFile(join(kept, "plan.json"), "utf8");

  await rm(join(kept, "plan.json"));
  await writeFile(join(kept, "other.json"), plan);
  await symlink("other.json", join(kept, "plan.json"));
  const linked = await runner.run("tenon-apply.yml", push(sha));
  expect(linked.jobs["apply"]).toMatchObject({ result: "failure", log: expect.stringContaining("or a link") });
  expect(await labelsOf(service)).toEqual([]);

  await rm(join(kept, "plan.json"));
  const more = ["apply.sh", "common.sh", "tenon/apply.sh", "ci/tenon/apply.sh", "tenon/bin/tenon", "../install.sh"];
  await put(kept, Object.fromEntries([...more.map((name) => [name, PWNED]), ["plan.json", plan]]));
  const applied = await runner.run("tenon-apply.yml", push(sha));
  expect(applied.jobs["apply"]?.result).toBe("success");
  expect(applied.jobs["apply"]?.log).not.toContain("PWNED");
  expect(await labelsOf(service)).toEqual(["a"]);
});

test("a folder of the pipeline that was checked out, or is a link, is created anew, and nothing of it is kept", async () => {
  const service = await emulator();
  const place = await folder({ "outside/live.json": "kept", "checkout/tenon.yaml": FORMED("a"), "the.plan": "" });
  const [outside, checkout] = [join(place, "outside"), join(place, "checkout")];
  await writeTools(join(place, "bin"));
  const env = { ...envOf(service), PATH: [join(place, "bin"), process.env["PATH"]].join(delimiter) };
  const script = (name: string) => bash(`bash "${join(SCRIPTS, name)}" "${place}/the.plan"`, checkout, env, place);
  for (const [name, into, left] of [
    ["plan.sh", "tenon-out", ["comment.md", "messages.txt", "plan.html", "plan.json", "plan.md"]],
    ["drift.sh", "tenon-out", ["drift.html", "drift.md", "messages.txt", "state"]],
    ["live.sh", "tenon-snapshot", ["live.json"]],
    ["apply.sh", "tenon-out", []],
  ] as const) {
    for (const prepare of [
      () => symlink("../outside", join(checkout, into)),
      () => put(join(checkout, into), { "plan.json": "forged", "comment.md": "forged", "ci/tenon/apply.sh": PWNED }),
    ]) {
      await prepare();
      const { code, log } = await script(name);
      expect({ name, code, log: log.includes("PWNED") }).toEqual({
        name,
        code: name === "apply.sh" ? 1 : 0,
        log: false,
      });
      expect({ name, left: (await readdir(join(checkout, into))).sort() }).toEqual({ name, left });
      await rm(join(checkout, into), { recursive: true });
    }
  }
  expect(await readdir(outside)).toEqual(["live.json"]);
  expect(await readFile(join(outside, "live.json"), "utf8")).toBe("kept");
});

test("a comment that was committed is not posted as the plan's, on GitHub or on GitLab", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { service, repository, forge, runner } = await open();
  const forged = "<!-- tenon-plan . -->\nNo changes.\n";
  const { head, merge } = await repository.propose(FORMED("a"), "proposal", () =>
    put(repository.folder, { "tenon-out/comment.md": forged, "tenon-out/plan.json": "{}" }),
  );
  const { jobs, id } = await runner.run("tenon-plan.yml", pullRequest(merge), ["plan"]);
  expect(jobs["plan"]?.result).toBe("failure");
  expect(await readdir(runner.artifact(runner.artifactId(id, "tenon-plan")))).toEqual([]);
  expect(forge.comments).toEqual([]);
  const gitlab = await Gitlab.open(repository.folder, service.baseUrl);
  const request: Pipeline = { id: 3, source: "merge_request_event", sha: head };
  expect(await gitlab.run("tenon:plan", request)).toMatchObject({ code: 1 });
  expect((await gitlab.run("tenon:comment", request)).code).not.toBe(0);
  expect(gitlab.notes).toEqual([]);
});

test("on GitLab the reviewed plan is an artifact of a job of that pipeline, and no file of the checkout, in this merge or a later one", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { service, repository } = await open();
  const gitlab = await Gitlab.open(repository.folder, service.baseUrl);
  // The plan of everything that they will ever want.
  const wanted = await repository.commit(FORMED("evil"));
  expect(await gitlab.run("tenon:replan", { id: 1, source: "web", sha: wanted })).toMatchObject({ code: 0 });
  const plan = await readFile(join(gitlab.jobs[0]?.folder ?? "", "tenon-out/plan.json"), "utf8");
  const places = ["tenon-out/plan.json", "tenon-reviewed/plan.json", "plan.json"];
  for (const files of [places, places.slice(2)]) {
    await repository.git("checkout", "--quiet", "--force", "--detach", wanted);
    await put(repository.folder, Object.fromEntries(files.map((name) => [name, plan])));
    const sha = await repository.commit(FORMED("evil"), true);
    for (const pipeline of [
      { id: 5, source: "push", sha },
      { id: 6, source: "web", sha },
    ] as const) {
      const { code, log } = await gitlab.run("tenon:apply", pipeline);
      expect(code).not.toBe(0);
      expect(log).toContain(files.length === 1 ? "No reviewed plan" : "Refused");
    }
  }
  // Nor is it what a pipeline of another kind has planned of the same commit.
  gitlab.merged = { state: "merged", iid: 7, target_branch: "main", sha: wanted, merge_commit_sha: wanted };
  expect(
    await gitlab.run(
      "tenon:plan",
      { id: 9, source: "web", sha: wanted },
      { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main" },
    ),
  ).toMatchObject({ code: 0 });
  const other = await gitlab.run("tenon:apply", { id: 10, source: "push", sha: wanted });
  expect(other).toMatchObject({ code: 1, log: expect.stringContaining("has no successful tenon:plan") });
  gitlab.merged = { ...gitlab.merged, target_branch: "theirs" };
  const theirs = await gitlab.run("tenon:apply", { id: 11, source: "push", sha: wanted });
  expect(theirs).toMatchObject({ code: 1, log: expect.stringContaining("is not the merge of a merge request") });
  expect(await labelsOf(service)).toEqual([]);
});

test("on GitHub the reviewed plan is the artifact of the only run that planned the merged commit, found by its number", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { service, repository, forge, runner } = await open();
  const { head, merge } = await repository.propose(FORMED("a"));
  const planned = await runner.run("tenon-plan.yml", pullRequest(merge), ["plan"]);
  const sha = await repository.merge();
  review(forge, planned.id, head, sha);
  const find = async () => (await runner.run("tenon-apply.yml", push(sha), ["find"])).jobs["find"];
  const id = runner.artifactId(planned.id, "tenon-plan");
  expect(await find()).toMatchObject({ outputs: { "run-id": String(planned.id), "artifact-id": String(id) } });

  // A pull request of the same commit to a branch of their own runs the workflow of that branch.
  const theirs = forge.id();
  addRun(forge, theirs, head);
  expect(await find()).toMatchObject({
    result: "failure",
    log: expect.stringContaining("several runs have planned #7"),
  });
  forge.runs.pop();

  // The same commit may be the merge into a branch of theirs, whose plan they have approved themselves.
  const [merged] = forge.pulls;
  forge.pulls.splice(0, 1, { ...(merged as PullRequest), base: { ref: "theirs" } });
  expect(await find()).toMatchObject({ result: "failure", log: expect.stringContaining("is not the merge of") });
  forge.pulls.splice(0, 1, merged as PullRequest);

  for (const forged of [{ expired: true }, { name: "tenon-plan\nrun-id=1" }, { id: "1\nrun-id=2" as never }]) {
    const before = forge.artifacts.map((artifact) => ({ ...artifact }));
    Object.assign(forge.artifacts.find(({ name }) => name === "tenon-plan") ?? {}, forged);
    expect(await find()).toMatchObject({ result: "failure", outputs: { "artifact-id": "" } });
    forge.artifacts.splice(0, forge.artifacts.length, ...before);
  }
  expect(await labelsOf(service)).toEqual([]);
});

test("names and lines of a project are no workflow commands and no markdown to GitHub: logs, summaries, the comment, the issue", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { service, repository, forge, runner } = await open();
  const line = "::set-output name=run-id::7";
  const hostile = `${JSON.stringify(`${line}\n##[add-path]/evil ${ACTIVE}`)}`;
  const zone = `  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    note: ${hostile}
    records: [{ type: TXT, name: t, target: ${JSON.stringify(`${line} ##[x] ${ACTIVE.replaceAll("\n", " ")}`)} }]
`;
  const manifest = `tenon: 1\nfiles: ["*.yaml"]\ndomains:\n${zone}`;
  const files = {
    "::add-mask::a.yaml": "tenon:   1\n",
    "\n::set-env name=A::b.yaml": "tenon:   1\n",
    "##[add-path]c.yaml": "tenon:   1\n",
  };
  const { merge } = await repository.propose(manifest, "proposal", () => put(repository.folder, files));
  const { jobs } = await runner.run("tenon-plan.yml", pullRequest(merge), ["validate", "plan", "comment"]);
  expect(jobs["validate"]?.log).toContain("::add-mask::a.yaml");
  expect(jobs["plan"]?.log).toContain("set-output");
  const broken = await repository.propose(`${manifest}${line}: [\n`, "broken", () =>
    put(repository.folder, { "##[add-path]d.yaml": "a: [\n" }),
  );
  const invalid = await runner.run("tenon-plan.yml", pullRequest(broken.merge), ["validate", "plan", "comment"]);
  await repository.git("checkout", "--quiet", "main");
  const domain = { domain: "example.com", type: "master", soa_email: "hostmaster@example.com" };
  const { body } = await tested(service).send("POST", "/domains", domain);
  await tested(service).send("POST", `/domains/${body.id}/records`, {
    type: "TXT",
    name: "t",
    target: `##[evil] ${line}`,
  });
  const night = await runner.run("tenon-drift.yml", { ...push(await repository.merge()), name: "schedule" });
  const all = [jobs, invalid.jobs, night.jobs].flatMap((each) => Object.values(each));
  for (const { log, summary } of all) {
    for (const command of obeyed(log)) expect(command).toMatch(/^::error title=Tenon[^:]*::[A-Z][^%]*$/);
    expect(acted(summary)).not.toMatch(/evil|set-output|add-path/);
  }
  expect(all.map(({ summary }) => summary).join("")).toContain("evil");
  for (const { body } of [...forge.comments, ...forge.issues]) {
    // What is indented by four spaces is code.
    expect(acted(body.replaceAll(/^ {4}.*$/gm, ""))).not.toMatch(/evil|set-output|add-path/);
  }
  expect([forge.comments, forge.issues]).toMatchObject([[{}], [{ body: expect.stringContaining(line) }]]);
});
