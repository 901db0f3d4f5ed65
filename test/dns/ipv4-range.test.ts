/** Ranges of IPv4 addresses: the arithmetic beneath cidrsubnet, and what is free between ranges. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  blocksOf,
  cidrOf,
  cidrSubnet,
  contains,
  freeBlocks,
  gapsWithin,
  largestBlock,
  type Range,
  readRange,
  sizeOf,
  smallestAround,
} from "../../src/dns/ipv4-range.ts";

const range = (text: string): Range => readRange(text) as Range;
const FREE_OF = range("10.0.0.0/22");

describe("cidrsubnet", () => {
  test.each([
    // Terraform's documentation of cidrsubnet, and of cidrsubnets for the same bits one by one.
    ["172.16.0.0/12", 4, 2, "172.18.0.0/16"],
    ["10.1.2.0/24", 4, 15, "10.1.2.240/28"],
    ["10.1.0.0/16", 4, 0, "10.1.0.0/20"],
    ["10.1.0.0/16", 4, 1, "10.1.16.0/20"],
    ["10.1.0.0/16", 8, 32, "10.1.32.0/24"],
    ["10.1.0.0/16", 4, 3, "10.1.48.0/20"],
    // The tests of go-cidr, which Terraform calls. Of a prefix with host bits only the network counts.
    ["192.168.2.0/20", 4, 6, "192.168.6.0/24"],
    ["192.168.2.0/20", 4, 0, "192.168.0.0/24"],
    ["192.168.0.0/31", 1, 1, "192.168.0.1/32"],
    ["192.168.0.0/21", 4, 7, "192.168.3.128/25"],
    // Nothing added is the network itself; the whole address space can be divided, down to single addresses.
    ["10.0.0.7/24", 0, 0, "10.0.0.0/24"],
    ["0.0.0.0/0", 0, 0, "0.0.0.0/0"],
    ["0.0.0.0/0", 32, 4294967295, "255.255.255.255/32"],
    ["128.0.0.0/1", 1, 1, "192.0.0.0/2"],
    ["10.0.0.1/32", 0, 0, "10.0.0.1/32"],
  ])("of %s with %i more bits, number %i is %s", (prefix, newbits, netnum, cidr) => {
    expect(cidrSubnet(prefix, newbits, netnum)).toEqual({ ok: true, cidr });
  });

  test.each([
    ["192.168.2.0/31", 2, 0, "too-long"],
    ["10.0.0.0/32", 1, 0, "too-long"],
    ["10.0.0.0/8", 1e15, 0, "too-long"],
    ["192.168.2.0/24", 4, 16, "no-such-subnet"],
    ["10.0.0.0/16", 0, 1, "no-such-subnet"],
    ["10.0.0.0/16", 8, Number.MAX_SAFE_INTEGER, "no-such-subnet"],
    ["fd00:fd12:3456:7890::/56", 16, 162, "ipv6"],
    ["::ffff:10.0.0.0/112", 8, 1, "ipv6"],
    ["10.0.0.0", 8, 1, "not-cidr"],
    ["10.0.0.0/33", 8, 1, "not-cidr"],
    ["10.0.0.0/08", 8, 1, "not-cidr"],
    ["010.0.0.0/16", 8, 1, "not-cidr"],
    ["10.0.0.256/16", 8, 1, "not-cidr"],
    ["not-a-cidr", 8, 1, "not-cidr"],
    ["", 8, 1, "not-cidr"],
  ])("of %s with %i more bits there is no number %i: %s", (prefix, newbits, netnum, problem) => {
    expect(cidrSubnet(prefix, newbits, netnum)).toEqual({ ok: false, problem });
  });

  test("equals the bits of the prefix, then those of the number, then zeros", () => {
    const octet = fc.nat(255);
    const cases = fc
      .tuple(fc.tuple(octet, octet, octet, octet), fc.nat(32))
      .chain(([octets, length]) => fc.tuple(fc.constant(octets), fc.constant(length), fc.nat(32 - length)))
      .chain(([octets, length, newbits]) =>
        fc.tuple(fc.constant(octets), fc.constant(length), fc.constant(newbits), fc.nat(2 ** newbits - 1)),
      );
    fc.assert(
      fc.property(cases, ([octets, length, newbits, netnum]) => {
        const bits = octets.map((one) => one.toString(2).padStart(8, "0")).join("");
        const number = newbits === 0 ? "" : netnum.toString(2).padStart(newbits, "0");
        const address = (bits.slice(0, length) + number).padEnd(32, "0");
        const shown = address.match(/.{8}/g)?.map((one) => Number.parseInt(one, 2));
        const cidr = `${shown?.join(".")}/${length + newbits}`;
        expect(cidrSubnet(`${octets.join(".")}/${length}`, newbits, netnum)).toEqual({ ok: true, cidr });
      }),
    );
  });
});

test("one range contains another, or equals it, or they are apart", () => {
  expect(contains(range("10.0.0.0/23"), range("10.0.1.0/24"))).toBe(true);
  expect(contains(range("10.0.1.0/24"), range("10.0.1.0/24"))).toBe(true);
  expect(contains(range("10.0.1.0/24"), range("10.0.0.0/23"))).toBe(false);
  expect(contains(range("10.0.0.0/24"), range("10.0.1.0/24"))).toBe(false);
});

test("the gaps are what no range has, whether ranges touch, overlap or reach beyond", () => {
  const gaps = (...used: string[]) => gapsWithin(FREE_OF, used.map(range)).map(({ first, last }) => last - first + 1);
  expect(gaps()).toEqual([1024]);
  expect(gaps("10.0.1.0/24", "10.0.2.0/24")).toEqual([256, 256]);
  expect(gaps("10.0.0.0/23", "10.0.1.0/24")).toEqual([512]);
  expect(gaps("10.0.0.0/8")).toEqual([]);
  expect(gaps("10.9.0.0/16", "9.0.0.0/8")).toEqual([1024]);
});

test("free blocks are aligned, begin where they are looked for and go on from the start", () => {
  const gaps = gapsWithin(FREE_OF, [range("10.0.1.0/25"), range("10.0.2.0/24")]);
  const blocks = (prefix: number, from: string, most = 9) =>
    freeBlocks(gaps, prefix, range(from).first, most).map(cidrOf);
  expect(blocks(24, "10.0.1.0/24")).toEqual(["10.0.3.0/24", "10.0.0.0/24"]);
  expect(blocks(25, "10.0.1.0/24", 2)).toEqual(["10.0.1.128/25", "10.0.3.0/25"]);
  expect(blocks(23, "10.0.0.0/24")).toEqual([]);
});

test("no block that is called free overlaps a range, and the largest one is the largest", () => {
  const block = fc.tuple(fc.integer({ min: 22, max: 29 }), fc.nat(1023)).map(([prefix, offset]) => {
    const first = FREE_OF.first + Math.floor(offset / sizeOf(prefix)) * sizeOf(prefix);
    return { first, last: first + sizeOf(prefix) - 1 };
  });
  fc.assert(
    fc.property(fc.array(block, { maxLength: 8 }), fc.integer({ min: 22, max: 29 }), block, (used, prefix, near) => {
      const isFree = (address: number) => !used.some(({ first, last }) => first <= address && address <= last);
      /** Every aligned block of a size, looked at address by address. */
      const free = (length: number) =>
        Array.from({ length: 1024 / sizeOf(length) }, (_, index) => FREE_OF.first + index * sizeOf(length)).filter(
          (first) => Array.from({ length: sizeOf(length) }, (_, index) => first + index).every(isFree),
        );
      const gaps = gapsWithin(FREE_OF, used);
      const found = freeBlocks(gaps, prefix, near.first, 1024).map(({ first }) => first);
      expect([...found].sort((a, b) => a - b)).toEqual(free(prefix));
      const largest = [22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32].find((length) => free(length).length > 0);
      const [first] = largest === undefined ? [] : free(largest);
      expect(largestBlock(gaps)).toEqual(
        largest === undefined || first === undefined ? null : { first, last: first + sizeOf(largest) - 1 },
      );
    }),
    { numRuns: 50 },
  );
});

test("the smallest block around some ranges", () => {
  const around = (...ranges: string[]) => cidrOf(smallestAround(ranges.map(range)));
  expect(around("10.0.1.0/24")).toBe("10.0.1.0/24");
  expect(around("10.0.1.0/24", "10.0.2.0/24")).toBe("10.0.0.0/22");
  expect(around("0.0.0.0/8", "192.168.0.0/16")).toBe("0.0.0.0/0");
});

test("the blocks that make up a range are in order, side by side, and as few as can be", () => {
  const address = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(address, address, (one, other) => {
      const whole = { first: Math.min(one, other), last: Math.max(one, other) };
      const blocks = blocksOf(whole);
      let next = whole.first;
      for (const block of blocks) {
        expect(block.first).toBe(next);
        expect(readRange(cidrOf(block))).toEqual(block);
        next = block.last + 1;
      }
      expect(next).toBe(whole.last + 1);
      // Two neighbours that were halves of one block would be that block.
      for (const [index, block] of blocks.slice(1).entries()) {
        const before = blocks[index] as Range;
        const size = block.last - block.first;
        const areHalves = before.last - before.first === size && before.first % (2 * (size + 1)) === 0;
        expect(areHalves).toBe(false);
      }
    }),
  );
  expect(blocksOf(range("0.0.0.0/0")).map(cidrOf)).toEqual(["0.0.0.0/0"]);
});
