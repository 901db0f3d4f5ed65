/** Many lists read at once, as one reading: the first that fails ends all others, sent or not. */

import type { ReadResult } from "../model/unit.ts";

type Failed = Extract<ReadResult<never>, { ok: false }>;

/**
 * Parts in the order of the items, or the failure that came first. What it cut short fails in its turn, and is not told.
 * @param read gets the signal that ends it, and must not throw
 */
export async function readEach<Item, Part extends object>(
  items: readonly Item[],
  outer: AbortSignal | undefined,
  read: (item: Item, signal: AbortSignal) => Promise<Part | Failed>,
): Promise<{ readonly ok: true; readonly parts: readonly Part[] } | Failed> {
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  let failed: Failed | null = null;
  const parts = await Promise.all(
    items.map(async (item): Promise<Part | null> => {
      const result = await read(item, signal);
      if (!isFailed(result)) return result;
      failed ??= result;
      stop.abort();
      return null;
    }),
  );
  return failed ?? { ok: true, parts: parts.filter((part) => part !== null) };
}

function isFailed(result: object): result is Failed {
  return "failure" in result;
}
