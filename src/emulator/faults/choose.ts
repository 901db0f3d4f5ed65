/** Which request meets which fault. Pure: the same faults, seed and requests give the same decisions. */

import type { Fault, FaultEffect, FaultRequest } from "./fault.ts";

/** Odd and without a pattern in its bits (2^32 divided by the golden ratio): seeds of neighbours are far apart. */
const SEED_STEP = 0x9e3779b9;

/**
 * @param seed a whole number of 32 bits
 * @returns to be asked once for each request, in order. The first fault that hits wins; all of those that match count
 * the request, and draw their chance for it whether or not another one wins.
 */
export function chooseFaults(faults: readonly Fault[], seed: number): (request: FaultRequest) => FaultEffect | null {
  const watched = faults.map((fault, index) => watch(fault, streamSeed(seed, index)));
  return (request) => {
    let chosen: Watched | null = null;
    for (const one of watched) {
      const hit = one.hits(request);
      if (hit && chosen === null) chosen = one;
    }
    return chosen === null ? null : chosen.use();
  };
}

interface Watched {
  /** Counts the request if it matches. */
  hits(request: FaultRequest): boolean;
  use(): FaultEffect;
}

function watch(fault: Fault, seed: number): Watched {
  const random = mulberry32(seed);
  const nth = fault.nth === undefined ? null : new Set(fault.nth);
  let seen = 0;
  let used = 0;
  return {
    hits: ({ method, path }) => {
      if (fault.method !== undefined && fault.method !== method) return false;
      if (fault.path !== undefined && !matchesGlob(fault.path, path)) return false;
      seen += 1;
      // Always drawn: chance must not depend on what else the fault asks for.
      const drawn = random();
      return (
        (nth === null || nth.has(seen)) &&
        (fault.every === undefined || seen % fault.every === 0) &&
        (fault.rate === undefined || drawn < fault.rate) &&
        (fault.times === undefined || used < fault.times)
      );
    },
    use: () => {
      used += 1;
      return fault.effect;
    },
  };
}

/** Each fault draws from numbers of its own, so that one more at the end changes nothing for the others. */
function streamSeed(seed: number, index: number): number {
  return (seed + Math.imul(index, SEED_STEP)) | 0;
}

/** Mulberry32 (Tommy Ettinger, public domain): 32 bits of state, numbers in [0, 1). Not for secrets. */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Each piece is looked for once, leftmost: no pattern takes long. */
function matchesGlob(glob: string, text: string): boolean {
  const [first = "", ...rest] = glob.split("*");
  const last = rest.pop();
  if (last === undefined) return glob === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
