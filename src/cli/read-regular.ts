/** Reads a file that was named on the command line: a regular one of a bounded size, so that nothing is waited for. */

import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** @throws what the file system says, or why it is no file to read */
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
