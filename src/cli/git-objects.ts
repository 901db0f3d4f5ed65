/** Objects of git, by their ids: one process answers one question after the other (git-cat-file, "BATCH OUTPUT"). */

import { GIT_TIMEOUT_MILLISECONDS, type startGit } from "./git.ts";

type GitProcess = ReturnType<typeof startGit>;

export interface GitObject {
  /** Octets. */
  readonly size: number;
  /** null: it is larger than was asked for. */
  readonly content: Buffer | null;
}

/** One process of git, which is asked for one object after the other. */
export class GitObjects {
  /** The repository's, in which git runs. */
  readonly folder: string;
  readonly #start: () => GitProcess;
  #running: { readonly child: GitProcess; readonly chunks: AsyncIterator<Buffer> } | null = null;
  #rest: Buffer = Buffer.alloc(0);
  #last: Promise<unknown> = Promise.resolve();

  constructor(folder: string, start: () => GitProcess) {
    this.folder = folder;
    this.#start = start;
  }

  /** @throws if git does not have it, or does not answer */
  read(id: string, maxBytes: number): Promise<GitObject> {
    const answer = this.#last.then(() => this.#ask(id, maxBytes));
    this.#last = answer.catch(() => {});
    return answer;
  }

  close(): void {
    this.#running?.child.kill();
    this.#running?.child.stdout.destroy();
    this.#running = null;
    this.#rest = Buffer.alloc(0);
  }

  async #ask(id: string, maxBytes: number): Promise<GitObject> {
    const { child, chunks } = this.#running ?? this.#begin();
    const timer = setTimeout(() => child.kill(), GIT_TIMEOUT_MILLISECONDS);
    try {
      child.stdin.write(`${id}\n`);
      const size = Number(/^[0-9a-f]+ \w+ (\d+)\n$/.exec(await this.#line(chunks))?.[1]);
      if (Number.isNaN(size)) throw new Error(`git does not have the object ${id}`);
      if (size > maxBytes) {
        // The next object is asked of another process, which does not have to write this one first.
        this.close();
        return { size, content: null };
      }
      return { size, content: (await this.#take(size + 1, chunks)).subarray(0, size) };
    } catch (error) {
      this.close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #begin(): { readonly child: GitProcess; readonly chunks: AsyncIterator<Buffer> } {
    const child = this.#start();
    // That git ends shows where it does not answer.
    child.on("error", () => {});
    child.stdin.on("error", () => {});
    const chunks = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.#running = { child, chunks };
    return this.#running;
  }

  async #line(chunks: AsyncIterator<Buffer>): Promise<string> {
    while (!this.#rest.includes("\n")) this.#rest = Buffer.concat([this.#rest, await nextOf(chunks)]);
    return (await this.#take(this.#rest.indexOf("\n") + 1, chunks)).toString("latin1");
  }

  /** @param length in octets */
  async #take(length: number, chunks: AsyncIterator<Buffer>): Promise<Buffer> {
    const parts = [this.#rest];
    let held = this.#rest.length;
    while (held < length) {
      const chunk = await nextOf(chunks);
      parts.push(chunk);
      held += chunk.length;
    }
    const whole = parts.length === 1 ? this.#rest : Buffer.concat(parts, held);
    this.#rest = whole.subarray(length);
    return whole.subarray(0, length);
  }
}

async function nextOf(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const { value, done } = await chunks.next();
  if (done === true) throw new Error("git ended, or was ended, before it had answered");
  return value;
}
