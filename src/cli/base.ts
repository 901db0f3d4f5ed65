/** `plan --base`: the manifests that the proposed change is compared with, from a folder or a git ref. */

import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import {
  type Base,
  type Desired,
  type Diagnostic,
  hasErrors,
  isWithin,
  type LoadResult,
  type Project,
  type Sources,
} from "../index.ts";
import type { ProjectFlags } from "./args.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { type Checkout, checkOut, type Environment, fileAt, refsOf } from "./git.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import { load } from "./project.ts";
import type { Terminal } from "./terminal.ts";
import { unknownRef } from "./unknown-ref.ts";

export type OpenedBase =
  | { readonly ok: true; readonly base: Base }
  /** It is there, and invalid. The very change may be what mends it, so the plan is made without it. */
  | { readonly ok: true; readonly base: null; readonly warning: Diagnostic }
  | { readonly ok: false; readonly code: ExitCode };

export interface BaseRequest {
  /** A path of a folder with a project in it, or a git ref. */
  readonly name: string;
  readonly project: Project;
  readonly flags: ProjectFlags;
  readonly dialect: string;
}

/** Of an invalid base; the rest is counted. */
const MAX_ERRORS_SHOWN = 3;

/** Everything is this change, where there was no project before. */
const NOTHING: Desired = { owner: null, account: null, declared: [], removed: [], allow: [], lintOff: [] };

export async function openBase(terminal: Terminal, request: BaseRequest): Promise<OpenedBase> {
  if (isPath(request.name)) return baseInFolder(terminal, request);
  if (request.name === "" || request.name.startsWith("-")) {
    sayBaseUnknown(terminal, `--base ${request.name} is neither a project folder nor a git ref`);
    return { ok: false, code: EXIT.error };
  }
  const folder = await mkdtemp(join(tmpdir(), "tenon-base-"));
  try {
    return await baseAtRef(terminal, folder, request);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const summary = `the project at ${request.name} cannot be written to a folder: ${message}`;
    sayError(terminal, { code: "base-unreadable", summary });
    return { ok: false, code: EXIT.error };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function sayBaseUnknown(terminal: Terminal, summary: string): void {
  sayError(terminal, { code: "base-unknown", summary, fix: NAME_IT });
}

const NAME_IT =
  "For example --base refs/remotes/origin/main, or the folder of another checkout as a path: --base ../main.";

/** A folder is written as a path. Else a proposed change could bring a folder called `origin/main`, and be compared with itself. */
function isPath(name: string): boolean {
  return isAbsolute(name) || /^\.{1,2}([/\\]|$)/.test(name);
}

async function baseInFolder(terminal: Terminal, request: BaseRequest): Promise<OpenedBase> {
  if (await isProject(request.name)) {
    return loadBase(request.name, await withFormerVariables(request, (file) => variablesIn(file, request)));
  }
  sayBaseUnknown(terminal, `--base ${request.name} is no folder with a tenon.yaml in it`);
  return { ok: false, code: EXIT.error };
}

async function isProject(path: string): Promise<boolean> {
  const status = await stat(path).catch(() => null);
  if (status === null) return false;
  const root = status.isDirectory() ? join(path, "tenon.yaml") : path;
  return basename(root) === "tenon.yaml" && (await stat(root).catch(() => null)) !== null;
}

/** @param temporary an empty folder of our own */
async function baseAtRef(terminal: Terminal, temporary: string, request: BaseRequest): Promise<OpenedBase> {
  const { name, project } = request;
  const folder = join(temporary, "project");
  const found = await checkOut(project.root, name, folder, terminal.environment);
  if (!found.ok) {
    sayDiagnostics(terminal, [await refusal(request, found, terminal.environment)]);
    return { ok: false, code: EXIT.error };
  }
  const isThere = found.exists && (await isProject(folder));
  if (!isThere) return { ok: true, base: { name, desired: NOTHING } };
  const former = (file: string, index: number): Promise<string | null> =>
    variablesAtRef(file, join(temporary, `variables-${index}`), request, terminal.environment);
  return loadBase(folder, await withFormerVariables(request, former));
}

/**
 * A file of variables that the change may bring is read as it was: else its new values would be taken for what is pending.
 * @param was gives the path of what it was; null: it was not there
 */
async function withFormerVariables(
  request: BaseRequest,
  was: (file: string, index: number) => Promise<string | null>,
): Promise<BaseRequest> {
  const former = await Promise.all((request.flags.varFile ?? []).map(was));
  return { ...request, flags: { ...request.flags, varFile: former.filter((file) => file !== null) } };
}

/** Where the name itself stands: it may be a link now that was a file. */
async function placeOf(file: string): Promise<string> {
  const folder = dirname(resolve(file));
  return join(await realpath(folder).catch(() => folder), basename(file));
}

/** The same file of the other folder, if it is one of the project. */
async function variablesIn(file: string, { name, project }: BaseRequest): Promise<string | null> {
  const own = await placeOf(file);
  if (!isWithin(own, project.root)) return file;
  const root = (await stat(name)).isDirectory() ? name : dirname(name);
  const former = join(root, relative(project.root, own));
  return (await stat(former).catch(() => null)) === null ? null : former;
}

/** What the repository does not hold is taken as it is: no change of it can bring that. */
async function variablesAtRef(
  file: string,
  into: string,
  { name, project }: BaseRequest,
  environment: Environment,
): Promise<string | null> {
  const found = await fileAt(await placeOf(file), project.root, name, environment);
  if (found.type === "apart") return file;
  if (found.type === "absent") return null;
  const former = join(into, basename(file));
  await mkdir(into, { recursive: true });
  await writeFile(former, found.content);
  return former;
}

async function refusal(
  { name, project }: BaseRequest,
  { problem, detail }: Extract<Checkout, { ok: false }>,
  environment: Environment,
): Promise<Diagnostic> {
  const said = detail === "" ? "" : `${detail}.`;
  const error = (code: string, summary: string, text: string, fix: string): Diagnostic => ({
    code,
    severity: "error",
    summary,
    detail: text,
    fix,
  });
  switch (problem) {
    case "no-git":
      return error("base-unreadable", "git cannot be asked for the base", said, "Install git, or give a folder.");
    case "no-repository":
      return error("base-unreadable", "git cannot read the base", said, "Run it in a checkout, or give a folder.");
    case "no-commit":
      return unknownRef(name, await refsOf(project.root, environment));
    case "ambiguous":
      return error(
        "base-ambiguous",
        `${name} is the name of several refs`,
        `It may mean ${detail}. Git would take the first of them without a word, and a pull request can bring a tag.`,
        `Write the one that is meant in full: --base ${detail.split(", ").find((ref) => ref.startsWith("refs/remotes/")) ?? "refs/remotes/origin/main"}.`,
      );
    case "unusable":
      return error("base-unreadable", `the folder at ${name} cannot be used`, said, "Give a folder instead of a ref.");
  }
}

/** With the same flags, as far as it knows them: if it does not know the environment, it has nothing for it. */
async function loadBase(directory: string, request: BaseRequest): Promise<OpenedBase> {
  const { name, flags, dialect } = request;
  const loaded = await load(directory, flags, dialect, { past: true });
  if (loaded.project !== null) return { ok: true, base: { name, desired: loaded.project.desired } };
  const errors = errorsOf(loaded);
  if (loaded.fault === "request" && errors.some(({ code }) => code === "unknown-environment")) {
    return { ok: true, base: { name, desired: NOTHING } };
  }
  return { ok: true, base: null, warning: invalidBase(name, errors, loaded.sources) };
}

/** In words and without a span, as its files are called like those of the project. */
function invalidBase(name: string, errors: readonly Diagnostic[], sources: Sources): Diagnostic {
  const told = errors.slice(0, MAX_ERRORS_SHOWN).map(({ summary, span }) => {
    if (span === undefined) return `${name}: ${summary}`;
    const { line, column } = sources.position(span.file, span.start);
    return `${name}:${span.file}:${line}:${column}: ${summary}`;
  });
  if (errors.length > told.length) told.push(`and ${errors.length - told.length} more`);
  return {
    code: "base-invalid",
    severity: "warning",
    summary: `the base ${name} is invalid, so that changes cannot be told apart`,
    detail: told.join("; "),
    fix: "If this change mends it, nothing is to be done. Else mend it there.",
  };
}

function errorsOf({ diagnostics }: LoadResult): Diagnostic[] {
  return diagnostics.filter((diagnostic) => hasErrors([diagnostic]));
}
