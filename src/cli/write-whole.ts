/** Writing a file so that there is never half of one: what was there stays until the new one is on the disk. */

import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, open, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ledAway } from "../index.ts";

/**
 * Temporary file beside it, sync, rename; a link is followed, but not from the working folder out of it: what is checked
 * out there may be hostile. A pipe or a device is written to as it is.
 * @param text as a whole, or in parts
 * @param mode of the file, whatever the one before it had
 * @throws what the file system says, or that a link leads out
 */
export async function writeWhole(path: string, text: string | Iterable<string>, mode: number): Promise<void> {
  const elsewhere = await whyLedAway(path);
  if (elsewhere !== null) throw new Error(elsewhere);
  const found = await stat(path).catch(() => null);
  const parts = typeof text === "string" ? [text] : text;
  if (found !== null && !found.isFile()) return writeFile(path, parts);
  const target = found === null ? path : await realpath(path);
  const temporary = `${target}.${randomUUID()}`;
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await writeFile(file, parts);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * What can be known before there is anything to write.
 * @returns a clause; null: nothing is known to be in the way
 */
export async function whyUnwritable(path: string): Promise<string | null> {
  const elsewhere = await whyLedAway(path);
  if (elsewhere !== null) return elsewhere;
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true || path.endsWith("/")) return `${path} is a folder`;
  if (found !== null && !found.isFile()) return null;
  const target = found === null ? path : await realpath(path);
  const folder = dirname(target);
  const isFolder = (await stat(folder).catch(() => null))?.isDirectory() === true;
  if (!isFolder) return `there is no folder ${folder}`;
  // A file is written beside it and takes its name: the right to the folder counts.
  const mayWrite = await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  return mayWrite ? null : `there is no right to write in the folder ${folder}`;
}

/** @returns a clause, if a symbolic link in the working folder leads out of it, or to what is git's or Tenon's; null: it does not */
export async function whyLedAway(path: string): Promise<string | null> {
  const led = await ledAway(path);
  if (led === null) return null;
  const where = led === "private" ? "into a folder of git or of Tenon" : "out of this folder";
  return `${path} leads ${where} by a symbolic link; name the place itself`;
}
