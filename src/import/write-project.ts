/** Writing a project: all of its files or none, and nothing that was there unless that is asked for. */

import { randomUUID } from "node:crypto";
import { lstat, mkdir, open, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ledAway } from "../model/containment.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { ProjectFile } from "./project.ts";
import { staleFiles } from "./stale.ts";

export interface WriteRequest {
  /** The project folder; made if it is not there. */
  readonly out: string;
  readonly files: readonly ProjectFile[];
  /** Existing files are overwritten. */
  readonly force: boolean;
}

/** So many files are named; the rest is counted. */
const MAX_NAMED_FILES = 5;
/** Readable by whoever may read the folder: a project belongs into git. */
const FILE_MODE = 0o644;

/** What stands in the way of writing; empty if nothing does. Writes nothing. */
export async function obstacles({ out, files, force }: WriteRequest): Promise<Diagnostic[]> {
  const led = await ledAway(out);
  if (led !== null) {
    const where = led === "private" ? "into a folder of git or of Tenon" : "out of this folder";
    return [problem("symbolic-link", `${out} leads ${where} by a symbolic link`, LINK_DETAIL)];
  }
  const folders = [out, ...new Set(files.map(({ file }) => dirname(join(out, file))))];
  for (const folder of folders) {
    const found = await lstat(folder).catch(() => null);
    if (found?.isSymbolicLink() === true)
      return [problem("symbolic-link", `${folder} is a symbolic link`, LINK_DETAIL)];
    if (found !== null && !found.isDirectory()) return [problem("not-a-folder", `${folder} is not a folder`, "")];
  }
  const existing: string[] = [];
  for (const { file } of files) {
    const found = await lstat(join(out, file)).catch(() => null);
    if (found === null) continue;
    if (!found.isFile()) return [problem("not-a-file", `${join(out, file)} is not a regular file`, LINK_DETAIL)];
    existing.push(file);
  }
  return [...(existing.length === 0 || force ? [] : [alreadyThere(out, existing)]), ...(await staleFiles(out, files))];
}

const LINK_DETAIL = "What is written stays in the folder that was named.";

function problem(code: string, summary: string, detail: string): Diagnostic {
  return { code, severity: "error", summary, detail, fix: "Name another folder with --out." };
}

function alreadyThere(out: string, existing: readonly string[]): Diagnostic {
  const named = existing.slice(0, MAX_NAMED_FILES).join(", ");
  const more = existing.length > MAX_NAMED_FILES ? ` and ${existing.length - MAX_NAMED_FILES} more` : "";
  return {
    code: "file-exists",
    severity: "error",
    summary: `${out} has ${existing.length === 1 ? "this file" : "these files"} already: ${named}${more}`,
    detail: "Nothing was written.",
    fix: "Name another folder with --out, or give --force to overwrite.",
  };
}

/**
 * All files are written under other names and brought to the disk first; then they take their names. What fails leaves what was
 * there, as far as no name was taken yet; new files are taken away again.
 * @throws what the file system says
 */
export async function writeProject({ out, files, force }: WriteRequest): Promise<void> {
  const made = await makeFolders(out, files);
  const mark = `.${randomUUID()}.new`;
  const placed: string[] = [];
  try {
    for (const { file, text } of files) await writeNew(join(out, file) + mark, text);
    for (const { file } of files) {
      const path = join(out, file);
      const isNew = (await lstat(path).catch(() => null)) === null;
      if (!isNew && !force) throw Object.assign(new Error(`${path} appeared meanwhile`), { code: "EEXIST" });
      await rename(path + mark, path);
      if (isNew) placed.push(path);
    }
  } catch (error) {
    for (const { file } of files) await rm(join(out, file) + mark, { force: true });
    for (const path of placed) await rm(path, { force: true });
    for (const folder of made.reverse()) await rmdir(folder).catch(() => undefined);
    throw error;
  }
}

/** @returns those that were not there */
async function makeFolders(out: string, files: readonly ProjectFile[]): Promise<string[]> {
  const made: string[] = [];
  for (const folder of new Set([out, ...files.map(({ file }) => dirname(join(out, file)))])) {
    await makeFolder(resolve(folder), made);
  }
  return made;
}

/** Folder by folder: where the system takes no folders and says so oddly (`/proc`), Node's own recursion never ends. */
async function makeFolder(folder: string, made: string[]): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() === true) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder), made);
  await mkdir(folder);
  made.push(folder);
}

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", FILE_MODE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
