/** Opening a data file: an account is loaded from it, or a damaged one is set aside and said to be. */

import { statSync } from "node:fs";
import { link, readFile } from "node:fs/promises";
import { decodeFile } from "./journal-format.ts";
import type { Store } from "./store.ts";

export interface Loaded {
  /** There was an account in the file. */
  readonly found: boolean;
  /** For a person. */
  readonly notices: readonly string[];
}

/**
 * Fills the empty store. A damaged file is kept beside under another name, and the account begins anew.
 * @throws Error if it is no data file: it stays as it is, since whoever keeps it knows nothing of this
 */
export async function loadDataFile(path: string, store: Store): Promise<Loaded> {
  const bytes = await readIfThere(path);
  if (bytes === null) return { found: false, notices: [] };
  if (bytes.length === 0) return { found: false, notices: [`${path} was empty: the account begins anew.`] };
  const decoded = decodeFile(bytes.toString("utf8"));
  if (!decoded.ok) {
    if (decoded.isForeign) throw new Error(`${path} cannot be used: ${decoded.problem}. It was left as it is`);
    const aside = await setAside(path);
    const notice = `${path} cannot be used: ${decoded.problem}. It was set aside as ${aside}, and the account begins anew.`;
    return { found: false, notices: [notice] };
  }
  for (const changes of decoded.changes) store.apply(changes);
  const notices = decoded.torn
    ? [`The last line of ${path} was incomplete and was dropped: its request had not been answered.`]
    : [];
  return { found: true, notices };
}

async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Under a second name; the first goes to the new file once that is whole, so that a kill in between loses no notice. */
async function setAside(path: string): Promise<string> {
  const { ino, dev } = statSync(path);
  for (let number = 1; ; number += 1) {
    const aside = `${path}.damaged-${number}`;
    const there = statSync(aside, { throwIfNoEntry: false });
    if (there === undefined) await link(path, aside);
    if (there === undefined || (there.ino === ino && there.dev === dev)) return aside;
  }
}
