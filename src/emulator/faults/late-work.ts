/** Work that goes on after its request was answered: a gateway gives up, the service behind it does not. */

export type Wait = (milliseconds: number) => Promise<void>;

export class LateWork {
  readonly #running = new Set<Promise<void>>();
  readonly #wait: Wait;

  constructor(wait: Wait = waitRealTime) {
    this.#wait = wait;
  }

  /** Does the work that much later, whatever became of the connection. Nobody is told if it fails. */
  add(delayMilliseconds: number, work: () => Promise<unknown>): void {
    const running = this.#wait(delayMilliseconds)
      .then(work)
      // What could not be kept shows in the next answer, as it does for all requests.
      .then(ignore, ignore)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when all of it is done. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

function ignore(): void {}

function waitRealTime(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
