/** Runs the jobs of a workflow as GitHub would: real shells, a real clone, a real npm, the real tool; only the actions are stood in for. */

import { execFile, spawn } from "node:child_process";
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { parse } from "yaml";
import { MAIN } from "../../cli/run.ts";
import { type Forge, REPOSITORY, REPOSITORY_ID } from "./forge.ts";
import { type Environment, evaluate, type Job, type Step, type Workflow, workflowText } from "./workflow.ts";

const run = promisify(execFile);
const FORK_ID = 9;
const PLACEHOLDER = "https://api.example.com/v4";

/** What a run is started with. */
export interface RunEvent {
  readonly name: string;
  readonly sha: string;
  readonly ref: string;
  readonly actor?: string;
  readonly base_ref?: string;
  readonly pull?: { readonly number: number; readonly repository: string };
  /** The base's commit as the event says it: by default the one that the merge was made on. */
  readonly base_sha?: string;
  /** The run is started again: its commit need not be the newest one any more. */
  readonly isRunAgain?: boolean;
  readonly secrets: Environment;
}

export type Result = "success" | "failure" | "skipped";

export interface JobEnded {
  readonly result: Result;
  readonly log: string;
  readonly summary: string;
  readonly outputs: Environment;
}

function branchOf({ ref }: RunEvent): string {
  return ref === "refs/heads/main" ? "main" : "proposal";
}

/** Runs and what they keep, over all workflows of one repository. */
export class Runner {
  readonly #forge: Forge;
  readonly #origin: string;
  readonly #baseUrl: string;
  readonly #kept = new Map<number, string>();
  readonly folder: string;

  private constructor(forge: Forge, origin: string, baseUrl: string, folder: string) {
    this.#forge = forge;
    this.#origin = origin;
    this.#baseUrl = baseUrl;
    this.folder = folder;
  }

  static async open(forge: Forge, origin: string, baseUrl: string): Promise<Runner> {
    const folder = await mkdtemp(join(tmpdir(), "tenon-runner-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeNode(join(folder, "bin"));
    return new Runner(forge, origin, baseUrl, folder);
  }

  /**
   * @param only these jobs; the others are as if they were not there
   * @returns the run's id, and how each job ended
   */
  async run(
    file: string,
    event: RunEvent,
    only?: readonly string[],
  ): Promise<{ readonly id: number; readonly jobs: Record<string, JobEnded> }> {
    const text = workflowText(file);
    expect(text).toContain(PLACEHOLDER);
    const workflow = parse(text.replaceAll(PLACEHOLDER, this.#baseUrl)) as Workflow;
    const id = this.#forge.id();
    const jobs: Record<string, JobEnded> = {};
    this.#forge.started.push({ id, workflow: file, event: event.name, head_branch: branchOf(event) });
    this.#forge.tip = (await run("git", ["-C", this.#origin, "rev-parse", "main"])).stdout.trim();
    if (event.pull !== undefined && event.isRunAgain !== true) {
      this.#forge.heads.set(event.pull.number, await this.#headOf(event));
    }
    for (const [name, job] of Object.entries(workflow.jobs)) {
      if (only !== undefined && !only.includes(name)) continue;
      jobs[name] = await this.#job({ workflow, event, id, name, job, jobs });
    }
    return { id, jobs };
  }

  async #job(context: JobContext): Promise<JobEnded> {
    const { job, id, name } = context;
    const [workspace, temp] = ["work", "temp"].map((place) => join(this.folder, `${id}-${name}`, place)) as [
      string,
      string,
    ];
    const isOfPull = context.event.pull !== undefined;
    const base = isOfPull || context.event.name === "push" ? await this.#baseOf(context.event) : "";
    const head = context.event.pull === undefined ? "" : await this.#headOf(context.event);
    const running = new RunningJob(context, { token: this.#forge.tokenFor(job.permissions ?? {}), temp, base, head });
    if (!running.isWanted(job.if, [job.needs ?? []].flat())) {
      return { result: "skipped", log: "", summary: "", outputs: {} };
    }
    await Promise.all([workspace, temp].map((place) => mkdir(place, { recursive: true })));
    for (const step of job.steps) {
      if (!running.isWanted(step.if)) continue;
      const inputs = Object.fromEntries(
        Object.entries(step.with ?? {}).map(([key, text]) => [key, running.fill(text)]),
      );
      const ended =
        step.run === undefined
          ? await this.#use(step, inputs, workspace, context)
          : await this.#shell(step, { workspace, temp }, running);
      running.ended(step, ended);
    }
    return running.result();
  }

  async #baseOf({ sha, base_sha: said }: RunEvent): Promise<string> {
    return said ?? (await run("git", ["-C", this.#origin, "rev-parse", `${sha}^1`])).stdout.trim();
  }

  /** A pull request's commit, which is merged into the base as the event's `sha`; or the very commit, where nothing was merged. */
  async #headOf({ sha }: RunEvent): Promise<string> {
    const merged = await run("git", ["-C", this.#origin, "rev-parse", "--verify", "--quiet", `${sha}^2`]).catch(
      () => null,
    );
    return merged?.stdout.trim() ?? sha;
  }

  /** The actions that the workflows use: anything else fails the test. */
  async #use(step: Step, inputs: Environment, workspace: string, { event, id }: JobContext): Promise<StepEnded> {
    const outputs: Record<string, string> = {};
    switch (step.uses?.split("@")[0]) {
      case "actions/checkout":
        await run("git", ["clone", "--quiet", "--no-checkout", this.#origin, workspace]);
        await run("git", ["-C", workspace, "checkout", "--quiet", "--detach", fetched(inputs["ref"] ?? event.sha)]);
        break;
      case "actions/setup-node":
        break;
      case "actions/upload-artifact":
        outputs["artifact-id"] = String(await this.#keep(id, event, inputs, workspace));
        break;
      case "actions/download-artifact": {
        const run = Number(inputs["run-id"] ?? id);
        const wanted = inputs["artifact-ids"] ?? this.artifactId(run, inputs["name"] ?? "");
        // As it was packed, links and all.
        const from = this.artifact(Number(wanted));
        await cp(from, resolve(workspace, inputs["path"] ?? ""), { recursive: true, verbatimSymlinks: true });
        break;
      }
      default:
        throw new Error(`what is ${step.uses}?`);
    }
    return { code: 0, log: "", summary: "", outputs };
  }

  /** Folders whole, files by their names, all of them under what they have in common; nothing, if there is none. */
  async #keep(id: number, event: RunEvent, inputs: Environment, workspace: string): Promise<number> {
    const name = inputs["name"] ?? "";
    const paths = (inputs["path"] ?? "").trim().split("\n");
    const artifact = this.#forge.id();
    const into = join(this.folder, "artifacts", String(id), name);
    await rm(into, { recursive: true, force: true });
    await mkdir(into, { recursive: true });
    for (const path of paths.map((each) => resolve(workspace, each))) {
      const found = await stat(path).catch(() => null);
      if (found?.isDirectory() === true) await cp(path, into, { recursive: true });
      // What a link leads to is packed in its place.
      else if (found !== null) await copyFile(path, join(into, basename(path)));
    }
    const isOurs = event.pull === undefined || event.pull.repository === REPOSITORY;
    this.#forge.artifacts.push({
      id: artifact,
      name,
      expired: false,
      workflow_run: {
        id,
        head_branch: branchOf(event),
        head_repository_id: isOurs ? REPOSITORY_ID : FORK_ID,
      },
    });
    this.#kept.set(artifact, into);
    return artifact;
  }

  /** The folder of what a run has uploaded, for a test to look into or to forge. */
  artifact(id: number): string {
    const folder = this.#kept.get(id);
    if (folder === undefined) throw new Error(`no artifact ${id}`);
    return folder;
  }

  artifactId(run: number, name: string): number {
    const found = this.#forge.artifacts.findLast(
      (artifact) => artifact.name === name && artifact.workflow_run.id === run,
    );
    if (found === undefined) throw new Error(`run ${run} has kept no ${name}`);
    return found.id;
  }

  async #shell(step: Step, { workspace, temp }: Places, running: RunningJob): Promise<StepEnded> {
    const own = join(dirname(temp), "files");
    await mkdir(own, { recursive: true });
    const files = { output: join(own, "output"), summary: join(own, "summary") };
    await Promise.all([writeFile(files.output, ""), writeFile(files.summary, "")]);
    const environment = {
      ...running.environmentOf(step),
      PATH: [join(this.folder, "bin"), process.env["PATH"]].join(delimiter),
      HOME: own,
      RUNNER_TEMP: temp,
      CI: "true",
      GITHUB_ACTIONS: "true",
      GITHUB_API_URL: this.#forge.url,
      GITHUB_REPOSITORY: REPOSITORY,
      GITHUB_OUTPUT: files.output,
      GITHUB_STEP_SUMMARY: files.summary,
    };
    const { code, log } = await bash(step.run ?? "", workspace, environment, own);
    const lines = (await readFile(files.output, "utf8")).split("\n").filter((line) => line !== "");
    const outputs = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    return { code, log, summary: await readFile(files.summary, "utf8"), outputs };
  }
}

/** What is checked out, and the runner's own folder. */
interface Places {
  readonly workspace: string;
  readonly temp: string;
}

interface JobContext {
  readonly workflow: Workflow;
  readonly event: RunEvent;
  readonly id: number;
  readonly name: string;
  readonly job: Job;
  readonly jobs: Readonly<Record<string, JobEnded>>;
}

interface StepEnded {
  readonly code: number;
  readonly log: string;
  readonly summary: string;
  readonly outputs: Environment;
}

/** What a job knows while it runs. */
/** What GitHub gives to a job: a token, a folder, and the commits of a pull request and of its base. */
interface Given {
  readonly token: string;
  readonly temp: string;
  readonly base: string;
  readonly head: string;
}

class RunningJob {
  readonly #context: JobContext;
  readonly #given: Given;
  readonly #steps: Record<string, Environment> = {};
  #failed = false;
  #log = "";
  #summary = "";

  /** @param given the job's token, its folder, and the commit of the base branch, or of the branch before a push */
  constructor(context: JobContext, given: Given) {
    this.#context = context;
    this.#given = given;
  }

  /** As GitHub reads `if`: without a function that asks for the status, all before must have gone well. */
  isWanted(condition: string | undefined, needs: readonly string[] = []): boolean {
    const { jobs } = this.#context;
    const isWell = !this.#failed && needs.every((name) => jobs[name]?.result === "success");
    const bare = (condition ?? "").replace(/^\$\{\{(.*)\}\}$/s, "$1").trim();
    if (bare === "") return isWell;
    const functions = { cancelled: () => false, always: () => true };
    const value = Boolean(evaluate(bare, (path) => this.#look(path), functions));
    return /\b(cancelled|always)\s*\(/.test(bare) ? value : isWell && value;
  }

  fill(text: string | number | boolean): string {
    return String(text).replaceAll(/\$\{\{(.*?)\}\}/g, (_, inner: string) =>
      String(evaluate(inner, (path) => this.#look(path), {})),
    );
  }

  environmentOf(step: Step): Environment {
    const { workflow, event } = this.#context;
    const merged = { ...workflow.env, ...step.env };
    const filled = Object.fromEntries(Object.entries(merged).map(([key, text]) => [key, this.fill(text)]));
    return { ...filled, GITHUB_SHA: event.sha, GITHUB_REF_NAME: event.ref.replace(/^refs\/\w+\//, "") };
  }

  ended(step: Step, { code, log, summary, outputs }: StepEnded): void {
    if (code !== 0) this.#failed = true;
    this.#log += log;
    this.#summary += summary;
    if (step.id !== undefined) this.#steps[step.id] = outputs;
  }

  result(): JobEnded {
    const { job } = this.#context;
    const outputs = Object.entries(job.outputs ?? {}).map(([name, text]) => [name, this.fill(text)]);
    const result = this.#failed ? "failure" : "success";
    return { result, log: this.#log, summary: this.#summary, outputs: Object.fromEntries(outputs) };
  }

  #look(path: string): unknown {
    const { event, id, jobs } = this.#context;
    const [root = "", name = "", , output = ""] = path.split(".");
    if (root === "secrets") return event.secrets[name] ?? "";
    if (root === "steps") return this.#steps[name]?.[output] ?? "";
    if (root === "needs") return path.endsWith(".result") ? jobs[name]?.result : (jobs[name]?.outputs[output] ?? "");
    const known: Readonly<Record<string, unknown>> = {
      "github.server_url": "https://github.example",
      "github.repository": REPOSITORY,
      "github.run_id": id,
      "github.run_attempt": event.isRunAgain === true ? 2 : 1,
      "github.token": this.#given.token,
      "github.sha": event.sha,
      "github.event.before": this.#given.base,
      "github.event.pull_request.base.sha": this.#given.base,
      "github.event.pull_request.head.sha": this.#given.head,
      "runner.temp": this.#given.temp,
      "github.event_name": event.name,
      "github.ref": event.ref,
      "github.actor": event.actor ?? "somebody",
      "github.base_ref": event.base_ref,
      "github.event.pull_request.number": event.pull?.number,
      "github.event.pull_request.head.repo.full_name": event.pull?.repository,
    };
    return known[path];
  }
}

/** Where a clone has what the action is asked to check out. */
function fetched(ref: string): string {
  return ref.replace(/^refs\/heads\//, "refs/remotes/origin/");
}

/** As GitHub runs a step with `shell: bash`. @param place where its script is put */
export async function bash(
  script: string,
  cwd: string,
  env: Environment,
  place = cwd,
): Promise<{ readonly code: number; readonly log: string }> {
  const file = join(place, ".step.sh");
  await writeFile(file, script);
  const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", file], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (log += text));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code: code ?? -1, log };
}

/** The Node that runs the tests, for what asks the path for it. */
export async function writeNode(bin: string): Promise<void> {
  await writeCommand(bin, "node", "");
}

/** That, and the built tool as it is. */
export async function writeTools(bin: string): Promise<void> {
  await writeNode(bin);
  await writeCommand(bin, "tenon", ` "${MAIN}"`);
}

async function writeCommand(bin: string, name: string, argument: string): Promise<void> {
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, name), `#!/bin/sh\nexec "${process.execPath}"${argument} "$@"\n`);
  await chmod(join(bin, name), 0o755);
}
