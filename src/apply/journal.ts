/** Journal: evidence of a run as JSON lines; what is about to be done, and what was there before, is on disk before it is done. */

import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { findCheckoutLink, isBelow, isWithin } from "../files/paths.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { JOURNAL_FORMAT_VERSION, type JournalEntry, type JournalHeader } from "../model/journal.ts";
import type { Json } from "../model/resource.ts";
import { jsonText } from "../model/text.ts";

export interface Journal {
  readonly path: string;
  /** Texts that must never be written, wherever they turn up: signed URLs. */
  conceal(secret: string): void;
  /** Entries are written in the order of the calls. @returns once it is on disk: null, or why it cannot be written */
  record(entry: JournalEntry): Promise<string | null>;
  close(): Promise<void>;
}

export interface JournalOptions {
  /** The project folder, absolute. */
  readonly root: string;
  /** Given by the user, absolute or relative to the working directory; null for a new file below `.tenon/journal`. */
  readonly path: string | null;
  /** Milliseconds since the epoch; names the file. */
  readonly startedMilliseconds: number;
  readonly header: JournalHeader;
}

export type OpenedJournal =
  | { readonly ok: true; readonly journal: Journal }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

const FILE_MODE = 0o600;
/** Runs that start within the same millisecond; more than a few are a fault elsewhere. */
const MAX_NAME_ATTEMPTS = 100;

/** Creates the file (0600) and its folders (0700), and writes the header: an apply that cannot do so must not begin. */
export async function openJournal(options: JournalOptions): Promise<OpenedJournal> {
  const started = new Date(options.startedMilliseconds).toISOString();
  const prepared = await prepareJournalFolder(options.root, options.path, started);
  if (!prepared.ok) return prepared;
  try {
    const { handle, path } = await openFile(prepared.place);
    // Another run may write to the user's file at the same time: each line says whose it is.
    const journal = new FileJournal(handle, path, prepared.place.isNew ? null : randomBytes(8).toString("hex"));
    const problem = await journal.record({
      type: "run",
      format_version: JOURNAL_FORMAT_VERSION,
      started,
      ...options.header,
    });
    if (problem === null) return { ok: true, journal };
    await journal.close();
    return unwritable(path, problem);
  } catch (error) {
    const isFolder = (error as NodeJS.ErrnoException).code === "EISDIR";
    return unwritable(prepared.place.file, isFolder ? "it is a folder" : describe(error));
  }
}

function unwritable(path: string, problem: string): OpenedJournal {
  const diagnostic: Diagnostic = {
    code: "journal-unwritable",
    severity: "error",
    summary: "the journal cannot be written",
    detail: `${path}: ${problem}. Nothing was done: without a journal there would be no evidence of what a run did.`,
    fix: "Name a file that can be written with --journal PATH.",
  };
  return { ok: false, diagnostic };
}

/** A file that Tenon names is always new; to one that the user names, lines are appended. */
async function openFile(place: JournalPlace): Promise<{ readonly handle: FileHandle; readonly path: string }> {
  // To open a pipe that nobody reads would wait for a reader, and no signal ends that wait.
  const base = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NONBLOCK;
  const flags = base | (place.isProject ? constants.O_NOFOLLOW : 0) | (place.isNew ? constants.O_EXCL : 0);
  for (let attempt = 1; ; attempt += 1) {
    const path = attempt === 1 ? place.file : place.file.replace(/\.jsonl$/, `-${attempt}.jsonl`);
    try {
      const handle = await open(path, flags, FILE_MODE);
      const stats = await handle.stat();
      const problem = await whyUnfit(path, stats);
      if (problem === null) {
        // A file that existed before may be readable by others.
        if (stats.isFile() && (stats.mode & 0o077) !== 0) await handle.chmod(FILE_MODE);
        return { handle, path };
      }
      await handle.close();
      throw new Error(problem);
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === "EEXIST";
      if (!taken || !place.isNew || attempt === MAX_NAME_ATTEMPTS) throw error;
    }
  }
}

async function whyUnfit(path: string, stats: Stats): Promise<string | null> {
  if (stats.isFIFO()) return "it is a pipe, which keeps nothing";
  // Nobody can tell where the second name is, and who reads the file there.
  if (stats.nlink > 1) return "the file has a second name (a hard link), so the journal would also be written there";
  return stats.isFile() && stats.size > 0 ? whyNotAppended(path, stats.size) : null;
}

/** The beginning of a run, or of a line that is marked as of one. */
const LINE_START = /^\{"(?:type":"run"|run":")/;
const MAX_LINE_START_BYTES = 16;

/** A file that cannot be read is taken for a journal. */
async function whyNotAppended(path: string, size: number): Promise<string | null> {
  const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (reader === null) return null;
  const read = async (length: number, position: number): Promise<string> => {
    const { buffer, bytesRead } = await reader.read(Buffer.alloc(length), 0, length, position);
    return buffer.toString("latin1", 0, bytesRead);
  };
  try {
    if (!LINE_START.test(await read(MAX_LINE_START_BYTES, 0))) return "the file is there, and is no journal";
    return (await read(1, size - 1)) === "\n" ? null : "it ends within a line, where a run was cut off";
  } finally {
    await reader.close();
  }
}

interface Waiting {
  readonly line: string;
  readonly resolve: (problem: string | null) => void;
}

/** Lines that arrive while others are being written go out together: one fsync for all of them. */
class FileJournal implements Journal {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #run: string | null;
  readonly #secrets: Set<string> = new Set();
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;
  #problem: string | null = null;

  constructor(handle: FileHandle, path: string, run: string | null) {
    this.#handle = handle;
    this.#run = run;
    this.path = path;
  }

  conceal(secret: string): void {
    this.#secrets.add(secret);
  }

  record(entry: JournalEntry): Promise<string | null> {
    if (this.#problem !== null) return Promise.resolve(this.#problem);
    const text = this.#textOf(entry);
    const line = this.#run === null ? `${text}\n` : `{"run":"${this.#run}",${text.slice(1)}\n`;
    return new Promise((resolve) => {
      this.#waiting.push({ line, resolve });
      this.#writing ??= this.#writeAll();
    });
  }

  /** An entry that holds no secret, as nearly all of them, is written without a copy of it. */
  #textOf(entry: JournalEntry): string {
    const text = jsonText(entry);
    const spellings = [...this.#secrets].map((secret) => jsonText(secret).slice(1, -1));
    const isClean = ![...SECRET_FIELDS, ...spellings].some((secret) => text.includes(secret));
    return isClean ? text : jsonText(redact(entry as unknown as Json, this.#secrets));
  }

  async close(): Promise<void> {
    await this.#writing;
    // Even if closing fails, the lines have been on disk since their fsync.
    await this.#handle.close().catch(() => undefined);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      this.#problem ??= await this.#write(batch.map((waiting) => waiting.line).join(""));
      for (const waiting of batch) waiting.resolve(this.#problem);
    }
    this.#writing = null;
  }

  async #write(text: string): Promise<string | null> {
    try {
      await this.#handle.appendFile(text);
      await this.#handle.sync();
      return null;
    } catch (error) {
      return isUnsyncable(error) ? null : describe(error);
    }
  }
}

/** A pipe or a terminal takes lines but has nothing to sync; the line is out all the same. */
function isUnsyncable(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === "fsync" && (code === "EINVAL" || code === "ENOTSUP");
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Journal place: where the journal is written; no symlink in the project or the checkout may redirect it.

interface JournalPlace {
  /** Absolute. */
  readonly file: string;
  /** It must not exist yet. */
  readonly isNew: boolean;
  /** It lies in the project folder, whose contents may be hostile. */
  readonly isProject: boolean;
}

type PreparedPlace =
  | { readonly ok: true; readonly place: JournalPlace }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

const FOLDER_MODE = 0o700;

/**
 * Decides on the file and creates its folder, readable by nobody else.
 * @param given the user's path, or null
 * @param started ISO 8601, the name of a file of ours
 */
async function prepareJournalFolder(root: string, given: string | null, started: string): Promise<PreparedPlace> {
  try {
    const folder = await realpath(root);
    const file =
      given === null
        ? path.join(folder, ".tenon", "journal", fileName(started))
        : await resolveSymlinksAbove(given, root);
    const isProject = isBelow(file, folder);
    const symlink = isProject ? await findSymlink(folder, file) : null;
    if (symlink !== null) return { ok: false, diagnostic: refuseSymlink(path.relative(folder, symlink)) };
    const checkout = await realpath(process.cwd());
    const escaping = isBelow(file, checkout) ? await findEscapingSymlink(checkout, file) : null;
    if (escaping !== null) return { ok: false, diagnostic: refuseSymlink(path.relative(checkout, escaping)) };
    // The file need not lie in the working folder for a hostile checkout to hold it.
    const led = given === null ? null : await findCheckoutLink(path.resolve(given));
    if (led !== null) return { ok: false, diagnostic: refuseSymlink(path.relative(checkout, led.link)) };
    await makeFolder(path.dirname(file));
    if (given === null) await keepOutOfGit(path.join(folder, ".tenon"));
    return { ok: true, place: { file, isNew: given === null, isProject } };
  } catch (error) {
    return { ok: false, diagnostic: uncreatable(error) };
  }
}

/** One folder after the other: where the system takes no folders (`/proc`), the recursion of Node never ends. */
async function makeFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() === true) return;
  if (path.dirname(folder) !== folder) await makeFolder(path.dirname(folder));
  try {
    await mkdir(folder, { mode: FOLDER_MODE });
  } catch (error) {
    // Another apply may have been faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !(await stat(folder)).isDirectory()) throw error;
  }
}

/** Journals hold before-values and belong to whoever ran the apply. What a person wrote there stays. */
async function keepOutOfGit(folder: string): Promise<void> {
  try {
    await writeFile(path.join(folder, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Without colons, which some file systems refuse. */
function fileName(started: string): string {
  return `${started.replaceAll(":", "-")}.jsonl`;
}

/** The user's path, with the symlinks above the project resolved, so that it shows whether it leads into the project. */
async function resolveSymlinksAbove(given: string, root: string): Promise<string> {
  const file = path.resolve(given);
  for (const folder of [path.resolve(root), process.cwd()]) {
    if (isBelow(file, folder)) return path.join(await realpath(folder), path.relative(folder, file));
  }
  return file;
}

/** The first part of the path below `folder` that is a symlink. */
async function findSymlink(folder: string, file: string): Promise<string | null> {
  let current = folder;
  for (const name of path.relative(folder, file).split(path.sep)) {
    current = path.join(current, name);
    try {
      if ((await lstat(current)).isSymbolicLink()) return current;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }
  return null;
}

/** Returns the first symlink below `folder` if the path leads out of `folder`, or its target does not exist; otherwise null. */
async function findEscapingSymlink(folder: string, file: string): Promise<string | null> {
  const symlink = await findSymlink(folder, file);
  if (symlink === null) return null;
  const isLink = await lstat(file).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
  const real = await realpath(isLink ? file : path.dirname(file)).catch(() => null);
  return real !== null && isWithin(real, folder) ? null : symlink;
}

function refuseSymlink(relative: string): Diagnostic {
  return {
    code: "journal-symlink",
    severity: "error",
    summary: `${relative} is a symbolic link`,
    detail:
      "The journal is written there or below it, and a project must not decide where else files are written. Nothing was done.",
    fix: `Remove the link ${relative}, or name the place itself with --journal PATH, outside the project folder.`,
  };
}

function uncreatable(error: unknown): Diagnostic {
  return {
    code: "journal-unwritable",
    severity: "error",
    summary: "the journal's folder cannot be created",
    detail: `${error instanceof Error ? error.message : String(error)}. Nothing was done.`,
    fix: "Name a file that can be written with --journal PATH.",
  };
}

// Redact: takes out of an entry what a journal must not hold.

const REDACTED = "[redacted]";

/** Fields whose value is a secret wherever they appear (API.md, Images: the signed URL). */
const SECRET_FIELDS: ReadonlySet<string> = new Set(["upload_to"]);

/** @param secrets texts that are taken out of any string that contains them */
export function redact(value: Json, secrets: ReadonlySet<string>): Json {
  if (typeof value === "string") return redactText(value, secrets);
  if (value === null || typeof value !== "object") return value;
  if (isList(value)) return value.map((item) => redact(item, secrets));
  const entries = Object.entries(value).map(([key, item]): [string, Json] => [
    key,
    SECRET_FIELDS.has(key) ? REDACTED : redact(item, secrets),
  ]);
  return Object.fromEntries(entries);
}

function redactText(text: string, secrets: ReadonlySet<string>): string {
  let clean = text;
  for (const secret of secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
  return clean;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
