/** Journal place: where the journal goes, and that no symlink of the project or the checkout leads it elsewhere. */

import { lstat, mkdir, realpath, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { isBelow, isWithin } from "../model/containment.ts";
import type { Diagnostic } from "../model/diagnostic.ts";

export interface JournalPlace {
  /** Absolute. */
  readonly file: string;
  /** It must not exist yet. */
  readonly isNew: boolean;
  /** It lies in the project folder, whose contents may be hostile. */
  readonly isProject: boolean;
}

export type PreparedPlace =
  | { readonly ok: true; readonly place: JournalPlace }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

const FOLDER_MODE = 0o700;

/**
 * Decides on the file and creates its folder, readable by nobody else.
 * @param given the user's path, or null
 * @param started ISO 8601, the name of a file of ours
 */
export async function prepareJournalFolder(
  root: string,
  given: string | null,
  started: string,
): Promise<PreparedPlace> {
  try {
    const folder = await realpath(root);
    const file = given === null ? path.join(folder, ".tenon", "journal", fileName(started)) : await settle(given, root);
    const isProject = isBelow(file, folder);
    const symlink = isProject ? await findSymlink(folder, file) : null;
    if (symlink !== null) return { ok: false, diagnostic: refuseSymlink(path.relative(folder, symlink)) };
    const checkout = await realpath(process.cwd());
    const wayOut = isBelow(file, checkout) ? await findWayOut(checkout, file) : null;
    if (wayOut !== null) return { ok: false, diagnostic: refuseSymlink(path.relative(checkout, wayOut)) };
    await makeFolder(path.dirname(file));
    if (given === null) await keepOutOfGit(path.join(folder, ".tenon"));
    return { ok: true, place: { file, isNew: given === null, isProject } };
  } catch (error) {
    return { ok: false, diagnostic: uncreatable(error) };
  }
}

/** Folder by folder: where the system takes no folders and says so oddly (`/proc`), Node's own recursion never ends. */
async function makeFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() === true) return;
  if (path.dirname(folder) !== folder) await makeFolder(path.dirname(folder));
  try {
    await mkdir(folder, { mode: FOLDER_MODE });
  } catch (error) {
    // Another apply may have been faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !(await stat(folder)).isDirectory()) throw error;
  }
}

/** Journals hold before-values and belong to whoever ran the apply. What a person wrote there stays. */
async function keepOutOfGit(folder: string): Promise<void> {
  try {
    await writeFile(path.join(folder, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Without colons, which some file systems refuse. */
function fileName(started: string): string {
  return `${started.replaceAll(":", "-")}.jsonl`;
}

/** The user's path, with the symlinks above the project resolved, so that it can be told whether it leads into the project. */
async function settle(given: string, root: string): Promise<string> {
  const file = path.resolve(given);
  for (const folder of [path.resolve(root), process.cwd()]) {
    if (isBelow(file, folder)) return path.join(await realpath(folder), path.relative(folder, file));
  }
  return file;
}

/** The first part of the path below `folder` that is a symlink. */
async function findSymlink(folder: string, file: string): Promise<string | null> {
  let current = folder;
  for (const name of path.relative(folder, file).split(path.sep)) {
    current = path.join(current, name);
    try {
      if ((await lstat(current)).isSymbolicLink()) return current;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }
  return null;
}

/** The first symlink below `folder`, if the file is elsewhere by it, or nobody can tell because it leads to nothing. */
async function findWayOut(folder: string, file: string): Promise<string | null> {
  const symlink = await findSymlink(folder, file);
  if (symlink === null) return null;
  const isLink = await lstat(file).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
  const real = await realpath(isLink ? file : path.dirname(file)).catch(() => null);
  return real !== null && isWithin(real, folder) ? null : symlink;
}

function refuseSymlink(relative: string): Diagnostic {
  return {
    code: "journal-symlink",
    severity: "error",
    summary: `${relative} is a symbolic link`,
    detail:
      "The journal is written there or below it, and a project must not decide where else files are written. Nothing was done.",
    fix: `Remove the link ${relative}, or name the place itself with --journal PATH, outside the project folder.`,
  };
}

function uncreatable(error: unknown): Diagnostic {
  return {
    code: "journal-unwritable",
    severity: "error",
    summary: "the journal's folder cannot be created",
    detail: `${error instanceof Error ? error.message : String(error)}. Nothing was done.`,
    fix: "Name a file that can be written with --journal PATH.",
  };
}
