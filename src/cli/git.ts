/** Asks git for commits, and for single files as a commit has them. Git runs as a process, never through a shell. */

import { type ChildProcessByStdio, type ExecFileException, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import type { Readable, Writable } from "node:stream";
import { contentOfStream } from "../files/files.ts";
import { isWithin } from "../files/paths.ts";
import { type Diagnostic, type FileContent, type JournalHeader, SERVICES } from "../index.ts";
import { groupBy, nearest } from "../model/text.ts";
import { readVersion } from "./terminal.ts";

/** The timeout of each call of git. */
export const GIT_TIMEOUT_MILLISECONDS = 60_000;
/** The timeout of a call whose answer is welcome, but not needed. */
const GIT_GLANCE_MILLISECONDS = 2_000;
/** The most octets of what git prints at once. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** At most this many ref names are compared with a mistyped one. */
const MAX_REFS = 500;
/** Variables that git sets in hooks: they point to the repository that git was called in, not to the project. */
const PLACES: readonly string[] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"];
/** Objects and refs are the repository's own: variables that add others are not passed on. */
const OTHER_OBJECTS: readonly string[] = [
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_NAMESPACE",
];
/** Prefixes under which git looks for a short name, in this order (gitrevisions, "refname"). */
const REF_PLACES: readonly string[] = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
/** Names that git itself writes beside its refs. */
const PSEUDO_REFS: ReadonlySet<string> = new Set(["HEAD", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD"]);

/** A hostile project folder may look like a bare repository whose configuration names programs: git must not run them. */
const SAFE_ARGUMENTS: readonly string[] = [
  "safe.bareRepository=explicit",
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
].flatMap((setting) => ["-c", setting]);

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * - `no-git`: there is no git to run, or it took too long.
 * - `no-repository`: the folder is in no repository, or git refuses to work with it.
 * - `no-commit`: the repository has no such commit.
 * - `ambiguous`: several refs have the name, and git would silently take the first.
 * - `submodule`: the folder lies in one, and the repository around it decides which one that is.
 */
type GitProblem = "no-git" | "no-repository" | "no-commit" | "ambiguous" | "submodule";

/** `detail`: git's message, or ours: one sentence without a full stop. For `ambiguous`: the refs, separated by commas. */
export interface GitFailure {
  readonly ok: false;
  readonly problem: GitProblem;
  readonly detail: string;
}

interface GitCall {
  readonly ok: boolean;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** null: git could not be run to its end. */
  readonly status: number | null;
  /** Why git could not be run to its end; null if it was. */
  readonly broken: string | null;
}

/** A commit to read: the id of its tree, and the top folder of the work tree. */
export interface CommitTree {
  readonly tree: string;
  readonly top: string;
}

/**
 * The tree of the whole repository of `folder` at `ref`.
 * @param ref must not begin with a hyphen
 */
export async function treeAt(
  folder: string,
  ref: string,
  environment: Environment,
): Promise<({ readonly ok: true } & CommitTree) | GitFailure> {
  const git = (args: readonly string[]): Promise<GitCall> => runGit(args, folder, environment);
  const top = await git(["rev-parse", "--show-toplevel"]);
  if (!top.ok) return failed(top, "no-repository");
  const around = await git(["rev-parse", "--show-superproject-working-tree"]);
  if (!around.ok) return failed(around, "no-repository");
  if (around.stdout.length > 0) return { ok: false, problem: "submodule", detail: withoutLineEnd(around.stdout) };
  const meanings = await meaningsOf(ref, git);
  if (meanings.length > 1) return { ok: false, problem: "ambiguous", detail: meanings.join(", ") };
  // For a full name that is not there git looks for a tag of that name, which a pull request can bring.
  if (meanings.length === 0 && ref.startsWith("refs/")) return { ok: false, problem: "no-commit", detail: "" };
  const commit = await git(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]);
  if (!commit.ok) return failed(commit, "no-commit");
  const tree = await git(["rev-parse", "--verify", "--quiet", `${withoutLineEnd(commit.stdout)}^{tree}`]);
  if (!tree.ok) return failed(tree, "no-repository");
  return { ok: true, tree: withoutLineEnd(tree.stdout), top: withoutLineEnd(top.stdout) };
}

/** The tree of a commit in the repository of `folder`; null: the commit is not there. */
export async function commitTree(commit: string, folder: string, environment: Environment): Promise<string | null> {
  const { ok, stdout } = await runGit(
    ["rev-parse", "--verify", "--quiet", `${commit}^{commit}^{tree}`],
    folder,
    environment,
  );
  return ok ? withoutLineEnd(stdout) : null;
}

/** The content of a file in a commit, and the folder of the repository that has it. */
export interface Blob {
  readonly id: string;
  readonly folder: string;
}

/** @throws if git does not give it, or it has more than 64 MiB */
export async function readBlob({ id, folder }: Blob, environment: Environment): Promise<Buffer> {
  const blob = await runGit(["cat-file", "blob", id], folder, environment);
  if (!blob.ok) throw new Error(`git does not give the object ${id}: ${blob.broken ?? blob.stderr}`);
  return blob.stdout;
}

/** Attributes by which a checkout may write another text than the commit has, but for line ends: gitattributes(5), "EFFECTS". */
const TEXT_CONVERSIONS: readonly string[] = ["ident", "filter", "working-tree-encoding"];
/** Attributes that say whether line ends are converted: `crlf` is the older word for `text`. */
const LINE_END_CONVERSIONS: readonly string[] = ["eol", "text", "crlf"];
/** Of these, one must be named in a `.gitattributes` that converts anything. `text` alone does not on a machine with git's own defaults. */
export const CONVERSIONS: readonly string[] = [...TEXT_CONVERSIONS, "eol"];

/** Files that were read of a repository's commit, and all `.gitattributes` that hold for them; paths are those of the repository. */
export interface AttributedFiles {
  /** The top folder of the repository. */
  readonly top: string;
  readonly files: readonly string[];
  readonly attributes: readonly { readonly path: string; readonly id: string }[];
}

/** What matters of a file: its text, in which line ends may differ, or each octet. */
export type Meant = "text" | "octets";

/**
 * The first of the files that a checkout may write otherwise than the commit has it.
 * @param index a file that is not there yet
 * @returns null: there is none
 * @throws if git does not say
 */
export async function convertedAmong(
  { top, files, attributes }: AttributedFiles,
  meant: Meant,
  index: string,
  environment: Environment,
): Promise<string | null> {
  // The attributes alone: to read the whole commit would take what a partial clone has not fetched.
  const entries = attributes.map(({ path, id }) => `100644 ${id}\t${path}\0`).join("");
  const added = await runGit(["update-index", "-z", "--index-info"], top, environment, { index, input: entries });
  const input = files.map((path) => `${path}\0`).join("");
  const asked = ["check-attr", "--cached", "--stdin", "-z", ...TEXT_CONVERSIONS, ...LINE_END_CONVERSIONS];
  const answered = await runGit(asked, top, environment, { index, input });
  for (const { ok, broken, stderr } of [added, answered]) {
    if (!ok) throw new Error(`git does not give the attributes of the commit: ${broken ?? stderr}`);
  }
  const stated = new Map<string, Map<string, string>>(files.map((path) => [path, new Map()]));
  const said = answered.stdout.toString("utf8").split("\0");
  for (let at = 0; at + 2 < said.length; at += 3) {
    const [path = "", attribute = "", value = ""] = said.slice(at, at + 3);
    stated.get(path)?.set(attribute, value);
  }
  return files.find((path) => isConverted(stated.get(path) ?? new Map(), meant)) ?? null;
}

function isConverted(values: ReadonlyMap<string, string>, meant: Meant): boolean {
  const isStated = (attribute: string): boolean => !["unspecified", "unset"].includes(values.get(attribute) ?? "");
  if (meant === "text") return TEXT_CONVERSIONS.some(isStated);
  // A file of git-lfs is known by what its pointer says.
  if (TEXT_CONVERSIONS.some((name) => isStated(name) && !(name === "filter" && values.get(name) === "lfs")))
    return true;
  return values.get("eol") === "crlf" && values.get("text") !== "unset" && values.get("crlf") !== "unset";
}

/** The top folder of the work tree; null if there is none. */
export async function topOf(folder: string, environment: Environment): Promise<string | null> {
  const { ok, stdout } = await runGit(["rev-parse", "--show-toplevel"], folder, environment);
  return ok ? withoutLineEnd(stdout) : null;
}

/** Whether a commit can change the file: its repository tracks it now, or is another one than that of `folder`, for example a submodule. */
export async function isTracked(file: string, folder: string, environment: Environment): Promise<boolean> {
  const own = await topOf(dirname(file), environment);
  return own !== (await topOf(folder, environment)) || isListed(file, environment);
}

/** Whether a commit of the repository can change the file: it is tracked now, or lies in a submodule. @param top of a work tree */
export async function isTrackedIn(file: string, top: string, environment: Environment): Promise<boolean> {
  const own = await topOf(dirname(file), environment);
  if (own === top) return isListed(file, environment);
  return own !== null && isSubmodule(own, top, environment);
}

/** Whether a work tree is that of a submodule of another one, or lies in one. */
async function isSubmodule(own: string, top: string, environment: Environment): Promise<boolean> {
  if (!isWithin(own, top)) return false;
  const parts = relative(top, own).split(sep);
  for (const depth of parts.keys()) {
    const part = parts.slice(0, depth + 1).join("/");
    const { stdout } = await runGit(["ls-files", "-s", "-z", "--", `:(literal)${part}`], top, environment);
    if (/^160000 [^\t]*\t([^\0]*)\0$/.exec(stdout.toString("utf8"))?.[1] === part) return true;
  }
  return false;
}

/**
 * The first of the files that no commit holds now.
 * @param files paths whose folders are no links
 * @param top of the work tree
 * @throws if git does not say
 */
export async function untrackedAmong(
  files: readonly string[],
  top: string,
  environment: Environment,
): Promise<string | null> {
  for (const [own, within] of groupBy(files, (file) => workTreeOf(dirname(file)))) {
    const isOther = own !== top && !(await isSubmodule(own, top, environment));
    // A name with a line break would be two questions, and git reads a line without a CR at its end.
    const unasked = within.find((file) => isOther || /[\n\r]/.test(file));
    if (unasked !== undefined) return unasked;
    const input = within.map((file) => `:0:${relative(own, file).split(sep).join("/")}\n`).join("");
    const { ok, stdout, broken, stderr } = await runGit(["cat-file", "--batch-check"], own, environment, { input });
    if (!ok) throw new Error(`git does not say which files it tracks: ${broken ?? stderr}`);
    const answers = stdout.toString("utf8").split("\n");
    const untracked = within.find((_, index) => answers[index]?.endsWith(" missing") !== false);
    if (untracked !== undefined) return untracked;
  }
  return null;
}

async function isListed(file: string, environment: Environment): Promise<boolean> {
  const list = ["ls-files", "--error-unmatch", "--", `:(literal)${pathInTree(file)}`];
  return (await runGit(list, dirname(file), environment)).ok;
}

/** The pointer file that git has in place of a large file: git-lfs, docs/spec.md, "The Pointer". */
const LFS_POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:.+\n)*?oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n$/;
const MAX_LFS_POINTER_BYTES = 1024;

/**
 * Size and digest of a file in a commit, whatever its size; of a pointer to a large file, those of that file.
 * @throws the signal's abort, or an error of git's output
 */
export async function contentOfBlob(
  blob: Blob,
  environment: Environment,
  signal?: AbortSignal,
): Promise<FileContent | null> {
  const { id, folder } = blob;
  const size = await runGit(["cat-file", "-s", id], folder, environment);
  if (size.ok && Number(withoutLineEnd(size.stdout)) <= MAX_LFS_POINTER_BYTES) {
    const pointer = await readBlob(blob, environment);
    const [, sha256, bytes] = LFS_POINTER.exec(pointer.toString("latin1")) ?? [];
    if (sha256 !== undefined) return { bytes: Number(bytes), sha256 };
  }
  const child = startGit(["cat-file", "blob", id], folder, environment);
  child.stdin.end();
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve).on("error", () => resolve(null)));
  try {
    const content = await contentOfStream(child.stdout, signal);
    return (await ended) === 0 ? content : null;
  } finally {
    child.kill();
  }
}

/**
 * What a ref can mean. A tag `origin/main`, which a pull request's author may push, comes before the remote branch of that name: with it as
 * the base a change would be compared with itself. A branch name may also look like an abbreviated commit id.
 * @returns full names of refs, and `commit ID`; sorted
 */
async function meaningsOf(ref: string, git: (args: readonly string[]) => Promise<GitCall>): Promise<string[]> {
  const name = ref.replace(/(@\{|[~^:]).*$/s, "");
  if (name === "") return [];
  // Git takes it as the id, whatever refs have the name; no longer one could be written.
  if (WHOLE_ID.test(name)) return [`commit ${name}`];
  const places = REF_PLACES.map((place) => `${place}${name}`);
  const known = [...places, `refs/remotes/${name}/HEAD`].filter((full) => full.startsWith("refs/"));
  const list = await git(["for-each-ref", "--format=%(refname)", "--", ...known]);
  // A pattern also matches the refs beneath it.
  const refs = withoutLineEnd(list.stdout)
    .split("\n")
    .filter((found) => known.includes(found));
  // Git takes a full name as that ref first, whatever other refs end in the name.
  if (name.startsWith("refs/")) return refs.includes(name) ? [name] : [];
  if (PSEUDO_REFS.has(name)) refs.push(name);
  // In either case of letters, and behind the name of a tag as `git describe` writes it: `v1.2-3-g0123abc`.
  const id = /^(?:.*-g)?([0-9a-f]{4,64})$/i.exec(name)?.[1];
  const ids = id === undefined ? null : await git(["rev-parse", `--disambiguate=${id}`]);
  if (ids?.ok && ids.stdout.length > 0) refs.push(`commit ${id}`);
  return refs.sort();
}

/** An id of SHA-1 or SHA-256. */
const WHOLE_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;

/** The named refs of a repository. */
interface Refs {
  /** The clone lacks part of the history, and usually has one branch only. */
  readonly isShallow: boolean;
  /** Branches and tags: `main`, `origin/main`, `v1`; sorted, at most MAX_REFS. */
  readonly names: readonly string[];
}

/** Best effort: empty if git does not answer. */
export async function refsOf(folder: string, environment: Environment): Promise<Refs> {
  const git = (...args: readonly string[]): Promise<GitCall> => runGit(args, folder, environment);
  const shallow = await git("rev-parse", "--is-shallow-repository");
  const list = await git("for-each-ref", "--format=%(refname:short)", `--count=${MAX_REFS}`);
  const names = list.ok ? withoutLineEnd(list.stdout).split("\n") : [];
  return {
    isShallow: shallow.ok && withoutLineEnd(shallow.stdout) === "true",
    names: names.filter((name) => name !== ""),
  };
}

function failed({ broken, stderr }: GitCall, problem: GitProblem): GitFailure {
  if (broken !== null) return { ok: false, problem: "no-git", detail: broken };
  const line = stderr.split("\n").find((text) => text.trim() !== "") ?? "";
  return { ok: false, problem, detail: line.replace(/^fatal: /, "").replace(/\.$/, "") };
}

/** The commit that the folder is checked out at; null if git does not answer at once. */
async function headCommit(folder: string, environment: Environment): Promise<string | null> {
  const { ok, stdout } = await runGit(["rev-parse", "HEAD"], folder, environment, { timeout: GIT_GLANCE_MILLISECONDS });
  return (ok && withoutLineEnd(stdout)) || null;
}

/**
 * Where git is called for a folder: the nearest folder above that holds a `.git`, or the folder itself. A commit can make a folder below look like
 * a bare repository (HEAD, objects, refs), and git, called there, would refuse to look any further.
 * @param folder its real path: git takes no path through a link
 */
export function workTreeOf(folder: string): string {
  for (let above = folder; ; above = dirname(above)) {
    if (existsSync(join(above, ".git"))) return above;
    if (dirname(above) === above) return folder;
  }
}

/** A path as git takes it where it is called, in the folder of the path. */
function pathInTree(path: string): string {
  return relative(workTreeOf(dirname(path)), path)
    .split(sep)
    .join("/");
}

interface GitCallOptions {
  readonly timeout?: number;
  /** The file of another index than the repository's own. */
  readonly index?: string;
  /** For its standard input. */
  readonly input?: string;
}

function runGit(
  args: readonly string[],
  cwd: string,
  environment: Environment,
  { timeout = GIT_TIMEOUT_MILLISECONDS, index, input = "" }: GitCallOptions = {},
): Promise<GitCall> {
  const env = { ...gitEnvironment(environment), ...(index === undefined ? {} : { GIT_INDEX_FILE: index }) };
  const options = { cwd: workTreeOf(cwd), env, timeout, maxBuffer: MAX_OUTPUT_BYTES };
  return new Promise((resolve) => {
    const child = execFile(
      "git",
      [...SAFE_ARGUMENTS, ...args],
      { ...options, encoding: "buffer" },
      (error, stdout, stderr) => {
        const status = error === null ? 0 : typeof error.code === "number" ? error.code : null;
        const broken = error === null || status !== null ? null : brokenText(error, timeout);
        resolve({ ok: error === null, stdout, stderr: stderr.toString("utf8"), status, broken });
      },
    );
    // That git does not read it shows in how it ends.
    child.stdin?.on("error", () => {}).end(input);
  });
}

/** What it says of errors is not read. */
export function startGit(
  args: readonly string[],
  folder: string,
  environment: Environment,
): ChildProcessByStdio<Writable, Readable, null> {
  const options = { cwd: workTreeOf(folder), env: gitEnvironment(environment) };
  return spawn("git", [...SAFE_ARGUMENTS, ...args], { ...options, stdio: ["pipe", "pipe", "ignore"] });
}

function brokenText(error: ExecFileException, timeout: number): string {
  if (error.code === "ENOENT") return "there is no git to run";
  if (error.killed === true) return `git did not end within ${timeout / 1000} s`;
  return error.message.split("\n")[0] ?? "git cannot be run";
}

/** Git may run a helper to fetch missing objects. The helper must not see Tenon's variables, which hold tokens, and must not prompt. */
function gitEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const dropped = new Set([...PLACES, ...OTHER_OBJECTS, ...SERVICES.map(({ tokenVariable }) => tokenVariable)]);
  const kept = Object.entries(environment).filter(([name]) => !dropped.has(name) && !name.startsWith("TENON_"));
  return {
    ...Object.fromEntries(kept),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    // A replace ref or a graft would show another history than the commits have: refs/replace can be pushed like any other ref.
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_GRAFT_FILE: "/dev/null",
  };
}

function withoutLineEnd(output: Buffer): string {
  return output.toString("utf8").replace(/\n$/, "");
}

// The journal's header: who runs Tenon, and from which commit, by CI variables and git.

const ACTOR_VARIABLES = ["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_USER_ID"];
const COMMIT_VARIABLES = ["GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT"];

export async function runMetadata(
  root: string,
  baseUrl: string,
  environment: Environment,
): Promise<Pick<JournalHeader, "version" | "actor" | "commit" | "host">> {
  return {
    version: readVersion(),
    actor: firstOf(ACTOR_VARIABLES, environment) ?? localUser(),
    commit: firstOf(COMMIT_VARIABLES, environment) ?? (await headCommit(root, environment)),
    host: new URL(baseUrl).host,
  };
}

function firstOf(names: readonly string[], environment: Environment): string | null {
  for (const name of names) if (environment[name]) return environment[name];
  return null;
}

/** A container's user may have no name. */
function localUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}

// The error for a git ref that the checkout does not have: a shallow clone lacks most refs; in a full clone the name is probably mistyped.

/** A name that may stand in a shell command unquoted. */
const PLAIN_NAME = /^[A-Za-z0-9][\w./-]*$/;
const REMOTE = "origin/";

export function unknownRef(flag: string, name: string, { isShallow, names }: Refs): Diagnostic {
  return {
    code: "base-unknown",
    severity: "error",
    summary: `there is no such ref: ${name} is no commit that this checkout has`,
    detail: isShallow ? "This is a shallow clone, as CI makes one: it holds the last commit of one branch only." : "",
    fix: isShallow ? fetchAdvice(flag, name) : nameAdvice(name, names),
  };
}

function fetchAdvice(flag: string, name: string): string {
  const whole = "fetch-depth: 0 in actions/checkout";
  if (!PLAIN_NAME.test(name)) return `Fetch it: ${whole}, or git fetch --unshallow origin.`;
  const short = name.replace(/^refs\/remotes\//, "");
  const branch = short.startsWith(REMOTE) ? short.slice(REMOTE.length) : short;
  const then = branch === name ? `, and give ${flag} ${REMOTE}${branch}` : "";
  return `Fetch it: ${whole}, or git fetch origin +refs/heads/${branch}:refs/remotes/${REMOTE}${branch}${then}.`;
}

function nameAdvice(name: string, names: readonly string[]): string {
  // A checkout in CI has `origin/main`, but no `main`.
  const meant = names.find((known) => known === `${REMOTE}${name}`) ?? nearest(name, names);
  if (meant !== null) return `Did you mean ${meant}?`;
  return "Name a branch, a tag or a commit that is here: git branch --all lists the branches.";
}
