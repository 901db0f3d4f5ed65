/** Strongly connected components: right, stable, linear, and without recursion. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { components } from "../../src/plan/order.ts";

const graphs = fc.integer({ min: 1, max: 9 }).chain((count) =>
  fc.array(fc.uniqueArray(fc.integer({ min: 0, max: count - 1 }), { maxLength: 4 }), {
    minLength: count,
    maxLength: count,
  }),
);

/** Which nodes can be reached by at least one dependency. */
function reachable(dependencies: readonly (readonly number[])[], from: number): Set<number> {
  const found = new Set<number>();
  const queue = [...(dependencies[from] ?? [])];
  for (const node of queue) {
    if (found.has(node)) continue;
    found.add(node);
    queue.push(...(dependencies[node] ?? []));
  }
  return found;
}

test("nodes share a component exactly if each reaches the other, and components follow what they depend on", () => {
  fc.assert(
    fc.property(graphs, (dependencies) => {
      const found = components(dependencies);
      expect(found.flat().sort((a, b) => a - b)).toEqual(dependencies.map((_, node) => node));
      const place = new Map(found.flatMap((component, index) => component.map((node) => [node, index])));
      for (const [node] of dependencies.entries()) {
        const reached = reachable(dependencies, node);
        for (const other of dependencies.keys()) {
          const together = node === other || (reached.has(other) && reachable(dependencies, other).has(node));
          expect(place.get(node) === place.get(other)).toBe(together);
          if (reached.has(other)) expect(place.get(other)).toBeLessThanOrEqual(place.get(node) as number);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("without cycles a node comes as early as its index and what it depends on allow, as a plain recursion would say", () => {
  fc.assert(
    fc.property(graphs, fc.integer(), (any, turn) => {
      // Only edges to one side of a rotation: no cycles, but dependencies in both directions of the indices.
      const rank = (node: number) => (((node + turn) % any.length) + any.length) % any.length;
      const dependencies = any.map((list, node) => list.filter((first) => rank(first) < rank(node)));
      const order: number[] = [];
      const visit = (node: number): void => {
        if (order.includes(node)) return;
        for (const first of dependencies[node] ?? []) visit(first);
        order.push(node);
      };
      for (const node of dependencies.keys()) visit(node);
      expect(components(dependencies)).toEqual(order.map((node) => [node]));
    }),
    { numRuns: 500 },
  );
});

test("nodes without dependencies keep their order", () => {
  expect(components([[], [], [], []])).toEqual([[0], [1], [2], [3]]);
});

test("a node that depends on itself is one component of one node", () => {
  expect(components([[0], [0]])).toEqual([[0], [1]]);
});

test("a chain of 50,000 nodes needs no deep stack, whichever way it hangs", () => {
  const count = 50_000;
  const down = Array.from({ length: count }, (_, node) => (node + 1 < count ? [node + 1] : []));
  expect(components(down).flat()).toEqual(Array.from({ length: count }, (_, node) => count - 1 - node));
  const up = Array.from({ length: count }, (_, node) => (node > 0 ? [node - 1] : []));
  expect(components(up).flat()).toEqual(Array.from({ length: count }, (_, node) => node));
});

test("a ring of 50,000 nodes is found as one component", () => {
  const count = 50_000;
  const ring = Array.from({ length: count }, (_, node) => [(node + 1) % count]);
  expect(components(ring).map((component) => component.length)).toEqual([count]);
});

test("each dependency is looked at once", () => {
  let looks = 0;
  const count = 300;
  const dependencies = Array.from({ length: count }, (_, node) => {
    const all = Array.from({ length: count }, (_, other) => other).filter((other) => other !== node);
    return new Proxy(all, {
      get(target, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) looks += 1;
        return Reflect.get(target, key);
      },
    });
  });
  expect(components(dependencies)).toHaveLength(1);
  expect(looks).toBeLessThanOrEqual(count * (count - 1) + count);
});
