/** The data file: an append-only log of changes as JSON lines, each synced before it counts, rewritten when it has grown. */

import { randomUUID } from "node:crypto";
import { constants, readFileSync } from "node:fs";
import { type FileHandle, link, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { Store, StoreChange, TableName } from "./store.ts";

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

  /** A change could not be written: from now on, memory and file differ. */
  get failed(): boolean {
    return this.#failed;
  }

  /**
   * Resolves when these changes and all earlier ones are on the disk. A request that changes nothing waits as well: its answer must not
   * show a change that may still be lost. Requests that run at the same time share one sync.
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
        // A line behind half a line would make the file damaged.
        if (this.#failed) throw new Error("an earlier change could not be written");
        await this.#write(batch);
        await this.#compactIfGrown();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#failed = true;
        for (const { reject } of batch) reject(error);
      }
    }
    // In the same turn as the last check of the queue: changes that are queued later must start a new write.
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

/** Writes a temporary file, syncs it, renames it and syncs the folder: the file of that name is complete at any moment. */
async function writeSnapshot(path: string, store: Store): Promise<OpenFile> {
  // At once, since rows change while the file is written: half of a request's changes must not be in it.
  const rows = [...store.allRows()];
  const temporary = join(dirname(path), `.${basename(path)}.new`);
  // An existing file is removed instead of written to: it may be a link.
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

// The text of the data file: lines ↔ changes, and what is wrong with a file that is not whole.

/** 2: checksums go on from line to line, and the end of what was written at once is marked. */
const FORMAT_VERSION = 2;

/** Every table there is: a change of another one is damage. */
const TABLE_NAMES: Readonly<Record<TableName, true>> = {
  settings: true,
  tokens: true,
  vpcs: true,
  subnets: true,
  interfaces: true,
  domains: true,
  records: true,
  disks: true,
  images: true,
  tickets: true,
  replies: true,
};

/** Table, id, row. */
const CHANGE_PARTS = 3;

const HEADER = `${JSON.stringify({ format: "tenon-emulator", version: FORMAT_VERSION })}\n`;

/** What a new file begins with. Then come all rows, and an end mark. */
const FILE_START: Line = { text: HEADER, checksum: crc32(HEADER) };

/** A line of the file. Its checksum is that of all text up to it, so that no line can be missing, be there twice or be elsewhere. */
interface Line {
  readonly text: string;
  readonly checksum: number;
}

/** One line is one request's changes, it counts as a whole or not at all. Without changes it is an end mark. */
function encodeLine(changes: readonly StoreChange[], before: Line): Line {
  const text = JSON.stringify(changes);
  const checksum = crc32(text, before.checksum);
  return { text: `{"crc":${checksum},"changes":${text}}\n`, checksum };
}

type Decoded =
  | { readonly ok: true; readonly changes: readonly (readonly StoreChange[])[]; readonly torn: boolean }
  /** `isForeign`: it is no data file of this version, and may be anything. */
  | { readonly ok: false; readonly problem: string; readonly isForeign: boolean };

/**
 * A last line without its end was being written when the process died, and was never answered: it is dropped. Not so before the end
 * mark: a file gets its name only once it is written up to there.
 */
export function decodeFile(text: string): Decoded {
  const lines = text.split("\n");
  const torn = lines.pop() !== "";
  const [header, ...rest] = lines;
  if (header === undefined || `${header}\n` !== FILE_START.text) {
    return { ok: false, problem: "it does not begin as a data file of this version does", isForeign: true };
  }
  const changes: (readonly StoreChange[])[] = [];
  let hasEndMark = false;
  let { checksum } = FILE_START;
  for (const [index, line] of rest.entries()) {
    const decoded = decodeLine(line, checksum);
    if (decoded === null) return { ok: false, problem: `line ${index + 2} is damaged`, isForeign: false };
    hasEndMark ||= decoded.changes.length === 0;
    changes.push(decoded.changes);
    checksum = decoded.checksum;
  }
  if (!hasEndMark) return { ok: false, problem: `line ${rest.length + 2} is damaged or missing`, isForeign: false };
  return { ok: true, changes, torn };
}

interface DecodedLine {
  readonly changes: readonly StoreChange[];
  readonly checksum: number;
}

function decodeLine(line: string, before: number): DecodedLine | null {
  // The flag `s` is needed because U+2028 ends a line in a regular expression, but not in JSON.
  const match = /^\{"crc":(\d+),"changes":(.*)\}$/s.exec(line);
  const [, sum = "", text = ""] = match ?? [];
  const checksum = crc32(text, before);
  if (match === null || checksum !== Number(sum)) return null;
  const changes = parse(text);
  return Array.isArray(changes) && changes.every(isChange) ? { changes, checksum } : null;
}

/** undefined: it is no JSON. A checksum that fits says nothing of who wrote it. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isChange(change: unknown): change is StoreChange {
  if (!Array.isArray(change) || change.length !== CHANGE_PARTS) return false;
  const [table, id, row] = change as readonly unknown[];
  if (typeof table !== "string" || !Object.hasOwn(TABLE_NAMES, table)) return false;
  if (typeof id !== "number" && typeof id !== "string") return false;
  return row === null || (typeof row === "object" && (row as { readonly id?: unknown }).id === id);
}

// The lock of a data file: one process at a time, and none that is gone.

export interface DataLock {
  release(): Promise<void>;
}

/** The process that holds the lock. `start` distinguishes it from a later process with the same id. */
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
    const text = await textIfThere(lock);
    if (text !== null && isHeld(text)) throw new Error(`${path} is in use by process ${parseHolder(text)?.pid}`);
    if (text !== null) await discard(lock, text);
  }
  throw new Error(`others are taking over ${path}; if there are none, remove ${turnOf(lock)}`);
}

/** Creates the file with its whole text at once, so that nobody reads half of it. @returns false if there is one already */
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
    const text = await textIfThere(turn);
    await setTimeout(RETRY_MILLISECONDS);
    // The process that was removing the lock may have been killed meanwhile.
    if (text !== null && !isHeld(text) && (await textIfThere(turn)) === text) await rm(turn, { force: true });
    return;
  }
  try {
    if ((await textIfThere(lock)) === stale) await rm(lock);
  } finally {
    await rm(turn, { force: true });
  }
}

function turnOf(lock: string): string {
  return `${lock}.takeover`;
}

async function textIfThere(path: string): Promise<string | null> {
  return (await readIfThere(path))?.toString("utf8") ?? null;
}

/**
 * Never waits: to open a named pipe as a file takes until somebody writes to it.
 * @throws Error if it is no regular file, or cannot be read
 */
export async function readIfThere(path: string): Promise<Buffer | null> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  try {
    if (!(await file.stat()).isFile()) throw new Error(`${path} is no regular file`);
    return await file.readFile();
  } finally {
    await file.close();
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
    // A process of another user may not be signalled, but it exists.
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
