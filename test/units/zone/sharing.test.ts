/** Whose a name is, and whether two globs can mean one name. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { globMatches, globsMeet, outlineOf } from "../../../src/model/text.ts";
import { isOthersName, readNameGlob } from "../../../src/units/zone/sharing.ts";

function meet(one: string, other: string): boolean {
  return globsMeet(outlineOf(one), outlineOf(other));
}

describe("a name", () => {
  test.each([
    ["shop", ["shop"], true],
    ["a.shop", ["shop"], false],
    ["a.shop", ["*.shop"], true],
    ["*.shop", ["*.shop"], true],
    ["shop", ["*.shop"], false],
    ["a.b.shop", ["*.shop"], true],
    ["", ["@"], true],
    ["", ["*"], true],
    ["", ["shop"], false],
    ["*.dev", ["\\*.dev"], true],
    ["x.dev", ["\\*.dev"], false],
    ["xn--bcher-kva", ["xn--bcher-kva"], true],
  ] as const)("%j is of the part %j: %j", (name, names, isOfPart) => {
    expect(isOthersName(name, { part: names })).toBe(!isOfPart);
    expect(
      isOthersName(name, {
        sharedWith: [
          { owner: "other", names: ["none"] },
          { owner: "shop", names },
        ],
      }),
    ).toBe(isOfPart);
  });

  test("is managed by either the owner or the part, where both say the same names", () => {
    const names = fc.array(fc.stringMatching(/^[ab*.]{1,4}$/), { maxLength: 3 });
    fc.assert(
      fc.property(names, fc.stringMatching(/^[ab.]{0,5}$/), (part, name) => {
        expect(isOthersName(name, { part })).toBe(
          !isOthersName(name, { sharedWith: [{ owner: "shop", names: part }] }),
        );
      }),
    );
  });

  test("is nobody else's in a zone that is not shared", () => {
    expect(isOthersName("shop", {})).toBe(false);
  });
});

describe("two globs", () => {
  const ALPHABET = ["a", "b", "."];
  const TEXTS = allTexts(7);

  test("meet exactly if some text fits both", () => {
    // What two globs of up to three characters have in common, they have in a text of up to seven, for stars can be empty.
    const glob = fc.stringMatching(/^[ab.*]{1,3}$/);
    fc.assert(
      fc.property(glob, glob, (one, other) => {
        const common = TEXTS.find((text) => globMatches(one, text) && globMatches(other, text));
        expect(meet(one, other), `${one} ${other} ${common}`).toBe(common !== undefined);
        expect(meet(other, one)).toBe(meet(one, other));
      }),
      { numRuns: 500 },
    );
  });

  test("take an escaped star for itself", () => {
    expect(meet("\\*.a", "x.a")).toBe(false);
    expect(meet("\\*.a", "*.a")).toBe(true);
    expect(meet("\\*.a", "\\*.a")).toBe(true);
  });

  test("are compared in time that does not grow with their stars", () => {
    const many = `${"*a".repeat(100_000)}*`;
    expect(meet(many, many)).toBe(true);
    expect(meet(`${many}b`, `${many}c`)).toBe(false);
  });

  function allTexts(length: number): string[] {
    const texts = [""];
    for (let start = 0, end = 1, size = 0; size < length; size += 1) {
      for (const text of texts.slice(start, end)) for (const letter of ALPHABET) texts.push(text + letter);
      [start, end] = [end, texts.length];
    }
    return texts;
  }
});

test.each([
  ["Shop.", { ok: false, problem: "outside" }],
  ["shop.a.example.", { ok: true, glob: "shop" }],
  ["A.EXAMPLE.", { ok: true, glob: "@" }],
  ["*.a.example.", { ok: true, glob: "*" }],
  ["a*b.*.c", { ok: true, glob: "a*b.*.c" }],
  ["\\*", { ok: true, glob: "\\*" }],
  ["a\\*", { ok: false, problem: "not-a-name" }],
  ["a\\b", { ok: false, problem: "not-a-name" }],
  ["*.bücher", { ok: true, glob: "*.xn--bcher-kva" }],
  ["*/ü", { ok: false, problem: "not-a-name" }],
  ["log/ü", { ok: false, problem: "not-a-name" }],
  ["*ü", { ok: false, problem: "unicode-star" }],
  ["ü\u3002shop", { ok: true, glob: "xn--tda.shop" }],
  [".", { ok: false, problem: "outside" }],
])("%j is read as %j", (text, read) => {
  expect(readNameGlob(text, "a.example")).toEqual(read);
});
