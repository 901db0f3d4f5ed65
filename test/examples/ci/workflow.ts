/** Workflows as data: what the tests read of GitHub's and GitLab's files. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { parse } from "yaml";

export const CI: string = join(import.meta.dirname, "../../../examples/ci");
export const SCRIPTS: string = join(CI, "scripts");

export type Environment = Readonly<Record<string, string>>;
export type Permissions = Readonly<Record<string, "read" | "write">>;

export interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string | number | boolean>>;
  readonly env?: Environment;
  readonly run?: string;
}

export interface Job {
  readonly needs?: string | readonly string[];
  readonly if?: string;
  readonly environment?: string;
  readonly "timeout-minutes"?: number;
  readonly permissions?: Permissions;
  readonly outputs?: Environment;
  readonly steps: readonly Step[];
}

export interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: Permissions;
  readonly concurrency?: { readonly group: string; readonly "cancel-in-progress": boolean };
  readonly defaults?: { readonly run?: { readonly shell?: string } };
  readonly env?: Environment;
  readonly jobs: Readonly<Record<string, Job>>;
}

export const WORKFLOW_FILES: readonly string[] = readdirSync(join(CI, "github/workflows")).sort();

export function workflowText(file: string): string {
  return readFileSync(join(CI, "github/workflows", file), "utf8");
}

export function readWorkflow(file: string): Workflow {
  return parse(workflowText(file)) as Workflow;
}

export interface GitlabJob {
  readonly extends?: string;
  readonly stage?: string;
  readonly rules?: readonly { readonly if: string; readonly when?: string; readonly allow_failure?: boolean }[];
  readonly script?: readonly string[];
  readonly before_script?: readonly string[];
  readonly environment?: string;
  readonly resource_group?: string;
  readonly needs?: readonly (string | { readonly job: string; readonly optional?: boolean })[];
  readonly artifacts?: { readonly paths: readonly string[]; readonly when?: string; readonly access?: string };
}

export function gitlabText(): string {
  return readFileSync(join(CI, "gitlab/.gitlab-ci.yml"), "utf8");
}

/** Its jobs, templates included. */
export function readGitlab(): Readonly<Record<string, GitlabJob>> {
  const { stages: _, workflow: __, variables: ___, default: ____, ...jobs } = parse(gitlabText());
  return jobs;
}

const WORDS = /'(?:[^']|'')*'|\d+|[a-z][\w.-]*(?=\s*\()|[a-z][\w.-]*|[=!]=|&&|\|\||[!(),]/gi;

/**
 * The value of an expression without its `${{ }}`: paths, strings, `== != && || !`, and status functions.
 * @param look the value of a path such as `github.ref`; undefined for one that the test does not know
 */
export function evaluate(
  expression: string,
  look: (path: string) => unknown,
  functions: Readonly<Record<string, () => boolean>>,
): unknown {
  const words = expression.match(WORDS) ?? [];
  const script = words.map((word, index) => {
    if (word.startsWith("'")) return JSON.stringify(word.slice(1, -1).replaceAll("''", "'"));
    if (!/^[a-z]/i.test(word)) return word;
    return words[index + 1] === "(" ? word : `look(${JSON.stringify(word)})`;
  });
  const known = (path: string) => {
    const value = look(path);
    if (value === undefined) throw new Error(`the test does not know ${path}`);
    return value;
  };
  return runInNewContext(script.join(" "), { look: known, ...functions });
}
