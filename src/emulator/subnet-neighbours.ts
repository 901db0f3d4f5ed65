/** The subnets of one VPC, as what another one must fit beside: judged by a few look-ups, however many there are. */

import type { SubnetRow } from "./rows.ts";
import { rangeNumbers } from "./subnet-rules.ts";

const ADDRESS_BITS = 32;

export type Neighbour = Pick<SubnetRow, "label" | "ipv4">;

/** Canonical ranges nest or are disjoint: two overlap if they are equal, or one of them is a supernet of the other. */
export class SubnetNeighbours {
  readonly #ranges = new Set<number>();
  /** All supernets of all ranges. */
  readonly #supernets = new Set<number>();
  readonly #labels = new Set<string>();

  constructor(subnets: Iterable<Neighbour> = []) {
    for (const subnet of subnets) this.add(subnet);
  }

  add({ label, ipv4 }: Neighbour): void {
    this.#labels.add(label);
    const { base, prefix } = rangeNumbers(ipv4);
    this.#ranges.add(keyOf(base, prefix));
    for (let length = prefix - 1; length >= 0; length -= 1) {
      const supernet = keyOf(base, length);
      // Then those above it are there as well.
      if (this.#supernets.has(supernet)) break;
      this.#supernets.add(supernet);
    }
  }

  /** @param ipv4 a canonical range */
  overlaps(ipv4: string): boolean {
    const { base, prefix } = rangeNumbers(ipv4);
    if (this.#supernets.has(keyOf(base, prefix))) return true;
    for (let length = prefix; length >= 0; length -= 1) {
      if (this.#ranges.has(keyOf(base, length))) return true;
    }
    return false;
  }

  hasLabel(label: string): boolean {
    return this.#labels.has(label);
  }
}

/** The range of a prefix length that an address is in, as one number: cheaper to keep than a text. */
function keyOf(address: number, prefix: number): number {
  const base = address - (address % 2 ** (ADDRESS_BITS - prefix));
  return base * (ADDRESS_BITS + 1) + prefix;
}
