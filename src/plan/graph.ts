/** A graph of steps and milestones, and its cycles: plain indices, no knowledge of what they stand for. */

/**
 * Strongly connected components, each node after everything it depends on, and otherwise in the order of their indices.
 * Without cycles every component is one node, and the list is a stable topological order. Linear; no recursion.
 * @param dependencies for each node, what must come before it
 */
export function components(dependencies: readonly (readonly number[])[]): number[][] {
  const count = dependencies.length;
  const order = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const next = new Int32Array(count);
  const onStack = new Uint8Array(count);
  const stack: number[] = [];
  const path: number[] = [];
  const found: number[][] = [];
  let visited = 0;
  const enter = (node: number) => {
    order[node] = visited;
    low[node] = visited;
    visited += 1;
    stack.push(node);
    onStack[node] = 1;
    path.push(node);
  };
  const lower = (node: number, value: number) => {
    if (value < (low[node] as number)) low[node] = value;
  };
  for (let root = 0; root < count; root += 1) {
    if (order[root] !== -1) continue;
    enter(root);
    while (path.length > 0) {
      const node = path.at(-1) as number;
      const dependency = dependencies[node]?.[next[node] as number];
      if (dependency !== undefined) {
        next[node] = (next[node] as number) + 1;
        if (order[dependency] === -1) enter(dependency);
        else if (onStack[dependency] === 1) lower(node, order[dependency] as number);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) lower(parent, low[node] as number);
      if (low[node] === order[node]) found.push(popComponent(stack, onStack, node));
    }
  }
  return found;
}

function popComponent(stack: number[], onStack: Uint8Array, first: number): number[] {
  const component: number[] = [];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    onStack[node] = 0;
    component.push(node);
    if (node === first) break;
  }
  return component.reverse();
}
