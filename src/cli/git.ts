/** A folder as a git commit has it, written to another folder. Git runs as a process, never through a shell. */

import { type ExecFileException, execFile, spawn } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { contentOfStream } from "../files/files.ts";
import { type Diagnostic, type FileContent, type JournalHeader, SERVICES } from "../index.ts";
import { nearest } from "../model/text.ts";
import { readVersion } from "./terminal.ts";

/** For each call of git. */
const GIT_TIMEOUT_MILLISECONDS = 60_000;
/** Where an answer is welcome, and nothing depends on it. */
const GIT_GLANCE_MILLISECONDS = 2_000;
/** The most octets of the list of files in a folder. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 100_000;
/** The most octets of all files together. */
const MAX_FOLDER_BYTES = 256 * 1024 * 1024;
/** A larger file is no manifest and no zone file, and is left out. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** More names than this are not compared with a mistyped one. */
const MAX_REFS = 500;
/** Exit code of `rev-parse --verify --quiet` for a ref that is not there; any other is a failure. */
const ABSENT_STATUS = 1;
/** Set in hooks, where they say where git was called from, and not where the project is. */
const PLACES: readonly string[] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"];
/** Objects and refs are the repository's own: a variable that adds others is not handed on. */
const OTHER_OBJECTS: readonly string[] = [
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_NAMESPACE",
];
/** Where git looks for a short name, in this order (gitrevisions, "refname"). */
const REF_PLACES: readonly string[] = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
/** Names that git itself writes beside its refs. */
const PSEUDO_REFS: ReadonlySet<string> = new Set(["HEAD", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD"]);

/** A project folder may be made to look like a bare repository, whose settings name programs: none of it is followed. */
const SAFE_ARGUMENTS: readonly string[] = [
  "safe.bareRepository=explicit",
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
].flatMap((setting) => ["-c", setting]);

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * - `no-git`: there is no git to run, or it took too long.
 * - `no-repository`: the folder is in none, or git will not work with it.
 * - `no-commit`: the repository has no such commit.
 * - `ambiguous`: several refs have the name, and git would take the first without a word.
 * - `unusable`: the folder holds what cannot be written here.
 */
type GitProblem = "no-git" | "no-repository" | "no-commit" | "ambiguous" | "unusable";

export type Checkout =
  /** false: the commit does not have the folder. */
  | { readonly ok: true; readonly exists: boolean }
  /** `detail`: git's words, or ours; one sentence without a full stop. Of `ambiguous`: the refs, with a comma between. */
  | { readonly ok: false; readonly problem: GitProblem; readonly detail: string };

interface GitCall {
  readonly ok: boolean;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** null: it was not run, or not to its end. */
  readonly status: number | null;
  /** It could not be run to its end. */
  readonly broken: string | null;
}

/**
 * Writes `folder`, as it is at `ref`, beneath `into`. Neither the work tree nor the index is touched.
 * @param ref must not begin with a hyphen
 * @param into an empty folder of our own
 */
export async function checkOut(folder: string, ref: string, into: string, environment: Environment): Promise<Checkout> {
  const git = (args: readonly string[], input = ""): Promise<GitCall> => runGit(args, input, folder, environment);
  const place = await git(["rev-parse", "--show-prefix"]);
  if (!place.ok) return failed(place, "no-repository");
  const meanings = await meaningsOf(ref, git);
  if (meanings.length > 1) return { ok: false, problem: "ambiguous", detail: meanings.join(", ") };
  const commit = await git(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]);
  if (!commit.ok) return failed(commit, "no-commit");
  const prefix = withoutLineEnd(place.stdout).replace(/\/$/, "");
  const tree = await git(["rev-parse", "--verify", "--quiet", `${withoutLineEnd(commit.stdout)}:${prefix}`]);
  if (!tree.ok) return tree.status === ABSENT_STATUS ? { ok: true, exists: false } : failed(tree, "no-repository");
  const type = await git(["cat-file", "-t", withoutLineEnd(tree.stdout)]);
  if (!type.ok) return failed(type, "no-repository");
  // The entry with the name of the folder may have been a file.
  if (withoutLineEnd(type.stdout) !== "tree") return { ok: true, exists: false };
  const list = await git(["ls-tree", "-r", "-l", "-z", "--full-tree", withoutLineEnd(tree.stdout)]);
  if (!list.ok) return failed(list, "no-repository");
  const entries = parseList(list.stdout);
  if (typeof entries === "string") return { ok: false, problem: "unusable", detail: entries };
  const blobs = await git(["cat-file", "--batch"], entries.map(({ id }) => `${id}\n`).join(""));
  if (!blobs.ok) return failed(blobs, "no-repository");
  const detail = await writeEntries(entries, blobs.stdout, into);
  return detail === null ? { ok: true, exists: true } : { ok: false, problem: "unusable", detail };
}

/**
 * - `apart`: the repository of `folder` does not hold the file; no commit can bring it.
 * - `absent`: it does now, and does not at `ref`.
 */
type FileAtRef =
  | { readonly type: "apart" }
  | { readonly type: "absent" }
  | { readonly type: "there"; readonly content: Buffer };

/**
 * A single file as it is at `ref`.
 * @param file in a real folder; may be a link
 * @param folder within the repository
 * @param ref as `checkOut` has taken it
 */
export async function fileAt(file: string, folder: string, ref: string, environment: Environment): Promise<FileAtRef> {
  const [beside, at] = [await topOf(dirname(file), environment), await topOf(folder, environment)];
  if (beside === null || beside !== at || !(await isTracked(file, dirname(file), environment)))
    return { type: "apart" };
  const blob = await runGit(
    ["cat-file", "blob", `${ref}^{commit}:./${basename(file)}`],
    "",
    dirname(file),
    environment,
  );
  return blob.ok ? { type: "there", content: blob.stdout } : { type: "absent" };
}

/** The folder of the work tree; null where there is none. */
async function topOf(folder: string, environment: Environment): Promise<string | null> {
  const { ok, stdout } = await runGit(["rev-parse", "--show-toplevel"], "", folder, environment);
  return ok ? withoutLineEnd(stdout) : null;
}

/** Whether the repository of the file's folder holds it now; if that is another one than that of `folder`, a commit holds it as well. */
async function isTracked(file: string, folder: string, environment: Environment): Promise<boolean> {
  const own = dirname(file);
  if ((await topOf(own, environment)) !== (await topOf(folder, environment))) return true;
  const list = ["ls-files", "--error-unmatch", "--", `:(literal)${basename(file)}`];
  return (await runGit(list, "", own, environment)).ok;
}

/** A large file is kept elsewhere, and git has a note of what it holds: git-lfs, docs/spec.md, "The Pointer". */
const LFS_POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:.+\n)*?oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n$/;
const MAX_LFS_POINTER_BYTES = 1024;

/**
 * What a file of a project held at `ref`, whatever its size. Not where links lead today: they may have led elsewhere then.
 * @param file relative to `root`, forward slashes
 * @param real the real path of the file now
 * @returns "untracked": git holds it neither then nor now, so that no commit can change it; null: it was not there
 * @throws what the signal or git brings
 */
export async function contentAt(
  file: string,
  real: string,
  root: string,
  ref: string,
  environment: Environment,
  signal?: AbortSignal,
): Promise<FileContent | "untracked" | null> {
  const git = (args: readonly string[]): Promise<GitCall> => runGit(args, "", root, environment);
  const blob = `${ref}^{commit}:./${file}`;
  const size = await git(["cat-file", "-s", blob]);
  if (!size.ok) return (await isTracked(real, root, environment)) ? null : "untracked";
  if (Number(withoutLineEnd(size.stdout)) <= MAX_LFS_POINTER_BYTES) {
    const { stdout } = await git(["cat-file", "blob", blob]);
    const [, sha256, bytes] = LFS_POINTER.exec(stdout.toString("latin1")) ?? [];
    if (sha256 !== undefined) return { bytes: Number(bytes), sha256 };
  }
  const child = spawn("git", [...SAFE_ARGUMENTS, "cat-file", "blob", blob], {
    cwd: root,
    env: gitEnvironment(environment),
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve).on("error", () => resolve(null)));
  try {
    const content = await contentOfStream(child.stdout, signal);
    return (await ended) === 0 ? content : null;
  } finally {
    child.kill();
  }
}

/**
 * What a ref can mean. A tag `origin/main`, which a pull request's author may push, comes before the remote branch of that name: with it
 * as the base a change would be compared with itself. A branch may also be called like the beginning of a commit's id.
 * @returns full names of refs, and `commit ID`; sorted
 */
async function meaningsOf(ref: string, git: (args: readonly string[]) => Promise<GitCall>): Promise<string[]> {
  const name = ref.replace(/(@\{|[~^:]).*$/s, "");
  if (name === "") return [];
  const places = REF_PLACES.map((place) => `${place}${name}`);
  const known = [...places, `refs/remotes/${name}/HEAD`].filter((full) => full.startsWith("refs/"));
  const list = await git(["for-each-ref", "--format=%(refname)", "--", ...known]);
  // A pattern also matches what lies beneath it.
  const refs = withoutLineEnd(list.stdout)
    .split("\n")
    .filter((found) => known.includes(found));
  // Git takes a full name for itself first, whatever else ends so.
  if (name.startsWith("refs/") && refs.includes(name)) return [name];
  if (PSEUDO_REFS.has(name)) refs.push(name);
  const ids = /^[0-9a-f]{4,64}$/.test(name) ? await git(["rev-parse", `--disambiguate=${name}`]) : null;
  if (ids?.ok && ids.stdout.length > 0) refs.push(`commit ${name}`);
  return refs.sort();
}

/** What a repository has under names. */
interface Refs {
  /** It was cloned or fetched without its whole history, and mostly one branch alone. */
  readonly isShallow: boolean;
  /** Branches and tags: `main`, `origin/main`, `v1`; sorted, and not more than help. */
  readonly names: readonly string[];
}

/** Best effort: nothing where git does not answer. */
export async function refsOf(folder: string, environment: Environment): Promise<Refs> {
  const git = (...args: readonly string[]): Promise<GitCall> => runGit(args, "", folder, environment);
  const shallow = await git("rev-parse", "--is-shallow-repository");
  const list = await git("for-each-ref", "--format=%(refname:short)", `--count=${MAX_REFS}`);
  const names = list.ok ? withoutLineEnd(list.stdout).split("\n") : [];
  return {
    isShallow: shallow.ok && withoutLineEnd(shallow.stdout) === "true",
    names: names.filter((name) => name !== ""),
  };
}

function failed({ broken, stderr }: GitCall, problem: GitProblem): Checkout {
  if (broken !== null) return { ok: false, problem: "no-git", detail: broken };
  const line = stderr.split("\n").find((text) => text.trim() !== "") ?? "";
  return { ok: false, problem, detail: line.replace(/^fatal: /, "").replace(/\.$/, "") };
}

/** The commit that the folder is checked out at; null where git does not say so at once. */
async function headCommit(folder: string, environment: Environment): Promise<string | null> {
  const { ok, stdout } = await runGit(["rev-parse", "HEAD"], "", folder, environment, GIT_GLANCE_MILLISECONDS);
  return (ok && withoutLineEnd(stdout)) || null;
}

function runGit(
  args: readonly string[],
  input: string,
  cwd: string,
  environment: Environment,
  timeout: number = GIT_TIMEOUT_MILLISECONDS,
): Promise<GitCall> {
  const maxBuffer = args[0] === "cat-file" ? 2 * MAX_FOLDER_BYTES : MAX_LIST_BYTES;
  const options = { cwd, env: gitEnvironment(environment), timeout, maxBuffer };
  return new Promise((resolve) => {
    const child = execFile(
      "git",
      [...SAFE_ARGUMENTS, ...args],
      { ...options, encoding: "buffer" },
      (error, stdout, stderr) => {
        const status = error === null ? 0 : typeof error.code === "number" ? error.code : null;
        const broken = error === null || status !== null ? null : brokenText(error);
        resolve({ ok: error === null, stdout, stderr: stderr.toString("utf8"), status, broken });
      },
    );
    // It may end before it has read everything; the code above reports how it ended.
    child.stdin?.on("error", () => {}).end(input);
  });
}

function brokenText(error: ExecFileException): string {
  if (error.code === "ENOENT") return "there is no git to run";
  if (error.killed === true) return `git did not end within ${GIT_TIMEOUT_MILLISECONDS / 1000} s`;
  return error.message.split("\n")[0] ?? "git cannot be run";
}

/** Git may run a helper to fetch what it lacks: it gets none of our variables, as tokens are among them, and asks nobody. */
function gitEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const dropped = new Set([...PLACES, ...OTHER_OBJECTS, ...SERVICES.map(({ tokenVariable }) => tokenVariable)]);
  const kept = Object.entries(environment).filter(([name]) => !dropped.has(name) && !name.startsWith("TENON_"));
  return {
    ...Object.fromEntries(kept),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    // A replace ref or a graft shows another history than the commits have: refs/replace can be pushed like any other ref.
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_GRAFT_FILE: "/dev/null",
  };
}

function withoutLineEnd(output: Buffer): string {
  return output.toString("utf8").replace(/\n$/, "");
}

interface Entry {
  readonly path: string;
  readonly id: string;
  readonly isLink: boolean;
}

/** `MODE SP TYPE SP ID SP+ SIZE TAB PATH NUL`. Submodules and what is too large are left out. @returns or what is wrong */
function parseList(output: Buffer): Entry[] | string {
  const entries: Entry[] = [];
  let bytes = 0;
  for (const line of output.toString("utf8").split("\0")) {
    const match = /^(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-)\t(.+)$/s.exec(line);
    if (match === null) continue;
    const [, mode, type, id = "", size, path = ""] = match;
    if (type !== "blob" || Number(size) > MAX_FILE_BYTES) continue;
    if (path.split("/").some((part) => /^(\.{0,2}|\.git)$/i.test(part))) return `it holds the path ${path}`;
    bytes += Number(size);
    entries.push({ path, id, isLink: mode === "120000" });
  }
  if (entries.length > MAX_FILES) return `it has more than ${MAX_FILES} files`;
  const through = throughLink(entries);
  if (through !== null) return `it holds the path ${through} beneath a link`;
  return bytes > MAX_FOLDER_BYTES ? `it has more than ${MAX_FOLDER_BYTES / 1024 ** 2} MiB` : entries;
}

/** No tree that git makes has something beneath a link, but one can be forged. Some disks take upper for lower case. */
function throughLink(entries: readonly Entry[]): string | null {
  const links = new Set(entries.flatMap(({ path, isLink }) => (isLink ? [path.toLowerCase()] : [])));
  if (links.size === 0) return null;
  const found = entries.find(({ path }) => {
    const parts = path.toLowerCase().split("/");
    return parts.some((_, depth) => depth > 0 && links.has(parts.slice(0, depth).join("/")));
  });
  return found?.path ?? null;
}

/** Links come last: nothing is written through one. Where they lead to is judged by whoever reads. @returns what is wrong */
async function writeEntries(entries: readonly Entry[], blobs: Buffer, into: string): Promise<string | null> {
  const links: { path: string; target: string }[] = [];
  let offset = 0;
  for (const { path, isLink } of entries) {
    const end = blobs.indexOf("\n", offset);
    const size = / blob (\d+)$/.exec(blobs.toString("latin1", offset, end))?.[1];
    if (size === undefined) return `git does not have the content of ${path}`;
    const content = blobs.subarray(end + 1, end + 1 + Number(size));
    offset = end + 1 + Number(size) + 1;
    if (isLink) links.push({ path, target: content.toString("utf8") });
    else await writeNew(into, path, (file) => writeFile(file, content, { flag: "wx" }));
  }
  for (const { path, target } of links) await writeNew(into, path, (file) => symlink(target, file));
  return null;
}

async function writeNew(into: string, path: string, write: (file: string) => Promise<void>): Promise<void> {
  const file = join(into, path);
  await mkdir(dirname(file), { recursive: true });
  await write(file);
}

// Finds out for the journal who runs this and from which commit, from CI variables and git.

const ACTOR_VARIABLES = ["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_USER_ID"];
const COMMIT_VARIABLES = ["GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT"];

export async function runMetadata(root: string, baseUrl: string, environment: Environment): Promise<JournalHeader> {
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

// Messages about a git ref that the checkout does not have: a shallow clone lacks most refs, a whole one lacks mistyped ones.

/** Text that may stand in a command without quotes. */
const PLAIN_NAME = /^[A-Za-z0-9][\w./-]*$/;
const REMOTE = "origin/";

export function unknownRef(name: string, { isShallow, names }: Refs): Diagnostic {
  return {
    code: "base-unknown",
    severity: "error",
    summary: `there is no such ref: ${name} is no commit that this checkout has`,
    detail: isShallow ? "This is a shallow clone, as CI makes one: it holds the last commit of one branch only." : "",
    fix: isShallow ? fetchAdvice(name) : nameAdvice(name, names),
  };
}

function fetchAdvice(name: string): string {
  const whole = "fetch-depth: 0 in actions/checkout";
  if (!PLAIN_NAME.test(name)) return `Fetch it: ${whole}, or git fetch --unshallow origin.`;
  const short = name.replace(/^refs\/remotes\//, "");
  const branch = short.startsWith(REMOTE) ? short.slice(REMOTE.length) : short;
  const then = branch === name ? `, and give --base ${REMOTE}${branch}` : "";
  return `Fetch it: ${whole}, or git fetch origin +refs/heads/${branch}:refs/remotes/${REMOTE}${branch}${then}.`;
}

function nameAdvice(name: string, names: readonly string[]): string {
  // A checkout of CI has `origin/main`, and no `main`.
  const meant = names.find((known) => known === `${REMOTE}${name}`) ?? nearest(name, names);
  if (meant !== null) return `Did you mean ${meant}?`;
  return "Name a branch, a tag or a commit that is here: git branch --all lists the branches.";
}
