/** What is wrong with GitLab's file and pre-commit's: keywords, and names that must be those of something else in the file. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { checkTenonCommands } from "./commands.ts";
import { type GitlabJob, SCRIPTS } from "./workflow.ts";

const GITLAB = compile("gitlab-ci.schema.json");
const PRE_COMMIT = compile("pre-commit-config.schema.json");

/** What GitLab sets in a pipeline, as far as the example needs it. */
const PREDEFINED = [
  "CI_COMMIT_BEFORE_SHA",
  "CI_COMMIT_BRANCH",
  "CI_COMMIT_SHA",
  "CI_DEFAULT_BRANCH",
  "CI_JOB_URL",
  "CI_MERGE_REQUEST_SOURCE_PROJECT_ID",
  "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
  "CI_PIPELINE_SOURCE",
  "CI_PROJECT_ID",
];
/** What docs/how-to/pipeline.md has somebody set, and what the file itself does. */
const OTHERS = ["PIPELINE", "RUNNER_TEMP", "TENON_TOKEN_READ"];
const SOURCES = ["merge_request_event", "push", "schedule", "web"];
const GLOBAL = ["stages", "workflow", "variables", "default"];

interface Pipeline {
  readonly stages: readonly string[];
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface Hook {
  readonly id: string;
  readonly entry: string;
  readonly files: string;
}

/** @returns one sentence for each problem; of names only if the form is right */
export function gitlabProblems(text: string): string[] {
  const parsed = parse(text);
  const formal = schemaProblems(GITLAB, parsed);
  if (formal.length > 0) return formal;
  const { stages, variables } = parsed as Pipeline;
  const jobs = new Map<string, GitlabJob>(Object.entries(parsed as object).filter(([name]) => !GLOBAL.includes(name)));
  const known = [...PREDEFINED, ...OTHERS, ...Object.keys(variables)];
  return [
    ...[...jobs].flatMap(([name, job]) => jobProblems(name, job, jobs, stages)),
    ...unknown(text, /\$\{?([A-Z][A-Z0-9_]*)/g, known, "variable"),
    ...unknown(text, /\$CI_PIPELINE_SOURCE == "(\w+)"/g, SOURCES, "source"),
    ...unknown(text, /\$CI_PIPELINE_SOURCE =~ \/\^\((.*?)\)\$\//g, SOURCES, "source"),
    ...stages
      .filter((stage) => ![...jobs.values()].some((job) => job.stage === stage))
      .map((stage) => `no job is in the stage ${stage}`),
  ];
}

function jobProblems(
  name: string,
  job: GitlabJob,
  jobs: ReadonlyMap<string, GitlabJob>,
  stages: readonly string[],
): string[] {
  if (name.startsWith(".")) return [];
  const problems: string[] = [];
  const stage = stages.indexOf(job.stage ?? "");
  if (stage < 0) problems.push(`${name}: no stage ${job.stage}`);
  if (job.script === undefined) problems.push(`${name}: no script`);
  if (job.rules === undefined) problems.push(`${name}: no rules, so it runs in every pipeline`);
  if (job.extends !== undefined && jobs.get(job.extends) === undefined) problems.push(`${name}: no job ${job.extends}`);
  for (const need of job.needs ?? []) {
    const { job: needed, optional } = typeof need === "string" ? { job: need, optional: false } : need;
    const found = jobs.get(needed);
    if (found === undefined) problems.push(`${name}: no job ${needed}`);
    else if (stages.indexOf(found.stage ?? "") > stage) problems.push(`${name}: ${needed} comes later`);
    else if (optional !== true && !isWhereverThatIs(found, job)) problems.push(`${name}: ${needed} may not be there`);
  }
  return [...problems, ...scriptProblems(name, job)];
}

/** GitLab refuses a pipeline with a job whose need is not in it. */
function isWhereverThatIs(needed: GitlabJob, { rules = [] }: GitlabJob): boolean {
  return rules.every((rule) => needed.rules?.some((other) => other.if === rule.if));
}

function scriptProblems(name: string, { script = [], before_script = [] }: GitlabJob): string[] {
  const text = [...before_script, ...script].join("\n");
  const calls = [...text.matchAll(/\/tenon\/([\w.-]+)"?(?: ([\w-]+))?/g)];
  const wrong = calls.filter(([, file = "", command = ""]) => !isThere(file, command));
  return [...wrong.map(([call]) => `${name}: no ${call}`), ...checkTenonCommands(text).problems];
}

/** A script of this name, and if it is GitLab's, with this command. */
function isThere(file: string, command: string): boolean {
  let text: string;
  try {
    text = readFileSync(join(SCRIPTS, file), "utf8");
  } catch {
    return false;
  }
  const known = /^const commands = \{(.*)\};$/m.exec(text)?.[1];
  return (
    known === undefined || [...known.matchAll(/"([\w-]+)":|(\w+)(?=,| $)/g)].some((m) => (m[1] ?? m[2]) === command)
  );
}

function unknown(text: string, pattern: RegExp, known: readonly string[], what: string): string[] {
  const withoutComments = text.replaceAll(/^\s*#.*$/gm, "");
  const names = [...withoutComments.matchAll(pattern)].flatMap(([, name = ""]) => name.split("|"));
  return [...new Set(names)].filter((name) => !known.includes(name)).map((name) => `no ${what} ${name}`);
}

export function preCommitProblems(text: string): string[] {
  const parsed = parse(text);
  const formal = schemaProblems(PRE_COMMIT, parsed);
  if (formal.length > 0) return formal;
  const hooks = hooksIn(text);
  const checked = hooks.map(({ entry }) => checkTenonCommands(entry));
  const called = checked.flatMap((each) => each.called);
  return [
    ...checked.flatMap(({ problems }) => problems),
    ...(called.join() === "fmt,validate" ? [] : [`calls ${called.join(" and ")}`]),
    ...hooks
      .filter(({ entry }) => !entry.startsWith("ci/tool/node_modules/.bin/tenon "))
      .map(({ id }) => `${id}: not the tool that the repository has installed`),
    ...hooks
      .filter(({ entry }) => / fmt\b/.test(entry) && !entry.includes(" --check"))
      .map(({ id }) => `${id}: writes`),
    ...(new Set(hooks.map(({ id }) => id)).size === hooks.length ? [] : ["an id is there twice"]),
  ];
}

export function hooksIn(text: string): Hook[] {
  const { repos } = parse(text) as { readonly repos: readonly { readonly hooks: readonly Hook[] }[] };
  return repos.flatMap(({ hooks }) => hooks);
}

function compile(file: string): ValidateFunction {
  const schema = readFileSync(join(import.meta.dirname, "../../fixtures/schemas", file), "utf8");
  return new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(JSON.parse(schema));
}

function schemaProblems(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const name = (params as { readonly additionalProperty?: string }).additionalProperty;
    return `${instancePath} ${message}${name === undefined ? "" : `: ${name}`}`;
  });
}
