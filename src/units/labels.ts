/** Why the object a unit is named after changes, beyond the change itself. */

import type { ChangeLabel } from "../model/change.ts";
import type { Values } from "../model/resource.ts";
import type { Match, PairContext } from "../model/unit.ts";

/**
 * @param live its normalised values, with the `owner` of its tag
 * @param name the name it is declared under, in the field `label`; null if it has none to lose
 */
export function rootLabels(
  match: Match,
  live: Values | null,
  name: string | null,
  context: PairContext,
): ChangeLabel[] {
  switch (match.intent) {
    case "create":
      return [];
    case "delete":
      return match.label === null ? [] : [match.label];
    case "release":
      return ["release"];
    case "manage": {
      const labels: ChangeLabel[] = [];
      const owner = live?.["owner"] ?? null;
      if (owner === null && context.owner !== null) labels.push("adopt");
      if (owner !== null && owner !== context.owner) labels.push("take-over");
      if (name !== null && live?.["label"] !== name) labels.push("rename");
      return labels;
    }
  }
}
