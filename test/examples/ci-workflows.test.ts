/** What GitHub's workflows must never do, and that every command in them exists. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkFlagsOf, checkTenonCommands } from "./ci/commands.ts";
import { readWorkflow, SCRIPTS, type Step, WORKFLOW_FILES, type Workflow, workflowText } from "./ci/workflow.ts";

/** What each job may do, and no more: a change here is a change of who can do what. */
const PERMISSIONS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "tenon-apply.yml": {
    find: ["actions: read", "contents: read", "pull-requests: read"],
    plan: ["contents: read"],
    apply: ["actions: read", "contents: read"],
  },
  "tenon-drift.yml": { drift: ["contents: read"], issue: ["contents: read", "issues: write"] },
  "tenon-plan.yml": {
    validate: ["contents: read"],
    plan: ["contents: read"],
    comment: ["contents: read", "pull-requests: write"],
    "plan-without-token": ["actions: read", "contents: read"],
  },
};
/** Every line that a job may run: scripts of the pipeline's own revision, from the runner's own folder. */
const OWN = [
  'git cat-file blob "$PIPELINE:ci/tenon/install.sh" …',
  'bash "$RUNNER_TEMP/install.sh"',
  'bash "$RUNNER_TEMP/install.sh" …',
  ...["apply", "check", "drift", "live", "plan"].map((name) => `bash "$RUNNER_TEMP/tenon/${name}.sh"`),
  'bash "$RUNNER_TEMP/tenon/apply.sh" …',
  'node "$RUNNER_TEMP/tenon/github.mjs" …',
];
const PINNED = /^actions\/[a-z-]+@[0-9a-f]{40}$/;

it("every workflow is judged here", () => {
  expect(WORKFLOW_FILES).toEqual(Object.keys(PERMISSIONS));
});

describe.each(WORKFLOW_FILES)("%s", (file) => {
  const workflow = readWorkflow(file);
  const jobs = Object.entries(workflow.jobs);
  const steps = jobs.flatMap(([, job]) => job.steps);

  it("gives nothing by default, and each job the least", () => {
    expect(workflow.permissions).toEqual({});
    const given = jobs.map(([name, { permissions = {} }]) => [
      name,
      Object.entries(permissions).map(([scope, level]) => `${scope}: ${level}`),
    ]);
    expect(Object.fromEntries(given)).toEqual(PERMISSIONS[file]);
  });

  it("uses only GitHub's own actions, pinned to a commit with its version beside it", () => {
    const uses = steps.flatMap((step) => step.uses ?? []);
    expect(uses.length).toBeGreaterThan(2);
    for (const action of uses) expect(action).toMatch(PINNED);
    for (const line of workflowText(file)
      .split("\n")
      .filter((text) => text.includes("uses:"))) {
      expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  it("never runs somebody else's code with secrets, nor puts somebody else's words into a shell", () => {
    expect(Object.keys(workflow.on)).not.toContain("pull_request_target");
    expect(Object.keys(workflow.on)).not.toContain("workflow_run");
    for (const { run } of steps) expect(run ?? "").not.toContain("${{");
    expect(workflowText(file)).not.toMatch(/head_ref|\.title|\.body|secrets: inherit|toJSON/);
  });

  it("keeps no git credentials, and takes scripts and tool from its own revision, not from what is checked out", () => {
    for (const step of steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"))) {
      expect(step.with?.["persist-credentials"]).toBe(false);
    }
    const base = Object.keys(workflow.on).includes("pull_request")
      ? "refs/remotes/origin/${{ github.base_ref }}"
      : "${{ github.sha }}";
    expect(workflow.env?.["PIPELINE"]).toBe(base);
    // The tip: the event's own commit may be one of another branch.
    expect(workflowText(file)).not.toContain("base.sha");
    for (const { run = "" } of steps) {
      for (const line of run.trim().split("\n"))
        expect(["", ...OWN]).toContain(line.replace(/(?<=\.(?:sh|mjs)") .*/, " …"));
    }
  });

  it("takes what other jobs have kept into the runner's own folder, and keeps files from there by name", () => {
    const paths = steps.flatMap(({ uses = "", with: inputs = {} }) =>
      /-artifact@/.test(uses) ? String(inputs["path"]).trim().split("\n") : [],
    );
    expect(paths.length).toBeGreaterThan(1);
    for (const path of paths) expect(path).toMatch(/^\$\{\{ runner\.temp \}\}\/tenon-\w+/);
    const kept = steps.filter(({ uses }) => uses?.startsWith("actions/upload-artifact@"));
    for (const { with: inputs } of kept) {
      for (const path of String(inputs?.["path"]).trim().split("\n")) expect(path).toMatch(/\/\w+(?:\.\w+)?$/);
    }
  });

  it("ends by itself, and shells stop at the first error", () => {
    for (const [, job] of jobs) expect(job["timeout-minutes"]).toBeLessThanOrEqual(120);
    expect(workflow.defaults?.run?.shell).toBe("bash");
    expect(workflow.concurrency?.group).toMatch(/^tenon-/);
  });

  it("hands no token of the account to a job that can write to the repository", () => {
    for (const [, job] of jobs.filter(([, { permissions = {} }]) => Object.values(permissions).includes("write"))) {
      expect(JSON.stringify(job)).not.toMatch(/secrets\.|npm ci/);
      for (const { run = "" } of job.steps) expect(run).not.toMatch(/^bash "\$RUNNER_TEMP\/install\.sh"$/m);
    }
  });

  it("calls commands, flags and scripts that exist", () => {
    const { called, problems } = checkTenonCommands(scriptsOf(workflow));
    expect(problems).toEqual([]);
    const scripts = [...workflowText(file).matchAll(/\/tenon\/([\w.-]+\.\w+)/g)].map(([, name]) => name);
    expect(scripts.length + called.length).toBeGreaterThan(0);
    for (const name of scripts) expect(readdirSync(SCRIPTS)).toContain(name);
  });
});

it("an apply is alone, is never ended by another, and writes only with the environment's token", () => {
  const { concurrency, jobs } = readWorkflow("tenon-apply.yml");
  expect(concurrency).toEqual({ group: "tenon-apply", "cancel-in-progress": false });
  expect(jobs["apply"]?.environment).toBe("production");
  for (const file of WORKFLOW_FILES) {
    for (const [name, job] of Object.entries(readWorkflow(file).jobs)) {
      const writes = JSON.stringify(job).includes("secrets.TENON_TOKEN }");
      expect([file, name, writes]).toEqual([file, name, job.environment === "production"]);
    }
  }
});

describe("the scripts", () => {
  const names = readdirSync(SCRIPTS).filter((name) => name.endsWith(".sh"));

  it.each(names)("%s stops at the first error, and calls tenon as it is", (name) => {
    const text = readFileSync(join(SCRIPTS, name), "utf8");
    if (name !== "common.sh") expect(text).toContain("\nset -euo pipefail\n");
    expect(checkTenonCommands(text).problems).toEqual([]);
  });

  it("npm installs what the lock file says, without scripts, and asks no file of a home or of a checkout", () => {
    const calls = names.flatMap((name) =>
      [...readFileSync(join(SCRIPTS, name), "utf8").matchAll(/^\s*npm (.*)$/gm)].map(([, words]) => words),
    );
    expect(calls).toEqual([
      'ci --userconfig "$into/empty.npmrc" --ignore-scripts --no-dry-run --no-audit --no-fund --no-update-notifier',
    ]);
  });

  it("plan.sh collects flags of tenon plan", () => {
    const text = readFileSync(join(SCRIPTS, "plan.sh"), "utf8");
    const collected = [...text.matchAll(/options\+?=\((.*?)\)/g)].map(([, words]) => words?.split(/\s+/) ?? []);
    expect(collected).toHaveLength(3);
    expect(collected.flatMap((words) => checkFlagsOf("plan", words))).toEqual([]);
  });
});

describe("the judge of commands", () => {
  it.each([
    ["tenon plann", "tenon plann: no such command"],
    ["tenon plan --no-such-flag", "tenon plan has no --no-such-flag"],
    ["  tenon plan --format xml", "tenon plan --format knows no xml"],
    ["tenon apply \\\n  --forever", "tenon apply has no --forever"],
  ])("finds what is wrong with %s", (text, problem) => {
    expect(checkTenonCommands(text).problems).toEqual([problem]);
  });
});

function scriptsOf({ jobs }: Workflow): string {
  const steps: readonly Step[] = Object.values(jobs).flatMap((job) => job.steps);
  return steps.map(({ run }) => run ?? "").join("\n");
}
