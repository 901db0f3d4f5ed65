/** The GitLab pipeline: what it must never do, and its jobs run: real shells, the real tool. GitLab is stood in for. */

import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { emulator } from "../cli/run.ts";
import { checkTenonCommands } from "../examples/ci/commands.ts";
import { Gitlab, ME, type Pipeline } from "../examples/ci/gitlab.ts";
import { Repository } from "../examples/ci/repository.ts";
import { gitlabText, readGitlab } from "../examples/ci/workflow.ts";
import { tested } from "../support/emulator.ts";

const JOBS = readGitlab();
/** Many processes; a busy machine is no failure. */
const TIMEOUT_MILLISECONDS = 240_000;
const RAN = Object.entries(JOBS).filter(([name]) => !name.startsWith("."));
const DEFAULT_BRANCH = "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH";
const OWN_REQUEST = "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID";

const zone = (...names: readonly string[]) => `tenon: 1
vpcs:
${names.map((label) => `  - { label: ${label}, region: us-east }\n`).join("")}`;

describe(".gitlab-ci.yml", () => {
  it("calls commands and flags that exist, in valid shell", () => {
    for (const [name, { script = [], before_script = [] }] of Object.entries(JOBS)) {
      const text = [...before_script, ...script].join("\n");
      expect([name, checkTenonCommands(text).problems]).toEqual([name, []]);
      expect(spawnSync("bash", ["-n"], { input: text, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
    }
  });

  it("uses the token that may write in the protected environment alone, one job at a time", () => {
    const writing = RAN.filter(([, job]) => job.environment !== undefined);
    expect(writing.map(([name]) => name)).toEqual(["tenon:apply"]);
    expect(JOBS["tenon:apply"]).toMatchObject({ environment: "production", resource_group: "tenon" });
    expect(JOBS["tenon:apply"]?.rules).toEqual([
      { if: expect.stringContaining(DEFAULT_BRANCH), when: "manual", allow_failure: false },
    ]);
    for (const [name, { script = [], environment }] of RAN) {
      if (environment !== undefined) continue;
      const rest = script.join("\n").replaceAll(/TENON_TOKEN="?\$TENON_TOKEN_READ/g, "");
      expect(`${name}: ${rest}`).not.toMatch(/TENON_TOKEN\b/);
    }
  });

  it("asks a token of nobody else's project, and keeps plans and journals from the world", () => {
    for (const name of ["tenon:plan", "tenon:comment"]) {
      for (const rule of JOBS[name]?.rules ?? []) expect(rule.if).toContain(OWN_REQUEST);
    }
    for (const [, { artifacts }] of RAN) if (artifacts !== undefined) expect(artifacts.access).toBe("developer");
    expect(gitlabText()).not.toMatch(
      /CI_MERGE_REQUEST_(TITLE|DESCRIPTION|SOURCE_BRANCH_NAME)|CI_COMMIT_(MESSAGE|TITLE)/,
    );
  });
});

it("plans into one note, applies what was reviewed, and stops at what was not", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const { repository, gitlab, service } = await open();
  gitlab.notes.push({ id: 1, author: { id: 7 }, body: "<!-- tenon-plan . -->\nforged" });
  const { head } = await repository.propose(zone("one", "two"));
  const request: Pipeline = { id: 3, source: "merge_request_event", sha: head };
  expect(await gitlab.run("tenon:validate", request)).toMatchObject({ code: 1 });
  expect(await gitlab.run("tenon:plan", request)).toMatchObject({ code: 0 });
  for (let push = 0; push < 2; push += 1) {
    expect(await gitlab.run("tenon:comment", request)).toMatchObject({ code: 0 });
  }
  expect(gitlab.notes).toMatchObject([{ body: expect.stringContaining("forged") }, { author: { id: ME } }]);
  expect(gitlab.notes[1]?.body).toContain("two");

  const sha = await repository.merge();
  gitlab.merged = { state: "merged", iid: 7, target_branch: "main", sha: head, merge_commit_sha: sha };
  expect(await gitlab.run("tenon:apply", { id: 4, source: "push", sha })).toMatchObject({ code: 0 });
  expect(await labelsOf(service)).toEqual(["one", "two"]);
  const { folder } = gitlab.jobs.at(-1) ?? { folder: "" };
  expect(await readFile(join(folder, "tenon-out/journal.jsonl"), "utf8")).toContain("two");

  const later = await repository.commit(zone("one", "two", "three"));
  const grown = await gitlab.run("tenon:apply", { id: 5, source: "push", sha: later }, { CI_COMMIT_SHA: sha });
  expect(grown.code).toBe(5);
  expect(grown.log).toContain("Not within the reviewed plan");
  const unreviewed = await gitlab.run("tenon:apply", { id: 6, source: "push", sha: later });
  expect(unreviewed.code).toBe(1);
  expect(unreviewed.log).toContain("No reviewed plan");
  expect(await labelsOf(service)).toEqual(["one", "two"]);

  // By hand: planned anew in the same pipeline.
  const byHand: Pipeline = { id: 8, source: "web", sha: later };
  expect((await gitlab.run("tenon:apply", byHand)).log).toContain("no successful tenon:replan");
  expect(await gitlab.run("tenon:replan", byHand)).toMatchObject({ code: 0 });
  expect(await gitlab.run("tenon:apply", byHand)).toMatchObject({ code: 0 });
  expect(await labelsOf(service)).toEqual(["one", "three", "two"]);
});

it("opens one issue for drift, and closes it", { timeout: TIMEOUT_MILLISECONDS }, async () => {
  const { repository, gitlab } = await open();
  const night = (sha: string): Pipeline => ({ id: 3, source: "schedule", sha });
  const sha = await repository.commit(zone("one"));
  for (let nights = 0; nights < 2; nights += 1) {
    expect(await gitlab.run("tenon:drift", night(sha))).toMatchObject({ code: 0 });
  }
  expect(gitlab.issues).toMatchObject([{ state: "opened", labels: "tenon-drift", confidential: true }]);
  expect(gitlab.issues[0]?.description).toContain("one");
  expect(await gitlab.run("tenon:drift", night(await repository.commit("tenon: 1\n")))).toMatchObject({ code: 0 });
  expect(gitlab.issues).toMatchObject([{ state: "closed" }]);
});

async function open() {
  const service = await emulator();
  const repository = await Repository.open("tenon: 1\n");
  return { service, repository, gitlab: await Gitlab.open(repository.folder, service.baseUrl) };
}

async function labelsOf(service: Awaited<ReturnType<typeof emulator>>): Promise<string[]> {
  const { body } = await tested(service).send("GET", "/vpcs");
  return body.data.map(({ label }: { label: string }) => label).sort();
}
