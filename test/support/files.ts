/** Files of a test. */

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** @param files content by path within the folder; folders on the way are made */
export async function writeInto(folder: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}
