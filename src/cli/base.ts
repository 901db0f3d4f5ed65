/** `plan --base`: the manifests that the proposed change is compared with, from a folder or a git ref. */

import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Base, type Desired, type Diagnostic, hasErrors, type LoadResult, type Project } from "../index.ts";
import type { ProjectFlags } from "./args.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { type Checkout, checkOut } from "./git.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import { load } from "./project.ts";
import type { Terminal } from "./terminal.ts";

export type OpenedBase = { readonly ok: true; readonly base: Base } | { readonly ok: false; readonly code: ExitCode };

export interface BaseRequest {
  /** A folder with a project in it, or else a git ref. */
  readonly name: string;
  readonly project: Project;
  readonly flags: ProjectFlags;
  readonly dialect: string;
}

/** Everything is this change, where there was no project before. */
const NOTHING: Desired = { owner: null, account: null, declared: [], removed: [], allow: [], lintOff: [] };

export async function openBase(terminal: Terminal, request: BaseRequest): Promise<OpenedBase> {
  if (await isProject(request.name)) return loadBase(terminal, request.name, request);
  if (request.name === "" || request.name.startsWith("-")) {
    sayError(terminal, `--base ${request.name} is neither a project folder nor a git ref`, NAME_IT);
    return { ok: false, code: EXIT.error };
  }
  const folder = await mkdtemp(join(tmpdir(), "tenon-base-"));
  try {
    return await baseAtRef(terminal, folder, request);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    sayError(terminal, `the project at ${request.name} cannot be written to a folder: ${message}`);
    return { ok: false, code: EXIT.error };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const NAME_IT = "For example --base origin/main, or the folder of another checkout.";

async function isProject(path: string): Promise<boolean> {
  const status = await stat(path).catch(() => null);
  if (status === null) return false;
  const root = status.isDirectory() ? join(path, "tenon.yaml") : path;
  return basename(root) === "tenon.yaml" && (await stat(root).catch(() => null)) !== null;
}

async function baseAtRef(terminal: Terminal, folder: string, request: BaseRequest): Promise<OpenedBase> {
  const { name, project } = request;
  const found = await checkOut(project.root, name, folder, terminal.environment);
  if (!found.ok) {
    sayDiagnostics(terminal, [refusal(name, found)]);
    return { ok: false, code: EXIT.error };
  }
  const isThere = found.exists && (await isProject(folder));
  return isThere ? loadBase(terminal, folder, request) : { ok: true, base: { name, desired: NOTHING } };
}

function refusal(name: string, { problem, detail }: Extract<Checkout, { ok: false }>): Diagnostic {
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
      return error(
        "base-unknown",
        `${name} is neither a project folder nor a commit that this checkout has`,
        "A shallow clone, as CI makes one, holds the last commit only.",
        "Fetch it: fetch-depth: 0 in actions/checkout, or git fetch origin BRANCH and --base origin/BRANCH.",
      );
    case "unusable":
      return error("base-unreadable", `the folder at ${name} cannot be used`, said, "Give a folder instead of a ref.");
  }
}

/** With the same flags, as far as it knows them: if it does not know the environment, it has nothing for it. */
async function loadBase(terminal: Terminal, directory: string, request: BaseRequest): Promise<OpenedBase> {
  const { name, flags, dialect } = request;
  const loaded = await load(directory, flags, dialect, { past: true });
  if (loaded.project !== null) return { ok: true, base: { name, desired: loaded.project.desired } };
  const errors = errorsOf(loaded);
  if (loaded.fault === "request" && errors.some(({ code }) => code === "unknown-environment")) {
    return { ok: true, base: { name, desired: NOTHING } };
  }
  sayDiagnostics(terminal, errors, loaded.sources);
  sayError(terminal, `the base ${name} is invalid: these errors are in it`, "Mend it there first, or choose another.");
  return { ok: false, code: EXIT.invalid };
}

function errorsOf({ diagnostics }: LoadResult): Diagnostic[] {
  return diagnostics.filter((diagnostic) => hasErrors([diagnostic]));
}
