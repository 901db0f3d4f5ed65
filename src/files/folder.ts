/** The files of one folder that a command writes: their names, what is in their way, and writing all of them or none. */

import { createHash, randomUUID } from "node:crypto";
import { link, lstat, mkdir, open, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Diagnostic } from "../model/diagnostic.ts";
import { linkText, whereUsedLinkLeads } from "./paths.ts";

/** A file that is to be written. */
export interface FolderFile {
  /** Relative to the folder, with at most one slash, a forward one. */
  readonly file: string;
  readonly text: string;
}

export interface FolderRequest {
  /** The folder; made if it is not there. */
  readonly out: string;
  readonly files: readonly FolderFile[];
  /** Existing files are overwritten. */
  readonly force: boolean;
}

/** Names that mean a device on some systems, with any extension. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;
/** File systems take 255 octets, of which a file that is being written needs some for its mark. */
const MAX_NAME_CHARACTERS = 180;
const DIGEST_CHARACTERS = 12;

/**
 * `example.com.yaml`. Domain names have letters, digits, hyphens, underscores and dots; a name with anything else gets a digest, so that it
 * stays unique.
 */
export function zoneFileName(zone: string, extension: string): string {
  const plain = zone.replace(/[^a-z0-9_.-]/g, "_").replace(/^\.+/, "_");
  const isPlain = plain === zone && zone.length <= MAX_NAME_CHARACTERS;
  const digest = createHash("sha256").update(zone).digest("hex").slice(0, DIGEST_CHARACTERS);
  const stem = isPlain ? plain : `${plain.slice(0, MAX_NAME_CHARACTERS)}-${digest}`;
  return `${DEVICE.test(stem) ? `zone-${stem}` : stem}.${extension}`;
}

/** At most this many files are named; the rest is counted. */
const MAX_NAMED_EXISTING_FILES = 5;
/** Readable by whoever may read the folder: what is written belongs into git. */
const FILE_MODE = 0o644;

/** What prevents the writing; empty if nothing does. Writes nothing. */
export async function findInTheWay({ out, files, force }: FolderRequest): Promise<Diagnostic[]> {
  const led = await whereUsedLinkLeads(out);
  if (led !== null) return [problem("symbolic-link", linkText(out, led), LINK_DETAIL)];
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
  return existing.length === 0 || force ? [] : [alreadyThere(out, existing)];
}

const LINK_DETAIL = "What is written stays in the folder that was named.";

function problem(code: string, summary: string, detail: string): Diagnostic {
  return { code, severity: "error", summary, detail, fix: "Name another folder with --out." };
}

function alreadyThere(out: string, existing: readonly string[]): Diagnostic {
  const named = existing.slice(0, MAX_NAMED_EXISTING_FILES).join(", ");
  const more =
    existing.length > MAX_NAMED_EXISTING_FILES ? ` and ${existing.length - MAX_NAMED_EXISTING_FILES} more` : "";
  return {
    code: "file-exists",
    severity: "error",
    summary: `${out} has ${existing.length === 1 ? "this file" : "these files"} already: ${named}${more}`,
    detail: "Nothing was written.",
    fix: "Name another folder with --out, or give --force to overwrite.",
  };
}

/**
 * All files are first written and synced under temporary names, and then renamed. After a failure new files are removed again; an existing
 * file stays as it was unless its replacement was renamed already.
 * @returns takes back what was placed: the new files, and the folders that were made for them and are empty
 * @throws the file system's error
 */
export async function writeFolder({ out, files, force }: FolderRequest): Promise<() => Promise<void>> {
  const made = await makeFolders(out, files);
  const mark = `.${randomUUID()}.new`;
  const placed: string[] = [];
  const takeBack = async (): Promise<void> => {
    for (const path of placed) await rm(path, { force: true });
    for (const folder of made.toReversed()) await rmdir(folder).catch(() => undefined);
  };
  try {
    for (const { file, text } of files) await writeNew(join(out, file) + mark, text);
    for (const { file } of files) {
      const path = join(out, file);
      const isNew = (await lstat(path).catch(() => null)) === null;
      if (!isNew && !force) throw appeared(path);
      if (force) await rename(path + mark, path);
      else await placeNew(path + mark, path);
      if (isNew) placed.push(path);
    }
  } catch (error) {
    for (const { file } of files) await rm(join(out, file) + mark, { force: true });
    await takeBack();
    throw error;
  }
  return takeBack;
}

/** Unlike a renaming, a link takes the place of no file that another run has placed since one looked. */
async function placeNew(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw appeared(path);
    // Not every file system has links.
    return rename(temporary, path);
  }
  await rm(temporary);
}

function appeared(path: string): Error {
  return Object.assign(new Error(`${path} appeared meanwhile`), { code: "EEXIST" });
}

/** @returns the folders that were made */
async function makeFolders(out: string, files: readonly FolderFile[]): Promise<string[]> {
  const made: string[] = [];
  for (const folder of new Set([out, ...files.map(({ file }) => dirname(join(out, file)))])) {
    await makeFolder(resolve(folder), made);
  }
  return made;
}

/** Makes folders one by one: where the system refuses folders with an odd error (`/proc`), Node's own recursion never ends. */
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
