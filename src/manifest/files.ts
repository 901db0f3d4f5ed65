/** `files:` patterns → the manifests they name, in a fixed order and never outside the project folder. */

import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isPrivate, isWithin } from "../files/paths.ts";
import type { Diagnostic, Sources } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { MAX_DIRECTORY_ENTRIES, MAX_FILE_BYTES, MAX_FILE_PATTERNS, MAX_FILES, MAX_PROJECT_BYTES } from "./limits.ts";
import { type ParseContext, type ParsedFile, parseFile } from "./parse.ts";
import { type FileProblem, type FolderEntry, fileProblem, ON_DISK, type ProjectFiles, resolveInside } from "./read.ts";

interface FoundFile {
  /** Relative to the project, forward slashes. */
  readonly file: string;
  /** Real path. */
  readonly path: string;
  /** Index of the pattern that named it first. */
  readonly pattern: number;
}

type PatternProblem =
  | { readonly pattern: number; readonly type: "outside" | "no-match" | "too-many" | "too-many-patterns" }
  | { readonly pattern: number; readonly type: "file"; readonly file: string; readonly problem: FileProblem }
  | { readonly pattern: number; readonly type: "not-fetched"; readonly path: string };

interface FoundFiles {
  readonly files: readonly FoundFile[];
  readonly problems: readonly PatternProblem[];
}

/** Folders and files that one search has looked up, so that none is looked up twice. */
class Walk {
  /** Directory entries compared with a pattern's segment so far; an entry counts each time that it is compared. */
  entries = 0;
  readonly #listed: Map<string, Promise<readonly FolderEntry[] | null>> = new Map();
  readonly #resolved: Map<string, ReturnType<typeof resolveInside>> = new Map();
  readonly #root: string;
  readonly #files: ProjectFiles;

  constructor(root: string, files: ProjectFiles) {
    this.#root = root;
    this.#files = files;
  }

  /** Each folder is read once, however many patterns lead there. */
  list(folder: string): Promise<readonly FolderEntry[] | null> {
    return remembered(this.#listed, folder, () => this.#files.list(join(this.#root, folder)));
  }

  resolve(file: string): ReturnType<typeof resolveInside> {
    return remembered(this.#resolved, file, () => resolveInside(this.#root, file, this.#files));
  }
}

/**
 * `*` and `?` stay within a path segment, and `**` spans any number of segments. At the end of a pattern, `**` means every file below. A
 * leading dot must be written out. The search stops at the first "too many".
 * @param root real path of the project folder
 * @param rootFile real path of the root file, which is never found again
 */
export async function findFiles(
  root: string,
  rootFile: string,
  patterns: readonly string[],
  files: ProjectFiles = ON_DISK,
): Promise<FoundFiles> {
  const found = new Map<string, FoundFile>();
  const problems: PatternProblem[] = [];
  const walk = new Walk(root, files);
  for (const [pattern, text] of patterns.entries()) {
    if (pattern === MAX_FILE_PATTERNS) {
      problems.push({ pattern, type: "too-many-patterns" });
      break;
    }
    const segments = segmentsOf(text);
    if (text.startsWith("/") || /^[a-z]:/i.test(text) || text.includes("\\") || segments.includes("..")) {
      problems.push({ pattern, type: "outside" });
      continue;
    }
    const { names, notFetched } = await matches(segments, walk);
    if (notFetched !== null) problems.push({ pattern, type: "not-fetched", path: notFetched });
    if (names?.length === 0) problems.push({ pattern, type: "no-match" });
    for (const file of names ?? []) {
      const resolved = await walk.resolve(file);
      if (!resolved.ok && resolved.problem === "not-fetched")
        problems.push({ pattern, type: "not-fetched", path: file });
      // Whoever reads a commit judges what the work tree alone has.
      else if (!resolved.ok && resolved.problem === "uncommitted" && segments.some(isGlob)) continue;
      else if (!resolved.ok) problems.push({ pattern, type: "file", file, problem: resolved.problem });
      else if (resolved.path !== rootFile && !found.has(resolved.path)) {
        found.set(resolved.path, { file, path: resolved.path, pattern });
      }
    }
    if (names === null || found.size > MAX_FILES) {
      problems.push({ pattern, type: "too-many" });
      break;
    }
  }
  const sorted = [...found.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
  return { files: sorted.slice(0, MAX_FILES), problems };
}

/** Several `**` in a row mean the same as one. */
function segmentsOf(pattern: string): string[] {
  const segments = pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
  return segments.filter((segment, index) => segment !== "**" || segments[index - 1] !== "**");
}

function remembered<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

function isGlob(pattern: string): boolean {
  return /[*?]/.test(pattern);
}

interface Matches {
  /** null: there are more than MAX_DIRECTORY_ENTRIES to look at. */
  readonly names: readonly string[] | null;
  /** A submodule that the pattern leads into and whose commit is not there: what it holds is not known. */
  readonly notFetched: string | null;
}

async function matches(segments: readonly string[], walk: Walk): Promise<Matches> {
  let notFetched: string | null = null;
  if (!segments.some(isGlob)) return { names: segments.length === 0 ? [] : [segments.join("/")], notFetched };
  const found = new Set<string>();
  const complete = segments.at(-1) === "**" ? [...segments, "*"] : segments;
  const last = complete.length - 1;
  // `at`: the segment that the folder's entries are compared with.
  const pending: { folder: string; at: number }[] = [{ folder: "", at: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { folder, at } = next;
    const segment = complete[at];
    if (segment === undefined) continue;
    if (segment === "**") pending.push({ folder, at: at + 1 });
    const entries = await walk.list(folder);
    if (entries === null) notFetched ??= folder;
    for (const entry of entries ?? []) {
      walk.entries += 1;
      if (walk.entries > MAX_DIRECTORY_ENTRIES) return { names: null, notFetched };
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      // Links to folders are not walked: a link can lead in a circle, or out of the project.
      if (segment === "**") {
        if (entry.isDirectory() && !isSkipped(entry.name)) pending.push({ folder: path, at });
      } else if (segmentMatches(segment, entry.name)) {
        if (at < last && entry.isDirectory()) pending.push({ folder: path, at: at + 1 });
        if (at === last && !entry.isDirectory()) found.add(path);
      }
    }
  }
  return { names: [...found].sort(), notFetched };
}

function isSkipped(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

function segmentMatches(pattern: string, name: string): boolean {
  if (name.startsWith(".") && !pattern.startsWith(".")) return false;
  return wildcardMatches(pattern, name);
}

/** Greedy, with one point to backtrack to: no pattern takes exponential time, as it could in a regular expression. */
function wildcardMatches(pattern: string, text: string): boolean {
  let [p, t, star, mark] = [0, 0, -1, 0];
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p;
      mark = t;
      p += 1;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
      p += 1;
      t += 1;
    } else if (star !== -1) {
      p = star + 1;
      mark += 1;
      t = mark;
    } else return false;
  }
  while (pattern[p] === "*") p += 1;
  return p === pattern.length;
}

// The files of a project: its root file, and those that `files:` names.

export interface ReadContext extends ParseContext {
  /** Where to read them; default: on the disk. */
  readonly files?: ProjectFiles;
}

/** @returns null if it cannot be read; that is reported */
export async function readManifest(
  path: string,
  file: string,
  sources: Sources,
  context: ReadContext,
): Promise<ParsedFile | null> {
  const { files = ON_DISK } = context;
  const real = await files.realpath(path).catch(() => path);
  const folder = dirname(path);
  const elsewhere = !isWithin(real, folder) ? "outside" : isPrivate(real, folder) ? "private" : null;
  // `findFiles` has checked the other files.
  if (elsewhere !== null && file === ROOT_FILE) {
    context.report({ ...fileProblem(file, elsewhere), fix: "Put the file itself into the folder." });
    return null;
  }
  const text = await readSource(real, file, sources, context);
  return text === null ? null : parseFile(file, text, context);
}

/**
 * @param path a real path: a link that is put in its place meanwhile is not followed
 * @returns the text without its BOM; null: it cannot be read, or is no UTF-8, which is reported
 */
export async function readSource(
  path: string,
  file: string,
  sources: Sources,
  { files = ON_DISK, report }: Pick<ReadContext, "files" | "report">,
): Promise<string | null> {
  const read = await files.read(path);
  if (!read.ok) {
    report(read.problem === "too-large" ? tooLarge(file, read.size) : unreadable(file, read.problem));
    return null;
  }
  const { text, badOffset } = read;
  sources.add(file, text);
  if (badOffset !== null) report(notUtf8(file, badOffset));
  return badOffset === null ? text : null;
}

function unreadable(file: string, problem: Parameters<typeof fileProblem>[1]): Diagnostic {
  return { ...fileProblem(file, problem), fix: "Check the file." };
}

function tooLarge(file: string, bytes: number): Diagnostic {
  const detail = `It has ${(bytes / 1024 ** 2).toFixed(1)} MiB; a manifest may have ${MAX_FILE_BYTES / 1024 ** 2}.`;
  return {
    code: "file-too-large",
    severity: "error",
    summary: `${file} is too large`,
    detail,
    fix: "Divide it into several files under `files`.",
  };
}

function notUtf8(file: string, offset: number): Diagnostic {
  const detail = "Here is a byte that is no part of a UTF-8 text.";
  const span = { file, start: offset, end: offset + 1 };
  return {
    code: "not-utf8",
    severity: "error",
    summary: "the file is not UTF-8",
    detail,
    fix: "Save the file as UTF-8.",
    span,
  };
}

interface RootOfProject {
  /** Real path of the folder. */
  readonly root: string;
  readonly rootPath: string;
  readonly tree: JsonObject;
}

/** The files that `files:` names, sorted by path. A file that cannot be read is reported, and listed as damaged. */
export async function readFurtherFiles(
  { root, rootPath, tree }: RootOfProject,
  sources: Sources,
  context: ReadContext,
): Promise<ParsedFile[]> {
  const list = tree["files"];
  if (!Array.isArray(list)) return [];
  const patterns = (list as readonly Json[]).map((pattern, index) => patternText(pattern, list, index, context));
  const broken = context.places.brokenKeys(list);
  const usable = patterns.map((pattern, index) => (broken.has(String(index)) ? "" : pattern));
  const found = await findFiles(root, rootPath, usable, context.files);
  for (const problem of found.problems) {
    const pattern = usable[problem.pattern] ?? "";
    if (pattern !== "" || problem.type === "too-many-patterns")
      context.report({ ...explain(problem, pattern), span: context.places.span(list, problem.pattern) });
  }
  return readAll(found.files, list, sources, context);
}

/** Like every text, a name such as `2026` is taken as it was written. A list, a mapping or null is left for the schema to report. */
function patternText(pattern: Json, list: object, index: number, { places }: ParseContext): string {
  if (typeof pattern === "string") return pattern;
  return typeof pattern === "object" ? "" : (places.source(list, index) ?? String(pattern));
}

async function readAll(
  files: readonly FoundFile[],
  list: object,
  sources: Sources,
  context: ReadContext,
): Promise<ParsedFile[]> {
  const parsed: ParsedFile[] = [];
  let characters = 0;
  for (const { file, path, pattern } of files) {
    const withSpan = (diagnostic: Diagnostic): void =>
      context.report(
        diagnostic.span === undefined ? { ...diagnostic, span: context.places.span(list, pattern) } : diagnostic,
      );
    parsed.push(
      (await readManifest(path, file, sources, { ...context, report: withSpan })) ?? {
        file,
        tree: null,
        damaged: true,
      },
    );
    characters += sources.text(file)?.length ?? 0;
    if (characters > MAX_PROJECT_BYTES) {
      withSpan(projectTooLarge());
      parsed.push({ file, tree: null, damaged: true });
      break;
    }
  }
  return parsed;
}

function projectTooLarge(): Diagnostic {
  const detail = `The files of a project may have ${MAX_PROJECT_BYTES / 1024 ** 2} MiB together; those after this one are not read.`;
  return {
    code: "project-too-large",
    severity: "error",
    summary: "the project is too large",
    detail,
    fix: "Divide the project.",
  };
}

function explain(problem: PatternProblem, pattern: string): Diagnostic {
  switch (problem.type) {
    case "outside":
      return {
        ...fileProblem(pattern, "outside"),
        fix: "Write a path relative to the root file, with forward slashes and without `..`.",
      };
    case "file":
      return {
        ...fileProblem(problem.file, problem.problem),
        fix: "Put the file into the project folder, or change the pattern.",
      };
    case "not-fetched":
      return { ...fileProblem(problem.path, "not-fetched"), fix: "Fetch the history of the submodule." };
    case "too-many": {
      const detail = `A project may have ${MAX_FILES.toLocaleString("en")} files, and patterns look at a bounded number of folders.`;
      return {
        code: "too-many-files",
        severity: "error",
        summary: "too many files",
        detail,
        fix: "Write a narrower pattern.",
      };
    }
    case "too-many-patterns": {
      const detail = `\`files\` may have ${MAX_FILE_PATTERNS.toLocaleString("en")} patterns; this one and the rest are not checked.`;
      return {
        code: "too-many-files",
        severity: "error",
        summary: "too many patterns under `files`",
        detail,
        fix: "Join patterns with stars.",
      };
    }
    case "no-match": {
      const detail = isGlob(pattern)
        ? "No file of the project fits the pattern, which leads through no symbolic link to a folder."
        : "There is no such file.";
      return {
        code: "no-match",
        severity: "warning",
        summary: `${pattern} names no file`,
        detail,
        fix: "Correct the pattern, or remove it.",
      };
    }
  }
}

// The root file, which makes a folder a project.

export const ROOT_FILE = "tenon.yaml";

/**
 * @param directory the project folder, or the path of its root file
 * @returns the root file's path in the real folder; null if there is none, which is reported
 */
export async function findRootFile(
  directory: string,
  report: (diagnostic: Diagnostic) => void,
  files: Pick<ProjectFiles, "has"> = ON_DISK,
): Promise<string | null> {
  const given = resolve(directory);
  try {
    const path = (await stat(given)).isDirectory() ? join(await realpath(given), ROOT_FILE) : given;
    if (basename(path) !== ROOT_FILE) report(notRootFile(directory));
    else if (!(await files.has(path))) report(noRootFile(directory));
    else return join(await realpath(dirname(path)), ROOT_FILE);
  } catch {
    const fix = "Name the project folder, or its root file tenon.yaml.";
    report({ ...fileProblem(directory, "missing"), code: "no-project", fix });
  }
  return null;
}

function noRootFile(given: string): Diagnostic {
  return {
    code: "no-project",
    severity: "error",
    summary: `there is no ${ROOT_FILE} in ${given}`,
    detail: `A project is a folder whose root file is ${ROOT_FILE}.`,
    fix: "Name another folder, or begin a project here with `tenon init`.",
  };
}

function notRootFile(given: string): Diagnostic {
  const detail = `The root file of a project is called ${ROOT_FILE}; other manifests are named under its \`files\`.`;
  return {
    code: "no-project",
    severity: "error",
    summary: `${given} is not the root file of a project`,
    detail,
    fix: "Name the project folder instead.",
  };
}
