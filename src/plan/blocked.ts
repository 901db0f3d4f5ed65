/** What a blocked change takes with it: every step of it, and every step that cannot go without those. */

import type { Change } from "../model/change.ts";
import { groupBy } from "../model/group.ts";
import type { PlannedStep } from "../model/unit.ts";
import { edgesOf } from "./edges.ts";

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
  const { hard } = edgesOf(planned);
  const dependents = invert(hard);
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
      for (const other of [index, ...(dependents[index] ?? [])]) {
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

function withBlock(change: Change, on: ReadonlySet<string> | undefined): Change {
  return change.blocked !== null || on === undefined
    ? change
    : { ...change, blocked: { type: "depends", on: [...on].sort() } };
}

function invert(dependencies: readonly (readonly number[])[]): number[][] {
  const dependents: number[][] = dependencies.map(() => []);
  for (const [node, list] of dependencies.entries()) for (const first of list) dependents[first]?.push(node);
  return dependents;
}
