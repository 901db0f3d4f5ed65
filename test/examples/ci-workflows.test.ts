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

  it("keeps no git credentials, and runs nothing on install", () => {
    for (const step of steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"))) {
      expect(step.with?.["persist-credentials"]).toBe(false);
    }
    const scripts = steps.map(({ run }) => run ?? "").join("\n");
    expect(scripts.match(/npm (?!ci --ignore-scripts\n)/)).toBeNull();
  });

  it("ends by itself, and shells stop at the first error", () => {
    for (const [, job] of jobs) expect(job["timeout-minutes"]).toBeLessThanOrEqual(120);
    expect(workflow.defaults?.run?.shell).toBe("bash");
    expect(workflow.concurrency?.group).toMatch(/^tenon-/);
  });

  it("hands no token of the account to a job that can write to the repository", () => {
    for (const [, job] of jobs.filter(([, { permissions = {} }]) => Object.values(permissions).includes("write"))) {
      expect(JSON.stringify(job)).not.toMatch(/secrets\.|npm ci/);
    }
  });

  it("calls commands, flags and scripts that exist", () => {
    const { called, problems } = checkTenonCommands(scriptsOf(workflow));
    expect(problems).toEqual([]);
    const scripts = [...workflowText(file).matchAll(/ci\/tenon\/([\w.-]+\.\w+)/g)].map(([, name]) => name);
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
