import fc from "fast-check";
import { expect, test } from "vitest";
import { ReadyQueue } from "../../src/apply/schedule.ts";

test("the smallest rank comes out first, however ranks come in and go out", () => {
  // null takes one out.
  const actions = fc.array(fc.option(fc.nat({ max: 1_000 }), { freq: 3, nil: null }), { maxLength: 200 });
  fc.assert(
    fc.property(actions, (steps) => {
      const queue = new ReadyQueue();
      const model: number[] = [];
      for (const step of steps) {
        if (step === null) expect(queue.pop()).toBe(model.shift() ?? null);
        else {
          queue.push(step);
          model.push(step);
          model.sort((a, b) => a - b);
        }
      }
      for (const rank of model) expect(queue.pop()).toBe(rank);
      expect(queue.pop()).toBeNull();
    }),
  );
});

test("a rank is compared with those on its way through the heap, not with all that wait", () => {
  let comparisons = 0;
  /** Counts itself whenever it is compared, by whatever compares it. */
  const counted = (rank: number): number =>
    ({
      valueOf: () => {
        comparisons += 1;
        return rank;
      },
    }) as unknown as number;
  const count = 4_096;
  const queue = new ReadyQueue();
  for (let index = 0; index < count; index += 1) queue.push(counted((index * 2_741) % count));
  for (let rank = 0; rank < count; rank += 1) expect(Number(queue.pop())).toBe(rank);
  // Both sides of a comparison count: one a level on the way up, two on the way down.
  expect(comparisons).toBeLessThan(count * Math.log2(count) * 2 * 3);
});
