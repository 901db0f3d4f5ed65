/** The requests that were answered: the latest in memory, all of them in a file if one is named. */

import { closeSync, openSync, writeFileSync } from "node:fs";
import type { LoggedRequest } from "./options.ts";

/** Older ones are forgotten; the file keeps them. */
const MAX_REQUESTS = 100_000;

/** Of paths and queries together, which anybody may send without a token: the same. */
const MAX_TEXT_BYTES = 32 * 1024 ** 2;

export class RequestLog {
  #file: number | null;
  #failed = false;
  #requests: LoggedRequest[] = [];
  /** Before this index are forgotten ones. */
  #first = 0;
  #textBytes = 0;

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
    this.#textBytes += textBytes(request);
    this.#forget();
    if (this.#file === null) return;
    try {
      // Goes on after a part of it was written, which `writeSync` does not.
      writeFileSync(this.#file, `${JSON.stringify(request)}\n`);
    } catch {
      this.#failed = true;
      this.close();
    }
  }

  #forget(): void {
    while (this.#requests.length - this.#first > MAX_REQUESTS || this.#textBytes > MAX_TEXT_BYTES) {
      const oldest = this.#requests[this.#first];
      if (oldest === undefined) break;
      this.#textBytes -= textBytes(oldest);
      // Its text goes at once, its place with those of many others: to shift each time would move all of them.
      this.#requests[this.#first] = FORGOTTEN;
      this.#first += 1;
    }
    if (this.#first > MAX_REQUESTS) {
      this.#requests = this.#requests.slice(this.#first);
      this.#first = 0;
    }
  }

  all(): readonly LoggedRequest[] {
    return this.#first > 0 ? this.#requests.slice(this.#first) : this.#requests;
  }

  clear(): void {
    this.#requests = [];
    this.#first = 0;
    this.#textBytes = 0;
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

const FORGOTTEN: LoggedRequest = { method: "", path: "", query: "", status: 0 };

/** Node gives each octet of a URL as one character. */
function textBytes({ path, query }: LoggedRequest): number {
  return path.length + query.length;
}
