/** Subnet ranges as the service takes them: canonical IPv4 CIDR of private space (API.md, VPC Subnet; RFC 1918). */

import { canonicalIpv4, readNetwork } from "../../dns/ip.ts";
import {
  cidrOf,
  contains,
  freeBlocks,
  gapsWithin,
  PRIVATE_BLOCKS,
  prefixOf,
  type Range,
  readRange,
} from "../../dns/ipv4-range.ts";
import type { Change } from "../../model/change.ts";
import type { Address } from "../../model/resource.ts";
import type { Claim } from "../../model/unit.ts";

/** Longest prefix of a subnet, as the service was observed to enforce. */
const MAX_PREFIX = 29;

/**
 * - `not-cidr`: not `address/prefix`.
 * - `prefix`: longer than /29, or /0.
 * - `not-canonical`: host bits are set; `canonical` is the range without them.
 * - `not-private`: not within RFC 1918.
 */
export type CidrProblem = "not-cidr" | "prefix" | "not-canonical" | "not-private";

type Cidr =
  | { readonly ok: true; readonly range: Range }
  | { readonly ok: false; readonly problem: CidrProblem; readonly canonical: string | null };

export function parseCidr(text: string): Cidr {
  const network = readNetwork(text);
  if (network === null || canonicalIpv4(network.address) === null) return bad("not-cidr");
  const { address, length, first } = network;
  if (length < 1 || length > MAX_PREFIX) return bad("prefix");
  if (first !== address) return bad("not-canonical", `${first}/${length}`);
  const range = rangeOf(text);
  return PRIVATE_BLOCKS.some((block) => contains(block, range)) ? { ok: true, range } : bad("not-private");
}

function bad(problem: CidrProblem, canonical: string | null = null): Cidr {
  return { ok: false, problem, canonical };
}

/** Pairs of items whose ranges overlap or are equal. The first of a pair is the item that is written later. */
export function overlaps<T extends { readonly range: Range }>(items: readonly T[]): [T, T][] {
  const order = new Map(items.map((item, index) => [item, index]));
  const sorted = [...items].sort((a, b) => a.range.first - b.range.first || b.range.last - a.range.last);
  const found: [T, T][] = [];
  let widest: T | undefined;
  for (const item of sorted) {
    if (widest !== undefined && item.range.first <= widest.range.last) {
      const later = (order.get(item) ?? 0) > (order.get(widest) ?? 0);
      found.push(later ? [item, widest] : [widest, item]);
    }
    if (widest === undefined || item.range.last > widest.range.last) widest = item;
  }
  return found;
}

/**
 * The next ranges of the size of `near` that are free in a VPC, in the block of RFC 1918 in which it lies: those after it, then those before.
 * @param used the ranges of the VPC's subnets
 */
export function nextFree(used: readonly Range[], near: Range, most: number): string[] {
  const block = PRIVATE_BLOCKS.find((one) => contains(one, near));
  if (block === undefined) return [];
  return freeBlocks(gapsWithin(block, used), prefixOf(near), near.first, most).map(cidrOf);
}

// Subnets that make room for others: an old range must be gone before a new range that overlaps it can come.

interface OverlapSlots {
  readonly acquire: ReadonlyMap<string, Claim[]>;
  readonly release: ReadonlyMap<string, Claim[]>;
}

/**
 * One slot for each range that is deleted or replaced. The change that removes the range releases the slot, and every change that brings an
 * overlapping range acquires it. Old ranges are siblings, so they do not overlap each other and can be searched in order. New ranges do not
 * overlap each other either, so there are no more overlapping pairs than ranges. Should the service list siblings that do overlap, some
 * pairs get no claim (MAX_PAIRS_PER_RANGE).
 */
export function overlapSlots(root: Address, subnets: readonly Change[]): OverlapSlots {
  const going = subnets
    .filter((subnet) => subnet.action === "delete" || subnet.action === "replace")
    .map((subnet) => ({ subnet, range: rangeOf(subnet.before?.["ipv4"]) }))
    .sort((a, b) => a.range.first - b.range.first);
  const acquire = new Map<string, Claim[]>();
  const release = new Map<string, Claim[]>();
  let left = MAX_PAIRS_PER_RANGE * subnets.length;
  for (const { subnet } of going) release.set(subnet.key, [slot(root, subnet)]);
  for (const subnet of subnets) {
    if (subnet.action !== "create" && subnet.action !== "replace") continue;
    const range = rangeOf(subnet.after?.["ipv4"]);
    const claims: Claim[] = [];
    for (let index = firstEndingAtOrAfter(going, range.first); index < going.length && left > 0; index += 1) {
      const other = going[index];
      if (other === undefined || other.range.first > range.last) break;
      left -= 1;
      if (other.subnet !== subnet) claims.push(slot(root, other.subnet));
    }
    acquire.set(subnet.key, claims);
  }
  return { acquire, release };
}

/** One would do for siblings that do not overlap. If they did, n old and m new ranges could make n × m pairs. */
const MAX_PAIRS_PER_RANGE = 4;

function slot(root: Address, subnet: Change): Claim {
  return { slot: `${root} range of ${subnet.key}`, exclusive: true };
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
  const range = readRange(String(cidr));
  if (range === null) throw new Error(`${String(cidr)} is no range of a subnet`);
  return range;
}
