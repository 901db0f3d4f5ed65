/** The requests that were answered: the latest in memory, all of them in a file if one is named. */

import { closeSync, openSync, writeSync } from "node:fs";
import type { LoggedRequest } from "./options.ts";

/** Older ones are forgotten; the file keeps them. */
const MAX_REQUESTS = 100_000;

export class RequestLog {
  #file: number | null;
  #requests: LoggedRequest[] = [];

  /** @param path null: no file. Throws if it cannot be opened. */
  constructor(path: string | null) {
    this.#file = path === null ? null : openSync(path, "a");
  }

  /** Synchronous, so that the line is there before the answer is. */
  add(request: LoggedRequest): void {
    this.#requests.push(request);
    // Cut in large pieces: to shift each time would move all of them.
    if (this.#requests.length > 2 * MAX_REQUESTS) this.#requests = this.#requests.slice(-MAX_REQUESTS);
    if (this.#file !== null) writeSync(this.#file, `${JSON.stringify(request)}\n`);
  }

  all(): readonly LoggedRequest[] {
    return this.#requests.length > MAX_REQUESTS ? this.#requests.slice(-MAX_REQUESTS) : this.#requests;
  }

  clear(): void {
    this.#requests = [];
  }

  /** Requests that end after this are not in the file. */
  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}
