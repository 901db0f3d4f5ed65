/** The data file: an append-only log of changes as JSON lines, each synced before it counts, rewritten when it has grown. */

import type { FileHandle } from "node:fs/promises";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Line } from "./journal-format.ts";
import { encodeLine, FILE_START } from "./journal-format.ts";
import type { Store, StoreChange } from "./store.ts";

/** Changes in one line of a rewritten file. */
const CHANGES_PER_LINE = 500;

/** Rewritten once so many changes were appended, and more than twice what is live. */
const MIN_APPENDED_CHANGES = 20_000;

interface Waiting {
  readonly changes: readonly StoreChange[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A file that is open at its end. */
interface OpenFile {
  readonly handle: FileHandle;
  readonly lastLine: Line;
}

export class Journal {
  readonly #path: string;
  readonly #store: Store;
  readonly #minAppendedChanges: number;
  #file: OpenFile;
  #waiting: Waiting[] = [];
  #appendedChanges = 0;
  #writing: Promise<void> | null = null;
  #latest: Promise<void> = Promise.resolve();
  #failed = false;

  private constructor(path: string, store: Store, minAppendedChanges: number, file: OpenFile) {
    this.#path = path;
    this.#store = store;
    this.#minAppendedChanges = minAppendedChanges;
    this.#file = file;
  }

  /** Writes the store's state anew and goes on from there. */
  static async create(path: string, store: Store, minAppendedChanges: number = MIN_APPENDED_CHANGES): Promise<Journal> {
    return new Journal(path, store, minAppendedChanges, await writeSnapshot(path, store));
  }

  /** What was changed could not be kept: memory and file differ from now on. */
  get failed(): boolean {
    return this.#failed;
  }

  /**
   * Resolves when the changes are on the disk, and all before them: without changes of its own, a request must not tell of what may
   * be lost yet. Requests that run at the same time share one sync.
   */
  append(changes: readonly StoreChange[]): Promise<void> {
    if (changes.length === 0) return this.#latest;
    this.#appendedChanges += changes.length;
    this.#latest = new Promise((resolve, reject) => {
      this.#waiting.push({ changes, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
    return this.#latest;
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file.handle.close();
  }

  async #writeAll(): Promise<void> {
    // Never done before the caller has noted that it writes.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        // What follows half a line would make it damage.
        if (this.#failed) throw new Error("an earlier change could not be written");
        await this.#write(batch);
        await this.#compactIfGrown();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#failed = true;
        for (const { reject } of batch) reject(error);
      }
    }
    // In the same turn as the last look at what waits: what comes a turn later must begin to be written anew.
    this.#writing = null;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const { handle } = this.#file;
    let { lastLine } = this.#file;
    const texts = batch.map(({ changes }) => {
      lastLine = encodeLine(changes, lastLine);
      return lastLine.text;
    });
    await handle.appendFile(texts.join(""));
    await handle.datasync();
    this.#file = { handle, lastLine };
  }

  /** Changes that wait meanwhile are in the snapshot already; appended to it once more they do no harm. */
  async #compactIfGrown(): Promise<void> {
    if (this.#appendedChanges < Math.max(this.#minAppendedChanges, 2 * this.#store.size)) return;
    this.#appendedChanges = 0;
    const old = this.#file.handle;
    this.#file = await writeSnapshot(this.#path, this.#store);
    await old.close();
  }
}

/** Temporary file, sync, rename, sync of the folder: at any moment there is a whole file of that name. */
async function writeSnapshot(path: string, store: Store): Promise<OpenFile> {
  // At once, since rows change while the file is written: half of a request's changes must not be in it.
  const rows = [...store.allRows()];
  const temporary = join(dirname(path), `.${basename(path)}.new`);
  // Whatever is there, left behind or laid there, is removed and not written to: it may be a link.
  await rm(temporary, { force: true });
  const handle = await open(temporary, "wx", 0o600);
  try {
    const lastLine = await writeRows(handle, rows);
    await handle.sync();
    await rename(temporary, path);
    await syncFolder(dirname(path));
    return { handle, lastLine };
  } catch (error) {
    await handle.close();
    await rm(temporary, { force: true });
    throw error;
  }
}

/** @returns the end mark */
async function writeRows(handle: FileHandle, rows: readonly StoreChange[]): Promise<Line> {
  let line = FILE_START;
  await handle.appendFile(line.text);
  for (const chunk of [...chunked(rows), []]) {
    line = encodeLine(chunk, line);
    await handle.appendFile(line.text);
  }
  return line;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function* chunked(changes: readonly StoreChange[]): Generator<readonly StoreChange[]> {
  for (let start = 0; start < changes.length; start += CHANGES_PER_LINE) {
    yield changes.slice(start, start + CHANGES_PER_LINE);
  }
}
