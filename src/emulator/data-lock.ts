/** The lock of a data file: one process at a time, and none that is gone. */

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { link, open, readFile, rm } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

export interface DataLock {
  release(): Promise<void>;
}

/** Who holds it. `start` tells a process from a later one that was given the same number. */
interface Holder {
  readonly pid: number;
  readonly start: string;
}

/** Several may find a lock stale at once: one of them wins, and the others look again. */
const MAX_ATTEMPTS = 20;
const RETRY_MILLISECONDS = 50;

/**
 * Takes `FILE.lock`. One whose process is gone, killed for example, is taken over.
 * @throws Error that says which process uses the file
 */
export async function lockDataFile(path: string): Promise<DataLock> {
  const lock = `${path}.lock`;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if (await create(lock)) return { release: () => rm(lock, { force: true }) };
    const text = await readIfThere(lock);
    if (text !== null && isHeld(text)) throw new Error(`${path} is in use by process ${parseHolder(text)?.pid}`);
    if (text !== null) await discard(lock, text);
  }
  throw new Error(`others are taking over ${path}; if there are none, remove ${turnOf(lock)}`);
}

/** With its text from the first moment on, so that nobody reads half of it. @returns false if there is one already */
async function create(lock: string): Promise<boolean> {
  const temporary = `${lock}.${randomUUID()}`;
  const file = await open(temporary, "wx", 0o600);
  try {
    const holder: Holder = { pid: process.pid, start: startOf(process.pid) ?? "" };
    await file.writeFile(`${JSON.stringify(holder)}\n`);
    await link(temporary, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
}

/** One at a time, looking again: whoever was slower must not remove the lock of whoever was faster. */
async function discard(lock: string, stale: string): Promise<void> {
  const turn = turnOf(lock);
  if (!(await create(turn))) {
    const text = await readIfThere(turn);
    await setTimeout(RETRY_MILLISECONDS);
    // Whose turn it was may have been killed in the middle of it.
    if (text !== null && !isHeld(text) && (await readIfThere(turn)) === text) await rm(turn, { force: true });
    return;
  }
  try {
    if ((await readIfThere(lock)) === stale) await rm(lock);
  } finally {
    await rm(turn, { force: true });
  }
}

function turnOf(lock: string): string {
  return `${lock}.takeover`;
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** null: it is no lock of ours, or was cut off when the machine went down. */
function parseHolder(text: string): Holder | null {
  try {
    const { pid, start } = JSON.parse(text) as Partial<Holder>;
    return Number.isSafeInteger(pid) && Number(pid) > 0 && typeof start === "string"
      ? { pid: Number(pid), start }
      : null;
  } catch {
    return null;
  }
}

function isHeld(text: string): boolean {
  const holder = parseHolder(text);
  return holder !== null && startOf(holder.pid) === holder.start;
}

/** When a process was started, in a unit of the system's; "" if the system does not tell; null: there is no such process. */
function startOf(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // One that belongs to somebody else may not be signalled, but is there.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return null;
  }
  try {
    // proc(5): after the name in parentheses the third field is the state, the 22nd the start.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[22 - 3] ?? "");
  } catch {
    return "";
  }
}
