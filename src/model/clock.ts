/** Time, handed in so that tests need not wait. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `milliseconds`, or as soon as `signal` is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}
