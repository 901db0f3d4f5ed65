/** Facts → edges: hard ones, which the service enforces, and soft ones through milestones, which resolution asks for. */

import { isReference, type PathPart } from "../model/plan.ts";
import type { PlannedStep } from "../model/unit.ts";

/** It is reached when all of `before` are done, and each of `after` waits for it. Indices of steps. */
export interface Milestone {
  readonly id: string;
  /**
   * The name or record set that goes unanswered for a while if this milestone is broken. Of a hard milestone, the key of what must be
   * ready; it is never broken.
   */
  readonly subject: string;
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** Breaking it leaves no gap: something else answers throughout. */
  readonly harmless: boolean;
  /** It is never broken, and no step in `after` is done without it. */
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

/** The edges as one graph, whose nodes are the steps, then the milestones. Each node lists the nodes that must be done before it. */
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

/** Key of a product → index of the step that produces it. */
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

/** The steps that release a slot: those that shared the slot, and those that had it to themselves. */
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
  const arrivals = new Map<string, BeforeAfter>();
  const releases = new Map<string, BeforeAfter>();
  const checkpoints = new Map<string, BeforeAfter>();
  for (const [index, { facts }] of planned.entries()) {
    for (const { set, persists } of facts.rrsets.grow) beforeAfterOf(sets, set, persists).before.push(index);
    for (const { set, persists } of facts.rrsets.shrink) beforeAfterOf(sets, set, persists).after.push(index);
    for (const key of facts.reaches) beforeAfterOf(checkpoints, key, false).before.push(index);
    for (const key of facts.awaits) beforeAfterOf(checkpoints, key, false).after.push(index);
    for (const key of facts.resolution.adds) beforeAfterOf(arrivals, key, false).before.push(index);
    for (const key of facts.resolution.needs) beforeAfterOf(arrivals, key, false).after.push(index);
    for (const key of facts.resolution.unneeds) beforeAfterOf(releases, key, false).before.push(index);
    for (const key of facts.resolution.removes) beforeAfterOf(releases, key, false).after.push(index);
  }
  return [
    ...named("growth of", sets),
    ...named("arrival of", arrivals),
    ...named("release of", releases),
    ...named("all of", checkpoints, true),
  ];
}

function named(prefix: string, found: ReadonlyMap<string, BeforeAfter>, hard = false): Milestone[] {
  return [...found]
    .filter(([, { before, after }]) => before.length > 0 && after.length > 0)
    .map(([subject, steps]) => ({ id: `${prefix} ${subject}`, subject, ...steps, hard, after: withoutItself(steps) }))
    .filter(({ after }) => after.length > 0);
}

/** A step does not wait for a milestone that it reaches itself. */
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
