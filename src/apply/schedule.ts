/** Schedule: which step may run next and what a failure takes with it, as a state machine without clock or I/O. */

import type { Method } from "../model/api.ts";
import type { Barrier, Gap, Step } from "../model/plan.ts";
import type { StepOutcome } from "../model/report.ts";

type StepState = "waiting" | "ready" | "running" | StepOutcome;

/** How a step that ran can end. */
export type EndedOutcome = Exclude<StepOutcome, "skipped">;

/** A step that will not run. */
export interface Skip {
  readonly id: string;
  /** The steps whose failure is the reason; empty if the run was interrupted. */
  readonly because: readonly string[];
}

/** What the schedule needs to know of a step. */
export interface Scheduled {
  readonly id: string;
  readonly after: readonly string[];
  /** What must have ended, however it ended. */
  readonly afterEnd?: readonly string[];
  readonly type?: Step["type"];
  /** Of a request; absent: it is none. */
  readonly method?: Method;
}

/**
 * How many failures are named as the reason of one skipped step, the first in plan order.
 * A thousand failed records before a barrier would otherwise be listed again by every step behind it.
 */
export const MAX_CAUSES_PER_SKIP = 10;

interface Node {
  readonly id: string;
  /** Position in the plan; barriers have none. */
  readonly rank: number | null;
  /** What it waits for. */
  readonly sources: Node[];
  readonly dependents: Node[];
  /** Those that wait until it has ended, however it ended. */
  readonly followers: Node[];
  /**
   * Whether what waits for it is to come soon: it looks at what is deleted then, or it deletes or changes what the next step replaces, so that a name
   * has no answer meanwhile. A step that was urgent itself hastens what waits for it, too.
   */
  readonly hastens: boolean;
  /** An upload, whose address the service gives for a while; and what a step before it hastens. */
  isUrgent: boolean;
  /** The steps that close the gaps which it opens. */
  readonly closers: Node[];
  /** It closes a gap that is open, or such a step waits for it. */
  isClosing: boolean;
  /** Edges whose source has not ended yet. */
  pending: number;
  state: StepState;
  /** It is not done, or something before it is not. */
  spoiled: boolean;
  /** Ranks of the failures that explain this, its own included, ascending. */
  causes: readonly number[];
}

/**
 * Steps go waiting → ready → running → done | failed | unknown. A step is skipped when the last step before it has ended and not all of
 * them are done, rather than at the first failure: so the reasons do not depend on timing. All operations together take time linear in
 * steps and edges (times log of steps for the plan order).
 *
 * Of what is ready the first in plan order starts, but what is urgent before all others. A look may start early, while nothing else is ready.
 * Without this rule the thousands of steps that become ready meanwhile would come before its delete. What closes a gap is urgent from the end of the
 * step that opens it, wherever it stands in the plan. Of what is urgent the smallest batch goes first: a name gets its answer back before a whole
 * zone is filled.
 */
export class Schedule {
  readonly #steps: readonly Node[];
  readonly #byId: ReadonlyMap<string, Node>;
  /** May hold steps that were started from `#urgent`. */
  readonly #ready: ReadyQueue = new ReadyQueue();
  readonly #urgent: UrgentBatches = new UrgentBatches();
  #running = 0;
  #unended: number;
  #stoppedBy: readonly number[] | null = null;

  /** @throws Error if an id is used twice, an edge leads nowhere or edges form a cycle: such a plan is a bug */
  constructor(
    steps: readonly Scheduled[],
    barriers: readonly Barrier[],
    gaps: readonly Pick<Gap, "before" | "wanted">[] = [],
  ) {
    this.#byId = connect(steps, barriers);
    // A plan of which only a part is carried out may name others.
    for (const { before, wanted } of gaps) {
      const closer = this.#byId.get(wanted);
      if (closer !== undefined) this.#byId.get(before)?.closers.push(closer);
    }
    this.#steps = steps.map((step) => this.#byId.get(step.id) as Node);
    this.#unended = steps.length;
    refuseCycles(this.#byId);
    const roots = [...this.#byId.values()].filter((node) => node.pending === 0);
    for (const node of roots) this.#arrive(node, []);
    this.#flush();
  }

  get running(): number {
    return this.#running;
  }

  /** Whether every step has ended. */
  get finished(): boolean {
    return this.#unended === 0;
  }

  state(id: string): StepState {
    return this.#node(id).state;
  }

  /** Marks a ready step as running; null if none is ready. */
  start(): string | null {
    const node = this.#nextReady();
    if (node === null) return null;
    node.state = "running";
    this.#running += 1;
    return node.id;
  }

  /**
   * A running step has ended. Returns what is skipped because of it.
   * @param isAborted because of the stop: what waits for it is skipped because of the step that has stopped the run, if one has
   */
  end(id: string, outcome: EndedOutcome, isAborted = false): readonly Skip[] {
    const node = this.#node(id);
    if (node.state !== "running" || node.rank === null) throw new Error(`Step ${id} is ${node.state}, not running.`);
    this.#running -= 1;
    this.#unended -= 1;
    node.state = outcome;
    node.spoiled = outcome !== "done";
    const stoppedBy = isAborted ? (this.#stoppedBy ?? []) : [];
    if (node.spoiled) node.causes = stoppedBy.length > 0 ? stoppedBy : [node.rank];
    const skips: Skip[] = [];
    this.#leave(node, skips);
    return skips;
  }

  /**
   * Skips a step that `start` returned but that was not carried out because of the stop. Returns this skip and those that follow from it.
   */
  skipStarted(id: string): readonly Skip[] {
    const node = this.#node(id);
    if (node.state !== "running" || this.#stoppedBy === null)
      throw new Error(`Step ${id} cannot be skipped: it is not running, or nothing was stopped.`);
    this.#running -= 1;
    const skips: Skip[] = [];
    this.#skip(node, this.#stoppedBy, skips);
    return skips;
  }

  /** Starts nothing any more: ready steps are skipped now, the others as soon as the running steps before them end. */
  stop(because: readonly string[]): readonly Skip[] {
    this.#stoppedBy ??= because.map((id) => this.#node(id).rank ?? 0).sort((a, b) => a - b);
    const skips: Skip[] = [];
    for (let node = this.#nextReady(); node !== null; node = this.#nextReady()) {
      this.#skip(node, this.#stoppedBy, skips);
    }
    return skips;
  }

  #nextReady(): Node | null {
    for (;;) {
      const rank = this.#urgent.pop() ?? this.#ready.pop();
      const node = rank === null ? null : (this.#steps[rank] as Node);
      if (node === null || node.state === "ready") return node;
    }
  }

  #node(id: string): Node {
    const node = this.#byId.get(id);
    if (node === undefined) throw new Error(`There is no step ${id}.`);
    return node;
  }

  /** Called once everything before `node` has ended: makes it ready, or skips it; a barrier is passed. */
  #arrive(node: Node, skips: Skip[]): void {
    if (node.rank === null) {
      node.state = node.spoiled ? "skipped" : "done";
      this.#leave(node, skips);
    } else if (node.spoiled || this.#stoppedBy !== null) {
      this.#skip(node, node.spoiled ? node.causes : (this.#stoppedBy ?? []), skips);
    } else {
      node.state = "ready";
      if (node.isClosing) this.#closing.push(node.rank);
      else if (node.isUrgent) this.#arriving.push(node.rank);
      else this.#ready.push(node.rank);
    }
  }

  #skip(node: Node, causes: readonly number[], skips: Skip[]): void {
    node.state = "skipped";
    node.spoiled = true;
    node.causes = causes;
    this.#unended -= 1;
    skips.push({ id: node.id, because: causes.map((rank) => (this.#steps[rank] as Node).id) });
    this.#leave(node, skips);
  }

  /**
   * `node` has ended: informs its dependents. A call from within the loop only appends to the work list: recursion would overflow the stack
   * on chains of thousands of steps.
   */
  #leave(node: Node, skips: Skip[]): void {
    this.#leaving.push(node);
    if (this.#leaving.length > 1) return;
    for (let index = 0; index < this.#leaving.length; index += 1) {
      const ended = this.#leaving[index] as Node;
      this.#raise(ended.closers);
      for (const dependent of ended.dependents) {
        if (ended.hastens || ended.isUrgent) dependent.isUrgent = true;
        if (ended.spoiled) {
          dependent.spoiled = true;
          dependent.causes = mergeCauses(dependent.causes, ended.causes);
        }
        this.#countDown(dependent, skips);
      }
      for (const follower of ended.followers) this.#countDown(follower, skips);
    }
    this.#leaving = [];
    this.#flush();
  }

  /** Makes the steps urgent, and all that they still wait for. Linear: each step is raised once. */
  #raise(closers: readonly Node[]): void {
    const waiting = [...closers];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (node.isClosing) continue;
      node.isClosing = true;
      if (node.state === "ready" && node.rank !== null) this.#closing.push(node.rank);
      if (node.state === "waiting") for (const source of node.sources) waiting.push(source);
    }
  }

  #flush(): void {
    this.#urgent.push(this.#arriving, false);
    this.#urgent.push(this.#closing, true);
    this.#arriving = [];
    this.#closing = [];
  }

  #countDown(node: Node, skips: Skip[]): void {
    node.pending -= 1;
    if (node.pending === 0) this.#arrive(node, skips);
  }

  /** Nodes that have ended and whose dependents are being informed. */
  #leaving: Node[] = [];
  /** The ranks of urgent steps that become ready together. */
  #arriving: number[] = [];
  /** Those of them that close a gap. */
  #closing: number[] = [];
}

function connect(steps: readonly Scheduled[], barriers: readonly Barrier[]): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>();
  const add = (step: Scheduled, rank: number | null): void => {
    if (nodes.has(step.id)) throw new Error(`The id ${step.id} is used twice in the plan.`);
    const pending = step.after.length + afterEndOf(step).length;
    nodes.set(step.id, {
      id: step.id,
      rank,
      sources: [],
      dependents: [],
      followers: [],
      hastens: "method" in step && step.method !== "POST",
      isUrgent: "type" in step && step.type === "upload",
      closers: [],
      isClosing: false,
      pending,
      state: "waiting",
      spoiled: false,
      causes: [],
    });
  };
  for (const [rank, step] of steps.entries()) add(step, rank);
  for (const barrier of barriers) add(barrier, null);
  for (const step of [...steps, ...barriers]) {
    const node = nodes.get(step.id) as Node;
    const source = (before: string): Node => {
      const found = nodes.get(before);
      if (found === undefined) throw new Error(`${step.id} comes after ${before}, which is not in the plan.`);
      node.sources.push(found);
      return found;
    };
    for (const before of step.after) source(before).dependents.push(node);
    for (const before of afterEndOf(step)) source(before).followers.push(node);
  }
  return nodes;
}

function afterEndOf(step: Scheduled): readonly string[] {
  return step.afterEnd ?? [];
}

function refuseCycles(nodes: ReadonlyMap<string, Node>): void {
  const pending = new Map<Node, number>();
  const free: Node[] = [];
  for (const node of nodes.values()) {
    pending.set(node, node.pending);
    if (node.pending === 0) free.push(node);
  }
  for (let index = 0; index < free.length; index += 1) {
    const { dependents, followers } = free[index] as Node;
    for (const dependent of [...dependents, ...followers]) {
      const stillPending = (pending.get(dependent) ?? 0) - 1;
      pending.set(dependent, stillPending);
      if (stillPending === 0) free.push(dependent);
    }
  }
  if (free.length < nodes.size) throw new Error("The order of the plan has a cycle.");
}

/**
 * The union of two ascending lists, cut at the limit. It is safe if the lists were already cut: the smallest elements of the union are
 * always among those kept.
 */
function mergeCauses(left: readonly number[], right: readonly number[]): readonly number[] {
  if (left.length === 0) return right;
  if (left === right || right.length === 0) return left;
  const union = new Set([...left, ...right]);
  return [...union].sort((a, b) => a - b).slice(0, MAX_CAUSES_PER_SKIP);
}

// Ready queue: the ranks of steps that may run, smallest first, so that the order of a run is the plan's.

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

interface UrgentBatch {
  /** Descending. */
  readonly ranks: number[];
  readonly closesGap: boolean;
}

/**
 * Ranks of steps that became ready together. The batch with the fewest left is the last. Of several, what closes a gap comes behind the others: of
 * that the one that came first, of the others the one that came last.
 */
class UrgentBatches {
  readonly #batches: UrgentBatch[] = [];

  push(ranks: readonly number[], closesGap: boolean): void {
    if (ranks.length === 0) return;
    const goesFirst = (batch: UrgentBatch): boolean =>
      batch.ranks.length < ranks.length || (batch.ranks.length === ranks.length && batch.closesGap);
    let [from, to] = [0, this.#batches.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (goesFirst(this.#batches[middle] as UrgentBatch)) to = middle;
      else from = middle + 1;
    }
    this.#batches.splice(from, 0, { ranks: ranks.toSorted((a, b) => b - a), closesGap });
  }

  /** Takes out the smallest rank of the last batch; null if there is none. */
  pop(): number | null {
    const last = this.#batches.at(-1)?.ranks;
    const rank = last?.pop() ?? null;
    if (last?.length === 0) this.#batches.pop();
    return rank;
  }
}
