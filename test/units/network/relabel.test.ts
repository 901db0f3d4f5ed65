/** Which renames must step aside so that labels can be handed round. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { type Relabel, temporaryLabel, throughTemporary } from "../../../src/units/network/steps.ts";

function aside(...pairs: string[]): string[] {
  return [...throughTemporary(pairs.map((pair) => ({ key: pair, from: pair[0] as string, to: pair[1] as string })))];
}

test("a chain needs none, a swap one, a ring one, two rings two", () => {
  expect(aside()).toEqual([]);
  expect(aside("ab", "bc", "cd")).toEqual([]);
  expect(aside("cd", "bc", "ab")).toEqual([]);
  expect(aside("ab", "ba")).toHaveLength(1);
  expect(aside("ab", "bc", "ca")).toHaveLength(1);
  expect(aside("ab", "ba", "cd", "dc", "ef")).toHaveLength(2);
});

/** A permutation of some labels onto some labels: each is left once and taken once. */
const relabels = fc
  .integer({ min: 0, max: 8 })
  .chain((count) =>
    fc.tuple(
      fc.shuffledSubarray([..."abcdefghij"], { minLength: count, maxLength: count }),
      fc.shuffledSubarray([..."abcdefghij"], { minLength: count, maxLength: count }),
    ),
  )
  .map(([from, to]) =>
    from
      .map((label, index): Relabel => ({ key: `${index}`, from: label, to: to[index] as string }))
      .filter(({ from: a, to: b }) => a !== b),
  );

test("with those aside every label is free when it is taken, and without any one of them not", () => {
  fc.assert(
    fc.property(relabels, (moves) => {
      const away = throughTemporary(moves);
      expect(canBeDone(moves, away)).toBe(true);
      for (const key of away) expect(canBeDone(moves, new Set([...away].filter((other) => other !== key)))).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

/** Moves whatever can move until nothing can; labels of what stepped aside are free from the start. */
function canBeDone(moves: readonly Relabel[], away: ReadonlySet<string>): boolean {
  const held = new Set(moves.filter((move) => !away.has(move.key)).map((move) => move.from));
  let left = [...moves];
  for (;;) {
    const next = left.find((move) => !held.has(move.to));
    if (next === undefined) return left.length === 0;
    left = left.filter((move) => move !== next);
    if (!away.has(next.key)) held.delete(next.from);
    held.add(next.to);
  }
}

test("a chain of 20,000 renames is worked out without a deep stack", () => {
  const chain = Array.from({ length: 20_000 }, (_, index) => ({
    key: `${index}`,
    from: `l${index}`,
    to: `l${index + 1}`,
  }));
  expect(throughTemporary(chain).size).toBe(0);
  const ring = [...chain, { key: "last", from: "l20000", to: "l0" }];
  expect(throughTemporary(ring).size).toBe(1);
});

test("a temporary label is one that the service takes, and says whose it was", () => {
  expect(temporaryLabel(123)).toBe("tenon-tmp-123");
  expect(temporaryLabel(Number.MAX_SAFE_INTEGER)).toMatch(/^[A-Za-z0-9-]{1,64}$/);
});
