/** Which live subnet is which declared one, within one VPC. */

import type { WireSubnet } from "../../api/wire/index.ts";
import { groupBy } from "../../model/group.ts";
import type { SubnetSpec } from "./shape.ts";

/** One of the two is not null. */
export interface SubnetMatch {
  readonly desired: SubnetSpec | null;
  readonly live: WireSubnet | null;
}

/**
 * Same label and range first, then the same range (a rename: one PUT, where a replace would be stopped by interfaces),
 * then the same label (a replace). What is left is to be created and deleted.
 */
export function matchSubnets(desired: readonly SubnetSpec[], live: readonly WireSubnet[]): SubnetMatch[] {
  const found = new Map<SubnetSpec, WireSubnet>();
  const free = new Set([...live].sort((a, b) => a.id - b.id));
  const rules: ((subnet: SubnetSpec | WireSubnet) => string)[] = [
    (subnet) => `${subnet.label} ${subnet.ipv4}`,
    (subnet) => subnet.ipv4,
    (subnet) => subnet.label,
  ];
  for (const rule of rules) pairOff(rule, desired, found, free);
  return [
    ...desired.map((subnet) => ({ desired: subnet, live: found.get(subnet) ?? null })),
    ...[...free].map((subnet) => ({ desired: null, live: subnet })),
  ];
}

function pairOff(
  keyOf: (subnet: SubnetSpec | WireSubnet) => string,
  desired: readonly SubnetSpec[],
  found: Map<SubnetSpec, WireSubnet>,
  free: Set<WireSubnet>,
): void {
  const byKey = groupBy(free, keyOf);
  for (const subnet of desired) {
    if (found.has(subnet)) continue;
    const partner = byKey.get(keyOf(subnet))?.shift();
    if (partner === undefined) continue;
    found.set(subnet, partner);
    free.delete(partner);
  }
}
