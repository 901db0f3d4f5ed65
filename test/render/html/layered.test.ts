/** The geometry of boxes in columns: properties that hold for any boxes and arrows. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { type LayeredInput, layOut, type Rectangle } from "../../../src/render/html/layered.ts";
import { growth } from "../../support/operations.ts";

/** Any boxes in any columns, none of which is empty, and arrows between any two boxes. */
const inputs = fc
  .tuple(
    fc.array(fc.array(fc.integer({ min: 10, max: 200 }), { minLength: 1, maxLength: 8 }), {
      minLength: 1,
      maxLength: 7,
    }),
    fc.array(fc.tuple(fc.nat(1_000), fc.nat(1_000)), { maxLength: 60 }),
    fc.boolean(),
  )
  .map(([heights, ends, hasPorts]): LayeredInput => {
    const boxes = heights.flat().map((height) => ({ width: 100, height }));
    let next = 0;
    const columns = heights.map((column) => column.map(() => next++));
    const arrows = ends.map(([from, to]) => ({ from: from % boxes.length, to: to % boxes.length }));
    return { boxes, columns, arrows, ports: hasPorts ? { first: boxes.map(() => 5), distance: 15 } : null };
  });

function overlap(a: Rectangle, b: Rectangle): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

test("no two boxes overlap, and all of them are within the picture", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const { boxes, width, height } = layOut(input);
      for (const [index, box] of boxes.entries()) {
        expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height).toBe(true);
        for (const other of boxes.slice(index + 1)) expect(overlap(box, other)).toBe(false);
      }
    }),
  );
});

/** The places on a path: its first and last, and where it is between curves. */
function placesOf(path: string): [number, number][] {
  const places: [number, number][] = [];
  for (const [, command = "", numbers = ""] of path.matchAll(/([MCH])([-\d. ]+)/g)) {
    const values = numbers.trim().split(" ").map(Number);
    const [x = 0, y = 0] = command === "H" ? [values[0], places.at(-1)?.[1]] : values.slice(-2);
    places.push([x, y]);
  }
  return places;
}

test("an arrow begins at the right of its box, ends at the left of the other, and passes no box between", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const { boxes, arrows } = layOut(input);
      const columnOf = new Map(input.columns.flatMap((column, index) => column.map((box) => [box, index] as const)));
      for (const [index, { from, to }] of input.arrows.entries()) {
        const [source, target] = [boxes[from] as Rectangle, boxes[to] as Rectangle];
        const places = placesOf(arrows[index]?.path ?? "");
        expect(places[0]?.[0]).toBe(source.x + source.width);
        expect(places.at(-1)?.[0]).toBe(target.x);
        expect(places.at(-1)?.[1]).toBeCloseTo(target.y + target.height / 2, 0);
        if ((columnOf.get(from) ?? 0) >= (columnOf.get(to) ?? 0)) continue;
        for (let at = 1; at < places.length; at += 1)
          expect(places[at]?.[0]).toBeGreaterThanOrEqual(places[at - 1]?.[0] ?? 0);
        for (const [x, y] of places.slice(1, -1)) {
          const hit = boxes.some((box) => x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height);
          expect(hit).toBe(false);
        }
      }
    }),
  );
});

test("arrows that leave a box at labels leave it one below the other, in the order of what they lead to", () => {
  const boxes = Array.from({ length: 4 }, () => ({ width: 100, height: 80 }));
  const arrows = [3, 1, 2].map((to) => ({ from: 0, to }));
  const { arrows: drawn, boxes: placed } = layOut({
    ...{ boxes, arrows, columns: [[0], [1, 2, 3]] },
    ports: { first: boxes.map(() => 20), distance: 15 },
  });
  const byPort = drawn.map(({ port }, index) => ({ port, y: placed[arrows[index]?.to ?? 0]?.y ?? 0 }));
  expect(byPort.map(({ port }) => port).sort((a, b) => a - b)).toEqual([20, 35, 50]);
  const sorted = byPort.sort((a, b) => a.port - b.port).map(({ y }) => y);
  expect(sorted).toEqual([...sorted].sort((a, b) => a - b));
});

test("boxes of a column change places where arrows would cross", () => {
  const boxes = Array.from({ length: 6 }, (_, index) => ({ width: 100, height: 40 + index }));
  const arrows = [0, 1, 2].map((from) => ({ from, to: from + 3 }));
  const { boxes: placed } = layOut({
    boxes,
    arrows,
    columns: [
      [0, 1, 2],
      [5, 4, 3],
    ],
    ports: null,
  });
  const tops = (numbers: readonly number[]) => numbers.map((number) => placed[number]?.y ?? 0);
  expect(tops([3, 4, 5])).toEqual([...tops([3, 4, 5])].sort((a, b) => a - b));
});

test("the same input gives the same geometry, and nothing is an empty picture", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      expect(layOut(input)).toEqual(layOut(input));
    }),
  );
  expect(layOut({ boxes: [], columns: [], arrows: [], ports: null })).toMatchObject({ boxes: [], arrows: [] });
});

test("the work grows as the boxes and arrows do", async () => {
  const chains = (count: number): LayeredInput => ({
    boxes: Array.from({ length: count * 4 }, () => ({ width: 100, height: 40 })),
    columns: [0, 1, 2, 3].map((column) => Array.from({ length: count }, (_, index) => column * count + index)),
    arrows: Array.from({ length: count * 3 }, (_, index) => ({ from: index, to: index + count })),
    ports: null,
  });
  expect(await growth(100, 4, (count) => layOut(chains(count)))).toBeLessThan(6);
});
