/** The example pipelines against what a forge says that others have a hand in: bases of merge requests, and lists that they can lengthen. */

import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { emulator, folder } from "../cli/run.ts";
import { type Artifact, Forge, REPOSITORY, REPOSITORY_ID, type StartedRun } from "../examples/ci/forge.ts";
import { Gitlab, type Pipeline } from "../examples/ci/gitlab.ts";
import { Repository } from "../examples/ci/repository.ts";
import { bash, type RunEvent, Runner, writeNode } from "../examples/ci/runner.ts";
import { gitlabText, SCRIPTS } from "../examples/ci/workflow.ts";

/** Many processes; a busy machine is no failure. */
const TIMEOUT_MILLISECONDS = 240_000;
const FORMED = (label: string) => `tenon: 1\n\nvpcs:\n  - label: ${label}\n    region: us-east\n`;
const PWNED = 'echo "PWNED ${TENON_TOKEN_READ:-by nobody}"\n';
/** The most that the scripts read of one list. */
const MAX_LIST_ITEMS = 1_000;

/**
 * A commit of `theirs` with scripts of their own, whose revert was merged by fast-forward; and a request that branches off it: what it changes
 * against main is the manifest alone.
 */
async function revertedScripts(repository: Repository): Promise<{ readonly evil: string; readonly head: string }> {
  await repository.git("checkout", "--quiet", "-b", "theirs");
  for (const name of ["install.sh", "common.sh"]) {
    const file = join(repository.folder, "ci/tenon", name);
    await writeFile(file, PWNED + (await readFile(file, "utf8")));
  }
  const evil = await repository.commit("tenon: 1\n");
  await repository.git("revert", "--no-commit", evil);
  await repository.commit(FORMED("a"));
  await repository.git("checkout", "--quiet", "main");
  await repository.git("merge", "--quiet", "--ff-only", "theirs");
  await repository.git("branch", "--force", "theirs", evil);
  await repository.git("checkout", "--quiet", "-b", "second", evil);
  const head = await repository.commit(FORMED("a").replace("\n\n", "\n\n# reviewed\n"));
  await repository.git("checkout", "--quiet", "main");
  expect(await repository.git("diff", "--name-only", "main...second")).toBe("tenon.yaml");
  expect(await repository.git("merge-base", "main", "second")).toBe(evil);
  return { evil, head };
}

test("on GitLab a merge request's scripts are those of the default branch's tip, wherever it branches off, or nothing runs", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const repository = await Repository.open("tenon: 1\n");
  const { head } = await revertedScripts(repository);
  const gitlab = await Gitlab.open(repository.folder, (await emulator()).baseUrl);
  const request: Pipeline = { id: 3, source: "merge_request_event", sha: head };
  for (const name of ["tenon:validate", "tenon:plan", "tenon:comment"]) {
    const { code, log } = await gitlab.run(name, request);
    expect({ name, code, isTheirs: log.includes("PWNED") }).toEqual({ name, code: 0, isTheirs: false });
  }
  expect(gitlab.notes).toMatchObject([{ body: expect.stringContaining("## No changes within the targets.") }]);

  // A branch of theirs has scripts of theirs; one that is not there has none, and those of the checkout take nobody's place.
  const branch = (target: string, own = "main") =>
    gitlab.run("tenon:plan", request, { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: target, CI_DEFAULT_BRANCH: own });
  const refused = "Refused, this merge request does not go to the default branch";
  for (const [target, own, words] of [
    ["theirs", "main", refused],
    ["", "main", refused],
    ["gone", "gone", "refs/heads/gone"],
    ["", "", "refs/heads/"],
  ] as const) {
    const { code, log } = await branch(target, own);
    expect({ target, isWell: code === 0, isTheirs: log.includes("PWNED") }).toEqual({
      target,
      isWell: false,
      isTheirs: false,
    });
    expect(log).toContain(words);
  }
  const rule = '- if: $CI_PIPELINE_SOURCE == "merge_request_event"';
  expect(gitlabText()).toContain(`${rule} && $CI_MERGE_REQUEST_TARGET_BRANCH_NAME == $CI_DEFAULT_BRANCH\n`);
});

test("on GitHub a pull request's scripts are those of the base branch's tip, whatever commit the event says", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const repository = await Repository.open("tenon: 1\n");
  const { evil, head } = await revertedScripts(repository);
  const forge = await Forge.open();
  const runner = await Runner.open(forge, repository.folder, (await emulator()).baseUrl);
  // It was opened against a branch of theirs, and goes to main since.
  const event: RunEvent = {
    ...{ name: "pull_request", sha: head, ref: "refs/pull/7/merge", base_ref: "main", base_sha: evil },
    ...{ pull: { number: 7, repository: REPOSITORY }, secrets: { TENON_TOKEN_READ: "emulator-token" } },
  };
  const { jobs } = await runner.run("tenon-plan.yml", event, ["validate", "plan", "comment"]);
  for (const [name, { result, log }] of Object.entries(jobs)) {
    expect({ name, result, isTheirs: log.includes("PWNED") }).toEqual({ name, result: "success", isTheirs: false });
  }
  expect(forge.comments).toMatchObject([{ body: expect.stringContaining("## No changes within the targets.") }]);
});

test("a run of an older commit that is started again leaves the comment of the newest one as it is, on GitHub and on GitLab", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const repository = await Repository.open("tenon: 1\n");
  const service = await emulator();
  const older = await repository.propose(FORMED("older"), "one");
  const newer = await repository.propose(FORMED("newer"), "two");

  const forge = await Forge.open();
  const runner = await Runner.open(forge, repository.folder, service.baseUrl);
  const event = (sha: string): RunEvent => ({
    ...{ name: "pull_request", sha, ref: "refs/pull/7/merge", base_ref: "main" },
    ...{ pull: { number: 7, repository: REPOSITORY }, secrets: { TENON_TOKEN_READ: "emulator-token" } },
  });
  const comment = async (given: RunEvent) => {
    const { jobs } = await runner.run("tenon-plan.yml", given, ["plan", "comment"]);
    return jobs["comment"];
  };
  expect(await comment(event(older.merge))).toMatchObject({ result: "success" });
  expect(await comment(event(newer.merge))).toMatchObject({ result: "success" });
  const again = await comment({ ...event(older.merge), isRunAgain: true });
  expect(again).toMatchObject({ result: "failure", log: expect.stringContaining("#7 has newer commits") });
  expect(forge.comments).toMatchObject([{ body: expect.stringContaining("newer") }]);

  const gitlab = await Gitlab.open(repository.folder, service.baseUrl);
  const [first, second] = [older, newer].map(({ head }, index): Pipeline => {
    return { id: index + 1, source: "merge_request_event", sha: head };
  }) as [Pipeline, Pipeline];
  for (const pipeline of [first, second]) {
    for (const name of ["tenon:plan", "tenon:comment"])
      expect(await gitlab.run(name, pipeline)).toMatchObject({ code: 0 });
  }
  const retried = await gitlab.run("tenon:comment", first);
  expect(retried).toMatchObject({ code: 1, log: expect.stringContaining("has newer commits") });
  expect(gitlab.notes).toMatchObject([{ body: expect.stringContaining("newer") }]);
});

const HEAD = "a".repeat(40);
const SHA = "b".repeat(40);

/** GitHub's side of the pipeline, called as its jobs do. */
async function openGithub() {
  const place = await folder({ output: "" });
  const forge = await Forge.open();
  await writeNode(join(place, "bin"));
  const run = async (command: string, more: Readonly<Record<string, string>> = {}) => {
    await writeFile(join(place, "output"), "");
    const env = {
      PATH: [join(place, "bin"), process.env["PATH"]].join(delimiter),
      GITHUB_TOKEN: forge.tokenFor({ actions: "read", contents: "read", "pull-requests": "read" }),
      ...{ GITHUB_API_URL: forge.url, GITHUB_REPOSITORY: REPOSITORY, GITHUB_OUTPUT: join(place, "output") },
      ...{ GITHUB_SHA: SHA, GITHUB_REF_NAME: "main", ...more },
    };
    const { code, log } = await bash(`node "${SCRIPTS}/github.mjs" ${command}`, place, env);
    return { code, log, output: await readFile(join(place, "output"), "utf8") };
  };
  return { forge, run };
}

function runOf(id: number, repository = "stranger/infra") {
  const head_repository = { full_name: repository };
  return { id, run_number: id, event: "pull_request", status: "success", head_sha: HEAD, head_repository };
}

function pullOf(number: number, sha = "c".repeat(40)) {
  const merged = { merged_at: "2026-11-21T00:00:00Z", merge_commit_sha: sha };
  return { id: number, number, head: { sha: HEAD }, base: { ref: "main" }, ...merged };
}

function artifactOf(id: number, name: string, run: number, more: Partial<Artifact> = {}): Artifact {
  const workflow_run = { id: run, head_branch: "main", head_repository_id: REPOSITORY_ID };
  return { id, name, expired: false, workflow_run, ...more };
}

function snapshotRun(id: number, event: string): StartedRun {
  return { id, workflow: "tenon-drift.yml", event, head_branch: "main" };
}

/** So many of them. */
function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

test("on GitHub an apply of an older commit that is started again is refused", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { forge, run } = await openGithub();
  for (const [attempt, tip, code] of [
    ["1", HEAD, 0],
    ["2", SHA, 0],
    ["2", HEAD, 1],
    ["17", HEAD, 1],
  ] as const) {
    forge.tip = tip;
    const ended = await run("newest", { RUN_ATTEMPT: attempt });
    expect([attempt, ended.code]).toEqual([attempt, code]);
    expect(ended.log.includes(`main has newer commits than ${SHA}`)).toBe(code === 1);
  }
  // A workflow of before says neither which commit it is of, nor which run of it.
  expect(await run("newest")).toMatchObject({ code: 1 });
  expect(await run("comment missing.md")).toMatchObject({ code: 1, log: expect.stringContaining("HEAD is no commit") });
});

test("on GitHub a run on a later page counts as a run that planned the commit, and a list that cannot be read completely is refused", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { forge, run } = await openGithub();
  const set = <T>(list: T[], items: readonly T[]) => list.splice(0, list.length, ...items);
  const reviewed = runOf(100, REPOSITORY);
  const found = { code: 0, output: "run-id=100\nartifact-id=5\n" };
  set(forge.pulls, [pullOf(7, SHA)]);
  set(forge.artifacts, [artifactOf(5, "tenon-plan", 100), artifactOf(9, "tenon-plan", 900)]);
  const forks = (count: number) => times(count, (index) => runOf(1_000 + index));

  // Newest first, as GitHub lists them.
  const forged = runOf(900, REPOSITORY);
  for (const count of [29, 99, 150, MAX_LIST_ITEMS - 3]) {
    set(forge.runs, [forged, ...forks(count), reviewed]);
    expect(await run("plan-run")).toMatchObject({
      ...{ code: 1, output: "", log: expect.stringContaining("several runs have planned #7") },
    });
    set(forge.runs, [...forks(count + 1), reviewed]);
    expect(await run("plan-run")).toMatchObject(found);
  }
  const unread = (words: string) => ({ code: 1, output: "", log: expect.stringContaining(words) });
  set(forge.runs, [forged, ...forks(MAX_LIST_ITEMS - 1), reviewed]);
  expect(await run("plan-run")).toMatchObject(unread("the runs of tenon-plan.yml for #7 cannot be read whole"));

  // A run that goes while they are read moves another one to the page before; one that comes is on none of the later pages.
  for (const [runs, change] of [
    [[...forks(99), forged, reviewed], () => forge.runs.shift()],
    [[...forks(100), reviewed], () => forge.runs.unshift(forged)],
  ] as const) {
    set(forge.runs, runs);
    let answers = 0;
    forge.onRead = () => {
      answers += 1;
      // The first answer is of pull requests, the second the first page of runs.
      if (answers === 2) change();
    };
    expect(await run("plan-run")).toMatchObject(unread("cannot be read whole"));
  }
  forge.onRead = () => undefined;
  set(forge.runs, [reviewed]);

  set(forge.pulls, [...times(130, (index) => pullOf(1_000 + index)), pullOf(7, SHA)]);
  expect(await run("plan-run")).toMatchObject(found);
  // One whose commits another one has in it is merged as the same commit.
  set(forge.pulls, [pullOf(8, SHA), ...times(130, (index) => pullOf(1_000 + index)), pullOf(7, SHA)]);
  expect(await run("plan-run")).toMatchObject(unread(`several pull requests were merged as ${SHA}`));
  set(forge.pulls, [...times(MAX_LIST_ITEMS, (index) => pullOf(1_000 + index)), pullOf(7, SHA)]);
  expect(await run("plan-run")).toMatchObject(unread(`the pull requests of ${SHA} cannot be read whole`));
  set(forge.pulls, [pullOf(7, SHA)]);

  const gone = (count: number) =>
    times(count, (index) => artifactOf(1_000 + index, "tenon-plan", 100, { expired: true }));
  set(forge.artifacts, [...gone(130), artifactOf(5, "tenon-plan", 100)]);
  expect(await run("plan-run")).toMatchObject(found);
  set(forge.artifacts, [...gone(MAX_LIST_ITEMS), artifactOf(5, "tenon-plan", 100)]);
  expect(await run("plan-run")).toMatchObject(unread("what run 100 has kept cannot be read whole"));
});

test("on GitHub snapshots that a pull request has uploaded do not hide the account's own", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { forge, run } = await openGithub();
  const stranger = { workflow_run: { id: 9, head_branch: "main", head_repository_id: 9 } };
  const lures = (count: number) => times(count, (index) => artifactOf(1_000 + index, "tenon-snapshot", 9, stranger));
  forge.artifacts.push(...lures(130), artifactOf(6, "tenon-snapshot", 200), artifactOf(5, "tenon-snapshot", 100));
  for (const id of [100, 200]) forge.started.push(snapshotRun(id, "schedule"));
  expect(await run("snapshot-run")).toMatchObject({ code: 0, output: "run-id=200\nartifact-id=6\n" });
  forge.artifacts.unshift(...lures(MAX_LIST_ITEMS));
  expect(await run("snapshot-run")).toMatchObject({
    ...{
      code: 1,
      output: "",
      log: expect.stringContaining("the artifacts called tenon-snapshot cannot be read whole"),
    },
  });
});

test("on GitHub a snapshot is of a run that takes snapshots, and of no other workflow of the default branch", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { forge, run } = await openGithub();
  const taken = [artifactOf(5, "tenon-snapshot", 100), artifactOf(6, "tenon-snapshot", 200)];
  // Started by a comment, by a label, or with the same name from a fork: their runs are of the default branch, too.
  const lures = times(40, (index) => artifactOf(50 + index, "tenon-snapshot", 1_000 + index));
  forge.artifacts.push(...lures, ...taken);
  for (const [index, { workflow_run }] of lures.entries()) {
    const workflow = index % 2 === 0 ? "comment.yml" : "tenon-drift.yml";
    forge.started.push({ ...snapshotRun(workflow_run.id, index % 2 === 0 ? "schedule" : "pull_request"), workflow });
  }
  expect(await run("snapshot-run")).toMatchObject({ code: 0, output: "run-id=\n" });
  // By hand, or at night; a night of the branch of somebody is none of ours.
  forge.started.push(snapshotRun(100, "workflow_dispatch"), { ...snapshotRun(200, "schedule"), head_branch: "theirs" });
  expect(await run("snapshot-run")).toMatchObject({ code: 0, output: "run-id=100\nartifact-id=5\n" });
  forge.started.push(snapshotRun(200, "schedule"), ...times(90, (index) => snapshotRun(300 + index, "schedule")));
  expect(await run("snapshot-run")).toMatchObject({ code: 0, output: "run-id=200\nartifact-id=6\n" });
});

const REVIEWED = { code: 0, plan: expect.stringContaining('"label"') };

/** What the apply of that commit takes for the reviewed plan. */
async function reviewedPlan(gitlab: Gitlab, sha: string): Promise<{ code: number | null; log: string; plan: string }> {
  const [place, into] = [await folder({}), await folder({})];
  const file = join(into, "plan.json");
  const env = gitlab.environment({ id: 4, source: "push", sha }, place);
  const { code, log } = await bash(`node "${SCRIPTS}/gitlab.mjs" reviewed-plan "${file}"`, place, env);
  return { code, log, plan: await readFile(file, "utf8").catch(() => "") };
}

/** A merge request that pipeline 3 has planned, merged as `sha`. */
async function mergedRequest(): Promise<{ gitlab: Gitlab; head: string; sha: string }> {
  const repository = await Repository.open("tenon: 1\n");
  const { head } = await repository.propose(FORMED("a"));
  const gitlab = await Gitlab.open(repository.folder, (await emulator()).baseUrl);
  const pipeline: Pipeline = { id: 3, source: "merge_request_event", sha: head };
  expect(await gitlab.run("tenon:plan", pipeline)).toMatchObject({ code: 0 });
  const sha = await repository.merge();
  gitlab.merged = { state: "merged", iid: 7, target_branch: "main", sha: head, merge_commit_sha: sha };
  return { gitlab, head, sha };
}

test("on GitLab a plan job that was started again after the review, in its pipeline or another, leaves no reviewed plan", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  for (const id of [3, 9]) {
    const { gitlab, head, sha } = await mergedRequest();
    expect(await reviewedPlan(gitlab, sha)).toMatchObject(REVIEWED);
    const again: Pipeline = { id, source: "merge_request_event", sha: head };
    expect(await gitlab.run("tenon:plan", again)).toMatchObject({ code: 0 });
    expect(await reviewedPlan(gitlab, sha)).toMatchObject({
      ...{ code: 1, plan: "", log: expect.stringContaining(`tenon:plan of !7 planned ${head} more than once`) },
    });
  }
});

test("on GitLab a merge request or a pipeline on a later page is found, and a list that is too long is refused by name", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { gitlab, head, sha } = await mergedRequest();
  const reviewed = () => reviewedPlan(gitlab, sha);
  const others = { requests: gitlab.otherRequests, pipelines: gitlab.otherPipelines };
  const request = (index: number) => ({ ...gitlab.merged, iid: 1_000 + index, target_branch: "theirs" });
  const pipeline = (index: number): Pipeline => ({ id: 1_000 + index, source: "push", sha: head });
  for (const count of [20, 100, MAX_LIST_ITEMS - 1]) {
    others.requests.splice(0, MAX_LIST_ITEMS, ...times(count, request));
    others.pipelines.splice(0, MAX_LIST_ITEMS, ...times(count, pipeline));
    expect(await reviewed()).toMatchObject(REVIEWED);
  }
  const [planned] = gitlab.jobs;
  if (planned === undefined) throw new Error("nothing was planned");
  gitlab.jobs.unshift(...times(130, (index) => ({ ...planned, id: 1_000 + index, name: `other ${index}` })));
  expect(await reviewed()).toMatchObject(REVIEWED);
  others.requests[0] = { ...gitlab.merged, iid: 8 };
  expect(await reviewed()).toMatchObject({
    ...{ code: 1, plan: "", log: expect.stringContaining(`several merge requests were merged as ${sha}`) },
  });
  others.requests[0] = request(0);
  others.pipelines.push(pipeline(0), pipeline(1));
  expect(await reviewed()).toMatchObject({
    ...{ code: 1, plan: "", log: expect.stringContaining("the pipelines of !7 are more than 1000") },
  });
  others.requests.push(request(0), request(1));
  expect(await reviewed()).toMatchObject({
    ...{ code: 1, plan: "", log: expect.stringContaining(`the merge requests of ${sha} are more than 1000`) },
  });
});
