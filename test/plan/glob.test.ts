/** Globs: what matches, what does not, and that no glob can stall a plan. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { compileWithin, escapeGlob, globMatches, globsFor } from "../../src/model/text.ts";

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

test("a long part is found wherever it stands, and nowhere else", () => {
  const letters = fc.constantFrom("a", "b", "ab", "aaaa", "🎉");
  const some = (most: number) => fc.array(letters, { maxLength: most }).map((all) => all.join(""));
  const parts = fc.array(letters, { minLength: 17, maxLength: 40 }).map((all) => all.join(""));
  const cases = fc.tuple(parts, some(40), fc.boolean(), some(40));
  fc.assert(
    fc.property(cases, ([part, before, isThere, behind]) => {
      const text = `${before}${isThere ? part : part.slice(1)}${behind}`;
      return globMatches(`*${part}*`, text) === text.includes(part);
    }),
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
      if (globMatches(glob, `${address}/${child}`)) expect(compileWithin(glob)(address)).toBe(true);
    }),
    { numRuns: 5_000 },
  );
  expect(compileWithin("domain/b.example/*")("domain/a.example")).toBe(false);
});

/** A text that counts the characters that are searched for what stands between stars. */
function counted(text: string): { text: string; looks: () => number } {
  let looks = 0;
  const object = Object.assign(Object(text) as object, {
    startsWith: (part: string) => text.startsWith(part),
    endsWith: (part: string) => text.endsWith(part),
    indexOf: (part: string, from: number) => {
      const found = text.indexOf(part, from);
      looks += (found === -1 ? text.length : found + part.length) - from;
      return found;
    },
  });
  return { text: object as unknown as string, looks: () => looks };
}

test("a hostile glob searches no character of a text twice", () => {
  const length = 2_000;
  const { text, looks } = counted("a".repeat(length));
  expect(globMatches(`${"*a".repeat(30)}*c*`, text)).toBe(false);
  expect(looks()).toBe(length);
});

function among(others: readonly string[]): (prefix: string, suffix: string) => boolean {
  return (prefix, suffix) =>
    others.some(
      (other) => other.length >= prefix.length + suffix.length && other.startsWith(prefix) && other.endsWith(suffix),
    );
}

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
  expect(globsFor(addresses, among(others)).map(({ glob }) => glob)).toEqual(globs);
});

test("the globs match all that they are for, and nothing else that is known", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "\\", "/", "\u{1f600}", "\u{1f601}"), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), fc.array(text, { maxLength: 12 }), (addresses, known) => {
      const others = known.filter((other) => !addresses.includes(other));
      const found = globsFor(addresses, among(others));
      const globs = found.map(({ glob }) => glob);
      const counts = globs.map((glob) => new Set(addresses.filter((address) => globMatches(glob, address))).size);
      expect(found.map(({ count }) => count)).toEqual(counts);
      expect(addresses.filter((address) => !globs.some((glob) => globMatches(glob, address)))).toEqual([]);
      expect(others.filter((other) => globs.some((glob) => globMatches(glob, other)))).toEqual([]);
    }),
    { numRuns: 3_000 },
  );
});
