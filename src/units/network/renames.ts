/** A VPC that is deleted while one with the same subnets is made: most likely it was given another label. */

import type { Declared } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { vpcAddress } from "../../model/resource.ts";
import { groupBy } from "../../model/text.ts";
import type { Match } from "../../model/unit.ts";
import type { LiveNetwork } from "./live.ts";
import type { NetworkSpec } from "./manifest.ts";

interface Subnet {
  readonly label: string;
  readonly ipv4: string;
}

/**
 * A warning for each VPC that is pruned while just one is made in its region with its subnets, and no other is pruned that has them. What
 * stands under `removed` goes because somebody said so.
 */
export function likelyRenames(matches: readonly Match<NetworkSpec, LiveNetwork>[]): Diagnostic[] {
  const made = matches.flatMap((match) => (match.intent === "create" ? [match.declared] : []));
  const pruned = matches.flatMap((match) =>
    match.intent === "delete" && match.label === "prune" ? [match.live.vpc] : [],
  );
  if (made.length === 0 || pruned.length === 0) return [];
  const gone = groupBy(pruned, ({ region, subnets }) => contentOf(region, subnets));
  const come = groupBy(made, ({ spec: { region, subnets } }) => contentOf(region, subnets ?? []));
  return [...come].flatMap(([content, [declared, ...others]]) => {
    const [vpc, ...more] = gone.get(content) ?? [];
    const isPair = vpc !== undefined && declared !== undefined && others.length + more.length === 0;
    return isPair && vpc.subnets.length > 0 ? [likelyRename(declared, vpc.label)] : [];
  });
}

function contentOf(region: string, subnets: readonly Subnet[]): string {
  return JSON.stringify([region, ...subnets.map(({ label, ipv4 }) => `${ipv4} ${label}`).sort()]);
}

function likelyRename({ address, span }: Declared<NetworkSpec>, label: string): Diagnostic {
  return {
    code: "likely-rename",
    severity: "warning",
    summary: `${address} is made with the subnets of ${vpcAddress(label)}, which is deleted`,
    detail:
      "What is attached to the old one does not move. A VPC that gets another label keeps its id, its subnets and their interfaces.",
    fix: `If it is the same VPC, write \`moved_from: ${JSON.stringify(label)}\` beside its label: then it is renamed.`,
    span,
    address,
  };
}
