/** The requests that were answered: the latest in memory, all of them in a file if one is named. */

import { closeSync, openSync, writeFileSync } from "node:fs";
import type { LoggedRequest } from "./options.ts";

/** Older ones are forgotten; the file keeps them. */
const MAX_REQUESTS = 100_000;

export class RequestLog {
  #file: number | null;
  #failed = false;
  #requests: LoggedRequest[] = [];

  /** @param path null: no file. Throws if it cannot be opened. */
  constructor(path: string | null) {
    this.#file = path === null ? null : openSync(path, "a");
  }

  /** A line could not be written: from then on nothing may be answered that would be missing. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Synchronous, so that the line is there before the answer is; whether it is tells `failed`. */
  add(request: LoggedRequest): void {
    this.#requests.push(request);
    // Cut in large pieces: to shift each time would move all of them.
    if (this.#requests.length > 2 * MAX_REQUESTS) this.#requests = this.#requests.slice(-MAX_REQUESTS);
    if (this.#file === null) return;
    try {
      // Goes on after a part of it was written, which `writeSync` does not.
      writeFileSync(this.#file, `${JSON.stringify(request)}\n`);
    } catch {
      this.#failed = true;
      this.close();
    }
  }

  all(): readonly LoggedRequest[] {
    return this.#requests.length > MAX_REQUESTS ? this.#requests.slice(-MAX_REQUESTS) : this.#requests;
  }

  clear(): void {
    this.#requests = [];
  }

  /** Requests that end after this are not in the file. */
  close(): void {
    const file = this.#file;
    this.#file = null;
    if (file === null) return;
    try {
      closeSync(file);
    } catch {
      this.#failed = true;
    }
  }
}
