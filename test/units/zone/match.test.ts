/** Which live record is which declared one: the best pairs, each record once, in linear time. */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Claim } from "../../../src/model/unit.ts";
import { ClaimTable, claimsOf } from "../../../src/units/zone/claims.ts";
import {
  type DesiredEntry,
  duplicates,
  type LiveEntry,
  matchAdditive,
  matchRecords,
} from "../../../src/units/zone/match-records.ts";
import { contentKey, type RecordValues } from "../../../src/units/zone/wire-record.ts";
import { growth } from "../../support/operations.ts";

const NOTHING = { zone: "a.example", pointedAt: new Set<string>(), hidesNames: false };

function values(text: string): RecordValues {
  const [type, name, target, ttl] = text.split(" ");
  return {
    type: type as "A",
    name: name === "@" ? "" : (name as string),
    target: target as string,
    ttl_sec: Number(ttl ?? 0),
  };
}

function desired(...texts: string[]): DesiredEntry<string>[] {
  return texts.map((text) => ({ origin: text, values: values(text) }));
}

function live(...texts: string[]): LiveEntry[] {
  return texts.map((text, index) => ({ id: index + 1, values: values(text) }));
}

/** `declared < id` */
function matched(ours: string[], theirs: string[], pointedAt: string[] = []): string[] {
  const found = matchRecords(desired(...ours), live(...theirs), { ...NOTHING, pointedAt: new Set(pointedAt) });
  return found.map((match) => `${match.desired?.origin ?? "-"} < ${match.live?.id ?? "-"}`).sort();
}

test("exact matches first, of equal ones that with the lowest id", () => {
  expect(matched(["A w 1"], ["A w 1", "A w 1"])).toEqual(["- < 2", "A w 1 < 1"]);
  expect(matched(["A w 1"], ["A w 1 300", "A w 1"])).toEqual(["- < 1", "A w 1 < 2"]);
});

/** The live ids that are told as duplicates. */
function doubled(ours: string[], theirs: string[]): unknown[] {
  return [...duplicates(matchRecords(desired(...ours), live(...theirs), NOTHING))].map((match) => match.live?.id);
}

test("what goes while an equal record stays is a duplicate, whatever its TTL; not if that one comes or goes, too", () => {
  expect(doubled(["A w 1"], ["A w 1", "A w 1", "A w 2"])).toEqual([2]);
  expect(doubled(["A w 1 300"], ["A w 1", "A w 1 600"])).toEqual([2]);
  expect(doubled(["A w 1"], ["A w 1 300", "A w 1"])).toEqual([1]);
  expect(doubled(["A w 2"], ["A w 1", "A w 1"])).toEqual([]);
  expect(doubled([], ["A w 1", "A w 1"])).toEqual([]);
  expect(doubled(["A v 1"], ["A w 1", "A w 1"])).toEqual([]);
});

test("a record whose equal is only to become one is no duplicate", () => {
  const mail = (priority: number, ttl_sec: number) => ({ ...values("MX @ mx.b.example"), priority, ttl_sec });
  const found = matchRecords(
    [{ origin: "ours", values: mail(10, 300) }],
    [
      { id: 1, values: mail(10, 600) },
      { id: 2, values: mail(20, 300) },
    ],
    NOTHING,
  );
  expect(found.map(({ desired, live }) => [desired?.origin ?? null, live?.id])).toEqual([
    ["ours", 2],
    [null, 1],
  ]);
  expect([...duplicates(found)]).toEqual([]);
});

test("then the same target, then what is left of the name and type in the order of targets", () => {
  expect(matched(["A w 2 300", "A w 3"], ["A w 1", "A w 2"])).toEqual(["A w 2 300 < 2", "A w 3 < 1"]);
  expect(matched(["A w 4", "A w 3"], ["A w 2", "A w 1"])).toEqual(["A w 3 < 2", "A w 4 < 1"]);
});

test("then an equal value under a new name, unless either name is pointed at", () => {
  expect(matched(["A new 1"], ["A old 1"])).toEqual(["A new 1 < 1"]);
  expect(matched(["A new 1"], ["A old 1"], ["old.a.example"])).toEqual(["- < 1", "A new 1 < -"]);
  expect(matched(["A new 1"], ["A old 1"], ["new.a.example"])).toEqual(["- < 1", "A new 1 < -"]);
  expect(matched(["A @ 1"], ["A old 1"], ["a.example"])).toEqual(["- < 1", "A @ 1 < -"]);
  expect(matched(["A new 1"], ["A old 1"], ["old.b.example"])).toEqual(["A new 1 < 1"]);
});

test("another type, value or TTL is no rename", () => {
  expect(matched(["A new 1"], ["TXT old 1"])).toEqual(["- < 1", "A new 1 < -"]);
  expect(matched(["A new 1"], ["A old 2"])).toEqual(["- < 1", "A new 1 < -"]);
  expect(matched(["A new 1"], ["A old 1 300"])).toEqual(["- < 1", "A new 1 < -"]);
});

test("renames that would wait for each other are none; a chain of them stays", () => {
  expect(matched(["CNAME b x", "A a 1"], ["CNAME a x", "A b 1"])).toEqual([
    "- < 1",
    "- < 2",
    "A a 1 < -",
    "CNAME b x < -",
  ]);
  expect(matched(["CNAME b x", "A c 1"], ["CNAME a x", "A b 1"])).toEqual(["A c 1 < 2", "CNAME b x < 1"]);
});

test("a rename into a name that two others leave waits for both, and is none if one of them waits for it", () => {
  const live = ["CNAME m x", "A n 1", "A n 2"];
  expect(matched(["CNAME n x", "A p 1", "A q 2"], live)).toEqual(["A p 1 < 2", "A q 2 < 3", "CNAME n x < 1"]);
  expect(matched(["CNAME n x", "A p 1", "A m 2"], live)).toEqual([
    "- < 1",
    "- < 3",
    "A m 2 < -",
    "A p 1 < 2",
    "CNAME n x < -",
  ]);
});

test("in an additive zone a declared record is there under any TTL, and nothing is changed or taken away", () => {
  const found = matchAdditive(desired("A w 1 300", "A w 2"), live("A w 1", "A w 3", "TXT t x"));
  expect(found.map((match) => [match.desired?.values, match.live?.id])).toEqual([
    [values("A w 1"), 1],
    [values("A w 2"), undefined],
  ]);
});

const texts = fc.array(
  fc
    .tuple(
      fc.constantFrom("A", "CNAME", "TXT"),
      fc.constantFrom("a", "b", "c", "@"),
      fc.constantFrom("1", "2", "3"),
      fc.constantFrom("0", "300"),
    )
    .map((parts) => parts.join(" ")),
  { maxLength: 8 },
);

test("every record is matched just once, exact ones to each other, and types never change", () => {
  fc.assert(
    fc.property(texts, texts, fc.boolean(), (ours, theirs, additive) => {
      const declared = desired(...new Set(ours));
      const found = additive
        ? matchAdditive(declared, live(...theirs))
        : matchRecords(declared, live(...theirs), NOTHING);
      const origins = found.flatMap((match) => (match.desired === null ? [] : [match.desired.origin]));
      const ids = found.flatMap((match) => (match.live === null ? [] : [match.live.id]));
      expect(origins.sort()).toEqual(declared.map(({ origin }) => origin).sort());
      expect(new Set(ids).size).toBe(ids.length);
      if (!additive) expect(ids).toHaveLength(theirs.length);
      for (const match of found) {
        expect(match.desired !== null || match.live !== null).toBe(true);
        if (match.desired !== null && match.live !== null)
          expect(match.desired.values.type).toBe(match.live.values.type);
        if (!additive && match.desired !== null && theirs.includes(match.desired.origin)) {
          expect(contentKey(match.live?.values as RecordValues)).toBe(contentKey(values(match.desired.origin)));
        }
      }
    }),
    { numRuns: 1_000 },
  );
});

test("eight times the records take some eight times the work, whatever has become of them", async () => {
  const kinds: ((index: number, side: string) => string)[] = [
    (index) => `A host-${index} ${index}`,
    (index, side) => `A one ${side}${index}`,
    (index, side) => `TXT ${side}${index} ${index}`,
    (index, side) => `TXT ${side}${index} same`,
    (index, side) => `A ${side}${index} ${side}${index}`,
    () => "A one same",
    (index, side) => `A ${side === "d" ? "one" : "two"} ${index}`,
    (index, side) => `A ${(side === "d") === (index % 2 === 0) ? "one" : "two"} ${index}`,
  ];
  for (const kind of kinds) {
    const match = (count: number) => {
      const all = (side: string) => Array.from({ length: count }, (_, index) => kind(index, side));
      duplicates(matchRecords(desired(...new Set(all("d"))), live(...all("l")), NOTHING));
    };
    // Sorting 8 times as many compares 8 times as often, and three times more for each.
    expect(await growth(200, 8, match), kind(1, "l")).toBeLessThan(12);
  }
});

test("of thousands of claims to one name only those are looked at that let nobody else in", () => {
  let looks = 0;
  const counted = (claim: Claim): Claim => ({
    slot: claim.slot,
    get exclusive() {
      looks += 1;
      return claim.exclusive;
    },
  });
  const [shared, alone] = [claimsOf(values("A one 1"), "a.example"), claimsOf(values("CNAME one x"), "a.example")];
  const table = new ClaimTable<number>();
  for (let index = 0; index < 1_000; index += 1) table.add(shared.map(counted), index);
  for (let index = 0; index < 1_000; index += 1) expect(table.conflicts(shared)).toEqual([]);
  expect(table.conflicts(alone)).toHaveLength(1_000);
  expect(looks).toBeLessThanOrEqual(2_000);
});
