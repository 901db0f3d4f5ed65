/** The data file: an append-only log of changes as JSON lines, each synced before it counts, rewritten when it has grown. */

import type { FileHandle } from "node:fs/promises";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { encodeHeader, encodeLine } from "./journal-format.ts";
import type { Store, StoreChange } from "./store.ts";

/** Changes in one line of a rewritten file. */
const CHANGES_PER_LINE = 500;

/** Rewritten once so many changes were appended, and more than twice what is live. */
const MIN_APPENDED_CHANGES = 20_000;

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Journal {
  readonly #path: string;
  readonly #store: Store;
  #file: FileHandle;
  #waiting: Waiting[] = [];
  #appendedChanges = 0;
  #writing: Promise<void> | null = null;
  #failed = false;

  private constructor(path: string, store: Store, file: FileHandle) {
    this.#path = path;
    this.#store = store;
    this.#file = file;
  }

  /** Writes the store's state anew and goes on from there. */
  static async create(path: string, store: Store): Promise<Journal> {
    return new Journal(path, store, await writeSnapshot(path, store));
  }

  /** What was changed could not be kept: memory and file differ from now on. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Resolves when the changes are on the disk. Those of requests that run at the same time share one sync. */
  append(changes: readonly StoreChange[]): Promise<void> {
    this.#appendedChanges += changes.length;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line: encodeLine(changes), resolve, reject });
      this.#writing ??= this.#writeAll().finally(() => {
        this.#writing = null;
      });
    });
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#file.appendFile(batch.map(({ line }) => line).join(""));
        await this.#file.datasync();
        await this.#compactIfGrown();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#failed = true;
        for (const { reject } of batch) reject(error);
      }
    }
  }

  /** Changes that wait meanwhile are in the snapshot already; appended to it once more they do no harm. */
  async #compactIfGrown(): Promise<void> {
    if (this.#appendedChanges < Math.max(MIN_APPENDED_CHANGES, 2 * this.#store.size)) return;
    this.#appendedChanges = 0;
    const old = this.#file;
    this.#file = await writeSnapshot(this.#path, this.#store);
    await old.close();
  }
}

/** Temporary file, sync, rename, sync of the folder: at any moment there is a whole file of that name. */
async function writeSnapshot(path: string, store: Store): Promise<FileHandle> {
  const temporary = join(dirname(path), `.${basename(path)}.new`);
  const file = await open(temporary, "w", 0o600);
  await file.appendFile(encodeHeader());
  for (const chunk of chunked(store.allRows())) await file.appendFile(encodeLine(chunk));
  await file.sync();
  await rename(temporary, path);
  const folder = await open(dirname(path), "r");
  await folder.sync();
  await folder.close();
  return file;
}

function* chunked(changes: Iterable<StoreChange>): Generator<readonly StoreChange[]> {
  let chunk: StoreChange[] = [];
  for (const change of changes) {
    chunk.push(change);
    if (chunk.length === CHANGES_PER_LINE) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}
