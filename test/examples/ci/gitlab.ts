/** Runs the jobs of the GitLab pipeline as its runner would: a new clone, real shells, a real npm, the real tool. GitLab's API is stood in for. */

import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { bash, writeNode } from "./runner.ts";
import { type Environment, readGitlab } from "./workflow.ts";

const run = promisify(execFile);
const JOBS = readGitlab();
const PROJECT_ID = 9;
const PAGE_SIZE = 20;
export const ME = 42;

/** What a pipeline runs for. */
export interface Pipeline {
  readonly id: number;
  readonly source: "merge_request_event" | "push" | "web" | "schedule";
  readonly sha: string;
}

interface JobEnded {
  readonly code: number;
  readonly log: string;
}

interface KeptJob {
  readonly id: number;
  readonly name: string;
  readonly pipeline: Pipeline;
  readonly status: string;
  readonly folder: string;
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

export class Gitlab {
  readonly notes: Note[] = [];
  readonly issues: Issue[] = [];
  readonly jobs: KeptJob[] = [];
  merged: Readonly<Record<string, unknown>> | null = null;
  /** What the lists of a commit's merge requests and of a merge request's pipelines have before what the test is about. */
  readonly otherRequests: Readonly<Record<string, unknown>>[] = [];
  readonly otherPipelines: Pipeline[] = [];
  readonly #origin: string;
  readonly #folder: string;
  readonly #baseUrl: string;
  #url = "";

  private constructor(origin: string, folder: string, baseUrl: string) {
    this.#origin = origin;
    this.#folder = folder;
    this.#baseUrl = baseUrl;
  }

  /** Closed and gone when the test ends. */
  static async open(origin: string, baseUrl: string): Promise<Gitlab> {
    const folder = await mkdtemp(join(tmpdir(), "tenon-gitlab-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeNode(join(folder, "bin"));
    const gitlab = new Gitlab(origin, folder, baseUrl);
    const server = createServer((request, response) => void gitlab.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    gitlab.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return gitlab;
  }

  /** Clones, runs, and keeps what the job names, be it made by the job or not. */
  async run(name: string, pipeline: Pipeline, more: Environment = {}): Promise<JobEnded> {
    const id = this.jobs.length + 1;
    const place = join(this.#folder, `job-${id}`);
    const [work, temp] = [join(place, "work"), join(place, "temp")];
    await mkdir(temp, { recursive: true });
    await run("git", ["clone", "--quiet", "--no-checkout", this.#origin, work]);
    await run("git", ["-C", work, "checkout", "--quiet", "--detach", pipeline.sha]);
    const { before_script = [], script = [], extends: base, artifacts } = JOBS[name] ?? {};
    const before = base === undefined ? before_script : (JOBS[base]?.before_script ?? []);
    const text = [...before, ...script].join("\n");
    const environment = {
      ...this.environment(pipeline, temp),
      ...(await this.#request(pipeline)),
      ...(await this.#before(pipeline)),
      ...more,
    };
    const ended = await bash(text, work, environment, temp);
    const kept = join(place, "kept");
    for (const path of artifacts?.paths ?? []) {
      if ((await stat(join(work, path)).catch(() => null)) === null) continue;
      await mkdir(dirname(join(kept, path)), { recursive: true });
      await copyFile(join(work, path), join(kept, path));
    }
    this.jobs.push({ id, name, pipeline, status: ended.code === 0 ? "success" : "failed", folder: kept });
    return ended;
  }

  /** The tip of the branch before a push; zeros for any other pipeline. */
  async #before({ source, sha }: Pipeline): Promise<Environment> {
    if (source !== "push") return { CI_COMMIT_BEFORE_SHA: "0".repeat(40) };
    return { CI_COMMIT_BEFORE_SHA: (await run("git", ["-C", this.#origin, "rev-parse", `${sha}^1`])).stdout.trim() };
  }

  /** What GitLab says of a merge request that goes to main. */
  async #request({ source, sha }: Pipeline): Promise<Environment> {
    if (source !== "merge_request_event") return {};
    const { stdout } = await run("git", ["-C", this.#origin, "merge-base", "main", sha]);
    return { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main", CI_MERGE_REQUEST_DIFF_BASE_SHA: stdout.trim() };
  }

  environment({ id, source, sha }: Pipeline, temp: string): Environment {
    const isRequest = source === "merge_request_event";
    return {
      PATH: [join(this.#folder, "bin"), process.env["PATH"]].join(delimiter),
      HOME: temp,
      TMPDIR: temp,
      PROJECT: ".",
      TENON_BASE_URL: this.#baseUrl,
      TENON_TOKEN_READ: "emulator-token",
      ...(isRequest ? {} : { TENON_TOKEN: "emulator-token" }),
      TENON_GITLAB_TOKEN: "glpat-test",
      CI_API_V4_URL: this.#url,
      CI_PROJECT_ID: String(PROJECT_ID),
      CI_PIPELINE_ID: String(id),
      CI_PIPELINE_SOURCE: source,
      CI_COMMIT_SHA: sha,
      CI_DEFAULT_BRANCH: "main",
      ...(isRequest ? { CI_MERGE_REQUEST_IID: "7" } : { CI_COMMIT_BRANCH: "main" }),
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
    const isKnown = request.headers["private-token"] === "glpat-test";
    const answer = isKnown ? await this.#answer(request, body) : undefined;
    if (answer === undefined) response.writeHead(isKnown ? 404 : 401).end();
    else if (Array.isArray(answer))
      sendPage(response, answer, new URL(request.url ?? "", "http://gitlab").searchParams);
    else response.end(Buffer.isBuffer(answer) ? answer : JSON.stringify(answer));
  }

  async #answer({ method, url = "" }: IncomingMessage, body: Record<string, string>): Promise<unknown> {
    const { pathname, searchParams } = new URL(url, "http://gitlab");
    const path = pathname.replace(`/projects/${PROJECT_ID}`, "");
    if (path === "/user") return { id: ME };
    if (path === "/merge_requests/7") return { sha: this.#newestCommit() };
    if (path === "/merge_requests/7/pipelines") return this.#pipelines();
    const pipeline = /^\/pipelines\/(\d+)\/jobs$/.exec(path)?.[1];
    if (pipeline !== undefined) {
      const hasRetried = searchParams.get("include_retried") === "true";
      return this.#jobsOf(Number(pipeline), searchParams.getAll("scope[]"), hasRetried);
    }
    const [, job, file] = /^\/jobs\/(\d+)\/artifacts\/(.+)$/.exec(path) ?? [];
    if (job !== undefined) return readFile(join(this.#jobFolder(Number(job)), file ?? "")).catch(() => undefined);
    if (path.startsWith("/repository/commits/"))
      return [...this.otherRequests, ...(this.merged === null ? [] : [this.merged])];
    return this.#discussion(method, path, body);
  }

  /** That of the newest pipeline. */
  #newestCommit(): string | undefined {
    const ofRequest = this.jobs.filter(({ pipeline }) => pipeline.source === "merge_request_event");
    return ofRequest.map(({ pipeline }) => pipeline).sort((a, b) => b.id - a.id)[0]?.sha;
  }

  #pipelines() {
    const seen = new Map(this.jobs.map(({ pipeline }) => [pipeline.id, pipeline]));
    return [...this.otherPipelines, ...seen.values()].map((pipeline) => ({ ...pipeline, project_id: PROJECT_ID }));
  }

  #jobsOf(pipeline: number, states: readonly string[], hasRetried: boolean) {
    const isRetried = (job: KeptJob) =>
      this.jobs.findLast(({ name, pipeline: own }) => name === job.name && own.id === pipeline) !== job;
    const fits = (job: KeptJob) =>
      job.pipeline.id === pipeline && states.includes(job.status) && (hasRetried || !isRetried(job));
    return this.jobs.filter(fits).map(({ id, name }) => ({ id, name }));
  }

  #jobFolder(id: number): string {
    return this.jobs.find((job) => job.id === id)?.folder ?? "";
  }

  #discussion(method: string | undefined, path: string, body: Record<string, string>): unknown {
    const author = { id: ME };
    if (path === "/merge_requests/7/notes" && method === "POST") {
      return this.notes.push({ id: this.notes.length + 1, author, body: body["body"] ?? "" });
    }
    if (path === "/merge_requests/7/notes") return this.notes;
    if (path === "/issues" && method === "POST") {
      const made = { description: "", labels: "", ...body, iid: this.issues.length + 1, author, state: "opened" };
      return this.issues.push(made);
    }
    if (path === "/issues") return this.issues.filter((issue) => issue.state === "opened");
    const found = path.startsWith("/issues/")
      ? this.issues[Number(path.slice(8)) - 1]
      : this.notes[Number(path.slice(24)) - 1];
    if (found === undefined) return undefined;
    return Object.assign(found, body, body["state_event"] === "close" ? { state: "closed" } : {});
  }
}

/** One page of a list, and the number of the next in a header, which is empty on the last. */
function sendPage(response: ServerResponse, items: readonly unknown[], query: URLSearchParams): void {
  const size = Number(query.get("per_page") ?? PAGE_SIZE);
  const page = Number(query.get("page") ?? 1);
  response.setHeader("x-next-page", items.length > page * size ? String(page + 1) : "");
  response.end(JSON.stringify(items.slice((page - 1) * size, page * size)));
}
