/** Reads and writes files that a user has named. Errors are explained in words, without error codes or the names of temporary files. */

import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import {
  access,
  type FileHandle,
  lstat,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { FileContent } from "../model/api.ts";
import { linkText, whereUsedLinkLeads } from "./paths.ts";

/** @returns a clause, for example `there is no such file: a.plan` */
export function readProblem(error: unknown, file: string): string {
  switch (codeOf(error)) {
    case "ENOENT":
    case "ENOTDIR":
      return `there is no such file: ${file}`;
    default:
      return commonProblem(error, file);
  }
}

/** @returns a clause, for example `there is no folder for /nosuch/dir/a.plan` */
export function writeProblem(error: unknown, file: string): string {
  switch (codeOf(error)) {
    case "ENOENT":
    case "ENOTDIR":
      return `there is no folder for ${file}`;
    case "EISDIR":
      return `${file} is a folder`;
    default:
      return commonProblem(error, file);
  }
}

function commonProblem(error: unknown, file: string): string {
  const code = codeOf(error);
  switch (code) {
    case undefined:
      return error instanceof Error ? error.message : String(error);
    case "EACCES":
    case "EPERM":
      return `there is no right to it: ${file}`;
    case "EROFS":
      return `it can only be read there: ${file}`;
    case "ENOSPC":
    case "EDQUOT":
      return `there is no space left for ${file}`;
    case "ENAMETOOLONG":
      return `its name is too long: ${file}`;
    case "ELOOP":
      return `its links lead in a circle: ${file}`;
    default:
      return `${file} (${code})`;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

// Reads a file that was named on the command line: only a regular file of bounded size, so that nothing is waited for.

/** @throws the file system's error, or why the file cannot be used */
export async function readRegular(file: string, maxBytes: number): Promise<string> {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = await handle.stat();
    if (status.isDirectory()) throw new Error(`${file} is a folder`);
    if (!status.isFile()) throw new Error(`${file} is not a regular file`);
    if (status.size > maxBytes) throw new Error(`${file} has more than ${maxBytes / 1024 ** 2} MiB`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/**
 * The same of a file that Tenon has written before, or whose text it sends: a link that leads out of the working folder or of
 * its checkout, or into a folder of git or of Tenon, is refused. A hostile checkout may have brought it, so that another file is taken for the one that was meant.
 * @throws the file system's error, or why the file cannot be used
 */
export async function readSaved(file: string, maxBytes: number): Promise<string> {
  const elsewhere = await whyLinkRefused(file);
  if (elsewhere !== null) throw new Error(elsewhere);
  return readRegular(file, maxBytes);
}

/**
 * Size and digest of a file, in constant memory. A path that is itself a symbolic link is refused, and a named pipe is not waited for.
 * @throws the file system's error, that it is no regular file, or that the signal aborted
 */
export async function readContent(file: string, signal?: AbortSignal): Promise<FileContent> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) throw new Error(`${file} is not a regular file`);
    return await contentOfStream(handle.createReadStream({ autoClose: false, highWaterMark: HASHED_BYTES }), signal);
  } finally {
    await handle.close();
  }
}

/** Bytes of a file that are hashed at once. */
const HASHED_BYTES = 1024 * 1024;

/** @throws the stream's error, or that the signal aborted */
export async function contentOfStream(stream: Readable, signal?: AbortSignal): Promise<FileContent> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of signal === undefined ? stream : addAbortSignal(signal, stream)) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { bytes, sha256: hash.digest("hex") };
}

// Writing a file atomically: the old file stays until the new one is on the disk.

/**
 * Writes a temporary file beside the target, syncs it and renames it. A symbolic link is followed, unless it leads out of
 * the working folder or of its checkout: a hostile one may have brought it. A pipe or a device is written to directly.
 * @param text as a whole, or in parts
 * @param mode of the file, whatever the one before it had
 * @param former the text that the file had when it was read, without a byte order mark: one that has another by now is left as it is.
 *   Only one run at a time is between that look and the renaming: the temporary file has one name for all, with `.writing` at its end.
 *   A program that writes at that moment without looking at that name can still be too late.
 * @throws the file system's error, that a link leads out, that the temporary file is there for long, or a ChangedMeanwhile
 */
export async function writeWhole(
  path: string,
  text: string | Iterable<string>,
  mode: number,
  former?: string,
): Promise<void> {
  const elsewhere = await whyLinkRefused(path);
  if (elsewhere !== null) throw new Error(elsewhere);
  const found = await stat(path).catch(() => null);
  const parts = typeof text === "string" ? [text] : text;
  if (found !== null && !found.isFile()) return writeFile(path, parts);
  const target = found === null ? path : await realpath(path);
  const temporary = `${target}.${former === undefined ? randomUUID() : "writing"}`;
  const file = await (former === undefined ? open(temporary, "wx", mode) : openInTurn(temporary, mode));
  try {
    try {
      await writeFile(file, parts);
      await file.sync();
    } finally {
      await file.close();
    }
    if (former !== undefined && (await textOf(target)) !== former) throw new ChangedMeanwhile(path);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Another run has the temporary file for as long as it takes to write and to sync it. */
const TURN_MILLISECONDS = 5_000;
const TURN_POLL_MILLISECONDS = 20;

async function openInTurn(temporary: string, mode: number): Promise<FileHandle> {
  for (let waited = 0; ; waited += TURN_POLL_MILLISECONDS) {
    try {
      return await open(temporary, "wx", mode);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
      if (waited >= TURN_MILLISECONDS) throw new Error(`another run is writing it, or was killed: remove ${temporary}`);
    }
    await setTimeout(TURN_POLL_MILLISECONDS);
  }
}

/** Somebody has saved another text, or removed the file, since it was read. */
export class ChangedMeanwhile extends Error {
  constructor(file: string) {
    super(`${file} was changed meanwhile`);
  }
}

/** Without a byte order mark; null: there is no such file, or it cannot be read. */
async function textOf(path: string): Promise<string | null> {
  const text = await readFile(path, "utf8").catch(() => null);
  return text?.replace(/^\ufeff/, "") ?? null;
}

type WrittenKind = "json" | "page" | "requests";

/** What files that Tenon replaces or goes on with begin with, each kind of them. */
const BEGINNINGS: Readonly<Record<WrittenKind, RegExp>> = {
  /** Terraform writes plans that begin as those do which Tenon writes for its readers. A refusal has its keys in order. */
  json: /^\{\s*"(?:format_version":\s*(?:\d|"[^"]{1,20}",\s*"(?:applyable|planned_values|valid)")|kind":"tenon-live"|type":"(?:error|plan|refused|report|zone-check)"|blocked":\[)/,
  page: /^<!doctype html>/,
  requests: /^\{"method":/,
};
const MAX_BEGINNING_BYTES = 96;

/** A file that cannot be read is judged by the rights to its folder. */
async function holdsSomethingElse(path: string, kind: WrittenKind): Promise<boolean> {
  const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (reader === null) return false;
  try {
    const { buffer, bytesRead } = await reader.read(Buffer.alloc(MAX_BEGINNING_BYTES), 0, MAX_BEGINNING_BYTES, 0);
    return bytesRead > 0 && !BEGINNINGS[kind].test(buffer.toString("latin1", 0, bytesRead));
  } finally {
    await reader.close();
  }
}

/**
 * Why a file could not be written, as far as that can be known before there is anything to write. One that holds something else than what is to be
 * written, such as a manifest, a token or a journal, stays.
 * @returns a clause; null if no reason is known
 */
export async function whyUnwritable(path: string, kind: WrittenKind): Promise<string | null> {
  const elsewhere = await whyLinkRefused(path);
  if (elsewhere !== null) return elsewhere;
  const found = await stat(path).catch(() => null);
  if (found === null && (await lstat(path).catch(() => null))?.isSymbolicLink() === true) {
    return `${path} is a symbolic link that leads nowhere; name the place itself`;
  }
  if (found?.isDirectory() === true || path.endsWith("/")) return `${path} is a folder`;
  if (found !== null && !found.isFile()) return null;
  if (found !== null && (await holdsSomethingElse(path, kind))) {
    return `${path} holds something else; remove it, or name another file`;
  }
  // It is appended to: its folder does not matter.
  if (found !== null && kind === "requests") {
    return (await mayAccess(path, constants.W_OK)) ? null : `there is no right to write ${path}`;
  }
  const target = found === null ? path : await realpath(path);
  const folder = dirname(target);
  const isFolder = (await stat(folder).catch(() => null))?.isDirectory() === true;
  if (!isFolder) return `there is no folder ${folder}`;
  // A temporary file is written beside the target and renamed: the right to the folder counts.
  const mayWrite = await mayAccess(folder, constants.W_OK | constants.X_OK);
  return mayWrite ? null : `there is no right to write in the folder ${folder}`;
}

function mayAccess(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

/** @returns a clause, if a symbolic link leads out of the working folder or of its checkout, or into a folder of git or of Tenon; otherwise null */
export async function whyLinkRefused(path: string): Promise<string | null> {
  const led = await whereUsedLinkLeads(path);
  return led === null ? null : `${linkText(path, led)}; name the place itself`;
}
