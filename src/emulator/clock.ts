/** The emulator's clock: real time plus what it was advanced by, kept with the account. */

import type { Store } from "./store.ts";

const ADVANCE_SETTING = "clock_advance_seconds";
const MILLISECONDS_PER_SECOND = 1000;

/** In all. 100 years: beyond that, times would no longer be written in four digits some day. */
export const MAX_ADVANCE_SECONDS = 3_155_760_000;

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Now, as the service writes a date-time: UTC, to the second, without a zone. */
  timestamp(): string;
  /** Time only goes forward. @returns what is wrong with it, or null */
  advance(seconds: number): string | null;
}

export function createClock(store: Store, realNow: () => number): Clock {
  const advanced = (): number => store.tables.settings.get(ADVANCE_SETTING)?.value ?? 0;
  const now = (): number => realNow() + advanced() * MILLISECONDS_PER_SECOND;
  return {
    now,
    timestamp: () => new Date(now()).toISOString().slice(0, "YYYY-MM-DDTHH:MM:SS".length),
    advance: (seconds) => {
      const value = advanced() + seconds;
      if (!(seconds >= 0 && value <= MAX_ADVANCE_SECONDS)) return `Must be at most ${MAX_ADVANCE_SECONDS} in all`;
      store.tables.settings.put({ id: ADVANCE_SETTING, value });
      return null;
    },
  };
}

/** Milliseconds since the epoch of a `timestamp()`. */
export function parseTimestamp(timestamp: string): number {
  return Date.parse(`${timestamp}Z`);
}
