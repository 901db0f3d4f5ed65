/** Runs the jobs of a workflow as GitHub would: real shells, a real clone, the real tool; only the actions are stood in for. */

import { execFile, spawn } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { parse } from "yaml";
import { MAIN } from "../../cli/run.ts";
import { type Forge, REPOSITORY } from "./forge.ts";
import { type Environment, evaluate, type Job, type Step, type Workflow, workflowText } from "./workflow.ts";

const run = promisify(execFile);
const PLACEHOLDER = "https://api.example.com/v4";

/** What a run is started with. */
export interface RunEvent {
  readonly name: string;
  readonly sha: string;
  readonly ref: string;
  readonly actor?: string;
  readonly base_ref?: string;
  readonly pull?: { readonly number: number; readonly repository: string };
  readonly secrets: Environment;
}

export type Result = "success" | "failure" | "skipped";

export interface JobEnded {
  readonly result: Result;
  readonly log: string;
  readonly summary: string;
  readonly outputs: Environment;
}

/** Runs and what they keep, over all workflows of one repository. */
export class Runner {
  readonly #forge: Forge;
  readonly #origin: string;
  readonly #baseUrl: string;
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
    await writeTools(join(folder, "bin"));
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
    for (const [name, job] of Object.entries(workflow.jobs)) {
      if (only !== undefined && !only.includes(name)) continue;
      jobs[name] = await this.#job({ workflow, event, id, name, job, jobs });
    }
    return { id, jobs };
  }

  async #job(context: JobContext): Promise<JobEnded> {
    const { job, id, name } = context;
    const running = new RunningJob(context, this.#forge.tokenFor(job.permissions ?? {}));
    if (!running.isWanted(job.if, [job.needs ?? []].flat())) {
      return { result: "skipped", log: "", summary: "", outputs: {} };
    }
    const workspace = join(this.folder, `${id}-${name}`);
    await mkdir(workspace, { recursive: true });
    for (const step of job.steps) {
      if (!running.isWanted(step.if)) continue;
      const inputs = Object.fromEntries(
        Object.entries(step.with ?? {}).map(([key, text]) => [key, running.fill(text)]),
      );
      const ended =
        step.run === undefined
          ? await this.#use(step, inputs, workspace, context)
          : await this.#shell(step, workspace, running);
      running.ended(step, ended);
    }
    return running.result();
  }

  /** The actions that the workflows use: anything else fails the test. */
  async #use(step: Step, inputs: Environment, workspace: string, { event, id }: JobContext): Promise<StepEnded> {
    const kept = (run: string) => join(this.folder, "artifacts", run, inputs["name"] ?? "");
    const path = join(workspace, inputs["path"] ?? "");
    switch (step.uses?.split("@")[0]) {
      case "actions/checkout":
        await run("git", ["clone", "--quiet", this.#origin, workspace]);
        await run("git", ["-C", workspace, "checkout", "--quiet", "--detach", event.sha]);
        break;
      case "actions/setup-node":
        break;
      case "actions/upload-artifact":
        await cp(path, kept(String(id)), { recursive: true }).catch((error: unknown) => {
          if (inputs["if-no-files-found"] !== "ignore") throw error;
        });
        break;
      case "actions/download-artifact":
        await cp(kept(inputs["run-id"] ?? String(id)), path, { recursive: true });
        break;
      default:
        throw new Error(`what is ${step.uses}?`);
    }
    return { code: 0, log: "", summary: "", outputs: {} };
  }

  async #shell(step: Step, workspace: string, running: RunningJob): Promise<StepEnded> {
    const files = {
      path: join(workspace, ".path"),
      output: join(workspace, ".output"),
      summary: join(workspace, ".summary"),
    };
    await Promise.all([
      writeFile(files.output, ""),
      writeFile(files.summary, ""),
      writeFile(files.path, "", { flag: "a" }),
    ]);
    const added = (await readFile(files.path, "utf8")).split("\n").filter((line) => line !== "");
    const environment = {
      ...running.environmentOf(step),
      PATH: [...added, join(this.folder, "bin"), process.env["PATH"]].join(delimiter),
      HOME: workspace,
      CI: "true",
      GITHUB_ACTIONS: "true",
      GITHUB_API_URL: this.#forge.url,
      GITHUB_REPOSITORY: REPOSITORY,
      GITHUB_PATH: files.path,
      GITHUB_OUTPUT: files.output,
      GITHUB_STEP_SUMMARY: files.summary,
    };
    const { code, log } = await bash(step.run ?? "", workspace, environment);
    const lines = (await readFile(files.output, "utf8")).split("\n").filter((line) => line !== "");
    const outputs = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    return { code, log, summary: await readFile(files.summary, "utf8"), outputs };
  }
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
class RunningJob {
  readonly #context: JobContext;
  readonly #token: string;
  readonly #steps: Record<string, Environment> = {};
  #failed = false;
  #log = "";
  #summary = "";

  constructor(context: JobContext, token: string) {
    this.#context = context;
    this.#token = token;
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
    return { ...filled, GITHUB_SHA: event.sha };
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
      "github.run_attempt": 1,
      "github.token": this.#token,
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

/** As GitHub runs a step with `shell: bash`. */
export async function bash(
  script: string,
  cwd: string,
  env: Environment,
): Promise<{ readonly code: number; readonly log: string }> {
  const file = join(cwd, ".step.sh");
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

/** `npm ci` puts the built tool where it would be installed. */
export async function writeTools(bin: string): Promise<void> {
  const npm = `#!/bin/sh
[ "$*" = "ci --ignore-scripts" ] || exit 9
mkdir -p node_modules/.bin
printf '#!/bin/sh\\nexec "%s" "%s" "$@"\\n' "${process.execPath}" "${MAIN}" >node_modules/.bin/tenon
chmod +x node_modules/.bin/tenon
`;
  for (const [name, text] of [
    ["npm", npm],
    ["node", `#!/bin/sh\nexec "${process.execPath}" "$@"\n`],
  ] as const) {
    const file = join(bin, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    await chmod(file, 0o755);
  }
}
