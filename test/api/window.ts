/** A fixed window of requests as a service counts it, and the headers that tell of it. */

export const WINDOW_MILLISECONDS = 10_000;
export const LIMIT = 100;

/** A fixed window as the service counts it: the first request opens it. */
export class Window {
  refused = 0;
  served = 0;
  #opened = Number.NEGATIVE_INFINITY;
  #count = 0;
  readonly #round: (seconds: number) => number;

  readonly #aligned: boolean;

  /** @param aligned windows begin at whole multiples of their length, not with the first request */
  constructor(round: (seconds: number) => number, aligned = false) {
    this.#round = round;
    this.#aligned = aligned;
  }

  take(now: number): { status: number; headers: Record<string, string> } {
    if (now >= this.#opened + WINDOW_MILLISECONDS) {
      this.#opened = this.#aligned ? now - (now % WINDOW_MILLISECONDS) : now;
      this.#count = 0;
    }
    this.#count += 1;
    const left = (this.#opened + WINDOW_MILLISECONDS - now) / 1000;
    const headers = {
      "x-ratelimit-limit": String(LIMIT),
      "x-ratelimit-remaining": String(Math.max(0, LIMIT - this.#count)),
      "x-ratelimit-reset": String(Math.ceil((this.#opened + WINDOW_MILLISECONDS) / 1000)),
      "retry-after": String(this.#round(left)),
    };
    if (this.#count > LIMIT) this.refused += 1;
    else this.served += 1;
    return { status: this.#count > LIMIT ? 429 : 200, headers };
  }
}
