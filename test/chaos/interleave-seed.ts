/** From a seed to what it decides: who goes next, how much at once, how far clocks jump, which answer is lost. */

/** Uniform in [0, 1), the same for the same seed (mulberry32). */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = (seed + 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function oneOf<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

export interface Temper {
  /** How many steps each of the two runs takes at once. */
  readonly concurrency: readonly [number, number];
  /** How likely it is that the first run is the one to go on. */
  readonly share: number;
  /** How likely it is that the run that went last goes on, whatever the share. */
  readonly stickiness: number;
  /** How likely it is that a write of one run is followed by one of the other, once both have got that far; null: share and stickiness decide. */
  readonly rivalry: number | null;
  /** Which POST of which run goes unanswered, though it is carried out; null: none. */
  readonly lost: { readonly run: number; readonly post: number } | null;
  /** How far the clock of the world jumps before a request, in milliseconds. */
  readonly jumps: readonly number[];
}

const CONCURRENCIES = [1, 1, 2, 4, 8] as const;

export function temperOf(random: Random): Temper {
  return {
    concurrency: [oneOf(random, CONCURRENCIES), oneOf(random, CONCURRENCIES)],
    share: oneOf(random, [0.15, 0.3, 0.5, 0.5, 0.7, 0.85]),
    stickiness: oneOf(random, [0, 0, 0.5, 0.9]),
    lost: random() < 0.25 ? { run: oneOf(random, [0, 1]), post: 1 + Math.floor(random() * 4) } : null,
    jumps: oneOf(random, [[20], [20, 1_000, 5_000], [1_000, 1_000, 1_000, 65_000]]),
    rivalry: oneOf(random, [null, 0.7]),
  };
}
