/** Gaps that no order can avoid. When several steps each switch some names, only one of them can do so without a gap. */

import type { Gap } from "../model/plan.ts";
import { groupBy } from "../model/text.ts";
import type { CutoverPart, PlannedStep } from "../model/unit.ts";

type CutoverStep = CutoverPart & Pick<PlannedStep, "step">;

/** @param ordered in the order in which they are done */
export function cutoverGaps(ordered: readonly PlannedStep[]): Gap[] {
  const parts = ordered.flatMap(({ step, facts }) =>
    facts.cutovers.map((cutover): CutoverStep => ({ ...cutover, step })),
  );
  return [...groupBy(parts, ({ group }) => group).values()].flatMap(gapsOf);
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
