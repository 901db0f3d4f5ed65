/** The matrix: every mutating request of every world, times every outcome; all of it, or a sample by a seed. */

import { tryCell } from "./outcome-cell.ts";
import type { Reference, Target } from "./outcome-run.ts";
import type { Outcome } from "./outcome-table.ts";

export interface Cell {
  readonly reference: Reference;
  readonly target: Target;
  readonly outcome: Outcome;
}

export function cellsOf(references: readonly Reference[], outcomes: readonly Outcome[]): Cell[] {
  return references.flatMap((reference) =>
    reference.targets.flatMap((target) => outcomes.map((outcome) => ({ reference, target, outcome }))),
  );
}

/** @returns what is wrong, with the cell it is wrong in; and how many cells had nothing wrong */
export async function tryCells(cells: readonly Cell[]): Promise<{ problems: string[]; survived: number }> {
  const problems: string[] = [];
  let survived = 0;
  for (const { reference, target, outcome } of cells) {
    const found = await tryCell(reference, target, outcome);
    if (found.length === 0) survived += 1;
    const where = `${reference.loaded.world.name}, ${outcome.name}, ${target.step.id}`;
    problems.push(...found.map((problem) => `${where}: ${problem}`));
  }
  return { problems, survived };
}

/** So many of each outcome, by chance, but the same for the same seed. */
export function sample<Of extends { readonly outcome: Outcome }>(
  cells: readonly Of[],
  perOutcome: number,
  seed: number,
): Of[] {
  const random = numbers(seed);
  const taken = new Map<Outcome, number>();
  return shuffled(cells, random).filter(({ outcome }) => {
    const count = (taken.get(outcome) ?? 0) + 1;
    taken.set(outcome, count);
    return count <= perOutcome;
  });
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const drawn = items.map((item) => ({ item, rank: random() }));
  return drawn.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}

/** Numbers in [0, 1) of a linear congruence (Numerical Recipes): plenty for picking cells. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
