/** Globs: what matches, what does not, and that no glob can stall a plan. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { escapeGlob, globMatches, globsFor, mayMatchWithin } from "../../src/model/glob.ts";

test.each([
  ["domain/*", "domain/a.example/www/A", true],
  ["domain/*/A", "domain/a.example/www/A", true],
  ["domain/*/A", "domain/a.example/www/AAAA", false],
  ["*", "", true],
  ["", "", true],
  ["", "x", false],
  ["**", "x", true],
  ["a*b*c", "aXbYbZc", true],
  ["a*b*c", "aXbYbZ", false],
  ["domain/x/\\*/A", "domain/x/*/A", true],
  ["domain/x/\\*/A", "domain/x/www/A", false],
  ["\\\\*", "\\anything", true],
  ["\\\\", "\\", true],
  ["a\\b", "a\\b", true],
  ["end\\", "end\\", true],
  ["A", "a", false],
  ["a.c", "abc", false],
  ["[ab]?", "[ab]?", true],
  ["*🎉*", "x🎉y", true],
] as const)("%s on %s: %s", (glob, text, fits) => {
  expect(globMatches(glob, text)).toBe(fits);
});

/** The same by definition: a star is any text. */
function naive(glob: string, text: string): boolean {
  if (glob === "") return text === "";
  if (glob[0] === "*") return naive(glob.slice(1), text) || (text !== "" && naive(glob, text.slice(1)));
  const escaped = glob[0] === "\\" && (glob[1] === "*" || glob[1] === "\\");
  const literal = escaped ? glob[1] : glob[0];
  return text[0] === literal && text !== "" && naive(glob.slice(escaped ? 2 : 1), text.slice(1));
}

const texts = fc.string({ unit: fc.constantFrom("a", "b", "*", "\\"), maxLength: 8 });

test("it agrees with the definition", () => {
  fc.assert(
    fc.property(texts, texts, (glob, text) => globMatches(glob, text) === naive(glob, text)),
    { numRuns: 5_000 },
  );
});

test("an escaped text matches itself, and nothing else", () => {
  expect(globMatches(escapeGlob("a*\\b"), "a*\\b")).toBe(true);
  fc.assert(
    fc.property(texts, texts, (text, other) => globMatches(escapeGlob(text), other) === (text === other)),
    { numRuns: 2_000 },
  );
});

test("whether something beneath an address can match is never wrongly denied", () => {
  const addresses = fc.string({ unit: fc.constantFrom("a", "/", "*"), maxLength: 6 });
  fc.assert(
    fc.property(texts, addresses, addresses, (glob, address, child) => {
      if (globMatches(glob, `${address}/${child}`)) expect(mayMatchWithin(glob, address)).toBe(true);
    }),
    { numRuns: 5_000 },
  );
  expect(mayMatchWithin("domain/b.example/*", "domain/a.example")).toBe(false);
});

/** A text that counts how often a character of it is looked at. */
function counted(text: string): { text: string; looks: () => number } {
  let looks = 0;
  const proxy = new Proxy(Object(text) as object, {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) looks += 1;
      return Reflect.get(target, key);
    },
  });
  return { text: proxy as unknown as string, looks: () => looks };
}

test("a hostile glob looks at most |glob|·|text| times", () => {
  const length = 2_000;
  const glob = `${"*a".repeat(30)}b`;
  const { text, looks } = counted("a".repeat(length));
  expect(globMatches(glob, text)).toBe(false);
  expect(looks()).toBeGreaterThan(length - 1);
  expect(looks()).toBeLessThanOrEqual(glob.length * length);
});

test.each([
  [["domain/p1.example", "domain/p2.example"], ["domain/www.example", "vpc/p"], ["domain/p*.example"]],
  [["domain/p1.example", "domain/p2.example"], ["domain/p3.example"], ["domain/p1.example", "domain/p2.example"]],
  [["domain/a1", "domain/a22", "domain/a23"], ["domain/a4"], ["domain/a1", "domain/a2*"]],
  [["domain/a", "domain/ab", "domain/ac"], ["domain/ad"], ["domain/a", "domain/ab", "domain/ac"]],
  [["image/a*b", "image/a*c"], ["image/axb"], ["image/a\\**"]],
  [["image/\u{1f600}", "image/\u{1f601}"], [], ["image/*"]],
  [["domain/one.test"], ["domain/two.test"], ["domain/one.test"]],
  [[], ["domain/a"], []],
] as const)("%j without %j are %j", (addresses, others, globs) => {
  expect(globsFor(addresses, others)).toEqual(globs);
});

test("the globs match all that they are for, and nothing else that is known", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "\\", "/", "\u{1f600}", "\u{1f601}"), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), fc.array(text, { maxLength: 12 }), (addresses, known) => {
      const others = known.filter((other) => !addresses.includes(other));
      const globs = globsFor(addresses, others);
      expect(addresses.filter((address) => !globs.some((glob) => globMatches(glob, address)))).toEqual([]);
      expect(others.filter((other) => globs.some((glob) => globMatches(glob, other)))).toEqual([]);
    }),
    { numRuns: 3_000 },
  );
});
