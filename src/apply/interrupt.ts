/** Turns two outside signals and one time limit into two abort signals: start nothing new, and end requests in flight at once. */

import { setMaxListeners } from "node:events";
import type { Clock } from "../model/clock.ts";
import type { StopReason } from "./events.ts";

/** How long requests in flight may take after the first signal: CI runners kill ten seconds after theirs. */
const DRAIN_LIMIT_SECONDS = 7;

export class Stop {
  readonly #stopping: AbortController = new AbortController();
  readonly #aborting: AbortController = new AbortController();
  /** Aborted when the run is over, which ends the time limit of the drain. */
  readonly #over: AbortController = new AbortController();
  readonly #clock: Clock;
  readonly #onStop: (reason: StopReason) => void;
  #isInterrupted = false;

  /** @param onStop called once per reason that has an effect, synchronously */
  constructor(clock: Clock, onStop: (reason: StopReason) => void) {
    this.#clock = clock;
    this.#onStop = onStop;
    // Every request in flight listens; as many as the concurrency allows is no leak.
    setMaxListeners(0, this.stopping, this.aborting);
  }

  /** Aborted when nothing new may start. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Aborted when requests that are under way must end. */
  get aborting(): AbortSignal {
    return this.#aborting.signal;
  }

  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** @returns what to call when the run is over */
  watch(first: AbortSignal | undefined, second: AbortSignal | undefined): () => void {
    const interrupt = (): void => this.#interrupt();
    const abort = (): void => this.#abort("aborted");
    first?.addEventListener("abort", interrupt);
    second?.addEventListener("abort", abort);
    if (first?.aborted === true) interrupt();
    if (second?.aborted === true) abort();
    return () => {
      first?.removeEventListener("abort", interrupt);
      second?.removeEventListener("abort", abort);
      this.#over.abort();
    };
  }

  /** The run itself found that nothing more can be done; what is in flight may take its time. */
  halt(reason: "unauthorised" | "journal" | "internal-error"): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    this.#onStop(reason);
  }

  #interrupt(): void {
    if (this.#isInterrupted) return;
    this.#isInterrupted = true;
    this.#stopping.abort();
    this.#onStop("interrupted");
    void this.#limitDrain();
  }

  #abort(reason: "aborted" | "drain-limit"): void {
    if (this.#aborting.signal.aborted) return;
    this.#isInterrupted = true;
    this.#stopping.abort();
    this.#aborting.abort();
    this.#onStop(reason);
  }

  async #limitDrain(): Promise<void> {
    if (await pause(this.#clock, DRAIN_LIMIT_SECONDS, this.#over.signal)) this.#abort("drain-limit");
  }
}

// Waiting by the clock that was handed in.

/** Sleeps; false if the signal cut it short. */
export async function pause(clock: Clock, seconds: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  try {
    await clock.sleep(seconds * 1000, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}

/** ISO 8601 in UTC, to the millisecond. */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
