/** Files to upload: whether each is a whole gzip-compressed raw disk image, judged by its first bytes, and then by all of them. */

import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import type { FileContent } from "../model/api.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { shellWord } from "../model/text.ts";
import { MAX_RAW_BYTES, MAX_RAW_BYTES_PER_RUN, MAX_UPLOAD_BYTES } from "./limits.ts";
import { fileProblem, resolveInside } from "./read.ts";

const CODES: readonly string[] = [
  ...["file-not-found", "outside-project", "unreadable-file", "file-too-large"],
  ...["not-gzip", "damaged-gzip", "not-raw", "file-changed"],
];

/** Whether a plan was refused because of a file that it would upload. */
export function isUploadProblem({ code }: Diagnostic): boolean {
  return CODES.includes(code);
}

// The first bytes: what every `validate` looks at.

/** @returns null if the file begins as gzip does; the diagnostic has no span yet */
export async function checkUploadFile(root: string, file: string): Promise<Diagnostic | null> {
  const resolved = await resolveInside(root, file);
  if (!resolved.ok) return { ...fileProblem(file, resolved.problem), fix: "Name a file inside the project folder." };
  try {
    return await withFile(resolved.path, async (handle) => (await problemAtStart(handle, await handle.stat()))?.(file));
  } catch {
    return { ...fileProblem(file, "unreadable"), fix: "Check the file." };
  }
}

/** What is wrong with a file, by the name that the manifest has for it. */
type Finding = (file: string) => Diagnostic;

/** A symbolic link that was put in its place meanwhile is not followed, and a named pipe is not waited for. */
async function withFile<Result>(
  path: string,
  use: (handle: FileHandle) => Promise<Result | undefined>,
): Promise<Result | null> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return (await use(handle)) ?? null;
  } finally {
    await handle.close();
  }
}

interface Status {
  isFile(): boolean;
  readonly size: number | bigint;
}

async function problemAtStart(handle: FileHandle, status: Status): Promise<Finding | undefined> {
  if (!status.isFile()) return (file) => ({ ...fileProblem(file, "not-a-file"), fix: "Name a regular file." });
  const size = Number(status.size);
  if (size > MAX_UPLOAD_BYTES) return (file) => tooLarge(file, size);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
  const start = buffer.subarray(0, bytesRead);
  if (start.length === 0) return emptyFile;
  return holds(start, GZIP) ? undefined : (file) => notGzip(file, formatOf(start));
}

function tooLarge(file: string, bytes: number): Diagnostic {
  const detail = `It has ${(bytes / 1024 ** 3).toFixed(2)} GiB; the service takes 5 GB, compressed.`;
  return {
    code: "file-too-large",
    severity: "error",
    summary: `${file} is too large`,
    detail,
    fix: "Make the image smaller.",
  };
}

function emptyFile(file: string): Diagnostic {
  const detail = "An upload is a gzip-compressed raw disk image; the file has no bytes.";
  return { code: "not-gzip", severity: "error", summary: `${file} is empty`, detail, fix: "Make the image anew." };
}

function notGzip(file: string, format: Format | null): Diagnostic {
  const begins = format === null ? "the file does not begin as gzip does" : `the file begins as ${format.name} does`;
  return {
    code: "not-gzip",
    severity: "error",
    summary: `${file} is not gzip`,
    detail: `An upload is a gzip-compressed raw disk image; ${begins}.`,
    fix: format === null ? `Compress it: gzip --keep ${word(file)}` : fixOf(file, format),
  };
}

// What people have in the place of a raw disk image.

interface Mark {
  readonly at: number;
  readonly bytes: Buffer;
}

interface Format {
  readonly name: string;
  readonly marks: readonly Mark[];
  /** Writes what the file holds to stdout; null: only qemu-img can read it; undefined: a person has to take the image out of it. */
  readonly unpack: string | null | undefined;
}

/** The marks of all formats lie within so many bytes. */
const START_BYTES = 512;
/** RFC 1952, 2.3.1. */
const GZIP: Mark = mark("\x1f\x8b");

const FORMATS: readonly Format[] = [
  { name: "xz", marks: [mark("\xfd7zXZ\0")], unpack: "xz -dc" },
  { name: "zstd", marks: [mark("\x28\xb5\x2f\xfd")], unpack: "zstd -dc" },
  { name: "bzip2", marks: [mark("BZh")], unpack: "bzip2 -dc" },
  { name: "lz4", marks: [mark("\x04\x22\x4d\x18")], unpack: "lz4 -dc" },
  { name: "lzip", marks: [mark("LZIP")], unpack: "lzip -dc" },
  { name: "zip", marks: [mark("PK\x03\x04")], unpack: "unzip -p" },
  { name: "7z", marks: [mark("7z\xbc\xaf\x27\x1c")], unpack: "7z x -so" },
  { name: "qcow2", marks: [mark("QFI\xfb")], unpack: null },
  { name: "vmdk", marks: [mark("KDMV"), mark("COWD"), mark("# Disk DescriptorFile")], unpack: null },
  { name: "vhdx", marks: [mark("vhdxfile")], unpack: null },
  { name: "vhd", marks: [mark("conectix")], unpack: null },
  { name: "vdi", marks: [mark("\x7f\x10\xda\xbe", 0x40)], unpack: null },
  { name: "tar", marks: [mark("ustar", 257)], unpack: undefined },
];

function mark(text: string, at = 0): Mark {
  return { at, bytes: Buffer.from(text, "latin1") };
}

function holds(start: Buffer, { at, bytes }: Mark): boolean {
  return start.subarray(at, at + bytes.length).equals(bytes);
}

function formatOf(start: Buffer): Format | null {
  return FORMATS.find(({ marks }) => marks.some((one) => holds(start, one))) ?? null;
}

function fixOf(file: string, { name, unpack }: Format): string {
  const image = `${stemOf(file)}.img`;
  const target = `${image}.gz` === file ? `${stemOf(file)}-raw.img` : image;
  if (unpack === undefined) return `Take the disk image out of the ${name} archive, and compress it with gzip.`;
  const command =
    unpack === null
      ? `qemu-img convert -O raw ${word(file)} ${word(target)} && gzip ${word(target)}`
      : `${unpack} ${word(file)} | gzip > ${word(`${target}.gz`)}`;
  return `Make a gzip-compressed raw image of it: ${command}`;
}

/** `images/golden` of `images/golden.img.xz`, `images/golden.qcow2` or `images/golden.img`. */
function stemOf(file: string): string {
  return file
    .replace(/(?<=[^/])\.(gz|xz|zst|bz2|lz4|lz|zip|7z|qcow2?|vmdk|vhdx?|vdi|tgz|tar)$/i, "")
    .replace(/(?<=[^/])\.(img|raw|qcow2?|vmdk|vhdx?|vdi|tar)$/i, "");
}

/** As an operand of a shell's command, whatever a manifest calls its file. */
function word(file: string): string {
  return shellWord(file.startsWith("-") ? `./${file}` : file);
}

// All bytes: what a plan looks at before it uploads the file.

/** Looks while a file is checked. */
export interface CheckWatch {
  readonly signal?: AbortSignal;
  /** @param total bytes of the file */
  progress?(file: string, done: number, total: number): void;
}

interface Checked {
  /** Of the file that was checked: as long as it stays, no byte is read again. */
  readonly identity: string;
  readonly content: FileContent | null;
  readonly problem: Finding | null;
}

/** The files of one project that plans of this process want to upload, each checked once as long as it does not change. */
export class UploadFiles {
  readonly #root: string;
  readonly #maxRawBytes: number;
  readonly #maxRawBytesPerRun: number;
  /** Of all files that were decompressed. */
  #rawBytes = 0;
  /** By real path. */
  readonly #checked: Map<string, Checked> = new Map();
  readonly #problems: Map<string, Diagnostic> = new Map();

  /** @param root real path of the project's folder */
  constructor(root: string, maxRawBytes: number = MAX_RAW_BYTES, maxRawBytesPerRun: number = MAX_RAW_BYTES_PER_RUN) {
    this.#root = root;
    this.#maxRawBytes = maxRawBytes;
    this.#maxRawBytesPerRun = maxRawBytesPerRun;
  }

  /** What the file holds; null if it cannot be uploaded: `problemOf` says why. A file that several links lead to is read once. */
  async contentOf(file: string, watch: CheckWatch = {}): Promise<FileContent | null> {
    this.#problems.delete(file);
    const resolved = await resolveInside(this.#root, file);
    if (!resolved.ok) {
      const fix = "Name a file inside the project folder.";
      this.#problems.set(file, { ...fileProblem(file, resolved.problem), fix });
      return null;
    }
    try {
      const { content, problem } = await this.#check(file, resolved.path, watch);
      if (problem !== null) this.#problems.set(file, problem(file));
      return content;
    } catch {
      if (watch.signal?.aborted !== true)
        this.#problems.set(file, { ...fileProblem(file, "unreadable"), fix: "Check the file." });
      return null;
    }
  }

  /** Why `contentOf` found that the file cannot be uploaded; without a span. */
  problemOf(file: string): Diagnostic | null {
    return this.#problems.get(file) ?? null;
  }

  /** Whether all files that were checked are as they were then, as far as the file system tells without reading them. */
  async areUnchanged(): Promise<boolean> {
    const looks = [...this.#checked].map(async ([path, { identity }]) => {
      const now = await lstat(path, { bigint: true }).catch(() => null);
      return now !== null && identityOf(now) === identity;
    });
    return (await Promise.all(looks)).every((isUnchanged) => isUnchanged);
  }

  async #check(file: string, path: string, watch: CheckWatch): Promise<Checked> {
    const checked = await withFile(path, async (handle) => {
      const before = await handle.stat({ bigint: true });
      const known = this.#checked.get(path);
      const identity = identityOf(before);
      if (known?.identity === identity) return known;
      const problem = await problemAtStart(handle, before);
      if (problem !== undefined) return { identity, content: null, problem };
      const left = this.#maxRawBytesPerRun - this.#rawBytes;
      const read = await readImage(handle, Number(before.size), {
        maxRawBytes: Math.min(this.#maxRawBytes, left),
        tooLarge: left < this.#maxRawBytes ? tooLargeRun(this.#maxRawBytesPerRun) : tooLargeRaw(this.#maxRawBytes),
        inflated: (rawBytes) => {
          this.#rawBytes += rawBytes;
        },
        ...(watch.signal === undefined ? {} : { signal: watch.signal }),
        progress: (done) => watch.progress?.(file, done, Number(before.size)),
      });
      const hasChanged = identityOf(await handle.stat({ bigint: true })) !== identity;
      return hasChanged ? { identity, content: null, problem: changedMeanwhile } : { identity, ...read };
    });
    if (checked === null) throw new Error(`${path} was not checked`);
    this.#checked.set(path, checked);
    return checked;
  }
}

function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

/** Larger ones take no less time, and smaller ones more, for each goes to a thread and back. */
const READ_BYTES = 1024 * 1024;
const INFLATED_BYTES = 1024 * 1024;

interface ReadOptions {
  readonly maxRawBytes: number;
  /** What is found if the file holds more. */
  readonly tooLarge: Finding;
  /** Called once, with the bytes that were decompressed. */
  inflated(rawBytes: number): void;
  readonly signal?: AbortSignal;
  progress(done: number): void;
}

/** Reads the file once: hashes its bytes, and decompresses them in another thread meanwhile. In constant memory. */
async function readImage(
  handle: FileHandle,
  size: number,
  { maxRawBytes, tooLarge, inflated, signal, progress }: ReadOptions,
): Promise<Pick<Checked, "content" | "problem">> {
  const hash = createHash("sha256");
  const inflation = await Inflation.begin(maxRawBytes, tooLarge);
  // Buffers are used in turns, so that one can be read into while another is decompressed.
  const buffers = [Buffer.allocUnsafeSlow(READ_BYTES), Buffer.allocUnsafeSlow(READ_BYTES)] as const;
  let bytes = 0;
  try {
    let taken = Promise.resolve();
    for (let turn = 0; !inflation.hasEnded; turn += 1) {
      const { buffer, bytesRead } = await handle.read(buffers[turn % 2 === 0 ? 0 : 1], 0, READ_BYTES, null);
      await taken;
      signal?.throwIfAborted();
      if (bytesRead === 0) break;
      bytes += bytesRead;
      if (bytes > size) return { content: null, problem: changedMeanwhile };
      const chunk = buffer.subarray(0, bytesRead);
      taken = inflation.take(chunk);
      hash.update(chunk);
      progress(bytes);
    }
    const problem = await inflation.end(bytes);
    return problem === null ? { content: { bytes, sha256: hash.digest("hex") }, problem } : { content: null, problem };
  } finally {
    inflated(inflation.rawBytes);
    inflation.close();
  }
}

/** Decompresses a gzip file and keeps nothing of it but its size and its first bytes. */
class Inflation {
  readonly #gunzip: import("node:zlib").Gunzip;
  readonly #maxRawBytes: number;
  readonly #tooLarge: Finding;
  readonly #ended: Promise<void>;
  #hasEnded = false;
  #error: NodeJS.ErrnoException | null = null;
  /** Decompressed so far. */
  rawBytes = 0;
  #start: Buffer = Buffer.alloc(0);

  private constructor(gunzip: import("node:zlib").Gunzip, maxRawBytes: number, tooLarge: Finding) {
    this.#gunzip = gunzip;
    this.#maxRawBytes = maxRawBytes;
    this.#tooLarge = tooLarge;
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        this.#hasEnded = true;
        resolve();
      };
      gunzip.on("data", (chunk: Buffer) => {
        if (this.#start.length < START_BYTES)
          this.#start = Buffer.concat([this.#start, chunk.subarray(0, START_BYTES)]).subarray(0, START_BYTES);
        this.rawBytes += chunk.length;
        if (this.rawBytes > maxRawBytes) end();
      });
      gunzip.on("end", end).on("error", (error) => {
        this.#error = error;
        end();
      });
    });
  }

  /** zlib is loaded when it is used. */
  static async begin(maxRawBytes: number, tooLarge: Finding): Promise<Inflation> {
    const { createGunzip } = await import("node:zlib");
    return new Inflation(createGunzip({ chunkSize: INFLATED_BYTES }), maxRawBytes, tooLarge);
  }

  /** There is nothing more to be decompressed: an error, too much, or the end of the last member. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** @returns when the bytes are not needed any more */
  take(chunk: Buffer): Promise<void> {
    return Promise.race([new Promise<void>((resolve) => this.#gunzip.write(chunk, () => resolve())), this.#ended]);
  }

  /** @param bytes that were taken. @returns what is wrong with the file */
  async end(bytes: number): Promise<Finding | null> {
    if (!this.#hasEnded) this.#gunzip.end();
    await this.#ended;
    if (this.rawBytes > this.#maxRawBytes) return this.#tooLarge;
    if (this.#error !== null) return damageOf(this.#error);
    // Zeros after the last member are no error to zlib: it leaves them.
    if (this.#gunzip.bytesWritten !== bytes) return followedByOther;
    const format = formatOf(this.#start) ?? (holds(this.#start, GZIP) ? GZIP_WITHIN : null);
    if (this.rawBytes === 0) return emptyImage;
    return format === null ? null : (file) => notRaw(file, format);
  }

  close(): void {
    this.#gunzip.destroy();
  }
}

const GZIP_WITHIN: Format = { name: "gzip", marks: [GZIP], unpack: "gzip -dc" };

function damageOf({ code, message }: NodeJS.ErrnoException): Finding {
  switch (message) {
    case "unexpected end of file":
      return (file) => damaged(file, "It ends before its compressed data does: it was cut off.");
    case "incorrect data check":
      return (file) => damaged(file, "What it holds does not have the checksum (CRC-32) that it names.");
    case "incorrect length check":
      return (file) => damaged(file, "What it holds is not as long as it says.");
    case "incorrect header check":
      return followedByOther;
    default:
      return (file) => damaged(file, `It cannot be decompressed (${code ?? "error"}: ${message}).`);
  }
}

function damaged(file: string, detail: string): Diagnostic {
  const fix = `Make or copy it anew; gzip -t ${word(file)} tells when it is whole.`;
  return { code: "damaged-gzip", severity: "error", summary: `${file} is damaged`, detail, fix };
}

function followedByOther(file: string): Diagnostic {
  return {
    code: "damaged-gzip",
    severity: "error",
    summary: `${file} goes on after its end`,
    detail: "After its compressed data come bytes that are no gzip.",
    fix: `Leave them out: gzip -dc ${word(file)} | gzip > ${word(`${stemOf(file)}-raw.img.gz`)}`,
  };
}

function emptyImage(file: string): Diagnostic {
  const detail = "It is gzip, and what it holds has no bytes; an upload is a gzip-compressed raw disk image.";
  return { code: "not-raw", severity: "error", summary: `${file} holds nothing`, detail, fix: "Make the image anew." };
}

function notRaw(file: string, { name, unpack }: Format): Diagnostic {
  const target = `${stemOf(file)}-raw.img`;
  const inner = `${stemOf(file)}.${name}`;
  const command =
    unpack === null
      ? `gzip -dc ${word(file)} > ${word(inner)} && qemu-img convert -O raw ${word(inner)} ${word(target)} && gzip ${word(target)}`
      : `gzip -dc ${word(file)} | ${unpack} | gzip > ${word(`${target}.gz`)}`;
  return {
    code: "not-raw",
    severity: "error",
    summary: `${file} does not hold a raw disk image`,
    detail: `An upload is a gzip-compressed raw disk image; what is compressed begins as ${name} does.`,
    fix:
      unpack === undefined
        ? `Take the disk image out of the ${name} archive, and compress it with gzip.`
        : `Make a gzip-compressed raw image of it: ${command}`,
  };
}

function tooLargeRaw(maxRawBytes: number): Finding {
  const limit = `${maxRawBytes / 1024 ** 3} GiB`;
  return (file) => ({
    code: "file-too-large",
    severity: "error",
    summary: `${file} holds more than ${limit}`,
    detail: `Tenon decompresses at most ${limit} of an image; what is larger is taken for a gzip bomb.`,
    fix: "Make the image smaller.",
  });
}

function tooLargeRun(maxRawBytesPerRun: number): Finding {
  const limit = `${maxRawBytesPerRun / 1024 ** 3} GiB`;
  return (file) => ({
    code: "file-too-large",
    severity: "error",
    summary: `${file} and the files checked before it hold more than ${limit}`,
    detail: `Tenon decompresses at most ${limit} in one run: a small file may hold a thousand times its size.`,
    fix: "Plan fewer images at a time, with --target.",
  });
}

function changedMeanwhile(file: string): Diagnostic {
  return {
    code: "file-changed",
    severity: "error",
    summary: `${file} changed while it was checked`,
    detail: "Something writes to it, so that what would be sent is not what was checked.",
    fix: "Wait until it is complete, and plan again.",
  };
}
