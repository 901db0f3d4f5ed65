/** `--select name=a*,label.tier=gold`: which accounts of a fleet a run is about. */

import { compileGlob } from "../model/text.ts";
import type { FleetAccount } from "./fleet-file.ts";

/** Whether an account is selected. */
export type Selection = (account: Pick<FleetAccount, "name" | "labels">) => boolean;

/**
 * @param terms each a list of `name=GLOB` and `label.KEY=GLOB` with commas, all of which an account must fit; an account that fits one term
 * is selected. No terms select all.
 * @returns the selection, or the part that is none of both
 */
export function parseSelection(
  terms: readonly string[],
): { readonly ok: true; readonly selection: Selection } | { readonly ok: false; readonly part: string } {
  const selections: Selection[] = [];
  for (const term of terms) {
    const all: Selection[] = [];
    for (const part of term.split(",")) {
      const one = parsePart(part.trim());
      if (one === null) return { ok: false, part };
      all.push(one);
    }
    selections.push((account) => all.every((fits) => fits(account)));
  }
  return { ok: true, selection: (account) => terms.length === 0 || selections.some((fits) => fits(account)) };
}

function parsePart(part: string): Selection | null {
  const equals = part.indexOf("=");
  const key = part.slice(0, Math.max(equals, 0));
  const fits = compileGlob(part.slice(equals + 1));
  if (key === "name") return ({ name }) => fits(name);
  const label = key.startsWith("label.") ? key.slice("label.".length) : "";
  // A label that an account lacks fits nothing, not even a star.
  return label === "" ? null : ({ labels }) => Object.hasOwn(labels, label) && fits(labels[label] as string);
}
