/** The emulator's clock: real time plus what it was advanced by, kept with the account. */

import type { Store } from "./store.ts";

const ADVANCE_SETTING = "clock_advance_seconds";
const MILLISECONDS_PER_SECOND = 1000;

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Now, as the service writes a date-time: UTC, to the second, without a zone. */
  timestamp(): string;
  advance(seconds: number): void;
}

export function createClock(store: Store, realNow: () => number): Clock {
  const advanced = (): number => store.tables.settings.get(ADVANCE_SETTING)?.value ?? 0;
  const now = (): number => realNow() + advanced() * MILLISECONDS_PER_SECOND;
  return {
    now,
    timestamp: () => new Date(now()).toISOString().slice(0, "YYYY-MM-DDTHH:MM:SS".length),
    advance: (seconds) => store.tables.settings.put({ id: ADVANCE_SETTING, value: advanced() + seconds }),
  };
}

/** Milliseconds since the epoch of a `timestamp()`. */
export function parseTimestamp(timestamp: string): number {
  return Date.parse(`${timestamp}Z`);
}
