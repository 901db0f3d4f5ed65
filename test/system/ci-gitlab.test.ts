/** The GitLab pipeline: what it must never do, and its jobs run: real shells, the real tool. GitLab is stood in for. */

import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { emulator } from "../cli/run.ts";
import { checkTenonCommands } from "../examples/ci/commands.ts";
import { Repository } from "../examples/ci/repository.ts";
import { bash, writeTools } from "../examples/ci/runner.ts";
import { type Environment, gitlabText, readGitlab } from "../examples/ci/workflow.ts";
import { tested } from "../support/emulator.ts";

const JOBS = readGitlab();
const ME = 42;
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
  const pipeline = await open();
  const { repository, gitlab, service } = pipeline;
  gitlab.notes.push({ id: 1, author: { id: 7 }, body: "<!-- tenon-plan . -->\nforged" });
  await repository.propose(zone("one", "two"));
  await repository.git("checkout", "--quiet", "proposal");
  // There is no other place to fetch from: origin is the repository itself.
  expect(await pipeline.run("tenon:plan")).toMatchObject({ code: 0 });
  for (let push = 0; push < 2; push += 1) expect(await pipeline.run("tenon:comment")).toMatchObject({ code: 0 });
  expect(gitlab.notes).toMatchObject([{ body: expect.stringContaining("forged") }, { author: { id: ME } }]);
  expect(gitlab.notes[1]?.body).toContain("two");
  await repository.git("checkout", "--quiet", "main");
  await pipeline.keepPlan();

  const sha = await repository.merge();
  gitlab.merged = {
    state: "merged",
    iid: 7,
    sha: await repository.git("rev-parse", "proposal"),
    merge_commit_sha: sha,
  };
  expect(await pipeline.run("tenon:apply", { CI_COMMIT_SHA: sha })).toMatchObject({ code: 0 });
  expect(await labelsOf(service)).toEqual(["one", "two"]);

  await repository.commit(zone("one", "two", "three"));
  const grown = await pipeline.run("tenon:apply", { CI_COMMIT_SHA: sha });
  expect(grown.code).toBe(5);
  expect(grown.log).toContain("Not within the reviewed plan");
  const unreviewed = await pipeline.run("tenon:apply", { CI_COMMIT_SHA: await repository.git("rev-parse", "HEAD") });
  expect(unreviewed.code).toBe(1);
  expect(unreviewed.log).toContain("No reviewed plan");
  expect(await labelsOf(service)).toEqual(["one", "two"]);
});

it("opens one issue for drift, and closes it", { timeout: TIMEOUT_MILLISECONDS }, async () => {
  const { repository, run, gitlab } = await open();
  await repository.commit(zone("one"));
  for (let night = 0; night < 2; night += 1) expect(await run("tenon:drift")).toMatchObject({ code: 0 });
  expect(gitlab.issues).toMatchObject([{ state: "opened", labels: "tenon-drift", confidential: true }]);
  expect(gitlab.issues[0]?.description).toContain("one");
  await repository.commit("tenon: 1\n");
  expect(await run("tenon:drift")).toMatchObject({ code: 0 });
  expect(gitlab.issues).toMatchObject([{ state: "closed" }]);
});

async function open() {
  const service = await emulator();
  const repository = await Repository.open("tenon: 1\n");
  await repository.git("remote", "add", "origin", repository.folder);
  const bin = await mkdtemp(join(tmpdir(), "tenon-gitlab-"));
  onTestFinished(() => rm(bin, { recursive: true, force: true }));
  await writeTools(bin);
  const gitlab = await openGitlab();
  const env: Environment = {
    PATH: [bin, process.env["PATH"]].join(delimiter),
    HOME: bin,
    PROJECT: ".",
    TENON_BASE_URL: service.baseUrl,
    TENON_TOKEN_READ: "emulator-token",
    TENON_TOKEN: "emulator-token",
    TENON_GITLAB_TOKEN: "glpat-test",
    CI_API_V4_URL: gitlab.url,
    CI_PROJECT_ID: "9",
    CI_MERGE_REQUEST_IID: "7",
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
  };
  return {
    service,
    repository,
    gitlab,
    async run(name: string, more: Environment = {}) {
      const { before_script = [], script = [], extends: base } = JOBS[name] ?? {};
      const before = base === undefined ? before_script : (JOBS[base]?.before_script ?? []);
      return bash([...before, ...script].join("\n"), repository.folder, { ...env, ...more });
    },
    /** The artifact of the plan job goes to GitLab; the workspace is clean again. */
    async keepPlan() {
      const { readFile } = await import("node:fs/promises");
      gitlab.plan = await readFile(join(repository.folder, "tenon-out/plan.json"));
      await rm(join(repository.folder, "tenon-out"), { recursive: true });
      await mkdir(join(repository.folder, "tenon-out"));
    },
  };
}

interface Note {
  readonly id: number;
  readonly author: { readonly id: number };
  body: string;
}

interface Issue {
  readonly iid: number;
  readonly author: { readonly id: number };
  readonly labels: string;
  description: string;
  state: string;
}

/** GitLab's API as far as the pipeline uses it. */
async function openGitlab() {
  const state = {
    url: "",
    notes: [] as Note[],
    issues: [] as Issue[],
    merged: null as Readonly<Record<string, unknown>> | null,
    plan: Buffer.of(),
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
    const isKnown = request.headers["private-token"] === "glpat-test";
    const answer = isKnown ? answerTo(state, request, body) : undefined;
    if (answer === undefined) response.writeHead(isKnown ? 404 : 401).end();
    else response.end(Buffer.isBuffer(answer) ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}

type Gitlab = Awaited<ReturnType<typeof openGitlab>>;

function answerTo(state: Gitlab, { method, url = "" }: IncomingMessage, body: Record<string, string>): unknown {
  const path = url.split("?")[0]?.replace("/projects/9", "") ?? "";
  if (path === "/user") return { id: ME };
  if (path === "/merge_requests/7/pipelines") return [{ id: 3, sha: state.merged?.["sha"], project_id: 9 }];
  if (path === "/pipelines/3/jobs") return [{ id: 4, name: "tenon:plan" }];
  if (path === "/jobs/4/artifacts/tenon-out/plan.json") return state.plan;
  if (path.startsWith("/repository/commits/")) return state.merged === null ? [] : [state.merged];
  const author = { id: ME };
  if (path === "/merge_requests/7/notes" && method === "POST") {
    return state.notes.push({ id: state.notes.length + 1, author, body: body["body"] ?? "" });
  }
  if (path === "/merge_requests/7/notes") return state.notes;
  if (path === "/issues" && method === "POST") {
    const made = { description: "", labels: "", ...body, iid: state.issues.length + 1, author, state: "opened" };
    return state.issues.push(made);
  }
  if (path === "/issues") return state.issues.filter((issue) => issue.state === "opened");
  const found = path.startsWith("/issues/")
    ? state.issues[Number(path.slice(8)) - 1]
    : state.notes[Number(path.slice(24)) - 1];
  if (found === undefined) return undefined;
  return Object.assign(found, body, body["state_event"] === "close" ? { state: "closed" } : {});
}

async function labelsOf(service: Awaited<ReturnType<typeof emulator>>): Promise<string[]> {
  const { body } = await tested(service).send("GET", "/vpcs");
  return body.data.map(({ label }: { label: string }) => label).sort();
}
