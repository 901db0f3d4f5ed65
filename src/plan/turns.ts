/** Gaps that no order avoids: where all changes at once, at one of several steps, only what that step brings is there throughout. */

import { groupBy } from "../model/group.ts";
import type { Gap } from "../model/plan.ts";
import type { PlannedStep, Turn } from "../model/unit.ts";

type Part = Turn & Pick<PlannedStep, "step">;

/** @param ordered in the order in which they are done */
export function turnGaps(ordered: readonly PlannedStep[]): Gap[] {
  const parts = ordered.flatMap(({ step, facts }) => facts.turns.map((turn): Part => ({ ...turn, step })));
  return [...groupBy(parts, ({ group }) => group).values()].flatMap(gapsOf);
}

function gapsOf(parts: readonly Part[]): Gap[] {
  const isFirst = parts[0]?.at === "first";
  // Seen from its end, what goes last is like what goes first.
  const [turning, ...others] = isFirst ? parts : [...parts].reverse();
  if (turning === undefined) return [];
  const kept = new Set(turning.keeps);
  const gaps: Gap[] = [];
  for (const { keeps, step } of others) {
    for (const what of keeps) {
      if (kept.has(what)) continue;
      kept.add(what);
      const [before, wanted] = isFirst ? [turning.step, step] : [step, turning.step];
      gaps.push({ what, wanted: wanted.id, before: before.id, root: step.root });
    }
  }
  return gaps;
}
