/** Ready queue: the ranks of steps that may run, smallest first, so that the order of a run is the plan's. */

/** A binary heap: thousands of steps become ready at once, and scanning for the first each time would be quadratic. */
export class ReadyQueue {
  readonly #heap: number[] = [];

  push(rank: number): void {
    const heap = this.#heap;
    let index = heap.push(rank) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as number;
      if (above <= rank) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = rank;
  }

  /** Takes the smallest rank out; null if there is none. */
  pop(): number | null {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return null;
    if (heap.length > 0) this.#sink(last);
    return first;
  }

  /** Puts `rank` in the root's place and lets it sink to where it belongs. */
  #sink(rank: number): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child += 1;
      const below = heap[child] as number;
      if (below >= rank) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = rank;
  }
}
