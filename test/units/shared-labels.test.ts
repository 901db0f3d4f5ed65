/** Live objects of one label get addresses of their own. */

import { expect, test } from "vitest";
import type { Declared, Removed } from "../../src/model/desired.ts";
import { nameInAddress, type ObjectId, vpcAddress } from "../../src/model/resource.ts";
import type { Match } from "../../src/model/unit.ts";
import { rootAddresses } from "../../src/units/common.ts";

interface Thing {
  readonly id: ObjectId;
  readonly label: string;
}

const span = { file: "tenon.yaml", start: 0, end: 0 };

function gone(id: ObjectId, label: string): Match<null, Thing> {
  return { intent: "delete", declared: null, removed: null, live: { id, label }, label: "prune", former: null };
}

function released(id: ObjectId, label: string): Match<null, Thing> {
  const removed: Removed = { unit: "network", address: "vpc/x", key: "x", id, destroy: false, ignore: [], span };
  return { intent: "release", declared: null, removed, live: { id, label } };
}

function managed(id: ObjectId, label: string, name: string): Match<null, Thing> {
  const common = { unit: "network" as const, id: null, movedFrom: null, protect: false, note: null, span };
  const declared: Declared<null> = { ...common, address: `vpc/${name}`, key: name, spec: null };
  return { intent: "manage", declared, removed: null, live: { id, label } };
}

function addresses(...matches: Match<null, Thing>[]): [ObjectId | undefined, string][] {
  const identify = ({ id, label }: Thing) => ({ id, key: label, address: vpcAddress(label), owner: null, shown: {} });
  return [...rootAddresses(matches, identify)].map(([match, address]) => [match.live?.id, address]);
}

test("an address that nothing else has is the label's alone", () => {
  expect(addresses(gone(1, "a"), gone(2, "b"), managed(3, "c", "c"))).toEqual([
    [3, "vpc/c"],
    [1, "vpc/a"],
    [2, "vpc/b"],
  ]);
});

test("of several of one label the first by id keeps it, in whatever order they come, by number and not by text", () => {
  const expected = [
    [9, "vpc/a"],
    [10, "vpc/a:10"],
    [11, "vpc/a:11"],
  ];
  expect(addresses(released(9, "a"), gone(10, "a"), released(11, "a"))).toEqual(expected);
  expect(addresses(released(11, "a"), gone(10, "a"), released(9, "a"))).toEqual(expected);
});

test("of several that are pruned each has its id: consent for one is none for the next that would get its address", () => {
  expect(addresses(gone(10, "a"), gone(9, "a"), gone(3, "b"))).toEqual([
    [3, "vpc/b"],
    [9, "vpc/a:9"],
    [10, "vpc/a:10"],
  ]);
});

test("what is declared keeps its address, even if it is still called otherwise", () => {
  expect(addresses(gone(1, "a"), managed(2, "b", "a"))).toEqual([
    [2, "vpc/a"],
    [1, "vpc/a:1"],
  ]);
  expect(addresses(gone(1, "b"), managed(2, "b", "a"))).toEqual([
    [2, "vpc/a"],
    [1, "vpc/b"],
  ]);
});

test("the slash in an image's id makes no further level", () => {
  expect(addresses(gone("private/1", "a"), gone("private/2", "a"))).toEqual([
    ["private/1", "vpc/a:private%2F1"],
    ["private/2", "vpc/a:private%2F2"],
  ]);
});

test("a label that reads like another and an id has an address of its own", () => {
  expect(addresses(gone("private/1", "a"), gone("private/2", "a"), gone("private/3", "a:private/2"))).toEqual([
    ["private/1", "vpc/a:private%2F1"],
    ["private/2", "vpc/a:private%2F2"],
    ["private/3", "vpc/a%3Aprivate%2F2"],
  ]);
  expect(nameInAddress(vpcAddress("a:private/2"), "vpc")).toBe("a:private/2");
});
