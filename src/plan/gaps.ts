/** Gaps that no order can avoid: which there are where several steps each switch some names, and how late the others begin. */

import { type Gap, isLook } from "../model/plan.ts";
import { groupBy } from "../model/text.ts";
import type { CutoverPart, PlannedStep } from "../model/unit.ts";
import type { Edges } from "./edges.ts";

// When several steps each switch some names, only one of them can do so without a gap.

type CutoverStep = CutoverPart & Pick<PlannedStep, "step">;

interface CutoverGaps {
  readonly gaps: readonly Gap[];
  /** Ids of steps, each with that of the step which has to come first where that opens a gap: any of them would open it. */
  readonly siblings: readonly (readonly [later: string, first: string])[];
}

/** @param ordered in the order in which they are done */
export function cutoverGaps(ordered: readonly PlannedStep[]): CutoverGaps {
  const parts = ordered.flatMap(({ step, facts }) =>
    facts.cutovers.map((cutover): CutoverStep => ({ ...cutover, step })),
  );
  const groups = [...groupBy(parts, ({ group }) => group).values()];
  const siblings = groups.flatMap((group) => {
    const [switching, ...others] = group;
    if (switching?.at !== "first" || gapsOf(group).length === 0) return [];
    return others.map(({ step }) => [step.id, switching.step.id] as const);
  });
  return { gaps: groups.flatMap(gapsOf), siblings: siblings.filter(([later, first]) => later !== first) };
}

function gapsOf(parts: readonly CutoverStep[]): Gap[] {
  const isFirst = parts[0]?.at === "first";
  // A cutover at the last step is handled like one at the first, with the steps reversed.
  const [switching, ...others] = isFirst ? parts : [...parts].reverse();
  if (switching === undefined) return [];
  const kept = new Set(switching.keeps);
  const gaps: Gap[] = [];
  for (const { keeps, step } of others) {
    for (const what of keeps) {
      if (kept.has(what)) continue;
      kept.add(what);
      const [before, wanted] = isFirst ? [switching.step, step] : [step, switching.step];
      gaps.push({ what, wanted: wanted.id, before: before.id, root: step.root });
    }
  }
  return gaps;
}

// How late a gap begins, on the graph of steps and milestones of order.ts.

/**
 * What opens a gap waits for what the step that closes it waits for, as far as that can come first: it might start while thousands of others have to be
 * done before, and if one of those failed, the gap would stay. Where a look comes before one of the two, what counts is the look: nothing is to come
 * between it and its delete.
 * @param dependencies for each node, what must come before it; without cycles
 */
export function shortenGaps(
  gaps: readonly Gap[],
  dependencies: number[][],
  { follows }: Edges,
  planned: readonly PlannedStep[],
): void {
  const nodes = new Map(planned.map(({ step }, node) => [step.id, node]));
  const firstOf = (node: number): number => {
    const look = (dependencies[node] ?? []).find(
      (first) => first < planned.length && isLook((planned[first] as PlannedStep).step),
    );
    return look === undefined ? node : firstOf(look);
  };
  const pairs = gaps.flatMap(({ before, wanted }) => {
    const [opens, closes] = [nodes.get(before), nodes.get(wanted)];
    return opens === undefined || closes === undefined
      ? []
      : [{ opens, first: firstOf(opens), closes: firstOf(closes) }];
  });
  const places = new LateGaps(dependencies, pairs, planned.length).places();
  const added = new Map<number, Set<number>>();
  for (const { first, closes } of pairs) {
    if (first === closes) continue;
    const own = added.get(first) ?? new Set(dependencies[first]);
    added.set(first, own);
    const lenient = new Set(follows[closes]);
    // An edge from a later place to an earlier one makes no cycle.
    for (const node of dependencies[closes] ?? []) {
      if (!lenient.has(node) && (places[node] as number) < (places[first] as number)) own.add(node);
    }
  }
  for (const [first, own] of added) dependencies[first] = [...own];
}

interface GapPair {
  /** The step that opens the gap. */
  readonly opens: number;
  /** The first look before it, or itself. */
  readonly first: number;
  /** The step that closes the gap, or the first look before it. */
  readonly closes: number;
}

/**
 * Finds an order in which gaps begin late: what opens one comes when nothing else is left, first of all where what closes it waits for nothing but
 * that. So of gaps within gaps the inner one closes first. Linear in nodes, edges and gaps.
 */
class LateGaps {
  readonly #dependencies: readonly (readonly number[])[];
  readonly #stepCount: number;
  readonly #dependents: number[][];
  /** Of each node, how many before it are left, and the sum of their numbers: if one is left, its number. */
  readonly #left: Int32Array;
  readonly #leftSum: Float64Array;
  readonly #places: Int32Array;
  /** What opens a gap → the look before it. */
  readonly #looks: ReadonlyMap<number, number>;
  readonly #openersOf: ReadonlyMap<number, readonly number[]>;
  /** Of what opens gaps, those closing steps that wait for something else, too. */
  readonly #waiting: ReadonlyMap<number, Set<number>>;
  readonly #free: number[] = [];
  readonly #closable: number[] = [];
  readonly #openers: number[] = [];

  constructor(dependencies: readonly (readonly number[])[], pairs: readonly GapPair[], stepCount: number) {
    this.#dependencies = dependencies.map((list) => [...new Set(list)]);
    this.#stepCount = stepCount;
    this.#dependents = dependencies.map(() => []);
    this.#left = new Int32Array(dependencies.length);
    this.#leftSum = new Float64Array(dependencies.length);
    this.#places = new Int32Array(dependencies.length).fill(-1);
    for (const [node, list] of this.#dependencies.entries()) {
      this.#left[node] = list.length;
      for (const before of list) {
        this.#leftSum[node] = (this.#leftSum[node] as number) + before;
        this.#dependents[before]?.push(node);
      }
    }
    this.#looks = new Map(pairs.map(({ opens, first }) => [opens, first]));
    const real = pairs.filter(({ first, closes }) => first !== closes);
    const closersOf = groupBy(real, ({ first }) => first);
    this.#waiting = new Map([...closersOf].map(([first, own]) => [first, new Set(own.map(({ closes }) => closes))]));
    this.#openersOf = new Map(
      [...groupBy(real, ({ closes }) => closes)].map(([closes, own]) => [closes, own.map(({ first }) => first)]),
    );
  }

  /** The place of each step; of a milestone that of the last step before it. */
  places(): Int32Array {
    for (const closer of this.#openersOf.keys()) this.#settle(closer);
    for (const [node, left] of this.#left.entries()) if (left === 0) this.#reach(node);
    let at = 0;
    for (let node = this.#next(); node !== undefined; node = this.#next()) {
      const before = this.#dependencies[node] ?? [];
      this.#places[node] =
        node < this.#stepCount ? at++ : before.reduce((last, one) => Math.max(last, this.#places[one] as number), 0);
      for (const dependent of this.#dependents[node] ?? []) this.#countDown(dependent, node);
    }
    return this.#places;
  }

  #next(): number | undefined {
    for (;;) {
      const node = this.#free.pop() ?? this.#closable.pop() ?? this.#openers.pop();
      // What opens a gap may have become closable while it was waiting.
      if (node === undefined || this.#places[node] === -1) return node;
    }
  }

  #countDown(node: number, before: number): void {
    this.#left[node] = (this.#left[node] as number) - 1;
    this.#leftSum[node] = (this.#leftSum[node] as number) - before;
    const left = this.#left[node] as number;
    if (left > 1) return;
    this.#settle(node);
    if (left === 0) this.#reach(node);
    else if (node >= this.#stepCount) for (const dependent of this.#dependents[node] ?? []) this.#settle(dependent);
  }

  #reach(node: number): void {
    const waiting = this.#waiting.get(node);
    (waiting === undefined ? this.#free : waiting.size === 0 ? this.#closable : this.#openers).push(node);
  }

  /** Whether what closes gaps waits for nothing any more, or only for what opens one of them: itself, or through a milestone. */
  #settle(closer: number): void {
    const openers = this.#openersOf.get(closer);
    const left = this.#left[closer] as number;
    if (openers === undefined || left > 1) return;
    for (const opener of left === 0 ? openers : this.#onlyBefore(closer)) {
      const waiting = this.#waiting.get(opener);
      if (waiting?.delete(closer) && waiting.size === 0 && this.#left[opener] === 0) this.#closable.push(opener);
    }
  }

  #onlyBefore(node: number): number[] {
    const before = this.#leftSum[node] as number;
    if (before < this.#stepCount) return [this.#looks.get(before) ?? before];
    return this.#left[before] === 1 ? this.#onlyBefore(before) : [];
  }
}
