/** The order of steps: every hard edge holds, soft ones hold unless a cycle forces a gap, and the rest is stable. */

import { type Barrier, type Gap, isLook, type Step } from "../model/plan.ts";
import type { PlannedStep } from "../model/unit.ts";
import { dependenciesOf, type Edges, edgesOf, type Milestone } from "./edges.ts";
import { cutoverGaps, shortenGaps } from "./gaps.ts";

/** In the first rounds a cycle is broken one step at a time, to make no needless gap. After so many rounds it is broken all at once. */
export const MAX_CAREFUL_ROUNDS = 64;

export interface Ordered {
  readonly steps: readonly Step[];
  readonly barriers: readonly Barrier[];
  readonly gaps: readonly Gap[];
}

/** @param planned the steps, without those of blocked changes; where no edge decides, they keep this order */
export function orderSteps(planned: readonly PlannedStep[]): Ordered {
  const edges = edgesOf(planned);
  const dependencies = dependenciesOf(edges);
  const gaps = new Map<string, Gap>();
  let found = components(dependencies);
  for (let round = 0; found.some((component) => component.length > 1); round += 1) {
    const breakUp = round < MAX_CAREFUL_ROUNDS ? breakCycle : breakAtOnce;
    for (const component of found) {
      if (component.length > 1) breakUp(component, dependencies, edges, planned, gaps);
    }
    found = components(dependencies);
  }
  let order = delayLooks(dependencies, edges, planned) ? components(dependencies).flat() : found.flat();
  const cutover = cutoverGaps(order.flatMap((node) => planned[node] ?? []));
  for (const gap of cutover.gaps) if (!gaps.has(gap.what)) gaps.set(gap.what, gap);
  const nodes = new Map(planned.map(({ step }, node) => [step.id, node]));
  for (const [later, first] of cutover.siblings) {
    dependencies[nodes.get(later) as number]?.push(nodes.get(first) as number);
  }
  if (gaps.size > 0) {
    shortenGaps([...gaps.values()], dependencies, edges, planned);
    order = components(dependencies).flat();
  }
  return { ...assemble(order, dependencies, edges, planned), gaps: [...gaps.values()] };
}

/**
 * Breaks a cycle: one of its steps stops waiting for the soft milestones that keep it in the cycle. Hard edges and hard milestones alone
 * make no cycle, so there is always a step that only soft milestones hold. Of such steps, the one that leaves the fewest gaps is chosen.
 */
function breakCycle(
  component: readonly number[],
  dependencies: number[][],
  edges: Edges,
  planned: readonly PlannedStep[],
  gaps: Map<string, Gap>,
): void {
  const { milestones } = edges;
  const count = edges.hard.length;
  const inside = new Set(component);
  const isSoft = softIn(edges);
  const held = (step: number) => (dependencies[step] ?? []).filter((node) => isSoft(node) && inside.has(node));
  const harm = (step: number) => held(step).filter((node) => !(milestones[node - count] as Milestone).harmless).length;
  const isHeld = (node: number) => (dependencies[node] ?? []).some((first) => inside.has(first) && !isSoft(first));
  const free = component.filter((node) => node < count && !isHeld(node));
  const chosen = free.sort((a, b) => harm(a) - harm(b) || a - b)[0];
  if (chosen === undefined)
    throw new Error(`A cycle of hard edges: ${component.map((node) => planned[node]?.step.id).join(", ")}`);
  breakMilestones(chosen, new Set(held(chosen)), inside, dependencies, edges, planned, gaps);
}

/**
 * A look before a delete is of use only just before it: the look waits for what the delete waits for, and the delete for the look alone. Of
 * several looks one after the other, all come just before it.
 * @returns whether there is any
 */
function delayLooks(dependencies: number[][], { follows }: Edges, planned: readonly PlannedStep[]): boolean {
  const looks = new Map<number, number[]>();
  for (const [node, { step }] of planned.entries()) {
    if (isLook(step)) looks.set(node, []);
  }
  for (const [node, first] of dependencies.entries()) for (const look of first) looks.get(look)?.push(node);
  const delay = (node: number): void => {
    const first = dependencies[node] ?? [];
    const look = first.find((other) => looks.get(other)?.length === 1);
    if (look === undefined) return;
    const lenient = new Set(follows[node]);
    const stays = (other: number): boolean => other === look || lenient.has(other);
    dependencies[look] = [...new Set([...(dependencies[look] ?? []), ...first.filter((other) => !stays(other))])];
    dependencies[node] = first.filter(stays);
    delay(look);
  };
  for (const [node, { step }] of planned.entries()) {
    if (step.type === "request" && step.method === "DELETE") delay(node);
  }
  return looks.size > 0;
}

/** Whether a node of the graph is a milestone that may be broken. */
function softIn({ hard, milestones }: Edges): (node: number) => boolean {
  return (node) => milestones[node - hard.length]?.hard === false;
}

/**
 * Finds the order of the cycle's steps that hard edges and hard milestones ask for. Each step stops waiting for the soft milestones that
 * contradict this order. Linear.
 */
function breakAtOnce(
  component: readonly number[],
  dependencies: number[][],
  edges: Edges,
  planned: readonly PlannedStep[],
  gaps: Map<string, Gap>,
): void {
  const count = edges.hard.length;
  const inside = new Set(component);
  const isSoft = softIn(edges);
  const steps = component.filter((node) => node < count).sort((a, b) => a - b);
  const firm = component.filter((node) => !isSoft(node)).sort((a, b) => a - b);
  const local = new Map(firm.map((node, index) => [node, index]));
  const hard = firm.map((node) => (dependencies[node] ?? []).flatMap((first) => local.get(first) ?? []));
  const position = new Map(
    components(hard)
      .flatMap((list) => list.map((index) => firm[index]))
      .map((node, at) => [node, at]),
  );
  const last = new Map(component.filter(isSoft).map((node) => [node, lastOf(dependencies[node] ?? [], position)]));
  for (const step of steps) {
    const against = (dependencies[step] ?? []).filter((node) => (last.get(node) ?? -1) > (position.get(step) ?? 0));
    if (against.length > 0) breakMilestones(step, new Set(against), inside, dependencies, edges, planned, gaps);
  }
}

/** The highest position of the nodes; -1 if none of them has a position. */
function lastOf(nodes: readonly number[], position: ReadonlyMap<number | undefined, number>): number {
  return nodes.reduce((last, node) => Math.max(last, position.get(node) ?? -1), -1);
}

/** Makes the step stop waiting for the milestones in `broken`, and records the gaps that this causes. */
function breakMilestones(
  step: number,
  broken: ReadonlySet<number>,
  inside: ReadonlySet<number>,
  dependencies: number[][],
  { hard, milestones }: Edges,
  planned: readonly PlannedStep[],
  gaps: Map<string, Gap>,
): void {
  dependencies[step] = (dependencies[step] ?? []).filter((node) => !broken.has(node));
  for (const node of broken) {
    const milestone = milestones[node - hard.length] as Milestone;
    const wanted = milestone.before.find((first) => inside.has(first)) ?? milestone.before[0];
    const before = planned[step]?.step;
    if (milestone.harmless || before === undefined || wanted === undefined) continue;
    const gap = {
      what: milestone.subject,
      wanted: planned[wanted]?.step.id ?? "",
      before: before.id,
      root: before.root,
    };
    if (!gaps.has(gap.what)) gaps.set(gap.what, gap);
  }
}

/** A milestone with only one step before it, or only one after it, is written as direct edges: fewer names to read in a plan. */
function assemble(
  order: readonly number[],
  dependencies: readonly (readonly number[])[],
  { follows, milestones }: Edges,
  planned: readonly PlannedStep[],
): Pick<Ordered, "steps" | "barriers"> {
  const count = planned.length;
  const dependents = new Int32Array(dependencies.length);
  for (const list of dependencies) for (const node of list) dependents[node] = (dependents[node] as number) + 1;
  const nameOf = (node: number) => (node < count ? planned[node]?.step.id : milestones[node - count]?.id) as string;
  const isPlain = (node: number) => node >= count && (dependencies[node]?.length === 1 || dependents[node] === 1);
  const namesOf = (node: number): string[] =>
    (dependencies[node] ?? []).flatMap((first) =>
      isPlain(first) ? (dependencies[first] ?? []).map(nameOf) : [nameOf(first)],
    );
  const steps: Step[] = [];
  const barriers: Barrier[] = [];
  for (const node of order) {
    const afterEnd = [...new Set((follows[node] ?? []).map(nameOf))].sort();
    const lenient = new Set(afterEnd);
    const after = [...new Set(namesOf(node))].filter((name) => !lenient.has(name)).sort();
    const step = planned[node]?.step;
    if (step !== undefined) steps.push({ ...step, after, ...(afterEnd.length === 0 ? {} : { afterEnd }) } as Step);
    else if ((dependents[node] as number) > 0 && !isPlain(node)) barriers.push({ id: nameOf(node), after });
  }
  return { steps, barriers };
}

// A graph of steps and milestones, and its cycles: plain indices, no knowledge of what they stand for.

/**
 * Strongly connected components, each after all others that it depends on, and otherwise in the order of their indices. Without cycles
 * every component is one node, and the list is a stable topological order. Linear; no recursion.
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
