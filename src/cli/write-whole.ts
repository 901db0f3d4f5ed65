/** Writing a file so that there is never half of one: what was there stays until the new one is on the disk. */

import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, open, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isPrivate, isWithin } from "../index.ts";

/**
 * Temporary file beside it, sync, rename; a link is followed, but not from the working folder out of it: what is checked
 * out there may be hostile. A pipe or a device is written to as it is.
 * @param mode of the file, whatever the one before it had
 * @throws what the file system says, or that a link leads out
 */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const elsewhere = await ledElsewhere(path);
  if (elsewhere !== null) throw new Error(elsewhere);
  const found = await stat(path).catch(() => null);
  if (found !== null && !found.isFile()) return writeFile(path, text);
  const target = found === null ? path : await realpath(path);
  const temporary = `${target}.${randomUUID()}`;
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(text);
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
  const elsewhere = await ledElsewhere(path);
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

/** Where a link leads that lies in the working folder by its name: out of it, or to what is git's or Tenon's. null: it leads nowhere. */
async function ledElsewhere(path: string): Promise<string | null> {
  const named = resolve(path);
  if (!isWithin(named, process.cwd())) return null;
  // A link that leads nowhere is replaced, not followed.
  const real = await realpath(path).catch(() => realpath(dirname(path)).catch(() => null));
  const folder = await realpath(process.cwd());
  if (real === null) return null;
  const isHidden = isPrivate(real, folder) && !isPrivate(named, process.cwd());
  if (isWithin(real, folder) && !isHidden) return null;
  const where = isHidden ? "into a folder of git or of Tenon" : "out of this folder";
  return `${path} leads ${where} by a symbolic link; name the place itself`;
}
