/** Ranges of IPv4 addresses as numbers: CIDR blocks (RFC 4632, 3.1), which of two contains the other, and what is free between them. */

import { canonicalIpv4, readNetwork } from "./ip.ts";

/** Both are addresses as numbers, and both belong to the range. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/** Bits of an IPv4 address. */
export const IPV4_BITS = 32;

/** `10.0.1.7/24` is the range of `10.0.1.0/24`. Null if it is no address, a slash and a prefix length. */
export function readRange(text: string): Range | null {
  const network = readNetwork(text);
  if (network === null || canonicalIpv4(network.address) === null) return null;
  return blockAt(numberOf(network.first), network.length);
}

export function numberOf(address: string): number {
  return address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
}

export function addressOf(number: number): string {
  return [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256).join(".");
}

/** @param first a multiple of the block's size */
export function blockAt(first: number, prefix: number): Range {
  return { first, last: first + sizeOf(prefix) - 1 };
}

/** How many addresses a block of this prefix has. */
export function sizeOf(prefix: number): number {
  return 2 ** (IPV4_BITS - prefix);
}

/** @param block one CIDR block */
export function prefixOf({ first, last }: Range): number {
  return IPV4_BITS - Math.log2(last - first + 1);
}

/** @param block one CIDR block */
export function cidrOf(block: Range): string {
  return `${addressOf(block.first)}/${prefixOf(block)}`;
}

export function contains(outer: Range, inner: Range): boolean {
  return outer.first <= inner.first && inner.last <= outer.last;
}

/** RFC 1918, 3. */
export const PRIVATE_BLOCKS: readonly Range[] = [
  { first: 0x0a000000, last: 0x0affffff },
  { first: 0xac100000, last: 0xac1fffff },
  { first: 0xc0a80000, last: 0xc0a8ffff },
];

/** What lies between the ranges within `whole`, in order: each as long as it can be, and so seldom one CIDR block. */
export function gapsWithin(whole: Range, used: readonly Range[]): Range[] {
  const gaps: Range[] = [];
  let next = whole.first;
  for (const range of [...used].sort((a, b) => a.first - b.first)) {
    if (range.last < next || range.first > whole.last) continue;
    if (range.first > next) gaps.push({ first: next, last: range.first - 1 });
    next = range.last + 1;
  }
  if (next <= whole.last) gaps.push({ first: next, last: whole.last });
  return gaps;
}

/**
 * The first free blocks of one size: those at or after `from`, and then those before it.
 * @param gaps as `gapsWithin` gives them
 * @param most how many at most
 */
export function freeBlocks(gaps: readonly Range[], prefix: number, from: number, most: number): Range[] {
  const size = sizeOf(prefix);
  const found: Range[] = [];
  const collect = (low: number, high: number): void => {
    for (const gap of gaps) {
      const [start, end] = [Math.max(gap.first, low), Math.min(gap.last, high)];
      for (let first = Math.ceil(start / size) * size; first + size - 1 <= end; first += size) {
        if (found.length === most) return;
        found.push(blockAt(first, prefix));
      }
    }
  };
  const border = Math.ceil(from / size) * size;
  collect(border, Number.POSITIVE_INFINITY);
  collect(0, border - 1);
  return found;
}

/** The largest CIDR block that fits into one of the gaps, the first of several; null if there is no gap. */
export function largestBlock(gaps: readonly Range[]): Range | null {
  for (let prefix = 0; prefix <= IPV4_BITS; prefix += 1) {
    const [block] = freeBlocks(gaps, prefix, 0, 1);
    if (block !== undefined) return block;
  }
  return null;
}

/** The fewest CIDR blocks that together are the range, in order. */
export function blocksOf({ first, last }: Range): Range[] {
  const blocks: Range[] = [];
  for (let next = first; next <= last; ) {
    let prefix = IPV4_BITS;
    while (prefix > 0 && next % sizeOf(prefix - 1) === 0 && next + sizeOf(prefix - 1) - 1 <= last) prefix -= 1;
    blocks.push(blockAt(next, prefix));
    next += sizeOf(prefix);
  }
  return blocks;
}

/** The smallest CIDR block that contains all of the ranges, of which there is at least one. */
export function smallestAround(ranges: readonly Range[]): Range {
  const first = ranges.reduce((least, range) => Math.min(least, range.first), Number.POSITIVE_INFINITY);
  const last = ranges.reduce((most, range) => Math.max(most, range.last), 0);
  for (let prefix = IPV4_BITS; prefix > 0; prefix -= 1) {
    const block = blockAt(Math.floor(first / sizeOf(prefix)) * sizeOf(prefix), prefix);
    if (block.last >= last) return block;
  }
  return blockAt(0, 0);
}

// cidrsubnet, as Terraform defines it (go-cidr's Subnet).

/**
 * - `not-cidr`: not an IPv4 address, a slash and a prefix length.
 * - `ipv6`: a range of IPv6 addresses.
 * - `too-long`: the prefix would be longer than 32.
 * - `no-such-subnet`: so many bits do not number so many subnets.
 */
export type CidrSubnet =
  | { readonly ok: true; readonly cidr: string }
  | { readonly ok: false; readonly problem: "not-cidr" | "ipv6" | "too-long" | "no-such-subnet" };

/**
 * The subnet number `netnum` of those that a prefix has when `newbits` bits are added to it. Bits of the prefix beyond its length do not count.
 * @param newbits @param netnum whole numbers from 0
 */
export function cidrSubnet(prefix: string, newbits: number, netnum: number): CidrSubnet {
  const network = readNetwork(prefix);
  if (network === null) return { ok: false, problem: "not-cidr" };
  if (canonicalIpv4(network.address) === null) return { ok: false, problem: "ipv6" };
  const length = network.length + newbits;
  if (length > IPV4_BITS) return { ok: false, problem: "too-long" };
  if (netnum >= 2 ** newbits) return { ok: false, problem: "no-such-subnet" };
  return { ok: true, cidr: cidrOf(blockAt(numberOf(network.first) + netnum * sizeOf(length), length)) };
}
