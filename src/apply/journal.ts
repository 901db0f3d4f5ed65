/** Journal: evidence of a run as JSON lines; what is about to be done is on disk before it is done. */

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Failure } from "../model/failure.ts";
import { jsonText } from "../model/json-text.ts";
import type { StepOutcome } from "../model/report.ts";
import type { Json, ObjectId, Values } from "../model/resource.ts";
import type { Intent } from "./context.ts";
import { type JournalPlace, prepareJournalFolder } from "./journal-place.ts";
import { redact } from "./redact.ts";

/** Who ran what, where. `host` is that of the base URL, without path or credentials. */
export interface JournalHeader {
  readonly version: string;
  readonly actor: string | null;
  readonly commit: string | null;
  readonly host: string;
}

/** `time` is ISO 8601. */
export type JournalEntry =
  | ({ readonly type: "run"; readonly started: string } & JournalHeader)
  | {
      readonly type: "change";
      readonly key: string;
      readonly action: string;
      readonly id: ObjectId | null;
      /** The resource's values before this run. */
      readonly before: Values | null;
    }
  | ({ readonly type: "intent"; readonly time: string } & Intent)
  | {
      readonly type: "outcome";
      readonly time: string;
      readonly step: string;
      readonly outcome: StepOutcome;
      readonly id: ObjectId | null;
      readonly recovered: boolean;
      readonly failure: Failure | null;
      readonly because: readonly string[];
    }
  | {
      readonly type: "end";
      readonly time: string;
      /** As in the report. */
      readonly requestCount: number;
      readonly interrupted: boolean;
      readonly surprises: readonly string[];
    };

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
    const journal = new FileJournal(handle, path);
    const problem = await journal.record({ type: "run", started, ...options.header });
    if (problem === null) return { ok: true, journal };
    await journal.close();
    return unwritable(path, problem);
  } catch (error) {
    return unwritable(prepared.place.file, describe(error));
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

/** A file of our naming is always new; one that the user names is appended to. */
async function openFile(place: JournalPlace): Promise<{ readonly handle: FileHandle; readonly path: string }> {
  const base = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
  const flags = base | (place.isProject ? constants.O_NOFOLLOW : 0) | (place.isNew ? constants.O_EXCL : 0);
  for (let attempt = 1; ; attempt += 1) {
    const path = attempt === 1 ? place.file : place.file.replace(/\.jsonl$/, `-${attempt}.jsonl`);
    try {
      const handle = await open(path, flags, FILE_MODE);
      const { nlink } = await handle.stat();
      if (nlink <= 1) return { handle, path };
      await handle.close();
      // Where else it is, and whose it is there, nobody can tell.
      throw new Error("the file has another name somewhere (a hard link), under which it would be written, too");
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === "EEXIST";
      if (!taken || !place.isNew || attempt === MAX_NAME_ATTEMPTS) throw error;
    }
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
  readonly #secrets: Set<string> = new Set();
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;
  #problem: string | null = null;

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.path = path;
  }

  conceal(secret: string): void {
    this.#secrets.add(secret);
  }

  record(entry: JournalEntry): Promise<string | null> {
    if (this.#problem !== null) return Promise.resolve(this.#problem);
    const line = `${jsonText(redact(entry as unknown as Json, this.#secrets))}\n`;
    return new Promise((resolve) => {
      this.#waiting.push({ line, resolve });
      this.#writing ??= this.#writeAll();
    });
  }

  async close(): Promise<void> {
    await this.#writing;
    // Whatever close may complain about, the lines are on disk since their fsync.
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
