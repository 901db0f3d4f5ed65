/** GitHub's API as far as the pipeline uses it: over HTTP, with pages, and with a token for each job's permissions. */

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Permissions } from "./workflow.ts";

export const REPOSITORY = "example/infra";
export const REPOSITORY_ID = 4711;
const PLAN_WORKFLOW = "tenon-plan.yml";
export const BOT = "github-actions[bot]";

interface Item {
  readonly id: number;
  readonly number: number;
  readonly user: { readonly login: string };
  title: string;
  body: string;
  state: string;
  labels: readonly string[];
}

export interface PullRequest {
  readonly id: number;
  readonly number: number;
  readonly head: { readonly sha: string };
  readonly base: { readonly ref: string };
  readonly merged_at: string | null;
  readonly merge_commit_sha: string;
}

export interface Run {
  readonly id: number;
  readonly run_number: number;
  readonly event: string;
  readonly status: string;
  readonly head_sha: string;
  readonly head_repository: { readonly full_name: string };
}

/** A run of a workflow that plans no pull request. */
export interface StartedRun {
  readonly id: number;
  readonly workflow: string;
  readonly event: string;
  readonly head_branch: string;
}

export interface Artifact {
  readonly id: number;
  readonly name: string;
  readonly expired: boolean;
  readonly workflow_run: { readonly id: number; readonly head_branch: string; readonly head_repository_id: number };
}

export class Forge {
  readonly comments: Item[] = [];
  readonly issues: Item[] = [];
  readonly pulls: PullRequest[] = [];
  readonly runs: Run[] = [];
  /** Oldest first. */
  readonly started: StartedRun[] = [];
  readonly artifacts: Artifact[] = [];
  /** The newest commit of main. */
  tip = "";
  /** The newest commit of each open pull request. */
  readonly heads: Map<number, string> = new Map();
  isPrivate = true;
  /** Called after each answer to a GET, so that a list can change while it is read. */
  onRead: () => void = () => undefined;
  /** Each request that changes something, as `METHOD path`. */
  readonly written: string[] = [];
  #server: Server;
  #tokens = new Map<string, Permissions>();
  #last = 100;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const [status, body] = this.#answer(request, await readBody(request));
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      if (request.method === "GET") this.onRead();
    });
  }

  /** Closed when the test ends. */
  static async open(): Promise<Forge> {
    const forge = new Forge();
    await new Promise<void>((resolve) => forge.#server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void forge.#server.close());
    return forge;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A token that may do what the permissions say and nothing else. */
  tokenFor(permissions: Permissions): string {
    const token = `ghs_${this.#tokens.size + 1}`;
    this.#tokens.set(token, permissions);
    return token;
  }

  id(): number {
    this.#last += 1;
    return this.#last;
  }

  item(login: string, fields: Partial<Item>): Item {
    const id = this.id();
    return { id, number: id, user: { login }, title: "", body: "", state: "open", labels: [], ...fields };
  }

  #answer(request: IncomingMessage, body: Partial<Item>): [number, unknown] {
    const { method = "GET" } = request;
    const url = new URL(request.url ?? "/", "http://forge");
    const permissions = this.#tokens.get((request.headers.authorization ?? "").replace("Bearer ", ""));
    if (permissions === undefined) return [401, { message: "Bad credentials" }];
    const path = url.pathname.replace(`/repos/${REPOSITORY}`, "");
    if (!isAllowed(method, path, permissions)) return [403, { message: "Resource not accessible by integration" }];
    if (method !== "GET") this.written.push(`${method} ${path}`);
    return this.#route(method, path, url.searchParams, body);
  }

  #route(method: string, path: string, query: URLSearchParams, body: Partial<Item>): [number, unknown] {
    const [, area = "", ...rest] = path.split("/");
    if (area === "") return [200, { id: REPOSITORY_ID, private: this.isPrivate, default_branch: "main" }];
    if (area === "git") return [200, { ref: "refs/heads/main", object: { sha: this.tip, type: "commit" } }];
    if (area === "pulls") return [200, { head: { sha: this.heads.get(Number(rest[0])) } }];
    if (area === "commits") return [200, pageOf(this.pulls, query)];
    if (area === "actions" && rest.at(-1) === "artifacts") {
      const isOf = (run: number) => rest[0] === "artifacts" || run === Number(rest[1]);
      const fits = (artifact: Artifact) => artifact.name === query.get("name") && isOf(artifact.workflow_run.id);
      const artifacts = this.artifacts.filter(fits);
      return [200, { total_count: artifacts.length, artifacts: pageOf(artifacts, query) }];
    }
    if (area === "actions" && rest[1] !== PLAN_WORKFLOW) {
      const runs = this.started.filter(
        ({ workflow, event, head_branch }) =>
          workflow === rest[1] && event === query.get("event") && head_branch === query.get("branch"),
      );
      return [200, { total_count: runs.length, workflow_runs: pageOf(runs.reverse(), query) }];
    }
    if (area === "actions") {
      const fits = (run: Run) => (["head_sha", "status", "event"] as const).every((key) => run[key] === query.get(key));
      const runs = this.runs.filter(fits);
      return [200, { total_count: runs.length, workflow_runs: pageOf(runs, query) }];
    }
    const isComment = rest.includes("comments");
    const list = isComment ? this.comments : this.issues;
    if (method === "GET") return [200, pageOf(this.#listed(list, query), query)];
    if (method === "POST") {
      const made = this.item(BOT, body);
      list.push(made);
      return [201, made];
    }
    const found = list.find(({ id }) => id === Number(rest.at(-1)));
    return found === undefined ? [404, { message: "Not Found" }] : [200, Object.assign(found, body)];
  }

  #listed(list: readonly Item[], query: URLSearchParams): readonly Item[] {
    const label = query.get("labels");
    const state = query.get("state");
    return list.filter(
      (item) => (label === null || item.labels.includes(label)) && (state === null || item.state === state),
    );
  }
}

function pageOf<T>(items: readonly T[], query: URLSearchParams): readonly T[] {
  const size = Number(query.get("per_page") ?? 30);
  const page = Number(query.get("page") ?? 1);
  return items.slice((page - 1) * size, page * size);
}

/** What each part of the API asks of a token. The repository itself needs nothing. */
function isAllowed(method: string, path: string, permissions: Permissions): boolean {
  const level = (name: string) => permissions[name];
  if (method !== "GET") {
    if (path.includes("/comments")) return level("pull-requests") === "write" || level("issues") === "write";
    return level("issues") === "write";
  }
  if (path.startsWith("/git/")) return level("contents") !== undefined;
  if (path.startsWith("/actions/")) return level("actions") !== undefined;
  if (path.startsWith("/commits/")) return level("pull-requests") !== undefined && level("contents") !== undefined;
  return path === "" || level("pull-requests") !== undefined || level("issues") !== undefined;
}

async function readBody(request: IncomingMessage): Promise<Partial<Item>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
}
