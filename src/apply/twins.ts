/** Twins: what this run made and another run made as well at the same time. No answer tells, so that it is looked for at the end. */

import type { Kind } from "../model/resource.ts";
import type { Context } from "./context.ts";
import { lookOncePerList, type Placed, type Repeated } from "./late.ts";
import { list, recogniseIn } from "./look.ts";

/**
 * One list for each kind that can be there twice and needs a person to choose. The run that ends last finds what both made.
 * @param made steps that made something, and were sent once
 * @returns what a person should know, one sentence each, in the order of the steps
 */
export async function lookForTwins(
  made: readonly Repeated[],
  context: Context,
  concurrency: number,
): Promise<readonly string[]> {
  const repeatable = made.filter(({ step: { lookup } }) => lookup !== null && isRepeatable(lookup.kind));
  return lookOncePerList(repeatable, context, concurrency, lookAtGroup);
}

/** Names of domains are unique, subnets do not overlap, and of equal records the next plan removes all but one. */
function isRepeatable(kind: Kind): boolean {
  switch (kind) {
    case "vpc":
    case "image":
      return true;
    case "vpc_subnet":
    case "domain":
    case "domain_record":
      return false;
  }
}

/** A list that cannot be read hides nothing for long: the next plan refuses what is there twice. */
async function lookAtGroup(group: readonly Placed[], context: Context): Promise<readonly string[]> {
  const [first] = group;
  const listed = first === undefined ? null : await list(first.place, context);
  if (listed?.ok !== true) return [];
  return group.flatMap(({ step, id, place, unit }) => {
    const seen = recogniseIn(listed, place, unit);
    if (seen.type === "absent" || seen.type === "failed") return [];
    const others = (seen.type === "ambiguous" ? seen.ids : [seen.id]).join(", ");
    return [
      `${step.id}: somebody else made an equal ${place.lookup.kind} at the same time: this run ${String(id)}, they ${others}; ` +
        "keep one, and delete the other by hand or name the one to keep by its id",
    ];
  });
}
