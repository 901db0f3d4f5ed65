/** The progress of a fleet's run: how many accounts are done, running and waiting, how many requests a second, and how long it still takes. */

import type { FleetEvent } from "../fleet/index.ts";
import type { ApiEvent } from "../index.ts";
import { roughTime } from "../model/text.ts";
import { Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

/** Requests are counted over so many seconds: a rate of now, and not of the whole run. */
const RATED_SECONDS = 10;
/** Before so long a rate says little. */
const MIN_RATED_MILLISECONDS = 1_000;

export class FleetProgress {
  readonly #progress: Progress;
  readonly #meter: FleetMeter;

  constructor(terminal: Terminal, total: number) {
    this.#progress = new Progress(terminal);
    this.#meter = new FleetMeter(total, () => performance.now());
  }

  report(event: FleetEvent): void {
    this.#meter.report(event);
    this.#progress.show(this.#meter.text());
  }

  /** Of the client of any account. */
  observe(event: ApiEvent): void {
    if (event.type !== "sent") return;
    this.#meter.request();
    this.#progress.show(this.#meter.text());
  }

  end(): void {
    this.#progress.end();
  }
}

/** Pure but for `now`. */
export class FleetMeter {
  readonly #total: number;
  readonly #now: () => number;
  readonly #startedAt: number;
  /** Requests in each of the last seconds, by the number of the second. */
  readonly #sent: Map<number, number> = new Map();
  #done = 0;
  readonly #running: Set<string> = new Set();

  /** @param now milliseconds of any clock that never goes back */
  constructor(total: number, now: () => number) {
    this.#total = total;
    this.#now = now;
    this.#startedAt = now();
  }

  report({ type, account }: FleetEvent): void {
    if (type === "begun") this.#running.add(account);
    else this.#running.delete(account);
    if (type === "done") this.#done += 1;
  }

  request(): void {
    const second = this.#second();
    this.#sent.set(second, (this.#sent.get(second) ?? 0) + 1);
    for (const earlier of this.#sent.keys()) if (earlier <= second - RATED_SECONDS) this.#sent.delete(earlier);
  }

  #second(): number {
    return Math.floor((this.#now() - this.#startedAt) / 1000);
  }

  /** For example `12 of 60 accounts done, 4 running, 44 waiting, 8.3 requests/s, 2 min left`. */
  text(): string {
    const elapsed = this.#now() - this.#startedAt;
    const running = this.#running.size;
    const waiting = this.#total - this.#done - running;
    const counts = `${this.#done} of ${this.#total} accounts done, ${running} running, ${waiting} waiting`;
    if (elapsed < MIN_RATED_MILLISECONDS) return counts;
    const parts = [counts];
    const rate = this.#rate(elapsed / 1000);
    if (rate > 0) parts.push(`${rate.toFixed(1)} requests/s`);
    const left = this.#total - this.#done;
    if (this.#done > 0 && left > 0) parts.push(`${roughTime(((elapsed / this.#done) * left) / 1000)} left`);
    return parts.join(", ");
  }

  /** Requests a second, of the last ones. */
  #rate(elapsedSeconds: number): number {
    const first = this.#second() - RATED_SECONDS;
    const sent = [...this.#sent].reduce((sum, [second, count]) => (second > first ? sum + count : sum), 0);
    return sent / Math.min(elapsedSeconds, RATED_SECONDS);
  }
}
