/** The order of steps: every hard edge holds, soft ones hold unless a cycle forces a gap, and the rest is stable. */

import { type Barrier, type Gap, isReference, type PathPart, type Step } from "../model/plan.ts";
import { groupBy } from "../model/text.ts";
import type { CutoverPart, PlannedStep } from "../model/unit.ts";

/** A cycle is broken one step at a time, so that no gap is made without need; beyond this, all of it at once. */
export const MAX_CAREFUL_ROUNDS = 64;

export interface Ordered {
  readonly steps: readonly Step[];
  readonly barriers: readonly Barrier[];
  readonly gaps: readonly Gap[];
}

/** @param planned without what is blocked; in the order that is kept where nothing speaks against it */
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
  const order = found.flat();
  for (const gap of cutoverGaps(order.flatMap((node) => planned[node] ?? []))) {
    if (!gaps.has(gap.what)) gaps.set(gap.what, gap);
  }
  return { ...assemble(order, dependencies, edges, planned), gaps: [...gaps.values()] };
}

/**
 * Lets one step of the cycle go ahead of the milestones that hold it in it. Hard edges alone make no cycle, so there is always a step
 * that only milestones hold; of those the one whose going ahead leaves the fewest gaps.
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
  goAhead(chosen, new Set(held(chosen)), inside, dependencies, edges, planned, gaps);
}

/** Whether a node of the graph is a milestone that may be broken. */
function softIn({ hard, milestones }: Edges): (node: number) => boolean {
  return (node) => milestones[node - hard.length]?.hard === false;
}

/** Puts the steps of the cycle into the order that the hard edges ask for, and drops whatever runs against it. Linear. */
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
    if (against.length > 0) goAhead(step, new Set(against), inside, dependencies, edges, planned, gaps);
  }
}

/** The highest position of any; -1 if none has one. */
function lastOf(nodes: readonly number[], position: ReadonlyMap<number | undefined, number>): number {
  return nodes.reduce((last, node) => Math.max(last, position.get(node) ?? -1), -1);
}

/** Lets a step go without the milestones in `broken`, and notes what that leaves without an answer. */
function goAhead(
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
    const gap = { what: milestone.what, wanted: planned[wanted]?.step.id ?? "", before: before.id, root: before.root };
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

// Facts → edges: hard ones, which the service enforces, and soft ones through milestones, which resolution asks for.

/** Something that is reached when all of `before` are done, and that each of `after` waits for. Indices of steps. */
interface Milestone {
  readonly id: string;
  /** What is without an answer if the order is broken here. */
  readonly what: string;
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** Breaking it leaves no gap: something else answers throughout. */
  readonly harmless: boolean;
  /** It is never broken, and what awaits it does not go without it. */
  readonly hard: boolean;
}

export interface Edges {
  /** For each step, the steps that must be done first. */
  readonly hard: readonly (readonly number[])[];
  /** For each step, the steps that must have ended first, however they ended. */
  readonly follows: readonly (readonly number[])[];
  readonly milestones: readonly Milestone[];
}

export function edgesOf(planned: readonly PlannedStep[]): Edges {
  return { hard: hardEdges(planned), follows: followEdges(planned), milestones: milestonesOf(planned) };
}

/** As one graph: steps come first, then milestones; each lists the indices that must be done before it. */
export function dependenciesOf({ hard, follows, milestones }: Edges): number[][] {
  const count = hard.length;
  const dependencies = [
    ...hard.map((list, step) => [...list, ...(follows[step] ?? [])]),
    ...milestones.map(({ before }) => [...before]),
  ];
  for (const [offset, { after }] of milestones.entries()) {
    for (const step of after) dependencies[step]?.push(count + offset);
  }
  return dependencies;
}

function hardEdges(planned: readonly PlannedStep[]): number[][] {
  const byId = new Map(planned.map(({ step }, index) => [step.id, index]));
  const producers = producersOf(planned);
  const claims = claimEdges(planned);
  return planned.map(({ step, facts }, index) => {
    const first = new Set<number>(claims[index]);
    for (const id of facts.requires) addKnown(first, byId.get(id));
    for (const part of referencesOf(step)) addKnown(first, producers.get(part));
    first.delete(index);
    return [...first].sort((a, b) => a - b);
  });
}

function followEdges(planned: readonly PlannedStep[]): number[][] {
  const byId = new Map(planned.map(({ step }, index) => [step.id, index]));
  return planned.map(({ facts }) => facts.follows.flatMap((id) => byId.get(id) ?? []));
}

function addKnown(set: Set<number>, index: number | undefined): void {
  if (index !== undefined) set.add(index);
}

/** Key of a product → the step that brings it. */
export function producersOf(planned: readonly PlannedStep[]): ReadonlyMap<string, number> {
  const producers = new Map<string, number>();
  for (const [index, { step }] of planned.entries()) {
    if (step.type === "request" && step.produces !== null) producers.set(step.produces.ref, index);
  }
  return producers;
}

/** The keys of the products that a step refers to. */
export function referencesOf(step: PlannedStep["step"]): string[] {
  const parts: PathPart[] = step.type === "upload" ? [step.to] : [...step.path];
  return parts.filter(isReference).map((part) => part.ref);
}

/** The steps that release a slot: those that shared it, and those that had it to themselves. */
interface Released {
  readonly shared: number[];
  readonly exclusive: number[];
}

/** Whatever releases a slot comes before whatever acquires it, unless both share it. */
export function claimEdges(planned: readonly PlannedStep[]): number[][] {
  const released = new Map<string, Released>();
  for (const [index, { facts }] of planned.entries()) {
    for (const { slot, exclusive } of facts.claims.release) {
      const steps = released.get(slot) ?? { shared: [], exclusive: [] };
      released.set(slot, steps);
      (exclusive ? steps.exclusive : steps.shared).push(index);
    }
  }
  return planned.map(({ facts }) =>
    facts.claims.acquire.flatMap(({ slot, exclusive }) => {
      const before = released.get(slot);
      if (before === undefined) return [];
      return exclusive ? [...before.exclusive, ...before.shared] : before.exclusive;
    }),
  );
}

/** The steps that come before a milestone, and those that come after it. */
interface BeforeAfter {
  before: number[];
  after: number[];
  harmless: boolean;
}

function milestonesOf(planned: readonly PlannedStep[]): Milestone[] {
  const sets = new Map<string, BeforeAfter>();
  const comings = new Map<string, BeforeAfter>();
  const goings = new Map<string, BeforeAfter>();
  const points = new Map<string, BeforeAfter>();
  for (const [index, { facts }] of planned.entries()) {
    for (const { set, persists } of facts.rrsets.grow) beforeAfterOf(sets, set, persists).before.push(index);
    for (const { set, persists } of facts.rrsets.shrink) beforeAfterOf(sets, set, persists).after.push(index);
    for (const key of facts.reaches) beforeAfterOf(points, key, false).before.push(index);
    for (const key of facts.awaits) beforeAfterOf(points, key, false).after.push(index);
    for (const key of facts.resolution.adds) beforeAfterOf(comings, key, false).before.push(index);
    for (const key of facts.resolution.needs) beforeAfterOf(comings, key, false).after.push(index);
    for (const key of facts.resolution.unneeds) beforeAfterOf(goings, key, false).before.push(index);
    for (const key of facts.resolution.removes) beforeAfterOf(goings, key, false).after.push(index);
  }
  return [
    ...named("growth of", sets),
    ...named("arrival of", comings),
    ...named("release of", goings),
    ...named("all of", points, true),
  ];
}

function named(prefix: string, found: ReadonlyMap<string, BeforeAfter>, hard = false): Milestone[] {
  return [...found]
    .filter(([, { before, after }]) => before.length > 0 && after.length > 0)
    .map(([what, steps]) => ({ id: `${prefix} ${what}`, what, ...steps, hard, after: withoutItself(steps) }))
    .filter(({ after }) => after.length > 0);
}

/** A step does not wait for what it brings itself. */
function withoutItself({ before, after }: BeforeAfter): number[] {
  const brings = new Set(before);
  return after.filter((step) => !brings.has(step));
}

function beforeAfterOf(table: Map<string, BeforeAfter>, key: string, harmless: boolean): BeforeAfter {
  const found = table.get(key);
  if (found !== undefined) return found;
  const made = { before: [], after: [], harmless };
  table.set(key, made);
  return made;
}

// A graph of steps and milestones, and its cycles: plain indices, no knowledge of what they stand for.

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

// Unavoidable gaps: where one step of several switches everything at once, only the names of that step answer without a break.

type CutoverStep = CutoverPart & Pick<PlannedStep, "step">;

/** @param ordered in the order in which they are done */
function cutoverGaps(ordered: readonly PlannedStep[]): Gap[] {
  const parts = ordered.flatMap(({ step, facts }) =>
    facts.cutovers.map((cutover): CutoverStep => ({ ...cutover, step })),
  );
  return [...groupBy(parts, ({ group }) => group).values()].flatMap(gapsOf);
}

function gapsOf(parts: readonly CutoverStep[]): Gap[] {
  const isFirst = parts[0]?.at === "first";
  // Seen from its end, what goes last is like what goes first.
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
