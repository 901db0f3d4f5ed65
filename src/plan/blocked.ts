/** What a blocked change takes with it: every step of it, and every step that cannot go without those. */

import type { Change } from "../model/change.ts";
import { groupBy } from "../model/group.ts";
import type { PlannedStep } from "../model/unit.ts";
import { claimEdges, dependenciesOf, type Edges, edgesOf, producersOf, referencesOf } from "./edges.ts";

export interface Unblocked {
  /** Without what is blocked. */
  readonly planned: readonly PlannedStep[];
  /** Those that depend on blocked ones are blocked too, and say on which. */
  readonly changes: readonly Change[];
}

export function leaveOutBlocked(planned: readonly PlannedStep[], changes: readonly Change[]): Unblocked {
  const blocked = new Map<string, Set<string>>();
  for (const change of changes) if (change.blocked !== null) blocked.set(change.key, new Set());
  if (blocked.size === 0) return { planned, changes };
  const dependents = dependentsOf(edgesOf(planned));
  const stepsOf = groupBy(
    planned.flatMap(({ step }, index) => step.changes.map((key) => ({ key, index }))),
    ({ key }) => key,
  );
  const out = new Set<number>();
  const queue = [...blocked.keys()];
  for (const key of queue) {
    for (const { index } of stepsOf.get(key) ?? []) {
      if (out.has(index)) continue;
      out.add(index);
      for (const other of [index, ...dependents(index)]) {
        for (const dependent of planned[other]?.step.changes ?? []) {
          const known = blocked.get(dependent);
          if (known === undefined) queue.push(dependent);
          if (dependent !== key) blocked.set(dependent, (known ?? new Set()).add(key));
        }
      }
    }
  }
  return {
    planned: planned.filter((_, index) => !out.has(index)),
    changes: changes.map((change) => withBlock(change, blocked.get(change.key))),
  };
}

/**
 * In a narrowed run: blocks what needs something to be away that was not selected, and so stays.
 * @param whole the steps of all changes, selected or not
 */
export function leaveOutHeld(whole: readonly PlannedStep[], selected: readonly Change[]): Change[] {
  const active = new Set(selected.filter((change) => change.action !== "no-op").map((change) => change.key));
  const held = new Map<string, Set<string>>();
  for (const [index, firsts] of indispensable(whole).entries()) {
    const holders = firsts.flatMap((first) => whole[first]?.step.changes ?? []).filter((key) => !active.has(key));
    if (holders.length === 0) continue;
    for (const key of whole[index]?.step.changes ?? []) {
      if (active.has(key)) held.set(key, new Set([...(held.get(key) ?? []), ...holders]));
    }
  }
  return selected.map((change) => withBlock(change, held.get(change.key)));
}

/**
 * For each step, those that it cannot do without even if they are not selected: what frees a slot that it takes, what makes the
 * object that its path leads to, and, before something is deleted, what still needs it.
 */
function indispensable(planned: readonly PlannedStep[]): number[][] {
  const byId = new Map(planned.map(({ step }, index) => [step.id, index]));
  const made = producersOf(planned);
  return claimEdges(planned).map((claimed, index) => {
    const { step, facts } = planned[index] as PlannedStep;
    const isDelete = step.type === "request" && step.method === "DELETE";
    return [
      ...claimed,
      ...referencesOf(step).flatMap((ref) => made.get(ref) ?? []),
      ...(isDelete ? facts.requires.flatMap((id) => byId.get(id) ?? []) : []),
    ];
  });
}

function withBlock(change: Change, on: ReadonlySet<string> | undefined): Change {
  return change.blocked !== null || on === undefined
    ? change
    : { ...change, blocked: { type: "depends", on: [...on].sort() } };
}

/**
 * For each step, those that cannot go without it. What would make a name go dark, or point into the dark, depends on it as much as
 * what the service would refuse; a milestone without harm does not count.
 */
function dependentsOf(edges: Edges): (step: number) => number[] {
  const { hard } = edges;
  // What only follows a step goes on without it.
  const follows = hard.map(() => []);
  const harmful = { hard, follows, milestones: edges.milestones.filter(({ harmless }) => !harmless) };
  const dependents: number[][] = [...hard, ...harmful.milestones].map(() => []);
  for (const [node, list] of dependenciesOf(harmful).entries()) for (const first of list) dependents[first]?.push(node);
  const passed = new Set<number>();
  return (step) =>
    (dependents[step] ?? []).flatMap((node) => {
      if (node < hard.length) return [node];
      // What waits for a milestone is told once: it is blocked by then.
      if (passed.has(node)) return [];
      passed.add(node);
      return dependents[node] ?? [];
    });
}
