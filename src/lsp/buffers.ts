/**
 * The files of projects as an editor has them: open buffers before what is on the disk. A file that has not changed is read once; and until
 * `lookAgain`, the disk is not asked twice for anything.
 */

import { lstat } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { isBelow } from "../files/paths.ts";
import { type FolderEntry, ON_DISK, type ProjectFiles, type ReadText } from "../manifest/read.ts";

/** What tells a changed file from an unchanged one. */
interface Stamp {
  readonly inode: bigint;
  readonly bytes: bigint;
  readonly modifiedNanoseconds: bigint;
  readonly changedNanoseconds: bigint;
}

interface CachedText {
  readonly stamp: Stamp;
  readonly read: ReadText;
}

export class Buffers implements ProjectFiles {
  /** Path → text, without a BOM. */
  readonly #open: Map<string, string> = new Map();
  /** Paths of buffers that begin with one. */
  readonly #withBom: Set<string> = new Set();
  /** Real path → the path of the buffer that is open for it. */
  readonly #openByRealPath: Map<string, string> = new Map();
  readonly #cached: Map<string, CachedText> = new Map();
  /** What was asked since `lookAgain`, and the answers. */
  readonly #asked: Map<string, Promise<unknown>> = new Map();
  /** How many files were read from the disk so far. */
  reads = 0;

  /** @param text null: it is closed, and what is on the disk holds again */
  async set(path: string, text: string | null): Promise<void> {
    const isKnown = this.#open.has(path);
    if (text?.startsWith("\ufeff") === true) this.#withBom.add(path);
    else this.#withBom.delete(path);
    if (text === null) this.#open.delete(path);
    else this.#open.set(path, withoutBom(text));
    if (text === null || !isKnown) await this.#resolveOpen();
  }

  hasBom(path: string): boolean {
    return this.#withBom.has(path);
  }

  /** Something on the disk may have changed. */
  lookAgain(): void {
    this.#asked.clear();
  }

  has(path: string): Promise<boolean> {
    if (this.#open.has(path)) return Promise.resolve(true);
    return this.#once(`has ${path}`, () => ON_DISK.has(path));
  }

  /** That of a file that is not saved yet is where it will be. */
  async realpath(path: string): Promise<string> {
    try {
      return await this.#once(`realpath ${path}`, () => ON_DISK.realpath(path));
    } catch (error) {
      if (!this.#open.has(path)) throw error;
      return join(await this.#realpathOfNearest(dirname(path)), basename(path));
    }
  }

  async list(folder: string): Promise<readonly FolderEntry[]> {
    const saved = (await this.#once(`list ${folder}`, () => ON_DISK.list(folder))) ?? [];
    const names = new Set(saved.map(({ name }) => name));
    const unsaved = new Map<string, FolderEntry>();
    for (const path of this.#openByRealPath.keys()) {
      if (!isBelow(path, folder)) continue;
      const [name = "", ...below] = relative(folder, path).split(sep);
      if (!names.has(name)) unsaved.set(name, { name, isDirectory: () => below.length > 0 });
    }
    return unsaved.size === 0 ? saved : [...saved, ...unsaved.values()];
  }

  /** Of a folder that is not there yet, where it will be. */
  async #realpathOfNearest(folder: string): Promise<string> {
    try {
      return await this.realpath(folder);
    } catch (error) {
      if (dirname(folder) === folder) throw error;
      return join(await this.#realpathOfNearest(dirname(folder)), basename(folder));
    }
  }

  read(path: string): Promise<ReadText> {
    const open = this.#open.get(this.#openByRealPath.get(path) ?? path);
    if (open !== undefined) return Promise.resolve({ ok: true, text: open, badOffset: null });
    return this.#once(`read ${path}`, () => this.#readSaved(path));
  }

  async #readSaved(path: string): Promise<ReadText> {
    const stamp = await stampOf(path);
    const cached = this.#cached.get(path);
    if (stamp !== null && cached !== undefined && isSame(stamp, cached.stamp)) return cached.read;
    this.reads += 1;
    const read = await ON_DISK.read(path);
    if (stamp === null) this.#cached.delete(path);
    else this.#cached.set(path, { stamp, read });
    return read;
  }

  #once<Answer>(question: string, ask: () => Promise<Answer>): Promise<Answer> {
    const known = this.#asked.get(question) as Promise<Answer> | undefined;
    const answer = known ?? ask();
    this.#asked.set(question, answer);
    return answer;
  }

  async #resolveOpen(): Promise<void> {
    const paths = [...this.#open.keys()];
    const real = await Promise.all(paths.map((path) => this.realpath(path).catch(() => path)));
    this.#openByRealPath.clear();
    for (const [index, path] of paths.entries()) this.#openByRealPath.set(real[index] ?? path, path);
  }
}

async function stampOf(path: string): Promise<Stamp | null> {
  const status = await lstat(path, { bigint: true }).catch(() => null);
  if (status === null) return null;
  const { ino, size, mtimeNs, ctimeNs } = status;
  return { inode: ino, bytes: size, modifiedNanoseconds: mtimeNs, changedNanoseconds: ctimeNs };
}

function isSame(one: Stamp, other: Stamp): boolean {
  return (
    one.inode === other.inode &&
    one.bytes === other.bytes &&
    one.modifiedNanoseconds === other.modifiedNanoseconds &&
    one.changedNanoseconds === other.changedNanoseconds
  );
}

function withoutBom(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}
