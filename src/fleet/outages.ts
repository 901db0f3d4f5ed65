/** What becomes of a question to a store that does not answer, or cannot do what is asked for now: it waits, and is asked again. */

import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf, type StoreObserver } from "./store.ts";

const RETRY_MILLISECONDS = 500;

export class Outages {
  readonly #observer: StoreObserver;
  readonly #isPassing: (error: unknown) => boolean;
  #isClosed = false;
  /** Said of the connection, by nobody who asked. */
  #isLost = false;

  /** @param isPassing whether what went wrong is of the connection or of the server's state, and not of the question */
  constructor(observer: StoreObserver, isPassing: (error: unknown) => boolean) {
    this.#observer = observer;
    this.#isPassing = isPassing;
  }

  /** What went wrong while nothing was asked. */
  report(error: unknown): void {
    this.#isLost = true;
    this.#observer.unreachable(reasonOf(error).reason);
  }

  /** Nothing is asked again from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** @param ask is called again as long as it fails for a reason that passes @throws what it throws for another one */
  async wait<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (let failures = 0; ; failures += 1) {
      try {
        const answer = await ask();
        // Others may still fail: a server whose memory is full is read, and not written.
        if (failures > 0 || this.#isLost) this.#observer.unreachable(null);
        this.#isLost = false;
        return answer;
      } catch (error) {
        if (this.#isClosed || !this.#isPassing(error)) throw error;
        this.#observer.unreachable(reasonOf(error).reason);
        await sleep(RETRY_MILLISECONDS);
      }
    }
  }
}
