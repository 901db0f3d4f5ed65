import { domainToUnicode } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileNameGlob, disguiseOf, toAscii, unicodeName } from "../../src/dns/unicode.ts";

function through(name: string): string | null {
  const ascii = toAscii(name);
  if (ascii === null) throw new Error(`${name} has no punycode`);
  return unicodeName(ascii);
}

describe("the Unicode form of a name", () => {
  test.each([
    "büro.example",
    "www.bücher.example",
    "пример.испытание",
    "例え.テスト",
    "한국.example",
    "παράδειγμα.example",
  ])("%s comes back as it was written", (name) => {
    expect(through(name)).toBe(name);
  });

  test("is not there for a name that has none", () => {
    expect(unicodeName("example.com")).toBeNull();
    expect(unicodeName("")).toBeNull();
    expect(unicodeName("axn--bro-hoa.example")).toBeNull();
  });

  test.each([
    ["Cyrillic letters among Latin ones", "pаypal.example"],
    ["Greek letters among Latin ones", "gοogle.example"],
    ["a label of Cyrillic letters that all look Latin", "аррӏе.example"],
    ["a label of Greek letters that all look Latin", "νικο.example"],
    ["a dotless i", "fılıp.example"],
    ["Hebrew, which runs from right to left", "דוגמה.example"],
    ["Arabic, which runs from right to left", "مثال.example"],
    ["an emoji", "i❤.example"],
    ["Latin letters beside Han", "abc例.example"],
    ["one bad label among good ones", "büro.pаypal.example"],
  ])("is not there for %s", (_, name) => {
    expect(toAscii(name)).toContain("xn--");
    expect(through(name)).toBeNull();
  });

  test.each([
    "xn--.example",
    "xn--a.example",
    "xn--zzzzzzzzzzz.example",
    "xn--example-.example",
    "xn--999999999.example",
  ])("is not there for %s, which is no punycode or does not come back to itself", (name) => {
    expect(unicodeName(name)).toBeNull();
  });
});

describe("ASCII characters beside others in a label", () => {
  test.each([
    "www/ü",
    "a?ü",
    "a#ü",
    "a\\ü",
    "b%41ü",
    "a\tü",
    "a\nü",
    "a\rü",
    "www/canary\u00ad",
    "mail.x/ü.example.com",
  ])("leave no part of %j out: it has no punycode form", (name) => {
    expect(toAscii(name)).toBeNull();
  });

  test("are all there in the punycode form, in their order, or there is none", () => {
    const character = fc.oneof(
      fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code)),
      fc.constantFrom("a", "b", "-", "_", "+", "1"),
      fc.constantFrom("ü", "\u00ad", "漢", "／", "？", "％", "\u200b", "℀", "①"),
    );
    const tally = { none: 0, some: 0 };
    const property = fc.property(fc.array(character, { minLength: 1, maxLength: 6 }), (characters) => {
      const label = characters.join("").replaceAll(".", "");
      const ascii = toAscii(label);
      tally[ascii === null ? "none" : "some"] += 1;
      if (ascii === null || ascii === label.toLowerCase()) return;
      const letters = [...domainToUnicode(ascii)].values();
      for (const wanted of label.toLowerCase().replace(/[^\0-\x7f]/g, "")) {
        expect([...take(letters, wanted)].at(-1), JSON.stringify([label, ascii])).toBe(wanted);
      }
    });
    fc.assert(property, { seed: 5_890, numRuns: 20_000 });
    expect(Math.min(tally.none, tally.some)).toBeGreaterThan(2_000);
  });

  test("make a glob no wider: it fits what is spelt as it is", () => {
    for (const [glob, spelt] of [
      ["*/münchen", "a/münchen"],
      ["log*/münchen", "logs/münchen"],
      ["www?ü", "www?ü"],
      ["\\*ü", "*ü"],
    ] as const) {
      const fits = compileNameGlob(glob);
      expect([spelt, "www", "login", "log", "", "a", "_acme-challenge"].filter(fits)).toEqual([spelt]);
    }
  });

  test("are in no form that a reader sees of a label that begins as punycode does", () => {
    for (const label of ["xn--bro-hoa/x", "xn--bro-hoa?x", "xn--bro-hoa#x", "xn--bro-ho%61", "xn--bro-hoa\\x"]) {
      expect([unicodeName(label), disguiseOf(label)]).toEqual([null, null]);
    }
  });
});

/** What comes up to and including the wanted letter. */
function* take(letters: Iterator<string>, wanted: string): Generator<string> {
  for (let next = letters.next(); next.done !== true; next = letters.next()) {
    yield next.value;
    if (next.value === wanted) return;
  }
}
