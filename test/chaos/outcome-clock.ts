/** A clock whose waits are over at once: time goes on by as much as was waited. For the client, apply and the emulator. */

import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../src/index.ts";

/** An import is late work that asks a nameserver: loopback, but not within one turn of the event loop. */
const LATE_WORK_MILLISECONDS = 40;

interface Late {
  readonly due: number;
  readonly wake: () => void;
}

export class JumpingClock implements Clock {
  #now: number;
  readonly #late: Set<Late> = new Set();

  constructor(startMilliseconds: number) {
    this.#now = startMilliseconds;
  }

  now(): number {
    return this.#now;
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    await this.advance(milliseconds);
  }

  /** Late work that is due by then is done when this resolves. */
  async advance(milliseconds: number): Promise<void> {
    this.#now += Math.max(0, milliseconds);
    if (this.#wake((late) => late.due <= this.#now)) await delay(LATE_WORK_MILLISECONDS);
    else await new Promise((resolve) => setImmediate(resolve));
  }

  /** For the emulator: how long late work is put off. */
  waitForLate(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.#late.add({ due: this.#now + milliseconds, wake: resolve }));
  }

  get hasLateWork(): boolean {
    return this.#late.size > 0;
  }

  /** Late work is done now, whenever it was to be. */
  releaseLate(): void {
    this.#wake(() => true);
  }

  async finishLate(): Promise<void> {
    if (this.#wake(() => true)) await delay(LATE_WORK_MILLISECONDS);
  }

  #wake(isDue: (late: Late) => boolean): boolean {
    const due = [...this.#late].filter(isDue);
    for (const late of due) {
      this.#late.delete(late);
      late.wake();
    }
    return due.length > 0;
  }
}
