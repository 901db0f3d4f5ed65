/** Clock: time as apply sees it, handed in so that waiting can be tested. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Ends early, by resolving or rejecting, when the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

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
