import fc from "fast-check";
import { expect, test } from "vitest";
import { ReadyQueue } from "../../src/apply/ready-queue.ts";

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
