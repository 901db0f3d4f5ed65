/** Subnets that make room for others: which range must be away before which may come. */

import ipaddr from "ipaddr.js";
import type { Address } from "../../model/address.ts";
import type { Change } from "../../model/change.ts";
import type { Claim } from "../../model/unit.ts";

export interface OverlapSlots {
  readonly frees: ReadonlyMap<string, Claim[]>;
  readonly takes: ReadonlyMap<string, Claim[]>;
}

interface Range {
  readonly first: number;
  readonly last: number;
}

/**
 * One slot for each going range; it is freed by the change that takes the range away, and taken by every change that
 * brings one overlapping it. Going ranges are siblings, so they do not overlap each other and can be searched in order.
 */
export function overlapSlots(root: Address, subnets: readonly Change[]): OverlapSlots {
  const going = subnets
    .filter((subnet) => subnet.action === "delete" || subnet.action === "replace")
    .map((subnet) => ({ subnet, range: rangeOf(subnet.before?.["ipv4"]) }))
    .sort((a, b) => a.range.first - b.range.first);
  const frees = new Map<string, Claim[]>();
  const takes = new Map<string, Claim[]>();
  for (const { subnet } of going) frees.set(subnet.key, [slot(root, subnet)]);
  for (const subnet of subnets) {
    if (subnet.action !== "create" && subnet.action !== "replace") continue;
    const range = rangeOf(subnet.after?.["ipv4"]);
    const claims: Claim[] = [];
    for (let index = firstEndingAtOrAfter(going, range.first); index < going.length; index += 1) {
      const other = going[index];
      if (other === undefined || other.range.first > range.last) break;
      if (other.subnet !== subnet) claims.push(slot(root, other.subnet));
    }
    takes.set(subnet.key, claims);
  }
  return { frees, takes };
}

function slot(root: Address, subnet: Change): Claim {
  return { slot: `${root} range ${String(subnet.before?.["ipv4"])}`, exclusive: true };
}

function firstEndingAtOrAfter(going: readonly { range: Range }[], address: number): number {
  let low = 0;
  let high = going.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((going[middle]?.range.last ?? 0) < address) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rangeOf(cidr: unknown): Range {
  const [address, prefix] = ipaddr.IPv4.parseCIDR(String(cidr));
  const first = address.octets.reduce((sum, octet) => sum * 256 + octet, 0);
  return { first, last: first + 2 ** (32 - prefix) - 1 };
}
