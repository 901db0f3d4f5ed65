/** Writing a file so that there is never half of one: what was there stays until the new one is on the disk. */

import { randomUUID } from "node:crypto";
import { open, realpath, rename, rm, stat, writeFile } from "node:fs/promises";

/**
 * Temporary file beside it, sync, rename; a link is followed. A pipe or a device is written to as it is.
 * @param mode of the file, whatever the one before it had
 */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
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
