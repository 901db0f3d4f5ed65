/** Which range must be away before which may come. */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change } from "../../../src/model/change.ts";
import { overlapSlots } from "../../../src/units/network/ranges.ts";
import { change } from "../../plan/changes.ts";

function subnet(label: string, action: Change["action"], before: string | null, after: string | null): Change {
  const values = (ipv4: string | null) => (ipv4 === null ? null : { label, ipv4 });
  return change({ address: `vpc/v/subnet/${label}`, action, before: values(before), after: values(after) });
}

/** Key → the ranges that it waits for. */
function waits(...subnets: Change[]): Record<string, string[]> {
  const { acquire, release } = overlapSlots("vpc/v", subnets);
  const ranges = new Map(subnets.map(({ key, before }) => [release.get(key)?.[0]?.slot, String(before?.["ipv4"])]));
  return Object.fromEntries(
    [...acquire].map(([key, claims]) => [
      key.slice("vpc/v/subnet/".length),
      claims.map(({ slot }) => String(ranges.get(slot))),
    ]),
  );
}

test("what comes waits for every range that goes and overlaps it, and for none beside it", () => {
  const gone = ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/24"].map((range, index) =>
    subnet(`g${index}`, "delete", range, null),
  );
  expect(waits(...gone, subnet("a", "create", null, "10.0.1.0/25"))).toEqual({ a: ["10.0.1.0/24"] });
  expect(waits(...gone, subnet("a", "create", null, "10.0.2.0/23"))).toEqual({ a: ["10.0.2.0/24", "10.0.3.0/24"] });
  expect(waits(...gone, subnet("a", "create", null, "10.0.4.0/24"))).toEqual({ a: [] });
  expect(waits(...gone, subnet("a", "create", null, "9.255.255.0/24"))).toEqual({ a: [] });
});

test("a replace releases its old range and acquires its new one, and does not wait for itself", () => {
  const replaced = subnet("a", "replace", "10.0.0.0/24", "10.0.0.0/25");
  const { release } = overlapSlots("vpc/v", [replaced]);
  expect(waits(replaced)).toEqual({ a: [] });
  expect([...release.values()].flat()).toEqual([{ slot: "vpc/v range of vpc/v/subnet/a", exclusive: true }]);
});

test("what stays or is only renamed neither releases nor acquires", () => {
  const kept = [
    subnet("a", "no-op", "10.0.0.0/24", "10.0.0.0/24"),
    subnet("b", "update", "10.0.1.0/24", "10.0.1.0/24"),
  ];
  const { acquire, release } = overlapSlots("vpc/v", kept);
  expect([release.size, acquire.size]).toEqual([0, 0]);
});

test("siblings that overlap each other, which no service should list, take no more than a few claims each", () => {
  const count = 200;
  const gone = Array.from({ length: count }, (_, index) => subnet(`g${index}`, "delete", "10.0.0.0/8", null));
  const coming = Array.from({ length: count }, (_, index) => subnet(`c${index}`, "create", null, `10.${index}.0.0/24`));
  const { acquire, release } = overlapSlots("vpc/v", [...gone, ...coming]);
  expect([...acquire.values()].flat().length).toBeLessThanOrEqual(8 * count);
  // A slot is one subnet's, so that a claim of it is one edge.
  expect(new Set([...release.values()].flat().map(({ slot }) => slot)).size).toBe(count);
});

const cidrs = fc.tuple(fc.integer({ min: 20, max: 29 }), fc.nat(255), fc.nat(255)).map(([prefix, c, d]) => {
  const size = 2 ** (32 - prefix);
  const first = Math.floor((c * 256 + d) / size) * size;
  return { text: `10.0.${Math.floor(first / 256)}.${first % 256}/${prefix}`, first, last: first + size - 1 };
});

test("it agrees with a look at every pair, for siblings that do not overlap each other", () => {
  fc.assert(
    fc.property(fc.array(cidrs, { maxLength: 12 }), fc.array(cidrs, { maxLength: 4 }), (some, coming) => {
      const going = some.filter((one, index) =>
        some.slice(0, index).every((other) => one.last < other.first || other.last < one.first),
      );
      const changes = [
        ...going.map((range, index) => subnet(`g${index}`, "delete", range.text, null)),
        ...coming.map((range, index) => subnet(`c${index}`, "create", null, range.text)),
      ];
      const found = waits(...changes);
      for (const [index, range] of coming.entries()) {
        const expected = going
          .filter((other) => other.first <= range.last && range.first <= other.last)
          .map(({ text }) => text);
        expect([...(found[`c${index}`] ?? [])].sort()).toEqual(expected.sort());
      }
    }),
    { numRuns: 500 },
  );
});
