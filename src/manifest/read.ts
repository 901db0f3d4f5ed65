/** Reading manifests: only regular files inside the project, of bounded size, in UTF-8. */

import { constants } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { readContent } from "../files/files.ts";
import { isPrivate, isWithin } from "../files/paths.ts";
import type { FileContent } from "../model/api.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { MAX_FILE_BYTES } from "./limits.ts";

/** Where the files of a project are read: on the disk, in an editor, whose buffers stand before what is saved, or in a commit. */
export interface ProjectFiles {
  /** Whether there is something of this path, a symbolic link not followed. */
  has(path: string): Promise<boolean>;
  /**
   * The path with every symbolic link followed.
   * @throws the file system's error, or one whose code is ENOTFETCHED: it lies in a submodule whose commit is not there; or EUNCOMMITTED:
   * `list` names it, for the work tree has it, but the commit does not
   */
  realpath(path: string): Promise<string>;
  /** What is in a folder; empty if it cannot be read; null: it is a submodule whose commit is not there. */
  list(folder: string): Promise<readonly FolderEntry[] | null>;
  /** @param path a real path: a symlink put in its place meanwhile is not followed */
  read(path: string): Promise<ReadText>;
}

export interface FolderEntry {
  readonly name: string;
  /** A link to a folder is none. */
  isDirectory(): boolean;
}

export type ReadText =
  /** Without its BOM; `badOffset`: where it has the U+FFFD of the first byte that is no UTF-8, or null. */
  | { readonly ok: true; readonly text: string; readonly badOffset: number | null }
  | { readonly ok: false; readonly problem: FileProblem }
  | { readonly ok: false; readonly problem: "too-large"; readonly size: number };

export const ON_DISK: ProjectFiles = {
  has: async (path) => (await lstat(path).catch(() => null)) !== null,
  realpath,
  list: (folder) => readdir(folder, { withFileTypes: true }).catch(() => []),
  read: async (path) => {
    const read = await readBounded(path);
    return read.ok ? { ok: true, ...decode(read.bytes) } : read;
  },
};

export type FileProblem =
  | "not-fetched"
  | "uncommitted"
  | "missing"
  | "outside"
  | "private"
  | "not-a-file"
  | "unreadable";

export type ResolvedFile =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly problem: FileProblem };

/**
 * The real path of `file` if it lies inside the real folder `root`, symlinks followed.
 * @param file relative to `root`, forward slashes
 */
export async function resolveInside(
  root: string,
  file: string,
  files: Pick<ProjectFiles, "realpath"> = ON_DISK,
): Promise<ResolvedFile> {
  if (isAbsolute(file) || file.split(/[\\/]/).includes("..")) return { ok: false, problem: "outside" };
  try {
    const path = await files.realpath(resolve(root, file));
    if (!isWithin(path, root)) return { ok: false, problem: "outside" };
    return isPrivate(path, root) ? { ok: false, problem: "private" } : { ok: true, path };
  } catch (error) {
    return { ok: false, problem: problemOf(error) };
  }
}

/**
 * Size and digest of a file inside the folder; null if it does not exist, lies elsewhere, or cannot be read. `root` and `file`: see
 * `resolveInside`.
 */
export async function contentInside(root: string, file: string, signal?: AbortSignal): Promise<FileContent | null> {
  const resolved = await resolveInside(root, file);
  return resolved.ok ? readContent(resolved.path, signal).catch(() => null) : null;
}

/**
 * `contentInside` for a whole run: a file that several names lead to, as links may, is read once.
 * @param root real path of the folder
 */
export function contentsInside(root: string, signal?: AbortSignal): (file: string) => Promise<FileContent | null> {
  const known = new Map<string, Promise<FileContent | null>>();
  return async (file) => {
    const resolved = await resolveInside(root, file);
    if (!resolved.ok) return null;
    const content = known.get(resolved.path) ?? readContent(resolved.path, signal).catch(() => null);
    known.set(resolved.path, content);
    return content;
  };
}

export type ReadBytes =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly problem: FileProblem }
  | { readonly ok: false; readonly problem: "too-large"; readonly size: number };

/** @param path a real path: a symlink put in its place meanwhile is not followed */
export async function readBounded(path: string, maxBytes: number = MAX_FILE_BYTES): Promise<ReadBytes> {
  try {
    // O_NONBLOCK: opening a named pipe must not wait for a writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const status = await handle.stat();
      if (!status.isFile()) return { ok: false, problem: "not-a-file" };
      if (status.size > maxBytes) return { ok: false, problem: "too-large", size: status.size };
      return { ok: true, bytes: await handle.readFile() };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { ok: false, problem: problemOf(error) };
  }
}

function problemOf(error: unknown): FileProblem {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT" || code === "ENOTDIR") return "missing";
  if (code === "EISDIR" || code === "ENXIO") return "not-a-file";
  if (code === "ELOOP") return "outside";
  if (code === "ENOTFETCHED") return "not-fetched";
  if (code === "EUNCOMMITTED") return "uncommitted";
  return "unreadable";
}

/** The text without its BOM. If the bytes are not UTF-8, `badOffset` is where the decoded text has the U+FFFD of the first bad byte. */
export function decode(bytes: Buffer): { readonly text: string; readonly badOffset: number | null } {
  const text = new TextDecoder("utf-8").decode(bytes);
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let byteOffset = bom;
  let from = 0;
  for (let index = text.indexOf("\ufffd"); index !== -1; index = text.indexOf("\ufffd", from)) {
    byteOffset += Buffer.byteLength(text.slice(from, index));
    const genuine = bytes[byteOffset] === 0xef && bytes[byteOffset + 1] === 0xbf && bytes[byteOffset + 2] === 0xbd;
    if (!genuine) return { text, badOffset: index };
    byteOffset += 3;
    from = index + 1;
  }
  return { text, badOffset: null };
}

const PROBLEM_DETAIL: Readonly<Record<FileProblem, string>> = {
  "not-fetched": "It is a submodule, or lies in one, and its commit at the base is not there.",
  uncommitted: "The commit has no such file.",
  missing: "There is no such file.",
  outside:
    "It lies outside the project folder, or a symbolic link leads there; a manifest cannot reach beyond its folder.",
  private: "It belongs to git or to Tenon, not to the project; a manifest cannot read it.",
  "not-a-file": "It is not a regular file.",
  unreadable: "It cannot be read; check its permissions.",
};

export function fileProblem(
  file: string,
  problem: FileProblem,
): Pick<Diagnostic, "code" | "severity" | "summary" | "detail"> {
  const isElsewhere = problem === "outside" || problem === "private";
  const code = problem === "missing" ? "file-not-found" : isElsewhere ? "outside-project" : "unreadable-file";
  return { code, severity: "error", summary: `cannot use ${file}`, detail: PROBLEM_DETAIL[problem] };
}
