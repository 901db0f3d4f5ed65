/** The address space of live VPCs that get ranges: what no subnet has once the plan is carried out. */

import {
  cidrOf,
  contains,
  gapsWithin,
  largestBlock,
  PRIVATE_BLOCKS,
  prefixOf,
  type Range,
  readRange,
  smallestAround,
} from "../../dns/ipv4-range.ts";
import type { Change } from "../../model/change.ts";
import type { FreeSpace } from "../../model/plan.ts";
import { groupBy } from "../../model/text.ts";
import type { StepContext } from "../../model/unit.ts";
import type { LiveNetwork } from "./live.ts";
import { nextFree } from "./ranges.ts";

/** So many of the next ranges of a size are named. */
const MAX_NEXT_RANGES = 3;

/**
 * Of a VPC that is made anew the plan shows every range, so there is no more to say. A blocked change leaves the range that is there.
 * @param changes of networks, blocked ones and no-ops included
 */
export function freeSpaceOfNetworks(changes: readonly Change[], { live }: StepContext): FreeSpace[] {
  const bringing = changes.filter(
    ({ kind, action, after }) =>
      kind === "vpc_subnet" && (action === "create" || action === "replace") && after !== null,
  );
  const subnets = groupBy(bringing, ({ root }) => root);
  if (subnets.size === 0) return [];
  const networks = new Map((live as readonly LiveNetwork[]).map((network) => [network.vpc.id, network]));
  const going = new Set(
    changes.flatMap(({ kind, action, blocked, id }) =>
      kind === "vpc_subnet" && blocked === null && (action === "delete" || action === "replace") ? [id] : [],
    ),
  );
  const vpcs = changes.filter(({ kind, action }) => kind === "vpc" && (action === "no-op" || action === "update"));
  return vpcs.flatMap(({ root, id }) => {
    const network = networks.get(Number(id));
    const own = subnets.get(root);
    if (network === undefined || own === undefined) return [];
    const kept = network.vpc.subnets.filter((subnet) => !going.has(subnet.id)).map(({ ipv4 }) => ipv4);
    const coming = own.flatMap(({ blocked, after }) => (blocked === null ? [String(after?.["ipv4"])] : []));
    return freeSpaceAround(root, ranges(own.map(({ after }) => String(after?.["ipv4"]))), ranges([...kept, ...coming]));
  });
}

function ranges(texts: readonly string[]): Range[] {
  return texts.flatMap((text) => readRange(text) ?? []);
}

/** @param wanted the new ranges @param used all ranges of the VPC, which are without those that are blocked */
function freeSpaceAround(root: string, wanted: readonly Range[], used: readonly Range[]): FreeSpace[] {
  return PRIVATE_BLOCKS.flatMap((block) => {
    const here = wanted.filter((range) => contains(block, range));
    if (here.length === 0) return [];
    const usedHere = used.filter((range) => contains(block, range));
    const within = smallestAround(usedHere.length === 0 ? here : usedHere);
    const gaps = gapsWithin(within, usedHere);
    const largest = largestBlock(gaps);
    // The last one of each size is where the numbering goes on.
    const lastOfSize = new Map([...here].sort((a, b) => a.first - b.first).map((range) => [prefixOf(range), range]));
    const sizes = [...lastOfSize].sort(([a], [b]) => a - b);
    return [
      {
        root,
        within: cidrOf(within),
        addresses: within.last - within.first + 1,
        free: gaps.reduce((sum, { first, last }) => sum + last - first + 1, 0),
        largest: largest === null ? null : cidrOf(largest),
        next: sizes.map(([prefix, near]) => ({ prefix, ranges: nextFree(usedHere, near, MAX_NEXT_RANGES) })),
      },
    ];
  });
}
