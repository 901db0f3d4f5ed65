/** Silence that lasts is explained: once for each cause, however many requests wait for it. */

import { type ApiEvent, escapeText } from "../index.ts";

/** A wait shorter than this is not worth a line. */
const MIN_TOLD_WAIT_SECONDS = 5;
/** A cause that comes and goes is told again only after this. */
const MIN_REPEAT_MILLISECONDS = 60_000;

/** Turns the client's events into lines for people. Pure but for `now`. */
export class Waiting {
  readonly #now: () => number;
  readonly #toldAt: Map<string, number> = new Map();
  /** Requests that were told to be waiting, and have had no answer since. */
  readonly #stuck: Set<string> = new Set();

  /** @param now milliseconds of any clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns a line without its end, escaped; or null: there is nothing new to say */
  tell(event: ApiEvent): string | null {
    switch (event.type) {
      case "sent":
        return null;
      case "answered":
        return this.#answered(`${event.method} ${event.path}`, event.status);
      case "retrying": {
        // The limit that requests ran into is told, not each of them.
        if (event.atGate || event.waitSeconds < MIN_TOLD_WAIT_SECONDS) return null;
        this.#stuck.add(`${event.method} ${event.path}`);
        return this.#once(event.reason, `Waiting: ${escapeText(event.reason)}; trying again.`);
      }
      case "throttled": {
        if (event.waitSeconds < MIN_TOLD_WAIT_SECONDS) return null;
        const cause = `the rate limit of ${escapeText(event.endpoint)} is used up`;
        return this.#once(cause, `Waiting ${Math.ceil(event.waitSeconds)} s: ${cause}.`);
      }
    }
  }

  #once(cause: string, line: string): string | null {
    const toldAt = this.#toldAt.get(cause);
    if (toldAt !== undefined && this.#now() - toldAt < MIN_REPEAT_MILLISECONDS) return null;
    this.#toldAt.set(cause, this.#now());
    return line;
  }

  /** A status of 5xx is the trouble itself. */
  #answered(request: string, status: number | null): string | null {
    if (status === null || status >= 500 || !this.#stuck.delete(request)) return null;
    return this.#stuck.size === 0 ? "The service answers again." : null;
  }
}
