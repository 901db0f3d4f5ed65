/** What a VPC's or subnet's label and a subnet's range must be. */

import ipaddr from "ipaddr.js";
import type { BodyReader } from "./fields.ts";
import type { SubnetRow } from "./store.ts";

const MAX_LABEL_LENGTH = 64;

/** RFC 1918, section 3. */
const PRIVATE_RANGES = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"].map((range) => ipaddr.IPv4.parseCIDR(range));
const MIN_PREFIX_LENGTH = 1;
const MAX_PREFIX_LENGTH = 29;

/** @returns undefined if the label is absent or wrong */
export function readLabel(reader: BodyReader, required: boolean): string | undefined {
  if ((required || reader.has("label")) && !reader.require("label")) return undefined;
  const label = reader.text("label", { min: 1, max: MAX_LABEL_LENGTH });
  if (typeof label !== "string") return undefined;
  if (/^[A-Za-z0-9-]+$/.test(label) && !label.includes("--")) return label;
  reader.fail("label", "Label must include only ASCII letters, numbers, and dashes");
  return undefined;
}

/** @returns undefined if the range is absent or wrong */
export function readRange(reader: BodyReader): string | undefined {
  if (!reader.require("ipv4")) return undefined;
  const text = reader.text("ipv4", { max: 64 });
  if (typeof text !== "string") return undefined;
  const problem = rangeProblem(text);
  if (problem === null) return text;
  reader.fail("ipv4", problem);
  return undefined;
}

/** Why a text is no subnet range, or null. */
export function rangeProblem(text: string): string | null {
  if (!isCanonicalRange(text)) return "Must be an IPv4 network";
  const [address, prefixLength] = ipaddr.IPv4.parseCIDR(text);
  if (prefixLength < MIN_PREFIX_LENGTH || prefixLength > MAX_PREFIX_LENGTH) {
    return `Prefix length must be between ${MIN_PREFIX_LENGTH} and ${MAX_PREFIX_LENGTH}`;
  }
  const within = PRIVATE_RANGES.some(([base, length]) => prefixLength >= length && address.match(base, length));
  return within ? null : "Must be within an RFC 1918 range";
}

/** Whether it is an address and a prefix length, without a bit beyond it. */
export function isCanonicalRange(text: string): boolean {
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) return false;
  const [, prefixLength] = ipaddr.IPv4.parseCIDR(text);
  return `${ipaddr.IPv4.networkAddressFromCIDR(text).toString()}/${prefixLength}` === text;
}

/** The network address of a canonical range as a number, and how many bits of it count. */
export function rangeNumbers(range: string): { readonly base: number; readonly prefix: number } {
  const [address, prefix] = ipaddr.IPv4.parseCIDR(range);
  return { base: toNumber(address), prefix };
}

interface RangeFacts {
  readonly prefix: number;
  readonly mask: string;
  readonly gateway: string;
  /** The first address for a node, as a number; the gateway has the one before it. */
  readonly firstHost: number;
  /** The broadcast address, as a number. */
  readonly last: number;
}

export function describeRange(range: string): RangeFacts {
  const [, prefix] = ipaddr.IPv4.parseCIDR(range);
  const base = toNumber(ipaddr.IPv4.networkAddressFromCIDR(range));
  return {
    prefix,
    mask: ipaddr.IPv4.subnetMaskFromPrefixLength(prefix).toString(),
    gateway: addressText(base + 1),
    firstHost: base + 2,
    last: base + 2 ** (32 - prefix) - 1,
  };
}

export function addressText(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join(".");
}

/** An address as a number, or null if it is none. */
export function addressNumber(text: string): number | null {
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? toNumber(ipaddr.IPv4.parse(text)) : null;
}

function toNumber(address: ipaddr.IPv4): number {
  return address.octets.reduce((number, octet) => number * 256 + octet, 0);
}

// The subnets of one VPC, as what another one must fit beside: judged by a few look-ups, however many there are.

const ADDRESS_BITS = 32;

type Neighbour = Pick<SubnetRow, "label" | "ipv4">;

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
