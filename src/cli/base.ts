/** The base of `--base` and `--changed-since`: the manifests as they were before the proposed change, from a git ref or a folder. */

import { lstat, mkdir, mkdtemp, readlink, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isWithin } from "../files/paths.ts";
import {
  type Base,
  contentInside,
  contentsInside,
  type Desired,
  type Diagnostic,
  type FileContent,
  hasErrors,
  type LoadResult,
  type Project,
  type ProjectFiles,
  type Sources,
} from "../index.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { ProjectFlags } from "./flags.ts";
import {
  type CommitTree,
  contentOfBlob,
  convertedAmong,
  type Environment,
  type GitFailure,
  isTracked,
  isTrackedIn,
  type Meant,
  readBlob,
  refsOf,
  topOf,
  treeAt,
  unknownRef,
  untrackedAmong,
} from "./git.ts";
import { CommitFiles } from "./git-tree.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import { load } from "./project.ts";
import type { Terminal } from "./terminal.ts";

export type OpenedBase =
  | { readonly ok: true; readonly base: Base }
  /** The base exists, but is invalid. The proposed change may mend it, so the plan is made without a base. */
  | { readonly ok: true; readonly base: null; readonly warning: Diagnostic }
  | { readonly ok: false; readonly code: ExitCode };

export interface BaseRequest {
  /** The flag that it was given by, for messages. */
  readonly flag: "--base" | "--changed-since";
  /** A path of a folder with a project in it, or a git ref. */
  readonly name: string;
  /** The project's folder or root file, as it was given. */
  readonly directory: string | undefined;
  readonly project: Project;
  readonly flags: ProjectFlags;
  readonly dialect: string;
}

/** At most this many errors of an invalid base are shown; the rest is counted. */
const MAX_ERRORS_SHOWN = 3;

/** The base if there was no project before: then the proposed change brings everything. */
const NOTHING: Desired = { owner: null, account: null, declared: [], removed: [], allow: [], lintOff: [] };

export async function openBase(terminal: Terminal, request: BaseRequest): Promise<OpenedBase> {
  const link = await changeableLink(terminal, request);
  if (link !== null) {
    sayDiagnostics(terminal, [throughLink(link)]);
    return { ok: false, code: EXIT.error };
  }
  if (request.name === "" || request.name.startsWith("-")) {
    sayBaseUnknown(terminal, request, "is neither a project folder nor a git ref");
    return { ok: false, code: EXIT.error };
  }
  const isFolder = isPath(request.name);
  try {
    return await (isFolder ? baseInFolder(terminal, request) : baseAtRef(terminal, request));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const summary = `the project at ${request.name} cannot be read: ${message}`;
    const fix = isFolder ? "Give a git ref, or the folder in a whole checkout." : "Give a folder instead of a ref.";
    sayError(terminal, { code: "base-unreadable", summary, fix });
    return { ok: false, code: EXIT.error };
  }
}

/**
 * A symbolic link of the repository or the project in the path of the project's folder or of a file of variables: the proposed change may
 * have brought it, and then the base would be read in another place than the one that was named.
 */
async function changeableLink(
  { environment }: Terminal,
  { directory, project, flags }: BaseRequest,
): Promise<string | null> {
  const here = await workingFolder(environment);
  const folder = await folderOf(resolve(here, directory ?? "."));
  for (const path of [folder, ...(flags.varFile ?? []).map((file) => dirname(resolve(here, file)))]) {
    for (const link of await linksIn(path)) {
      // The folders above it may be links, too: git tells nothing of what lies beyond one.
      const above = await realpath(dirname(link));
      const isOfProject = isWithin(above, project.root);
      if (isOfProject || (await isTracked(join(above, basename(link)), above, environment))) return link;
    }
  }
  return null;
}

/** The working folder as the shell names it, with its links. */
async function workingFolder({ PWD }: Environment): Promise<string> {
  const isHere = PWD !== undefined && isAbsolute(PWD) && (await realpath(PWD).catch(() => null)) === process.cwd();
  return isHere ? PWD : process.cwd();
}

/** The symbolic links among a folder and those above it. */
async function linksIn(path: string): Promise<string[]> {
  const above = dirname(path) === path ? [] : await linksIn(dirname(path));
  const status = await lstat(path).catch(() => null);
  return status?.isSymbolicLink() === true ? [...above, path] : above;
}

function throughLink(link: string): Diagnostic {
  const shown = relative(process.cwd(), link);
  return {
    code: "base-unreadable",
    severity: "error",
    summary: `${shown} is a symbolic link`,
    detail: "A commit can change where it leads, so what lies behind it cannot be compared with a base.",
    fix: "Name the folder that it leads to.",
  };
}

function sayBaseUnknown(terminal: Terminal, { flag, name }: BaseRequest, problem: string): void {
  const fix = `For example ${flag} refs/remotes/origin/main, or the folder of another checkout as a path: ${flag} ../main.`;
  sayError(terminal, { code: "base-unknown", summary: `${flag} ${name} ${problem}`, fix });
}

/**
 * A folder must be written as a path (`./main`). Otherwise a proposed change could bring a folder called `origin/main`, and would be
 * compared with itself.
 */
function isPath(name: string): boolean {
  return isAbsolute(name) || /^\.{1,2}([/\\]|$)/.test(name);
}

async function baseInFolder(terminal: Terminal, request: BaseRequest): Promise<OpenedBase> {
  if (await isProject(request.name)) {
    const former = (file: string) => variablesIn(file, request, terminal.environment);
    const loaded = await loadWithVariables(request.name, request, former);
    const root = await realpath(await folderOf(request.name));
    const contentOf = contentsInside(root, terminal.interrupt.first);
    return loaded.ok && loaded.base !== null ? { ok: true, base: { ...loaded.base, contentOf } } : loaded;
  }
  sayBaseUnknown(terminal, request, "is no folder with a tenon.yaml in it");
  return { ok: false, code: EXIT.error };
}

async function isProject(path: string): Promise<boolean> {
  const status = await stat(path).catch(() => null);
  if (status === null) return false;
  const root = status.isDirectory() ? join(path, "tenon.yaml") : path;
  return basename(root) === "tenon.yaml" && (await stat(root).catch(() => null)) !== null;
}

async function baseAtRef(terminal: Terminal, request: BaseRequest): Promise<OpenedBase> {
  const { name, project } = request;
  const { environment } = terminal;
  const found = await treeAt(project.root, name, environment);
  if (!found.ok) {
    sayDiagnostics(terminal, [await refusal(request, found, environment)]);
    return { ok: false, code: EXIT.error };
  }
  // For files of variables.
  const temporary = await mkdtemp(join(tmpdir(), "tenon-base-"));
  const files = new CommitFiles(found, environment);
  try {
    const root = join(project.root, "tenon.yaml");
    const isThere = (await files.has(root)) && (await files.realpath(root).catch(unlessNotFetched)) !== null;
    const former = (file: string, index: number): Promise<string | null> =>
      variablesAtRef(file, join(temporary, `variables-${index}`), { files, top: found.top, environment });
    const opened: OpenedBase = isThere
      ? await loadWithVariables(project.root, request, former, files)
      : { ok: true, base: { name, desired: NOTHING } };
    if (files.failure !== null) throw new Error(files.failure);
    const generated = await untrackedAmong([...files.uncommitted], found.top, environment);
    if (generated !== null) {
      return { ok: true, base: null, warning: generatedFile(request, relative(project.root, generated)) };
    }
    const converted = await convertedFile(files, "text", environment);
    if (converted !== null) {
      return { ok: true, base: null, warning: convertedBase(request, relative(found.top, converted)) };
    }
    const contentOf = (file: string) => contentAtRef(file, found, request, terminal).catch(() => null);
    return isThere && opened.ok && opened.base !== null ? { ok: true, base: { ...opened.base, contentOf } } : opened;
  } finally {
    files.close();
    await rm(temporary, { recursive: true, force: true });
  }
}

/** A path that leads nowhere is nothing of the base; where it leads into a commit that is not there, nobody knows. */
function unlessNotFetched(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOTFETCHED") throw error;
  return null;
}

/**
 * A file that no commit has held where the base's links lead, such as an image that a build makes, is the same for base and project.
 * @returns null: it was not there, or nobody can tell what a checkout held
 */
async function contentAtRef(
  file: string,
  commit: CommitTree,
  { project: { root } }: BaseRequest,
  { environment, interrupt }: Terminal,
): Promise<FileContent | null> {
  const files = new CommitFiles(commit, environment);
  try {
    const { place, isThere } = await files.resolve(join(root, file));
    if (!isThere) {
      const made = await untrackedPlace(place, commit.top, environment);
      return made === null ? null : contentInside(root, relative(root, made), interrupt.first);
    }
    const blob = isWithin(place, root) ? await files.blob(place) : null;
    if (blob === null || (await convertedFile(files, "octets", environment)) !== null) return null;
    return await contentOfBlob(blob, environment, interrupt.first);
  } finally {
    files.close();
  }
}

/**
 * Where a path of the base leads that ends in what the base's commit has not.
 * @param top of the work tree
 * @returns a real path; null: there is nothing, or a commit can have changed where it leads or what is there
 */
async function untrackedPlace(path: string, top: string, environment: Environment): Promise<string | null> {
  const real = await realpath(path).catch(() => null);
  if (real === null || leadsBack(path)) return null;
  for (const link of await linksIn(path)) {
    const target = await readlink(link);
    if (leadsBack(target) || (isWithin(link, top) && (await isTrackedIn(link, top, environment)))) return null;
    const led = resolve(await realpath(dirname(link)), target);
    if ((await untrackedPlace(led, top, environment)) === null) return null;
  }
  if (!isWithin(real, top)) return real;
  return (await isTrackedIn(real, top, environment)) ? null : real;
}

/** Whether it has `NAME/..`: where NAME is a link, that leads elsewhere than the letters say. */
function leadsBack(path: string): boolean {
  return path
    .replace(/^(?:\.\.\/)+/, "")
    .split(sep)
    .includes("..");
}

/** The first of the files that were read of a commit to which its attributes give another content in a checkout; null: there is none. */
async function convertedFile(files: CommitFiles, meant: Meant, environment: Environment): Promise<string | null> {
  const temporary = await mkdtemp(join(tmpdir(), "tenon-base-"));
  try {
    for (const [number, attributed] of (await files.attributed()).entries()) {
      const index = join(temporary, `index-${number}`);
      const converted = await convertedAmong(attributed, meant, index, environment);
      if (converted !== null) return join(attributed.top, converted);
    }
    return null;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/**
 * A file of variables that the proposed change may alter is read as it was at the base. Otherwise the base would be planned with the new
 * values, and what they change would be shown as pending before this change.
 * @param was gives the path of the former file; null: nobody can tell what it held
 * @param files where the base's other files are read; default: on the disk
 */
async function loadWithVariables(
  directory: string,
  request: BaseRequest,
  was: (file: string, index: number) => Promise<string | null>,
  files?: ProjectFiles,
): Promise<OpenedBase> {
  const { varFile = [], ...flags } = request.flags;
  const former = await Promise.all(varFile.map(was));
  const unknown = varFile.find((_, index) => former[index] === null);
  if (unknown !== undefined) return { ok: true, base: null, warning: unknownVariables(request, unknown) };
  const known = former.filter((file) => file !== null);
  return loadBase(directory, { ...request, flags: { ...flags, varFile: known } }, files);
}

/** The file's path with links resolved in its folder only, not in its own name: since the base the file may have become a link. */
async function placeOf(file: string): Promise<string> {
  const folder = dirname(resolve(file));
  return join(await realpath(folder).catch(() => folder), basename(file));
}

/** @param project a folder, or a root file in one */
async function folderOf(project: string): Promise<string> {
  return (await stat(project)).isDirectory() ? project : dirname(project);
}

/** The same file of the base's folder, or of the checkout or copy that the folder lies in. */
async function variablesIn(
  file: string,
  { name, project }: BaseRequest,
  environment: Environment,
): Promise<string | null> {
  const own = await placeOf(file);
  const base = await realpath(await folderOf(name));
  const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null;
  const [top, baseTop] = [await topOf(project.root, environment), await topOf(base, environment)];
  // No commit can change it, as of one that a pipeline makes.
  if (top !== null && !(await isTrackedIn(own, top, environment))) return file;
  if (isWithin(own, project.root)) {
    const former = join(base, relative(project.root, own));
    return (await isThere(former)) ? former : null;
  }
  if (top === null || top === baseTop) return file;
  const place = sep + relative(top, project.root);
  if (base.endsWith(place)) {
    const formerTop = base.slice(0, -place.length);
    const former = join(formerTop, relative(top, own));
    if (await isThere(former)) return former;
    if (formerTop === baseTop) return null;
  }
  throw new Error(`it has no ${relative(top, own)}, which lies outside the project's folder and may be changed, too`);
}

/**
 * A file that the repository does not track, where the base's links lead, is used as it is: no commit of it can alter the file.
 * @returns null: nobody can tell what it held
 */
async function variablesAtRef(
  file: string,
  into: string,
  { files, top, environment }: { readonly files: CommitFiles; readonly top: string; readonly environment: Environment },
): Promise<string | null> {
  const named = await placeOf(file);
  if (!isWithin(named, top)) return file;
  const found = await files.resolve(named).catch(unlessNotFetched);
  if (found === null) return null;
  const { place, isThere } = found;
  if (!isThere) return untrackedPlace(place, top, environment);
  if (!isWithin(place, top)) return place;
  const blob = await files.blob(place);
  if (blob === null) return null;
  const former = join(into, basename(file));
  await mkdir(into, { recursive: true });
  await writeFile(former, await readBlob(blob, environment));
  return former;
}

async function refusal(
  { flag, name, project }: BaseRequest,
  { problem, detail }: GitFailure,
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
    case "submodule":
      return error(
        "base-unreadable",
        "the project lies in a submodule",
        `A commit of ${detail} can change which repository that is, so its refs cannot be the base.`,
        "Give a folder instead of a ref.",
      );
    case "no-commit":
      return unknownRef(flag, name, await refsOf(project.root, environment));
    case "ambiguous":
      return error(
        "base-ambiguous",
        `${name} is the name of several refs`,
        `It may mean ${detail}. Git would take the first of them without a word, and a pull request can bring a tag.`,
        `Write the one that is meant in full: ${flag} ${detail.split(", ").find((ref) => ref.startsWith("refs/remotes/")) ?? "refs/remotes/origin/main"}.`,
      );
  }
}

/**
 * Loads the base with the same flags as far as they apply to it. A base without the requested environment declares no objects.
 * @param files where its files are read; default: on the disk
 */
async function loadBase(directory: string, request: BaseRequest, files?: ProjectFiles): Promise<OpenedBase> {
  const { name, flags, dialect, project } = request;
  const { parsed, desired } = project;
  const loaded = await load(directory, flags, dialect, {
    past: true,
    ...(files === undefined ? {} : { files }),
    ...(desired.today === undefined ? {} : { today: desired.today }),
    ...(parsed === undefined ? {} : { parsed }),
  });
  if (loaded.project !== null) {
    return { ok: true, base: { name, desired: loaded.project.desired, environments: loaded.environments } };
  }
  const errors = errorsOf(loaded);
  if (loaded.fault === "request" && errors.some(({ code }) => code === "unknown-environment")) {
    return { ok: true, base: { name, desired: NOTHING } };
  }
  return { ok: true, base: null, warning: invalidBase(request, errors, loaded.sources) };
}

const WITHOUT_BASE: Readonly<Record<BaseRequest["flag"], string>> = {
  "--base": "the plan cannot show which changes are new",
  "--changed-since": "the whole project is planned",
};

function convertedBase({ flag, name }: BaseRequest, file: string): Diagnostic {
  return {
    code: "base-invalid",
    severity: "warning",
    summary: `the base ${name} has a file that a checkout changes; ${WITHOUT_BASE[flag]}`,
    detail: `The attributes of ${file} (ident, filter or working-tree-encoding in .gitattributes) give it another text than the one that is committed, so nobody can tell what was applied from it.`,
    fix: "No action is needed if this change removes the attribute. Otherwise remove it in the base.",
  };
}

function generatedFile({ flag, name }: BaseRequest, file: string): Diagnostic {
  return {
    code: "base-invalid",
    severity: "warning",
    summary: `the base ${name} may have had ${file}, which git does not track; ${WITHOUT_BASE[flag]}`,
    detail: `A pattern under \`files\` names it there. Whether it is new or was made for the base as well, as a pipeline makes files, nobody can tell.`,
    fix: `If it is new, run git add. If it is made, give a folder as the base, with the file made there, too: ${flag} ../main.`,
  };
}

function unknownVariables({ flag, name }: BaseRequest, file: string): Diagnostic {
  return {
    code: "base-invalid",
    severity: "warning",
    summary: `the base ${name} has no ${file}; ${WITHOUT_BASE[flag]}`,
    detail: "Values of variables come from that file, and nobody can tell which ones the base had.",
    fix: "No action is needed if this change brings the file. Otherwise give a base that has it.",
  };
}

/** A diagnostic without a span, as the base's files have the same names as those of the project. */
function invalidBase({ flag, name }: BaseRequest, errors: readonly Diagnostic[], sources: Sources): Diagnostic {
  const shown = errors.slice(0, MAX_ERRORS_SHOWN).map(({ summary, span }) => {
    if (span === undefined) return `${name}: ${summary}`;
    const { line, column } = sources.position(span.file, span.start);
    return `${name}:${span.file}:${line}:${column}: ${summary}`;
  });
  if (errors.length > shown.length) shown.push(`and ${errors.length - shown.length} more`);
  return {
    code: "base-invalid",
    severity: "warning",
    summary: `the base ${name} is invalid; ${WITHOUT_BASE[flag]}`,
    detail: shown.join("; "),
    fix: "No action is needed if this change mends the errors. Otherwise mend them there.",
  };
}

function errorsOf({ diagnostics }: LoadResult): Diagnostic[] {
  return diagnostics.filter((diagnostic) => hasErrors([diagnostic]));
}
